//! Packages: each is built by the tool that it is for, or by that tool's rules, and tests itself on a simulator; what it links is
//! proved again. What fits no machine is refused.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::kit::oracle::{in_python, lozenge, run, source};
use crate::tool::packs::{files, on_simavr, packed};

/// The name of the package of `pack bignum`.
const NAME: &str = "lozenge_bignum";

const RISCV: [&str; 2] = ["-march=rv32imc", "-mabi=ilp32"];

/// `pack bignum` of small numbers as a package.
fn packaged(package: &str, target: &[&str]) -> TempDir {
    let arguments = ["pack", "bignum", "--bits", "64", "--package", package];
    packed(&[&arguments[..], target].concat())
}

/// Every function of the package is proved in this program.
fn is_proved(folder: &Path, program: &Path) {
    let manifest = folder.join("extras/manifest.json");
    let mut command = lozenge();
    command.arg("check").arg(program).arg("--manifest");
    let output = run(command.arg(manifest));
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches(" proved, ").count(), 12, "{text}");
}

/// What the tools' own rules read of the package.
fn declared(kind: &str, folder: &Path, board: &[&str]) -> serde_json::Value {
    let mut command = in_python("packages.py");
    let output = run(command.arg(kind).arg(folder).args(board));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Configured and built by CMake.
fn cmake(from: &Path, to: &Path, defined: &[String]) {
    run(Command::new("cmake")
        .args(["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_BUILD_TYPE=Release"])
        .args(defined.iter().map(|text| format!("-D{text}")))
        .arg("-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY")
        .args(["-S".as_ref(), from, "-B".as_ref(), to]));
    run(Command::new("cmake").arg("--build").arg(to));
}

/// The self-test of a package for RISC-V, in a program that uses it so.
fn on_riscv(kind: &str, folder: &Path, more: &[String]) -> PathBuf {
    tested_on_riscv(kind, NAME, 12, folder, more)
}

/// The same of the package of this name, which has so many functions to test.
fn tested_on_riscv(
    kind: &str,
    name: &str,
    functions: usize,
    folder: &Path,
    more: &[String],
) -> PathBuf {
    let put = folder.join("put.c");
    let text = "int sys_write(int, const char *, unsigned); void *current;\n\
                void put_char(char c) { sys_write(1, &c, 1); }\n";
    std::fs::write(&put, text).expect("written");
    let flags = "-nostdlib -static -ffreestanding -Os -Wall -Werror -DSELFTEST_PUT=put_char";
    let runtime = source("cross_riscv.S");
    let mut defined = vec![
        format!("KIND={kind}"),
        format!("NAME={name}"),
        format!("PACKAGE={}", folder.display()),
        format!("RUNTIME={};{}", put.display(), runtime.display()),
        "CMAKE_C_COMPILER=riscv64-unknown-elf-gcc".into(),
        format!("CMAKE_C_FLAGS={} {flags}", RISCV.join(" ")),
        format!("CMAKE_ASM_FLAGS={}", RISCV.join(" ")),
    ];
    defined.extend_from_slice(more);
    let build = folder.join("build").join(kind);
    cmake(&source("packages"), &build, &defined);
    let program = build.join("selftest");
    let told = run(Command::new("qemu-riscv32").arg(&program)).stdout;
    let told = String::from_utf8_lossy(&told);
    assert_eq!(told.matches(" ok").count(), functions, "{kind}: {told}");
    assert!(told.ends_with("PASS\n"), "{kind}: {told}");
    program
}

/// What a program for the Uno prints on simavr up to PASS or FAIL alone: a sketch goes on forever.
fn until_it_passed(program: &Path) -> String {
    let mut simavr = Command::new("simavr")
        .args(["-m", "atmega328p", "-f", "16000000"])
        .arg(program)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("simavr");
    let lines = BufReader::new(simavr.stderr.take().expect("a pipe")).lines();
    let mut told = String::new();
    for line in lines.map_while(Result::ok) {
        told += &format!("{line}\n");
        // A colour precedes each line.
        if ["mPASS", "mFAIL"].iter().any(|end| line.contains(end)) {
            break;
        }
    }
    simavr.kill().expect("it was running");
    simavr.wait().expect("it ends");
    told
}

#[test]
fn an_arduino_library_tests_itself() {
    let libraries = tempfile::tempdir().expect("a folder");
    let folder = libraries.path().join(NAME);
    run(lozenge()
        .args(["pack", "bignum", "--bits", "64", "--package", "arduino"])
        .args(["--mcu", "atmega328p", "-o"])
        .arg(&folder));
    let declared = declared("arduino", &folder, &[]);
    assert_eq!(declared["platforms"], serde_json::json!(["atmelavr"]));
    assert_eq!(declared["headers"], serde_json::json!(["big.h"]));
    let build = libraries.path().join("build");
    std::fs::create_dir(&build).expect("a folder");
    run(Command::new("arduino-builder")
        .args(["-compile", "-fqbn", "arduino:avr:uno", "-build-path"])
        .arg(&build)
        .args(["-hardware", "/usr/share/arduino/hardware"])
        .args(["-hardware", "/usr/share/arduino-builder", "-tools"])
        .args(["/usr/bin", "-prefs=runtime.tools.avr-gcc.path=/usr"])
        .arg("-prefs=compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__")
        .arg("-libraries")
        .arg(libraries.path())
        .arg(folder.join("examples/SelfTest/SelfTest.ino")));
    let program = build.join("SelfTest.ino.elf");
    is_proved(&folder, &program);
    let told = until_it_passed(&program);
    assert_eq!(told.matches(" ok").count(), 12, "{told}");
    assert!(told.contains("PASS") && !told.contains("FAIL"), "{told}");
}

#[test]
fn a_cmake_project_is_built_added_and_installed() {
    let avr = packaged("cmake", &["--mcu", "atmega128"]);
    let build = avr.path().join("build");
    let defined = ["CMAKE_C_COMPILER=avr-gcc", "LOZENGE_BIGNUM_SELFTEST=ON"];
    cmake(avr.path(), &build, &defined.map(String::from));
    let program = build.join("lozenge_bignum_selftest");
    let told = on_simavr(&program);
    assert_eq!(told.matches(" ok").count(), 12, "{told}");
    assert!(told.contains("PASS"), "{told}");
    is_proved(avr.path(), &program);

    let riscv = packaged("cmake", &["--core", "rv32imc"]);
    let folder = riscv.path();
    let program = on_riscv("add_subdirectory", folder, &[]);
    is_proved(folder, &program);
    let installed = folder.join("installed");
    run(Command::new("cmake")
        .arg("--install")
        .arg(folder.join("build/add_subdirectory"))
        .arg("--prefix")
        .arg(&installed));
    let found = format!("CMAKE_PREFIX_PATH={}", installed.display());
    is_proved(folder, &on_riscv("find_package", folder, &[found]));
}

#[test]
fn a_zephyr_module_and_an_esp_idf_component_follow_the_rules() {
    let zephyr = packaged("zephyr", &["--core", "rv32imc"]);
    let board = ["RISCV_ISA_RV32I", "RISCV_ISA_EXT_M", "RISCV_ISA_EXT_C"];
    let read = declared("zephyr", zephyr.path(), &board);
    assert_eq!(read["name"], NAME);
    // With all extensions, and without.
    assert_eq!(read["can_be"], serde_json::json!([true, false]));
    let read = declared("zephyr", zephyr.path(), &board[..2]);
    assert_eq!(read["can_be"], serde_json::json!([false, false]));
    is_proved(zephyr.path(), &on_riscv("zephyr", zephyr.path(), &[]));

    let idf = packaged("esp-idf", &["--mcu", "esp32c3"]);
    let read = declared("esp-idf", idf.path(), &[]);
    assert_eq!(read["targets"], serde_json::json!(["esp32c3"]));
    is_proved(idf.path(), &on_riscv("esp-idf", idf.path(), &[]));
}

#[test]
fn a_platformio_library_follows_the_rules() {
    for (target, platform) in [
        (["--mcu", "atmega328p"], "atmelavr"),
        (["--mcu", "atmega4809"], "atmelmegaavr"),
        (["--mcu", "esp32c3"], "espressif32"),
        (["--core", "mips-4km"], "microchippic32"),
    ] {
        let folder = packaged("platformio", &target);
        let read = declared("platformio", folder.path(), &[]);
        assert_eq!(read["platforms"], serde_json::json!([platform]));
        assert_eq!(read["headers"], serde_json::json!(["big.h"]));
        assert!(folder.path().join("include/big.h").is_file());
        assert_eq!(files(&folder.path().join("src"), ".S").len(), 12);
    }
}

/// A program of one file that depends on the crate in `folder`.
fn rust_program(folder: &Path, name: &str, target: &str, main: &str) -> PathBuf {
    let user = folder.join("user");
    std::fs::create_dir_all(user.join("src")).expect("a folder");
    let manifest = format!(
        "[package]\nname = \"user\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n\
         [dependencies]\n{name} = {{ path = \"..\" }}\n[profile.release]\npanic = \"abort\"\n"
    );
    std::fs::write(user.join("Cargo.toml"), manifest).expect("written");
    std::fs::write(user.join("src/main.rs"), main).expect("written");
    run(Command::new("cargo")
        .args(["build", "--release", "--offline", "--target", target])
        .env("RUSTFLAGS", "-D warnings")
        .env("CARGO_TARGET_DIR", user.join("target"))
        .current_dir(&user));
    user.join("target").join(target).join("release/user")
}

#[test]
fn a_rust_crate_computes_the_same_as_rust() {
    let main = std::fs::read_to_string(source("packages/user.rs.in")).expect("a program");
    for (core, target, qemu) in [
        ("rv32imc", "riscv32imc-unknown-none-elf", "qemu-riscv32"),
        ("arm7tdmi", "armv7a-none-eabi", "qemu-arm"),
    ] {
        let folder = packaged("rust", &["--core", core, "--variable-time"]);
        let program = rust_program(folder.path(), "lozenge-bignum", target, &main);
        run(Command::new(qemu).arg(&program));
        is_proved(folder.path(), &program);
    }
}

/// The first case of RFC 7748, section 5.2, from Rust.
#[test]
fn a_rust_crate_is_x25519() {
    const HEX: [&str; 3] = [
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
    ];
    let [scalar, point, wanted] = HEX.map(|hex| {
        let bytes = (0..32).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16));
        bytes.collect::<Result<Vec<_>, _>>().expect("digits")
    });
    let main = std::fs::read_to_string(source("packages/user.rs.in")).expect("a program");
    let before = main
        .split("fn words")
        .next()
        .expect("the start of a program");
    let before = before.replace("use lozenge_bignum as big;\n\ntype Two = [u32; 2];\n", "");
    let main = format!(
        "{before}#[no_mangle]\npub extern \"C\" fn _start() -> ! {{\n    \
         let got = lozenge_x25519::x25519(&{scalar:?}, &{point:?});\n    \
         exit((got != {wanted:?}) as u32)\n}}\n"
    );
    let folder = packed(&["pack", "x25519", "--core", "rv32imc", "--package", "rust"]);
    let target = "riscv32imc-unknown-none-elf";
    let program = rust_program(folder.path(), "lozenge-x25519", target, &main);
    run(Command::new("qemu-riscv32").arg(&program));
}

