//! Residues without Montgomery's factor: `2^h Z = P (mod M)` and `Z` below its bound; the argument is in
//! [`finder::residue`].

use machine::domain::trace::{Comparison, Form as Linear, ResidueReason, Sum};
use machine::domain::variable::Value;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::checker::modulus::Modulus;
use crate::checker::polynomial::{Number, Polynomial};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// What holds where the modulus is at one end of the interval that it lies in.
#[derive(Clone)]
pub struct Corner {
    pub modulus: BigInt,
    /// The range of `P`, both inclusive.
    pub least: BigInt,
    pub most: BigInt,
    /// What `Z` must be below.
    pub bound: BigInt,
}

/// A number or a product of two, `sign` times.
#[derive(Clone)]
pub struct Term<'a> {
    pub sign: i64,
    pub a: &'a [Value],
    pub b: Option<&'a [Value]>,
}

/// `2^h Z = P (mod M)`, `Z` in words of `w` bits, `P` a sum of terms times `scale`.
pub struct Residue<'a> {
    pub w: u32,
    pub result: &'a [Value],
    /// `h`.
    pub halvings: u64,
    pub value: Vec<Term<'a>>,
    pub scale: BigInt,
    pub modulus: Modulus<'a>,
    /// One for a number, two for an operand.
    pub corners: Vec<Corner>,
}

/// The least and the most of a number, at each corner.
type Ranges = Vec<(BigInt, BigInt)>;

