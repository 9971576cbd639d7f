//! Goals modulo a number, reached through what a run wrote down: Newton's steps to an inverse, bounds, comparisons.
//!
//! As in `goals.rs`, what is true is accepted, and what differs from it in one thing is refused.

use lozenge::checker::{Corner, Goal, Modulus, Rest, Term};
use lozenge::domain::algebra::{Algebra, BitValue, Value};
use lozenge::domain::answers::Answers;
use lozenge::domain::trace::{Answer, Comparison, Entry, Reason, Step, Sum, Vanishing};
use lozenge::domain::{Abstract, Domain, Signs, modular};
use lozenge::spec::modulus::Reduce;
use num_bigint::BigInt;

use crate::algebra_truth::goals::{W, inverse_of, low, reached, var};

/// Why the finder says that a goal is reached.
fn told(d: &Algebra) -> Reason {
    d.told_reason().expect("a reason")
}

/// `R Z = a` or `a b` modulo one word `m`, the factors and the result as small as `reduce` says.
fn reduced<'a>(
    result: &'a [Value],
    a: &'a [Value],
    b: Option<&'a [Value]>,
    m: &'a [Value],
    reduce: Reduce,
) -> Goal<'a> {
    let ends = if reduce == Reduce::Lazy {
        [1u32, 64]
    } else {
        [1, 256]
    };
    let corner = |m: u32| {
        let bound: BigInt = reduce.bound(&m.into(), W).into();
        let factor: BigInt = &bound - 1;
        Corner {
            modulus: m.into(),
            least: 0.into(),
            most: if b.is_some() {
                &factor * &factor
            } else {
                factor
            },
            bound: Some(bound),
        }
    };
    Goal {
        w: W,
        result,
        h: W.into(),
        value: vec![Term {
            sign: 1,
            shift: 0,
            w: W,
            a,
            b,
        }],
        scale: 1.into(),
        modulus: Modulus::Words(m),
        corners: ends.map(corner).to_vec(),
        bits: 2 * u64::from(W),
        rest: Rest::Nothing,
    }
}

/// `R Z = P + q m - zero + R^2 k`.
fn without_comparison(q: Value, zero: Value, lost: Sum) -> Reason {
    Reason {
        multiples: Sum {
            constant: 0.into(),
            terms: vec![(var(q), 1.into())],
        },
        lost: Some(lost),
        zeros: vec![Vanishing {
            word: var(zero),
            by: 1.into(),
            used: Vec::new(),
        }],
        ..Reason::default()
    }
}

/// `Z = (a + q m) / 2^w` of one word, with `m'` by so many of Newton's steps.
struct Newton {
    d: Algebra,
    a: [Value; 1],
    m: [Value; 1],
    z: [Value; 1],
    q: Value,
    /// What `q m` makes 0.
    zero: Value,
}

fn newton(steps: usize) -> Newton {
    let mut d = Algebra::default();
    let [a, m] = ["a", "m"].map(|name| d.unknown::<W>(name.into()));
    d.assume(Step::Odd { m: var(m) });
    let (none, two) = (d.flag(false), d.known::<W>(2));
    let mut e = m;
    for step in 1..=steps {
        let product = low(&mut d, m, e);
        let s = match step == steps {
            true => d.sub::<W>(&product, &two, &none),
            false => d.sub::<W>(&two, &product, &none),
        };
        e = low(&mut d, e, s.word);
    }
    let q = low(&mut d, a, e);
    let (lo, hi) = d.mul::<W>(&q, &m, Signs::Unsigned);
    let below = d.add::<W>(&a, &lo, &none);
    let above = d.add::<W>(&hi, &Value::ZERO, &below.carry);
    Newton {
        d,
        a: [a],
        m: [m],
        z: [above.word],
        q,
        zero: below.word,
    }
}

impl Newton {
    fn goal(&self) -> Goal<'_> {
        reduced(&self.z, &self.a, None, &self.m, Reduce::Full)
    }

    /// `R Z = a + q m - zero`.
    fn reason(&self) -> Reason {
        without_comparison(self.q, self.zero, Sum::default())
    }
}

/// 3 bits, 6, 12: two steps are enough for bytes, and one is not, whatever it is called.
#[test]
fn an_inverse_needs_all_of_its_steps() {
    let two = newton(2);
    assert!(modular::Residue::of(&two.goal()).show(&two.d).is_ok());
    assert!(reached(
        &two.d,
        &two.d.written(),
        &two.goal(),
        &told(&two.d)
    ));
    for (steps, enough) in [(1, false), (2, true), (3, true)] {
        let run = newton(steps);
        let written = run.d.written();
        let is_step = |e: &&Entry| matches!(e, Entry::Step(Step::Newton { .. }));
        assert_eq!(written.iter().filter(is_step).count(), steps);
        let goal = run.goal();
        assert_eq!(reached(&run.d, &written, &goal, &run.reason()), enough);
    }
}

