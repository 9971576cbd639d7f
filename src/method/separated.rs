//! Separated Montgomery products: any multiplication or squaring, then a reduction by columns (SPS).
//!
//! Seo, Kim 2014, section IV. The reduction reads the words of the product where the multiplication left
//! them, in registers or in memory.

use super::reduction::Reduction;
use super::{
    Method, MethodError, Params, consecutive_operand_caching, hybrid, karatsuba, karatsuba_comba,
    karatsuba_squaring, lazy_doubling, operand_caching, product_scanning, sliding_block_doubling,
    square_carry_catcher, square_product_scanning,
};
use crate::facts::{Facts, Style};
use crate::schedule::{Claim, Pile, Schedule, WordStep, Words};
use crate::spec::{Op, Spec};

/// A product method followed by a reduction.
macro_rules! separated {
    ($name:literal, $op:expr, $product:path) => {
        Method {
            name: $name,
            summary: "Montgomery: the whole product first, then the reduction by columns (SPS)",
            source: "Seo, Kim 2014, section IV",
            ops: &[$op],
            parameters: $product.parameters,
            defaults: |spec, facts| ($product.defaults)(&product(spec), facts),
            schedule: |spec, facts, params| after(&$product, spec, facts, params),
        }
    };
}

/// Every multiplication and squaring with columns or words.
pub static METHODS: [Method; 11] = [
    separated!("operand-caching+sps", Op::Montmul, operand_caching::METHOD),
    separated!(
        "consecutive-operand-caching+sps",
        Op::Montmul,
        consecutive_operand_caching::METHOD
    ),
    separated!("hybrid+sps", Op::Montmul, hybrid::METHOD),
    separated!(
        "product-scanning+sps",
        Op::Montmul,
        product_scanning::METHOD
    ),
    separated!("karatsuba+sps", Op::Montmul, karatsuba::METHOD),
    separated!("karatsuba-comba+sps", Op::Montmul, karatsuba_comba::METHOD),
    separated!(
        "square-product-scanning+sps",
        Op::Montsqr,
        square_product_scanning::METHOD
    ),
    separated!(
        "square-carry-catcher+sps",
        Op::Montsqr,
        square_carry_catcher::METHOD
    ),
    separated!("lazy-doubling+sps", Op::Montsqr, lazy_doubling::METHOD),
    separated!(
        "sliding-block-doubling+sps",
        Op::Montsqr,
        sliding_block_doubling::METHOD
    ),
    separated!(
        "karatsuba-squaring+sps",
        Op::Montsqr,
        karatsuba_squaring::METHOD
    ),
];

/// The product that is reduced.
fn product(spec: &Spec) -> Spec {
    Spec {
        op: match spec.op {
            Op::Montsqr => Op::Sqr,
            _ => Op::Mul,
        },
        modular: None,
        ..spec.clone()
    }
}

/// The schedule of `method`, then the reduction of what it makes.
fn after(
    method: &Method,
    spec: &Spec,
    facts: &Facts,
    params: &Params,
) -> Result<Schedule, MethodError> {
    let whole = product(spec);
    let mut words = match (method.schedule)(&whole, &facts.styled(Style::Unrolled), params)? {
        Schedule::Blocks(blocks) => Words::of(whole.op, facts.word_bits, &blocks),
        Schedule::Words(words) => words,
        Schedule::Tiles(_) => return Err(MethodError::Multiplies(method.name)),
        Schedule::Loops(_) | Schedule::Halves(_) | Schedule::Scans(_) => {
            return Err(MethodError::OnlyLoops(method.name));
        }
    };
    let reduction = Reduction::of(spec, &mut words)?;
    let p = std::mem::take(&mut words.result);
    let factors = [0, spec.op.factors() - 1].map(|side| words.operand(side));
    words
        .claims
        .push(Claim::product(&p, &factors[0], &factors[1], &[]));
    words.push(WordStep::Part("reduce the product".into()));
    let t = reduction.sweep(&mut words, |_, k| Pile {
        addends: p.get(k).copied().into_iter().collect(),
        ..Pile::default()
    });
    words.result = reduction.subtract(&mut words, &t);
    Ok(Schedule::Words(words))
}