impl Residue<'_> {
    /// The exponent of `R`.
    fn bits(&self) -> u64 {
        u64::from(self.w) * self.result.len() as u64
    }

    /// `2^h Z = P + M U + 2^h R k`, and bits of `U` compare: so the range of `P + M U` is known, and lies in
    /// `0 .. 2^h bound`, so that it is `2^h Z`.
    pub(super) fn holds(&self, d: &mut Checker<'_>, reason: &ResidueReason) -> Check {
        let one = BigInt::one();
        let top = &one << (self.bits() + self.halvings);
        d.are_words(self.result, self.w)?;
        let mut p = self.operands(d, &-&one)?;
        self.add_result(&mut p)?;
        // Bits that halving dropped, which are 0.
        for bit in &reason.even {
            if d.range(*bit)? != (0, 0) {
                return Err("a bit that halving drops may be 1");
            }
            p.add(*bit, Number::new(one.clone(), 0));
        }
        let minus = -&one;
        self.add_multiples(d, &mut p, &reason.multiples, &minus)?;
        self.add_products(d, &mut p, reason, &minus)?;
        p.add_sum(&reason.lost, &-&top)?;
        d.take_lemmas(&mut p, &reason.used)?;
        d.is_zero(p)?;
        let mut ranges = self.first_ranges(d, reason, &top)?;
        let mut times = reason.multiples.clone();
        let compared: Vec<_> = reason.compared.iter().flat_map(|c| &c.bits).collect();
        times.terms.retain(|(v, _)| !compared.contains(&v));
        for comparison in &reason.compared {
            self.compare(d, reason, comparison, &mut times, &mut ranges)?;
        }
        let fits = |(corner, (least, most)): (&Corner, &(BigInt, BigInt))| {
            let bound: BigInt = &corner.bound << self.halvings;
            !least.is_negative() && *most < bound && bound <= top
        };
        match self.corners.iter().zip(&ranges).all(fits) {
            true => Ok(()),
            false => Err("the result may be negative, or as large as its bound"),
        }
    }

    /// `sign P`.
    fn operands(&self, d: &Checker<'_>, sign: &BigInt) -> Check<Polynomial> {
        let mut p = Polynomial::new(None);
        for term in &self.value {
            let by = sign * &self.scale * term.sign;
            d.add_numbers(
                &mut p,
                self.w,
                [term.a, term.b.unwrap_or(&[Value::ONE])],
                &by,
                0,
            )?;
        }
        Ok(p)
    }

    /// Adds `2^h Z`.
    fn add_result(&self, p: &mut Polynomial) -> Check {
        p.add_words(self.w, self.result, &BigInt::one(), self.halvings)
    }

    /// Adds `by M` times a sum.
    fn add_multiples(&self, d: &Checker<'_>, p: &mut Polynomial, sum: &Sum, by: &BigInt) -> Check {
        let modulus = (self.modulus, self.w);
        d.add_multiples(p, modulus, &sum.terms, by)?;
        d.add_modulus(p, modulus, Value::ONE, &(&sum.constant * by))
    }

    /// Adds `by M` times the products of two variables among `U`, for a number `M`.
    fn add_products(
        &self,
        d: &Checker<'_>,
        p: &mut Polynomial,
        reason: &ResidueReason,
        by: &BigInt,
    ) -> Check {
        let Modulus::Number(m) = self.modulus else {
            return match reason.products.is_empty() {
                true => Ok(()),
                false => Err("products are multiplied by the modulus"),
            };
        };
        let mut products = reason.products.iter();
        products.try_for_each(|((x, y), u)| {
            let by = Number::new(u * by * m, 0);
            d.add_product(p, Value::Var(*x), Value::Var(*y), by)
        })
    }

    /// The ranges of `T[0] = P + M (u + what of U does not compare)`.
    fn first_ranges(
        &self,
        d: &mut Checker<'_>,
        reason: &ResidueReason,
        top: &BigInt,
    ) -> Check<Ranges> {
        let compared: Vec<_> = reason
            .compared
            .iter()
            .flat_map(|c| c.bits.clone())
            .collect();
        let (mut low, mut high) = (
            reason.multiples.constant.clone(),
            reason.multiples.constant.clone(),
        );
        let others = reason
            .multiples
            .terms
            .iter()
            .filter(|(v, _)| !compared.contains(v));
        for (v, u) in others {
            let (least, most) = d.range(*v)?;
            low += (u * least).min(u * most);
            high += (u * least).max(u * most);
        }
        for ((x, y), u) in &reason.products {
            let ((0.., x), (0.., y)) = (d.range(*x)?, d.range(*y)?) else {
                return Err("a factor may be below 0");
            };
            let most: BigInt = u * x * y;
            low += most.clone().min(BigInt::zero());
            high += most.max(BigInt::zero());
        }
        let ends = |c: &Corner| (&c.least + &low * &c.modulus, &c.most + &high * &c.modulus);
        let mut ranges: Ranges = self.corners.iter().map(ends).collect();
        let ([range], Modulus::Number(_)) = (&mut ranges[..], self.modulus) else {
            return Ok(ranges);
        };
        // T[0] is also 2^h Z less the rest, which is a sum of words in other ways.
        for Linear { sum, used } in &reason.stages {
            let mut t = Polynomial::new(None);
            self.add_result(&mut t)?;
            for (v, u) in reason
                .multiples
                .terms
                .iter()
                .filter(|(v, _)| compared.contains(v))
            {
                d.add_modulus(&mut t, (self.modulus, self.w), Value::Var(*v), &-u)?;
            }
            t.add_sum(&reason.lost, &-top)?;
            t.add_sum(sum, &BigInt::from(-1))?;
            d.take_lemmas(&mut t, used)?;
            d.is_zero(t)?;
            let (least, most) = d.range_of_sum(&sum.terms)?;
            range.0 = range.0.clone().max(least + &sum.constant);
            range.1 = range.1.clone().min(most + &sum.constant);
        }
        Ok(ranges)
    }

    /// `D = X + shift + limit s`, or `- limit s` if the answer is not negative, is a sum of digits, `0 <= D < limit`.
    fn is_within(
        &self,
        d: &mut Checker<'_>,
        reason: &ResidueReason,
        comparison: &Comparison,
        times: &Sum,
        negative: bool,
    ) -> Check {
        let Comparison {
            bits,
            offset,
            limit,
            shift,
            digits,
            used,
        } = comparison;
        let sign = if negative { 1 } else { -1 };
        let modulus = (self.modulus, self.w);
        let mut p = self.operands(d, &BigInt::one())?;
        self.add_multiples(d, &mut p, times, &BigInt::one())?;
        self.add_products(d, &mut p, reason, &BigInt::one())?;
        d.add_modulus(&mut p, modulus, Value::ONE, &BigInt::from(*offset))?;
        for v in bits {
            p.add(*v, Number::new(limit * sign, 0));
        }
        p.add_value(Value::ONE, Number::new(shift.clone(), 0))?;
        p.add_sum(digits, &BigInt::from(-1))?;
        d.take_lemmas(&mut p, used)?;
        d.is_zero(p)?;
        let (least, most) = d.range_of_sum(&digits.terms)?;
        match (least + &digits.constant).is_negative() || most + &digits.constant >= *limit {
            true => Err("a comparison may overflow"),
            false => Ok(()),
        }
    }

    /// The ranges of `T + u M s`, where `s = 1` just where `T + offset M < from`, or where it is that or more if `u < 0`.
    fn move_ranges(&self, ranges: &mut Ranges, u: &BigInt, from: BigInt, offset: i64) {
        for (Corner { modulus, .. }, (least, most)) in self.corners.iter().zip(ranges.iter_mut()) {
            let step = u * modulus;
            let limit = &from - modulus * offset;
            let (below, above) = ((least.clone(), &limit - 1), (limit, most.clone()));
            let (set, unset) = match u.is_positive() {
                true => (below, above),
                false => (above, below),
            };
            *least = unset.0.min(set.0 + &step);
            *most = unset.1.max(set.1 + &step);
        }
    }

    /// The next bits compare `X = T + offset M`: their sum `s` is 1 just where `X < 0`, or where `X` is some number or
    /// more. So `T + u M s` has another range.
    fn compare(
        &self,
        d: &mut Checker<'_>,
        reason: &ResidueReason,
        comparison: &Comparison,
        times: &mut Sum,
        ranges: &mut Ranges,
    ) -> Check {
        let Comparison {
            bits,
            offset,
            limit,
            shift,
            ..
        } = comparison;
        let r = BigInt::one() << self.bits();
        let of = |v: &u32| reason.multiples.terms.iter().find(|(known, _)| known == v);
        let mut factors = bits.iter().map(|v| of(v).map(|(_, u)| u.clone()));
        let u = factors.next().flatten().ok_or("a comparison of nothing")?;
        if factors.any(|other| other.as_ref() != Some(&u)) {
            return Err("bits that compare together count differently");
        }
        for v in bits {
            let (least, most) = d.range(*v)?;
            if least < 0 || most > 1 {
                return Err("a comparison has no bit for its result");
            }
        }
        self.is_within(d, reason, comparison, times, u.is_positive())?;
        // s = 1 just where X < 0 (u > 0), or where X >= from.
        let from = match u.is_positive() {
            true if shift.is_zero() => BigInt::zero(),
            true => return Err("a comparison with another number"),
            false => limit - shift,
        };
        if bits.len() > 1 {
            // No more than one of them is set.
            let within = match u.is_positive() {
                true => [-limit, limit.clone()],
                false => [BigInt::zero(), limit * 2],
            };
            let mut corners = self.corners.iter().zip(ranges.iter());
            let one = corners.all(|(corner, (least, most))| {
                let by = &corner.modulus * offset;
                least + &by >= within[0] && most + by < within[1]
            });
            if !one || !shift.is_zero() || *limit < r {
                return Err("more than one bit of a comparison may be set");
            }
        }
        self.move_ranges(ranges, &u, from, *offset);
        times.terms.extend(bits.iter().map(|v| (*v, u.clone())));
        Ok(())
    }
}
