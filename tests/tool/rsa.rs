//! RSA on simulated chips: a key of OpenSSL's makes a signature, on simavr too, and OpenSSL verifies it.

use std::path::Path;
use std::process::{Command, Output};

use lozenge::driver::exponentiation::Ladder;
use lozenge::driver::modulo::Products;
use lozenge::driver::numbers::{Inputs, Power};
use lozenge::driver::rsa::{self, Key};
use lozenge::driver::{Driver, exponentiation};
use lozenge::vectors::Random;
use num_bigint::BigUint;
use object::{Object, ObjectSymbol};
use serde_json::Value;
use tempfile::tempdir;

use crate::kit::oracle::{SIMAVR, built, lozenge, run};

fn openssl(folder: &Path, line: &str) -> Output {
    run(Command::new("openssl")
        .args(line.split_whitespace())
        .current_dir(folder))
}

/// A number in the text of a key: lines of bytes after its name.
fn number(text: &str, name: &str) -> BigUint {
    let rest = text
        .split(&format!("{name}:\n"))
        .nth(1)
        .expect("a number of the key");
    let lines = rest.lines().take_while(|l| l.starts_with(' '));
    let digits: String = lines
        .flat_map(str::chars)
        .filter(char::is_ascii_hexdigit)
        .collect();
    BigUint::parse_bytes(digits.as_bytes(), 16).expect("hexadecimal")
}

/// A key of OpenSSL's, which stays in the folder.
fn key(folder: &Path, bits: u32) -> Key {
    openssl(folder, &format!("genrsa -out key.pem {bits}"));
    openssl(folder, "rsa -in key.pem -pubout -out public.pem");
    let text = openssl(folder, "rsa -in key.pem -noout -text").stdout;
    let text = String::from_utf8(text).expect("text");
    Key {
        p: number(&text, "prime1"),
        q: number(&text, "prime2"),
        e: 65537u32.into(),
        dp: Some(number(&text, "exponent1")),
        dq: Some(number(&text, "exponent2")),
        qinv: Some(number(&text, "coefficient")),
    }
}

/// What is signed of a message: RFC 8017, section 9.2, with SHA-256.
fn encoded(folder: &Path, bits: u32) -> BigUint {
    const SHA256: [u8; 19] = [
        0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01,
        0x05, 0x00, 0x04, 0x20,
    ];
    std::fs::write(folder.join("message"), "a simulated chip signs").expect("a file");
    let digest = openssl(folder, "dgst -sha256 -binary message").stdout;
    let mut bytes = vec![0, 1];
    bytes.resize(bits as usize / 8 - 1 - SHA256.len() - digest.len(), 0xff);
    bytes.push(0);
    bytes.extend(SHA256.iter().chain(&digest));
    BigUint::from_bytes_be(&bytes)
}

fn verifies(folder: &Path, bits: u32, signature: &BigUint) {
    let bytes = signature.to_bytes_be();
    let mut whole = vec![0; bits as usize / 8 - bytes.len()];
    whole.extend(bytes);
    std::fs::write(folder.join("signature"), whole).expect("a file");
    let told = openssl(
        folder,
        "dgst -sha256 -verify public.pem -signature signature message",
    );
    assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), "Verified OK");
}

fn list(value: &BigUint, bytes: usize) -> String {
    let mut list = value.to_bytes_le();
    list.resize(bytes, 0);
    let list: Vec<_> = list.iter().map(u8::to_string).collect();
    list.join(",")
}

/// What is in `folder` linked by avr-gcc and called on simavr: cycles, stack, and the result.
fn on_simavr(
    folder: &Path,
    mcu: &str,
    driver: &Driver,
    symbol: &str,
    inputs: &Inputs,
) -> (String, BigUint) {
    let fields: Vec<_> = inputs
        .iter()
        .map(|(name, value)| {
            let bytes = driver.named(name).expect("a field").place.bytes;
            format!(".{name} = {{{}}}", list(value, bytes))
        })
        .collect();
    let program = format!(
        "#include \"{symbol}.h\"\nstruct {symbol} numbers = {{ {} }};\n\
         __attribute__((noinline)) void flush(void) {{ __asm__ volatile(\"\" ::: \"memory\"); }}\n\
         __attribute__((noinline)) void done(void) {{ for (;;) __asm__ volatile(\"\" ::: \"memory\"); }}\n\
         int main(void) {{ {symbol}(&numbers); flush(); done(); }}\n",
        fields.join(", ")
    );
    std::fs::write(folder.join("main.c"), program).expect("a file");
    let files = std::fs::read_dir(folder).expect("the folder");
    let files = files.map(|e| e.expect("a file").path());
    let linked = |e: &std::ffi::OsStr| e == "o" || e == "c";
    let files: Vec<_> = files
        .filter(|p| p.extension().is_some_and(linked))
        .collect();
    run(Command::new("avr-gcc")
        .arg(format!("-mmcu={mcu}"))
        .args([
            "-O2",
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-missing-field-initializers",
        ])
        .args(["-Wl,--fatal-warnings", "-o", "main.elf"])
        .args(files)
        .current_dir(folder));
    let data = std::fs::read(folder.join("main.elf")).expect("main.elf");
    let file = object::File::parse(&*data).expect("an ELF file");
    let at = |name: &str| {
        let symbol = file.symbols().find(|s| s.name() == Ok(name));
        // Data space begins at 0x800000.
        symbol.expect("a symbol").address() & 0x7f_ffff
    };
    let result = driver.named("result").expect("a field").place;
    let output = run(Command::new(built("simavr_calls", SIMAVR))
        .arg(mcu)
        .arg(folder.join("main.elf"))
        .args([symbol, "flush", "done"].map(|s| format!("{:#x}", at(s))))
        .arg(format!("{:#x}", at("numbers") + result.at as u64))
        .arg(result.bytes.to_string()));
    let text = String::from_utf8(output.stdout).expect("text");
    let told = |name: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name}in {text}"))
            .to_string()
    };
    let hex = told("data ");
    let byte = |i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("a byte");
    let bytes: Vec<_> = (0..hex.len() / 2).map(byte).collect();
    (told("call "), BigUint::from_bytes_le(&bytes))
}

