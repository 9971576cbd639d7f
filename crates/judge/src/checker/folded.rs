//! A folded reduction: `R Z = A (mod M)` and `0 <= Z < R`.
//!
//! `R = X^2 = 2^(w n)`, `A = A_0 + X A_1` with `A_0 < X`, `A_1 < X^3`. The premises are those of the contract:
//! `0 < M < R`, `X (D - R) = 1 (mod M)` and `R - M <= D < R`. Let `U = A_1 + A_0 (D - R)`: it lies in
//! `-(X - 1) M .. X^3`, and `X U = A (mod M)`. For any words `0 <= q < X`, `0 <= x < R` and `0 <= t < 2^w`:
//!
//! 1. Let `X (x + R t) = U + X^3 + q M (mod 2^w X^3)`. Both sides lie in `0 .. 2^w X^3`, as `X M < X^3` and `3 < 2^w`, so
//!    they are equal, and `T = x + R t - R = (U + q M) / X` is a whole number in `-M + 1 .. R + M`. So `t` is
//!    0, 1 or 2, and 0 just where `T < 0`, 2 just where `T >= R`: `T - (t - 1) M` lies in `0 .. R`.
//! 2. Let `R Z = X (U + q M) - R M j (mod R^2)`. Then `Z = T - M j (mod R)`.
//! 3. Let `j = t - 1` where `t` is 0, 1 and 2. Then `Z = T - (t - 1) M` as both lie in `0 .. R`, and
//!    `R Z = R T = X (U + q M) = A (mod M)`.

use machine::domain::trace::{Combination, Multiples};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_traits::One;

use crate::checker::polynomial::Polynomial;
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// `R Z = A (mod M)` and `Z < R`, all in words of `w` bits.
pub struct Folded<'a> {
    pub w: u32,
    /// `n` words, an even number.
    pub result: &'a [Value],
    /// `2 n` words.
    pub a: &'a [Value],
    /// `n` words.
    pub m: &'a [Value],
    /// `n` words.
    pub d: &'a [Value],
}

impl Folded<'_> {
    /// Does it, with these words `x, t` and `q`, and bits of `j` that equations leave one value?
    pub(super) fn holds(
        &self,
        checker: &mut Checker<'_>,
        [reduced, q]: [&[Value]; 2],
        bits: &[(VarId, i64)],
        by: &[Combination],
        used: &[Multiples; 2],
    ) -> Check {
        let (n, w) = (self.result.len(), u64::from(self.w));
        let (k, one) = (n / 2, BigInt::one());
        let lengths = [self.a, self.m, self.d, reduced, q].map(<[Value]>::len);
        if w < 2 || n == 0 || n % 2 == 1 || lengths != [2 * n, n, n, n + 1, k] {
            return Err("the parts of a folded reduction do not match");
        }
        for words in [self.result, self.a, self.m, self.d, reduced, q] {
            checker.are_words(words, self.w)?;
        }
        let x = w * k as u64;
        // X (x + R t) - X^3 - (U + q M)
        let mut p = Polynomial::new(Some(w + 3 * x));
        p.add_words(self.w, reduced, &one, x)?;
        p.add_words(self.w, &[Value::ONE], &-&one, 3 * x)?;
        self.less(checker, &mut p, q, 0)?;
        checker.take_lemmas(&mut p, &used[0])?;
        checker.is_zero(p)?;
        // R Z - X (U + q M) + R M j
        let mut p = Polynomial::new(Some(4 * x));
        p.add_words(self.w, self.result, &one, 2 * x)?;
        self.less(checker, &mut p, q, x)?;
        for (bit, times) in bits {
            let factors = [self.m, &[Value::Var(*bit)]];
            checker.add_numbers(&mut p, self.w, factors, &BigInt::from(*times), 2 * x)?;
        }
        checker.take_lemmas(&mut p, &used[1])?;
        checker.is_zero(p)?;
        let Some(Value::Var(t)) = reduced.last() else {
            return Err("a folded reduction has no word above it");
        };
        for value in 0..3 {
            let mut j = 0;
            for (bit, times) in bits {
                j += i128::from(*times) * checker.forced((*t, value), *bit, by)?;
            }
            if j != value - 1 {
                return Err(
                    "the modulus may be subtracted when it must not be, or not when it must",
                );
            }
        }
        Ok(())
    }

    /// Adds `-2^shift (U + q M)`, `U = A_1 + A_0 D - R A_0`.
    fn less(&self, checker: &Checker<'_>, p: &mut Polynomial, q: &[Value], shift: u64) -> Check {
        let (minus, r) = (-BigInt::one(), u64::from(self.w) * self.m.len() as u64);
        let (low, high) = self.a.split_at(self.m.len() / 2);
        p.add_words(self.w, high, &minus, shift)?;
        p.add_words(self.w, low, &BigInt::one(), shift + r)?;
        checker.add_numbers(p, self.w, [low, self.d], &minus, shift)?;
        checker.add_numbers(p, self.w, [q, self.m], &minus, shift)
    }
}

impl Checker<'_> {
    /// The one value that these equations leave a bit where a variable has this value.
    fn forced(&mut self, known: (VarId, i128), bit: VarId, by: &[Combination]) -> Check<i128> {
        if !matches!(self.range(bit)?, (0.., ..=1)) {
            return Err("the modulus is subtracted by no bit");
        }
        let supposed = (known.0, (known.1, known.1));
        match self.refuted(&[supposed, (bit, (1, 1))], by) {
            Ok(()) => Ok(0),
            Err(_) => self.refuted(&[supposed, (bit, (0, 0))], by).map(|()| 1),
        }
    }
}
