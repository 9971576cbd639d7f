//! The prover under attack: single faults in proved RV32 kernels.

use lozenge::facts::Style;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::cores::Core;
use lozenge::spec::Op as Operation;
use lozenge::spec::modulus::Reduce;

use crate::kit::{ask, mutants};

/// What is attacked: operation, method, its parameters, the core, words, modulus and reduction.
type Case = (
    Operation,
    &'static str,
    &'static [(&'static str, usize)],
    &'static str,
    u32,
    Option<(&'static str, Reduce)>,
);

#[rustfmt::skip]
const CASES: [Case; 24] = {
    use Operation::{
        Modadd, Modmul, Modneg, Modsqr, Modsub, Montmul, Montsqr, Mul, Redc, Sqr,
    };
    use Reduce::{Almost, Full, Lazy};
    [
        (Mul, "product-scanning", &[], "rv32im", 4, None),
        (Mul, "product-scanning", &[], "rv32imc", 3, None),
        (Mul, "operand-caching", &[("e", 2)], "rv32im", 5, None),
        (Mul, "operand-scanning", &[("k", 4)], "rv32im", 4, None),
        (Mul, "hybrid", &[("carry", 1), ("d", 3)], "rv32im", 4, None),
        (Mul, "karatsuba plan=k-m", &[("levels", 2)], "rv32im", 4, None),
        (Mul, "karatsuba-comba", &[("levels", 1)], "rv32imc", 4, None),
        (Sqr, "square-product-scanning", &[], "rv32im", 4, None),
        (Sqr, "square-carry-catcher", &[("d", 2)], "rv32im", 4, None),
        (Sqr, "lazy-doubling", &[("d", 2)], "rv32im", 4, None),
        (Sqr, "sliding-block-doubling", &[("c", 4), ("e", 4)], "rv32im", 5, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 2)], "rv32im", 5, None),
        (Modmul, "product-scanning+fold", &[], "rv32im", 3, Some(("2^96-17", Full))),
        (Modmul, "product-scanning+fold", &[], "rv32imc", 3, Some(("2^95-39", Almost))),
        (Modmul, "product-scanning+fold", &[], "rv32im", 4, Some(("2^128-2^64+2^32-1", Full))),
        (Modsqr, "square-product-scanning+fold", &[], "rv32im", 4, Some(("2^128-2^64-1", Almost))),
        (Modadd, "carry-chain", &[], "rv32i", 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Modsub, "carry-chain", &[], "rv32ec", 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Modneg, "carry-chain", &[], "rv32im", 3, Some(("runtime", Full))),
        (Montmul, "fips", &[], "rv32im", 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Montmul, "hsps", &[("d", 2)], "rv32im", 4, Some(("runtime", Full))),
        (Montmul, "product-scanning+sos", &[], "rv32imc", 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Montsqr, "cios", &[], "rv32im", 3, Some(("0xff9e3779b1c0ffee1234567b", Almost))),
        (Redc, "fips", &[], "rv32im", 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
    ]
};

#[test]
fn the_prover_rejects_faults() {
    let cases = CASES.map(|(op, method, params, core, words, modulus)| {
        (
            *Core::named(core).expect("a core"),
            ask::spec(op, words, modulus, 32),
            Style::Unrolled,
            method,
            params.to_vec(),
        )
    });
    mutants::attack::<RiscvIsa>(cases.into(), 200, 12).hold(4800, 5);
}
