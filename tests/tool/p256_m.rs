//! `pack p256 --for p256-m`: keys, shared secrets, signatures and refusals are those of the p256-m of Mbed TLS 3.5.1, which the crate
//! psa-crypto-sys carries, in the cycles on record.

use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::load::{self, Loaded};
use lozenge::target::Target;

use crate::kit::oracle::{run, source};
use crate::kit::{crates, tier};
use crate::tool::mbed_tls::{COMPILERS, Compiler};
use crate::tool::packs::{files, packed};

/// The numbers of `tests/oracle/p256_m.c`: where each lies, and its bytes.
const RESULT: (usize, usize) = (4, 4);
const PRIV: (usize, usize) = (8, 32);
const PUB: (usize, usize) = (40, 64);
const SIG: (usize, usize) = (136, 64);
const HASH: (usize, usize) = (200, 32);
const AREA: usize = 232;

/// Operations, as that file numbers them.
const KEYS: u8 = 0;
const SECRET: u8 = 1;
const SIGN: u8 = 2;
const VERIFY: u8 = 3;
const PUBLIC: u8 = 4;
const SIGN_SHORT: u8 = 5;

/// What the library says of a public key, a private key and a signature that are none.
const NO_PUBLIC: i32 = -2;
const NO_PRIVATE: i32 = -3;
const NO_SIGNATURE: i32 = -4;

/// The program with the library's file, or with that of the pack in `ours`.
fn program(compiler: Compiler, folder: &Path, ours: bool) -> Loaded {
    let (core, gcc, own, has_library) = compiler;
    let library = crates::folder_of("psa-crypto-sys", "0.13.0").join("vendor");
    let config = folder.join("config.h");
    let text = "#define MBEDTLS_PSA_P256M_DRIVER_ENABLED\n#define MBEDTLS_PSA_CRYPTO_CLIENT\n";
    std::fs::write(&config, text).expect("written");
    let p256_m = library.join("3rdparty/p256-m/p256-m");
    let include = [&library.join("include"), &p256_m, &folder.into()];
    let include = include.map(|path: &PathBuf| format!("-I{}", path.display()));
    let c_library = match has_library {
        true => "-lc".into(),
        false => format!("-I{}", source("bare").display()),
    };
    let own_files = match ours {
        true => {
            let objects = files(folder, ".o").into_iter();
            objects.chain([folder.join("p256_m_lozenge.c")]).collect()
        }
        false => vec![p256_m.join("p256-m.c")],
    };
    let program = folder.join("p256_m.elf");
    run(Command::new(gcc)
        .args(own)
        .args(["-O2", "-w", "-ffreestanding", "-nostdlib", "-nostartfiles"])
        .args(["-ffunction-sections", "-fdata-sections"])
        .arg("-Wl,--gc-sections,-e,measured")
        // The library's fastest products that are right to use on these cores.
        .arg("-DMUL64_IS_CONSTANT_TIME")
        .arg(format!("-DMBEDTLS_CONFIG_FILE=\"{}\"", config.display()))
        .args(include)
        .arg(source("p256_m.c"))
        .args(own_files)
        .args([&c_library, "-lgcc", "-o"])
        .arg(&program));
    let core = Target::core(core).expect("a core").to_core();
    let file = std::fs::read(&program).expect("a program");
    load::load(&file, "measured", &core.object_format()).expect("a function")
}

/// Both programs on the same numbers.
struct Both {
    core: lozenge::isa::core::Core,
    programs: [Loaded; 2],
    area: Vec<u8>,
}

impl Both {
    /// Runs an operation: its result, and what it takes without and with the pack. Both leave the same numbers.
    fn run(&mut self, operation: u8) -> (i32, [u64; 2]) {
        self.area[0] = operation;
        let ran = self.programs.each_ref().map(|program| {
            let mut area = self.area.clone();
            let cost = self
                .core
                .execute(&program.function, &mut area, &mut |_, _| {});
            (area, cost.expect("it returns"))
        });
        let [(theirs, before), (ours, now)] = ran;
        let result = |area: &[u8]| {
            let bytes = &area[RESULT.0..][..RESULT.1];
            i32::from_le_bytes(bytes.try_into().expect("four bytes"))
        };
        assert_eq!(result(&theirs), result(&ours), "operation {operation}");
        // What a refusal leaves is nobody's business.
        if result(&ours) == 0 {
            assert_eq!(theirs, ours, "operation {operation}");
        }
        self.area = ours;
        (result(&self.area), [before.call.max, now.call.max])
    }

