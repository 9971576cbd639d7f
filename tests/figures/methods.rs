//! Hybrid, consecutive operand caching, Karatsuba-Comba and Karatsuba-schoolbook: products, loads and
//! stores as the papers count them; and budgets of registers.

use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::lower::{Limits, Lower};
use lozenge::method::{self, MethodError, Params};
use lozenge::prove;
use lozenge::schedule::{Schedule, WordStep};
use lozenge::spec::{Alias, Op, Spec};

use crate::kit::any;

/// Loads `2 n + n + 2m - e` and stores `(R+1) n - e + m`, `R = ceil(n/e)`, `m = n - (R-1) e`;
/// where `e` divides `n` that is `(R-1) e` loads less than operand caching.
#[test]
fn consecutive_rows_share_their_words() {
    let facts = AvrIsa::facts(&ATMEGA128);
    let counts = |name: &str, n: usize, e: usize| {
        let spec = Spec::new(Op::Mul, 8 * n as u32, 8).expect("a size");
        let method = method::find(name).expect("a method");
        let schedule = (method.schedule)(&spec, &facts, &Params::from([("e", e)]));
        schedule.expect("a schedule").check().expect("valid")
    };
    for n in 1..=64 {
        for e in 1..=n.min(10) {
            let made = counts("consecutive-operand-caching", n, e);
            let r = n.div_ceil(e);
            let m = n - (r - 1) * e;
            assert_eq!(made.loads, 2 * (r - 1) * n + n + 2 * m - e, "n={n} e={e}");
            assert_eq!(made.stores, (r + 1) * n - e + m, "n={n} e={e}");
            assert_eq!(made.products, n * n);
            assert!(made.resident <= 2 * e, "n={n} e={e}: {}", made.resident);
            if m == e {
                let plain = counts("operand-caching", n, e);
                assert_eq!(made.loads + (r - 1) * e, plain.loads, "n={n} e={e}");
                assert_eq!(made.stores, plain.stores, "n={n} e={e}");
            }
        }
    }
}

/// Grossschaedl et al. 2005, table 2, one level: `3s^2/4` multiplications. Beside Comba's three to
/// a product the paper adds `4s + 2` words; correcting two signs without branches adds `s + 4`.
#[test]
fn karatsuba_takes_its_products() {
    for word_bits in [8, 32] {
        let facts = lozenge::facts::Facts {
            word_bits,
            ..AvrIsa::facts(&ATMEGA128)
        };
        for s in (2..=64).step_by(2) {
            let spec = Spec::new(Op::Mul, s as u32 * word_bits, word_bits).expect("a size");
            for name in ["karatsuba-comba", "karatsuba-schoolbook"] {
                let method = method::find(name).expect("a method");
                let made = (method.schedule)(&spec, &facts, &Params::from([("levels", 1)]));
                let schedule = made.expect("a schedule");
                let counts = schedule.check().expect("valid");
                assert_eq!(counts.products, 3 * s * s / 4, "{name} s={s}");
                let Schedule::Words(words) = &schedule else {
                    panic!("{name}: not in words");
                };
                let sums: usize = words
                    .steps
                    .iter()
                    .map(|step| match step {
                        WordStep::Chain(chain) => chain.links.len(),
                        WordStep::Sweep(sweep) => sweep.piles.iter().map(|p| p.addends.len()).sum(),
                        _ => 0,
                    })
                    .sum();
                println!("{name} s={s}: {sums}, {}", 5 * s + 6);
                if name == "karatsuba-comba" {
                    assert!(sums <= 5 * s + 6, "{name} s={s}: {sums}");
                }
            }
        }
    }
}

/// Registers a body names beside r1:r0 and the pointers, at most `most` of them.
fn within(name: &str, n: usize, most: usize) -> Result<usize, MethodError> {
    let facts = AvrIsa::facts(&ATMEGA128).limited(Some(most));
    let spec = Spec::new(Op::Mul, 8 * n as u32, 8).expect("a size");
    let method = method::find(name).expect("a method");
    let mut made = 0;
    for params in (method.defaults)(&spec, &facts) {
        let schedule = (method.schedule)(&spec, &facts, &params)?;
        let limits = Limits {
            registers: most,
            cycles: u64::MAX,
            overlap: false,
        };
        let programs = AvrIsa::lower_within(&schedule, &ATMEGA128, limits);
        for program in programs.unwrap_or_default() {
            let mut used = [false; 32];
            for register in program.insns.iter().flat_map(|insn| insn.registers()) {
                used[usize::from(register)] = true;
            }
            let used = used[2..26].iter().filter(|used| **used).count();
            // r20 to r25 also hold the arguments that are moved to the pointers.
            assert!(
                used <= most.max(6),
                "{name} {params:?} n={n}: {used} > {most}"
            );
            let code = AvrIsa::encode(&ATMEGA128, &program.insns).expect("encodes");
            let proof = prove::prove_with(
                &spec,
                &any(&ATMEGA128),
                &code,
                &program.claims,
                Alias::Distinct,
            );
            assert!(
                proof.correct.is_proved(),
                "{name} {params:?} n={n} {most}: {proof:?}"
            );
            made += 1;
        }
    }
    Ok(made)
}

#[test]
fn a_budget_of_registers_is_kept() {
    for most in [6, 8, 12, 14, 20, 24] {
        for name in [
            "operand-caching",
            "consecutive-operand-caching",
            "product-scanning",
        ] {
            let made = within(name, 12, most).expect("schedules");
            assert!(made > 0, "{name} in {most} registers");
        }
        within("hybrid", 12, most).expect("schedules");
    }
}
