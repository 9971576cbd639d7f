//! `pack --for mbedtls`: Mbed TLS 3.5.1, which the crate psa-crypto-sys carries, passes its own test of RSA with our kernels, and
//! raises numbers to powers in the cycles on record: by `mbedtls_mpi_core_exp_mod`, and by `mbedtls_mpi_exp_mod`, as its RSA does.

use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::load;
use lozenge::target::Target;
use num_bigint::BigUint;

use crate::kit::oracle::{run, source};
use crate::kit::{crates, tier};
use crate::tool::packs::{files, packed};

/// A core, the cross compiler for it with its flags, and whether that has a C library.
pub(super) type Compiler = (&'static str, &'static str, &'static [&'static str], bool);

pub(super) const COMPILERS: [Compiler; 2] = [
    (
        "arm7tdmi-hw2018",
        "arm-none-eabi-gcc",
        &["-mcpu=arm7tdmi", "-marm"],
        true,
    ),
    (
        "rv32im",
        "riscv64-unknown-elf-gcc",
        &["-march=rv32im", "-mabi=ilp32"],
        false,
    ),
];

fn library() -> PathBuf {
    crates::folder_of("psa-crypto-sys", "0.13.0").join("vendor")
}

/// The flags that say where Mbed TLS is, and what of it is compiled.
fn configured(folder: &Path, features: &[&str]) -> Vec<String> {
    let config = folder.join("config.h");
    let text = features.iter().map(|f| format!("#define MBEDTLS_{f}\n"));
    std::fs::write(&config, text.collect::<String>()).expect("written");
    let library = library();
    let include = ["include", "library"].map(|path| format!("-I{}", library.join(path).display()));
    let config = format!("-DMBEDTLS_CONFIG_FILE=\"{}\"", config.display());
    include.into_iter().chain([config]).collect()
}

/// The library's products, `bignum_core.c`, or what the pack in `folder` has in its place.
fn products(folder: &Path, ours: bool) -> Vec<PathBuf> {
    match ours {
        true => {
            let kernels = files(folder, ".o").into_iter();
            kernels
                .chain([folder.join("bignum_core_lozenge.c")])
                .collect()
        }
        false => vec![library().join("library/bignum_core.c")],
    }
}

/// The numbers that a power takes and `a^e mod m`, in the order in which they lie, with those that are not known yet; `a` and the
/// power are times `2^n` unless it is `RSA`'s.
fn numbers(words: usize, function: &str) -> ([BigUint; 5], BigUint) {
    let mut random = tier::random(55);
    let bits = 32 * words as u64;
    let mut number = || random.uniform(4 * words);
    let m = number() | BigUint::from(1u8) | BigUint::from(1u8) << (bits - 1);
    let (a, e) = (number() % &m, number());
    let r = BigUint::from(1u8) << bits;
    let factor = match function {
        RSA => BigUint::from(1u8),
        _ => r.clone(),
    };
    let x = a.modpow(&e, &m) * &factor % &m;
    let rr = &r * &r % &m;
    ([BigUint::ZERO, a * factor % &m, m, e, rr], x)
}

/// The function with which RSA raises numbers to powers; it allocates memory.
const RSA: &str = "mbedtls_mpi_exp_mod";

/// Cycles, and bytes of code and of stack, of a power of numbers of so many words.
fn power(compiler: Compiler, folder: &Path, function: &str, words: usize, ours: bool) -> [u64; 3] {
    /// Bytes of a limb.
    const LIMB: usize = 4;
    // Limbs of scratch memory: more than the library asks for.
    let room = 40 * words;
    let (core_name, gcc, own, has_library) = compiler;
    let c_library = match has_library {
        true => ["-lc".into()],
        false => [format!("-I{}", source("bare").display())],
    };
    let program = folder.join("power.elf");
    let (features, files): (&[&str], &[&str]) = match function {
        RSA => (
            &[
                "PLATFORM_MEMORY",
                "PLATFORM_CALLOC_MACRO given",
                "PLATFORM_FREE_MACRO taken_back",
            ],
            &["bignum.c", "platform_util.c"],
        ),
        _ => (&[], &[]),
    };
    let features = [&["BIGNUM_C", "PLATFORM_C", "HAVE_ASM"], features].concat();
    let loops = match function {
        // The register of tests/oracle/mbed_tls.c, on ARM.
        RSA if has_library => vec!["-DLOOP", "-ffixed-r9"],
        RSA => vec!["-DLOOP"],
        _ => vec![],
    };
    run(Command::new(gcc)
        .args(own)
        .args(loops)
        .args(["-O2", "-w", "-ffreestanding", "-nostdlib", "-nostartfiles"])
        .args(["-ffunction-sections", "-Wl,--gc-sections,-e,power"])
        .args(configured(folder, &features))
        .args([format!("-DLIMBS={words}"), format!("-DROOM={room}")])
        .arg(source("mbed_tls.c"))
        .arg(library().join("library/constant_time.c"))
        .args(
            files
                .iter()
                .map(|file| library().join("library").join(file)),
        )
        .args(products(folder, ours))
        .args(c_library)
        .args(["-lgcc", "-o"])
        .arg(&program));
    let core = Target::core(core_name).expect("a core").to_core();
    let file = std::fs::read(&program).expect("a program");
    let loaded = load::load(&file, "power", &core.object_format()).expect("a function");
    let (numbers, want) = numbers(words, function);
    let mut area = vec![0; LIMB * (5 * words + room)];
    for (number, at) in numbers.iter().zip(area.chunks_mut(LIMB * words)) {
        let bytes = number.to_bytes_le();
        at[..bytes.len()].copy_from_slice(&bytes);
    }
    let cost = core
        .execute(&loaded.function, &mut area, &mut |_, _| {})
        .expect("it returns");
    let got = BigUint::from_bytes_le(&area[..LIMB * words]);
    assert_eq!(
        got, want,
        "{core_name}, {function}, {words} words, ours: {ours}"
    );
    let code = loaded.symbols.iter().map(|(_, bytes, _)| bytes).sum();
    [cost.call.max, code, cost.stack.bytes as u64]
}

