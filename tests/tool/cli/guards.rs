//! Kernels do not get into programs that cannot run them: the preprocessor, the assembler and the linker object.

use std::path::Path;
use std::process::{Command, Output};

use object::{Object, ObjectSection, ObjectSymbol};

use super::{folder, succeeds};

fn tool(folder: &Path, line: &str) -> Output {
    let mut words = line.split_whitespace();
    Command::new(words.next().expect("a tool"))
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|e| panic!("{line}: {e}: run scripts/test, which installs the GNU tools"))
}

/// It fails and says why, or works.
fn objects(folder: &Path, line: &str, why: Option<&str>) {
    let output = tool(folder, line);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    match why {
        Some(why) => assert!(
            !output.status.success() && told.contains(why),
            "{line}: {told}"
        ),
        None => assert!(output.status.success(), "{line}: {told}"),
    }
}

/// The bytes of the function in an object.
fn code(folder: &Path, file: &str) -> Vec<u8> {
    let data = std::fs::read(folder.join(file)).expect("an object");
    let file = object::File::parse(&*data).expect("an object");
    let section = file.section_by_name(".text.mul64").expect("the function");
    let symbol = file.symbol_by_name("mul64").expect("the function");
    section.data().expect("bytes")[..symbol.size() as usize].to_vec()
}

const MAIN: &str = "#include \"mul64.h\"\nuint32_t r[4], a[2], b[2];\nint main(void) { mul64(r, a, b); return 0; }\n";

#[test]
fn arm_code_stays_out_of_cortex_m() {
    let here = folder();
    let here = here.path();
    succeeds(here, "gen mul 64 --core arm7tdmi --variable-time");
    std::fs::write(here.join("main.c"), MAIN).expect("written");
    std::fs::write(
        here.join("blind.c"),
        MAIN.replace("#include \"mul64.h\"", "#include <stdint.h>\nvoid mul64();"),
    )
    .expect("written");
    let cc = "arm-none-eabi-gcc -nostdlib -Wl,-e,main";
    // Assembled past the guard, as by `as` alone.
    objects(
        here,
        "arm-none-eabi-gcc -mcpu=arm7tdmi -E -P mul64.S -o bare.s",
        None,
    );
    for (cpu, thumb_only) in [
        ("-mcpu=cortex-m0", true),
        ("-mcpu=cortex-m3", true),
        ("-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16", true),
        ("-mcpu=arm7tdmi", false),
        ("-mcpu=arm7tdmi -mthumb", false),
        ("-mcpu=arm926ej-s", false),
        ("-mcpu=cortex-a8", false),
    ] {
        let why = |text| thumb_only.then_some(text);
        objects(
            here,
            &format!("{cc} {cpu} -c mul64.S -o s.o"),
            why("Thumb only"),
        );
        objects(
            here,
            &format!("{cc} {cpu} -c main.c -o m.o"),
            why("Thumb only"),
        );
        let mixed = why("conflicting architecture profiles");
        objects(here, &format!("{cc} {cpu} blind.c mul64.o -o o.elf"), mixed);
        objects(here, "arm-none-eabi-as bare.s -o bare.o", None);
        objects(here, &format!("{cc} {cpu} blind.c bare.o -o s.elf"), mixed);
    }
    objects(
        here,
        "arm-none-eabi-gcc -mcpu=arm7tdmi -mbig-endian -c mul64.S",
        Some("little-endian"),
    );
    let told = tool(here, "arm-none-eabi-readelf -A mul64.o");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    for tag in [
        "Tag_CPU_arch: v4T",
        "Tag_CPU_arch_profile: Application or Realtime",
        "Tag_ARM_ISA_use: Yes",
    ] {
        assert!(told.contains(tag), "{told}");
    }
}

