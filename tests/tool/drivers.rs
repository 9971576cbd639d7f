//! Exponentiations on whole simulated chips: against big integers, on structured numbers.

use lozenge::driver::build::{Built, Error};
use lozenge::driver::exponentiation::{self, Ladder};
use lozenge::driver::modulo::{Modulo, Products, copy};
use lozenge::driver::numbers::{Power, with_inverse};
use lozenge::driver::{Driver, Role};
use lozenge::isa::arm::cores::{ARM7TDMI, ARM7TDMI_HW2018};
use lozenge::isa::avr::cores::{ATMEGA128, ATMEGA2560};
use lozenge::isa::core::Core;
use lozenge::isa::mips::cores::CORES as MIPS;
use lozenge::isa::msp430::cores::Core as Msp430Core;
use lozenge::isa::riscv::cores::Core as RiscvCore;
use lozenge::kernel::Kernel;
use lozenge::spec::modulus::Modulus;
use lozenge::vectors::Random;
use num_bigint::BigUint;
use serde_json::Value;

use crate::kit::{any, tier};

const LADDERS: [Ladder; 8] = [
    Ladder::Binary,
    Ladder::Window(1),
    Ladder::Window(3),
    Ladder::Window(4),
    Ladder::Sliding(1),
    Ladder::Sliding(3),
    Ladder::Sliding(6),
    Ladder::Montgomery,
];

fn built(core: &Core, bits: u32, exponent_bits: u32, ladder: Ladder, products: Products) -> Built {
    let word = core.word_bits() as usize / 8;
    let mut driver = exponentiation::driver(word, bits, exponent_bits, ladder, products);
    for kernel in &mut driver.kernels {
        if products == Products::Montgomery {
            kernel.method = Some("fips".into());
        }
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
        let exponents = [
            full(exponent_bits),
            one.clone(),
            random.uniform(16) % full(exponent_bits) + 1u8,
        ];
        let bases = [
            BigUint::ZERO,
            one.clone(),
            &modulus - 1u8,
            random.uniform(bits as usize / 8) % &modulus,
        ];
        for (i, exponent) in exponents.into_iter().enumerate() {
            let base = bases[i + (list.len() & 1)].clone();
            let modulus = modulus.clone();
            list.push(Power {
                base,
                exponent,
                modulus,
            });
        }
    }
    list
}

fn agrees(core: &Core, bits: u32, exponent_bits: u32, ladder: Ladder, products: Products) {
    let built = built(core, bits, exponent_bits, ladder, products);
    let mut cycles = Vec::new();
    for power in powers(bits, exponent_bits) {
        power
            .check(bits, exponent_bits)
            .expect("numbers of the right size");
        let inputs = power.inputs(&built.driver);
        let (outputs, cost) = built
            .image
            .run(core, &built.driver, &inputs, &mut |_, _| {})
            .unwrap_or_else(|e| panic!("{ladder}: {e}"));
        assert_eq!(outputs, [("result", power.value())], "{ladder}: {power:x?}");
        cycles.push(cost.call.max);
    }
    // What is said to be left of a long run counts kernels alone.
    if bits >= 512 {
        let share = built.estimate() / cycles[0] as f64;
        assert!((0.5..1.0).contains(&share), "{ladder}: {share}");
    }
    // Where the kernels take constant time.
    let leaks = |name: &str| {
        let of = |k: &Kernel| {
            k.constant_time
                .iter()
                .any(|(n, t)| n == name && t.leak.is_some())
        };
        built.kernels.iter().any(of)
    };
    if ladder.is_constant_time() && !leaks(&core.name()) {
        let first = cycles[0];
        assert!(cycles.iter().all(|c| *c == first), "{ladder}: {cycles:?}");
    }
    for (name, verdict) in built.constant_time(core, false) {
        let want = ladder.is_constant_time() && !leaks(&name);
        assert_eq!(verdict.is_ok(), want, "{ladder} on {name}: {verdict:?}");
    }
    for (name, verdict) in built.constant_time(core, true) {
        assert_eq!(
            verdict.is_ok(),
            !leaks(&name),
            "{ladder} on {name}: {verdict:?}"
        );
    }
}

