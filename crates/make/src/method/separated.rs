//! Separated Montgomery products: any multiplication or squaring, then a reduction by columns (SPS) or rows (SOS).
//!
//! Seo, Kim 2014, section IV. The reduction reads the words of the product where the multiplication left
//! them, in registers or in memory.

use spec::{Op, Spec};

use crate::facts::{Facts, Style};
use crate::method::reduction::Reduction;
use crate::method::signature::{Method, MethodError, Params};
use crate::method::{
    consecutive_operand_caching, fips, hybrid, karatsuba, karatsuba_calls, karatsuba_joined,
    karatsuba_squaring, lazy_doubling, operand_caching, product_scanning, reverse_hybrid,
    shift_and_add, sliding_block_doubling, square_carry_catcher, square_product_scanning,
    square_reverse_hybrid, steady_rows,
};
use crate::schedule::{Claim, Pile, Scans, Schedule, Stages, WordStep, Words};

/// How the reduction goes through its words.
#[derive(Clone, Copy)]
pub(super) enum Scan {
    /// By columns (SPS).
    Product,
    /// By rows (SOS).
    Operand,
}

/// A product method followed by a reduction.
macro_rules! separated {
    ($product:path, $op:ident, $sps:literal, $sos:literal) => {
        [
            Method {
                name: $sps,
                summary: "Montgomery: the whole product first, then the reduction by columns (SPS)",
                source: "Seo, Kim 2014, section IV",
                ops: &[Op::$op],
                parameters: $product.parameters,
                defaults: |spec, facts| ($product.defaults)(&product(spec), facts),
                schedule: |spec, facts, params| {
                    after(&$product, Scan::Product, spec, facts, params)
                },
            },
            Method {
                name: $sos,
                summary: "Montgomery: the whole product first, then the reduction by rows (SOS)",
                source: "Seo, Kim 2014, section IV",
                ops: &[Op::$op],
                parameters: $product.parameters,
                defaults: |spec, facts| {
                    let mut sets = ($product.defaults)(&product(spec), facts);
                    // The product is the same as before the other reduction, which tries them all.
                    sets.truncate(3);
                    sets
                },
                schedule: |spec, facts, params| {
                    after(&$product, Scan::Operand, spec, facts, params)
                },
            },
        ]
    };
}

/// Multiplications and squarings with columns or words, each with both reductions.
pub static METHODS: &[[Method; 2]] = &[
    separated!(
        operand_caching::METHOD,
        Montmul,
        "operand-caching+sps",
        "operand-caching+sos"
    ),
    separated!(
        consecutive_operand_caching::METHOD,
        Montmul,
        "consecutive-operand-caching+sps",
        "consecutive-operand-caching+sos"
    ),
    separated!(hybrid::METHOD, Montmul, "hybrid+sps", "hybrid+sos"),
    separated!(
        product_scanning::METHOD,
        Montmul,
        "product-scanning+sps",
        "product-scanning+sos"
    ),
    separated!(karatsuba::METHOD, Montmul, "karatsuba+sps", "karatsuba+sos"),
    separated!(
        karatsuba_joined::METHOD,
        Montmul,
        "karatsuba-joined+sps",
        "karatsuba-joined+sos"
    ),
    separated!(
        square_product_scanning::METHOD,
        Montsqr,
        "square-product-scanning+sps",
        "square-product-scanning+sos"
    ),
    separated!(
        square_carry_catcher::METHOD,
        Montsqr,
        "square-carry-catcher+sps",
        "square-carry-catcher+sos"
    ),
    separated!(
        lazy_doubling::METHOD,
        Montsqr,
        "lazy-doubling+sps",
        "lazy-doubling+sos"
    ),
    separated!(
        sliding_block_doubling::METHOD,
        Montsqr,
        "sliding-block-doubling+sps",
        "sliding-block-doubling+sos"
    ),
    separated!(
        karatsuba_squaring::METHOD,
        Montsqr,
        "karatsuba-squaring+sps",
        "karatsuba-squaring+sos"
    ),
];

/// Products in one time, and a reduction whose products are by words of a number.
pub static STEADY: Method = Method {
    name: "steady-rows+sps",
    summary: "Montgomery: steady-rows, then the reduction by columns; each product in one time",
    source: "operand scanning; Seo, Kim 2014, section IV",
    ops: &[Op::Montmul, Op::Montsqr, Op::Redc, Op::Tomont, Op::Frommont],
    parameters: steady_rows::METHOD.parameters,
    defaults: |_, _| Vec::new(),
    schedule: |spec, facts, params| Ok(Schedule::Words(in_one_time(spec, facts, params)?)),
};

/// The reduction in one time, of a product or of what is given.
fn in_one_time(spec: &Spec, facts: &Facts, params: &Params) -> Result<Words, MethodError> {
    if !facts.one_time {
        return Err(MethodError::InOneTime(STEADY.name));
    }
    let modulus = spec.modular.as_ref();
    if modulus.and_then(|modulus| modulus.fixed()).is_none() {
        return Err(MethodError::NotFixed(STEADY.name));
    }
    let facts = facts.styled(Style::Unrolled);
    let words = match spec.op {
        Op::Montmul | Op::Montsqr => {
            reduced(&steady_rows::METHOD, Scan::Product, spec, &facts, params)?
        }
        _ => fips::words(spec, &facts)?,
    };
    Ok(Words {
        one_time: true,
        ..words
    })
}