/// A driver's branches name distances, so GNU as must make each instruction as long as it is in the object.
#[test]
fn a_cmake_project_is_x25519_in_assembly() {
    let folder = packed(&["pack", "x25519", "--core", "rv32imc", "--package", "cmake"]);
    let folder = folder.path();
    tested_on_riscv("add_subdirectory", "lozenge_x25519", 7, folder, &[]);
}

/// Where Rust's compiler takes no assembly, the crate has a library of the objects: GNU's linker reads it.
#[test]
fn the_library_of_a_rust_crate_links() {
    let folder = packaged("rust", &["--mcu", "atmega128"]);
    let folder = folder.path();
    assert!(folder.join("build.rs").is_file());
    let header = packed(&["pack", "bignum", "--bits", "64", "--mcu", "atmega128"]);
    let program = folder.join("selftest.elf");
    run(Command::new("avr-gcc")
        .args(["-mmcu=atmega128", "-Os", "-I"])
        .arg(header.path())
        .arg(folder.join("extras/selftest.c"))
        .arg("-L")
        .arg(folder.join("lib"))
        .args(["-llozenge_bignum", "-o"])
        .arg(&program));
    let told = on_simavr(&program);
    assert!(told.contains("PASS") && !told.contains("FAIL"), "{told}");
    is_proved(folder, &program);
    // The same bytes each time, and members in order.
    let again = packaged("rust", &["--mcu", "atmega128"]);
    let library = format!("lib/lib{NAME}.a");
    let [one, two] = [folder, again.path()].map(|f| std::fs::read(f.join(&library)));
    assert_eq!(one.expect("a library"), two.expect("a library"));
    let listed = run(Command::new("avr-ar").arg("t").arg(folder.join(&library))).stdout;
    let members: Vec<_> = (0..12).map(|i| format!("{i}.o")).collect();
    assert_eq!(
        String::from_utf8_lossy(&listed).lines().collect::<Vec<_>>(),
        members
    );
}

