//! The prover under attack: single faults in proved MSP430 kernels.

use lozenge::facts::Style;
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::cores::Core;
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
const CASES: [Case; 16] = {
    use Operation::{Modadd, Modmul, Modneg, Modsub, Montmul, Mul, Mullo, Redc, Sqr};
    use Reduce::{Almost, Full, Lazy};
    [
        (Mul, "product-scanning", &[], "msp430-mpy16", 4, None),
        (Mul, "product-scanning", &[], "msp430x-mpy32", 4, None),
        (Mul, "operand-caching", &[("e", 2)], "msp430-mpy16", 5, None),
        (Mul, "karatsuba-comba", &[("levels", 1)], "msp430x-mpy16", 4, None),
        (Sqr, "square-product-scanning", &[], "msp430-mpy16", 4, None),
        (Sqr, "square-product-scanning", &[("c", 0)], "msp430x-mpy32", 4, None),
        (Mullo, "product-scanning", &[], "msp430-mpy32", 4, None),
        (Mul, "shift-and-add", &[("e", 2)], "msp430", 3, None),
        (Sqr, "shift-and-add", &[("e", 2)], "msp430x", 3, None),
        (Modmul, "product-scanning+fold", &[], "msp430-mpy16", 4, Some(("2^64-59", Full))),
        (Modadd, "carry-chain", &[], "msp430", 4, Some(("0xff9e3779b1c0ffef", Full))),
        (Modsub, "carry-chain", &[], "msp430x", 4, Some(("0x1f9e3779b1c0ffef", Lazy))),
        (Modneg, "carry-chain", &[], "msp430", 3, Some(("runtime", Full))),
        (Montmul, "fips", &[], "msp430-mpy16", 3, Some(("runtime", Full))),
        (Montmul, "fips", &[], "msp430x-mpy32", 4, Some(("runtime", Full))),
        (Redc, "fips", &[], "msp430-mpy16", 3, Some(("0xff9e3779b1cf", Almost))),
    ]
};

#[test]
fn the_prover_rejects_faults() {
    let cases = CASES.map(|(op, method, params, core, words, modulus)| {
        (
            *Core::named(core).expect("a core"),
            ask::spec(op, words, modulus, 16),
            Style::Unrolled,
            method,
            params.to_vec(),
        )
    });
    mutants::attack::<Msp430Isa>(cases.into(), 200, 14).hold(2400, 5);
}
