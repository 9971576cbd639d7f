//! Energy: the model of groszschaedl-2005 at its own figures, a kernel's against a sum over its instructions, and the files
//! that users give.

use lozenge::isa::Isa;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::code::Insn;
use lozenge::isa::arm::cores::{ARM7TDMI, SA_1100, SA_1110};
use lozenge::isa::arm::instructions::Op;
use lozenge::isa::cost::Span;
use lozenge::isa::energy::{DRAWS, Draw, Spent};
use lozenge::{Request, Target};

use crate::kit::oracle;

/// Section 2.2, and table 4 of 1024 bits (s = 32 words).
#[test]
fn currents_are_the_papers() {
    let currents = SA_1100.currents().expect("of an SA-1100");
    assert!(SA_1110.currents().is_none() && ARM7TDMI.currents().is_none());
    let of = |cycles: &[(Draw, u64)]| {
        let mut spans = [Span::default(); DRAWS];
        for (draw, n) in cycles {
            spans[*draw as usize] = Span { min: *n, max: *n };
        }
        let energy = currents.energy(&Spent::of(spans));
        assert_eq!(energy.nanojoules[0], energy.nanojoules[1]);
        (energy.nanojoules[1], energy.amperes[1])
    };
    for (draw, cycles, nanojoules) in [
        (Draw::Alu, 1, "1.296"),
        (Draw::Load, 1, "1.427"),
        (Draw::Store, 1, "1.667"),
        (Draw::Other, 1, "1.238"),
        (Draw::Mul, 1, "1.427"),
        (Draw::Mul, 4, "5.709"),
    ] {
        assert_eq!(
            format!("{:.3}", of(&[(draw, cycles)]).0),
            nanojoules,
            "{draw:?}"
        );
    }
    // CIOS: 2 s^2 + s products of 4 cycles, 4 s^2 + 4 s + 2 additions, 4 s^2 + 7 s + 2 loads, 2 s^2 + 4 s + 1 stores.
    let s = 32u64;
    let cios = [
        (Draw::Mul, 4 * (2 * s * s + s)),
        (Draw::Alu, 4 * s * s + 4 * s + 2),
        (Draw::Load, 4 * s * s + 7 * s + 2),
        (Draw::Store, 2 * s * s + 4 * s + 1),
    ];
    let (nanojoules, amperes) = of(&cios);
    assert_eq!(format!("{amperes:.3}"), "0.196");
    // Printed are 92.5 us and 27.2 uJ, which is what 0.196 A make in that time; unrounded it is 27.15.
    let printed = 1.5 * 0.196 * 92.5;
    assert_eq!(format!("{printed:.1}"), "27.2");
    assert_eq!(format!("{:.2}", nanojoules / 1000.0), "27.15");
}

/// What the most of a kernel's energy is, instruction by instruction.
#[test]
fn a_kernel_draws_what_its_instructions_do() {
    let target = Target::core("sa-1100").expect("a core");
    let kernel = Request::mul(96)
        .variable_time()
        .generate(&target)
        .expect("a kernel");
    let insns = ArmIsa::decode(&SA_1100, kernel.code()).expect("code");
    let mut late: Option<u8> = None;
    let (mut cycles, mut charge) = (0u64, 0f64);
    for (_, insn) in &insns {
        let stall = late.is_some_and(|r| insn.reads() >> r & 1 == 1);
        let (takes, amperes) = drawn(insn);
        let takes = takes + u64::from(stall);
        cycles += takes;
        charge += takes as f64 * amperes;
        late = match insn.op {
            Op::LDR => Some(insn.ops.d),
            Op::LDM => Some((insn.ops.k as u16).ilog2() as u8),
            _ => None,
        };
    }
    assert_eq!(cycles, kernel.cycles().call.max);
    let energy = kernel.report().energy.clone().expect("an SA-1100's");
    let nanojoules = charge * 1.5 / 206.0 * 1000.0;
    let difference = (energy.call.nanojoules[1] - nanojoules).abs();
    assert!(difference < 1e-6, "{nanojoules} {energy:?}");
    assert!(energy.call.nanojoules[0] < energy.call.nanojoules[1]);
    assert!(energy.body.nanojoules[1] < energy.call.nanojoules[1]);
}