/// Modulo a number that is in the kernels, and no operand.
fn agrees_modulo(core: &Core, modulus: &str, bits: u32, ladder: Ladder) {
    let fixed: Modulus = modulus.parse().expect("a modulus");
    let empty = Driver::modulo(core.word_bits() as usize / 8, fixed.clone());
    let mut driver = exponentiation::modulo(empty, bits, 40, ladder, Products::Montgomery);
    for kernel in &mut driver.kernels {
        kernel.method = Some("fips".into());
    }
    assert!(driver.named("modulus").is_none() && driver.named("m").is_none());
    let built = Built::new(driver, core, |_| {}).unwrap_or_else(|e| panic!("{modulus}: {e}"));
    let Modulus::Fixed { value, .. } = fixed else {
        panic!("{modulus} is no number");
    };
    let mut random = Random::new(5);
    for base in [
        BigUint::ZERO,
        &value - 1u8,
        random.uniform(bits as usize / 8) % &value,
    ] {
        let power = Power {
            base,
            exponent: random.uniform(5) | BigUint::from(1u8),
            modulus: value.clone(),
        };
        let inputs = power.inputs(&built.driver);
        let ran = built
            .image
            .run(core, &built.driver, &inputs, &mut |_, _| {});
        let (outputs, _) = ran.unwrap_or_else(|e| panic!("{modulus}: {e}"));
        assert_eq!(
            outputs,
            [("result", power.value())],
            "{modulus}: {power:x?}"
        );
    }
}

#[test]
fn a_known_modulus_is_in_the_kernels() {
    agrees_modulo(
        &any(&ATMEGA128),
        "0xd3c21bcecceda101",
        64,
        Ladder::Window(3),
    );
    agrees_modulo(&any(&ATMEGA128), "opf160", 160, Ladder::Sliding(3));
    agrees_modulo(&any(&ARM7TDMI), "p256", 256, Ladder::Montgomery);
    agrees_modulo(&any(&MIPS[0]), "2^255-19", 256, Ladder::Binary);
    let msp430 = any(Msp430Core::named("msp430x-mpy32").expect("a core"));
    agrees_modulo(&msp430, "p256", 256, Ladder::Window(3));
}

/// Kernels give way to smaller ones until all is within the budget, or it says what would be.
#[test]
fn a_driver_keeps_a_budget() {
    let size = |most: Option<usize>| {
        let mut driver =
            exponentiation::driver(4, 512, 512, Ladder::Window(4), Products::Montgomery);
        for kernel in &mut driver.kernels {
            kernel.method = Some("fips".into());
        }
        let built = match most {
            Some(most) => Built::within(driver, &any(&MIPS[0]), most, |_| {}),
            None => Built::new(driver, &any(&MIPS[0]), |_| {}),
        };
        built.map(|built| built.image.code.len())
    };
    let whole = size(None).expect("a driver");
    assert_eq!(size(Some(whole)).expect("as it is"), whole);
    let half = size(Some(whole / 2)).expect("loops");
    assert!(half <= whole / 2);
    let Err(refused) = size(Some(3000)) else {
        panic!("a driver in 3000 bytes");
    };
    let Error::Flash { wanted, .. } = refused else {
        panic!("{refused}");
    };
    assert!(size(Some(wanted)).expect("what it says to try") <= wanted);
}

#[test]
fn avr_agrees_with_big_integers() {
    for ladder in tier::part(LADDERS, 2, 22) {
        for products in [Products::Montgomery, Products::Composed] {
            agrees(&any(&ATMEGA128), 64, 37, ladder, products);
        }
    }
    agrees(
        &any(&ATMEGA2560),
        160,
        24,
        Ladder::Window(5),
        Products::Montgomery,
    );
    for ladder in tier::part(LADDERS, 2, 22) {
        agrees(&any(&ATMEGA128), 64, 37, ladder, Products::Folded);
    }
}

