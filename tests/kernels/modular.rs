//! Montgomery kernels: proved, and right on big integers by `2^n r = a b (mod m)`, which nothing in the
//! tool computes that way.

use std::process::Command;

use lozenge::isa::Isa;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::msp430::cores::Core as Msp430Core;
use lozenge::isa::riscv::cores::Core as RiscvCore;
use lozenge::kernel::{Kernel, Request};
use lozenge::lower::Lower;
use lozenge::spec::modulus::{Modular, Modulus, NAMES, Reduce};
use lozenge::spec::{Alias, Op, Spec, folded};
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

fn request(op: Op, bits: u32, modular: Modular, method: &str, params: &[(&str, usize)]) -> Request {
    Request {
        modular: Some(modular),
        method: Some(method.into()),
        params: params.iter().map(|(n, v)| ((*n).into(), *v)).collect(),
        ..ask::in_any_time(op, bits)
    }
}

/// The result of a kernel against the definition, for `count` and the special operands.
fn right(spec: &Spec, run: impl Fn(&[BigUint]) -> BigUint, count: usize) {
    let n = spec.size.a;
    let modular = spec.modular.as_ref().expect("a modulus");
    for sources in vectors::of(spec, count, u64::from(n)) {
        let m = match modular.fixed() {
            Some(m) => m.clone(),
            None => &sources[spec.op.factors()] % (BigUint::from(1u8) << n),
        };
        let product = match spec.op {
            Op::Tomont => &sources[0] << (2 * n),
            Op::Montsqr => &sources[0] * &sources[0],
            Op::Montmul => &sources[0] * &sources[1],
            _ => sources[0].clone(),
        };
        let got = run(&sources);
        assert_eq!((&got << n) % &m, product % &m, "{sources:x?}: {got:x}");
        let bound = match modular.reduce {
            Reduce::Full => m,
            Reduce::Almost => BigUint::from(1u8) << n,
            Reduce::Lazy => m << 1,
        };
        assert!(got < bound, "{sources:x?}: {got:x} is {bound:x} or more");
    }
}

/// Generates on the ATmega128; proved, and right.
fn kernel(request: &Request) -> Kernel {
    kernel_on::<AvrIsa>(&ATMEGA128, request)
}

fn kernel_on<I: Lower>(core: &I::Core, request: &Request) -> Kernel {
    let made = known::generate(request, &any(core));
    let kernel = made.unwrap_or_else(|e| panic!("{request:?}: {e}"));
    let name = I::core_name(core);
    assert!(kernel.is_proved(), "{name} {request:?}: {:?}", kernel.proof);
    {
        let on = any(core);
        let run = kernel::runs(&kernel.spec, &on, &kernel.code);
        let run = |sources: &[BigUint]| run(sources, Alias::Distinct).expect("runs").0;
        right(&kernel.spec, run, 60);
    }
    kernel
}

/// Moduli of all shapes, integrated and separated, on a machine of 32-bit words.
fn machine_of_32_bits<I: Lower>(core: &I::Core) {
    let full = Reduce::Full;
    let moduli = [
        "0xf123456789abcdef01234567",
        "2^96-2^31-1",
        "0xcd3e*2^80+1",
        "runtime",
        "runtime-bare",
    ];
    for modulus in moduli {
        for reduce in [full, Reduce::Almost] {
            for op in [Op::Montmul, Op::Montsqr, Op::Redc, Op::Tomont, Op::Frommont] {
                kernel_on::<I>(
                    core,
                    &request(op, 96, modular(modulus, reduce), "fips", &[]),
                );
            }
        }
        let method = "product-scanning+sps";
        kernel_on::<I>(
            core,
            &request(Op::Montmul, 96, modular(modulus, full), method, &[]),
        );
    }
    for (bits, modulus) in [
        (192, "p192"),
        (256, "p256"),
        (256, "25519"),
        (160, "opf160"),
    ] {
        kernel_on::<I>(
            core,
            &request(Op::Montmul, bits, modular(modulus, full), "fips", &[]),
        );
    }
    for (reduce, modulus) in [(full, "opf160"), (Reduce::Almost, "opf256")] {
        let bits = modulus[3..].parse().expect("bits");
        let request = request(Op::Montmul, bits, modular(modulus, reduce), "fios", &[]);
        kernel_on::<I>(core, &request);
    }
    let lazy = modular("25519-order", Reduce::Lazy);
    kernel_on::<I>(core, &request(Op::Montmul, 256, lazy, "fips", &[]));
}

