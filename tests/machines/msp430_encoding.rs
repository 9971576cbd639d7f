//! MSP430 encodings and parts against GNU binutils, built for it by scripts/test.

use std::process::Command;

use lozenge::emit::elf::{self, Call};
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::code::{Dest, Insn, Source, forms};
use lozenge::isa::msp430::convention::LARGE;
use lozenge::isa::msp430::cores::{Core, PARTS};
use lozenge::isa::msp430::instructions::{Op, Ops};
use lozenge::isa::msp430::operands::CG;
use lozenge::load::load;
use lozenge::target::Target;
use lozenge::vectors::Random;

use crate::kit::any;
use crate::kit::oracle::{MSP430_BINUTILS, folder, tool};
use crate::kit::tier;
use crate::machines::binutils::{Binutils, PLAIN, mnemonic, numbers};

fn core(name: &str) -> &'static Core {
    Core::named(name).expect("a core")
}

/// Each form with operands at their ends and random ones, and with random words behind it.
fn samples(core: &Core, random: &mut Random, count: usize) -> Vec<Insn> {
    let mut list = Vec::new();
    for form in forms().iter().filter(|f| core.features.has(f.feature)) {
        for numbers in numbers(&form.ranges(), random, count) {
            let Insn { op, ops } = form.with(&numbers);
            let [x, y] = [0; 2].map(|_: u16| match random.below(3) {
                0 => random.below(12) as u16,
                1 => 0_u16.wrapping_sub(random.below(12) as u16),
                _ => random.draw() as u16,
            });
            let with = |x, y| Insn::new(op, Ops { x, y, ..ops });
            // As many words as it has.
            let all = [with(x, y), with(x, 0), with(0, y), with(0, 0)];
            list.extend(all.into_iter().find(|insn| insn.code().is_ok()));
        }
    }
    list
}

fn gnu<T>(core: &Core, ask: impl Fn(Binutils) -> T) -> T {
    let cpu = match core.features.extended {
        true => "-mcpu=msp430x",
        false => "-mcpu=msp430",
    };
    ask(Binutils {
        prefix: MSP430_BINUTILS,
        assembler: &[cpu],
        disassembler: &["-m", "msp430"],
        // It does not look at what stands before or behind.
        warnings: &["a NOP might"],
        ..PLAIN
    })
}

#[test]
fn text_assembles_to_our_bytes() {
    let mut random = tier::random(1);
    for name in ["msp430", "msp430x"] {
        let insns = samples(core(name), &mut random, tier::times(300));
        let folder = format!("msp430_as_{name}");
        gnu(core(name), |gnu| {
            gnu.assembles::<Msp430Isa>(core(name), &folder, &insns)
        });
    }
}

/// Names that objdump gives an instruction beside its own.
fn other_names(insn: &Insn) -> &'static [&'static str] {
    match insn.op {
        Op::JNE => &["jnz"],
        Op::JEQ => &["jz"],
        Op::MOV => &["nop", "ret", "pop", "br", "clr"],
        Op::BIC => &["dint", "clrc", "clrz", "clrn"],
        Op::BIS => &["eint", "setc", "setz", "setn"],
        Op::ADD => &["inc", "incd", "rla"],
        Op::SUB => &["dec", "decd"],
        Op::CMP => &["tst"],
        Op::XOR => &["inv"],
        Op::ADDC => &["adc", "rlc"],
        Op::SUBC => &["sbc"],
        Op::DADD => &["dadc"],
        _ => &[],
    }
}

#[test]
fn objdump_reads_every_word_as_we_do() {
    let core = core("msp430x");
    let mut random = tier::random(2);
    let mut codes = Vec::new();
    for word in 0..=u16::MAX {
        let [low, high] = word.to_le_bytes();
        let behind = [0; 4].map(|_: u8| random.draw() as u8);
        let bytes = [&[low, high], &behind[..]].concat();
        // What goes nowhere makes objdump stop; the farthest jump back is none to it.
        let nowhere = |insn: &Insn| insn.form().has('d') && insn.ops.dest() == Dest::Register(CG);
        let known = |insn: &Insn| !nowhere(insn) && insn.branch() != Some(-1022);
        if let Some(insn) = Insn::decode(&bytes, core.features).filter(known) {
            codes.push(bytes[..insn.bytes()].to_vec());
        }
    }
    let same = |insn: &Insn, text: &str| {
        let theirs = mnemonic(text);
        let theirs = theirs.strip_suffix(".b").unwrap_or(theirs);
        let ours = insn.form().name;
        ours.strip_suffix(".w").unwrap_or(ours) == theirs || other_names(insn).contains(&theirs)
    };
    // From 0xffe0 on it sees interrupt vectors.
    let chunks = codes.chunks(10_000);
    let known: usize = chunks
        .map(|codes| {
            gnu(core, |gnu| {
                gnu.reads::<Msp430Isa>(core, "msp430_objdump", codes, same, |_, _| false)
            })
        })
        .sum();
    assert!(known > 50_000, "only {known} words are instructions");
}

/// GNU as knows of each part whether it has the instructions of the MSP430X.
#[test]
fn parts_have_the_cpu_that_the_assembler_knows() {
    let folder = folder("msp430_parts");
    std::fs::write(folder.join("x.s"), "\tmova r5, r6\n").expect("written");
    for part in &PARTS {
        let mut command = Command::new(format!("{MSP430_BINUTILS}-as"));
        command.arg(format!("-mmcu={}", part.name));
        let output = command
            .args(["-o", "x.o", "x.s"])
            .current_dir(&folder)
            .output();
        let output = output.expect("GNU as, which scripts/test builds");
        let told = String::from_utf8_lossy(&output.stderr);
        let extended = core(part.core).features.extended;
        assert_eq!(output.status.success(), extended, "{}: {told}", part.name);
    }
}