/// A package is written again over itself, and over nobody else's files; one that fits no machine is refused.
#[test]
fn packages_are_replaced_and_refused() {
    let folder = packaged("rust", &["--mcu", "atmega328p"]);
    let again = |force: &[&str], bits: &str| {
        let mut command = lozenge();
        command.args(["pack", "bignum", "--bits", bits, "--package", "rust"]);
        command.args(["--mcu", "atmega328p"]).args(force).arg("-o");
        command.arg(folder.path()).output().expect("lozenge runs")
    };
    let library = folder.path().join(format!("lib/lib{NAME}.a"));
    for (name, text) in [
        ("extras/big_add.o", "damaged"),
        ("Cargo.toml", "# of others"),
    ] {
        std::fs::write(folder.path().join(name), text).expect("written");
        let is_object = name.ends_with(".o");
        assert_eq!(again(&[], "64").status.success(), is_object, "{name}");
    }
    assert!(again(&["--force"], "64").status.success());
    std::fs::write(&library, "damaged").expect("written");
    assert!(again(&[], "64").status.success());

    let place = folder.path().join("none");
    let refused = [
        ("arduino", ["--core", "mips-4km"], "try --mcu atmega328p"),
        ("arduino", ["--mcu", "atxmega32a4"], "try --mcu atmega328p"),
        ("platformio", ["--core", "sa-1100"], "try --mcu atmega328p"),
        ("zephyr", ["--mcu", "atmega328p"], "try --core rv32imc"),
        ("esp-idf", ["--mcu", "atmega328p"], "try --mcu esp32c3"),
        ("esp-idf", ["--mcu", "gd32vf103"], "try --mcu esp32c3"),
        (
            "cmake",
            ["--mcu=atmega328p", "--abi=iar"],
            "leave out --abi",
        ),
        (
            "cmake",
            ["--mcu=atmega328p", "--for=micro-ecc"],
            "leave out --for",
        ),
    ];
    for (package, target, words) in refused {
        let mut command = lozenge();
        command.args(["pack", "p256", "--package", package]);
        let output = command.args(target).arg("-o").arg(&place).output();
        let output = output.expect("lozenge runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(words), "{package}: {text}");
        assert!(!place.exists());
    }
}