#[test]
fn arm_reduces() {
    machine_of_32_bits::<ArmIsa>(&ARM7TDMI);
}

#[test]
fn mips_reduces() {
    let core = |name: &str| MipsCore::named(name).expect("a core");
    machine_of_32_bits::<MipsIsa>(&core("mips-4km"));
}

#[test]
fn names_are_the_numbers_of_the_standards() {
    // openssl prints `p` and the order of the curves it knows.
    let curves = [
        ("prime192v1", "p192"),
        ("secp224r1", "p224"),
        ("prime256v1", "p256"),
        ("secp384r1", "p384"),
        ("secp521r1", "p521"),
        ("secp160r1", "secp160r1"),
        ("secp256k1", "secp256k1"),
    ];
    let number = |name: &str| match name.parse() {
        Ok(Modulus::Fixed { value, .. }) => value,
        other => panic!("{name}: {other:?}"),
    };
    for (curve, name) in curves {
        let args = [
            "ecparam",
            "-name",
            curve,
            "-param_enc",
            "explicit",
            "-text",
            "-noout",
        ];
        let output = Command::new("openssl")
            .args(args)
            .output()
            .expect("openssl runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let field = |from: &str, to: &str| {
            let start = text.find(from).expect("printed") + from.len();
            let end = start + text[start..].find(to).expect("printed");
            let digits = text[start..end].replace([':', ' ', '\n'], "");
            BigUint::parse_bytes(digits.as_bytes(), 16).expect("hexadecimal")
        };
        assert_eq!(number(name), field("Prime:", "A:"), "{name}");
        let order = format!("{name}-order");
        if NAMES.iter().any(|(known, _)| *known == order) {
            assert_eq!(number(&order), field("Order:", "Cofactor:"), "{order}");
        }
    }
    // RFC 7748, section 4.1; Seo, Kim 2014, table 3.
    let hex = |text: &str| BigUint::parse_bytes(text.as_bytes(), 16).expect("hexadecimal");
    let one = BigUint::from(1u8);
    assert_eq!(number("25519"), (&one << 255) - 19u8);
    let order = hex("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed");
    assert_eq!(number("25519-order"), order);
    for (bits, u) in [(160, 52542u32), (192, 55218), (224, 50643), (256, 37266)] {
        let opf = (BigUint::from(u) << (bits - 16)) + 1u8;
        assert_eq!(number(&format!("opf{bits}")), opf);
    }
}

