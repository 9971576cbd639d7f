//! Files as people have them: linked programs, libraries, tables, other conventions; and files
//! that are broken.

use std::process::Command;

use lozenge::load::LoadError;
use lozenge::prove::Verdict;
use object::{Object, ObjectSymbol};

use crate::check::tools::{ARM, AVR, Compiler, MIPS, Question, check, sources};

const NO_MEMSET: &str = "-fno-tree-loop-distribute-patterns";

fn proved(file: &[u8], compiler: &Compiler, question: Question<'_>) {
    let audit = check(file, compiler.core, question).expect("a function");
    let proof = &audit.judged.proof;
    assert!(proof.holds(), "{compiler:?} {question:?}: {proof:?}");
}

/// A linked program whose only functions are those of `source`.
fn link(compiler: &Compiler, source: &str, entry: &str, flags: &[&str]) -> Vec<u8> {
    let entry = format!("-Wl,-e,{entry}");
    let flags: Vec<_> = [entry.as_str(), "-nostartfiles", "-static"]
        .into_iter()
        .chain(flags.iter().copied())
        .collect();
    compiler.compile(&sources().join(source), &flags)
}

#[test]
fn calls_into_the_compilers_library() {
    // 16-bit words on an 8-bit machine: __umulhisi3 multiplies.
    let file = link(
        &AVR,
        "mul.c",
        "school",
        &[
            "-Os",
            "-DLIMB=uint16_t",
            "-DWIDE=uint32_t",
            "-DBITS=16",
            "-DN=8",
            "-lgcc",
        ],
    );
    for symbol in ["school", "comba", "rows"] {
        proved(&file, &AVR, Question::of(symbol, 128));
    }
    let question = Question {
        arguments: "r,a,b,n16",
        ..Question::of("school_n", 128)
    };
    proved(&file, &AVR, question);
}

#[test]
fn linked_programs() {
    let words = [
        "-O2",
        NO_MEMSET,
        "-DLIMB=uint32_t",
        "-DWIDE=uint64_t",
        "-DBITS=32",
        "-DN=5",
    ];
    for compiler in [ARM, MIPS] {
        let file = link(&compiler, "mul.c", "school", &words);
        for symbol in ["school", "comba", "rows"] {
            proved(&file, &compiler, Question::of(symbol, 160));
        }
    }
}

#[test]
fn tables_are_read_where_they_are_constant() {
    for compiler in [AVR, ARM, MIPS] {
        let object = compiler.compile(
            &sources().join("table.c"),
            &["-O2", NO_MEMSET, "-fno-ipa-icf", "-c"],
        );
        proved(&object, &compiler, Question::of("memory_table", 64));
        let audit = check(&object, compiler.core, Question::of("variable_table", 64)).expect("it");
        let proof = &audit.judged.proof;
        assert!(!proof.correct.is_proved(), "{compiler:?}: {proof:?}");
        let Verdict::Disproved(text) = &proof.memory else {
            panic!("{compiler:?}: {proof:?}");
        };
        assert!(text.contains("the variable at 0x"), "{text}");
        if compiler.gcc != AVR.gcc {
            let program = link(&compiler, "table.c", "memory_table", &["-O2", NO_MEMSET]);
            proved(&program, &compiler, Question::of("memory_table", 64));
        }
    }
    let object = AVR.compile(
        &sources().join("table.c"),
        &["-O2", NO_MEMSET, "-fno-ipa-icf", "-c"],
    );
    proved(&object, &AVR, Question::of("flash_table", 64));
    let program = link(
        &AVR,
        "table.c",
        "flash_table",
        &["-O2", NO_MEMSET, "-fno-ipa-icf"],
    );
    proved(&program, &AVR, Question::of("flash_table", 64));
}

#[test]
fn a_member_of_a_library() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let object = ARM.multiplications(32, 4, &["-O2", NO_MEMSET]);
    std::fs::write(path("mul.o"), object).expect("written");
    let table = ARM.compile(&sources().join("table.c"), &["-O2", "-c"]);
    std::fs::write(path("table.o"), table).expect("written");
    let archived = Command::new("arm-none-eabi-ar")
        .arg("rcs")
        .args([path("lib.a"), path("table.o"), path("mul.o")])
        .status();
    assert!(archived.expect("arm-none-eabi-ar runs").success());
    let library = std::fs::read(path("lib.a")).expect("a library");
    proved(&library, &ARM, Question::of("comba", 128));
    let missing = check(&library, ARM.core, Question::of("combat", 128)).map(|_| ());
    assert!(
        matches!(missing, Err(LoadError::Symbol { .. })),
        "{missing:?}"
    );
}

/// A convention of its own: operands in Z, X and Y, one byte each, the result's high byte in
/// memory too, r2 destroyed.
const OWN_CONVENTION: &str = "
        .section .text.own, \"ax\", @progbits
        .global own
        .type own, @function
own:    ld   r2, X
        ld   r3, Y
        mul  r2, r3
        st   Z, r0
        std  Z+1, r1
        clr  r1
        ret
        .size own, . - own
";

#[test]
fn arguments_in_other_registers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("own.s");
    std::fs::write(&source, OWN_CONVENTION).expect("written");
    let file = AVR.compile(&source, &["-c"]);
    let question = Question {
        arguments: "r@r30,a@r26,b@r28",
        ..Question::of("own", 8)
    };
    let audit = check(&file, AVR.core, question).expect("own");
    let proof = &audit.judged.proof;
    assert!(
        proof.correct.is_proved() && proof.memory.is_proved(),
        "{proof:?}"
    );
    assert_eq!(
        proof.abi,
        Verdict::Disproved("r2 is not restored; r3 is not restored".into())
    );
    let usual = check(&file, AVR.core, Question::of("own", 8)).expect("own");
    assert!(!usual.judged.proof.correct.is_proved());
}

