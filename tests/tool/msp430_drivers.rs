//! Drivers for the MSP430 among tools that we did not write: GNU as makes our bytes of their assembly files, GNU ld links their
//! objects, and mspdebug's simulator runs them, against big integers.

use std::path::Path;
use std::process::Command;

use lozenge::driver::exponentiation::{self, Ladder};
use lozenge::driver::modulo::Products;
use lozenge::driver::numbers::{Inputs, Power};
use lozenge::driver::rsa;
use lozenge::driver::x25519::{self, Kernels};
use lozenge::driver::{Driver, image};
use lozenge::function::{Argument, Function, Passed};
use lozenge::target::Target;
use num_bigint::BigUint;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};

use crate::kit::icicle::{self, Job};
use crate::kit::mspdebug::{self, Places};
use crate::kit::oracle::{MSP430_BINUTILS, run, tool};
use crate::kit::tier;
use crate::tool::inversions::{RFC, edges, number};
use crate::tool::packs::{files, packed};
use crate::tool::rsa::key_of_64_bits;

/// The area of numbers is at `data`; at `seen` registers are left.
const PLACES: Places = Places {
    seen: 0x0200,
    code: 0x4400,
    data: 0x1000,
};
/// Where the stack begins.
const STACK: u16 = 0x4000;
/// A convention: what the preprocessor finds, what GNU as is told, the register of the first argument, and registers that come
/// back, with SP.
struct Calls {
    defined: &'static [&'static str],
    told: &'static [&'static str],
    first: u16,
    kept: &'static [u16],
}

const EABI: Calls = Calls {
    defined: &["-D__MSP430__"],
    told: &["-mcpu=msp430"],
    first: 12,
    kept: &[1, 4, 5, 6, 7, 8, 9, 10],
};
const MSPGCC: Calls = Calls {
    defined: &["-D__MSP430__", "-D__MSPGCC__"],
    told: &["-mcpu=msp430"],
    first: 15,
    kept: &[1, 4, 5, 6, 7, 8, 9, 10, 11],
};

const LARGE: Calls = Calls {
    defined: &["-D__MSP430__", "-D__MSP430X__", "-D__MSP430X_LARGE__"],
    told: &["-mcpu=msp430x", "-ml"],
    ..EABI
};

/// What a register holds before the call.
fn held(r: u16) -> u16 {
    match r {
        1 => STACK,
        r => 0x1111 * r,
    }
}

/// The code of the only function of an object, and its relocations: place, symbol and addend. GNU as writes those of an MSP430 with
/// numbers of its own, and ld takes both.
fn function(path: &Path) -> (Vec<u8>, Vec<(u64, String, i64)>) {
    let data = std::fs::read(path).expect("an object");
    let file = object::File::parse(&*data).expect("an ELF file");
    let mut sections = file.sections();
    let section = sections.find(|s| s.name().is_ok_and(|name| name.starts_with(".text.")));
    let section = section.expect("the function's section");
    let relocations = section.relocations().map(|(at, relocation)| {
        let RelocationTarget::Symbol(index) = relocation.target() else {
            panic!("{}: a relocation without a symbol", path.display());
        };
        let symbol = file.symbol_by_index(index).expect("a symbol");
        let name = symbol.name().expect("a name").to_string();
        (at, name, relocation.addend())
    });
    let relocations = relocations.collect();
    (section.data().expect("bytes").to_vec(), relocations)
}

/// All assembly files of the folder are our objects to GNU as.
fn assembles(folder: &Path, calls: &Calls) {
    for assembly in files(folder, ".S") {
        let (plain, theirs) = (
            assembly.with_extension("s"),
            assembly.with_extension("theirs"),
        );
        run(Command::new("cpp")
            .args(["-P", "-undef"])
            .args(calls.defined)
            .args(["-x", "assembler-with-cpp"])
            .args([&assembly, &plain]));
        run(Command::new(format!("{MSP430_BINUTILS}-as"))
            .args(calls.told)
            .arg("-o")
            .args([&theirs, &plain]));
        let ours = function(&assembly.with_extension("o"));
        assert!(ours == function(&theirs), "{}", assembly.display());
    }
}

