//! The sign of a small sum: the top bit of a word that holds a small signed number.
//!
//! A word is unrolled into variables by its linear definitions: `word = sum k[i] x[i] + k`.
//! With `r[i]` the residue of `k[i]` modulo `2^W` nearest to 0, and `r` that of `k`,
//!
//! `word = s + 2^W d`,  `s = sum r[i] x[i] + r`,  `d = sum (k[i] - r[i]) / 2^W x[i] + (k - r) / 2^W`.
//!
//! If the bounds of the variables keep `s` in `-2^(W-1) .. 2^(W-1)`, then from `0 <= word < 2^W`
//! either `s >= 0`, `d = 0` and the top bit is 0, or `s < 0`, `d = 1` and it is 1: the top bit
//! *is* `d`, linear in the carries that were dropped on the way.

use std::collections::BTreeMap;

use machine::domain::public::Public;
use machine::domain::trace::Entry;
use machine::domain::variable::{Def, Value, VarId};

use crate::algebra::Algebra;

/// The most definitions that are unrolled: deeply nested sums collect many carries.
const UNROLLED: usize = 64;

/// `constant + sum k[i] x[i]`, without overflow.
#[derive(Default)]
struct SmallSum {
    terms: BTreeMap<VarId, i64>,
    constant: i64,
}

impl SmallSum {
    /// Adds `by * x`.
    fn add(&mut self, x: VarId, by: i64) -> Option<()> {
        let k = self.terms.entry(x).or_insert(0);
        *k = k.checked_add(by)?;
        Some(())
    }
}

/// The residue of `k` modulo `2^w` in `-2^(w-1) .. 2^(w-1)`.
fn residue(k: i64, w: u32) -> i64 {
    k << (64 - w) >> (64 - w)
}

impl Algebra {
    /// The top bit of `word` as a number or a variable, if the word is a small signed sum.
    pub(crate) fn top_bit(&mut self, word: VarId, w: u32) -> Option<Value> {
        if self.vars[word as usize].bound >> (w - 1) == 0 {
            return Some(Value::ZERO);
        }
        let (mut form, mut by) = (SmallSum::default(), Vec::new());
        form.add(word, 1)?;
        for _ in 0..UNROLLED {
            let widest = self.widest(&form)?;
            self.unroll(&mut form, widest)?;
            by.push(widest);
            if self.is_small(&form, w) {
                let top = self.dropped(&form, w)?;
                self.note(Entry::Cut {
                    x: Value::Var(word),
                    w,
                    k: w - 1,
                    lo: None,
                    hi: top,
                    by,
                });
                return Some(top);
            }
        }
        None
    }

    /// `(lo, hi)` with `word = lo + 2^k hi`, if the word is `s + 2^W d` with `-2^k <= s < 2^k`: then
    /// `lo = s + 2^k d`, and `hi` is `W - k` times the bit `d`.
    pub(crate) fn signed_split(&mut self, word: VarId, k: u32, w: u32) -> Option<(Value, Value)> {
        // Differences are such words, and what was cut from a wider one.
        let (terms, _) = self.sum(word)?;
        let (borrow, cut) = (1 << w, -(1 << w));
        let differs = terms.iter().any(|(_, k)| *k == borrow || *k < cut);
        let (mut form, mut by) = (SmallSum::default(), Vec::new());
        form.add(word, 1).filter(|()| differs)?;
        for _ in 0..UNROLLED {
            let widest = self.widest(&form)?;
            self.unroll(&mut form, widest)?;
            by.push(widest);
            if self.is_within(&form, w, 1 << k) {
                let Value::Var(d) = self.dropped(&form, w)? else {
                    return None;
                };
                self.cuts.shown.insert((word, k), by);
                let ones = (1i64 << (w - k)) - 1;
                let lo = self.linear(&[(word, 1), (d, -(ones << k))], 0, (1 << k) - 1);
                let hi = self.linear(&[(d, ones)], 0, ones as u64);
                return Some((Value::Var(lo), Value::Var(hi)));
            }
        }
        None
    }

    /// The variable, not a bit, that is a sum and may be largest.
    fn widest(&self, form: &SmallSum) -> Option<VarId> {
        let sums = form.terms.iter().filter(|(x, k)| {
            let var = &self.vars[**x as usize];
            **k != 0 && var.bound > 1 && matches!(var.def, Def::Linear { .. })
        });
        let (x, _) = sums.max_by_key(|(x, _)| (self.vars[**x as usize].bound, **x))?;
        Some(*x)
    }

    /// Replaces `x` by its definition.
    fn unroll(&self, form: &mut SmallSum, x: VarId) -> Option<()> {
        let (terms, constant) = self.sum(x)?;
        let by = form.terms.remove(&x)?;
        form.constant = form.constant.checked_add(by.checked_mul(constant)?)?;
        for (t, factor) in terms {
            form.add(*t, by.checked_mul(*factor)?)?;
        }
        Some(())
    }

    /// Is `s` in `-2^(w-1) .. 2^(w-1)`?
    fn is_small(&self, form: &SmallSum, w: u32) -> bool {
        self.is_within(form, w, 1 << (w - 1))
    }

    /// Is `s` in `-half .. half`?
    fn is_within(&self, form: &SmallSum, w: u32, half: i128) -> bool {
        let (mut least, mut most) = (0i128, 0i128);
        for (x, k) in &form.terms {
            let reach = i128::from(residue(*k, w)) * i128::from(self.vars[*x as usize].bound);
            least += reach.min(0);
            most += reach.max(0);
        }
        let constant = i128::from(residue(form.constant, w));
        -half <= least + constant && most + constant < half
    }

    /// The bit `d`.
    fn dropped(&mut self, form: &SmallSum, w: u32) -> Option<Value> {
        let quotient = |k: i64| Some(k.checked_sub(residue(k, w))? >> w);
        let mut terms = Vec::with_capacity(form.terms.len());
        for (x, k) in &form.terms {
            match quotient(*k)? {
                0 => {}
                q => terms.push((*x, q)),
            }
        }
        let constant = quotient(form.constant)?;
        Some(match terms.as_slice() {
            [] => Value::Public(Public::Known(u64::try_from(constant).ok()?)),
            _ => Value::Var(self.linear(&terms, constant, 1)),
        })
    }
}
