//! RISC-V kernels on the RTL of Ibex (PyPI, pythondata-cpu-ibex, by verilator): the cycles that we say, to the cycle, with
//! each of its three multipliers.

use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::facts::Style;
use lozenge::isa::Isa;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::code::Insn;
use lozenge::isa::riscv::cores::Core;
use lozenge::isa::riscv::instructions::Op;
use lozenge::kernel::Request;
use lozenge::spec::modulus::Reduce;
use lozenge::spec::{Alias, Op as Operation};
use lozenge::{kernel, vectors};
use num_bigint::BigUint;

use crate::kit::oracle::{folder, run, source};
use crate::kit::{any, ask, known, tier};

const MULTIPLIERS: [(&str, &str); 3] = [
    ("ibex-single-cycle", "RV32MSingleCycle"),
    ("ibex-fast", "RV32MFast"),
    ("ibex-slow", "RV32MSlow"),
];
/// Where the start, the function, its result and its operands lie: as in tests/oracle/ibex.sv.
const START: usize = 0x80;
const RETURN: i32 = 0x200;
const KERNEL: usize = 0x400;
const RESULT: usize = 0x8000;
const OPERANDS: [usize; 2] = [0x8400, 0x8800];
const STACK: i32 = 0xf000;
const MEMORY: usize = 0x1_0000;

/// Where PyPI's package has the RTL.
fn rtl() -> PathBuf {
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle-venv/bin/python");
    let line = "import pythondata_cpu_ibex as p; print(p.data_location)";
    let output = run(Command::new(python).args(["-c", line]));
    String::from_utf8(output.stdout)
        .expect("a path")
        .trim()
        .into()
}

/// The simulator of an Ibex with this multiplier.
fn simulator(multiplier: &str) -> PathBuf {
    let (here, rtl) = (folder(&format!("ibex_{multiplier}")), rtl());
    let text = std::fs::read_to_string(source("ibex.sv")).expect("the top module");
    let text = text.replace("MULTIPLIER", multiplier);
    let program = std::fs::read_to_string(source("ibex.cpp")).expect("the program");
    // Both lie where they are compiled, wherever this tree is; what is there already is not compiled again.
    for (name, text) in [("top.sv", text), ("ibex.cpp", program)] {
        let path = here.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        std::fs::write(path, text).expect("written");
    }
    let vendor = rtl.join("vendor/lowrisc_ip");
    let include = |path: PathBuf| format!("-I{}", path.display());
    let primitives = vendor.join("ip/prim/rtl");
    let packages = ["mubi", "cipher", "secded", "ram_1p"];
    let packages = packages.map(|name| primitives.join(format!("prim_{name}_pkg.sv")));
    run(Command::new("verilator")
        .current_dir(&here)
        .args([
            "--cc",
            "--exe",
            "--build",
            "-Wno-fatal",
            "-Wno-lint",
            "-Wno-style",
        ])
        .args([
            "-DSYNTHESIS",
            "-DRVFI",
            "--top-module",
            "top",
            "-Mdir",
            "made",
        ])
        .arg(include(rtl.join("rtl")))
        .arg(include(primitives.clone()))
        .arg(include(vendor.join("dv/sv/dv_utils")))
        .arg(include(vendor.join("ip/prim_generic/rtl")))
        .args(packages.iter().filter(|path| path.exists()))
        .arg(rtl.join("rtl/ibex_pkg.sv"))
        .arg("top.sv")
        .arg("ibex.cpp"));
    here
}

/// Instructions that call the function and stop behind it.
fn start(count: usize) -> Vec<Insn> {
    let places = [RESULT].into_iter().chain(OPERANDS).take(1 + count);
    let point = |(i, at): (usize, usize)| number(10 + i as u8, at as i32);
    let mut list: Vec<_> = places.enumerate().flat_map(point).collect();
    list.extend(number(2, STACK));
    list.extend(number(1, RETURN));
    let at = START + 4 * list.len();
    list.push(Insn::immediate(Op::JAL, 0, 0, KERNEL as i32 - at as i32));
    list
}

fn number(r: u8, value: i32) -> [Insn; 2] {
    let low = value << 20 >> 20;
    [
        Insn::immediate(Op::LUI, r, 0, value - low),
        Insn::immediate(Op::ADDI, r, r, low),
    ]
}

/// The cycles of `code` on these operands.
fn measured(simulator: &Path, core: &Core, code: &[u8], sources: &[BigUint]) -> u64 {
    let mut memory = vec![0; MEMORY];
    let mut put = |at: usize, bytes: &[u8]| memory[at..at + bytes.len()].copy_from_slice(bytes);
    let back = [
        Insn::immediate(Op::ADDI, 0, 0, 0),
        Insn::immediate(Op::JAL, 0, 0, 0),
    ];
    put(
        START,
        &RiscvIsa::encode(core, &start(sources.len())).expect("code"),
    );
    put(
        RETURN as usize,
        &RiscvIsa::encode(core, &back).expect("code"),
    );
    put(KERNEL, &RiscvIsa::encode(core, &back[..1]).expect("code"));
    put(KERNEL + 4, code);
    for (at, number) in OPERANDS.into_iter().zip(sources) {
        put(at, &number.to_bytes_le());
    }
    let words = memory
        .chunks(4)
        .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    let text: String = words.map(|word| format!("{word:08x}\n")).collect();
    std::fs::write(simulator.join("program.hex"), text).expect("written");
    let output = run(Command::new(simulator.join("made/Vtop")).current_dir(simulator));
    let text = String::from_utf8(output.stdout).expect("text");
    text.trim().parse().expect("cycles")
}

#[test]
fn kernels_take_the_cycles_of_the_rtl() {
    let fold = Some(ask::modular("2^255-19", Reduce::Full));
    let cases = [
        (Operation::Mul, 256, None, Style::Unrolled),
        (Operation::Sqr, 160, None, Style::Unrolled),
        (Operation::Modmul, 256, fold, Style::Unrolled),
        (Operation::Mul, 512, None, Style::Rolled),
    ];
    // Made for a core without instructions of 16 bits: a jump to one of 32 across two words takes a cycle more.
    let plain = Core::named("rv32im").expect("a core");
    for (name, multiplier) in MULTIPLIERS {
        let simulator = simulator(multiplier);
        let core = Core::named(name).expect("a core");
        for (op, bits, modular, style) in &cases {
            let request = Request {
                modular: modular.clone(),
                style: Some(*style),
                ..ask::of(*op, *bits)
            };
            let kernel = known::generate(&request, &any(plain)).expect("a kernel");
            let on = any(core);
            let run = kernel::runs(&kernel.spec, &on, &kernel.code);
            for sources in vectors::of(&kernel.spec, tier::times(10), 3) {
                let (_, cost) = run(&sources, Alias::Distinct).expect("no fault");
                assert_eq!(cost.call.min, cost.call.max);
                let rtl = measured(&simulator, core, &kernel.code, &sources);
                assert_eq!(
                    cost.call.max,
                    rtl,
                    "{} {bits} on {name}: {sources:x?}",
                    op.name()
                );
            }
        }
    }
}
