//! The equation that a kernel must satisfy, from the words that it found and left.

#![deny(clippy::wildcard_enum_match_arm)]

use machine::domain::answers::Answers;
use machine::domain::public::Public;
use machine::domain::variable::Value;
use machine::domain::{Address, Base, Domain};
use num_bigint::{BigInt, BigUint};
use spec::modulus::{Modular, square_of_r};
use spec::{Op, Spec};

use crate::checker::{By, Corner, Folded, Goal, Modulus, Residue, Term};
use crate::prove::entry::{no_width, words as words_at};
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
    let open = |text: String| Open { text, pc: None };
    let (w, v) = (words.bits, words.register_bits);
    let mut list = Vec::with_capacity(words.result.len());
    for (i, at) in words.result.iter().enumerate() {
        if !d.run().is_written(*at, w) {
            return Err(open(format!("r[{i}] is never written")));
        }
        let word = match w {
            8 => d.load::<8>(*at),
            16 => d.load::<16>(*at),
            32 => d.load::<32>(*at),
            other => Err(no_width(other)),
        };
        list.push(word.map_err(|fault| open(fault.to_string()))?);
    }
    let result = &list[..];
    let bytes = words.returned_bits.unwrap_or(0) as usize / 8;
    let returned = words_at(Base::RETURNED, bytes, v);
    let returned: Vec<_> = (returned.into_iter())
        .filter_map(|at| d.run().peek(at))
        .collect();
    let returned = &returned[..];
    if spec.op.returns() && returned.is_empty() {
        return Err(open(
            "nothing says in what the function returns its carry".into(),
        ));
    }
    let sources = words.sources;
    let a = &sources[0][..];
    let b = &sources[spec.op.factors() - 1][..];
    // A modulus that is an operand, without the words that may follow it.
    let last = &sources[sources.len() - 1];
    let (m, follows) = last.split_at(result.len().min(last.len()));
    let sign = match spec.op {
        Op::Mul | Op::Sqr | Op::Mullo => return then(d, &Goal::Product { w, result, a, b }),
        Op::Mulhi => return then(d, &Goal::High { w, result, a, b }),
        Op::Add => Some(1),
        Op::Sub => Some(-1),
        Op::Montmul | Op::Montsqr | Op::Redc | Op::Tomont | Op::Frommont => None,
        Op::Modmul | Op::Modsqr | Op::Modadd | Op::Modsub | Op::Modneg | Op::Modhalf => None,
    };
    if let Some(sign) = sign {
        let goal = Goal::Sum {
            sign,
            w,
            result,
            a,
            b,
            v,
            returned,
        };
        return then(d, &goal);
    }
    let Some(modular) = &spec.modular else {
        return Err(open("there is no modulus".into()));
    };
    let number = modular.fixed().map(|m| BigInt::from(m.clone()));
    let modulus = match &number {
        Some(m) => Modulus::Number(m),
        None => Modulus::Words(m),
    };
    if !spec.op.is_montgomery() {
        let residue = residue(spec, modular, (a, b), modulus, (result, w)).map_err(open)?;
        return then(d, &Goal::Residue(residue));
    }
    if let (Modulus::Words(m), true) = (modulus, spec.is_folded()) {
        let fold = follows.get(m.len() / 2..).unwrap_or_default();
        let (fold, _) = fold.split_at(m.len().min(fold.len()));
        let d_words = fold;
        let goal = Goal::Folded(Folded {
            w,
            result,
            a,
            m,
            d: d_words,
        });
        return then(d, &goal);
    }
    // A 2^n 2^n is reduced.
    let square = match modular.fixed() {
        Some(m) => constant(&square_of_r(m, spec.size.a), w, result.len()),
        None => {
            let skipped = usize::from(spec.inverse_follows());
            follows.iter().skip(skipped).copied().collect()
        }
    };
    let by = match spec.op {
        Op::Redc | Op::Frommont => By::One,
        Op::Tomont => By::Residue(&square),
        Op::Montmul | Op::Montsqr => By::Factor(b),
        Op::Mul | Op::Sqr | Op::Mullo | Op::Mulhi | Op::Add | Op::Sub => {
            return Err(open("it has no modulus".into()));
        }
        Op::Modmul | Op::Modsqr | Op::Modadd | Op::Modsub | Op::Modneg | Op::Modhalf => {
            return Err(open("it is no product of Montgomery's".into()));
        }
    };
    let goal = Goal::Montgomery {
        w,
        result,
        a,
        by,
        modulus,
        reduce: modular.reduce,
    };
    then(d, &goal)
}

/// A number in so many words.
fn constant(value: &BigUint, word_bits: u32, words: usize) -> Vec<Value> {
    let ones = (BigUint::from(1u8) << word_bits) - 1u8;
    let word = |i: usize| u64::try_from(value >> (word_bits as usize * i) & &ones);
    (0..words)
        .map(|i| Value::Public(Public::Known(word(i).unwrap_or(0))))
        .collect()
}

/// What `spec` makes of `a` and `b` modulo a number, at each end of what the modulus may be.
///
/// # Errors
/// Another operation.
fn residue<'a>(
    spec: &Spec,
    modular: &Modular,
    (a, b): (&'a [Value], &'a [Value]),
    modulus: Modulus<'a>,
    (result, w): (&'a [Value], u32),
) -> Result<Residue<'a>, String> {
    let n = spec.size.a;
    let term = |sign, a, b| Term { sign, a, b };
    let value = match spec.op {
        Op::Modadd => vec![term(1, a, None), term(1, b, None)],
        Op::Modsub => vec![term(1, a, None), term(-1, b, None)],
        Op::Modneg => vec![term(-1, a, None)],
        Op::Modhalf => vec![term(1, a, None)],
        Op::Modmul | Op::Modsqr => vec![term(1, a, Some(b))],
        Op::Montmul | Op::Montsqr | Op::Redc | Op::Tomont | Op::Frommont => {
            return Err("it is a product of Montgomery's".into());
        }
        Op::Mul | Op::Sqr | Op::Mullo | Op::Mulhi | Op::Add | Op::Sub => {
            return Err("it has no modulus".into());
        }
    };
    // 2^-shift mod m.
    let scale = match modular.fixed() {
        Some(m) => BigInt::from(((m + 1u8) >> 1u8).modpow(&modular.shift.into(), m)),
        None => BigInt::from(1),
    };
    let corner = |m: &BigUint| {
        let bound = modular.reduce.bound(m, n);
        // The most that a factor is.
        let factor: BigInt = BigInt::from(bound.clone()) - 1;
        let most = |term: &Term<'_>| match term.b {
            Some(_) => &factor * &factor * &scale,
            None => &factor * &scale,
        };
        let sum = |sign| -> BigInt {
            let terms = value.iter().filter(|term| term.sign == sign);
            terms.map(most).sum()
        };
        Corner {
            modulus: m.clone().into(),
            least: -sum(-1),
            most: sum(1),
            bound: bound.into(),
        }
    };
    let corners = match modular.fixed() {
        Some(m) => vec![corner(m)],
        None => spec.modulus_range().iter().map(corner).collect(),
    };
    Ok(Residue {
        w,
        result,
        halvings: u64::from(spec.op == Op::Modhalf),
        value,
        scale,
        modulus,
        corners,
    })
}
