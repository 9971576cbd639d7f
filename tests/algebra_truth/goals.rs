//! A reduction that folds, reached through what a run wrote down.
//!
//! It is computed in the algebra domain as a kernel would; the goal and its reason are then given to the checker as
//! they are, and with one thing exchanged that makes them false or takes their ground away: that must be refused.

use lozenge::checker::{Checker, Folded, Goal};
use lozenge::domain::algebra::{Algebra, BitValue, Value};
use lozenge::domain::answers::Answers;
use lozenge::domain::trace::{Entry, Equation, Reason, Step};
use lozenge::domain::{Abstract, Domain, Signs};

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
        Goal::Folded(Folded {
            w: W,
            result: &self.z,
            a: &self.a,
            m: &self.m,
            d: &self.fold,
        })
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
        Reason::Folded {
            reduced: self.reduced.to_vec(),
            quotient: self.q.to_vec(),
            bits: vec![(above, 1), (below, -1)],
            by: sums.map(|v| vec![(v, 1)]).collect(),
            used: [vec![(0, (-1).into())], vec![(0, (-256).into())]],
        }
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
    let mut put = |name: String, change: &dyn Fn(&mut Parts<'_>)| {
        let mut reason = reason.clone();
        let Reason::Folded {
            reduced,
            quotient,
            bits,
            by,
            used,
        } = &mut reason
        else {
            panic!("another reason");
        };
        change(&mut (reduced, quotient, bits, by, used));
        list.push((name, reason));
    };
    for i in 0..3 {
        for other in (0..others).map(Value::Var) {
            put(format!("reduced[{i}] = {other:?}"), &|p| p.0[i] = other);
        }
    }
    for other in (0..others).map(Value::Var) {
        put(format!("q = {other:?}"), &|p| p.1[0] = other);
    }
    for i in 0..2 {
        for times in [-2, -1, 0, 1, 2] {
            put(format!("bit {i}, {times} times"), &|p| p.2[i].1 = times);
        }
        for other in 0..others {
            put(format!("bit {i} = {other}"), &|p| p.2[i].0 = other);
        }
        put(format!("without bit {i}"), &|p| {
            p.2.remove(i);
        });
        put(format!("without claim {i}"), &|p| p.4[i].clear());
        put(format!("with claim {i} once more"), &|p| {
            let more = p.4[i][0].clone();
            p.4[i].push(more);
        });
        put(format!("with claim {i} of nothing"), &|p| p.4[i][0].0 = 1);
    }
    put("without q".into(), &|p| p.1.clear());
    put("without t".into(), &|p| p.0.truncate(2));
    put("with bits exchanged".into(), &|p| {
        let [x, y] = [0, 1].map(|i| p.2[i].0);
        (p.2[0].0, p.2[1].0) = (y, x);
    });
    put("without equations".into(), &|p| p.3.clear());
    list
}

type Parts<'a> = (
    &'a mut Vec<Value>,
    &'a mut Vec<Value>,
    &'a mut Vec<(u32, i64)>,
    &'a mut Vec<Vec<(u32, i64)>>,
    &'a mut [lozenge::domain::trace::Multiples; 2],
);

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
        let goal = Goal::Folded(Folded {
            w,
            result: z,
            a,
            m,
            d,
        });
        checker.reached(&goal, &reason).is_ok()
    };
    assert!(reached(W, &all));
    assert!(!reached(2 * W, &all), "words of another width");
    for which in 0..4 {
        for i in 0..all[which].len() {
            for other in (0..run.d.vars.len() as u32).map(Value::Var) {
                let mut goal = all.clone();
                goal[which][i] = other;
                let same = goal == all;
                assert!(same || !reached(W, &goal), "{which}, {i}: {other:?}");
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
