//! A reduction that folds, reached through what a run wrote down.
//!
//! It is computed in the algebra domain as a kernel would; the goal and its reason are then given to the checker as
//! they are, and with one thing exchanged that makes them false or takes their ground away: that must be refused.

use lozenge::checker::{Checker, Corner, Goal, Modulus, Rest, Term};
use lozenge::domain::algebra::{Algebra, BitValue, Value};
use lozenge::domain::answers::Answers;
use lozenge::domain::trace::{Answer, Comparison, Entry, Equation, Multiples, Reason, Step, Sum};
use lozenge::domain::{Abstract, Domain, Signs};
use num_bigint::BigInt;

/// Bits of a word.
pub(super) const W: u32 = 8;

pub(super) fn var(value: Value) -> u32 {
    value.variable().expect("a variable")
}

pub(super) fn reached(d: &Algebra, entries: &[Entry], goal: &Goal<'_>, reason: &Reason) -> bool {
    let mut checker = Checker::new(&d.vars, &d.terms);
    checker.run(entries.iter()).is_ok() && checker.reached(goal, reason).is_ok()
}

pub(super) fn low(d: &mut Algebra, x: Value, y: Value) -> Value {
    d.mul::<W>(&x, &y, Signs::Unsigned).0
}

/// `m m' = -1 (mod 2^W)` is promised.
pub(super) fn inverse_of(m: Value, inverse: Value) -> Step {
    Step::Inverse {
        m: var(m),
        inverse: var(inverse),
        bits: W.into(),
    }
}

/// The reduction of `a`, four bytes, modulo `m`, two bytes, with `d` and `m'` as the contract has them.
struct Run {
    d: Algebra,
    a: [Value; 4],
    m: [Value; 2],
    fold: [Value; 2],
    z: [Value; 2],
    /// `x`, `t`.
    reduced: [Value; 3],
    q: [Value; 1],
    /// `t >= 2`, `t < 1`.
    bits: [BitValue; 2],
    /// What `q m` makes 0.
    zero: Value,
}

fn folded() -> Run {
    let mut d = Algebra::default();
    let a = [0, 1, 2, 3].map(|i| d.unknown::<W>(format!("a[{i}]")));
    let m = [0, 1].map(|i| d.unknown::<W>(format!("m[{i}]")));
    let inverse = d.unknown::<W>("m'".into());
    let fold = [0, 1].map(|i| d.unknown::<W>(format!("d[{i}]")));
    d.assume(inverse_of(m[0], inverse));
    let (none, zero) = (d.flag(false), Value::ZERO);
    // The three words of x y.
    let product = |d: &mut Algebra, x: Value, y: [Value; 2]| {
        let (lo, middle) = d.mul::<W>(&x, &y[0], Signs::Unsigned);
        let (next, hi) = d.mul::<W>(&x, &y[1], Signs::Unsigned);
        let middle = d.add::<W>(&middle, &next, &none);
        let hi = d.add::<W>(&hi, &zero, &middle.carry);
        [lo, middle.word, hi.word]
    };
    // The sum of three words, and the carry.
    let sum = |d: &mut Algebra, x: [Value; 3], y: [Value; 3]| {
        let first = d.add::<W>(&x[0], &y[0], &none);
        let second = d.add::<W>(&x[1], &y[1], &first.carry);
        let third = d.add::<W>(&x[2], &y[2], &second.carry);
        ([first.word, second.word, third.word], third.carry)
    };
    // U + X^3
    let share = product(&mut d, a[0], fold);
    let ([u0, u1, u2], carry) = sum(&mut d, [a[1], a[2], a[3]], share);
    let less = d.sub::<W>(&u2, &a[0], &none);
    let top = d.add::<W>(&Value::ONE, &zero, &carry).word;
    let top = d.sub::<W>(&top, &zero, &less.carry).word;
    // And q M
    let q = low(&mut d, u0, inverse);
    let share = product(&mut d, q, m);
    let ([zero_word, x0, x1], carry) = sum(&mut d, [u0, u1, less.word], share);
    let t = d.add::<W>(&top, &zero, &carry).word;
    // t >= 2 and t < 1
    let most = d.known::<W>(254);
    let above = d.add::<W>(&t, &most, &none).carry;
    let below = d.sub::<W>(&t, &Value::ONE, &none).carry;
    let mut z = [x0, x1];
    let [mut borrow, mut carry] = [none, none];
    for (z, m) in z.iter_mut().zip(&m) {
        let taken = d.select::<W>(&above, m, &zero);
        let added = d.select::<W>(&below, m, &zero);
        let rest = d.sub::<W>(z, &taken, &borrow);
        let sum = d.add::<W>(&rest.word, &added, &carry);
        (borrow, carry, *z) = (rest.carry, sum.carry, sum.word);
    }
    Run {
        d,
        a,
        m,
        fold,
        z,
        reduced: [x0, x1, t],
        q: [q],
        bits: [above, below],
        zero: zero_word,
    }
}