/// A step with another sign, another word, or without those before it is refused, and so is a word that is 0 for no
/// reason.
#[test]
fn steps_to_an_inverse_that_are_exchanged_are_refused() {
    let run = newton(2);
    let entries = run.d.written();
    let refused = |entries: &[Entry]| !reached(&run.d, entries, &run.goal(), &run.reason());
    assert!(!refused(&entries));
    let mut tried = 0;
    for (i, entry) in entries.iter().enumerate() {
        let Entry::Step(step) = entry else { continue };
        if !matches!(step, Step::Odd { .. } | Step::Newton { .. }) {
            continue;
        }
        let mut without = entries.clone();
        without.remove(i);
        assert!(refused(&without), "without {step:?}");
        let mut later = without.clone();
        later.push(entry.clone());
        let last = matches!(step, Step::Newton { sign: -1, .. });
        assert_eq!(refused(&later), !last, "{step:?} at the end");
        for other in 0..run.d.vars.len() as u32 {
            for which in 0..4 {
                let mut step = step.clone();
                let changed = match (&mut step, which) {
                    (Step::Odd { m }, 0) => std::mem::replace(m, other) != other,
                    (Step::Newton { e, .. }, 0) => std::mem::replace(e, other) != other,
                    (Step::Newton { low, .. }, 1) => std::mem::replace(low, other) != other,
                    (Step::Newton { s, .. }, 2) => {
                        std::mem::replace(s, Value::Var(other)) != Value::Var(other)
                    }
                    (Step::Newton { sign, .. }, 3) => {
                        *sign = -*sign;
                        true
                    }
                    _ => false,
                };
                let mut list = entries.clone();
                list[i] = Entry::Step(step.clone());
                assert!(!changed || refused(&list), "{step:?} for {entry:?}");
                tried += usize::from(changed);
            }
        }
    }
    assert!(tried > 100, "{tried} tried");
}

/// Of a product, `(a b + q m) / R` is below `2 m`, which is enough for the lazy bound and for no other one.
#[test]
fn a_lower_bound_is_refused() {
    let mut d = Algebra::default();
    let [a, b, m, inverse] = ["a", "b", "m", "m'"].map(|name| d.unknown::<W>(name.into()));
    d.assume(inverse_of(m, inverse));
    let none = d.flag(false);
    let (lo, hi) = d.mul::<W>(&a, &b, Signs::Unsigned);
    let q = low(&mut d, lo, inverse);
    let (below, above) = d.mul::<W>(&q, &m, Signs::Unsigned);
    let zero = d.add::<W>(&lo, &below, &none);
    let z = d.add::<W>(&hi, &above, &zero.carry);
    let BitValue::Var(carry) = z.carry else {
        panic!("{:?} is no variable", z.carry);
    };
    let k = Sum {
        constant: 0.into(),
        terms: vec![(carry, (-1).into())],
    };
    let reason = without_comparison(q, zero.word, k);
    for reduce in Reduce::ALL {
        let (z, a, b, m) = ([z.word], [a], [b], [m]);
        let goal = reduced(&z, &a, Some(&b), &m, reduce);
        let lazy = reduce == Reduce::Lazy;
        assert_eq!(reached(&d, &d.written(), &goal, &reason), lazy);
    }
}

/// `Z = a + b - c`, `c` a carry that says when `m` is taken away: it is compared once, and no other comparison with it
/// may move the range.
#[test]
fn a_bit_is_compared_once() {
    let mut d = Algebra::default();
    let [a, b] = ["a", "b"].map(|name| d.unknown::<W>(name.into()));
    let none = d.flag(false);
    // Modulo 255: a + b - 255 c where a + b >= 256.
    let first = d.add::<W>(&a, &b, &none);
    let z = d.add::<W>(&first.word, &Value::ZERO, &first.carry);
    let (BitValue::Var(carry), BitValue::Var(last)) = (first.carry, z.carry) else {
        panic!("no carry");
    };
    let number: BigInt = 255.into();
    let (z, a, b) = ([z.word], [a], [b]);
    let term = |a| Term {
        sign: 1,
        shift: 0,
        w: W,
        a,
        b: None,
    };
    let goal = |bound: u32| Goal {
        w: W,
        result: &z,
        h: 0,
        value: vec![term(&a), term(&b)],
        scale: 1.into(),
        modulus: Modulus::Number(&number),
        corners: vec![Corner {
            modulus: 255.into(),
            least: 0.into(),
            most: 510.into(),
            bound: Some(bound.into()),
        }],
        bits: W.into(),
        rest: Rest::Nothing,
    };
    let comparison = Comparison {
        sum: vec![(carry, 1.into())],
        times: (-1).into(),
        answer: Answer::Itself,
        offset: 0.into(),
        limit: 256.into(),
        shift: 0.into(),
        digits: Sum {
            constant: 0.into(),
            terms: vec![(var(first.word), 1.into())],
        },
        bits: None,
        zeros: Vec::new(),
        used: Vec::new(),
    };
    // Z = a + b - 256 c + c - 256 k
    let reason = |multiples: &[i32], compared: &[Comparison]| {
        let terms = multiples.iter().map(|u| (carry, (*u).into()));
        Reason {
            multiples: Sum {
                constant: 0.into(),
                terms: terms.collect(),
            },
            lost: Some(Sum {
                constant: 0.into(),
                terms: vec![(last, (-1).into())],
            }),
            compared: compared.to_vec(),
            ..Reason::default()
        }
    };
    let written = d.written();
    let accepts = |bound, reason: &Reason| reached(&d, &written, &goal(bound), reason);
    let once = std::slice::from_ref(&comparison);
    assert!(accepts(256, &reason(&[-1], once)));
    assert!(!accepts(255, &reason(&[-1], once)), "it may be 255");
    assert!(!accepts(256, &reason(&[-1], &[])), "never compared");
    let twice = [comparison.clone(), comparison.clone()];
    assert!(!accepts(256, &reason(&[-1], &twice)), "compared twice");
    assert!(!accepts(256, &reason(&[-1, 0], once)), "named twice");
    assert!(!accepts(256, &reason(&[0, -1], once)), "named twice");
    for (times, limit, shift) in [
        (1, 256, 0),
        (-2, 256, 0),
        (0, 256, 0),
        (-1, 255, 0),
        (-1, 256, 1),
    ] {
        let other = Comparison {
            times: times.into(),
            limit: limit.into(),
            shift: shift.into(),
            ..comparison.clone()
        };
        assert!(
            !accepts(256, &reason(&[-1], &[other])),
            "{times} {limit} {shift}"
        );
    }
}
