//! Arithmetic modulo a number without Montgomery's factor: proved, and right on big integers by what the
//! operation means (`r + b = a` for a difference), which the tool does not compute that way.

mod shifted;
mod spare;
mod sums;

use std::sync::Arc;

use lozenge::facts::Style;
use lozenge::isa::Isa;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::cores::{ATMEGA128, ATTINY10, ATTINY85};
use lozenge::isa::avr::{AvrIsa, abi};
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::cores::Core as RiscvCore;
use lozenge::kernel::{Kernel, Request};
use lozenge::lower::Lower;
use lozenge::plans::{How, Plan};
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::{kernel, prove, vectors};
use num_bigint::BigUint;

use crate::kit::{any, ask, known, refused, tier};

fn modular(modulus: &str, reduce: Reduce) -> Modular {
    Modular {
        modulus: modulus.parse().expect("a modulus"),
        reduce,
        shift: 0,
        times: 0,
    }
}

fn request(op: Op, bits: u32, modular: Modular, method: Option<&str>) -> Request {
    Request {
        modular: Some(modular),
        method: method.map(String::from),
        ..ask::in_any_time(op, bits)
    }
}

/// Are `got` and the factors of one residue as `op` says, and is `got` below its bound?
fn right(spec: &Spec, sources: &[BigUint], got: &BigUint) -> bool {
    let modular = spec.modular.as_ref().expect("a modulus");
    let m = match modular.fixed() {
        Some(m) => m.clone(),
        None => sources[spec.op.factors()].clone(),
    };
    let a = &sources[0];
    let (left, wanted) = match spec.op {
        Op::Modadd => (got.clone(), a + &sources[1]),
        Op::Modsub => (got + &sources[1], a.clone()),
        Op::Modneg => (got + a, BigUint::default()),
        Op::Modhalf => (got << 1u8, a.clone()),
        Op::Modtimes => (got.clone(), a * modular.times),
        Op::Modsqr => (got << modular.shift, a.pow(2)),
        _ => (got << modular.shift, a * &sources[1]),
    };
    let bound = match modular.reduce {
        Reduce::Full => m.clone(),
        Reduce::Almost => BigUint::from(1u8) << spec.size.a,
        Reduce::Lazy => &m << 1,
    };
    left % &m == wanted % &m && *got < bound
}

/// Generates; proved, and right for every aliasing that it allows.
fn kernel_on<I: Lower>(core: &I::Core, request: &Request) -> Kernel {
    let made = known::generate(request, &any(core));
    let kernel = made.unwrap_or_else(|e| panic!("{request:?}: {e}"));
    let name = I::core_name(core);
    assert!(kernel.is_proved(), "{name} {request:?}: {:?}", kernel.proof);
    let allowed = kernel.aliasing.iter().filter(|case| case.allowed);
    let cases = [Alias::Distinct].into_iter();
    for alias in cases.chain(allowed.map(|case| case.alias)) {
        let on = any(core);
        let run = kernel::runs(&kernel.spec, &on, &kernel.code);
        for mut sources in vectors::of(&kernel.spec, 30, 7) {
            let places = alias.of(&kernel.spec);
            if kernel.spec.op.factors() == 2 && places[1] == places[2] {
                sources[1] = sources[0].clone();
            }
            let (got, _) = run(&sources, alias).expect("runs");
            let right = right(&kernel.spec, &sources, &got);
            assert!(right, "{name} {request:?} {alias:?}: {sources:x?}: {got:x}");
        }
    }
    kernel
}