impl Run {
    /// What was written down, and that the word which `q m` makes 0 is 0: claim 0.
    fn written(&self) -> Vec<Entry> {
        let mut list = self.d.written();
        list.push(Entry::Step(Step::Claim {
            equation: Equation {
                w: W,
                words: vec![self.zero],
                lead: 0,
                terms: Vec::new(),
            },
            used: Vec::new(),
        }));
        list
    }

    fn goal(&self) -> Goal<'_> {
        goal(W, [&self.z, &self.a, &self.m, &self.fold])
    }

    fn reason(&self) -> Reason {
        let bit = |bit: BitValue| match bit {
            BitValue::Var(v) => v,
            other => panic!("{other:?} is no variable"),
        };
        let [above, below] = self.bits.map(bit);
        // The carries' words stand behind them, t with what it is the sum of.
        let all = 0..self.d.vars.len() as u32;
        let sums = all.filter(|v| {
            let def = self.d.vars[*v as usize].def;
            matches!(def, lozenge::domain::variable::Def::Linear { .. })
        });
        let bits = vec![(above, 1.into()), (below, (-1).into())];
        let [q] = self.q.map(var);
        let [x0, x1, t] = self.reduced.map(var);
        let sum = |terms: &[(u32, i64)]| Sum {
            constant: 0.into(),
            terms: terms.iter().map(|(v, by)| (*v, (*by).into())).collect(),
        };
        let (x, r) = (1 << W, 1i64 << (2 * W));
        Reason {
            used: vec![(0, (-x).into())],
            multiples: sum(&[(q, x), (above, -r), (below, r)]),
            compared: vec![Comparison {
                sum: bits,
                times: (-r).into(),
                answer: Answer::Forced {
                    t,
                    by: sums.map(|v| vec![(v, 1)]).collect(),
                },
                offset: 0.into(),
                limit: (r * r).into(),
                shift: (r * r).into(),
                digits: sum(&[(x0, r), (x1, r * x)]),
                bits: Some(5 * u64::from(W)),
                zeros: Vec::new(),
                used: vec![(0, x.into())],
            }],
            ..Reason::default()
        }
    }
}

/// `R Z = P (mod M)` with `P = X (A_1 + A_0 (D - R))`, of numbers in words of `w` bits.
fn goal<'a>(w: u32, [z, a, m, d]: [&'a [Value]; 4]) -> Goal<'a> {
    let (low, high) = a.split_at(1);
    let term = |sign, words: u64, a, b| Term {
        sign,
        shift: u64::from(w) * words,
        w,
        a,
        b,
    };
    let h = u64::from(w) * z.len() as u64;
    let x = BigInt::from(1) << w;
    let end = |m: u32| Corner {
        modulus: m.into(),
        least: (&x - &x * &x) * m,
        most: x.pow(4) - &x,
        bound: Some(BigInt::from(1) << h),
    };
    Goal {
        w,
        result: z,
        h,
        value: vec![
            term(1, 1, high, None),
            term(1, 1, low, Some(d)),
            term(-1, 3, low, None),
        ],
        scale: 1.into(),
        modulus: Modulus::Words(m),
        corners: [1, 1 << (2 * W)].map(end).to_vec(),
        bits: 2 * h,
        rest: Rest::Nothing,
    }
}

#[test]
fn a_folded_reduction_is_accepted() {
    let run = folded();
    let mut checker = Checker::new(&run.d.vars, &run.d.terms);
    let written = run.written();
    assert_eq!(checker.run(written.iter()), Ok(()));
    assert_eq!(checker.reached(&run.goal(), &run.reason()), Ok(()));
}

