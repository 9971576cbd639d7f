//! The prover under attack: single faults in proved MIPS32 kernels.

use lozenge::facts::Style;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core;
use lozenge::isa::mips::instructions::Feature;
use lozenge::spec::Op as Operation;
use lozenge::spec::modulus::Reduce;

use crate::kit::{ask, mutants};

/// What is attacked: operation, method, its parameters, the extension, words, modulus and reduction.
type Case = (
    Operation,
    &'static str,
    &'static [(&'static str, usize)],
    &'static [Feature],
    u32,
    Option<(&'static str, Reduce)>,
);

#[rustfmt::skip]
const CASES: [Case; 40] = {
    use Operation::{
        Modadd, Modmul, Modneg, Modsqr, Modsub, Montmul, Montsqr, Mul, Redc, Sqr,
    };
    use Reduce::{Almost, Full, Lazy};
    const WIDE: &[Feature] = &[Feature::WideAcc];
    [
        (Mul, "product-scanning", &[], &[], 3, None),
        (Mul, "product-scanning", &[], WIDE, 4, None),
        (Mul, "operand-caching", &[("e", 2)], &[], 5, None),
        (Mul, "operand-caching", &[("e", 2)], WIDE, 5, None),
        (Mul, "operand-scanning", &[("k", 1)], &[Feature::MaddHl], 3, None),
        (Mul, "operand-scanning", &[("k", 0)], &[], 2, None),
        (Mul, "hybrid", &[("carry", 1), ("d", 3)], &[], 4, None),
        (Mul, "karatsuba plan=k-m", &[("levels", 2)], &[], 4, None),
        (Mul, "karatsuba-comba", &[("levels", 1)], &[], 4, None),
        (Mul, "karatsuba-comba", &[("levels", 2)], &[], 5, None),
        (Sqr, "square-product-scanning", &[], &[], 4, None),
        (Sqr, "square-carry-catcher", &[("d", 2)], &[], 4, None),
        (Sqr, "lazy-doubling", &[("d", 2)], &[], 4, None),
        (Sqr, "lazy-doubling", &[("d", 4)], WIDE, 5, None),
        (Sqr, "sliding-block-doubling", &[("c", 4), ("e", 4)], &[], 5, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 2)], &[], 5, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 0), ("joined", 1)], &[], 4, None),
        // Two nested loops.
        (Montmul, "fips", &[("unroll", 1)], WIDE, 4, Some(("runtime", Full))),
        (Montmul, "fips", &[("unroll", 2)], &[], 5, Some(("runtime", Full))),
        (Montsqr, "fips", &[("unroll", 1)], WIDE, 6, Some(("runtime", Full))),
        (Montmul, "fios", &[("unroll", 1)], &[Feature::MaddHl], 4, Some(("runtime", Full))),
        (Sqr, "square-product-scanning", &[("unroll", 1)], WIDE, 6, None),
        (Modmul, "product-scanning+fold", &[("unroll", 1)], &[], 4, Some(("2^128-159", Full))),
        (Modmul, "product-scanning+fold", &[], &[], 3, Some(("2^96-17", Full))),
        (Modmul, "product-scanning+fold", &[], &[], 3, Some(("2^95-39", Almost))),
        (Modmul, "product-scanning+fold", &[], WIDE, 4, Some(("2^128-2^64+2^32-1", Full))),
        (Modsqr, "square-product-scanning+fold", &[], &[], 4, Some(("2^128-2^64-1", Almost))),
        (Modmul, "karatsuba-modulo", &[], &[], 4, Some(("2^128-2^32-1", Almost))),
        (Modadd, "carry-chain", &[], &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Modadd, "carry-chain", &[], &[], 3, Some(("0x3f9e3779b1c0ffee1234567b", Almost))),
        (Modsub, "carry-chain", &[], &[], 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Modneg, "carry-chain", &[], &[], 3, Some(("runtime", Full))),
        (Modadd, "carry-chain", &[], &[], 3, Some(("runtime", Almost))),
        (Modsub, "carry-chain", &[], &[], 3, Some(("runtime", Almost))),
        (Montmul, "fips", &[], &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Montmul, "product-scanning+sps", &[], WIDE, 3, Some(("0xcd3e*2^80+1", Full))),
        (Montmul, "hsps", &[("d", 2)], &[], 4, Some(("runtime", Full))),
        (Montmul, "product-scanning+sos", &[], &[], 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Montsqr, "cios", &[], &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Almost))),
        (Redc, "fips", &[], &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
    ]
};

#[test]
fn the_prover_rejects_faults() {
    let cases = CASES.map(|(op, method, params, features, words, modulus)| {
        let core = Core::named("mips-4km").expect("a core");
        let core = features.iter().fold(core, |core, f| core.with(*f));
        let style = match params.iter().any(|(name, _)| *name == "unroll") {
            true => Style::Rolled,
            false => Style::Unrolled,
        };
        (
            core,
            ask::spec(op, words, modulus, 32),
            style,
            method,
            params.to_vec(),
        )
    });
    mutants::attack::<MipsIsa>(cases.into(), 200, 11).hold(8000, 8);
}
