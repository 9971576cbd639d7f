//! The equation that a kernel must satisfy, from the words that it found and left.

#![deny(clippy::wildcard_enum_match_arm)]

use machine::domain::answers::Answers;
use machine::domain::public::Public;
use machine::domain::variable::Value;
use machine::domain::{Address, Base, Domain};
use machine::of_width;
use num_bigint::{BigInt, BigUint};
use spec::modulus::{Modular, Reduce, square_of_r};
use spec::{Op, Spec};

use crate::checker::{Corner, Folded, Goal, Identity, Modulus, Residue, Term};
use crate::prove::entry::words as words_at;
use crate::prove::open::{Open, Shown};

/// Where the words of an equation are.
pub(super) struct Words<'a> {
    /// The result, in words of so many bits.
    pub result: &'a [Address],
    pub bits: u32,
    /// So many bits are returned, in registers of so many.
    pub returned_bits: Option<u32>,
    pub register_bits: u32,
    pub sources: &'a [Vec<Value>],
}

/// What a kernel of `spec` must have reached, from the words in memory: given to `then`.
///
/// # Errors
/// A word of the result that was not written, or what `then` says.
pub(super) fn with_goal<A: Answers, T>(
    spec: &Spec,
    d: &mut A,
    words: &Words<'_>,
    then: impl FnOnce(&mut A, &Goal<'_>) -> Shown<T>,
) -> Shown<T> {
    let held = Held {
        result: result(d, words)?,
        returned: returned(d, words),
        number: fixed(spec).map(|m| m.clone().into()),
        square: square(spec, words),
    };
    let goal = held.goal(spec, words);
    then(d, &goal.map_err(open)?)
}

/// A modulus that is no operand.
fn fixed(spec: &Spec) -> Option<&BigUint> {
    spec.modular.as_ref().and_then(Modular::fixed)
}

fn open(text: impl Into<String>) -> Open {
    let text = text.into();
    Open { text, pc: None }
}

/// The words of the result.
///
/// # Errors
/// One that was not written.
fn result<A: Answers>(d: &mut A, words: &Words<'_>) -> Shown<Vec<Value>> {
    let mut list = Vec::with_capacity(words.result.len());
    for (i, at) in words.result.iter().enumerate() {
        if !d.run().is_written(*at, words.bits) {
            return Err(open(format!("r[{i}] is never written")));
        }
        let word = of_width!(words.bits, |W| d.load::<W>(*at));
        let word = word.and_then(|word| word);
        list.push(word.map_err(|fault| open(fault.to_string()))?);
    }
    Ok(list)
}

/// The words that are returned.
fn returned<A: Answers>(d: &mut A, words: &Words<'_>) -> Vec<Value> {
    let bytes = words.returned_bits.unwrap_or(0) as usize / 8;
    let places = words_at(Base::RETURNED, bytes, words.register_bits).into_iter();
    places.filter_map(|at| d.run().peek(at)).collect()
}

impl<'a> Words<'a> {
    /// The words of a modulus that is an operand, and those that may follow it.
    fn modulus(&self) -> [&'a [Value]; 2] {
        let last = self.sources.last().map_or(&[][..], Vec::as_slice);
        last.split_at(self.result.len().min(last.len())).into()
    }
}

/// The words of `2^2n` modulo the modulus, by which a number is multiplied that gets Montgomery's factor.
fn square(spec: &Spec, words: &Words<'_>) -> Vec<Value> {
    if spec.op != Op::Tomont {
        return Vec::new();
    }
    match fixed(spec) {
        Some(m) => constant(&square_of_r(m, spec.size.a), words.bits, words.result.len()),
        None => {
            let [_, follows] = words.modulus();
            let skipped = usize::from(spec.inverse_follows());
            follows.iter().skip(skipped).copied().collect()
        }
    }
}

/// The words of an equation that no source holds.
struct Held {
    result: Vec<Value>,
    returned: Vec<Value>,
    /// A modulus that is no operand.
    number: Option<BigInt>,
    square: Vec<Value>,
}

impl Held {
    /// What must hold.
    ///
    /// # Errors
    /// Why there is no goal.
    fn goal<'a>(&'a self, spec: &'a Spec, words: &Words<'a>) -> Result<Goal<'a>, String> {
        let result = &self.result[..];
        let (w, v) = (words.bits, words.register_bits);
        let a = &words.sources[0][..];
        let b = &words.sources[spec.op.factors() - 1][..];
        if spec.op.returns() && self.returned.is_empty() {
            return Err("nothing says in what the function returns its carry".into());
        }
        let bits = u64::from(w) * result.len() as u64;
        let term = |a, b| Term {
            sign: 1,
            shift: 0,
            w,
            a,
            b,
        };
        let identity = |h, value, bits, exact| {
            Ok(Goal::Identity(Identity {
                w,
                result,
                h,
                value,
                bits,
                exact,
            }))
        };
        match spec.op {
            Op::Mul | Op::Sqr => identity(0, vec![term(a, Some(b))], bits, true),
            Op::Mullo => identity(0, vec![term(a, Some(b))], bits, false),
            Op::Mulhi => identity(bits, vec![term(a, Some(b))], 2 * bits, true),
            // R + 2^n C = A + B, R - 2^n C = A - B
            Op::Add | Op::Sub => {
                let sign = if spec.op == Op::Add { 1 } else { -1 };
                let carry = Term {
                    sign: -sign,
                    shift: bits,
                    w: v,
                    a: &self.returned,
                    b: None,
                };
                let b = Term {
                    sign,
                    ..term(b, None)
                };
                let bits = bits + u64::from(v) * self.returned.len() as u64;
                identity(0, vec![term(a, None), b, carry], bits, true)
            }
            Op::Montmul
            | Op::Montsqr
            | Op::Redc
            | Op::Frommont
            | Op::Tomont
            | Op::Modmul
            | Op::Modsqr
            | Op::Modadd
            | Op::Modsub
            | Op::Modneg
            | Op::Modhalf => self.modular(spec, words),
        }
    }

    /// How it is reduced, and by what.
    ///
    /// # Errors
    /// It is not.
    fn modulus<'a>(
        &'a self,
        spec: &'a Spec,
        words: &Words<'a>,
    ) -> Result<(&'a Modular, Modulus<'a>), String> {
        let modular = spec.modular.as_ref().ok_or("there is no modulus")?;
        let [m, _] = words.modulus();
        let number = self.number.as_ref();
        Ok((modular, number.map_or(Modulus::Words(m), Modulus::Number)))
    }

    /// What `spec` makes of `a` and `b` modulo a number, at each end of what the modulus may be.
    ///
    /// # Errors
    /// There is none.
    fn modular<'a>(&'a self, spec: &'a Spec, words: &Words<'a>) -> Result<Goal<'a>, String> {
        let (modular, modulus) = self.modulus(spec, words)?;
        let (w, result) = (words.bits, &self.result[..]);
        let a = &words.sources[0][..];
        let b = &words.sources[spec.op.factors() - 1][..];
        if let (Modulus::Words(m), true) = (modulus, spec.is_folded()) {
            let [_, follows] = words.modulus();
            let fold = follows.get(m.len() / 2..).unwrap_or_default();
            let (d, _) = fold.split_at(m.len().min(fold.len()));
            return Ok(Goal::Folded(Folded { w, result, a, m, d }));
        }
        let term = |sign, a, b| Term {
            sign,
            shift: 0,
            w,
            a,
            b,
        };
        let value = match spec.op {
            Op::Modadd => vec![term(1, a, None), term(1, b, None)],
            Op::Modsub => vec![term(1, a, None), term(-1, b, None)],
            Op::Modneg => vec![term(-1, a, None)],
            Op::Modhalf | Op::Redc | Op::Frommont => vec![term(1, a, None)],
            Op::Modmul | Op::Modsqr | Op::Montmul | Op::Montsqr => vec![term(1, a, Some(b))],
            Op::Tomont => vec![term(1, a, Some(&self.square))],
            Op::Mul | Op::Sqr | Op::Mullo | Op::Mulhi | Op::Add | Op::Sub => {
                return Err("it has no modulus".into());
            }
        };
        // 2^-shift mod m.
        let scale = match modular.fixed() {
            Some(m) => BigInt::from(((m + 1u8) >> 1u8).modpow(&modular.shift.into(), m)),
            None => BigInt::from(1),
        };
        let corner = |m: &BigUint| corner(spec, modular.reduce, m, &scale);
        let corners = match modular.fixed() {
            Some(m) => vec![corner(m)?],
            None => spec
                .modulus_range()
                .iter()
                .map(corner)
                .collect::<Result<_, _>>()?,
        };
        Ok(Goal::Residue(Residue {
            w,
            result,
            h: exponent(spec, u64::from(w) * result.len() as u64),
            value,
            scale,
            modulus,
            corners,
        }))
    }
}

