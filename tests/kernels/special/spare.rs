//! Folds modulo numbers with several zero bits in their highest word, as p521 has: proved, and right on big integers.

use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::{ATMEGA128, ATTINY85};
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::cores::Core as RiscvCore;
use lozenge::kernel;
use lozenge::lower::Lower;
use lozenge::method::MethodError;
use lozenge::spec::Op;
use lozenge::spec::modulus::Reduce;

use super::{kernel_on, modular, request};
use crate::kit::{any, tier};

/// Bits, a modulus, a method of a product and one of a square.
const CASES: [(u32, &str, &str, &str); 5] = [
    (
        544,
        "p521",
        "product-scanning+fold",
        "square-product-scanning+fold",
    ),
    (
        160,
        "2^157-19",
        "operand-caching+fold",
        "sliding-block-doubling+fold",
    ),
    (128, "2^126-137", "hybrid+fold", "lazy-doubling+fold"),
    (
        128,
        "2^121-25",
        "operand-caching+fold",
        "square-carry-catcher+fold",
    ),
    (
        96,
        "2^90-33",
        "consecutive-operand-caching+fold",
        "square-product-scanning+fold",
    ),
];

fn folds_on<I: Lower>(core: &I::Core) {
    for (bits, modulus, product, square) in tier::some(CASES, 9) {
        // On a machine with shorter words the highest one of p521 begins elsewhere.
        let bits = if I::WORD_BITS == 8 && bits == 544 {
            528
        } else {
            bits
        };
        for reduce in [Reduce::Full, Reduce::Almost] {
            for (op, method) in [(Op::Modmul, product), (Op::Modsqr, square)] {
                kernel_on::<I>(
                    core,
                    &request(op, bits, modular(modulus, reduce), Some(method)),
                );
            }
        }
    }
}

#[test]
fn avr_folds_under_spare_bits() {
    folds_on::<AvrIsa>(&ATMEGA128);
    let tiny = request(Op::Modmul, 160, modular("2^157-19", Reduce::Full), None);
    assert!(
        kernel_on::<AvrIsa>(&ATTINY85, &tiny)
            .method
            .name
            .ends_with("+fold")
    );
}

#[test]
fn wide_machines_fold_under_spare_bits() {
    folds_on::<ArmIsa>(&ARM7TDMI);
    folds_on::<MipsIsa>(&MipsCore::named("mips-4km").expect("a core"));
    folds_on::<RiscvIsa>(RiscvCore::named("rv32im").expect("a core"));
}

/// What is not proved there is refused: another bound, Karatsuba below m, a modulus a word shorter.
#[test]
fn other_folds_under_spare_bits_are_refused() {
    let core = any(&ATMEGA128);
    let refused = |bits, modulus, reduce, method: &str| {
        let request = request(Op::Modmul, bits, modular(modulus, reduce), Some(method));
        match kernel::generate(&request, &core) {
            Err(kernel::Error::Method(error)) => error,
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("{method} modulo {modulus} is made"),
        }
    };
    let lazy = refused(160, "2^157-19", Reduce::Lazy, "hybrid+fold");
    assert_eq!(lazy, MethodError::LazyFold);
    let open = refused(128, "2^121-1", Reduce::Full, "karatsuba-comba+fold");
    assert_eq!(open, MethodError::TopBits("karatsuba-comba"));
    let short = refused(160, "2^150-3", Reduce::Full, "hybrid+fold");
    assert_eq!(short, MethodError::NotSpecial);
}