#[test]
fn standard_moduli_and_every_reduction() {
    let full = Reduce::Full;
    let montmul = |bits, modulus, reduce, method, params: &[(&str, usize)]| {
        let modular = modular(modulus, reduce);
        kernel(&request(Op::Montmul, bits, modular, method, params))
    };
    montmul(160, "secp160r1", full, "fips", &[]);
    montmul(160, "secp160r1", full, "operand-caching+sps", &[("e", 9)]);
    let sps = montmul(160, "secp160r1", full, "sps", &[]);
    assert_eq!(sps.method.name, "product-scanning+sps");
    montmul(160, "opf160", full, "fips", &[]);
    montmul(160, "opf160", full, "fios", &[]);
    montmul(192, "opf192", Reduce::Almost, "fios", &[]);
    montmul(
        160,
        "opf160",
        Reduce::Almost,
        "karatsuba+sps",
        &[("levels", 1)],
    );
    montmul(192, "p192", full, "operand-caching+sps", &[("e", 10)]);
    montmul(192, "p192-order", full, "fips", &[]);
    montmul(192, "p192", Reduce::Almost, "fips", &[]);
    montmul(
        256,
        "p256",
        full,
        "consecutive-operand-caching+sps",
        &[("e", 10)],
    );
    montmul(256, "25519", full, "fips", &[]);
    montmul(256, "25519-order", Reduce::Lazy, "fips", &[]);
    montmul(
        264,
        "25519",
        Reduce::Lazy,
        "operand-caching+sps",
        &[("e", 8)],
    );
    montmul(168, "secp160r1-order", full, "fips", &[]);
    for (op, bits, method) in [
        (Op::Montsqr, 160, "fips"),
        (Op::Montsqr, 160, "sps"),
        (Op::Redc, 160, "fips"),
        (Op::Tomont, 160, "fips"),
        (Op::Frommont, 160, "fips"),
    ] {
        kernel(&request(op, bits, modular("opf160", full), method, &[]));
        kernel(&request(
            op,
            bits,
            modular("secp160r1", Reduce::Almost),
            method,
            &[],
        ));
    }
}

#[test]
fn moduli_at_run_time() {
    for reduce in Reduce::ALL {
        for (op, bits) in [
            (Op::Montmul, 40),
            (Op::Montsqr, 64),
            (Op::Redc, 64),
            (Op::Tomont, 64),
            (Op::Frommont, 64),
            (Op::Montmul, 96),
        ] {
            for modulus in ["runtime", "runtime-bare"] {
                kernel(&request(op, bits, modular(modulus, reduce), "fips", &[]));
            }
        }
    }
    let method = "product-scanning+sps";
    kernel(&request(
        Op::Montmul,
        64,
        modular("runtime", Reduce::Full),
        method,
        &[],
    ));
}

/// The differences behind a modulus that folds, with the bits that each takes: as the contract has them.
fn differences(m: &BigUint, d: &BigUint, bits: u32, w: u32) -> Vec<(BigUint, u32)> {
    let one = BigUint::from(1u8);
    let mut list: Vec<(BigUint, u32)> = Vec::new();
    let mut h = bits / 4;
    while 2 * h >= 16 * w && (2 * h).is_multiple_of(2 * w) {
        let mut next = Vec::new();
        let own = [(m, bits), (d, bits)].into_iter();
        for (number, bits) in own.chain(list.iter().map(|(x, bits)| (x, bits - w))) {
            for i in 0..bits / (2 * h) {
                let part = (number >> (2 * h * i)) % (&one << (2 * h));
                let (low, high) = (&part % (&one << h), &part >> h);
                let mask = if high < low {
                    (&one << w) - &one
                } else {
                    BigUint::ZERO
                };
                let difference = ((&one << h) + high - low) % (&one << h);
                next.push((difference + (mask << h), h + w));
            }
        }
        list.extend(next);
        h /= 2;
    }
    list
}

/// A modulus that folds and what follows it, by another way than the tool's; and how many bits that is.
fn folding(m: &BigUint, bits: u32, w: u32) -> (BigUint, u32) {
    let x = BigUint::from(1u8) << (bits / 2);
    let inverse = &x - m.modinv(&x).expect("odd");
    let d = (&x * &x) - m + x.modinv(m).expect("odd");
    let mut operand = m + (inverse << bits) + (&d << (bits + bits / 2));
    let mut at = 2 * bits + bits / 2;
    for (value, bits) in differences(m, &d, bits, w) {
        operand += value << at;
        at += bits;
    }
    (operand, at)
}