#[test]
fn arm_agrees_with_big_integers() {
    for ladder in tier::part(LADDERS, 2, 22) {
        agrees(&any(&ARM7TDMI), 64, 37, ladder, Products::Montgomery);
        agrees(&any(&ARM7TDMI_HW2018), 160, 24, ladder, Products::Composed);
    }
    let window = Ladder::Window(4);
    agrees(&any(&ARM7TDMI), 512, 40, window, Products::Composed);
    // Where products take as long as is said of them, which is nearly all. So long a modulus has differences behind it.
    agrees(&any(&ARM7TDMI_HW2018), 1024, 40, window, Products::Folded);
}

#[test]
fn mips_agrees_with_big_integers() {
    for ladder in tier::part(LADDERS, 2, 23) {
        agrees(&any(&MIPS[0]), 64, 37, ladder, Products::Montgomery);
        let big = MIPS[2].clone().big_endian();
        agrees(&any(&big), 160, 24, ladder, Products::Composed);
    }
    let long = [(512, Products::Composed), (1024, Products::Folded)];
    for (bits, products) in tier::some(long, 24) {
        agrees(&any(&MIPS[1]), bits, 40, Ladder::Window(4), products);
    }
}

#[test]
fn riscv_agrees_with_big_integers() {
    let core = |name: &str| RiscvCore::named(name).expect("a core");
    for ladder in tier::part(LADDERS, 2, 22) {
        agrees(&any(core("rv32imc")), 64, 37, ladder, Products::Montgomery);
        agrees(&any(core("rv32im")), 160, 24, ladder, Products::Composed);
    }
}

/// With multipliers of 16 and of 32 bits.
#[test]
fn msp430_agrees_with_big_integers() {
    let core = |name: &str| any(Msp430Core::named(name).expect("a core"));
    let (plain, extended) = (core("msp430-mpy16"), core("msp430x-mpy32"));
    for ladder in tier::part(LADDERS, 2, 23) {
        agrees(&plain, 64, 37, ladder, Products::Montgomery);
        agrees(&extended, 64, 37, ladder, Products::Montgomery);
        agrees(&extended, 160, 24, ladder, Products::Composed);
        agrees(&plain, 64, 37, ladder, Products::Folded);
    }
    let window = Ladder::Window(4);
    agrees(&plain, 512, 40, window, Products::Composed);
    agrees(&extended, 512, 40, window, Products::Folded);
    // Kernels for an MPY16 write MAC from a register right behind OP2. That takes 4 cycles, and 3 on a CPUX, and an MPY32 is at work
    // for 4 (SLAU208, table 25-6).
    let built = built(&plain, 64, 37, window, Products::Montgomery);
    let verdicts = built.constant_time(&plain, false).into_iter();
    let unknown: Vec<_> = verdicts.filter(|(_, verdict)| verdict.is_err()).collect();
    let [(name, Err(told))] = &unknown[..] else {
        panic!("{unknown:?}");
    };
    assert_eq!(name, "msp430x-mpy32");
    let early = "the multiplier is written while a product is on its way";
    assert!(!told.known && told.text.contains(early), "{}", told.text);
}

