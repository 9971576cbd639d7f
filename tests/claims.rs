//! Signed Karatsuba is proved, with and without claims; what is wrong is not.

mod naive;

use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel;
use lozenge::prove;
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors;
use naive::{Style, karatsuba};

const CORE: &lozenge::isa::avr::cores::Core = &ATMEGA128;

fn spec(n: usize) -> Spec {
    Spec::new(Op::Mul, 8 * n as u32, 8).expect("a size")
}

fn is_right(spec: &Spec, code: &[u8]) -> bool {
    vectors::pairs(spec.operand_bytes(), 200, 7)
        .iter()
        .all(|pair| {
            let run = kernel::run::<AvrIsa>(spec, CORE, code, pair, Alias::Distinct);
            run.is_ok_and(|(got, _)| got == &pair[0] * &pair[1])
        })
}

#[test]
fn one_level_is_proved() {
    for n in 2..=9 {
        for merge in [false, true] {
            let style = Style {
                leaf: n,
                claims: false,
                merge,
            };
            let program = karatsuba(n, style);
            let code = AvrIsa::encode(CORE, &program.insns).expect("encodes");
            let spec = spec(n);
            assert!(is_right(&spec, &code), "{n} {style:?} computes a product");
            for alias in [Alias::Distinct, Alias::AIsB] {
                let proof = prove::prove::<AvrIsa>(&spec, CORE, &code, alias);
                assert!(proof.holds(), "{n} {style:?} {alias:?}: {proof:?}");
            }
        }
    }
}

#[test]
fn nested_levels_are_proved() {
    for (n, leaf) in [(4, 1), (8, 2), (7, 2), (11, 3), (13, 2), (16, 2)] {
        for merge in [false, true] {
            let style = Style {
                leaf,
                claims: true,
                merge,
            };
            let program = karatsuba(n, style);
            let code = AvrIsa::encode(CORE, &program.insns).expect("encodes");
            let spec = spec(n);
            assert!(is_right(&spec, &code), "{n} {style:?} computes a product");
            for alias in [Alias::Distinct, Alias::AIsB] {
                let proof = prove::prove_with::<AvrIsa>(&spec, CORE, &code, &program.claims, alias);
                assert!(proof.holds(), "{n} {style:?} {alias:?}: {proof:?}");
            }
        }
    }
}
