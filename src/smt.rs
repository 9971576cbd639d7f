//! A second opinion: what a function computes, as an SMT-LIB 2 script for any solver of
//! bit-vectors. `unsat` says that no operands give a wrong result.
//!
//! The script rests on the decoder and on the instructions' meanings, as the proof does, but on
//! neither the algebra nor its bounds. Solvers manage products of a few words.

pub mod formula;

use judge::prove;
use machine::domain::{Address, Base, Domain};
use machine::function::Function;
use machine::isa::core::Core;
use machine::{of_width, told};
use num_bigint::BigUint;
use spec::modulus::square_of_r;
use spec::{Op, Spec};

use crate::smt::formula::{Formula, Term};

/// Why there is no script where the modulus is an operand.
pub const NEEDS_A_NUMBER: &str =
    "smt2 is for sums of one size, products and arithmetic modulo a number";

/// The script that asks for operands on which `function` is wrong.
///
/// # Errors
/// Where the run stopped, and why.
pub fn script(spec: &Spec, core: &Core, function: &Function) -> Result<String, String> {
    let modulus = spec.modular.as_ref().and_then(|modular| modular.fixed());
    let is_known = match spec.op {
        Op::Mul | Op::Sqr | Op::Mullo | Op::Mulhi => true,
        Op::Add | Op::Sub => spec.size.a == spec.size.b,
        op => op.is_modular() && modulus.is_some(),
    };
    if !is_known {
        return Err(NEEDS_A_NUMBER.into());
    }
    let mut d = match modulus {
        Some(_) => Formula::exact(),
        None => Formula::default(),
    };
    let bases = prove::bases(spec, function.together, function);
    let word_bits = function.word_bits(core.word_bits());
    let places = prove::declare(&mut d, spec, function, word_bits, &bases)
        .map_err(|fault| fault.to_string())?;
    let sources = places.into_iter().map(|places| {
        let words = places.into_iter().filter_map(|at| d.memory.peek(at));
        words.collect::<Vec<_>>()
    });
    let sources: Vec<_> = sources.collect();
    let limit = prove::STEP_LIMIT.min(function.limit);
    let called = core
        .call(d, function, &bases, limit)
        .map_err(|stopped| told::describe(core, function, &stopped))?;
    let mut d = called.domain;
    let mut result = Vec::new();
    for at in prove::words(bases[0], spec.result_bytes(), word_bits) {
        result.push(read(&mut d, at, word_bits).map_err(|fault| fault.to_string())?);
    }
    let result = number(&mut d, &result, word_bits);
    let [a, b] = [&sources[0], &sources[sources.len() - 1]];
    if let (Some(modular), Some(m)) = (&spec.modular, modulus) {
        let bound = modular.reduce.bound(m, spec.size.a);
        let [a, b] = [a, b].map(|words| number(&mut d, words, word_bits));
        return Ok(asked(
            spec,
            &d,
            &reduced(spec, [&a, &b, &result], m, &bound),
        ));
    }
    let (result, wanted) = match spec.op {
        Op::Add | Op::Sub => {
            let (carry, bytes) = returned(&mut d, function, core.word_bits());
            let [a, b] = [a, b].map(|words| number(&mut d, words, word_bits));
            summed(spec.op == Op::Add, [&a, &b, &result], &carry, bytes)
        }
        _ => {
            let bits = word_bits * (a.len() + b.len()) as u32;
            let product = product(&mut d, [a, b], word_bits, bits);
            let low = if spec.op == Op::Mulhi { spec.size.a } else { 0 };
            let high = low + 8 * spec.result_bytes() as u32 - 1;
            (result, format!("((_ extract {high} {low}) {product})"))
        }
    };
    let wrong = format!("(assert (not (= {result} {wanted})))\n");
    Ok(asked(spec, &d, &wrong))
}

/// The number that is returned, and its bytes.
fn returned(d: &mut Formula, function: &Function, word_bits: u32) -> (String, usize) {
    let bytes = function.returned_bits.unwrap_or(0) as usize / 8;
    let places = prove::words(Base::RETURNED, bytes, word_bits).into_iter();
    let words: Vec<_> = places.filter_map(|at| d.memory.peek(at)).collect();
    (number(d, &words, word_bits), bytes)
}

/// A sum, or a difference where it does not go `up`, with the carry of so many bytes that is returned above it: as it is, and
/// as it should be.
fn summed(up: bool, [a, b, result]: [&str; 3], carry: &str, bytes: usize) -> (String, String) {
    let extended = |x: &str| format!("((_ zero_extend {}) {x})", 8 * bytes);
    let [a, b] = [a, b].map(extended);
    match up {
        true => (
            format!("(concat {carry} {result})"),
            format!("(bvadd {a} {b})"),
        ),
        false => (
            format!("(concat (bvneg {carry}) {result})"),
            format!("(bvsub {a} {b})"),
        ),
    }
}

fn asked(spec: &Spec, d: &Formula, wrong: &str) -> String {
    format!(
        "; {}, {} bits: unsat if it holds for all operands\n(set-logic QF_BV)\n{}{wrong}(check-sat)\n",
        spec.equation(),
        spec.size,
        d.script(),
    )
}