/// One product of the composed kind, `result = x y / 2^n mod m`, on numbers whose product has halves of 0 or of ones.
fn composed_products_agree(core: &Core, bits: u32) {
    let mut d = Driver::new(core.word_bits() as usize / 8);
    let mut field = |name, role| d.field(name, bits, role, "");
    let (x, y) = (field("first", Role::Input), field("second", Role::Input));
    let result = field("result", Role::Output);
    let m = exponentiation::modulus(&mut d, "m", Products::Composed, bits);
    let e = Modulo::new(&mut d, Products::Composed, bits);
    let mut steps = e.modulo(m);
    steps.extend([copy(e.x, x), copy(e.y, y)]);
    steps.extend(e.multiply());
    steps.push(copy(result, e.x));
    d.routines[0] = steps;
    let built = Built::new(d, core, |_| {}).expect("a driver");
    let mut random = Random::new(9);
    let (one, half) = (BigUint::from(1u8), bits / 2);
    let ones = |bits: u32| (&one << bits) - 1u8;
    let mut number = || random.uniform(bits as usize / 8);
    let numbers = [
        BigUint::ZERO,
        one.clone(),
        ones(bits),
        ones(half),
        ones(half) << half,
        &one << half,
        &one << (bits - 1),
        number() >> half << half,
        number() >> half,
        number() >> (3 * bits / 4) << (3 * bits / 4),
        number(),
    ];
    let moduli = [
        ones(bits),
        ones(bits) - (&one << half),
        (&one << (bits - 1)) + 1u8,
        (ones(half) << half) + 1u8,
        BigUint::from(3u8),
        number() | &one,
        number() | &one | &one << (bits - 1),
    ];
    for m in &moduli {
        let back = (&one << bits).modinv(m).expect("odd");
        for (i, a) in numbers.iter().enumerate() {
            for b in &numbers[i..] {
                let inputs = [
                    ("first", a.clone()),
                    ("second", b.clone()),
                    ("m", with_inverse(m, bits, &built.driver, "m")),
                ];
                let run = built
                    .image
                    .run(core, &built.driver, &inputs, &mut |_, _| {});
                let (outputs, _) = run.expect("no fault");
                let want = a * b * &back % m;
                assert_eq!(&outputs[0].1 % m, want, "{a:#x} * {b:#x} mod {m:#x}");
            }
        }
    }
}

#[test]
fn composed_products_agree_at_the_edges() {
    let machines: [fn(); 5] = [
        || composed_products_agree(&any(&ATMEGA128), 128),
        || composed_products_agree(&any(&ATMEGA128), 72),
        || composed_products_agree(&any(&ARM7TDMI), 512),
        || composed_products_agree(&any(&MIPS[1]), 512),
        || {
            composed_products_agree(
                &any(Msp430Core::named("msp430-mpy16").expect("a core")),
                128,
            )
        },
    ];
    tier::some(machines, 23)
        .into_iter()
        .for_each(|agrees| agrees());
}

/// Großschädl and Kamendje 2003, section 6, as `tests/paper/exponentiation.toml` says.
#[test]
fn the_papers_exponentiation_runs() {
    let table = include_str!("../paper/exponentiation.toml");
    let table: toml::Value = toml::from_str(table).expect("TOML");
    for row in table["run"].as_array().expect("rows") {
        let extension = row.get("extension").and_then(toml::Value::as_str);
        let extension = extension.map_or(String::new(), |words| format!("--isa-ext {words}"));
        for how in ["loops", "binary", "window", "sliding"] {
            let Some(cycles) = row.get(how).and_then(toml::Value::as_integer) else {
                continue;
            };
            let how = match how {
                "loops" => "binary --style rolled -p unroll=1",
                other => other,
            };
            let output = lozenge(&format!(
                "run modexp 1024 --core mips-4km-32x16 --method fips --json {extension} --exponentiation {how}"
            ));
            let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(report["cycles"], cycles, "{extension} {how}");
            // Half the bits of its random exponent are ones, give or take a few.
            let exponent = report["exponent"].as_str().expect("hexadecimal");
            let ones = |c: char| c.to_digit(16).expect("a digit").count_ones();
            let ones: u32 = exponent[2..].chars().map(ones).sum();
            assert!((496..=528).contains(&ones), "{ones} ones");
        }
    }
}

fn lozenge(line: &str) -> std::process::Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(line.split_whitespace())
        .output()
        .expect("lozenge runs")
}

