//! A folded reduction: is `R Z = A (mod M)` and `Z < R`, for all inputs?
//!
//! The differences that stand behind `D` are what code would compute of the words before them.
//! `R = X^2 = 2^(W n)`, `A = A_0 + X A_1` with `A_0 < X`. The premises are `X (D - R) = 1 (mod M)`, `R - M <= D < R`, and
//! `M M' = -1 (mod X)`. With `U = A_1 + A_0 (D - R)`, which lies in `-X M + 1 .. X^3`, and a quotient `q`
//! ([`crate::quotient`]), `T = (U + q M) / X` lies in `-M + 1 .. R + M`. Shown is, with a word `t`:
//!
//! 1. `X (x + R t) = U + X^3 + q M` for `n` words `x`: modulo `2^(W (3k + 1))`, `k` words being those of `X`, and below
//!    that both sides are. So `x + R t = T + R`, and `t` is 0 if `T < 0`, 2 if `T >= R`, else 1: `T - (t - 1) M` lies
//!    in `0 .. R`.
//! 2. `R Z = X (U + q M) - R M j (mod R^2)`, where `j` is a sum of bits: those that are multiplied by `M` in the result.
//! 3. `j = t - 1` for the three values of `t`, each of which leaves one value to each bit ([`crate::exclusive`]). So
//!    `Z = T - (t - 1) M`, and `R Z = X U = A (mod M)`.

use std::collections::BTreeMap;

use judge::checker;
use judge::prove::Open;
use machine::domain::public::Public;
use machine::domain::trace::Reason;
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;

use crate::algebra::Algebra;
use crate::claim::Equation;
use crate::identity;
use crate::polynomial::{Polynomial, Scaled};

/// What is to be shown.
pub struct Folded<'a> {
    pub w: u32,
    pub result: &'a [Value],
    /// `A`, twice as many words.
    pub a: &'a [Value],
    pub m: &'a [Value],
    /// `D`, as many words as `M`.
    pub d: &'a [Value],
}

fn open(text: &str) -> Open {
    Open {
        text: text.into(),
        pc: None,
    }
}

impl<'a> Folded<'a> {
    /// As the checker is asked for it.
    pub fn of(goal: &checker::Folded<'a>) -> Self {
        let checker::Folded { w, result, a, m, d } = *goal;
        Self { w, result, a, m, d }
    }

    /// `sign 2^(W words)`.
    fn weight(&self, sign: i64, words: usize) -> Scaled {
        Scaled::new(BigInt::from(sign), u64::from(self.w) * words as u64)
    }

    /// The polynomial 0 modulo `2^(W words)`.
    fn modulo<'d>(&self, algebra: &'d Algebra, words: usize) -> Polynomial<'d> {
        Polynomial::new(algebra, u64::from(self.w) * words as u64)
    }

    /// Adds `sign 2^(W shift)` times a number.
    fn add(
        &self,
        p: &mut Polynomial<'_>,
        sign: i64,
        shift: usize,
        words: &[Value],
    ) -> Result<(), Open> {
        let mut words = words.iter().enumerate();
        words.try_for_each(|(i, word)| p.add_value(*word, &self.weight(sign, shift + i)))
    }

    /// Adds `sign 2^(W shift)` times a product.
    fn add_product(
        &self,
        p: &mut Polynomial<'_>,
        (sign, shift): (i64, usize),
        [x, y]: [&[Value]; 2],
    ) -> Result<(), Open> {
        identity::add_product(p, self.w, &self.weight(sign, shift), x, y)
    }

    /// Adds `-2^(W shift) (U + q M)`.
    fn less_t(&self, p: &mut Polynomial<'_>, shift: usize, q: &[Value]) -> Result<(), Open> {
        let k = self.m.len() / 2;
        let (low, high) = self.a.split_at(k);
        self.add(p, -1, shift, high)?;
        self.add_product(p, (-1, shift), [low, self.d])?;
        self.add(p, 1, shift + 2 * k, low)?;
        self.add_product(p, (-1, shift), [q, self.m])
    }

    /// Shows the congruence and the bound, and says why they hold.
    ///
    /// # Errors
    /// What stayed open.
    pub fn show(&self, algebra: &Algebra) -> Result<(), Open> {
        let n = self.result.len();
        let k = n / 2;
        let quotients = &algebra.claims.quotients;
        let (q, _) = quotients
            .shown
            .as_ref()
            .filter(|(q, _)| q.len() == k)
            .ok_or_else(|| open("no quotient was shown"))?;
        let fits = |x: &&Equation| x.lead == k && x.words.len() == n + 1;
        let reduced = algebra.claims.shown().iter().rev().find(fits);
        let reduced = reduced.ok_or_else(|| open("what is reduced is not shown"))?;
        // X (x + R t) = U + X^3 + q M
        let mut p = self.modulo(algebra, 3 * k + 1);
        self.add(&mut p, 1, k, &reduced.words)?;
        self.less_t(&mut p, 0, q)?;
        p.add_value(Value::Public(Public::Known(1)), &self.weight(-1, 3 * k))?;
        p.close()?;
        let first = p.used();
        // R Z = X (U + q M) - R M j (mod R^2)
        let difference = || {
            let mut p = self.modulo(algebra, 2 * n);
            self.add(&mut p, 1, n, self.result)?;
            self.less_t(&mut p, k, q)?;
            Ok(p)
        };
        let bits = self.subtracted(difference()?)?;
        let mut p = difference()?;
        for (bit, times) in &bits {
            let factors = [self.m, &[Value::Var(*bit)]];
            self.add_product(&mut p, (*times, n), factors)?;
        }
        p.close()?;
        // j = t - 1
        let Some(Value::Var(t)) = reduced.words.last() else {
            return Err(open("what is reduced has no word above it"));
        };
        let used = [first, p.used()];
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
        *algebra.reason.borrow_mut() = Some(Reason::Folded {
            reduced: reduced.words.clone(),
            quotient: q.clone(),
            by: algebra.forced_by(&names),
            bits: bits.into_iter().collect(),
            used,
        });
        Ok(())
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
            let bits_of_r = u64::from(self.w) * n as u64;
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
