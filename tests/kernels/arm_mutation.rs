//! The prover under attack: single faults in proved ARM kernels.

use lozenge::facts::Style;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI_HW2018;
use lozenge::spec::Op as Operation;
use lozenge::spec::modulus::Reduce;

use crate::kit::{ask, mutants};

/// What is attacked: operation, method, its parameters, words, modulus and reduction.
type Case = (
    Operation,
    &'static str,
    &'static [(&'static str, usize)],
    u32,
    Option<(&'static str, Reduce)>,
);

#[rustfmt::skip]
const CASES: [Case; 38] = {
    use Operation::{
        Modadd, Modmul, Modneg, Modsqr, Modsub, Montmul, Montsqr, Mul, Redc, Sqr,
    };
    use Reduce::{Almost, Full, Lazy};
    [
        (Mul, "product-scanning", &[], 2, None),
        (Mul, "product-scanning", &[], 3, None),
        (Mul, "product-scanning", &[], 4, None),
        (Mul, "product-scanning", &[], 5, None),
        (Mul, "operand-caching", &[("e", 3)], 5, None),
        (Mul, "operand-caching", &[("e", 2)], 5, None),
        (Mul, "operand-caching", &[("e", 3)], 6, None),
        (Mul, "operand-caching", &[("e", 1)], 4, None),
        (Mul, "operand-caching", &[("e", 3)], 8, None),
        (Mul, "hybrid", &[("carry", 1), ("d", 2)], 4, None),
        (Mul, "karatsuba plan=k-m", &[("levels", 2)], 4, None),
        (Mul, "karatsuba-comba", &[("levels", 1)], 4, None),
        (Mul, "karatsuba-comba", &[("levels", 2)], 5, None),
        (Sqr, "square-product-scanning", &[], 4, None),
        (Sqr, "square-carry-catcher", &[("d", 2)], 4, None),
        (Sqr, "lazy-doubling", &[("d", 2)], 5, None),
        (Sqr, "sliding-block-doubling", &[("c", 2), ("e", 3)], 5, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 2)], 5, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 1)], 9, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 0), ("joined", 1)], 4, None),
        (Modmul, "product-scanning+fold", &[], 3, Some(("2^96-17", Full))),
        (Modmul, "product-scanning+fold", &[], 3, Some(("2^95-39", Almost))),
        (Modmul, "product-scanning+fold", &[], 4, Some(("2^128-2^64+2^32-1", Full))),
        (Modsqr, "square-product-scanning+fold", &[], 4, Some(("2^128-2^64-1", Almost))),
        (Modmul, "karatsuba-modulo", &[], 4, Some(("2^128-2^32-1", Full))),
        (Modadd, "carry-chain", &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Modadd, "carry-chain", &[], 3, Some(("0x3f9e3779b1c0ffee1234567b", Almost))),
        (Modsub, "carry-chain", &[], 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Modneg, "carry-chain", &[], 3, Some(("runtime", Full))),
        (Modadd, "carry-chain", &[], 3, Some(("runtime", Almost))),
        (Modsub, "carry-chain", &[], 3, Some(("runtime", Almost))),
        (Montmul, "fips", &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Montmul, "fips", &[], 3, Some(("runtime", Almost))),
        (Montmul, "product-scanning+sps", &[], 3, Some(("0xcd3e*2^80+1", Full))),
        (Montmul, "hsps", &[("d", 2)], 4, Some(("runtime", Full))),
        (Montmul, "product-scanning+sos", &[], 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Montsqr, "cios", &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Almost))),
        (Redc, "fips", &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
    ]
};

#[test]
fn the_prover_rejects_faults() {
    let cases = CASES.map(|(op, method, params, words, modulus)| {
        let spec = ask::spec(op, words, modulus, 32);
        (
            ARM7TDMI_HW2018.clone(),
            spec,
            Style::Unrolled,
            method,
            params.to_vec(),
        )
    });
    mutants::attack::<ArmIsa>(cases.into(), 100, 8).hold(3800, 8);
}
