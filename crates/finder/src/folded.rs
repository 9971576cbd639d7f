//! A folded reduction: is `R Z = A (mod M)` and `Z < R`, for all inputs?
//!
//! The differences that stand behind `D` are what code would compute of the words before them.
//! `R = X^2 = 2^(W n)`, `A = A_0 + X A_1` with `A_0 < X`. The premises are `X (D - R) = 1 (mod M)`, `R - M <= D < R`, and
//! `M M' = -1 (mod X)`. With `U = A_1 + A_0 (D - R)`, which lies in `-X M + 1 .. X^3`, and a quotient `q`
//! ([`crate::quotient`]), `T = (U + q M) / X` lies in `-M + 1 .. R + M`. Shown is, with a word `t`:
//!
//! 1. `R (x + R t) = P + R^2 + X q M` for `n` words `x`, `P = X U`: modulo `2^(W (4k + 1))`, `k` words being those of
//!    `X`, and below that both sides are. So `R (x + R t) = R T + R^2`, and `t` is 0 if `T < 0`, 2 if `T >= R`, else 1:
//!    `T - (t - 1) M` lies in `0 .. R`.
//! 2. `R Z = P + X q M - R M j (mod R^2)`, where `j` is a sum of bits: those that are multiplied by `M` in the result.
//! 3. `j = t - 1` for the three values of `t`, each of which leaves one value to each bit ([`crate::exclusive`]). So
//!    `Z = T - (t - 1) M`, and `R Z = X U = A (mod M)`.

use std::collections::BTreeMap;

use judge::checker::Goal;
use judge::prove::Open;
use machine::domain::public::Public;
use machine::domain::trace::{Answer, Comparison, Multiples, Reason, Sum};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;

use crate::algebra::Algebra;
use crate::claim::Equation;
use crate::identity;
use crate::polynomial::{Polynomial, Scaled};

/// What is to be shown.
pub struct Folded<'a> {
    goal: &'a Goal<'a>,
    m: &'a [Value],
}

fn open(text: &str) -> Open {
    Open {
        text: text.into(),
        pc: None,
    }
}

impl<'a> Folded<'a> {
    /// As the checker is asked for it, with its modulus in words.
    pub fn of(goal: &'a Goal<'a>, m: &'a [Value]) -> Self {
        Self { goal, m }
    }

    /// `sign 2^(W words)`.
    fn weight(&self, sign: i64, words: usize) -> Scaled {
        Scaled::new(BigInt::from(sign), u64::from(self.goal.w) * words as u64)
    }