/// A key of so many bits signs on simavr with what `gen` makes; row `index` of the table on record.
fn an_avr_signs(bits: u32, index: usize) {
    let paper: toml::Value = toml::from_str(include_str!("../paper/rsa.toml")).expect("TOML");
    let row = |column: &str| &paper["private"][column][index];
    assert_eq!(row("bits").as_integer(), Some(bits.into()));
    let mcu = row("mcus").as_str().expect("a part");
    let folder = tempdir().expect("a folder");
    let folder = folder.path();
    let output = run(lozenge()
        .args([
            "gen",
            "rsa",
            &bits.to_string(),
            "--mcu",
            mcu,
            "--json",
            "-o",
        ])
        .arg(folder));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let key = key(folder, bits).private(bits).expect("OpenSSL's keys fit");
    let message = encoded(folder, bits);
    let driver = rsa::private(1, bits, Ladder::cheapest(bits / 2, 1), Products::Folded);
    let inputs = key
        .inputs(&driver, &message)
        .expect("less than the modulus");
    let (call, signature) = on_simavr(folder, mcu, &driver, &format!("rsa{bits}"), &inputs);
    verifies(folder, bits, &signature);
    // Our simulator counted as many, on other numbers: the time is constant.
    let (cycles, stack) = (&report["cycles"], &report["ram"]["stack"]);
    assert_eq!(
        call,
        format!("{cycles} {stack} 0"),
        "cycles, stack, broken registers"
    );
    let figures = [cycles, &report["flash"]["total"], &report["ram"]["total"]];
    assert_eq!(
        ["ours", "flash", "ram"].map(|column| row(column).as_integer()),
        figures.map(Value::as_i64),
        "the figures on record"
    );
    for (core, verdict) in report["constant_time"].as_object().expect("cores") {
        assert_eq!(verdict, "shown", "{core}");
    }
}

#[test]
fn openssl_verifies_what_an_avr_signs() {
    an_avr_signs(1024, 0);
}

#[test]
fn openssl_verifies_2048_bits_that_an_avr_signs() {
    an_avr_signs(2048, 1);
}

