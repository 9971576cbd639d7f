//! Karatsuba in little code: it calls itself, and at the bottom one product or square in loops.
//!
//! The code does not grow with the operands; what it takes besides the product at the bottom is
//! given by [`Halves`], and by the machine. Square: `a^2 = L + W (L + H - (al - ah)^2) + W^2 H`.

use super::{Method, MethodError, Parameter, Params, one_size, positive};
use super::{reverse_hybrid, square_reverse_hybrid};
use crate::facts::{Facts, Style};
use crate::schedule::{Halves, Loops, Schedule};
use crate::spec::{Op, Spec};

/// Karatsuba by calls.
pub static METHOD: Method = Method {
    name: "karatsuba-calls",
    summary: "in loops: Karatsuba that calls itself, and one product by bands of d words",
    source: "new here; Karatsuba over the order of reverse-hybrid",
    ops: &[Op::Mul, Op::Sqr],
    parameters: &[
        Parameter {
            name: "levels",
            meaning: "levels of recursion",
        },
        Parameter {
            name: "d",
            meaning: "words of a band of the product at the bottom",
        },
        Parameter {
            name: "unroll",
            meaning: "columns per pass of its loops",
        },
    ],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        let levels = (1..8).filter(|levels| (BOTTOM..=WIDE).contains(&(n >> levels)));
        let levels =
            levels.filter(|levels| facts.style != Style::Unrolled && bottom(n, *levels).is_some());
        let sets = levels.flat_map(|levels| {
            let largest = reverse_hybrid::largest(facts).max(1);
            let widths = (largest.min(2)..=largest).rev();
            widths.map(move |d| Params::from([("levels", levels), ("d", d)]))
        });
        sets.collect()
    },
    schedule,
};

/// Words at the bottom that may pay.
const BOTTOM: usize = 8;
const WIDE: usize = 64;

/// Words of the product at the bottom, if the operands can be halved so often; the words of a
/// difference are taken two at a time.
fn bottom(n: usize, levels: usize) -> Option<usize> {
    n.is_multiple_of(2 << levels).then_some(n >> levels)
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let method = METHOD.name;
    let n = match spec.op {
        Op::Sqr => spec.words(facts.word_bits)[0],
        _ => one_size(method, spec, facts)?,
    };
    if facts.style == Style::Unrolled {
        return Err(MethodError::OnlyLoops(method));
    }
    let too_large = |parameter, value, largest| MethodError::TooLarge {
        method,
        parameter,
        value,
        largest,
    };
    let halved = (1..=n.ilog2() as usize)
        .rev()
        .find(|l| bottom(n, *l).is_some());
    let halved = halved.ok_or(MethodError::Halves { method, words: n })?;
    let levels = positive(method, "levels", params)?;
    let d = positive(method, "d", params)?;
    let base = match bottom(n, levels) {
        Some(base) if levels <= halved => base,
        _ => return Err(too_large("levels", levels, halved)),
    };
    let largest = reverse_hybrid::largest(facts).min(base);
    if d > largest {
        return Err(too_large("d", d, largest));
    }
    let unroll = params.get("unroll").copied();
    let square = spec.op == Op::Sqr;
    let blocks = match square {
        true => square_reverse_hybrid::triangle(base, d),
        false => reverse_hybrid::bands(base, d),
    };
    let base = Loops::of(Style::Rolled, blocks, square, unroll);
    let base = base.ok_or(MethodError::OnlyLoops(method))?;
    Ok(Schedule::Halves(Halves { levels, base }))
}