/// A program that calls `symbol` of the folder's objects with the address of the area.
fn linked(folder: &Path, symbol: &str, calls: &Calls) -> Vec<u8> {
    let objects = files(folder, ".o");
    let each =
        |line: &dyn Fn(u16) -> String| calls.kept.iter().map(|r| line(*r)).collect::<String>();
    let start = format!(
        "{}\tmov #{}, r{}\n\tcall #{symbol}\n{}\tbr #end\n",
        each(&|r| format!("\tmov #{}, r{r}\n", held(r))),
        PLACES.data,
        calls.first,
        each(&|r| format!("\tmov r{r}, &{}\n", PLACES.seen + 2 * r)),
    );
    std::fs::write(folder.join("start.s"), start).expect("written");
    let script = format!(
        "SECTIONS {{ .text {} : {{ start.theirs(.text) *(.text .text.*) end = .; }} }}\n",
        PLACES.code
    );
    std::fs::write(folder.join("t.ld"), script).expect("written");
    let binutil = |name: &str, arguments: &[&str]| {
        tool(folder, &format!("{MSP430_BINUTILS}-{name}"), arguments);
    };
    binutil("as", &["-mcpu=msp430", "-o", "start.theirs", "start.s"]);
    let objects: Vec<_> = objects.iter().filter_map(|path| path.to_str()).collect();
    let arguments = ["-e", "0x4400", "-T", "t.ld", "-o", "t.elf", "start.theirs"];
    binutil("ld", &[&arguments[..], &objects].concat());
    let data = std::fs::read(folder.join("t.elf")).expect("a program");
    let file = object::File::parse(&*data).expect("an ELF file");
    let text = file.section_by_name(".text").expect("code");
    text.data().expect("bytes").to_vec()
}

/// The files of the folder make of each of these numbers what is wanted.
fn computes(
    folder: &Path,
    symbol: &str,
    driver: &Driver,
    cases: &[(Inputs, BigUint)],
    calls: &Calls,
) {
    assembles(folder, calls);
    let code = linked(folder, symbol, calls);
    let area = |inputs: &Inputs| image::area(driver, inputs).expect("all inputs");
    let jobs = cases.iter().map(|(inputs, _)| (code.clone(), area(inputs)));
    let jobs: Vec<_> = jobs.collect();
    let seen = mspdebug::runs(&format!("msp430_{symbol}"), PLACES, &jobs);
    for ((memory, _), (inputs, want)) in seen.iter().zip(cases) {
        let from = usize::from(PLACES.data - PLACES.seen);
        let got = image::outputs(driver, &memory[from..from + driver.bytes]);
        assert_eq!(got, [("result", want.clone())], "{symbol}: {inputs:x?}");
        for r in calls.kept {
            let at = 2 * usize::from(*r);
            let left = u16::from_le_bytes([memory[at], memory[at + 1]]);
            assert_eq!(left, held(*r), "{symbol}: r{r}");
        }
    }
}

