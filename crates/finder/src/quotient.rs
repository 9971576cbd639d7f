//! A quotient of several words: `q = u m' (mod X)` with `m m' = -1 (mod X)`, so that `u + q m` is a multiple of `X`.
//!
//! `m` and `m'` are inputs, `X = 2^(W k)`, and `q`, `u`, `m'` have `k` words. A claim of the first is shown modulo
//! `X`; from then on words of `q` are no sums where they are factors, and of `u + q m` any multiple may be
//! added to a polynomial modulo `X`.
//!
//! It is used for one thing. With `Y = 2^(W k/2)` and the lower halves `q_0`, `m_0` of `q` and `m`, a claim may
//! say that `k` words `l` are `q_0 m_0` although nothing was multiplied: if `l = q_0 m_0 (mod Y)` and
//! `l = -u - Y (l + ...) (mod X)`, as Karatsuba has it, `l - q_0 m_0 + (1 - Y)(u + q m)` is a multiple of `X`,
//! and as both lie in `0 .. X`, they are equal. Then `l` serves for the rest `(u + q m) / X`, in which Karatsuba
//! has `l` where he means `q_0 m_0`, `1 + Y` times.

use judge::prove::Open;
use machine::domain::trace::{Entry, Step};
use machine::domain::variable::Value;
use num_bigint::BigInt;

use crate::algebra::Algebra;
use crate::claim::Equation;
use crate::identity;
use crate::polynomial::{Polynomial, Scaled};

impl Algebra {
    /// Is it a quotient? Then it is shown, and kept.
    pub(crate) fn is_quotient(&mut self, equation: &Equation) -> Result<bool, String> {
        let ([term], Some((_, inverse))) = (&equation.terms[..], &self.claims.quotients.modulus)
        else {
            return Ok(false);
        };
        let k = inverse.len();
        let alike = [equation.words.len(), term.x.len()] == [k, k];
        if !alike || term.y != *inverse || equation.lead + term.shift > 0 || term.sign != 1 {
            return Ok(false);
        }
        let mut p = Polynomial::new(self, equation.bits());
        let shown = equation.add_to(&mut p, &Scaled::new(BigInt::from(1), 0));
        shown.and_then(|()| p.close()).map_err(|open| open.text)?;
        let used = p.used();
        let step = Step::LongQuotient {
            equation: equation.traced(),
            used,
        };
        self.note(Entry::Step(step));
        let quotients = &mut self.claims.quotients;
        quotients.shown = Some((equation.words.clone(), term.x.clone()));
        quotients.words = equation.words.iter().filter_map(Value::variable).collect();
        Ok(true)
    }

    /// Does it say `l = q_0 m_0`, with as many words as `q`?
    pub(crate) fn is_half(&self, equation: &Equation) -> bool {
        let quotients = &self.claims.quotients;
        let ([term], Some((m, _)), Some((q, _))) =
            (&equation.terms[..], &quotients.modulus, &quotients.shown)
        else {
            return false;
        };
        let half = q.len() / 2;
        equation.words.len() == 2 * half
            && q.len() == 2 * half
            && (term.x == q[..half] && term.y == m[..half])
            && (equation.lead + term.shift == 0 && term.sign == 1)
    }

    /// Adds `(1 - Y)(u + q m)` if it does: a multiple of `X`, modulo which it is to be shown. Of a number that is
    /// divided by `X`, `(1 + Y)(q_0 m_0 - l)`, which is 0.
    pub(crate) fn add_known_multiple(
        &self,
        equation: &Equation,
        p: &mut Polynomial<'_>,
    ) -> Result<(), Open> {
        let quotients = &self.claims.quotients;
        let (Some((m, _)), Some((q, u))) = (&quotients.modulus, &quotients.shown) else {
            return Ok(());
        };
        let one = Scaled::new(BigInt::from(1), 0);
        let half = u64::from(equation.w) * q.len() as u64 / 2;
        if equation.lead == q.len() && equation.words.len() == q.len() + 1 {
            let factors = [one.times(-1), one.carried(half)];
            let known = quotients.halves.iter();
            let mut known = known.flat_map(|half| factors.iter().map(move |by| (half, by)));
            return known.try_for_each(|(half, by)| half.add_to(p, by));
        }
        if !self.is_half(equation) {
            return Ok(());
        }
        for by in [one.clone(), one.carried(half)] {
            for (i, word) in u.iter().enumerate() {
                let shift = by.shift + u64::from(equation.w) * i as u64;
                p.add_value(*word, &by.with_shift(shift))?;
            }
            identity::add_product(p, equation.w, &by, q, &m[..q.len()])?;
        }
        Ok(())
    }
}