/// Reductions that fold, of numbers up to the largest: the modulus is taken, added or neither.
fn folds<I: Lower>(core: &I::Core, words: &[u32]) {
    for words in tier::some(words, 26) {
        let bits = words * I::WORD_BITS;
        let folded = modular("runtime-folded", Reduce::Almost);
        let kernel = kernel_on::<I>(
            core,
            &request(Op::Redc, bits, folded, "folded-karatsuba", &[]),
        );
        let one = BigUint::from(1u8);
        let all = |bits: u32| (&one << bits) - &one;
        let moduli = [
            all(bits),
            all(bits) - 2u8,
            all(bits - 1),
            (&one << (bits - 1)) + &one,
            BigUint::from(3u8),
        ];
        for m in moduli {
            let (operand, at) = folding(&m, bits, I::WORD_BITS);
            assert_eq!(kernel.spec.source_bytes()[1], at as usize / 8);
            let on = any(core);
            let run = kernel::runs(&kernel.spec, &on, &kernel.code);
            for a in [
                all(2 * bits),
                all(2 * bits) - all(bits / 2),
                &m * &m,
                &all(bits) * &all(bits),
                all(bits / 2) << bits,
                BigUint::ZERO,
            ] {
                let sources = [a.clone(), operand.clone()];
                let (got, _) = run(&sources, Alias::Distinct).expect("runs");
                assert_eq!((&got << bits) % &m, &a % &m, "{a:x} modulo {m:x}: {got:x}");
                assert!(got <= all(bits));
            }
        }
    }
}

#[test]
fn a_quarter_is_folded() {
    folds::<AvrIsa>(&ATMEGA128, &[4, 8, 12, 20, 32, 36, 64]);
    // Three levels of differences.
    let m = (BigUint::from(3u8) << 1022) + 0x1234_5677u32;
    let follows = folding(&m, 1024, 8).0 >> 1024;
    assert_eq!(follows, folded::follows(&m, 1024, 8));
    folds::<ArmIsa>(&ARM7TDMI, &[4, 8, 12, 32]);
    folds::<MipsIsa>(
        &MipsCore::named("mips-4km").expect("a core"),
        &[4, 8, 12, 32],
    );
    let runtime = request(
        Op::Redc,
        64,
        modular("runtime", Reduce::Almost),
        "folded-karatsuba",
        &[],
    );
    let made = known::generate(&runtime, &any(&ATMEGA128));
    assert!(made.is_err_and(|e| refused::instead(&e).contains("--modulus runtime-folded")));
    let fips = request(
        Op::Redc,
        64,
        modular("runtime-folded", Reduce::Almost),
        "fips",
        &[],
    );
    let made = known::generate(&fips, &any(&ATMEGA128));
    assert!(made.is_err_and(|e| refused::instead(&e).contains("leave out --method")));
}

#[test]
fn random_moduli_of_every_shape() {
    let mut random = vectors::Random::new(6);
    for words in 1..=9 {
        for _ in 0..4 {
            let mut m = random.structured(words);
            m.set_bit(0, true);
            if m < BigUint::from(3u8) {
                m += 2u8;
            }
            for reduce in [Reduce::Full, Reduce::Almost] {
                let modular = modular(&format!("{m:#x}"), reduce);
                let bits = 8 * words as u32;
                kernel(&request(Op::Montmul, bits, modular, "fips", &[]));
            }
        }
    }
}

#[test]
fn one_reduction_is_not_another() {
    // A kernel proved for one contract is judged by another that it does not keep.
    let judge = |made: Reduce, claimed: Reduce| {
        let kernel = kernel(&request(
            Op::Montmul,
            32,
            modular("0x3fffffdd", made),
            "fips",
            &[],
        ));
        let spec = Spec::with(Op::Montmul, 32, Some(modular("0x3fffffdd", claimed)), 8);
        let spec = spec.expect("a modulus");
        prove::prove(&spec, &any(&ATMEGA128), &kernel.code, Alias::Distinct).correct
    };
    for made in Reduce::ALL {
        assert!(judge(made, made).is_proved(), "{made:?}");
    }
    assert!(!judge(Reduce::Lazy, Reduce::Full).is_proved());
    assert!(!judge(Reduce::Almost, Reduce::Full).is_proved());
    assert!(!judge(Reduce::Lazy, Reduce::Almost).is_proved());
    // Another modulus, of which the kernel knows nothing.
    let kernel = kernel(&request(
        Op::Montmul,
        32,
        modular("0x3fffffdd", Reduce::Full),
        "fips",
        &[],
    ));
    let other = Spec::with(
        Op::Montmul,
        32,
        Some(modular("0x3fffffdf", Reduce::Full)),
        8,
    );
    let proof = prove::prove(
        &other.expect("a modulus"),
        &any(&ATMEGA128),
        &kernel.code,
        Alias::Distinct,
    );
    assert!(!proof.correct.is_proved());
}