/// Sources that keep the contract, and not both the congruence and `r` below its bound: `2^n r = a b mod m` of
/// Montgomery's operations, without `b` for a reduction.
fn reduced(spec: &Spec, [a, b, r]: [&str; 3], m: &BigUint, bound: &BigUint) -> String {
    // One bit more than 2 n: the bounds, too.
    let n = spec.size.a;
    let width = 2 * n + 1;
    let wide = |x: &str, bits: u32| format!("((_ zero_extend {}) {x})", width - bits);
    let number = |x: &BigUint| format!("(_ bv{x} {width})");
    let half = || (vec![wide(a, n)], wide(a, n));
    let both = || vec![wide(a, n), wide(b, n)];
    let sum = |x: &str, y: &str| format!("(bvadd {} {})", wide(x, n), wide(y, n));
    let (factors, right) = match spec.op {
        Op::Modadd => (both(), sum(a, b)),
        Op::Modsub => (both(), wide(a, n)),
        Op::Modneg => (vec![wide(a, n)], number(&BigUint::default())),
        Op::Modhalf => half(),
        Op::Modtimes => (
            vec![wide(a, n)],
            format!("(bvmul {} {})", wide(a, n), number(&spec.times().into())),
        ),
        Op::Redc => (vec![wide(a, 2 * n)], wide(a, 2 * n)),
        Op::Frommont => half(),
        // 2^n (A 2^n) = A (2^(2n) mod m).
        Op::Tomont => (
            vec![wide(a, n)],
            format!("(bvmul {} {})", wide(a, n), number(&square_of_r(m, n))),
        ),
        _ => (both(), format!("(bvmul {} {})", wide(a, n), wide(b, n))),
    };
    let left = match spec.op {
        Op::Modadd | Op::Modtimes => wide(r, n),
        Op::Modmul | Op::Modsqr => {
            format!("(bvshl {} {})", wide(r, n), number(&spec.shift().into()))
        }
        Op::Modsub => sum(r, b),
        Op::Modneg => sum(r, a),
        Op::Modhalf => sum(r, r),
        _ => format!("(concat #b0 {r} (_ bv0 {n}))"),
    };
    let below = |x: &String, most: &BigUint| format!("(bvult {x} {})", number(most));
    let limit = spec.limit(&[]);
    let premises = factors.iter().zip(limit.iter().cycle());
    let mut text: String = premises
        .map(|(x, limit)| format!("(assert {})\n", below(x, limit)))
        .collect();
    text += &format!(
        "(assert (not (and {} {})))\n",
        congruent(spec, &left, &right, m, width),
        below(&wide(r, n), bound),
    );
    text
}

/// `left = right mod m`, both of `width` bits and below `2^(2n)`, `width = 2n + 1`. Sums, which are a few times `m` at
/// most, differ by one of these; of products `m` divides the difference. Solvers find either sooner than that two
/// remainders are the same.
fn congruent(spec: &Spec, left: &str, right: &str, m: &BigUint, width: u32) -> String {
    /// The largest multiple of `m` that is asked for one by one.
    const MOST: u32 = 8;
    let number = |x: &BigUint, width: u32| format!("(_ bv{x} {width})");
    let is_sum = matches!(spec.op, Op::Modadd | Op::Modsub | Op::Modneg | Op::Modhalf);
    // Either side of a sum is below 2^(n+1).
    let multiples = (BigUint::from(1u8) << (spec.size.a + 1)) / m;
    if !is_sum || multiples > BigUint::from(MOST) {
        // left + k m - right, from 0 to 3 2^(2n), where k m is the least above 2^(2n): a bit more holds it.
        let above = ((BigUint::from(1u8) << (width - 1)) / m + 1u8) * m;
        let wide = |x: &str| format!("((_ zero_extend 1) {x})");
        let [above, m, zero] = [&above, m, &BigUint::ZERO].map(|x| number(x, width + 1));
        let (left, right) = (wide(left), wide(right));
        return format!("(= (bvurem (bvsub (bvadd {left} {above}) {right}) {m}) {zero})");
    }
    let equal = (0..=MOST).map(|k| {
        let k = number(&(m * k), width);
        format!("(= {left} (bvadd {right} {k})) (= {right} (bvadd {left} {k}))")
    });
    format!("(or {})", equal.collect::<Vec<_>>().join(" "))
}

fn read(d: &mut Formula, at: Address, word_bits: u32) -> Result<Term, machine::fault::Fault> {
    of_width!(word_bits, |W| d.load::<W>(at))?
}

/// The number in `words`, least significant first.
fn number(d: &mut Formula, words: &[Term], word_bits: u32) -> String {
    let texts: Vec<_> = words.iter().rev().map(|w| d.text(w, word_bits)).collect();
    match texts.as_slice() {
        [one] => one.clone(),
        all => format!("(concat {})", all.join(" ")),
    }
}

/// `a * b` in `bits` bits, as the sum of the products of their words: by distributivity, which
/// solvers do not find by themselves beyond a few bits.
fn product(d: &mut Formula, [a, b]: [&Vec<Term>; 2], word_bits: u32, bits: u32) -> String {
    let mut sum = format!("(_ bv0 {bits})");
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let p = d.product(x, y, word_bits);
            let weight = word_bits as usize * (i + j);
            let extended = format!("((_ zero_extend {}) t{p})", bits - 2 * word_bits);
            sum = format!("(bvadd {sum} (bvshl {extended} (_ bv{weight} {bits})))");
        }
    }
    sum
}