/// The most cycles of an instruction in straight code, and what it draws.
fn drawn(insn: &Insn) -> (u64, f64) {
    let words = u64::from((insn.ops.k as u16).count_ones());
    match insn.op {
        Op::UMULL | Op::UMLAL => (4, 0.196),
        Op::MUL | Op::MLA => (3, 0.196),
        Op::LDR => (1, 0.196),
        Op::LDM => (words.max(2), 0.196),
        Op::STR => (1, 0.229),
        Op::STM => (words.max(2), 0.229),
        _ if insn.writes_pc() => (2, 0.178),
        _ => (1, 0.178),
    }
}

/// What the command line says: exit code, output, errors.
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(arguments: &[&str]) -> Said {
    let run = oracle::lozenge()
        .args(arguments)
        .output()
        .expect("lozenge runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Said {
        code: run.status.code().expect("a code"),
        stdout: text(run.stdout),
        stderr: text(run.stderr),
    }
}

const FILE: &str = "source = \"a board\"\nvolts = 5.0\nmegahertz = 16.0\nalu = 0.010\nmul = 0.011\nload = 0.012\n\
                    store = 0.013\nother = 0.009\n";

/// The currents of a file are taken, and what is wrong with one is said.
#[test]
fn currents_may_be_given() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("board.toml");
    let path = path.to_str().expect("a path");
    let out = folder.path().join("out");
    let out = out.to_str().expect("a path");
    let gen_with = |text: &str| {
        std::fs::write(path, text).expect("written");
        run(&[
            "gen",
            "mul",
            "64",
            "--mcu",
            "atmega328p",
            "--energy",
            path,
            "-o",
            out,
            "--force",
            "--json",
        ])
    };
    let said = gen_with(FILE);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    let cycles = report["cycles"]["call"]["max"].as_f64().expect("cycles");
    let nanojoules = report["energy"]["call"]["nanojoules"][1]
        .as_f64()
        .expect("energy");
    // Between the least and the largest of the currents.
    let each = 5.0 / 16.0 * 1000.0;
    assert!(
        (cycles * 0.009 * each..cycles * 0.013 * each).contains(&nanojoules),
        "{nanojoules}"
    );
    let text = std::fs::read_to_string(format!("{out}/mul64.S")).expect("assembly");
    assert!(text.contains("(a board)"), "{text}");
    for (from, to, told) in [
        ("volts = 5.0", "volts = 0.0", "volts is no positive number"),
        ("alu = 0.010\n", "", "missing field `alu`"),
        ("alu", "alt", "unknown field `alt`"),
    ] {
        let said = gen_with(&FILE.replacen(from, to, 1));
        assert_eq!(said.code, 2, "{to}");
        assert!(
            said.stderr.contains(told) || said.stdout.contains(told),
            "{} {}",
            said.stdout,
            said.stderr
        );
    }
    let missing = run(&[
        "gen",
        "mul",
        "64",
        "--mcu",
        "atmega328p",
        "--energy",
        "/nowhere/x.toml",
        "-o",
        out,
    ]);
    assert_eq!(missing.code, 2);
}

/// Rows in the order of what they draw; a core without a source says that there is none.
#[test]
fn rows_are_sorted_by_energy() {
    let said = run(&[
        "compare",
        "mul",
        "96",
        "--core",
        "sa-1100",
        "--sort",
        "energy",
        "--json",
        "--variable-time",
    ]);
    let table: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    let rows = table["rows"].as_array().expect("rows").iter();
    let energy: Vec<f64> = rows
        .filter_map(|row| row["energy"]["call"]["nanojoules"][1].as_f64())
        .collect();
    assert!(energy.len() > 5 && energy.is_sorted(), "{energy:?}");
    let said = run(&["compare", "mul", "32", "--mcu", "atmega328p", "--csv"]);
    let lines = said.stdout.lines().skip(1);
    let no_data = lines.filter(|line| line.contains(",no data,")).count();
    assert!(no_data > 3, "{}", said.stdout);
}