/// What lies below 64 KB ends there, with the interrupt vectors. Main memory is contiguous (SLAS590, table 3: from 0x4400).
#[test]
fn parts_say_what_small_code_reaches() {
    for part in &PARTS {
        let [flash, ram] = part.near;
        let far = part.flash > flash;
        assert!(flash < 0x1_0000 && ram <= 0x1_0000 - flash, "{}", part.name);
        assert!(!far || core(part.core).features.extended, "{}", part.name);
        assert_eq!(far, part.flash > 60 << 10, "{}", part.name);
    }
    let near = |name: &str| PARTS.iter().find(|p| p.name == name).map(|p| p.near);
    assert_eq!(near("msp430f5529"), Some([47 << 10, 8 << 10]));
    assert_eq!(near("msp430f5659"), Some([32 << 10, 16 << 10]));
    assert_eq!(near("msp430f1611"), Some([48 << 10, 10 << 10]));
    let small = Target::mcu("msp430f5529").expect("a part");
    let large = small.clone().abi("large").expect("a convention");
    for (target, flash, told) in [
        (
            small,
            48128,
            "do not fit the 48128 bytes of flash below 64 KB of",
        ),
        (large, 131_072, "do not fit the 131072 bytes of flash of"),
    ] {
        assert_eq!(target.room().map(|room| room.flash), Some(flash));
        assert!(target.warnings(flash, 100).is_empty());
        let warned = target.warnings(flash + 2, 100);
        assert!(warned[0].contains(told), "{warned:?}");
    }
}

/// What we write links with what GNU as makes, and carries the same attributes.
#[test]
fn objects_link() {
    let folder = folder("msp430_link");
    let caller = "\t.global main\nmain:\tcall #given\n\tret\n";
    std::fs::write(folder.join("main.s"), caller).expect("written");
    // The regions of the linker's own script are for small parts.
    let script = "SECTIONS { .text 0x4400 : { *(.text .text.*) } }\n";
    std::fs::write(folder.join("t.ld"), script).expect("written");
    for (name, cpu) in [("msp430", "-mcpu=msp430"), ("msp430x", "-mcpu=msp430x")] {
        let core = any(core(name));
        let call = Insn::one(Op::CALL, Source::Constant(0x1234));
        let code = core
            .encode(&[call.into(), Insn::ret().into()])
            .expect("code");
        let (relocation, at) = core.call_relocation();
        let (symbol, format) = ("main", core.object_format());
        let calls = [Call {
            at,
            symbol,
            addend: 0,
            relocation,
        }];
        let ours = elf::object_that_calls(&format, "given", &code, &calls).expect("an object");
        std::fs::write(folder.join("given.o"), &ours).expect("written");
        let run = |name: &str, arguments: &[&str]| {
            tool(&folder, &format!("{MSP430_BINUTILS}-{name}"), arguments)
        };
        run("as", &[cpu, "-o", "main.o", "main.s"]);
        let attributes = |file: &str| run("readelf", &["-A", file]);
        assert_eq!(attributes("given.o"), attributes("main.o"));
        let said = run(
            "ld",
            &[
                "-e", "main", "-T", "t.ld", "-o", "t.elf", "main.o", "given.o",
            ],
        );
        assert_eq!(said, "");
        let linked = std::fs::read(folder.join("t.elf")).expect("a program");
        let given = load(&linked, "given", &format)
            .expect("the function")
            .function;
        let main = load(&linked, "main", &format).expect("the caller").function;
        let insns = core.decode(given.code_at(given.entry, 4)).expect("a call");
        let to = Insn::one(Op::CALL, Source::Constant(main.entry as u16));
        assert_eq!(insns, [(0, to.into())]);
    }
}

/// Objects of the large model link with what GNU as makes for it, with the same code and data models.
#[test]
fn objects_of_the_large_model_link() {
    let folder = folder("msp430_large_link");
    let caller = "\t.global main\nmain:\tcalla #given\n\treta\n";
    std::fs::write(folder.join("main.s"), caller).expect("written");
    let script = "SECTIONS { .text 0x14400 : { *(.text .text.*) } }\n";
    std::fs::write(folder.join("t.ld"), script).expect("written");
    let core = any(&core("msp430x").called(&LARGE));
    let code = core.encode(&[Insn::reta().into()]).expect("code");
    let ours = elf::object_that_calls(&core.object_format(), "given", &code, &[]);
    std::fs::write(folder.join("given.o"), ours.expect("an object")).expect("written");
    let run = |name: &str, arguments: &[&str]| {
        tool(&folder, &format!("{MSP430_BINUTILS}-{name}"), arguments)
    };
    run("as", &["-mcpu=msp430x", "-ml", "-o", "main.o", "main.s"]);
    let attributes = |file: &str| run("readelf", &["-A", file]);
    assert_eq!(attributes("given.o"), attributes("main.o"));
    let files = [
        "-e", "main", "-T", "t.ld", "-o", "t.elf", "main.o", "given.o",
    ];
    assert_eq!(run("ld", &files), "");
    let linked = run("objdump", &["-d", "-m", "msp430", "t.elf"]);
    assert!(
        linked.contains("calla") && linked.contains("0x1440"),
        "{linked}"
    );
}
