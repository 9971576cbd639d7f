//! The equation that a kernel must satisfy, from the words that it found and left: shown by the finder, and decided by
//! the checker.

use num_bigint::{BigInt, BigUint};

use super::words as words_at;
use crate::checker::{self, Goal};
use crate::domain::algebra::{Algebra, Value};
use crate::domain::floor;
use crate::domain::folded::Folded;
use crate::domain::identity::{self, Open, Sign};
use crate::domain::montgomery::{self, By, Modulus};
use crate::domain::public::Public;
use crate::domain::residue::{Corner, Residue, Term};
use crate::domain::{Address, Base, Domain};
use crate::spec::modulus::{Modular, square_of_r};
use crate::spec::{Op, Spec};

/// Shows the equation of `spec` from the words in memory, and that of so many bits that is returned in
/// registers of the machine's words.
pub(super) fn equation(
    spec: &Spec,
    d: &mut Algebra,
    (result, word_bits): (&[Address], u32),
    (returned_bits, register_bits): (Option<u32>, u32),
    sources: &[Vec<Value>],
) -> Result<(), Open> {
    let mut words = Vec::with_capacity(result.len());
    for (i, at) in result.iter().enumerate() {
        if !d.memory.is_written(*at, word_bits) {
            let text = format!("r[{i}] is never written");
            return Err(Open { text, pc: None });
        }
        let word = match word_bits {
            8 => d.load::<8>(*at),
            16 => d.load::<16>(*at),
            _ => d.load::<32>(*at),
        };
        words.push(word.map_err(|fault| Open {
            text: fault.to_string(),
            pc: None,
        })?);
    }
    let bytes = returned_bits.unwrap_or(0) as usize / 8;
    let returned = words_at(Base::RETURNED, bytes, register_bits);
    let returned = returned.into_iter().filter_map(|at| d.memory.peek(at));
    let returned: Vec<_> = returned.collect();
    if spec.op.returns() && returned.is_empty() {
        let text = "nothing says in what the function returns its carry".into();
        return Err(Open { text, pc: None });
    }
    let a = &sources[0];
    let b = &sources[spec.op.factors() - 1];
    // A modulus that is an operand, without the words that may follow it.
    let last = &sources[sources.len() - 1];
    let (m, follows) = last.split_at(words.len().min(last.len()));
    let returned = (register_bits, returned.as_slice());
    let (w, result) = (word_bits, &words[..]);
    match spec.op {
        Op::Mul | Op::Sqr | Op::Mullo => {
            identity::product(d, word_bits, &words, a, b)?;
            d.accepted(&Goal::Product { w, result, a, b })
        }
        Op::Mulhi => {
            floor::high_product(d, word_bits, &words, a, b)?;
            d.accepted(&Goal::High { w, result, a, b })
        }
        Op::Add | Op::Sub => {
            let (sign, factor) = match spec.op {
                Op::Add => (Sign::Plus, 1),
                _ => (Sign::Minus, -1),
            };
            identity::sum(d, sign, word_bits, [&words, a, b], returned)?;
            d.accepted(&Goal::Sum {
                sign: factor,
                w,
                result,
                a,
                b,
                v: register_bits,
                returned: returned.1,
            })
        }
        _ => {
            let Some(modular) = &spec.modular else {
                let text = "there is no modulus".into();
                return Err(Open { text, pc: None });
            };
            let modulus = match modular.fixed() {
                Some(m) => Modulus::Number(m.clone().into()),
                None => Modulus::Words(m),
            };
            if !spec.op.is_montgomery() {
                let residue = residue(spec, modular, (a, b), modulus, (&words, word_bits));
                residue.show(d)?;
                return d.accepted(&Goal::Residue(residue.goal()));
            }
            if let (montgomery::Modulus::Words(m), true) = (&modulus, spec.is_folded()) {
                let fold = follows.get(m.len() / 2..).unwrap_or_default();
                let (fold, _) = fold.split_at(m.len().min(fold.len()));
                Folded {
                    w,
                    result,
                    a,
                    m,
                    d: fold,
                }
                .show(d)?;
                return d.accepted(&Goal::Folded(checker::Folded {
                    w,
                    result,
                    a,
                    m,
                    d: fold,
                }));
            }
            // A 2^n 2^n is reduced.
            let square = match modular.fixed() {
                Some(m) => constant(&square_of_r(m, spec.size.a), word_bits, words.len()),
                None => {
                    let skipped = usize::from(spec.inverse_follows());
                    follows.iter().skip(skipped).copied().collect()
                }
            };
            let (by, factor) = match spec.op {
                Op::Redc | Op::Frommont => (By::One, checker::By::One),
                Op::Tomont => (By::Residue(&square), checker::By::Residue(&square)),
                _ => (By::Factor(b), checker::By::Factor(b)),
            };
            let number = modular.fixed().map(|m| BigInt::from(m.clone()));
            let reduce = modular.reduce;
            montgomery::Reduced {
                w: word_bits,
                result: &words,
                a,
                by,
                modulus,
                reduce,
            }
            .show(d)?;
            d.accepted(&Goal::Montgomery {
                w,
                result,
                a,
                by: factor,
                modulus: match &number {
                    Some(m) => checker::Modulus::Number(m),
                    None => checker::Modulus::Words(m),
                },
                reduce,
            })
        }
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

/// What `spec` makes of `a` and `b` modulo a number, at each end of what the modulus may be.
fn residue<'a>(
    spec: &Spec,
    modular: &Modular,
    (a, b): (&'a [Value], &'a [Value]),
    modulus: Modulus<'a>,
    (result, w): (&'a [Value], u32),
) -> Residue<'a> {
    let n = spec.size.a;
    let term = |sign, a, b| Term { sign, a, b };
    let value = match spec.op {
        Op::Modadd => vec![term(1, a, None), term(1, b, None)],
        Op::Modsub => vec![term(1, a, None), term(-1, b, None)],
        Op::Modneg => vec![term(-1, a, None)],
        Op::Modhalf => vec![term(1, a, None)],
        _ => vec![term(1, a, Some(b))],
    };
    // 2^-shift mod m.
    let scale = match modular.fixed() {
        Some(m) => BigInt::from(((m + 1u8) >> 1u8).modpow(&modular.shift.into(), m)),
        None => BigInt::from(1),
    };
    let corner = |m: &BigUint| {
        let bound = modular.reduce.bound(m, n);
        // The most that a factor is.
        let most: BigInt = BigInt::from(bound.clone()) - 1;
        let (least, most) = match spec.op {
            Op::Modadd => (BigInt::ZERO, 2 * most),
            Op::Modsub => (-&most, most),
            Op::Modneg => (-most, BigInt::ZERO),
            Op::Modhalf => (BigInt::ZERO, most),
            _ => (BigInt::ZERO, &most * &most * &scale),
        };
        Corner {
            modulus: m.clone().into(),
            least,
            most,
            bound: bound.into(),
        }
    };
    let corners = match modular.fixed() {
        Some(m) => vec![corner(m)],
        None => spec.modulus_range().iter().map(corner).collect(),
    };
    Residue {
        w,
        result,
        halvings: u64::from(spec.op == Op::Modhalf),
        value,
        scale,
        modulus,
        corners,
    }
}