/// What makes no sense is one line, exit code 2, and no file.
#[test]
fn wrong_use_is_one_line() {
    let folder = std::env::temp_dir().join(format!("lozenge-drivers-{}", std::process::id()));
    let out = folder.display();
    let cases = [
        ("run modexp 64 --mcu atmega328p --modulus 1000", "even"),
        ("run modexp 64 --mcu atmega328p --modulus 1", "too small"),
        (
            "run modexp 64 --mcu atmega328p --modulus 0x10000000000000001",
            "65 bits",
        ),
        (
            "run modexp 64 --mcu atmega328p --modulus 7 --base 7",
            "less than the modulus: try 0x0",
        ),
        (
            "run modexp 64 --mcu atmega328p --exponent 0",
            "exponent is 0",
        ),
        (
            "run modexp 64 --mcu atmega328p --exponent-bits 8 --exponent 256",
            "exponent has 9 bits",
        ),
        (
            "run modexp 64 --mcu atmega328p --p 7",
            "modexp takes no --p, but --base",
        ),
        ("run modexp 60 --mcu atmega328p", "try 56 or 64"),
        ("run modexp 4294967295 --mcu atmega328p", "largest operand"),
        (
            "run modexp 64 --mcu atmega328p -p window=9",
            "try -p window=4",
        ),
        (
            "run modexp 64 --mcu atmega328p --method karatsuba",
            "computes none",
        ),
        (
            "run rsa 64 --mcu atmega328p --p 0x80000001 --q 3",
            "q has 2 bits",
        ),
        (
            "run rsa 64 --mcu atmega328p --p 0x80000002 --q 0xc0000001",
            "p is even",
        ),
        ("run rsa 64 --mcu atmega328p --dp 5", "dp does not belong"),
        ("run rsa 64 --mcu atmega328p --dq 5", "dq does not belong"),
        (
            "run rsa 64 --mcu atmega328p --qinv 5",
            "qinv does not belong",
        ),
        (
            "run rsa 64 --mcu atmega328p --input 0xffffffffffffffff",
            "less than p q",
        ),
        ("run rsa 72 --mcu atmega328p", "try 32 or 40"),
        ("run rsa-public 64 --mcu atmega328p --modulus 1000", "even"),
        ("gen modexp 64x32 --mcu atmega328p", "one size"),
        ("gen modexp 64 --mcu atmega328p --modulus p256", "256 bits"),
        ("gen modexp 64 --mcu atmega328p --modulus 1000", "even"),
        ("gen modexp 64 --mcu atmega328p --modulus 1", "modulus"),
        (
            "gen rsa 64 --mcu atmega328p --modulus 1001",
            "leave out --modulus",
        ),
        (
            "gen modexp 64 --mcu atmega328p --modulus 1001 --products composed",
            "leave out --products",
        ),
        (
            "gen modexp 64 --core mips-4km --method fips --max-flash 1k",
            "no driver within 1024 bytes of flash",
        ),
        ("gen mul 64 --mcu atmega328p --max-flash 8m", "8k"),
        (
            "gen modexp 64 --mcu atmega328p --exponent-bits 0",
            "try --exponent-bits",
        ),
        (
            "gen modexp 64 --mcu atmega328p --exponentiation slide",
            "try window, sliding, binary or montgomery",
        ),
        ("gen modexp 64 --mcu atmega328p --abi iar", "no drivers"),
        (
            "gen modexp 1024 --mcu msp430f5529 --products montgomery --method fips --style unrolled",
            ": try --max-flash 47k",
        ),
        (
            "gen rsa-public 64 --mcu atmega328p --exponentiation binary",
            "65537",
        ),
        (
            "gen mul 64 --mcu atmega328p --exponent public",
            "mul has no exponent",
        ),
    ];
    for (line, want) in cases {
        let line = match line.starts_with("gen") {
            true => format!("{line} -o {out}"),
            false => line.to_string(),
        };
        let output = lozenge(&line);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {text}");
        assert_eq!(text.trim_end().lines().count(), 1, "{line}: {text}");
        assert!(text.contains(want), "{line}: {text}");
        assert!(output.stdout.is_empty() && !folder.exists(), "{line}");
    }
}