    /// The same with a bit of a number changed, which is put back.
    fn with_a_fault(&mut self, (at, bytes): (usize, usize), operation: u8) -> i32 {
        let before = self.area.clone();
        self.area[at + bytes / 2] ^= 8;
        let (result, _) = self.run(operation);
        self.area = before;
        result
    }

    fn set(&mut self, (at, bytes): (usize, usize), value: &[u8]) {
        self.area[at..][..bytes].copy_from_slice(value);
    }
}

#[test]
fn it_computes_what_the_library_does_in_the_cycles_on_record() {
    let text = std::fs::read_to_string("tests/paper/p256-m.toml").expect("a table");
    let table: toml::Table = text.parse().expect("TOML");
    let rows = table["row"].as_array().expect("rows").clone();
    let mut wrong = String::new();
    for row in tier::part(rows, 2, 59) {
        let name = row["core"].as_str().expect("a name");
        let compiler = *COMPILERS
            .iter()
            .find(|(core, ..)| *core == name)
            .expect("a compiler");
        let folder = packed(&["pack", "p256", "--core", name, "--for", "p256-m"]);
        let programs = [false, true].map(|ours| program(compiler, folder.path(), ours));
        let code = programs.each_ref().map(|program| {
            let sizes = program.symbols.iter().map(|(_, bytes, _)| bytes);
            sizes.sum::<u64>()
        });
        let mut both = Both {
            core: Target::core(name).expect("a core").to_core(),
            programs,
            area: vec![0; AREA],
        };
        let mut figures = vec![("flash", code)];
        let mut measured = |both: &mut Both, what, operation| {
            let (result, cycles) = both.run(operation);
            assert_eq!(result, 0, "{name} {what}");
            figures.push((what, cycles));
        };
        // A hash that is above the order; then a key, and what is done with it.
        both.set(HASH, &[0xff; HASH.1]);
        measured(&mut both, "keys", KEYS);
        measured(&mut both, "secret", SECRET);
        measured(&mut both, "sign", SIGN);
        measured(&mut both, "verify", VERIFY);
        for (number, result) in [(SIG, NO_SIGNATURE), (HASH, NO_SIGNATURE), (PUB, NO_PUBLIC)] {
            assert_eq!(both.with_a_fault(number, VERIFY), result, "{name}");
        }
        assert_eq!(both.with_a_fault(PUB, SECRET), NO_PUBLIC, "{name}");
        // The least key, a short hash, and numbers that are no keys.
        let one = [[0; PRIV.1 - 1].as_slice(), &[1]].concat();
        both.set(PRIV, &one);
        assert_eq!(both.run(PUBLIC).0, 0, "{name}");
        assert_eq!(both.run(SIGN_SHORT).0, 0, "{name}");
        // Time does not tell the key.
        let (_, [_, with_one]) = both.run(SECRET);
        let secret = figures.iter().find(|(what, _)| *what == "secret");
        assert_eq!(secret.map(|(_, both)| both[1]), Some(with_one), "{name}");
        for none in [[0; PRIV.1], [0xff; PRIV.1]] {
            both.set(PRIV, &none);
            for operation in [PUBLIC, SECRET, SIGN] {
                assert_eq!(both.run(operation).0, NO_PRIVATE, "{name} {operation}");
            }
        }
        for (what, got) in figures {
            let known = row[what].as_array().expect("two figures");
            let known: Vec<_> = known.iter().filter_map(toml::Value::as_integer).collect();
            if known != got.map(|figure| figure as i64) {
                wrong += &format!("{name} {what} = {got:?}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