/// Times a number in the code: one pass where a bit is to spare, else folded behind; words of 0, 1 and all bits.
fn multiples_on<I: Lower>(core: &I::Core) {
    let cases = [
        (256, "25519", 121_665),
        (256, "25519", u32::MAX),
        (256, "secp256k1", 7),
        (256, "p256", 3),
        (448, "2^448-2^224-1", 39_081),
        (384, "p384", 0x0001_0001),
        (224, "p224", 0x8000_0000),
        (32, "2^31-1", 0x7fff_ffff),
    ];
    for (i, (bits, modulus, times)) in tier::some(cases, 31).into_iter().enumerate() {
        let reduce = [Reduce::Almost, Reduce::Full][i % 2];
        let modular = Modular {
            times,
            ..modular(modulus, reduce)
        };
        let made = kernel_on::<I>(core, &request(Op::Modtimes, bits, modular, None));
        assert!(
            made.constant_time
                .iter()
                .all(|(_, timing)| timing.leak.is_none()),
            "{modulus} {times}"
        );
    }
}

#[test]
fn numbers_are_multiplied_by_numbers_in_the_code() {
    multiples_on::<AvrIsa>(&ATMEGA128);
    multiples_on::<AvrIsa>(&ATTINY85);
    multiples_on::<ArmIsa>(&ARM7TDMI);
    multiples_on::<MipsIsa>(&MipsCore::named("mips-4km").expect("a core"));
    multiples_on::<RiscvIsa>(RiscvCore::named("rv32im").expect("a core"));
}

/// Few words, few powers of 2, a bit less than all, on every product and square there is a fold of.
fn products_on<I: Lower>(core: &I::Core) {
    let primes = [
        (160, "secp160r1"),
        (192, "p192"),
        (224, "p224"),
        (256, "p256"),
        (256, "25519"),
        (256, "secp256k1"),
        (384, "p384"),
    ];
    for (i, (bits, modulus)) in primes.into_iter().enumerate() {
        for (k, reduce) in [Reduce::Full, Reduce::Almost].into_iter().enumerate() {
            // Products and squares in turns.
            let (op, method) = match (i + k) % 2 {
                0 => (Op::Modmul, "product-scanning+fold"),
                _ => (Op::Modsqr, "square-product-scanning+fold"),
            };
            let request = request(op, bits, modular(modulus, reduce), Some(method));
            kernel_on::<I>(core, &request);
        }
    }
}

#[test]
fn avr_folds() {
    products_on::<AvrIsa>(&ATMEGA128);
    for (modulus, bits, method) in [
        ("secp160r1", 160, "consecutive-operand-caching+fold"),
        ("2^128-159", 128, "operand-caching+fold"),
        ("2^64-2^32+1", 64, "karatsuba+fold"),
        ("2^64-189", 64, "hybrid+fold"),
        ("2^63-25", 64, "karatsuba-comba+fold"),
        ("2^64-59", 64, "karatsuba-joined+fold"),
        ("p192", 192, "sliding-block-doubling+fold"),
        ("2^127-25", 128, "karatsuba-squaring+fold"),
        ("2^64-2^32+1", 64, "lazy-doubling+fold"),
        ("2^32-5", 32, "square-carry-catcher+fold"),
    ] {
        let op = match method.contains("doubling") || method.contains("squar") {
            true => Op::Modsqr,
            false => Op::Modmul,
        };
        let reduce = if bits < 100 {
            Reduce::Full
        } else {
            Reduce::Almost
        };
        let request = request(op, bits, modular(modulus, reduce), Some(method));
        kernel_on::<AvrIsa>(&ATMEGA128, &request);
    }
}

#[test]
fn arm_folds() {
    products_on::<ArmIsa>(&ARM7TDMI);
}

#[test]
fn mips_folds() {
    let core = |name: &str| MipsCore::named(name).expect("a core");
    products_on::<MipsIsa>(&core("mips-4km"));
}