/// What `lozenge run` says.
fn ran(line: &str) -> Value {
    let output = run(lozenge()
        .args(["run", "--method", "fips", "--variable-time", "--json"])
        .args(line.split_whitespace()));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn hexadecimal(report: &Value, name: &str) -> BigUint {
    let text = report[name].as_str().expect("a number");
    BigUint::parse_bytes(&text.as_bytes()[2..], 16).expect("hexadecimal")
}

/// An integer in DER.
fn integer(value: &BigUint) -> Vec<u8> {
    let bytes = value.to_bytes_be();
    let zero = (bytes[0] > 0x7f).then_some(0);
    tagged(2, zero.into_iter().chain(bytes).collect())
}

fn tagged(tag: u8, contents: Vec<u8>) -> Vec<u8> {
    let length = u16::try_from(contents.len())
        .expect("a short list")
        .to_be_bytes();
    [vec![tag, 0x82], length.to_vec(), contents].concat()
}

/// A public key for OpenSSL, which stays in the folder: RFC 8017, appendix A.1.1.
fn publish(folder: &Path, modulus: &BigUint) {
    let both = [integer(modulus), integer(&65537u32.into())].concat();
    std::fs::write(folder.join("public.der"), tagged(0x30, both)).expect("a file");
    openssl(
        folder,
        "rsa -RSAPublicKey_in -inform DER -in public.der -pubout -out public.pem",
    );
}

/// The table of RSA on the machines of 32 bits; what is signed there is verified there, and by OpenSSL.
#[test]
fn openssl_verifies_what_machines_of_32_bits_sign() {
    let table: toml::Value = toml::from_str(include_str!("../paper/rsa-32.toml")).expect("TOML");
    let mut otherwise = Vec::new();
    for row in table["row"].as_array().expect("rows") {
        let bits = row["bits"].as_integer().expect("a number") as u32;
        let mut target = format!("--core {}", row["core"].as_str().expect("a core"));
        if let Some(extension) = row.get("extension").and_then(toml::Value::as_str) {
            target += &format!(" --isa-ext {extension}");
        }
        let folder = tempdir().expect("a folder");
        let folder = folder.path();
        let message = encoded(folder, bits);
        let private = ran(&format!("rsa {bits} {target} --seed 1 --input {message}"));
        let modulus = hexadecimal(&private, "p") * hexadecimal(&private, "q");
        let signature = hexadecimal(&private, "result");
        publish(folder, &modulus);
        verifies(folder, bits, &signature);
        let mut reports = vec![("private", private)];
        if row.get("public").is_some() {
            let numbers = format!("--modulus {modulus} --input {signature}");
            let line = format!("rsa-public {bits} {target} --products montgomery {numbers}");
            let public = ran(&line);
            assert_eq!(hexadecimal(&public, "result"), message, "{target} {bits}");
            reports.push(("public", public));
        }
        for (name, report) in reports {
            let figures = ["cycles", "ram", "flash"].map(|f| report[f].as_u64().expect("a number"));
            let [cycles, ram, flash] = figures;
            let told = |f: &str| row[name][f].as_integer().map(|n| n as u64);
            if ["cycles", "ram", "flash"].map(told) != figures.map(Some) {
                otherwise.push(format!(
                    "{target} {bits}: {name} = {{ cycles = {cycles}, ram = {ram}, flash = {flash} }}"
                ));
            }
        }
    }
    assert!(
        otherwise.is_empty(),
        "the files say otherwise: {otherwise:#?}"
    );
}

/// A key of 64 bits, of the two primes below `2^32` that stand here.
pub(super) fn key_of_64_bits() -> rsa::Private {
    let key = Key {
        p: 0xffff_fffbu32.into(),
        q: 0xffff_ff2fu32.into(),
        e: 65537u32.into(),
        ..Key::default()
    };
    key.private(64).expect("two primes")
}

/// Drivers in C, each with steps that the others have not.
#[test]
fn drivers_in_c_agree_with_big_integers_on_simavr() {
    let mut random = Random::new(3);
    let montgomery = "--method fips --exponentiation montgomery --products montgomery";
    let window = "-p window=3 --products composed";
    let folded = "-p window=4 --products folded";
    let binary = "--method fips --exponentiation binary --products montgomery --variable-time";
    let sliding =
        "--exponentiation sliding -p window=4 --method fips --products montgomery --variable-time";
    let cases = [
        (64, sliding, Ladder::Sliding(4), Products::Montgomery),
        (64, montgomery, Ladder::Montgomery, Products::Montgomery),
        (128, window, Ladder::Window(3), Products::Composed),
        (64, folded, Ladder::Window(4), Products::Folded),
        (64, binary, Ladder::Binary, Products::Montgomery),
    ];
    for (bits, line, ladder, products) in cases {
        let (text, bytes) = (bits.to_string(), bits as usize / 8);
        let folder = tempdir().expect("a folder");
        run(lozenge()
            .args([
                "gen",
                "modexp",
                &text,
                "--mcu",
                "atmega328p",
                "--driver",
                "c",
                "-o",
            ])
            .arg(folder.path())
            .args(line.split_whitespace()));
        let modulus = random.uniform(bytes) | BigUint::from(1u8);
        let power = Power {
            base: random.uniform(bytes) % &modulus,
            exponent: random.uniform(bytes),
            modulus,
        };
        let driver = exponentiation::driver(1, bits, bits, ladder, products);
        let inputs = power.inputs(&driver);
        let (_, result) = on_simavr(
            folder.path(),
            "atmega328p",
            &driver,
            &format!("modexp{bits}"),
            &inputs,
        );
        assert_eq!(result, power.value(), "{line}");
    }
    let folder = tempdir().expect("a folder");
    run(lozenge()
        .args([
            "gen",
            "rsa",
            "64",
            "--mcu",
            "atmega328p",
            "--driver",
            "c",
            "--products",
            "composed",
            "-o",
        ])
        .arg(folder.path()));
    let key = key_of_64_bits();
    let input = random.uniform(8) % key.modulus();
    let driver = rsa::private(1, 64, Ladder::cheapest(32, 1), Products::Composed);
    let inputs = key.inputs(&driver, &input).expect("less than the modulus");
    let (_, result) = on_simavr(folder.path(), "atmega328p", &driver, "rsa64", &inputs);
    assert_eq!(result, key.value(&input));
}