#[test]
fn operands_may_coincide() {
    let kernel = kernel(&request(
        Op::Montmul,
        64,
        modular("2^64-59", Reduce::Full),
        "fips",
        &[],
    ));
    let on = any(&ATMEGA128);
    let run = kernel::runs(&kernel.spec, &on, &kernel.code);
    for case in &kernel.aliasing {
        if !case.allowed {
            continue;
        }
        for mut sources in vectors::of(&kernel.spec, 30, 3) {
            let places = case.alias.of(&kernel.spec);
            if places[1] == places[2] {
                sources[1] = sources[0].clone();
            }
            let (got, _) = run(&sources, case.alias).expect("runs");
            assert!(kernel.spec.accepts(&sources, &got), "{:?}", case.alias);
        }
    }
    assert!(
        kernel
            .aliasing
            .iter()
            .any(|c| c.allowed && c.alias == Alias::AIsB)
    );
}

/// Where the result may lie on an operand, nothing waits in it too early: sums and differences are made for both.
#[test]
fn kernels_are_made_for_overlaps() {
    let machines = [
        any(&ATMEGA128),
        any(&ARM7TDMI),
        any(&MipsCore::named("mips-4km").expect("a core")),
        any(RiscvCore::named("rv32im").expect("a core")),
        any(Msp430Core::named("msp430-mpy16").expect("a core")),
        any(Msp430Core::named("msp430x-mpy32").expect("a core")),
    ];
    for core in machines {
        for op in [Op::Modadd, Op::Modsub] {
            let mut request = Request {
                modular: Some(modular("25519", Reduce::Almost)),
                ..ask::of(op, 256)
            };
            request.demands.aliases = vec![Alias::RIsA, Alias::RIsB];
            let kernel = kernel::generate(&request, &core).expect("a kernel");
            assert!(kernel.is_proved(), "{} {}", core.name(), op.name());
        }
    }
}

#[test]
fn moduli_that_do_not_fit_are_refused() {
    let told = |op, bits, modulus: Option<&str>, reduce| {
        let modular = modulus.map(|m| modular(m, reduce));
        let result = Spec::with(op, bits, modular, AvrIsa::WORD_BITS);
        refused::spec(&result.expect_err("refused"))
    };
    let full = Reduce::Full;
    assert!(told(Op::Montmul, 160, None, full).contains("--modulus"));
    assert!(told(Op::Mul, 160, Some("p192"), full).contains("montmul"));
    assert!(told(Op::Montmul, 160, Some("2^160-2"), full).contains("even"));
    assert!(told(Op::Montmul, 160, Some("1"), full).contains("3"));
    assert!(told(Op::Montmul, 160, Some("p192"), full).contains("192 bits"));
    assert!(told(Op::Montmul, 160, Some("65000*2^150+1"), full).contains("168"));
    assert!(told(Op::Redc, 256, Some("25519"), Reduce::Lazy).contains("almost"));
    let folded = Some("runtime-folded");
    assert!(told(Op::Redc, 64, folded, full).contains("--reduce almost"));
    assert!(told(Op::Redc, 72, folded, Reduce::Almost).contains("try 96"));
    assert!(told(Op::Montmul, 64, folded, Reduce::Almost).contains("redc"));
}