/// Exponentiations, each with steps that the others have not.
#[test]
fn exponentiations_are_right_in_mspdebug() {
    let cases = [
        (
            128,
            "-p window=3 --products montgomery --method fips",
            Ladder::Window(3),
            Products::Montgomery,
        ),
        (
            64,
            "--exponentiation montgomery --products montgomery --method fips",
            Ladder::Montgomery,
            Products::Montgomery,
        ),
        (
            80,
            "--exponentiation sliding -p window=4 --products montgomery --variable-time",
            Ladder::Sliding(4),
            Products::Montgomery,
        ),
        (
            160,
            "-p window=2 --products composed",
            Ladder::Window(2),
            Products::Composed,
        ),
        (
            96,
            "-p window=3 --products montgomery --method fips --abi mspgcc",
            Ladder::Window(3),
            Products::Montgomery,
        ),
    ];
    for (bits, line, ladder, products) in cases {
        let calls = match line.contains("mspgcc") {
            true => &MSPGCC,
            false => &EABI,
        };
        let line = format!("gen modexp {bits} --mcu msp430f1611 {line}");
        let line: Vec<_> = line.split_whitespace().collect();
        let folder = packed(&line);
        let driver = exponentiation::driver(2, bits, bits, ladder, products);
        let mut random = tier::random(51 ^ u64::from(bits));
        let mut number = || random.uniform(bits as usize / 8);
        let (one, full) = (BigUint::from(1u8), (BigUint::from(1u8) << bits) - 1u8);
        let powers = [
            (number(), number(), number() | &one),
            (&full - 1u8, full.clone(), full.clone()),
            (BigUint::ZERO, one.clone(), &full >> 1),
        ];
        let powers = powers.map(|(base, exponent, modulus)| {
            let power = Power {
                base: base % &modulus,
                exponent,
                modulus,
            };
            (power.inputs(&driver), power.value())
        });
        let symbol = format!("modexp{bits}");
        computes(folder.path(), &symbol, &driver, &powers, calls);
        let header = folder.path().join(symbol).with_extension("h");
        let header = std::fs::read_to_string(header).expect("a header");
        assert!(header.contains("no interrupt handler may use the multiplier"));
    }
}

#[test]
fn rsa_is_right_in_mspdebug() {
    let folder = packed(&[
        "gen",
        "rsa",
        "64",
        "--mcu",
        "msp430f1611",
        "--products",
        "composed",
    ]);
    let key = key_of_64_bits();
    let driver = rsa::private(2, 64, Ladder::cheapest(32, 2), Products::Composed);
    let mut random = tier::random(52);
    let numbers = [
        random.uniform(8) % key.modulus(),
        key.modulus() - 1u8,
        BigUint::ZERO,
    ];
    let cases = numbers.map(|input| {
        let inputs = key.inputs(&driver, &input).expect("less than the modulus");
        (inputs, key.value(&input))
    });
    computes(folder.path(), "rsa64", &driver, &cases, &EABI);
}

/// The code of these objects of the large model, linked by GNU ld above 64 KB with the driver first.
fn linked_high(folder: &Path, objects: &[&str]) -> Vec<u8> {
    let script = format!("SECTIONS {{ .text {HIGH} : {{ *(.text .text.*) }} }}\n");
    std::fs::write(folder.join("high.ld"), script).expect("written");
    let arguments = ["-e", "0", "-T", "high.ld", "-o", "high.elf"];
    let ld = format!("{MSP430_BINUTILS}-ld");
    tool(folder, &ld, &[&arguments[..], objects].concat());
    let data = std::fs::read(folder.join("high.elf")).expect("a program");
    let file = object::File::parse(&*data).expect("an ELF file");
    let text = file.section_by_name(".text").expect("code");
    assert_eq!(text.address(), HIGH);
    text.data().expect("bytes").to_vec()
}

/// Where code of the large model is put.
const HIGH: u64 = 0x1_4000;