/// Karatsuba's three products, folded in between.
fn folds_between_products_on<I: Lower>(core: &I::Core, plans: &[Arc<Plan>]) {
    let w = I::WORD_BITS;
    let sums = [
        (192, "p192".to_string()),
        (4 * w, format!("2^{}-1", 4 * w)),
        (4 * w, format!("2^{}-2^{w}-1", 4 * w)),
        (6 * w, format!("2^{}-2^{}-2^{w}-1", 6 * w, 2 * w)),
        (10 * w, format!("2^{}-2^{}-1", 10 * w, 4 * w)),
    ];
    for (i, (bits, modulus)) in sums.iter().enumerate() {
        for (k, reduce) in [Reduce::Full, Reduce::Almost].into_iter().enumerate() {
            let plan = &plans[(i + k) % plans.len()];
            let modular = modular(modulus, reduce);
            let mut request = request(Op::Modmul, *bits, modular, Some("karatsuba-modulo"));
            request.plan = Some(plan.clone());
            kernel_on::<I>(core, &request);
        }
    }
    // Other digits, a bit to spare, few words.
    for (bits, modulus) in [
        (256, "p256"),
        (256, "25519"),
        (192, "2^191-19"),
        (32, "2^32-5"),
    ] {
        let modular = modular(modulus, Reduce::Full);
        let request = request(Op::Modmul, bits, modular, Some("karatsuba-modulo"));
        let made = known::generate(&request, &any(core)).map(|_| ());
        let text = refused::instead(&made.expect_err("refused"));
        assert!(text.contains("try --method karatsuba+fold"), "{text}");
    }
}

/// A plan of these for the three products.
fn high_low_and_middle(names: [&str; 3]) -> Arc<Plan> {
    let parts = ["high", "low", "middle"].into_iter().zip(names);
    let parts = parts.map(|(part, name)| (part.to_string(), ask::plan(name).clone()));
    Arc::new(Plan::unnamed(How::Parts(parts.collect())))
}

#[test]
fn avr_folds_between_products() {
    let plans = [
        ["k512-a", "k192-a", "k192-a"],
        ["k128-a", "k160-b", "k192-a"],
        ["k160-b", "k160-b", "k160-b"],
        ["k160-a", "k128-a", "k192-b"],
        ["k-a", "k-b", "k512-a"],
    ]
    .map(high_low_and_middle);
    folds_between_products_on::<AvrIsa>(&ATMEGA128, &plans);
}

#[test]
fn wide_machines_fold_between_products() {
    let plans = [
        ["few-a", "few-a", "few-a"],
        ["few-a", "few-b", "few-c"],
        ["few-b", "few-b", "few-b"],
    ]
    .map(high_low_and_middle);
    folds_between_products_on::<ArmIsa>(&ARM7TDMI, &plans);
    folds_between_products_on::<MipsIsa>(&MipsCore::named("mips-4km").expect("a core"), &plans);
}

/// Products in loops, and the folds of what they leave in memory.
fn loops_on<I: Lower>(core: &I::Core, cases: &[(Op, u32, &str, Reduce, &str, Style)]) {
    for (op, bits, modulus, reduce, method, style) in cases {
        let modular = modular(modulus, *reduce);
        let request = Request {
            style: Some(*style),
            ..request(*op, *bits, modular, Some(method))
        };
        let kernel = kernel_on::<I>(core, &request);
        assert_eq!(kernel.style, *style);
        if (*op, *style) == (Op::Modmul, Style::Rolled) {
            let written_out = Request {
                style: None,
                method: Some("product-scanning+fold".into()),
                ..request
            };
            let (_, written_out) = kernel::choose(&written_out, &any(core)).expect("a kernel");
            assert!(kernel.code.len() < written_out.code.len(), "{method}");
        }
    }
}

#[test]
fn avr_folds_what_loops_make() {
    use Reduce::{Almost, Full};
    use Style::{Looped, Rolled};
    #[rustfmt::skip]
    let cases = [
        (Op::Modmul, 256, "p256", Full, "hybrid+fold", Rolled),
        (Op::Modmul, 256, "25519", Almost, "reverse-hybrid+fold", Rolled),
        (Op::Modmul, 160, "secp160r1", Full, "reverse-hybrid+fold", Looped),
        (Op::Modsqr, 192, "p192", Full, "square-product-scanning+fold", Rolled),
        (Op::Modsqr, 256, "25519", Full, "square-reverse-hybrid+fold", Rolled),
    ];
    loops_on::<AvrIsa>(&ATMEGA128, &cases);
    let iar = ATMEGA128.called(&abi::IAR);
    loops_on::<AvrIsa>(&iar, &cases[..1]);
}

