//! The equation that a kernel must satisfy, from the words that it found and left.

#![deny(clippy::wildcard_enum_match_arm)]

use machine::domain::answers::Answers;
use machine::domain::public::Public;
use machine::domain::variable::Value;
use machine::domain::{Address, Base, Domain};
use machine::of_width;
use num_bigint::{BigInt, BigUint};
use spec::modulus::{Modular, square_of_r};
use spec::{Op, Spec};

use crate::checker::{Corner, Goal, Modulus, Rest, Term};
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
    /// The words of `a - b` modulo `2^n`, where they are compared.
    pub difference: &'a [Value],
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
        number: number(spec),
        square: square(spec, words),
    };
    let goal = held.goal(spec, words);
    then(d, &goal.map_err(open)?)
}

/// A modulus that is no operand.
fn fixed(spec: &Spec) -> Option<&BigUint> {
    spec.modular.as_ref().and_then(Modular::fixed)
}

/// `M`, if it is no operand: 0 where numbers are equal, and not only modulo one.
fn number(spec: &Spec) -> Option<BigInt> {
    match &spec.modular {
        Some(modular) => modular.fixed().map(|m| m.clone().into()),
        None => Some(BigInt::ZERO),
    }
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
        if spec.op.returns() && self.returned.is_empty() {
            return Err("nothing says in what the function returns its carry".into());
        }
        let [m, _] = words.modulus();
        let (w, result) = (words.bits, &self.result[..]);
        let scale = scale(spec);
        let corner = |m: &BigUint| corner(spec, m, &scale);
        let corners = match (&spec.modular, fixed(spec)) {
            (None, _) => vec![numbers(spec, words.register_bits, self.returned.len())?],
            (Some(_), Some(m)) => vec![corner(m)?],
            (Some(_), None) => {
                let ends = spec.modulus_range();
                ends.iter().map(corner).collect::<Result<_, _>>()?
            }
        };
        let bits = u64::from(w) * result.len() as u64;
        let h = exponent(spec, bits);
        let beyond = u64::from(words.register_bits) * self.returned.len() as u64;
        Ok(Goal {
            w,
            result,
            h,
            value: self.value(spec, words)?,
            modulus: self
                .number
                .as_ref()
                .map_or(Modulus::Words(m), Modulus::Number),
            corners,
            bits: bits + h + beyond,
            rest: match spec.op {
                Op::Mullo => Rest::Above,
                Op::Mulhi | Op::Shr | Op::Iszero | Op::Equal => Rest::Below,
                Op::Mul
                | Op::Sqr
                | Op::Add
                | Op::Sub
                | Op::Shl
                | Op::Addmul
                | Op::Submul
                | Op::Mulword
                | Op::Addc
                | Op::Subb
                | Op::Addif
                | Op::Subif
                | Op::Select
                | Op::Swap
                | Op::Montmul
                | Op::Montsqr
                | Op::Redc
                | Op::Frommont
                | Op::Tomont
                | Op::Modmul
                | Op::Modsqr
                | Op::Modadd
                | Op::Modsub
                | Op::Modneg
                | Op::Modhalf
                | Op::Modtimes => Rest::Nothing,
            },
            scale,
        })
    }

    /// `P`, before it is scaled.
    ///
    /// # Errors
    /// An operand is shorter than its contract says.
    fn value<'a>(&'a self, spec: &'a Spec, words: &Words<'a>) -> Result<Vec<Term<'a>>, String> {
        let w = words.bits;
        let a = &words.sources[0][..];
        let b = &words.sources[spec.op.factors() - 1][..];
        // The word behind the factors, where there is one.
        let s = words.sources.last().map_or(&[][..], Vec::as_slice);
        let term = |sign, a, b| Term {
            sign,
            shift: 0,
            w,
            a,
            b,
        };
        // R + 2^n C = A + B, R - 2^n C = A - B
        let carry = |sign| Term {
            sign,
            shift: u64::from(w) * self.result.len() as u64,
            w: words.register_bits,
            a: &self.returned,
            b: None,
        };
        Ok(match spec.op {
            Op::Add => vec![term(1, a, None), term(1, b, None), carry(-1)],
            Op::Sub => vec![term(1, a, None), term(-1, b, None), carry(1)],
            Op::Shl => vec![term(1, a, None).above(1), carry(-1)],
            Op::Shr => vec![term(1, a, None)],
            Op::Addmul | Op::Addif => vec![term(1, a, None), term(1, b, Some(s)), carry(-1)],
            Op::Submul | Op::Subif => vec![term(1, a, None), term(-1, b, Some(s)), carry(1)],
            Op::Mulword => vec![term(1, a, Some(s)), carry(-1)],
            Op::Addc => vec![
                term(1, a, None),
                term(1, b, None),
                term(1, s, None),
                carry(-1),
            ],
            Op::Subb => vec![
                term(1, a, None),
                term(-1, b, None),
                term(-1, s, None),
                carry(1),
            ],
            // A + S (B - A)
            Op::Select => vec![term(1, a, None), term(-1, a, Some(s)), term(1, b, Some(s))],
            // A_0 + 2^n A_1 + S (1 - 2^n) (A_1 - A_0)
            Op::Swap => {
                let n = u64::from(spec.size.a);
                let (low, high) = a.split_at(a.len() / 2);
                vec![
                    term(1, a, None),
                    term(1, high, Some(s)),
                    term(-1, low, Some(s)),
                    term(-1, high, Some(s)).above(n),
                    term(1, low, Some(s)).above(n),
                ]
            }
            // floor((2^n - A) / 2^n) is 1 if A = 0, else 0.
            Op::Iszero => vec![
                term(1, &[Value::ONE], None).above(spec.size.a.into()),
                term(-1, a, None),
            ],
            // The same of D = A - B modulo 2^n, which is 0 just when A = B.
            Op::Equal => vec![
                term(1, &[Value::ONE], None).above(spec.size.a.into()),
                term(-1, words.difference, None),
            ],
            Op::Modadd => vec![term(1, a, None), term(1, b, None)],
            Op::Modsub => vec![term(1, a, None), term(-1, b, None)],
            Op::Modneg => vec![term(-1, a, None)],
            Op::Redc if spec.is_folded() => folded(w, a, words.modulus())?,
            Op::Modhalf | Op::Redc | Op::Frommont | Op::Modtimes => vec![term(1, a, None)],
            Op::Mul
            | Op::Sqr
            | Op::Mullo
            | Op::Mulhi
            | Op::Modmul
            | Op::Modsqr
            | Op::Montmul
            | Op::Montsqr => vec![term(1, a, Some(b))],
            Op::Tomont => vec![term(1, a, Some(&self.square))],
        })
    }
}