    /// `R` times a number less `P + X q M`, modulo `2^(W words)`.
    fn less<'d>(
        &self,
        algebra: &'d Algebra,
        words: usize,
        [number, q]: [&[Value]; 2],
    ) -> Result<Polynomial<'d>, Open> {
        let goal = self.goal;
        let mut p = Polynomial::new(algebra, u64::from(goal.w) * words as u64);
        identity::add_words(&mut p, goal.w, number, goal.h)?;
        identity::add_value(&mut p, &goal.value, &BigInt::from(-1))?;
        identity::add_product(&mut p, goal.w, &self.weight(-1, q.len()), q, self.m)?;
        Ok(p)
    }

    /// Shows the congruence and the bound, and says why they hold.
    ///
    /// # Errors
    /// What stayed open.
    pub fn show(&self, algebra: &Algebra) -> Result<(), Open> {
        let n = self.goal.result.len();
        let k = n / 2;
        let quotients = &algebra.claims.quotients;
        let shown = quotients.shown.as_ref().filter(|(q, _)| q.len() == k);
        let (q, _) = shown.ok_or_else(|| open("no quotient was shown"))?;
        let fits = |x: &&Equation| x.lead == k && x.words.len() == n + 1;
        let reduced = algebra.claims.shown().iter().rev().find(fits);
        let reduced = reduced.ok_or_else(|| open("what is reduced is not shown"))?;
        let mut p = self.less(algebra, 4 * k + 1, [&reduced.words, q])?;
        p.add_value(Value::ONE, &self.weight(-1, 2 * n))?;
        p.close()?;
        // What is compared is the opposite.
        let divided = p.used().into_iter().map(|(claim, by)| (claim, -by));
        let divided = divided.collect();
        let difference = || self.less(algebra, 2 * n, [self.goal.result, q]);
        let bits = self.subtracted(difference()?)?;
        let mut p = difference()?;
        for (bit, times) in &bits {
            let (bit, by) = ([Value::Var(*bit)], self.weight(*times, n));
            identity::add_product(&mut p, self.goal.w, &by, self.m, &bit)?;
        }
        p.close()?;
        // j = t - 1
        let Some((Value::Var(t), x)) = reduced.words.split_last() else {
            return Err(open("what is reduced has no word above it"));
        };
        let names: Vec<_> = bits.keys().copied().collect();
        let is_right = |value: i128| {
            let forced = algebra.forced((*t, value), &names);
            let j = |set: Vec<i128>| -> i128 {
                let shares = set.iter().zip(bits.values());
                shares.map(|(bit, times)| bit * i128::from(*times)).sum()
            };
            forced.is_some_and(|set| j(set) == value - 1)
        };
        if !(0..3).all(is_right) {
            return Err(open("when the modulus is subtracted is not shown"));
        }
        let answer = Answer::Forced {
            t: *t,
            by: algebra.forced_by(&names),
        };
        let r = self.weight(1, n).value();
        let subtracted = bits.iter().map(|(bit, times)| (*bit, -&r * times));
        let quotient = self.sum(q, k);
        let multiples = Sum {
            constant: quotient.constant,
            terms: quotient.terms.into_iter().chain(subtracted).collect(),
        };
        let compared = self.comparison(&bits, answer, x, divided);
        *algebra.reason.borrow_mut() = Some(Reason {
            used: p.used(),
            multiples,
            compared: vec![compared],
            ..Reason::default()
        });
        Ok(())
    }

    /// `P + X q M + R^2 = R^2 t + R x`, and `j` depends on `t`.
    fn comparison(
        &self,
        bits: &BTreeMap<VarId, i64>,
        answer: Answer,
        x: &[Value],
        used: Multiples,
    ) -> Comparison {
        let n = x.len();
        let r = self.weight(1, n).value();
        Comparison {
            sum: bits.iter().map(|(bit, by)| (*bit, (*by).into())).collect(),
            times: -&r,
            answer,
            offset: BigInt::ZERO,
            limit: &r * &r,
            shift: &r * &r,
            digits: self.sum(x, n),
            bits: Some(u64::from(self.goal.w) * (2 * n as u64 + 1)),
            zeros: Vec::new(),
            used,
        }
    }

    /// `2^(W words)` times a number.
    fn sum(&self, number: &[Value], words: usize) -> Sum {
        let mut sum = Sum::default();
        for (i, word) in number.iter().enumerate() {
            let weight = self.weight(1, words + i).value();
            match word {
                Value::Var(v) => sum.terms.push((*v, weight)),
                Value::Public(Public::Known(value)) => sum.constant += weight * value,
                Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {}
            }
        }
        sum
    }

    /// The bits that `M` is multiplied by in what is left of a number, and how often it is taken from it.
    fn subtracted(&self, mut p: Polynomial<'_>) -> Result<BTreeMap<VarId, i64>, Open> {
        let n = self.m.len();
        let lowest = self.m.first().and_then(Value::variable);
        p.eliminate()?;
        let mut bits = BTreeMap::new();
        for ((x, y), by) in p.remainder().products {
            let bit = if Some(x) == lowest { y } else { x };
            if ![x, y].map(Some).contains(&lowest) || p.algebra.vars[bit as usize].bound > 1 {
                continue;
            }
            // Modulo R^2, and it is R times a small number.
            let bits_of_r = u64::from(self.goal.w) * n as u64;
            let r = BigInt::from(1) << bits_of_r;
            let by = ((by >> bits_of_r) % &r + &r) % &r;
            let by = if by.bits() == bits_of_r { by - r } else { by };
            let times =
                i64::try_from(-by).map_err(|_| open("the modulus is not subtracted whole"))?;
            bits.insert(bit, times);
        }
        Ok(bits)
    }
}
