//! Products and squares of numbers times `2^s`: `2^s r = a b (mod m)`.

use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::lower::Lower;
use lozenge::spec::Op;
use lozenge::spec::modulus::{Modular, Reduce};

use super::{kernel_on, request};
use crate::kit::{any, known, refused};

/// Modulo `modulus`, of numbers times `2^shift`.
fn modular(modulus: &str, reduce: Reduce, shift: u32) -> Modular {
    Modular {
        shift,
        ..super::modular(modulus, reduce)
    }
}

/// Products and squares of shifted numbers, folded from both ends.
fn folds_from_both_ends_on<I: Lower>(core: &I::Core) {
    let w = I::WORD_BITS;
    let sums = [
        (192, "p192".to_string()),
        (256, "p256".to_string()),
        (4 * w, format!("2^{}-2^{w}-1", 4 * w)),
        (6 * w, format!("2^{}-2^{}-1", 6 * w, 2 * w)),
    ];
    for (i, (bits, modulus)) in sums.iter().enumerate() {
        for (k, reduce) in [Reduce::Full, Reduce::Almost].into_iter().enumerate() {
            let op = [Op::Modmul, Op::Modsqr][(i + k) % 2];
            for op in [op, Op::Modmul]
                .into_iter()
                .take(1 + usize::from(*bits == 192))
            {
                let modular = modular(modulus, reduce, bits / 2);
                let kernel = kernel_on::<I>(core, &request(op, *bits, modular, None));
                assert!(kernel.method.name.starts_with("range-shifted"));
            }
        }
    }
    // No sums of few words, a bit to spare, not half of the bits, other methods.
    for (bits, modulus, shift, method, says) in [
        (256, "25519", 128, None, "try --shift 0"),
        (
            256,
            "secp256k1",
            128,
            Some("range-shifted"),
            "try --shift 0",
        ),
        (224, "p224", 112, Some("range-shifted"), "try --shift 0"),
        (192, "p192", 64, Some("range-shifted"), "the shift is n / 2"),
        (
            192,
            "p192",
            0,
            Some("range-shifted"),
            "try --method product-scanning+fold",
        ),
        (192, "p192", 96, Some("karatsuba+fold"), "leave out --shift"),
        (
            192,
            "p192",
            96,
            Some("karatsuba-modulo"),
            "leave out --shift",
        ),
        (192, "p192", 200, None, "try --shift 96"),
        (192, "p192", 192, None, "the shift is n / 2"),
        (192, "runtime", 96, None, "a modulus that is a number"),
    ] {
        let modular = modular(modulus, Reduce::Full, shift);
        let request = request(Op::Modmul, bits, modular, method);
        let made = known::generate(&request, &any(core)).map(|_| ());
        let text = refused::instead(&made.expect_err("refused"));
        assert!(text.contains(says), "{text}");
    }
    let modular = modular("p192", Reduce::Full, 96);
    let made = known::generate(&request(Op::Modadd, 192, modular, None), &any(core)).map(|_| ());
    let text = refused::instead(&made.expect_err("refused"));
    assert!(text.contains("leave out --shift"), "{text}");
}

#[test]
fn avr_folds_from_both_ends() {
    folds_from_both_ends_on::<AvrIsa>(&ATMEGA128);
}

#[test]
fn arm_folds_from_both_ends() {
    folds_from_both_ends_on::<ArmIsa>(&ARM7TDMI);
}