/// Lengths in registers, memory to work in, operands on the stack: by the calling convention, and said.
#[test]
fn arguments_anywhere() {
    for (compiler, bits, by_way, deep) in [
        (
            AVR,
            8,
            [
                "r,a,b,n8,scratch:8",
                "r@r24,a@r22,b@r20,4@r18,scratch:8@r16",
            ],
            ["_:8,_:8,r,a,b", "r@r8,a@sp+3,b@sp+5"],
        ),
        (
            ARM,
            32,
            [
                "r,a,b,n32,scratch:32",
                "r@r0,a@r1,b@r2,4@r3,scratch:32@sp+0",
            ],
            ["_:8,_:8,r,a,b", "r@sp+0,a@sp+4,b@sp+8"],
        ),
        (
            MIPS,
            32,
            [
                "r,a,b,n32,scratch:32",
                "r@$a0,a@$a1,b@$a2,4@$a3,scratch:32@sp+16",
            ],
            ["_:8,_:8,r,a,b", "r@sp+16,a@sp+20,b@sp+24"],
        ),
    ] {
        let file = compiler.multiplications(bits, 4, &["-O2", NO_MEMSET]);
        for (symbol, conventions) in [("by_way", by_way), ("deep", deep)] {
            for arguments in conventions {
                let question = Question {
                    arguments,
                    align: Some(4),
                    ..Question::of(symbol, 4 * bits)
                };
                proved(&file, &compiler, question);
            }
        }
        // One byte too few, and pointers taken from elsewhere on the stack.
        let short = by_way[0].replace("8,scratch:8", "8,scratch:7");
        let short = short.replace("scratch:32", "scratch:31");
        for (symbol, arguments) in [("by_way", short.as_str()), ("deep", "r,a,b")] {
            let question = Question {
                arguments,
                align: Some(4),
                ..Question::of(symbol, 4 * bits)
            };
            let audit = check(&file, compiler.core, question).expect("a function");
            assert!(!audit.judged.proof.holds(), "{compiler:?} {symbol}");
        }
    }
}

#[test]
fn the_wrong_machine_is_named() {
    let file = MIPS.multiplications(32, 4, &["-O2"]);
    let error = check(&file, ARM.core, Question::of("comba", 128))
        .map(|_| ())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("it is for mips, little-endian, not for arm"),
        "{error}"
    );
    let thumb = Compiler {
        flags: &["-mcpu=arm7tdmi", "-mthumb"],
        ..ARM
    };
    let file = thumb.multiplications(32, 4, &["-O2"]);
    let error = check(&file, ARM.core, Question::of("comba", 128))
        .map(|_| ())
        .unwrap_err();
    assert_eq!(error, LoadError::Thumb("comba".into()));
}

/// A program without names: its functions are told by their addresses.
#[test]
fn stripped_programs() {
    let words = |bits: u32| {
        [
            format!("-DLIMB=uint{bits}_t"),
            format!("-DWIDE=uint{}_t", 2 * bits),
            format!("-DBITS={bits}"),
        ]
    };
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let defines = words(bits);
        let mut flags = vec!["-O2", NO_MEMSET, "-DN=4"];
        flags.extend(defines.iter().map(String::as_str));
        let whole = link(&compiler, "mul.c", "school", &flags);
        let whole = object::File::parse(&*whole).expect("a program");
        let comba = whole.symbol_by_name("comba").expect("a function");
        let at = format!("{:#x}", comba.address());
        flags.push("-Wl,-s");
        let stripped = link(&compiler, "mul.c", "school", &flags);
        proved(&stripped, &compiler, Question::of(&at, 4 * bits));
        for (symbol, told) in [
            (
                "comba",
                "no function comba and no name of any other: try its address",
            ),
            ("0x3fffff0", "no function 0x3fffff0: no code lies there"),
        ] {
            let error = check(&stripped, compiler.core, Question::of(symbol, 4 * bits));
            let error = error.err().expect("no function").to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}

/// Code of kinds that are not followed is refused by name, with what to do instead.
#[test]
fn other_code_is_named() {
    let words = ["-DLIMB=uint32_t", "-DWIDE=uint64_t", "-DBITS=32", "-DN=2"];
    for (compiler, flags, told) in [
        (
            ARM,
            &["-flto", "-fno-fat-lto-objects"][..],
            "check the linked program",
        ),
        (
            AVR,
            &["-flto", "-fno-fat-lto-objects"],
            "check the linked program",
        ),
        (
            ARM,
            &["-mthumb"],
            "comba is Thumb code, and only ARM state is followed",
        ),
        (MIPS, &["-mips16"], "comba is MIPS16 or microMIPS code"),
        (MIPS, &["-EB"], "add --big-endian"),
    ] {
        let flags: Vec<_> = flags
            .iter()
            .chain(&words)
            .copied()
            .chain(["-O2", "-c"])
            .collect();
        let file = compiler.compile(&sources().join("mul.c"), &flags);
        let error = check(&file, compiler.core, Question::of("comba", 64));
        let error = error.err().expect("no function").to_string();
        assert!(error.contains(told), "{error}");
    }
    // What the linker makes of intermediate code is code.
    let mut flags = vec!["-flto", "-O2", "-Wl,-u,comba"];
    flags.extend(words);
    let file = link(&ARM, "mul.c", "comba", &flags);
    let question = Question {
        align: Some(4),
        ..Question::of("comba", 64)
    };
    proved(&file, &ARM, question);
}
