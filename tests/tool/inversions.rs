//! Inverses modulo primes, and X25519: chains, drivers on whole simulated chips, and what a pack of X25519 links to, against big
//! integers, OpenSSL and the vectors of RFC 7748.

use std::path::Path;
use std::process::Command;

use lozenge::driver::build::Built;
use lozenge::driver::chain::{Chain, Step};
use lozenge::driver::x25519::{self, Kernels};
use lozenge::driver::{Driver, inversion};
use lozenge::isa::core::Core;
use lozenge::spec::modulus::Modulus;
use lozenge::target::Target;
use num_bigint::BigUint;
use tempfile::tempdir;

use crate::kit::oracle::{run, source};
use crate::kit::{tier, work};
use crate::tool::packs::{MACHINES, Machine, files, on_simavr, packed};

/// What the steps make of `x^1`, as exponents.
fn reached(chain: &Chain) -> BigUint {
    let mut slots = vec![BigUint::ZERO; chain.slots];
    slots[0] = 1u8.into();
    let mut number = BigUint::ZERO;
    for step in &chain.steps {
        match step {
            Step::Load(slot) => number = slots[*slot].clone(),
            Step::Square(times) => number <<= *times,
            Step::Multiply(slot) => number += &slots[*slot],
            Step::Save(slot) => slots[*slot] = number.clone(),
            Step::Ones(times) => (0..*times).for_each(|_| number = &number * 2u8 + 1u8),
        }
    }
    number
}

#[test]
fn chains_reach_their_exponents() {
    let one = BigUint::from(1u8);
    for exponent in 1..tier::times(1000) {
        let exponent = exponent.into();
        assert_eq!(reached(&Chain::to(&exponent)), exponent);
        assert_eq!(reached(&Chain::bit_by_bit(&exponent)), exponent);
    }
    for bits in [64, 65, 127, 128, 160, 224, 255, 256, 384, 521] {
        for less in [1u32, 2, 3, 19, 21, 977, 0xdead_beef] {
            let exponent = (&one << bits) - less;
            assert_eq!(reached(&Chain::to(&exponent)), exponent);
            let exponent = (&one << bits) + less;
            assert_eq!(reached(&Chain::to(&exponent)), exponent);
            assert_eq!(reached(&Chain::bit_by_bit(&exponent)), exponent);
        }
    }
    // Bernstein's chain for 2^255 - 21 has 254 squares and 11 products.
    let chain = Chain::to(&((&one << 255) - 21u8));
    assert!((265..=268).contains(&(chain.squares() + chain.products())));
}

fn core(name: &str) -> Core {
    Target::core(name).expect("a core").to_core()
}

/// Divides 1 by numbers modulo a prime of the field, or of the order.
fn divides(name: &str, modulus: &str, bits: u32) {
    let core = core(name);
    let fixed: Modulus = modulus.parse().expect("a modulus");
    let Modulus::Fixed { value, .. } = &fixed else {
        panic!("{modulus} is no number");
    };
    let empty = Driver::modulo(core.word_bits() as usize / 8, fixed.clone());
    let driver = inversion::driver(empty, bits).expect("a driver");
    let built = Built::new(driver, &core, |_| {}).unwrap_or_else(|e| panic!("{modulus}: {e}"));
    let mut random = tier::random(41);
    let one = BigUint::from(1u8);
    let mut cycles = Vec::new();
    for base in [
        BigUint::ZERO,
        one.clone(),
        value - &one,
        random.uniform(bits as usize / 8) % value,
    ] {
        let inputs = [("base", base.clone())];
        let ran = built
            .image
            .run(&core, &built.driver, &inputs, &mut |_, _| {});
        let (outputs, cost) = ran.unwrap_or_else(|e| panic!("{modulus}: {e}"));
        let want = base.modinv(value).unwrap_or_default();
        assert_eq!(outputs, [("result", want)], "{modulus}: {base:x}");
        cycles.push(cost.call.max);
    }
    assert!(cycles.iter().all(|c| *c == cycles[0]), "{cycles:?}");
    let shown = built.constant_time(&core, false);
    let own = shown
        .iter()
        .find(|(known, _)| *known == core.name())
        .expect("a verdict");
    assert_eq!(own.1, Ok(()), "{name} {modulus}");
}

#[test]
fn numbers_are_divided_modulo_primes() {
    let cases = [
        ("atmega128", "25519", 256),
        ("atmega128", "secp160r1", 160),
        ("arm7tdmi", "p256", 256),
        ("mips-4km", "p256-order", 256),
        ("rv32im", "25519-order", 256),
        ("rv32im", "p384", 384),
        ("msp430-mpy16", "25519", 256),
        ("msp430x-mpy32", "p256", 256),
        ("atmega128", "0x9e3779b1", 32),
    ];
    work::each(&tier::some(cases, 42), |(core, modulus, bits)| {
        divides(core, modulus, *bits)
    });
}

