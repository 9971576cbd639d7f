//! Exponentiations on whole simulated chips: against big integers, on structured numbers.

use lozenge::driver::build::Built;
use lozenge::driver::exponentiation::{self, Ladder};
use lozenge::driver::numbers::Power;
use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::{ATMEGA128, ATMEGA2560};
use lozenge::vectors::Random;
use num_bigint::BigUint;

const LADDERS: [Ladder; 5] = [
    Ladder::Binary,
    Ladder::Window(1),
    Ladder::Window(3),
    Ladder::Window(4),
    Ladder::Montgomery,
];

fn built<I: Isa>(core: &I::Core, bits: u32, exponent_bits: u32, ladder: Ladder) -> Built<I> {
    let word = I::WORD_BITS as usize / 8;
    let mut driver = exponentiation::driver(word, bits, exponent_bits, ladder);
    for kernel in &mut driver.kernels {
        kernel.method = Some("fips".into());
    }
    Built::new(driver, core, |_| {}).unwrap_or_else(|e| panic!("{ladder} of {bits} bits: {e}"))
}

/// Numbers without pattern, and at the edges.
fn powers(bits: u32, exponent_bits: u32) -> Vec<Power> {
    let mut random = Random::new(u64::from(bits));
    let one = BigUint::from(1u8);
    let full = |bits: u32| (&one << bits) - 1u8;
    let moduli = [
        full(bits),
        (&one << (bits - 1)) + 1u8,
        BigUint::from(3u8),
        random.uniform(bits as usize / 8) | &one,
        random.structured(bits as usize / 8) | &one << (bits - 1) | &one,
    ];
    let mut list = Vec::new();
    for modulus in moduli {
        let exponents = [full(exponent_bits), one.clone(), random.uniform(16) % full(exponent_bits) + 1u8];
        let bases = [BigUint::ZERO, one.clone(), &modulus - 1u8, random.uniform(bits as usize / 8) % &modulus];
        for (i, exponent) in exponents.into_iter().enumerate() {
            let base = bases[i + (list.len() & 1)].clone();
            let modulus = modulus.clone();
            list.push(Power { base, exponent, modulus });
        }
    }
    list
}

fn agrees<I: Isa>(core: &I::Core, bits: u32, exponent_bits: u32, ladder: Ladder) {
    let built = built::<I>(core, bits, exponent_bits, ladder);
    let word = I::WORD_BITS as usize / 8;
    let mut cycles = Vec::new();
    for power in powers(bits, exponent_bits) {
        power.check(bits, exponent_bits).expect("numbers of the right size");
        let inputs = power.inputs(bits, word);
        let (outputs, cost) = built
            .image
            .run::<I>(core, &built.driver, &inputs, &mut |_, _| {})
            .unwrap_or_else(|e| panic!("{ladder}: {e}"));
        assert_eq!(outputs, [("result", power.value())], "{ladder}: {power:x?}");
        cycles.push(cost.call.max);
    }
    if ladder.is_constant_time() {
        assert!(cycles.iter().all(|c| *c == cycles[0]), "{ladder}: {cycles:?}");
    }
    for (core, verdict) in built.constant_time(core) {
        assert_eq!(verdict.is_ok(), ladder.is_constant_time(), "{ladder} on {core}: {verdict:?}");
    }
}

#[test]
fn avr_agrees_with_big_integers() {
    for ladder in LADDERS {
        agrees::<AvrIsa>(&ATMEGA128, 64, 37, ladder);
    }
    agrees::<AvrIsa>(&ATMEGA2560, 160, 24, Ladder::Window(5));
}