/// What is reduced where half of a number is folded: with `R = X^2` and `A = A_0 + X A_1`, the contract says
/// `X (D - R) = 1 (mod M)`, so that `P = X (A_1 + A_0 (D - R)) = A (mod M)`.
///
/// # Errors
/// A number is too short.
fn folded<'a>(w: u32, a: &'a [Value], held: [&'a [Value]; 2]) -> Result<Vec<Term<'a>>, String> {
    let [m, follows] = held;
    let (n, k) = (m.len(), m.len() / 2);
    if a.len() != 2 * n || n % 2 == 1 || follows.len() < k + n {
        return Err("the parts of a folded reduction do not match".into());
    }
    let (low, high) = a.split_at(k);
    let x = u64::from(w) * k as u64;
    let term = |sign, shift, a, b| Term {
        sign,
        shift,
        w,
        a,
        b,
    };
    let d = &follows[k..][..n];
    Ok(vec![
        term(1, x, high, None),
        term(1, x, low, Some(d)),
        term(-1, 3 * x, low, None),
    ])
}

/// By what `P` is multiplied: `k` of `Modtimes`, of the others `2^-shift mod m`.
fn scale(spec: &Spec) -> BigInt {
    if spec.op == Op::Modtimes {
        return spec.times().into();
    }
    let modular = spec.modular.as_ref();
    match modular.and_then(|modular| Some((modular.fixed()?, modular.shift))) {
        Some((m, shift)) => BigInt::from(((m + 1u8) >> 1u8).modpow(&shift.into(), m)),
        None => BigInt::from(1),
    }
}

/// The most that a number of so many bits is.
fn ones(bits: u64) -> BigInt {
    (BigInt::from(1) << bits) - 1
}

/// How large the right side of an equation of numbers is, `returned` words of so many bits being part of it.
///
/// # Errors
/// It has a modulus.
fn numbers(spec: &Spec, register_bits: u32, returned: usize) -> Result<Corner, String> {
    let [a, b] = [spec.size.a, spec.size.b].map(|bits| ones(bits.into()));
    let carry = ones(u64::from(register_bits) * returned as u64) << spec.size.a;
    let [least, most] = match spec.op {
        Op::Mul | Op::Mullo | Op::Mulhi => [BigInt::ZERO, a * b],
        Op::Sqr => [BigInt::ZERO, &a * &a],
        Op::Add => [-carry, a + b],
        Op::Sub => [-b, a + carry],
        Op::Shl => [-carry, 2 * a],
        Op::Addmul => [-carry, a + b * ones(spec.word_bits.into())],
        Op::Submul => [-b * ones(spec.word_bits.into()), a + carry],
        Op::Mulword => [-carry, a * ones(spec.word_bits.into())],
        // S is a bit.
        Op::Addc => [-carry, a + b + 1],
        Op::Subb => [-b - 1, a + carry],
        Op::Addif => [-carry, a + b],
        Op::Subif => [-b, a + carry],
        Op::Shr => [BigInt::ZERO, a],
        // A or B, as S is a bit.
        Op::Select => [BigInt::ZERO, a],
        Op::Swap => [BigInt::ZERO, ones(2 * u64::from(spec.size.a))],
        Op::Iszero | Op::Equal => [BigInt::from(1), a + 1],
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
        | Op::Modhalf
        | Op::Modtimes => return Err("there is no modulus".into()),
    };
    Ok(Corner {
        modulus: BigInt::ZERO,
        least,
        most,
        bound: None,
    })
}

/// `h`, with a result of so many bits.
fn exponent(spec: &Spec, bits: u64) -> u64 {
    match spec.op {
        Op::Mulhi | Op::Montmul | Op::Montsqr | Op::Redc | Op::Frommont | Op::Tomont => bits,
        Op::Modhalf | Op::Shr => 1,
        Op::Iszero | Op::Equal => spec.size.a.into(),
        Op::Modmul
        | Op::Modsqr
        | Op::Modadd
        | Op::Modsub
        | Op::Modneg
        | Op::Modtimes
        | Op::Mul
        | Op::Sqr
        | Op::Mullo
        | Op::Add
        | Op::Sub
        | Op::Shl
        | Op::Addmul
        | Op::Submul
        | Op::Mulword
        | Op::Addc
        | Op::Subb
        | Op::Addif
        | Op::Subif
        | Op::Select
        | Op::Swap => 0,
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
fn corner(spec: &Spec, m: &BigUint, scale: &BigInt) -> Result<Corner, String> {
    let n = spec.size.a;
    let modular = spec.modular.as_ref().ok_or("there is no modulus")?;
    let bound = modular.reduce.bound(m, n);
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
        Op::Modhalf | Op::Frommont | Op::Modtimes => [zero, factor],
        Op::Modmul | Op::Modsqr | Op::Montmul | Op::Montsqr => [zero, &factor * &factor],
        Op::Tomont => [zero, factor * square()],
        // D - R lies in -M .. 0, so X (A_1 + A_0 (D - R)) in -X (X - 1) M .. X^4 - X.
        Op::Redc if spec.is_folded() => {
            let x = BigInt::from(1) << (n / 2);
            let square = &x * &x;
            [
                (&x - &square) * BigInt::from(m.clone()),
                &square * &square - x,
            ]
        }
        // A < 2^n M
        Op::Redc => [zero, BigInt::from(m << n) - 1],
        Op::Mul
        | Op::Sqr
        | Op::Mullo
        | Op::Mulhi
        | Op::Add
        | Op::Sub
        | Op::Shl
        | Op::Shr
        | Op::Addmul
        | Op::Submul
        | Op::Mulword
        | Op::Addc
        | Op::Subb
        | Op::Addif
        | Op::Subif
        | Op::Select
        | Op::Swap
        | Op::Iszero
        | Op::Equal => {
            return Err("it has no modulus".into());
        }
    };
    Ok(Corner {
        modulus: m.clone().into(),
        least: least * scale,
        most: most * scale,
        bound: Some(bound.into()),
    })
}
