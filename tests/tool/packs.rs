//! Packs: their folder is whole, tests itself on simulators, keeps its budget, and is proved again where it is linked; micro-ecc
//! computes the same with a pack's kernels as without, in the cycles on record.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lozenge::pack::budget::{Sized, share};
use tempfile::{TempDir, tempdir};

use crate::kit::oracle::{lozenge, run, source, tool};
use crate::kit::{crates, tier, work};

/// A pack of small numbers.
const SMALL: [&str; 4] = ["pack", "bignum", "--bits", "64"];

/// A machine of 32 bits: its core, a compiler and its options, the start of a program, an emulator.
pub(super) type Machine = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

/// Of each instruction set one.
pub(super) const MACHINES: [Machine; 3] = [
    (
        "arm7tdmi",
        "arm-none-eabi-gcc",
        &["-mcpu=arm7tdmi", "-marm"],
        "cross_arm.S",
        "qemu-arm",
    ),
    (
        "mips-4km",
        "mipsel-linux-gnu-gcc",
        &[
            "-march=mips32",
            "-mabi=32",
            "-mno-abicalls",
            "-fno-pic",
            "-msoft-float",
        ],
        "cross_mips.S",
        "qemu-mipsel",
    ),
    (
        "rv32im",
        "riscv64-unknown-elf-gcc",
        &["-march=rv32im", "-mabi=ilp32"],
        "cross_riscv.S",
        "qemu-riscv32",
    ),
];

/// The pack that the arguments ask for, in a folder of its own.
pub(super) fn packed(arguments: &[&str]) -> TempDir {
    let folder = tempdir().expect("a folder");
    run(lozenge().args(arguments).arg("-o").arg(folder.path()));
    folder
}

/// Files of a folder that end so.
pub(super) fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut list: Vec<_> = paths
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect();
    list.sort();
    list
}

/// `selftest.c` of a pack as a program.
fn selftest(folder: &Path, gcc: &str, flags: &[&str]) -> PathBuf {
    let program = folder.join("selftest.elf");
    run(Command::new(gcc)
        .args(flags)
        .args(["-Os", "-Wall", "-Werror", "selftest.c"])
        .args(files(folder, ".o"))
        .arg("-o")
        .arg(&program)
        .current_dir(folder));
    program
}

/// What an AVR program prints on simavr, which marks each line.
pub(super) fn on_simavr(program: &Path) -> String {
    let output = run(Command::new("simavr")
        .args(["-m", "atmega128", "-f", "8000000"])
        .arg(program));
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).replace("\u{1b}[32m", "");
    text.replace("\u{1b}[0m", "").replace(".\n", "\n")
}

fn check(folder: &Path, program: Option<&Path>) -> Output {
    let mut command = lozenge();
    command.arg("check").args(program).arg("--manifest");
    let output = command.arg(folder.join("manifest.json")).output();
    output.expect("lozenge runs")
}

#[test]
fn a_pack_tests_itself_on_an_avr_and_is_proved_in_the_program() {
    let avr = ["--mcu", "atmega128"];
    let folder = packed(&[&SMALL[..], &avr].concat());
    let folder = folder.path();
    let program = selftest(folder, "avr-gcc", &["-mmcu=atmega128"]);
    let told = on_simavr(&program);
    assert!(told.contains("PASS") && !told.contains("FAIL"), "{told}");
    assert_eq!(told.matches(" ok").count(), 12, "{told}");
    // The linked program, then the objects.
    for program in [Some(program.as_path()), None] {
        let output = check(folder, program);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        assert_eq!(text.matches(" proved, ").count(), 12, "{text}");
    }
    // A function with a fault, and one that is not there.
    let object = folder.join("big_add.o");
    let mut bytes = std::fs::read(&object).expect("an object");
    let text = std::fs::read_to_string(folder.join("big_add.S")).expect("assembly");
    assert!(text.contains("adc"), "{text}");
    // ADC is 0001 11rd dddd rrrr; ADD, which forgets the carry, 0000 11rd dddd rrrr.
    let is_adc = |at: &usize| bytes[*at + 1] >> 2 == 0b00_0111;
    let at = (0x34..bytes.len() - 1).step_by(2).find(is_adc);
    bytes[at.expect("an ADC") + 1] ^= 0x10;
    std::fs::write(&object, bytes).expect("written");
    std::fs::remove_file(folder.join("big_shl.o")).expect("removed");
    let output = check(folder, None);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for name in ["big_add", "big_shl"] {
        let line = text.lines().find(|line| line.starts_with(name));
        assert!(
            line.is_some_and(|line| line.contains("NOT PROVED")),
            "{text}"
        );
    }
    assert_eq!(text.matches(" proved, ").count(), 10, "{text}");
}