/// A number of 32 bytes, the lowest first.
pub(super) fn number(hex: &str) -> BigUint {
    let byte = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).expect("a byte");
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    BigUint::from_bytes_le(&bytes)
}

fn bytes(number: &BigUint) -> [u8; 32] {
    let mut bytes = number.to_bytes_le();
    bytes.resize(32, 0);
    bytes.try_into().expect("32 bytes")
}

/// What RFC 7748, section 5.2, prints: scalar, u, and the result.
pub(super) const RFC: [[&str; 3]; 2] = [
    [
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
    ],
    [
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a413",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
    ],
];

/// The same after 1 and after 1,000 iterations, from 9 and 9.
const ONCE: &str = "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079";
const THOUSAND: &str = "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51";

/// Numbers at the edges: of small order on the curve and its twist, above the prime, and its multiples (Bernstein's list).
pub(super) fn edges() -> Vec<BigUint> {
    let p: BigUint = (BigUint::from(1u8) << 255) - 19u8;
    let order8 = [
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ];
    let mut list: Vec<_> = order8.map(number).to_vec();
    let around = |x: BigUint| [&x - 1u8, x.clone(), x + 1u8];
    list.extend([0u8, 1, 2, 9].map(BigUint::from));
    list.extend(around(p.clone()));
    list.push(&p + 18u8);
    list.extend(around(&p * 2u8));
    list.push((BigUint::from(1u8) << 256) - 1u8);
    list
}

/// OpenSSL's X25519 of bytes; none where it refuses a result of 0.
fn openssl(folder: &Path, scalar: &BigUint, u: &BigUint) -> Option<BigUint> {
    // RFC 8410: the DER of a private and of a public key before their 32 bytes.
    const PRIVATE: [u8; 16] = [
        0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 0x22, 4, 0x20,
    ];
    const PUBLIC: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 3, 0x21, 0];
    let write = |name: &str, parts: [&[u8]; 2]| std::fs::write(folder.join(name), parts.concat());
    write("private.der", [&PRIVATE, &bytes(scalar)]).expect("written");
    write("public.der", [&PUBLIC, &bytes(u)]).expect("written");
    let line = "pkeyutl -derive -inkey private.der -keyform DER -peerkey public.der -peerform DER -out secret";
    let output = Command::new("openssl")
        .args(line.split(' '))
        .current_dir(folder)
        .output();
    let output = output.expect("openssl runs");
    output.status.success().then(|| {
        let secret = std::fs::read(folder.join("secret")).expect("a secret");
        BigUint::from_bytes_le(&secret)
    })
}

/// The big integers that everything else is held against are held against OpenSSL, and the RFC.
#[test]
fn the_ladder_in_big_integers_is_right() {
    for [scalar, u, want] in RFC {
        assert_eq!(x25519::value(&number(scalar), &number(u)), number(want));
    }
    let nine = BigUint::from(9u8);
    assert_eq!(x25519::value(&nine, &nine), number(ONCE));
    let folder = tempdir().expect("a folder");
    let mut random = tier::random(43);
    let random_u = (0..tier::times(10)).map(|_| random.uniform(32));
    let us: Vec<_> = random_u.collect();
    for u in us.into_iter().chain(tier::some(edges(), 44)) {
        let scalar = random.uniform(32);
        let masked = &u % (BigUint::from(1u8) << 255);
        let want = x25519::value(&scalar, &masked);
        let got = openssl(folder.path(), &scalar, &u);
        // OpenSSL refuses a secret of 0.
        assert_eq!(got.unwrap_or_default(), want, "{scalar:x} {u:x}");
    }
}

