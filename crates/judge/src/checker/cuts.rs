//! Words that are cut: `x = lo + 2^k hi`, and the bits of a word.

use machine::domain::public::Public;
use machine::domain::variable::{Value, VarId};

use crate::checker::form::{Form, World};
use crate::checker::operations::full;
use crate::checker::refused::Check;
use crate::checker::state::Checker;

impl Checker<'_> {
    /// `x = lo + 2^k hi` with `0 <= lo < 2^k`.
    pub(super) fn cut_apart(
        &mut self,
        x: Value,
        w: u32,
        k: u32,
        lo: Option<Value>,
        hi: Value,
        by: &[VarId],
    ) -> Check {
        let Value::Var(v) = x else {
            return Err("a number needs no cut");
        };
        if self.cuts.get(&(v, k)) == Some(&(lo, hi)) {
            return Ok(());
        }
        let (least, most) = self.range(v)?;
        if least < 0 {
            return Err("a word that is cut may be below 0");
        }
        let quotient = (0, most >> k);
        if let Value::Var(h) = hi
            && self.is_new(h)
        {
            self.name(h, quotient)?;
            return self.cut_anew(v, k, lo, h);
        }
        let low = Form::of(x)?.with(hi, -(1 << k))?;
        self.naive(&low)?;
        if let Some(lo) = lo {
            self.range_of(lo)?;
        }
        let is_low = match lo {
            Some(lo) => {
                self.vanishes(low.clone().with(lo, -1)?, None, &World::new())?;
                self.is_remainder(lo, k)
                    .or_else(|_| self.lies_unrolled(&Form::of(lo)?, (0, full(k))))
            }
            None => self.lies_unrolled(&low, (0, full(k))),
        };
        // The upper part may have been named before.
        let known = self
            .cuts
            .get(&(v, k))
            .is_some_and(|(_, upper)| *upper == hi);
        if !known {
            is_low.or_else(|_| self.is_signed(v, w, k, hi, by))?;
        }
        if let Some(Value::Var(lo)) = lo {
            self.range(lo)?;
            self.narrow(lo, (0, full(k)))?;
        }
        if let Value::Var(hi) = hi {
            self.range(hi)?;
            self.narrow(hi, quotient)?;
            let (whole, from) = self.floors.get(&v).copied().unwrap_or((v, 0));
            self.floors.entry(hi).or_insert((whole, from + k));
        }
        self.cuts.insert((v, k), (lo, hi));
        Ok(())
    }

    /// The upper part `h` of `v` has just been named.
    fn cut_anew(&mut self, v: VarId, k: u32, lo: Option<Value>, h: VarId) -> Check {
        // floor(floor(v / 2^i) / 2^k) = floor(v / 2^(i + k))
        let (whole, from) = self.floors.get(&v).copied().unwrap_or((v, 0));
        self.floors.insert(h, (whole, from + k));
        let (x, hi) = (Value::Var(v), Value::Var(h));
        if let Some(Value::Var(low)) = lo
            && self.is_new(low)
        {
            // A word that is not followed, and has parts all the same.
            self.name(low, (0, full(k)))?;
        } else if let Some(lo) = lo {
            self.range_of(lo)?;
            let rest = Form::of(x)?.with(lo, -1)?.with(hi, -(1 << k))?;
            self.vanishes(rest, None, &World::new())?;
            if let Value::Var(low) = lo {
                self.range(low)?;
                self.narrow(low, (0, full(k)))?;
            }
        }
        self.cuts.insert((v, k), (lo, hi));
        Ok(())
    }

    /// `lo = floor(x / 2^i) - 2^k floor(x / 2^(i + k))`.
    fn is_remainder(&self, lo: Value, k: u32) -> Check {
        let not = "it is no remainder";
        let Value::Var(lo) = lo else { return Err(not) };
        let Some((terms, 0)) = self.sum(lo) else {
            return Err(not);
        };
        let ([(head, 1), (above, by)] | [(above, by), (head, 1)]) = terms else {
            return Err(not);
        };
        let at = |v: &VarId| self.floors.get(v).copied().unwrap_or((*v, 0));
        let ((x, i), (y, j)) = (at(head), at(above));
        if x == y && i + k == j && *by == -(1 << k) {
            Ok(())
        } else {
            Err(not)
        }
    }

    /// `hi = (2^(w-k) - 1) d` for `v = s + 2^w d` with `-2^k <= s < 2^k`: as `0 <= v < 2^w`, either `s = v` and
    /// `d = 0`, or `s < 0`, `d = 1`, and `v - 2^k hi = s + 2^k`.
    fn is_signed(&mut self, v: VarId, w: u32, k: u32, hi: Value, by: &[VarId]) -> Check {
        let not = "the upper part of a word is not shown";
        let ones = |factor: i128| match factor & (factor + 1) {
            0 if factor > 0 => Ok(factor.trailing_ones()),
            _ => Err(not),
        };
        // As the narrower word that it may be.
        let (d, bits) = match hi {
            Value::Var(h) => match self.sum(h) {
                Some(([(d, by)], 0)) if *by > 1 => (Form::of(Value::Var(*d))?, ones((*by).into())?),
                Some(_) | None => (Form::of(hi)?, 1),
            },
            Value::Public(Public::Known(h)) => (Form::number(1), ones(h.into())?),
            Value::Public(_) => return Err(not),
        };
        let w = w.min(k + bits);
        if self.range(v)?.1 > full(w) {
            return Err("a word is too large");
        }
        let mut s = self.plus(Form::of(Value::Var(v))?, &d, -(1 << w))?;
        // The definition of v first, which holds the d.
        let parts = d.terms.iter().map(|(d, _)| d);
        for x in [&v].into_iter().chain(by).chain(parts) {
            self.expand(&mut s, *x)?;
        }
        self.lies_unrolled(&s, (-(1 << k), full(k)))
    }

    pub(super) fn digits_are(&mut self, word: VarId, digits: &[Value]) -> Check {
        let (least, most) = self.range(word)?;
        let fits = least >= 0 && most >> digits.len() == 0;
        let new = |d: &&Value| matches!(d, Value::Var(v) if self.is_new(*v));
        let fresh: Vec<_> = digits.iter().skip(1).filter(new).copied().collect();
        let numbers = digits.iter().skip(1).zip(1u32..);
        let zeros = numbers.filter(|(d, _)| **d == Value::ZERO);
        let are_zero = zeros.clone().all(|(_, i)| most >> i == 0);
        let zeros = zeros.count();
        if !fresh.is_empty() {
            if !fits || fresh.len() + zeros + 1 != digits.len() || !are_zero {
                return Err("some bits of a word are new, and some are not");
            }
            for digit in &fresh {
                if let Value::Var(v) = digit {
                    self.name(*v, (0, 1))?;
                }
            }
        }
        let mut sum = Form::default();
        for (digit, i) in digits.iter().zip(0u32..) {
            sum.add_value(*digit, 1 << i)?;
        }
        self.naive(&sum)?;
        self.vanishes(sum.with(Value::Var(word), -1)?, None, &World::new())?;
        // Bits that are new are those of the word, and so is what they leave.
        for digit in digits {
            match digit {
                Value::Var(v) if !fresh.is_empty() => {
                    self.range(*v)?;
                    self.narrow(*v, (0, 1))?;
                }
                Value::Var(_) | Value::Public(_) => self.lies(&Form::of(*digit)?, (0, 1))?,
            }
        }
        // A sum of bits with their weights.
        self.narrow(word, (0, full(digits.len() as u32)))?;
        if let Some((top, rest)) = digits.split_last() {
            self.cuts
                .entry((word, rest.len() as u32))
                .or_insert((None, *top));
        }
        self.digits.insert(word, digits.to_vec());
        Ok(())
    }

    /// The parts of a word that is cut at bit `k`, as far as they have names.
    pub(super) fn cut(&mut self, x: Value, k: u32) -> Check<(Option<Value>, Value)> {
        let number = |n: u64| Value::Public(Public::Known(n));
        match x {
            Value::Public(Public::Known(n)) => {
                Ok((Some(number(n & ((1 << k) - 1))), number(n >> k)))
            }
            Value::Public(_) => Err("an address is cut"),
            Value::Var(v) => {
                let range = self.range(v)?;
                if range.0 >= 0 && range.1 >> k == 0 {
                    return Ok((Some(x), Value::ZERO));
                }
                let parts = self.cuts.get(&(v, k)).copied();
                parts.ok_or("a word was not cut here")
            }
        }
    }

    /// The `v` bits of `x` from bit `from` on.
    pub(super) fn part(&mut self, x: Value, w: u32, from: u32, v: u32) -> Check<Value> {
        let above = match from {
            0 => x,
            from => self.cut(x, from)?.1,
        };
        match from + v < w {
            true => self.cut(above, v)?.0.ok_or("a word was not cut here"),
            false => Ok(above),
        }
    }
}