/// Powers without and with the kernels.
#[test]
fn powers_take_the_cycles_on_record() {
    let text = std::fs::read_to_string("tests/paper/mbed-tls.toml").expect("a table");
    let table: toml::Table = text.parse().expect("TOML");
    let rows = table["row"].as_array().expect("rows").clone();
    let mut wrong = String::new();
    for row in tier::part(rows, 2, 56) {
        let name = row["core"].as_str().expect("a name");
        let compiler = *COMPILERS
            .iter()
            .find(|(core, ..)| *core == name)
            .expect("a compiler");
        let bits = row["bits"].as_integer().expect("a number") as usize;
        let function = row["function"].as_str().expect("a name");
        let pack = format!("rsa-{bits}");
        let folder = packed(&["pack", &pack, "--core", name, "--for", "mbedtls"]);
        let both =
            [false, true].map(|ours| power(compiler, folder.path(), function, bits / 32, ours));
        for (i, what) in ["cycles", "flash", "stack"].into_iter().enumerate() {
            let known = row[what].as_array().expect("two figures");
            let known: Vec<_> = known.iter().filter_map(toml::Value::as_integer).collect();
            let got = both.map(|figures| figures[i] as i64);
            if known != got {
                wrong += &format!("{name} {function} {what} = {got:?}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Its own test of RSA with 1024 bits passes with the kernels, and does not where one of those that it calls does nothing. (It
/// calls no square of the whole size: the public exponent's window has one bit.)
#[test]
fn rsa_tests_itself() {
    const FEATURES: [&str; 9] = [
        "RSA_C",
        "BIGNUM_C",
        "PKCS1_V15",
        "OID_C",
        "MD_C",
        "SHA1_C",
        "SELF_TEST",
        "HAVE_ASM",
        "PLATFORM_C",
    ];
    const FILES: [&str; 10] = [
        "rsa",
        "rsa_alt_helpers",
        "bignum",
        "constant_time",
        "md",
        "sha1",
        "oid",
        "platform",
        "platform_util",
        "asn1parse",
    ];
    let pack = [
        "pack",
        "rsa-1024",
        "--core",
        "arm7tdmi-hw2018",
        "--for",
        "mbedtls",
    ];
    let folder = packed(&pack);
    let library = library().join("library");
    let configured = configured(folder.path(), &FEATURES);
    let passes = |broken: Option<&str>| {
        let program = folder.path().join("rsa.elf");
        let broken = broken.map(|kernel| {
            let wrap = format!("-Wl,--wrap={kernel}");
            [wrap, format!("-DBROKEN=__wrap_{kernel}")]
        });
        run(Command::new("arm-none-eabi-gcc")
            .args(["-mcpu=arm7tdmi", "-marm", "--specs=rdimon.specs", "-Os"])
            .args(["-w", "-ffunction-sections", "-Wl,--gc-sections"])
            .args(&configured)
            .args(broken.into_iter().flatten())
            .arg(source("mbed_tls.c"))
            .args(FILES.map(|file| library.join(format!("{file}.c"))))
            .args(products(folder.path(), true))
            .arg("-o")
            .arg(&program));
        let output = Command::new("qemu-arm").arg(&program).output();
        output.expect("qemu-arm runs").status.success()
    };
    assert!(passes(None));
    for part in ["half_mul", "half_sqr", "whole_mul"] {
        let kernel = format!("rsa_1024_{part}");
        assert!(!passes(Some(&kernel)), "{kernel} is not called");
    }
}