/// In the large model a driver lies above 64 KB: GNU as makes our bytes of its assembly and GNU ld sets the addresses that it calls and
/// goes to. With its kernels it is right in our machine, as icicle-emu has no multiplier; there it does the same with kernels that
/// do nothing, and gives all 20 bits of R4 to R10 back.
#[test]
fn drivers_of_the_large_model_lie_above_64_kb() {
    let lines = [
        (
            64,
            "--exponentiation window -p window=3 --products montgomery",
            Ladder::Window(3),
        ),
        (
            96,
            "--exponentiation montgomery --products montgomery",
            Ladder::Montgomery,
        ),
    ];
    for (bits, line, ladder) in lines {
        let line = format!("gen modexp {bits} --mcu msp430f5529 --abi large --method fips {line}");
        let folder = packed(&line.split_whitespace().collect::<Vec<_>>());
        assembles(folder.path(), &LARGE);
        let driver = exponentiation::driver(2, bits, bits, ladder, Products::Montgomery);
        let own = format!("modexp{bits}.o");
        let kernels: Vec<String> = files(folder.path(), ".o")
            .iter()
            .map(|path| path.file_name().expect("a name").to_string_lossy().into())
            .filter(|name: &String| *name != own)
            .collect();
        let all: Vec<&str> = [&own].into_iter().chain(&kernels).map(|s| &**s).collect();
        let code = linked_high(folder.path(), &all);
        let target = Target::mcu("msp430f5529").expect("a part");
        let core = target.abi("large").expect("a convention").to_core();
        let run = |code: &[u8], area: &mut Vec<u8>| {
            let padded = [&vec![0; HIGH as usize], code].concat();
            let function = Function {
                entry: HIGH,
                arguments: Some(vec![Argument {
                    passed: Passed::Pointer(0),
                    bytes: core.pointer_bytes(),
                    place: None,
                }]),
                ..Function::kernel(&padded)
            };
            let done = core.execute(&function, area, &mut |_, _| {});
            done.unwrap_or_else(|e| panic!("{e:?}"));
        };
        let mut random = tier::random(57);
        let mut number = || random.uniform(bits as usize / 8);
        let modulus = number() | BigUint::from(1u8);
        let power = Power {
            base: number() % &modulus,
            exponent: number(),
            modulus,
        };
        let area = image::area(&driver, &power.inputs(&driver)).expect("all inputs");
        let mut ours = area.clone();
        run(&code, &mut ours);
        assert_eq!(image::outputs(&driver, &ours), [("result", power.value())]);
        // Kernels that do nothing.
        let idle = kernels.iter().map(|name| {
            let name = name.trim_end_matches(".o");
            format!("\t.global {name}\n{name}:\n")
        });
        let idle = idle.collect::<String>() + "\treta\n";
        std::fs::write(folder.path().join("idle.s"), idle).expect("written");
        let told = [LARGE.told, &["-o", "idle.theirs", "idle.s"]].concat();
        tool(folder.path(), &format!("{MSP430_BINUTILS}-as"), &told);
        let code = linked_high(folder.path(), &[&own, "idle.theirs"]);
        let mut ours = area.clone();
        run(&code, &mut ours);
        // The call is behind the code, at the end.
        let first = HIGH as u32 + code.len() as u32;
        let call = [0xb1, 0x13, HIGH as u8, (HIGH >> 8) as u8];
        let mut registers = [0; 16].map(|_: u32| random.below(1 << 20) as u32);
        (registers[0], registers[1]) = (first, STACK.into());
        registers[12] = PLACES.data.into();
        let job = Job {
            registers,
            code: (HIGH as u32, [&code[..], &call].concat()),
            data: (PLACES.data.into(), area),
        };
        let (left, theirs) = icicle::runs(&[job]).pop().expect("a run");
        assert!(
            theirs == ours,
            "modexp{bits}: the area after kernels that do nothing"
        );
        for r in [1, 4, 5, 6, 7, 8, 9, 10] {
            assert_eq!(left[r], registers[r], "modexp{bits}: r{r}");
        }
    }
}

/// The driver of the pack, on the vectors of RFC 7748 and numbers at the edges.
#[test]
fn x25519_is_right_in_mspdebug() {
    let folder = packed(&["pack", "x25519", "--mcu", "msp430f1611"]);
    let driver = x25519::driver(2, Kernels::All).expect("a driver");
    let mut cases: Vec<_> = RFC.map(|[scalar, u, _]| [scalar, u].map(number)).to_vec();
    let mut random = tier::random(53);
    let us = tier::some(edges(), 54).into_iter();
    cases.extend(us.map(|u| [random.uniform(32), u]));
    let cases = cases.into_iter().map(|[scalar, u]| {
        let want = x25519::value(&scalar, &u);
        (vec![("scalar", scalar), ("u", u)], want)
    });
    let cases: Vec<_> = cases.collect();
    computes(folder.path(), "x25519_numbers", &driver, &cases, &EABI);
}