/// Of `2^h Z = P (mod M)`, with a result of so many bits.
fn exponent(spec: &Spec, bits: u64) -> u64 {
    match spec.op {
        Op::Montmul | Op::Montsqr | Op::Redc | Op::Frommont | Op::Tomont => bits,
        Op::Modhalf => 1,
        Op::Modmul
        | Op::Modsqr
        | Op::Modadd
        | Op::Modsub
        | Op::Modneg
        | Op::Mul
        | Op::Sqr
        | Op::Mullo
        | Op::Mulhi
        | Op::Add
        | Op::Sub => 0,
    }
}

/// A number in so many words.
fn constant(value: &BigUint, word_bits: u32, words: usize) -> Vec<Value> {
    let ones = (BigUint::from(1u8) << word_bits) - 1u8;
    let word = |i: usize| u64::try_from(value >> (word_bits as usize * i) & &ones);
    (0..words)
        .map(|i| Value::Public(Public::Known(word(i).unwrap_or(0))))
        .collect()
}

/// What the contract says modulo `m`: how large `P` is, and what the result must be below.
///
/// # Errors
/// There is no modulus.
fn corner(spec: &Spec, reduce: Reduce, m: &BigUint, scale: &BigInt) -> Result<Corner, String> {
    let n = spec.size.a;
    let bound = reduce.bound(m, n);
    // The most that a factor is.
    let factor: BigInt = BigInt::from(bound.clone()) - 1;
    // 2^2n mod m.
    let square = || match fixed(spec) {
        Some(m) => BigInt::from(square_of_r(m, n)),
        None => BigInt::from(m.clone()) - 1,
    };
    let zero = BigInt::from(0);
    let [least, most] = match spec.op {
        Op::Modadd => [zero, 2 * &factor],
        Op::Modsub => [-&factor, factor],
        Op::Modneg => [-&factor, zero],
        Op::Modhalf | Op::Frommont => [zero, factor],
        Op::Modmul | Op::Modsqr | Op::Montmul | Op::Montsqr => [zero, &factor * &factor],
        Op::Tomont => [zero, factor * square()],
        // A < 2^n M
        Op::Redc => [zero, BigInt::from(m << n) - 1],
        Op::Mul | Op::Sqr | Op::Mullo | Op::Mulhi | Op::Add | Op::Sub => {
            return Err("it has no modulus".into());
        }
    };
    Ok(Corner {
        modulus: m.clone().into(),
        least: least * scale,
        most: most * scale,
        bound: bound.into(),
    })
}