/// A product made by additions, and folds whose products by numbers are additions, too.
#[test]
fn folds_need_no_multiplier() {
    for (op, bits, modulus, reduce, method) in [
        (Op::Modmul, 256, "25519", Reduce::Full, "hybrid+fold"),
        (Op::Modmul, 160, "secp160r1", Reduce::Almost, "hybrid+fold"),
        (Op::Modmul, 192, "p192", Reduce::Full, "shift-and-add+fold"),
        (
            Op::Modmul,
            64,
            "2^63-25",
            Reduce::Almost,
            "shift-and-add+fold",
        ),
        (
            Op::Modsqr,
            64,
            "2^64-189",
            Reduce::Full,
            "shift-and-add+fold",
        ),
        (
            Op::Modsqr,
            128,
            "2^128-2^32-977",
            Reduce::Full,
            "square-product-scanning+fold",
        ),
    ] {
        let request = request(op, bits, modular(modulus, reduce), Some(method));
        let kernel = kernel_on::<AvrIsa>(&ATTINY85, &request);
        assert_eq!(kernel.cost.counts.mul, 0);
    }
    // The reduced core has no loads with displacement.
    let request = request(Op::Modmul, 192, modular("p192", Reduce::Full), None);
    let made = known::generate(&request, &any(&ATTINY10)).map(|_| ());
    let text = refused::instead(&made.expect_err("refused"));
    assert!(text.contains("attiny10"), "{text}");
}

/// On machines of 32-bit words.
const WIDE: [(Op, u32, &str, Reduce, &str, Style); 4] = {
    use Reduce::{Almost, Full};
    use Style::{Looped, Rolled};
    [
        (
            Op::Modmul,
            384,
            "p384",
            Full,
            "product-scanning+fold",
            Rolled,
        ),
        (
            Op::Modmul,
            512,
            "2^512-569",
            Almost,
            "product-scanning+fold",
            Looped,
        ),
        (
            Op::Modsqr,
            512,
            "2^511-187",
            Full,
            "square-product-scanning+fold",
            Rolled,
        ),
        (
            Op::Modmul,
            512,
            "2^512-2^32-1",
            Full,
            "product-scanning+fold",
            Rolled,
        ),
    ]
};

#[test]
fn arm_folds_what_loops_make() {
    loops_on::<ArmIsa>(&ARM7TDMI, &WIDE);
}

#[test]
fn mips_folds_what_loops_make() {
    loops_on::<MipsIsa>(&MipsCore::named("mips-4km").expect("a core"), &WIDE);
}

/// Where `c` is sparse, a product is reduced by one more of `c`; both operations, both contracts.
#[test]
fn arm_folds_sparse_primes() {
    for (bits, modulus) in [(224, "p224"), (384, "p384")] {
        for reduce in [Reduce::Full, Reduce::Almost] {
            for (op, method) in [
                (Op::Modmul, "product-scanning+fold"),
                (Op::Modsqr, "square-product-scanning+fold"),
            ] {
                let request = request(op, bits, modular(modulus, reduce), Some(method));
                kernel_on::<ArmIsa>(&ARM7TDMI, &request);
            }
        }
    }
}

