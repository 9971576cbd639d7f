//! Comparisons: multiples of the modulus that are added where a number is small, or subtracted where it is large.
//!
//! `T` is what is added up so far, and `X = T + offset M`. An equation `X + shift = limit t + D` with `0 <= D < limit`
//! leaves `t` one value, `floor((X + shift) / limit)`; and what `t` is says in what range `T` lies. So `T + M times s`
//! with a sum `s` that depends on `t` has another range than `T`.

use std::ops::RangeInclusive;

use machine::domain::trace::{Answer, Combination, Comparison, Reason, Sum};
use machine::domain::variable::{Def, Value, VarId};
use num_bigint::BigInt;
use num_traits::{Euclid, One, Signed, Zero};

use crate::checker::goal::{Corner, Goal, Ranges};
use crate::checker::limits;
use crate::checker::polynomial::Number;
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// The most values that an answer may have.
const ANSWERS: i128 = 3;
/// The most bits whose sum is an answer, and the most definitions that are read for their values.
const MOST_BITS: usize = 2;
const MOST_READ: u32 = 64;

/// Of the borrow `s` of `0 - u`, `u`: 0 where `s` is 0, and only there.
fn borrowed(d: &Checker<'_>, w: u32, sum: &[(VarId, BigInt)], u: VarId) -> Check {
    const NONE: &str = "no borrow is compared";
    let [(v, by)] = sum else {
        return Err(NONE);
    };
    let word = *d.left.get(v).ok_or("a borrow left no word")?;
    let (terms, constant) = d.sum(word).ok_or("it is no sum")?;
    let mut terms = terms.to_vec();
    terms.sort_unstable_by_key(|(_, factor)| *factor);
    let is_borrow = matches!(&terms[..], [(x, -1), (c, weight)]
        if *x == u && c == v && *weight == 1 << w);
    match by.is_one() && constant == 0 && is_borrow {
        true => Ok(()),
        false => Err(NONE),
    }
}

/// The variables whose sum is the answer `t`.
fn answer(c: &Comparison) -> Vec<(VarId, BigInt)> {
    let by = BigInt::from(sign(c));
    match &c.answer {
        Answer::Itself => c.sum.iter().map(|(v, factor)| (*v, factor * &by)).collect(),
        Answer::Borrow(u) => vec![(*u, by)],
        Answer::Forced { t, .. } => vec![(*t, BigInt::one())],
        Answer::Told { t } => t.clone(),
    }
}

/// `t = sign s`, where nothing else says what `s` is: `M` is added where `X` is small.
fn sign(c: &Comparison) -> i64 {
    if c.times.is_positive() { -1 } else { 1 }
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

    /// The value of `v` by definitions, where these variables have these values.
    fn evaluated(&self, v: VarId, values: &[(VarId, i128)], read: &mut u32) -> Check<i128> {
        const WRONG: &str = "the bits of a comparison do not tell what is subtracted";
        if let Some((_, value)) = values.iter().find(|(known, _)| *known == v) {
            return Ok(*value);
        }
        *read = read.checked_sub(1).ok_or(WRONG)?;
        if self.known(v).is_none() {
            return Err("a variable is used before it has a meaning");
        }
        match self.def(v)? {
            Def::Linear { .. } => {
                let (terms, constant) = self.sum(v).ok_or(WRONG)?;
                let mut sum = i128::from(constant);
                for (t, factor) in terms {
                    let share = i128::from(*factor).checked_mul(self.evaluated(*t, values, read)?);
                    let with = share.and_then(|share| sum.checked_add(share));
                    sum = with.ok_or(WRONG)?;
                }
                Ok(sum)
            }
            Def::Product { a, b } => {
                let [a, b] = [a, b].map(|factor| self.evaluated(factor, values, read));
                a?.checked_mul(b?).ok_or(WRONG)
            }
            Def::Free | Def::Carry | Def::Low { .. } => Err(WRONG),
        }
    }

    /// The value that `sum` has by its definitions wherever the bits of `t` add up to `value`.
    fn told(
        &mut self,
        sum: &[(VarId, BigInt)],
        t: &[(VarId, BigInt)],
        value: i128,
    ) -> Check<BigInt> {
        if t.len() > MOST_BITS {
            return Err("a comparison asks for more than a few bits");
        }
        for (bit, _) in t {
            if !matches!(self.range(*bit)?, (0.., ..=1)) {
                return Err("a comparison asks for other than bits");
            }
        }
        let mut found = None;
        for ways in 0..1u32 << t.len() {
            let bits = t.iter().zip(0..);
            let bits: Vec<_> = bits
                .map(|((v, _), i)| (*v, i128::from(ways >> i & 1)))
                .collect();
            let shares = t.iter().zip(&bits).map(|((_, by), (_, bit))| by * bit);
            if shares.sum::<BigInt>() != value.into() {
                continue;
            }
            let mut s = BigInt::zero();
            for (v, factor) in sum {
                let mut read = MOST_READ;
                s += factor * self.evaluated(*v, &bits, &mut read)?;
            }
            match &found {
                Some(other) if *other != s => {
                    return Err("the bits of a comparison leave what is subtracted two values");
                }
                Some(_) | None => found = Some(s),
            }
        }
        found.ok_or("a comparison has no answer")
    }

    /// What `s` is where the answer is `t`.
    fn share(&mut self, c: &Comparison, t: i128) -> Check<BigInt> {
        match &c.answer {
            Answer::Itself => Ok(BigInt::from(t) * sign(c)),
            Answer::Borrow(_) => Ok(BigInt::from(i128::from(t != 0))),
            Answer::Told { t: of } => self.told(&c.sum, of, t),
            Answer::Forced { t: of, by } => {
                let mut s = BigInt::zero();
                for (bit, factor) in &c.sum {
                    s += factor * self.forced((*of, t), *bit, by)?;
                }
                Ok(s)
            }
        }
    }
}