#[test]
fn mips_code_is_what_it_is_in_every_mode() {
    let here = folder();
    let here = here.path();
    succeeds(here, "gen mul 64 --core mips-4km-32x16");
    let ours = code(here, "mul64.o");
    for mode in [
        "-march=mips32",
        "-march=mips32r2 -mmicromips",
        "-march=mips32r2 -mips16",
        "-march=mips32r5",
    ] {
        let line = format!("mipsel-linux-gnu-gcc -mno-abicalls -fno-pic {mode} -c mul64.S -o s.o");
        objects(here, &line, None);
        assert!(code(here, "s.o") == ours, "{mode}: other bytes");
        // Called from such code, and linked.
        std::fs::write(here.join("main.c"), MAIN).expect("written");
        let flags = format!(
            "{mode} -minterlink-compressed -mno-abicalls -fno-pic -msoft-float -ffreestanding -nostdlib -nostartfiles -static"
        );
        let line = format!("mipsel-linux-gnu-gcc {flags} -Wl,-e,main main.c mul64.o -o m.elf");
        objects(here, &line, None);
    }
    for (mode, why) in [
        ("-march=mips32r6", "release 1 to 5"),
        ("-march=mips2", "release 1 to 5"),
        ("-mabi=n32 -march=mips64r2", "called as o32"),
        ("-EB -march=mips32", "little-endian"),
    ] {
        objects(
            here,
            &format!("mipsel-linux-gnu-gcc {mode} -c mul64.S"),
            Some(why),
        );
        std::fs::write(here.join("main.c"), "#include \"mul64.h\"\n").expect("written");
        objects(
            here,
            &format!("mipsel-linux-gnu-gcc {mode} -ffreestanding -fsyntax-only main.c"),
            Some(why),
        );
    }
    let told = tool(here, "mipsel-linux-gnu-readelf -A mul64.o");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    for tag in [
        "ISA: MIPS32\n",
        "GPR size: 32",
        "FP ABI: Hard or soft float",
    ] {
        assert!(told.contains(tag), "{told}");
    }
    // Of the other byte order, or ABI, the linker takes none.
    objects(
        here,
        "mipsel-linux-gnu-ld -EB -r mul64.o -o x.o",
        Some("endian"),
    );
    succeeds(here, "gen mul 64 --core mips-4km-32x16 --big-endian -o big");
    objects(
        &here.join("big"),
        "mipsel-linux-gnu-gcc -march=mips32 -c mul64.S",
        Some("big-endian"),
    );
    objects(
        &here.join("big"),
        "mipsel-linux-gnu-gcc -EB -march=mips32 -c mul64.S",
        None,
    );
}

#[test]
fn an_avr_without_mul_is_told_in_the_header() {
    let here = folder();
    for (target, bad, good) in [
        (
            "atmega328p",
            &[("attiny85", "no MUL"), ("attiny10", "no MUL")][..],
            "atmega2560",
        ),
        (
            "attiny85",
            &[("attiny10", "needs 32 registers")],
            "atmega328p",
        ),
        (
            "attiny10",
            &[("attiny85", "16 registers"), ("atmega328p", "16 registers")],
            "attiny9",
        ),
    ] {
        let folder = here.path().join(target);
        succeeds(
            here.path(),
            &format!("gen mul 16 --mcu {target} -o {target}"),
        );
        std::fs::write(folder.join("main.c"), "#include \"mul16.h\"\n").expect("written");
        for (part, why) in bad {
            objects(
                &folder,
                &format!("avr-gcc -mmcu={part} -fsyntax-only main.c"),
                Some(why),
            );
        }
        objects(
            &folder,
            &format!("avr-gcc -mmcu={good} -fsyntax-only main.c"),
            None,
        );
        let told = tool(&folder, "avr-objdump -f mul16.o");
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        let arch = match target {
            "atmega328p" => "avr:5,",
            "attiny85" => "avr:25,",
            _ => "avr:100,",
        };
        assert!(told.contains(arch), "{told}");
    }
}

/// A RISC-V kernel says which registers, which extensions and which calls it needs; a linker says so of an object.
#[test]
fn riscv_code_stays_out_of_other_riscv() {
    let here = folder();
    let here = here.path();
    succeeds(here, "gen mul 64 --core rv32imc");
    std::fs::write(here.join("main.c"), MAIN).expect("written");
    let blind = MAIN.replace("#include \"mul64.h\"", "void mul64();");
    let blind = blind.replace("uint32_t", "unsigned");
    std::fs::write(here.join("blind.c"), blind).expect("written");
    let cc = "riscv64-unknown-elf-gcc -ffreestanding -nostdlib -Wl,-e,main";
    for (machine, why, mixed) in [
        ("-march=rv32imc -mabi=ilp32", None, None),
        ("-march=rv32imac -mabi=ilp32", None, None),
        ("-march=rv32im -mabi=ilp32", Some("no C"), None),
        ("-march=rv32ic -mabi=ilp32", Some("no M"), None),
        (
            "-march=rv32emc -mabi=ilp32e",
            Some("as ilp32 has it"),
            Some("failed to merge"),
        ),
        (
            "-march=rv64imc -mabi=lp64",
            Some("registers of 32 bits"),
            Some("incompatible"),
        ),
    ] {
        objects(here, &format!("{cc} {machine} -c mul64.S -o s.o"), why);
        objects(here, &format!("{cc} {machine} -c main.c -o m.o"), why);
        objects(
            here,
            &format!("{cc} {machine} blind.c mul64.o -o o.elf"),
            mixed,
        );
    }
    let told = tool(here, "riscv64-unknown-elf-readelf -A mul64.o");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    for tag in ["16-bytes", "rv32i2p1_m2p0_c2p0"] {
        assert!(told.contains(tag), "{told}");
    }
}