#[test]
fn one_contract_is_not_another() {
    let judge = |op, made: Reduce, (claimed, modulus): (Reduce, &str)| {
        let kernel = kernel_on::<AvrIsa>(
            &ATMEGA128,
            &request(op, 32, modular("0x3fffffdd", made), None),
        );
        let spec = Spec::with(op, 32, Some(modular(modulus, claimed)), 8).expect("a modulus");
        prove::prove(&spec, &any(&ATMEGA128), &kernel.code, Alias::Distinct).correct
    };
    let m = "0x3fffffdd";
    for op in [Op::Modadd, Op::Modsub, Op::Modneg] {
        for made in Reduce::ALL {
            for claimed in Reduce::ALL {
                let verdict = judge(op, made, (claimed, m));
                assert_eq!(
                    verdict.is_proved(),
                    made == claimed,
                    "{op:?} {made:?} {claimed:?}"
                );
            }
        }
        // Another modulus, of which the kernel knows nothing.
        assert!(!judge(op, Reduce::Full, (Reduce::Full, "0x3fffffdf")).is_proved());
    }
    // An operand: below 2^n it needs a 1 as its top bit, which factors below it do not ask for.
    // (A difference of factors below it is below it, too, in both.)
    let at_run_time = [
        (Op::Modadd, Reduce::Full, Reduce::Almost),
        (Op::Modsub, Reduce::Full, Reduce::Almost),
        (Op::Modneg, Reduce::Full, Reduce::Almost),
        (Op::Modadd, Reduce::Almost, Reduce::Full),
    ];
    for (op, made, claimed) in at_run_time {
        let request = request(op, 32, modular("runtime", made), None);
        let kernel = kernel_on::<AvrIsa>(&ATMEGA128, &request);
        let spec = Spec::with(op, 32, Some(modular("runtime", claimed)), 8).expect("an operand");
        let proof = prove::prove(&spec, &any(&ATMEGA128), &kernel.code, Alias::Distinct);
        assert!(
            !proof.correct.is_proved(),
            "{op:?} {made:?} is not {claimed:?}"
        );
    }
}

#[test]
fn moduli_that_do_not_fit_are_refused() {
    let told = |op, bits, modulus: Option<&str>, reduce| {
        let modular = modulus.map(|m| modular(m, reduce));
        let result = Spec::with(op, bits, modular, AvrIsa::WORD_BITS);
        refused::spec(&result.expect_err("refused"))
    };
    assert!(told(Op::Modadd, 160, None, Reduce::Full).contains("--modulus"));
    assert!(told(Op::Modmul, 160, Some("2^160-2"), Reduce::Full).contains("even"));
    assert!(told(Op::Modadd, 160, Some("p192"), Reduce::Full).contains("192 bits"));
    assert!(told(Op::Modneg, 256, Some("p256"), Reduce::Lazy).contains("--reduce almost"));
    for (bits, modulus) in [
        (160, "opf160"),
        (256, "p256-order"),
        (168, "secp160r1"),
        (64, "runtime"),
    ] {
        let request = request(Op::Modmul, bits, modular(modulus, Reduce::Full), None);
        let error = known::generate(&request, &any(&ATMEGA128)).map(|_| ());
        let text = refused::instead(&error.expect_err("refused"));
        assert!(text.contains("montmul"), "{modulus}: {text}");
    }
}

/// A fold that is left out, of the wrong number, or less than the contract wants, is no proof.
#[test]
fn wrong_folds_are_rejected() {
    for (modulus, other) in [
        ("2^40-5", "2^40-17"),
        ("2^39-7", "2^39-19"),
        ("2^40-2^24+1", "2^40-2^16+1"),
    ] {
        for (made, claimed) in [
            ((modulus, Reduce::Full), (other, Reduce::Full)),
            ((modulus, Reduce::Almost), (modulus, Reduce::Full)),
        ] {
            let spec = |(modulus, reduce)| {
                Spec::with(Op::Modmul, 40, Some(modular(modulus, reduce)), 8).expect("a modulus")
            };
            let request = request(Op::Modmul, 40, modular(made.0, made.1), None);
            let kernel = kernel_on::<AvrIsa>(&ATMEGA128, &request);
            let judge = |spec| {
                let claims = &kernel.program.claims;
                prove::prove_with(
                    &spec,
                    &any(&ATMEGA128),
                    &kernel.code,
                    claims,
                    Alias::Distinct,
                )
            };
            assert!(judge(spec(made)).holds());
            assert!(
                !judge(spec(claimed)).correct.is_proved(),
                "{made:?} {claimed:?}"
            );
        }
    }
}
