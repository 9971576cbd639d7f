//! A folded reduction: is `R Z = A (mod M)` and `Z < R`, for all inputs?
//!
//! `R = X^2 = 2^(W n)`, `A = A_0 + X A_1` with `A_0 < X`. The premises are `X C = 1 (mod M)`, `C < M`, and
//! `M M' = -1 (mod X)`. Shown is, with a quotient `q` ([`super::quotient`]) and two words `e` and `s`:
//!
//! 1. `U = A_1 + A_0 C`, which is less than `X^3 + X M`, is `D + X^3 e` for `3 k` words `D`, `k` those of `X`. So `e = 1`
//!    just when `U >= X^3`, and `V = U - e X M` lies in `0 .. X^3`. `3 k` words are `V` modulo `X^3`, and so they are `V`.
//! 2. `V + q M = X (x + R s)` for `n` words `x`. So `T = (V + q M) / X < R + M`, and `s = 1` just when `T >= R`; `T - s M`
//!    lies in `0 .. R`.
//! 3. `R Z = X (U + q M) - R M (e + s) (mod R^2)`, which is `R (T - s M)`: so `Z = T - s M`, and
//!    `R Z = X U = A (mod M)`.
//!
//! The three equations are claims that were shown ([`super::claims`]), or follow from those by elimination.

use num_bigint::BigInt;

use super::algebra::{Algebra, Value};
use super::claims::Equation;
use super::identity::{self, Open};
use super::polynomial::{Polynomial, Scaled};

/// What is to be shown.
pub struct Folded<'a> {
    pub w: u32,
    pub result: &'a [Value],
    /// `A`, twice as many words.
    pub a: &'a [Value],
    pub m: &'a [Value],
    /// `C`, as many words as `M`.
    pub c: &'a [Value],
}

fn open(text: &str) -> Open {
    Open {
        text: text.into(),
        pc: None,
    }
}

impl Folded<'_> {
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
        (sign, shift): (i64, usize),
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

    /// Adds `-2^(W shift) U`.
    fn less_u(&self, p: &mut Polynomial<'_>, shift: usize) -> Result<(), Open> {
        let (low, high) = self.a.split_at(self.m.len() / 2);
        self.add(p, (-1, shift), high)?;
        self.add_product(p, (-1, shift), [low, self.c])
    }

    /// Shows the congruence and the bound.
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
        let found = |lead: usize, len: usize| {
            let fits = |x: &&Equation| x.lead == lead && x.words.len() == len;
            let found = algebra.claims.shown().iter().rev().find(fits);
            found.ok_or_else(|| open("when the modulus is subtracted is not shown"))
        };
        let (folded, reduced) = (found(0, 3 * k + 1)?, found(k, n + 1)?);
        // D + X^3 e = U
        let mut p = self.modulo(algebra, 3 * k + 1);
        self.add(&mut p, (1, 0), &folded.words)?;
        self.less_u(&mut p, 0)?;
        p.close()?;
        // X (x + R s) = V + q M
        let v = reduced.terms.iter().find(|t| t.y.is_empty());
        let v = v.filter(|t| t.x.len() == 3 * k && t.shift == 0);
        let v = &v
            .ok_or_else(|| open("what the quotient is of is not shown"))?
            .x;
        let mut p = self.modulo(algebra, 3 * k + 1);
        self.add(&mut p, (1, k), &reduced.words)?;
        self.add(&mut p, (-1, 0), v)?;
        self.add_product(&mut p, (-1, 0), [q, self.m])?;
        p.close()?;
        // V = U - e X M (mod X^3)
        let (e, s) = (&folded.words[3 * k..], &reduced.words[n..]);
        let mut p = self.modulo(algebra, 3 * k);
        self.add(&mut p, (1, 0), v)?;
        self.less_u(&mut p, 0)?;
        self.add_product(&mut p, (1, k), [self.m, e])?;
        p.close()?;
        // R Z = X (U + q M) - R M (e + s) (mod R^2)
        let mut p = self.modulo(algebra, 2 * n);
        self.add(&mut p, (1, n), self.result)?;
        self.less_u(&mut p, k)?;
        self.add_product(&mut p, (-1, k), [q, self.m])?;
        self.add_product(&mut p, (1, n), [self.m, e])?;
        self.add_product(&mut p, (1, n), [self.m, s])?;
        p.close()
    }
}
