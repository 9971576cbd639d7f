//! A second opinion: what a function computes, as an SMT-LIB 2 script for any solver of
//! bit-vectors. `unsat` says that no operands give a wrong result.
//!
//! The script rests on the decoder and on the instructions' meanings, as the proof does, but on
//! neither the algebra nor its bounds. Solvers manage products of a few words.

use crate::domain::formula::{Formula, Term};
use crate::domain::{Address, Base, Domain};
use crate::function::Function;
use crate::isa::Isa;
use crate::prove;
use crate::spec::{Alias, Op, Spec};

/// The script that asks for operands on which `function` is wrong.
///
/// # Errors
/// Where the run stopped, and why.
pub fn script<I: Isa>(spec: &Spec, core: &I::Core, function: &Function) -> Result<String, String> {
    if spec.op.is_modular() {
        return Err("--export smt2 is for products: try --op mul".into());
    }
    let mut d = Formula::default();
    let bases = prove::bases(spec, Alias::Distinct, function);
    let word_bits = function.word_bits::<I>();
    let places = prove::declare(&mut d, spec, function, word_bits, &bases);
    let sources = places.into_iter().map(|places| {
        let words = places.into_iter().filter_map(|at| d.memory.peek(at));
        words.collect::<Vec<_>>()
    });
    let sources: Vec<_> = sources.collect();
    let limit = prove::STEP_LIMIT.min(function.limit);
    let called = I::call(d, core, function, &bases, limit)
        .map_err(|stopped| prove::describe::<I>(core, function, &stopped))?;
    let mut d = called.domain;
    let mut result = Vec::new();
    for at in prove::words(bases[0], spec.result_bytes(), word_bits) {
        result.push(read(&mut d, at, word_bits).map_err(|fault| fault.to_string())?);
    }
    let result = number(&mut d, &result, word_bits);
    let [a, b] = [&sources[0], &sources[sources.len() - 1]];
    let (result, wanted) = match spec.op {
        Op::Add | Op::Sub => {
            let bytes = function.returned_bits.unwrap_or(0) as usize / 8;
            let returned = prove::words(Base::RETURNED, bytes, I::WORD_BITS);
            let returned = returned.into_iter().filter_map(|at| d.memory.peek(at));
            let returned: Vec<_> = returned.collect();
            let returned = number(&mut d, &returned, I::WORD_BITS);
            let [a, b] = [a, b].map(|words| number(&mut d, words, word_bits));
            let extend = |x: String| format!("((_ zero_extend {}) {x})", 8 * bytes);
            let up = spec.op == Op::Add;
            let carry = if up {
                returned
            } else {
                format!("(bvneg {returned})")
            };
            let op = if up { "bvadd" } else { "bvsub" };
            let wanted = format!("({op} {} {})", extend(a), extend(b));
            (format!("(concat {carry} {result})"), wanted)
        }
        _ => {
            let bits = word_bits * (a.len() + b.len()) as u32;
            let product = product(&mut d, [a, b], word_bits, bits);
            let low = if spec.op == Op::Mulhi { spec.size.a } else { 0 };
            let high = low + 8 * spec.result_bytes() as u32 - 1;
            (result, format!("((_ extract {high} {low}) {product})"))
        }
    };
    Ok(format!(
        "; {}, {} bits: unsat if it holds for all operands\n(set-logic QF_BV)\n{}\
         (assert (not (= {result} {wanted})))\n(check-sat)\n",
        spec.equation(),
        spec.size,
        d.script(),
    ))
}

fn read(d: &mut Formula, at: Address, word_bits: u32) -> Result<Term, crate::fault::Fault> {
    match word_bits {
        8 => d.load::<8>(at),
        16 => d.load::<16>(at),
        _ => d.load::<32>(at),
    }
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
