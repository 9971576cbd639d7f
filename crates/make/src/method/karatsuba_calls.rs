//! Karatsuba in little code: it calls itself, and at the bottom one product or square in loops.
//!
//! The code does not grow with the operands; what it takes besides the product at the bottom is
//! given by [`Halves`], and by the machine. Square: `a^2 = L + W (L + H - (al - ah)^2) + W^2 H`.

use spec::{Op, Spec};

use crate::facts::{Facts, Style};
use crate::method::checked_parameters::{one_size, positive};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::{
    operand_scanning, product_scanning, reverse_hybrid, square_product_scanning,
    square_reverse_hybrid,
};
use crate::schedule::{Halves, Loops, Lowest, Schedule};

/// Karatsuba by calls.
pub static METHOD: Method = Method {
    name: "karatsuba-calls",
    summary: "in loops: Karatsuba that calls itself, and one product by bands of d words or in two nested loops",
    source: "new here; Karatsuba over the order of reverse-hybrid",
    ops: &[Op::Mul, Op::Sqr],
    parameters: &[
        Parameter {
            name: "levels",
            meaning: "levels of recursion",
        },
        Parameter {
            name: "d",
            meaning: "words of a band of the product at the bottom; without it, it is two nested loops",
        },
        Parameter {
            name: "columns",
            meaning: "these loops go by columns: 1, or by rows: 0",
        },
        Parameter {
            name: "unroll",
            meaning: "columns per pass of the loops of bands, products per pass of the inner one of two",
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
            let bands = widths.map(move |d| ("d", d));
            let columns = (usize::from(spec.op == Op::Sqr)..=1).rev();
            let columns = columns.map(|columns| ("columns", columns));
            let bottoms = columns.chain(bands);
            bottoms.map(move |bottom| Params::from([("levels", levels), bottom]))
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
    if !params.contains_key("levels") {
        let (parameter, value) = match reverse_hybrid::largest(facts) {
            0 | 1 => ("columns", 1),
            d => ("d", d.min(n / 2)),
        };
        return Err(MethodError::Levels {
            method,
            words: n,
            least: 2 * BOTTOM,
            most: halved,
            parameter,
            value,
        });
    }
    let levels = positive(method, "levels", params)?;
    let base = match bottom(n, levels) {
        Some(base) if levels <= halved => base,
        _ => return Err(too_large("levels", levels, halved)),
    };
    if !params.contains_key("d") {
        let base = nested(spec, facts, params, base)?;
        return Ok(Schedule::Halves(Halves { levels, base }));
    }
    let d = positive(method, "d", params)?;
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
    let base = Lowest::Bands(base.ok_or(MethodError::OnlyLoops(method))?);
    Ok(Schedule::Halves(Halves { levels, base }))
}

/// The product or square of `words` words in two nested loops.
fn nested(
    spec: &Spec,
    facts: &Facts,
    params: &Params,
    words: usize,
) -> Result<Lowest, MethodError> {
    let (method, parameter) = (METHOD.name, "columns");
    let least = usize::from(spec.op == Op::Sqr);
    let product = match params.get(parameter).copied().unwrap_or(least) {
        value @ 2.. => {
            return Err(MethodError::TooLarge {
                method,
                parameter,
                value,
                largest: 1,
            });
        }
        value if value < least => {
            return Err(MethodError::TooSmall {
                method,
                parameter,
                value,
                least,
            });
        }
        _ if spec.op == Op::Sqr => &square_product_scanning::METHOD,
        0 => &operand_scanning::METHOD,
        _ => &product_scanning::METHOD,
    };
    let spec = Spec {
        size: (facts.word_bits * words as u32).into(),
        ..spec.clone()
    };
    let unroll = params.get_key_value("unroll").map(|(k, v)| (*k, *v));
    let made = (product.schedule)(
        &spec,
        &facts.styled(Style::Rolled),
        &unroll.into_iter().collect(),
    )?;
    match made {
        Schedule::Scans(scans) => Ok(Lowest::Scans(Box::new(scans))),
        _ => Err(MethodError::NoLoops(product.name)),
    }
}