impl Goal<'_> {
    /// The ranges of `T + M times s`, from those of `T = P + M U`.
    pub(super) fn compare(
        &self,
        d: &mut Checker<'_>,
        reason: &Reason,
        c: &Comparison,
        ranges: &mut Ranges,
        u: &Sum,
    ) -> Check {
        if c.times.is_zero() || !c.limit.is_positive() {
            return Err("a comparison of nothing");
        }
        if let Answer::Borrow(u) = c.answer {
            borrowed(d, self.w, &c.sum, u)?;
        }
        self.is_divided(d, reason, c, ranges, u)?;
        let answers = self.answers(d, c, ranges)?;
        let (first, last) = (*answers.start(), *answers.end());
        let mut next: Option<Ranges> = None;
        for t in answers {
            let s = &c.times * d.share(c, t)?;
            // T = X - offset M, and X + shift lies in limit t .. limit (t + 1).
            let mut pieces = ranges.clone();
            for (Corner { modulus, .. }, (least, most)) in self.corners.iter().zip(&mut pieces) {
                let from = &c.limit * t - &c.shift - modulus * &c.offset;
                if t > first {
                    *least = from.clone();
                }
                if t < last {
                    *most = from + &c.limit - 1;
                }
                *least += &s * modulus;
                *most += &s * modulus;
            }
            next = Some(match next {
                None => pieces,
                Some(others) => {
                    let both = others.into_iter().zip(pieces);
                    both.map(|(x, y)| (x.0.min(y.0), x.1.max(y.1))).collect()
                }
            });
        }
        *ranges = next.ok_or("a comparison has no answer")?;
        Ok(())
    }

    /// `X + shift = limit t + D`, and `0 <= D < limit`.
    fn is_divided(
        &self,
        d: &mut Checker<'_>,
        reason: &Reason,
        c: &Comparison,
        ranges: &Ranges,
        u: &Sum,
    ) -> Check {
        let one = BigInt::one();
        let mut p = self.operands(d, &one, c.bits)?;
        self.add_multiples(d, &mut p, u, &one)?;
        self.add_products(d, &mut p, reason, &one)?;
        d.add_modulus(&mut p, self.modulus, self.w, Value::ONE, &c.offset)?;
        let t = answer(c);
        p.add_terms(&t, &-&c.limit);
        p.add_value(Value::ONE, Number::new(c.shift.clone(), 0))?;
        p.add_sum(&c.digits, &BigInt::from(-1))?;
        d.take_lemmas(&mut p, &c.used)?;
        d.vanish(&mut p, self.w, &c.zeros)?;
        d.is_zero(p)?;
        let (least, most) = d.range_of_sum(&c.digits.terms)?;
        let (least, most) = (least + &c.digits.constant, most + &c.digits.constant);
        if least.is_negative() || most >= c.limit {
            return Err("a comparison may overflow");
        }
        let Some(bits) = c.bits else {
            return Ok(());
        };
        // Modulo 2^bits, both sides are equal if they are less than that apart.
        let (from, to) = d.range_of_sum(&t)?;
        let (from, to) = (from * &c.limit + least, to * &c.limit + most);
        let power = one << limits::number(bits)?;
        let mut corners = self.corners.iter().zip(ranges);
        let is_near = corners.all(|(corner, (least, most))| {
            let by = &corner.modulus * &c.offset + &c.shift;
            most + &by - &from < power && &to - (least + &by) < power
        });
        match is_near {
            true => Ok(()),
            false => Err("a comparison may be off by a power of 2"),
        }
    }

    /// The values that are left for `t`: it lies in its range, and `X` in its own.
    fn answers(
        &self,
        d: &mut Checker<'_>,
        c: &Comparison,
        ranges: &Ranges,
    ) -> Check<RangeInclusive<i128>> {
        let (mut first, mut last) = (None, None);
        for (corner, (least, most)) in self.corners.iter().zip(ranges) {
            let by = &corner.modulus * &c.offset + &c.shift;
            let (from, to) = (
                (least + &by).div_euclid(&c.limit),
                (most + &by).div_euclid(&c.limit),
            );
            first = Some(first.map_or(from.clone(), |first: BigInt| first.min(from)));
            last = Some(last.map_or(to.clone(), |last: BigInt| last.max(to)));
        }
        let (Some(first), Some(last)) = (first, last) else {
            return Err("a comparison has no answer");
        };
        let (least, most) = d.range_of_sum(&answer(c))?;
        let ends = [first.max(least), last.min(most)].map(i128::try_from);
        let [Ok(first), Ok(last)] = ends else {
            return Err("a comparison leaves too many answers");
        };
        match last.saturating_sub(first) < ANSWERS {
            true => Ok(first..=last),
            false => Err("a comparison leaves too many answers"),
        }
    }
}