/// A manifest that says something else of a function is not believed.
#[test]
fn manifests_that_lie_are_not_proved() {
    let folder = packed(&[&SMALL[..], &["--core", "rv32im"]].concat());
    let path = folder.path().join("manifest.json");
    let text = std::fs::read_to_string(&path).expect("a manifest");
    let lies = [
        ("\"add\"", "\"sub\""),
        ("\"mullo\"", "\"mulhi\""),
        ("\"64\"", "\"96\""),
        ("\"--core\"", "\"--none\""),
    ];
    for (truth, lie) in lies {
        assert!(text.contains(truth), "{truth}");
        std::fs::write(&path, text.replace(truth, lie)).expect("written");
        let output = check(folder.path(), None);
        assert!(!output.status.success(), "{truth} -> {lie}");
    }
    for wrong in ["", "{}", "{\"pack\": \"p256\", \"kernels\": []}"] {
        std::fs::write(&path, wrong).expect("written");
        let output = check(folder.path(), None);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn packs_test_themselves_on_machines_of_32_bits() {
    let arm = packed(&[&SMALL[..], &["--core", "arm7tdmi", "--variable-time"]].concat());
    let flags = ["-mcpu=arm7tdmi", "-marm", "--specs=rdimon.specs"];
    let program = selftest(arm.path(), "arm-none-eabi-gcc", &flags);
    let told = run(Command::new("qemu-arm").arg(program)).stdout;
    assert!(String::from_utf8_lossy(&told).contains("PASS"));

    let bare = [
        "-nostdlib",
        "-static",
        "-ffreestanding",
        "-Wl,-e,_start",
        "-DSELFTEST_PUT=put_char",
    ];
    // All but ARM.
    for (core, gcc, flags, runtime, qemu) in &MACHINES[1..] {
        let folder = packed(&[&SMALL[..], &["--core", core]].concat());
        let put = "int sys_write(int, const char *, unsigned); void *current;\n\
                   void put_char(char c) { sys_write(1, &c, 1); }\n";
        std::fs::write(folder.path().join("put.c"), put).expect("written");
        let runtime = source(runtime);
        let runtime = runtime.to_str().expect("a path");
        let flags = [*flags, &bare, &["put.c", runtime]].concat();
        let program = selftest(folder.path(), gcc, &flags);
        let told = run(Command::new(qemu).arg(program)).stdout;
        let told = String::from_utf8_lossy(&told);
        assert!(
            told.contains("PASS") && !told.contains("FAIL"),
            "{core}: {told}"
        );
    }
}

/// Both runs, one with kernels made in another order, give the same files; a budget is kept; a refusal writes nothing.
#[test]
fn packs_are_reproducible_and_keep_their_budget() {
    let avr = ["--mcu", "atmega328p"];
    let [one, two] = [(); 2].map(|()| packed(&[&SMALL[..], &avr].concat()));
    let names = |folder: &TempDir| files(folder.path(), "").len();
    assert_eq!(names(&one), names(&two));
    for path in files(one.path(), "") {
        let other = two.path().join(path.file_name().expect("a name"));
        let [x, y] = [&path, &other].map(|path| std::fs::read(path).expect("a file"));
        assert_eq!(x, y, "{}", path.display());
    }
    let bytes = |folder: &TempDir| {
        let text = std::fs::read_to_string(folder.path().join("manifest.json"));
        let json: serde_json::Value = serde_json::from_str(&text.expect("a file")).expect("JSON");
        json["bytes"].as_u64().expect("a number")
    };
    let most = bytes(&one) - 10;
    let flash = most.to_string();
    let small = packed(&[&SMALL[..], &avr, &["--max-flash", &flash]].concat());
    assert!(bytes(&small) <= most, "{} > {most}", bytes(&small));

    let place = tempdir().expect("a folder");
    let place = place.path().join("none");
    let refused = |arguments: &[&str], words: &str| {
        let output = lozenge().args(arguments).arg("-o").arg(&place).output();
        let output = output.expect("lozenge runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
        assert!(!place.exists(), "{arguments:?}");
    };
    refused(
        &[&SMALL[..], &avr, &["--max-flash", "100"]].concat(),
        "try --max-flash",
    );
    refused(&["pack", "p265", "--mcu", "atmega328p"], "try p256");
    refused(
        &[&SMALL[..], &avr, &["--for", "micro-ecc"]].concat(),
        "try secp160r1, p192, p224, p256, secp256k1",
    );
    refused(
        &["pack", "p384", "--core", "rv32im", "--for", "p256-m"],
        "try p256",
    );
    let bearssl = ["--for", "bearssl"];
    refused(
        &[&SMALL[..], &avr, &bearssl].concat(),
        "try x25519, p256, p384, p521",
    );
    refused(
        &[&["pack", "p256"][..], &avr, &bearssl].concat(),
        "limbs of 32 bits",
    );
    refused(
        &["pack", "x25519", "--core", "rv32im", "--for", "mbedtls"],
        "--for bearssl",
    );
    refused(
        &["pack", "bignum", "--bits", "0", "--core", "rv32im"],
        "0 bits",
    );
}

/// The shares are the best of all, by trying all.
#[test]
fn flash_is_shared_in_the_best_way() {
    let mut random = tier::random(77);
    for _ in 0..tier::times(200) {
        let kernels: Vec<(u64, Vec<Sized>)> = (0..1 + random.below(4))
            .map(|_| {
                let sizes = (0..1 + random.below(4)).map(|_| Sized {
                    cycles: random.below(100) as u64,
                    bytes: 2 * random.below(20),
                });
                let sizes = sizes.collect();
                (random.below(9) as u64, sizes)
            })
            .collect();
        let budget = random.below(120);
        let mut all = vec![(0, 0)];
        for (calls, sizes) in &kernels {
            let more = |(cycles, bytes): &(u64, usize)| {
                let each = sizes
                    .iter()
                    .map(|s| (cycles + calls * s.cycles, bytes + s.bytes));
                each.collect::<Vec<_>>()
            };
            all = all.iter().flat_map(more).collect();
        }
        let fits = all.iter().filter(|(_, bytes)| *bytes <= budget);
        let best = fits.map(|(cycles, _)| *cycles).min();
        let got = share(&kernels, budget).ok().map(|chosen| {
            let each = kernels.iter().zip(chosen);
            let of = each.map(|((calls, sizes), i)| (calls * sizes[i].cycles, sizes[i].bytes));
            of.fold((0, 0), |x, y| (x.0 + y.0, x.1 + y.1))
        });
        assert!(got.is_none_or(|(_, bytes)| bytes <= budget), "{kernels:?}");
        assert_eq!(got.map(|(cycles, _)| cycles), best, "{kernels:?}, {budget}");
    }
}

/// What a run of micro-ecc prints: name and value of each line.
type Figures = Vec<(String, String)>;

/// Builds `tests/oracle/micro_ecc.c` with micro-ecc and the given files, and runs it.
fn micro_ecc_runs(avr: bool, curve: &str, flags: &[String], program: &Path) -> Figures {
    let (gcc, own): (_, &[&str]) = match avr {
        true => ("avr-gcc", &["-mmcu=atmega128"]),
        false => (
            "arm-none-eabi-gcc",
            &["-mcpu=arm7tdmi", "-marm", "--specs=rdimon.specs"],
        ),
    };
    run(Command::new(gcc)
        .args(own)
        .args([
            "-Os",
            "-w",
            "-ffunction-sections",
            "-fdata-sections",
            "-Wl,--gc-sections",
        ])
        .arg(format!("-DCURVE=uECC_{curve}"))
        .arg(source("micro_ecc.c"))
        .args(flags)
        .arg("-o")
        .arg(program));
    let text = match avr {
        true => on_simavr(program),
        false => {
            let output = run(Command::new("qemu-arm").arg(program));
            String::from_utf8(output.stdout).expect("text")
        }
    };
    assert!(text.contains("RIGHT"), "{curve}: {text}");
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let names = ["ecdh", "secret", "sign", "signature", "verify", "stack"];
    let pairs = lines.filter(|(name, _)| names.contains(name));
    pairs.map(|(x, y)| (x.into(), y.into())).collect()
}

/// With and without the kernels of a pack: the same secret and signature, in the cycles, flash and stack on record.
fn micro_ecc_agrees(avr: bool, pack: &str, curve: &str, level: i64) -> [Figures; 2] {
    let library = crates::folder_of("micro-ecc-sys", "0.3.2").join("micro-ecc");
    let target: [&str; 2] = match avr {
        true => ["--mcu", "atmega128"],
        false => ["--core", "arm7tdmi"],
    };
    let folder = packed(&["pack", pack, target[0], target[1], "--for", "micro-ecc"]);
    let include = |path: &Path| format!("-I{}", path.display());
    let curves = [
        "secp160r1",
        "secp192r1",
        "secp224r1",
        "secp256r1",
        "secp256k1",
    ];
    let others = curves.iter().filter(|c| **c != curve && **c != "secp160r1");
    let mut plain: Vec<_> = others.map(|c| format!("-DuECC_SUPPORTS_{c}=0")).collect();
    plain.push(include(&library));
    let mut ours = plain.clone();
    plain.extend([
        format!("-DuECC_OPTIMIZATION_LEVEL={level}"),
        "-DuECC_SQUARE_FUNC=1".into(),
    ]);
    plain.push(library.join("uECC.c").display().to_string());
    ours.push(include(folder.path()));
    ours.push(folder.path().join("uECC_lozenge.c").display().to_string());
    ours.extend(
        files(folder.path(), ".o")
            .iter()
            .map(|path| path.display().to_string()),
    );
    [(plain, "plain.elf"), (ours, "ours.elf")].map(|(flags, name)| {
        let program = folder.path().join(name);
        let mut figures = micro_ecc_runs(avr, curve, &flags, &program);
        if avr {
            let size = tool(folder.path(), "avr-size", &[name]);
            let numbers = size.lines().nth(1).expect("a line").split_whitespace();
            let numbers: Vec<u32> = numbers.take(2).filter_map(|n| n.parse().ok()).collect();
            figures.push(("flash".into(), numbers.iter().sum::<u32>().to_string()));
        }
        figures
    })
}

fn value<'a>(figures: &'a Figures, name: &str) -> &'a str {
    let found = figures.iter().find(|(known, _)| known == name);
    found.map_or("", |(_, value)| value)
}

#[test]
fn micro_ecc_computes_the_same_in_the_cycles_on_record() {
    let text = std::fs::read_to_string("tests/paper/micro-ecc.toml").expect("a table");
    let table: toml::Table = text.parse().expect("TOML");
    let rows = table["row"].as_array().expect("rows").clone();
    // One curve; all of them at night.
    let rows = match tier::of([false, false, true]) {
        true => rows,
        false => rows
            .into_iter()
            .filter(|row| row["pack"].as_str() == Some("secp160r1"))
            .collect(),
    };
    work::each(&rows, |row| {
        let [pack, curve] = ["pack", "curve"].map(|key| row[key].as_str().expect("a name"));
        let level = row["level"].as_integer().expect("a level");
        let both = micro_ecc_agrees(true, pack, curve, level);
        for name in ["secret", "signature"] {
            assert_eq!(
                value(&both[0], name),
                value(&both[1], name),
                "{curve} {name}"
            );
        }
        for name in ["ecdh", "sign", "verify", "flash", "stack"] {
            let got = both
                .each_ref()
                .map(|f| value(f, name).parse::<i64>().expect("a number"));
            let known = row[name].as_array().expect("two figures");
            let known: Vec<_> = known.iter().filter_map(toml::Value::as_integer).collect();
            assert_eq!(known, got, "{curve} {name}");
        }
    });
    let both = micro_ecc_agrees(false, "p192", "secp192r1", 2);
    for name in ["secret", "signature"] {
        assert_eq!(
            value(&both[0], name),
            value(&both[1], name),
            "on ARM: {name}"
        );
    }
}