/// Cycles, bytes of flash and of RAM in print are what a run takes; results are right, and no number shows in time.
#[test]
fn x25519_takes_what_the_table_says() {
    let text = std::fs::read_to_string("tests/paper/x25519.toml").expect("a table");
    let table: toml::Table = text.parse().expect("TOML");
    let rows = table["row"].as_array().expect("rows").clone();
    work::each(&tier::some(rows, 45), |row| {
        let name = row["core"].as_str().expect("a core");
        let core = core(name);
        let figure = |key: &str| row[key].as_integer().expect("a number") as u64;
        let most = row
            .get("most")
            .map(|most| most.as_integer().expect("bytes") as usize);
        let kernels = if most.is_some() {
            Kernels::Few
        } else {
            Kernels::All
        };
        let driver = x25519::driver(core.word_bits() as usize / 8, kernels).expect("a driver");
        let built = match most {
            Some(most) => Built::within(driver, &core, most, |_| {}),
            None => Built::new(driver, &core, |_| {}),
        };
        let built = built.unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut random = tier::random(46);
        let mut cases: Vec<_> = RFC.map(|[scalar, u, _]| [scalar, u].map(number)).to_vec();
        let us = tier::some(edges(), 47).into_iter();
        cases.extend(us.map(|u| [random.uniform(32), u]));
        cases.truncate(tier::of([1, 4, 40]));
        for [scalar, u] in cases {
            let inputs = [("scalar", scalar.clone()), ("u", u.clone())];
            let ran = built
                .image
                .run(&core, &built.driver, &inputs, &mut |_, _| {});
            let (outputs, cost) = ran.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(
                outputs,
                [("result", x25519::value(&scalar, &u))],
                "{name}: {scalar:x} {u:x}"
            );
            let ram = (built.driver.bytes + cost.stack.total()) as u64;
            let got = [cost.call.max, built.image.code.len() as u64, ram];
            assert_eq!(got, ["cycles", "flash", "ram"].map(figure), "{name}");
        }
        let shown = built.constant_time(&core, false);
        let own = shown
            .iter()
            .find(|(known, _)| *known == core.name())
            .expect("a verdict");
        assert_eq!(own.1, Ok(()), "{name}");
    });
}

/// All instructions of the program are followed with secret numbers, of kernels, too; a kernel that leaks is found so.
#[test]
fn the_whole_of_x25519_is_in_constant_time() {
    for (name, leaks) in tier::some([("rv32im", false), ("arm7tdmi", true)], 48) {
        let core = core(name);
        let mut driver = x25519::driver(4, Kernels::All).expect("a driver");
        if leaks {
            let demands = lozenge::request::Demands::variable_time();
            driver
                .kernels
                .iter_mut()
                .for_each(|kernel| kernel.demands = demands.clone());
        }
        let built = Built::new(driver, &core, |_| {}).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(built.whole_constant_time(&core).is_err(), leaks, "{name}");
    }
}

/// A program of the pack's function: `times` iterations of RFC 7748, section 5.2, from 9 and 9, printed as bytes.
fn iterated(times: u32) -> String {
    format!(
        "#include <stdint.h>\n#include \"x25519.h\"\nint sys_write(int, const char *, unsigned);\nvoid *current;\n\
         int main(void)\n{{\n\tuint8_t k[32] = {{9}}, u[32] = {{9}}, r[32];\n\
         \tfor (unsigned n = 0; n < {times}; n++) {{\n\t\tx25519(r, k, u);\n\
         \t\tfor (unsigned i = 0; i < 32; i++)\n\t\t\tu[i] = k[i], k[i] = r[i];\n\t}}\n\
         \tsys_write(1, (const char *)k, 32);\n\treturn 0;\n}}\n"
    )
}

/// The pack's own test, of kernels, too, on simavr.
#[test]
fn a_pack_of_x25519_tests_itself_on_an_avr() {
    let folder = packed(&["pack", "x25519", "--mcu", "atmega128"]);
    let program = folder.path().join("selftest.elf");
    run(Command::new("avr-gcc")
        .args(["-mmcu=atmega128", "-Os", "-Wall", "-Wextra", "-Werror"])
        .args(["selftest.c", "x25519.c"])
        .args(files(folder.path(), ".o"))
        .arg("-o")
        .arg(&program)
        .current_dir(folder.path()));
    let told = on_simavr(&program);
    assert!(
        told.contains("x25519 ok") && told.contains("PASS"),
        "{told}"
    );
}

/// So many iterations of the RFC on QEMU end in `want`.
fn iterates((core, gcc, flags, runtime, qemu): Machine, times: u32, want: &str) {
    const BARE: [&str; 8] = [
        "-nostdlib",
        "-static",
        "-ffreestanding",
        "-Wl,-e,_start",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
    ];
    let folder = packed(&["pack", "x25519", "--core", core]);
    let folder = folder.path();
    std::fs::write(folder.join("iterated.c"), iterated(times)).expect("written");
    let program = folder.join("iterated.elf");
    run(Command::new(gcc)
        .args(flags)
        .args(BARE)
        .args(["iterated.c", "x25519.c"])
        .arg(source(runtime))
        .args(files(folder, ".o"))
        .args(["-lgcc", "-o"])
        .arg(&program)
        .current_dir(folder));
    let told = run(Command::new(qemu).arg(program)).stdout;
    assert_eq!(BigUint::from_bytes_le(&told), number(want), "{core}");
}

/// The pack's files, compiled and linked by others: a thousand iterations on one machine, one on the others.
#[test]
fn a_pack_of_x25519_is_right_where_it_is_linked() {
    for (i, machine) in tier::some(MACHINES, 49).into_iter().enumerate() {
        match i == 0 && tier::of([false, true, true]) {
            true => iterates(machine, 1000, THOUSAND),
            false => iterates(machine, 1, ONCE),
        }
    }
}