/// Reasons of which one part is another one.
fn changed(reason: &Reason, others: u32) -> Vec<(String, Reason)> {
    let mut list = Vec::new();
    let mut put = |name: String, change: &dyn Fn(&mut Reason)| {
        let mut reason = reason.clone();
        change(&mut reason);
        list.push((name, reason));
    };
    for other in 0..others {
        for i in 0..2 {
            put(format!("x[{i}] = {other}"), &|r| {
                r.compared[0].digits.terms[i].0 = other;
            });
            put(format!("bit {i} of s = {other}"), &|r| {
                r.compared[0].sum[i].0 = other;
            });
            put(format!("bit {i} = {other}"), &|r| {
                r.compared[0].sum[i].0 = other;
                r.multiples.terms[1 + i].0 = other;
            });
        }
        put(format!("t = {other}"), &|r| *force(r).0 = other);
        put(format!("-t = -{other}"), &|r| {
            r.compared[0].answer = Answer::Borrow(other);
        });
        for i in 0..3 {
            put(format!("multiple {i} = {other}"), &|r| {
                r.multiples.terms[i].0 = other;
            });
        }
    }
    for i in 0..2 {
        for times in [-2, -1, 0, 1, 2] {
            put(format!("bit {i}, {times} times"), &|r| {
                r.compared[0].sum[i].1 = times.into();
                r.multiples.terms[1 + i].1 = (-times << (2 * W)).into();
            });
        }
        put(format!("without bit {i}"), &|r| {
            r.compared[0].sum.remove(i);
            r.multiples.terms.remove(1 + i);
        });
        put(format!("bit {i} is never compared"), &|r| {
            r.compared[0].sum.remove(i);
        });
    }
    let claims: [fn(&mut Reason) -> &mut Multiples; 2] =
        [|r| &mut r.used, |r| &mut r.compared[0].used];
    for (i, of) in claims.into_iter().enumerate() {
        put(format!("without claim {i}"), &|r| of(r).clear());
        put(format!("with claim {i} once more"), &|r| {
            let more = of(r)[0].clone();
            of(r).push(more);
        });
        put(format!("with claim {i} of nothing"), &|r| of(r)[0].0 = 1);
    }
    for by in [-1i64, 1, 1 << W, 1 << (2 * W)] {
        put(format!("limit + {by}"), &|r| r.compared[0].limit += by);
        put(format!("shift + {by}"), &|r| r.compared[0].shift += by);
        put(format!("offset + {by}"), &|r| r.compared[0].offset += by);
        put(format!("times + {by}"), &|r| r.compared[0].times += by);
        put(format!("U + {by}"), &|r| r.multiples.constant += by);
        put(format!("D + {by}"), &|r| {
            r.compared[0].digits.constant += by;
        });
    }
    for bits in [0, 1, W, 2 * W, 3 * W, 4 * W] {
        put(format!("modulo 2^{bits}"), &|r| {
            r.compared[0].bits = Some(bits.into());
        });
    }
    put("modulo more than there is room for".into(), &|r| {
        r.compared[0].bits = Some(u64::MAX);
    });
    put("with nothing lost".into(), &|r| {
        r.lost = Some(Sum::default())
    });
    put("with words below".into(), &|r| r.low = vec![(0, 1.into())]);
    put("without q".into(), &|r| {
        r.multiples.terms.remove(0);
    });
    put("without x".into(), &|r| {
        r.compared[0].digits.terms.clear();
    });
    put("s is the answer".into(), &|r| {
        r.compared[0].answer = Answer::Itself;
    });
    put("never compared".into(), &|r| r.compared.clear());
    put("compared twice".into(), &|r| {
        let again = r.compared[0].clone();
        r.compared.push(again);
    });
    put("with bits exchanged".into(), &|r| {
        let sum = &mut r.compared[0].sum;
        let [x, y] = [0, 1].map(|i| sum[i].0);
        (sum[0].0, sum[1].0) = (y, x);
    });
    put("without equations".into(), &|r| force(r).1.clear());
    list
}

fn force(reason: &mut Reason) -> (&mut u32, &mut Vec<Vec<(u32, i64)>>) {
    match &mut reason.compared[0].answer {
        Answer::Forced { t, by } => (t, by),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folded_reduction_for_another_reason_is_refused() {
    let run = folded();
    let written = run.written();
    let reason = run.reason();
    let mut checker = Checker::new(&run.d.vars, &run.d.terms);
    assert_eq!(checker.run(written.iter()), Ok(()));
    let mut accepted = Vec::new();
    let list = changed(&reason, run.d.vars.len() as u32);
    let (tried, same) = (list.len(), format!("{reason:?}"));
    for (name, reason) in list {
        let other = format!("{reason:?}") != same;
        if other && checker.reached(&run.goal(), &reason).is_ok() {
            accepted.push(name);
        }
    }
    assert!(tried > 300, "{tried} tried");
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}

/// Goals of which one word is another one, and logs without the promise or the claim that they rest on.
#[test]
fn another_folded_reduction_is_refused() {
    let run = folded();
    let (written, reason) = (run.written(), run.reason());
    let mut checker = Checker::new(&run.d.vars, &run.d.terms);
    assert_eq!(checker.run(written.iter()), Ok(()));
    let all = [
        run.z.to_vec(),
        run.a.to_vec(),
        run.m.to_vec(),
        run.fold.to_vec(),
    ];
    let mut reached = |w: u32, [z, a, m, d]: &[Vec<Value>; 4]| {
        checker.reached(&goal(w, [z, a, m, d]), &reason).is_ok()
    };
    assert!(reached(W, &all));
    assert!(!reached(2 * W, &all), "words of another width");
    for which in 0..4 {
        for i in 0..all[which].len() {
            for other in (0..run.d.vars.len() as u32).map(Value::Var) {
                let mut words = all.clone();
                words[which][i] = other;
                let same = words == all;
                assert!(same || !reached(W, &words), "{which}, {i}: {other:?}");
            }
        }
        let mut shorter = all.clone();
        shorter[which].pop();
        assert!(!reached(W, &shorter), "without a word of {which}");
    }
    // The result that is not reduced at the end.
    let mut lazy = all.clone();
    lazy[0] = run.reduced[..2].to_vec();
    assert!(!reached(W, &lazy), "never reduced");
    for (i, entry) in written.iter().enumerate() {
        let Entry::Step(Step::Inverse { .. } | Step::Claim { .. }) = entry else {
            continue;
        };
        let mut without = written.clone();
        without.remove(i);
        assert!(
            !self::reached(&run.d, &without, &run.goal(), &reason),
            "without {entry:?}"
        );
    }
}
