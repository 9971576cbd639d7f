//! Sums, differences, negatives and halves modulo numbers of all shapes.

use lozenge::facts::Style;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::{ATMEGA128, ATTINY85};
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::kernel::Request;
use lozenge::lower::Lower;
use lozenge::spec::Op;
use lozenge::spec::modulus::Reduce;
use lozenge::vectors;

use super::{kernel_on, modular, request};
use crate::kit::{any, known, refused};

/// Moduli of all shapes: of all bits and fewer, small ones, an operand.
fn sums_on<I: Lower>(core: &I::Core) {
    let cases = [
        (256, "p256", Reduce::Full),
        (256, "25519", Reduce::Almost),
        (160, "secp160r1", Reduce::Full),
        (96, "0x123456789abcdef01235", Reduce::Almost),
        (96, "0x123456789abcdef01235", Reduce::Lazy),
        (64, "3", Reduce::Full),
        (64, "3", Reduce::Almost),
        (32, "2^31-1", Reduce::Full),
        (32, "2^31+1", Reduce::Almost),
        (32, "2^30-1", Reduce::Lazy),
        (128, "runtime", Reduce::Full),
        (96, "runtime", Reduce::Lazy),
        (96, "runtime", Reduce::Almost),
    ];
    for (bits, modulus, reduce) in cases {
        for op in [Op::Modadd, Op::Modsub, Op::Modneg, Op::Modhalf] {
            kernel_on::<I>(core, &request(op, bits, modular(modulus, reduce), None));
        }
    }
    // Words that a method or the prover may take for something else: a bit, a sign, a mask.
    let w = I::WORD_BITS;
    let ones = (1u64 << w) - 1;
    let sign = 1 << (w - 1);
    // 2^2w is 1 modulo 2^w + 1, and nobody knows there that the second carry is never set.
    let pairs = [1, 3, sign | 1, ones].map(|low| [1, sign, ones - 1, ones].map(|high| (low, high)));
    for (low, high) in pairs.into_iter().flatten() {
        for reduce in [Reduce::Full, Reduce::Almost] {
            if (low, high, reduce) == (1, 1, Reduce::Almost) {
                continue;
            }
            let m = format!("{:#x}", (u128::from(high) << w) | u128::from(low));
            for op in [Op::Modadd, Op::Modsub, Op::Modneg, Op::Modhalf] {
                kernel_on::<I>(core, &request(op, 2 * w, modular(&m, reduce), None));
            }
        }
    }
}

/// Sums in loops: as small for all lengths.
fn sums_in_loops_on<I: Lower>(core: &I::Core) {
    for op in [Op::Modadd, Op::Modsub, Op::Modneg] {
        let made = |bits, style| {
            let request = Request {
                style: Some(style),
                ..request(op, bits, modular("runtime", Reduce::Full), None)
            };
            kernel_on::<I>(core, &request).code.len()
        };
        let (short, long) = (made(1024, Style::Rolled), made(2048, Style::Looped));
        assert!(long <= short + 8, "{op:?}: {short} and {long} bytes");
        made(96, Style::Rolled);
        let unfit = [
            ("runtime", Reduce::Almost),
            ("2^64-59", Reduce::Full),
            ("runtime", Reduce::Lazy),
        ];
        for (modulus, reduce) in unfit {
            let request = Request {
                style: Some(Style::Rolled),
                ..request(op, 64, modular(modulus, reduce), None)
            };
            let made = known::generate(&request, &any(core)).map(|_| ());
            let text = refused::instead(&made.expect_err("refused"));
            assert!(text.contains("--reduce full"), "{text}");
        }
    }
}

#[test]
fn sums_are_loops() {
    sums_in_loops_on::<AvrIsa>(&ATMEGA128);
    sums_in_loops_on::<AvrIsa>(&ATTINY85);
    sums_in_loops_on::<ArmIsa>(&ARM7TDMI);
    sums_in_loops_on::<MipsIsa>(&MipsCore::named("mips-4km").expect("a core"));
}

#[test]
fn avr_adds_and_subtracts() {
    sums_on::<AvrIsa>(&ATMEGA128);
    let mut random = vectors::Random::new(9);
    for words in 1..=7 {
        for reduce in [Reduce::Full, Reduce::Almost] {
            let mut m = random.structured(words);
            m.set_bit(0, true);
            m.set_bit(1, true);
            for op in [Op::Modadd, Op::Modsub, Op::Modneg, Op::Modhalf] {
                let modular = modular(&format!("{m:#x}"), reduce);
                kernel_on::<AvrIsa>(&ATMEGA128, &request(op, 8 * words as u32, modular, None));
            }
        }
    }
}

#[test]
fn arm_adds_and_subtracts() {
    sums_on::<ArmIsa>(&ARM7TDMI);
}

#[test]
fn mips_adds_and_subtracts() {
    let core = |name: &str| MipsCore::named(name).expect("a core");
    sums_on::<MipsIsa>(&core("mips-4km"));
}