/// A product method that is loops only, or additions, followed by a reduction in loops.
macro_rules! in_loops_only {
    ($product:path, $ops:expr, $sps:literal) => {
        Method {
            name: $sps,
            summary: "Montgomery: the whole product first, then the reduction by columns (SPS)",
            source: "Seo, Kim 2014, section IV",
            ops: $ops,
            parameters: $product.parameters,
            defaults: |spec, facts| largest(($product.defaults)(&product(spec), facts)),
            schedule: |spec, facts, params| {
                let both = in_loops(&$product, spec, facts, params, None)?;
                match both.style() {
                    Style::Unrolled => Err(MethodError::OnlyLoops($sps)),
                    _ => Ok(both),
                }
            },
        }
    };
}

/// Products that are loops only, or made without a multiplier.
pub static LOOPS: &[Method] = &[
    in_loops_only!(
        karatsuba_calls::METHOD,
        &[Op::Montmul, Op::Montsqr],
        "karatsuba-calls+sps"
    ),
    in_loops_only!(
        shift_and_add::METHOD,
        &[Op::Montmul, Op::Montsqr],
        "shift-and-add+sps"
    ),
    in_loops_only!(reverse_hybrid::METHOD, &[Op::Montmul], "reverse-hybrid+sps"),
    in_loops_only!(
        square_reverse_hybrid::METHOD,
        &[Op::Montsqr],
        "square-reverse-hybrid+sps"
    ),
];

/// Of tiles of `e` by `f` words the largest.
fn largest(mut sets: Vec<Params>) -> Vec<Params> {
    let size = |set: &Params| Some(set.get("e")? + set.get("f")?);
    let most = sets.iter().filter_map(size).max();
    sets.retain(|set| size(set) == most);
    sets
}

/// The product that is reduced.
pub(super) fn product(spec: &Spec) -> Spec {
    Spec {
        op: match spec.op {
            Op::Montsqr | Op::Modsqr => Op::Sqr,
            _ => Op::Mul,
        },
        modular: None,
        ..spec.clone()
    }
}

/// The whole product by `method`, and the claim that it is one.
pub(super) fn whole(
    method: &Method,
    spec: &Spec,
    facts: &Facts,
    params: &Params,
) -> Result<Words, MethodError> {
    let whole = product(spec);
    let mut words = match (method.schedule)(&whole, &facts.styled(Style::Unrolled), params)? {
        Schedule::Blocks(blocks) => Words::of(whole.op, facts.word_bits, &blocks),
        Schedule::Words(words) => words,
        Schedule::Tiles(_) => return Err(MethodError::Multiplies(method.name)),
        _ if facts.tile_registers > 0 => return Err(MethodError::WantsMul(method.name)),
        _ => return Err(MethodError::OnlyLoops(method.name)),
    };
    let factors = [0, spec.op.factors() - 1].map(|side| words.operand(side));
    let claim = Claim::product(&words.result, &factors[0], &factors[1], &[]);
    words.claims.push(claim);
    Ok(words)
}

/// The product by `method`, then its reduction by columns of blocks of `side` words, both in loops.
pub(super) fn in_loops(
    method: &Method,
    spec: &Spec,
    facts: &Facts,
    params: &Params,
    side: Option<usize>,
) -> Result<Schedule, MethodError> {
    let product = (method.schedule)(&product(spec), facts, params)?;
    let rolled = facts.styled(Style::Rolled);
    let scans = Scans::of(Style::Rolled, fips::reduction(spec, &rolled)?, None);
    let mut scans = scans.ok_or(MethodError::NoLoops(method.name))?;
    scans.side = side;
    Ok(Schedule::Stages(Stages {
        spec: spec.clone(),
        product: Box::new(product),
        rest: Box::new(Schedule::Scans(scans)),
    }))
}

/// The schedule of `method`, then the reduction of what it makes.
pub(super) fn after(
    method: &Method,
    scan: Scan,
    spec: &Spec,
    facts: &Facts,
    params: &Params,
) -> Result<Schedule, MethodError> {
    if let (true, Scan::Product) = (facts.in_scans(), scan) {
        return in_loops(method, spec, facts, params, None);
    }
    Ok(Schedule::Words(reduced(method, scan, spec, facts, params)?))
}

/// The whole product, and its reduction word by word.
fn reduced(
    method: &Method,
    scan: Scan,
    spec: &Spec,
    facts: &Facts,
    params: &Params,
) -> Result<Words, MethodError> {
    let mut words = whole(method, spec, facts, params)?;
    let reduction = Reduction::of(spec, &mut words)?;
    let p = std::mem::take(&mut words.result);
    words.push(WordStep::Part("reduce the product".into()));
    let t = match scan {
        Scan::Product => reduction.sweep(&mut words, |_, k| Pile {
            addends: p.get(k).copied().into_iter().collect(),
            ..Pile::default()
        }),
        Scan::Operand => reduction.rows(&mut words, &p),
    };
    words.result = reduction.subtract(&mut words, &t);
    Ok(words)
}
