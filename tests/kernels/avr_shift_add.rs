//! Kernels for parts without a multiplier: every shape of tile proved and run, single-instruction
//! faults rejected, and skips that are conditional instructions told from those that leak.

use std::collections::BTreeMap;

use lozenge::domain::secret::Secret;
use lozenge::facts::Style;
use lozenge::fault::Fault;
use lozenge::function::Function;
use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::abi::IAR;
use lozenge::isa::avr::code::Insn;
use lozenge::isa::avr::cores::{ATMEGA128, ATMEGA4809, ATTINY10, ATTINY85, ATXMEGA32A4, Core};
use lozenge::isa::avr::instructions::{Op, Ops};
use lozenge::isa::avr::machine::Avr;
use lozenge::isa::avr::run::Decoded;
use lozenge::isa::enter::enter;
use lozenge::kernel;
use lozenge::kernel::Request;
use lozenge::spec::{Alias, Op as Operation, Spec};
use lozenge::vectors::{self};
use toml::Value;

use crate::kit::paper::numbers;
use crate::kit::{any, ask, known, mutants, tier};

const FAULTS_PER_KERNEL: usize = 300;

fn request(op: Operation, bits: u32, params: &[(&str, usize)]) -> Request {
    let params: BTreeMap<_, _> = params.iter().map(|(k, v)| (k.to_string(), *v)).collect();
    Request {
        method: Some("shift-and-add".into()),
        params,
        ..ask::of(op, bits)
    }
}

/// Proved, in constant time, and right on random and structured operands?
fn judge(op: Operation, bits: u32, params: &[(&str, usize)], core: &Core) {
    let what = format!("{} {bits} bits, {params:?} on {}", op.name(), core.name);
    let kernel = known::generate(&request(op, bits, params), &any(core))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(kernel.is_proved(), "{what}: {:?}", kernel.proof);
    for (name, timing) in &kernel.constant_time {
        assert_eq!(timing.leak, None, "{what}: {name}");
        let cost = timing.cost.expect("followed");
        assert_eq!(cost.call.min, cost.call.max, "{what}");
    }
    let spec = Spec::new(op, bits, 8).expect("a size");
    let on = any(core);
    let run = kernel::runs(&spec, &on, &kernel.code);
    for [a, b] in vectors::pairs(bits as usize / 8, 40, bits.into()) {
        let b = if op == Operation::Sqr { a.clone() } else { b };
        let sources = [a, b];
        let (got, cost) = run(&sources, Alias::Distinct).expect("runs");
        assert_eq!(got, &sources[0] * &sources[1], "{what}");
        // The same for every operand, and what the secret domain says.
        assert_eq!(cost.call, kernel.cost.call, "{what}");
    }
}

#[test]
fn every_shape_is_proved_and_right() {
    let (mut cells, mut turns) = (0, tier::Turns::default());
    // Where Y is the stack pointer of data there are two registers fewer.
    let iar = &ATTINY85.called(&IAR);
    for (core, most) in [(&ATTINY85, 15), (&ATTINY10, 7), (iar, 14)] {
        for bits in [8, 16, 24, 56, 64, 88, 160] {
            let n = bits as usize / 8;
            if most == 14 && bits % 3 == 1 {
                continue;
            }
            for (e, f) in [
                (1, 1),
                (1, 2),
                (2, 1),
                (2, 3),
                (3, 4),
                (4, 2),
                (5, 2),
                (8, 4),
                (10, 5),
                (4, 11),
            ] {
                for mask in [0, 1] {
                    if e > n || f > n || e + f + mask > most {
                        continue;
                    }
                    let params = [("e", e), ("f", f), ("mask", mask)];
                    cells += 1;
                    if !turns.skips() {
                        judge(Operation::Mul, bits, &params, core);
                    }
                }
            }
        }
    }
    assert!(cells > 120, "{cells} cells");
}

#[test]
fn every_square_is_proved_and_right() {
    let (mut cells, mut turns) = (0, tier::Turns::default());
    let iar = &ATTINY85.called(&IAR);
    for (core, most) in [(&ATTINY85, 15), (&ATTINY10, 7), (iar, 14)] {
        for bits in [8, 16, 24, 56, 88, 160, 256] {
            if most == 14 && bits % 3 == 1 {
                continue;
            }
            for e in [1, 2, 3, 5, 7] {
                for mask in [0, 1] {
                    let n = bits as usize / 8;
                    if e < n.min(2) || e > n || 2 * e + mask > most {
                        continue;
                    }
                    cells += 1;
                    if !turns.skips() {
                        judge(Operation::Sqr, bits, &[("e", e), ("mask", mask)], core);
                    }
                }
            }
        }
    }
    assert!(cells > 50, "{cells} cells");
}

/// The default is the cheapest of all shapes; what a user gets.
#[test]
fn cycles_stay_as_good_as_they_are() {
    let iar = &ATTINY85.called(&IAR);
    let limits = [
        (Operation::Mul, &ATTINY85, 64, 1718),
        (Operation::Mul, &ATTINY85, 128, 6526),
        (Operation::Mul, &ATTINY85, 160, 9790),
        (Operation::Mul, &ATTINY85, 256, 25657),
        (Operation::Mul, &ATTINY10, 64, 2305),
        (Operation::Mul, &ATTINY10, 160, 14366),
        (Operation::Mul, iar, 160, 10161),
        (Operation::Sqr, iar, 160, 7288),
        (Operation::Sqr, &ATTINY85, 160, 7220),
        (Operation::Sqr, &ATTINY85, 256, 16768),
        (Operation::Sqr, &ATTINY10, 96, 3664),
    ];
    for (op, core, bits, most) in limits {
        let mut request = request(op, bits, &[]);
        request.method = None;
        let (_, best) = kernel::choose(&request, &any(core)).expect("a kernel");
        let cycles = best.cost.expect("returns").call.max;
        println!(
            "{bits} bits on {}: {cycles} cycles, {} bytes, {:?}",
            core.name,
            best.code.len(),
            best.params
        );
        assert!(
            cycles <= most,
            "{bits} bits on {}: {cycles} cycles",
            core.name
        );
    }
}

#[test]
fn wrong_mutants_are_rejected() {
    let iar = &ATTINY85.called(&IAR);
    let kernels = [
        (Operation::Mul, &ATTINY85, 3, 2, 1, 0),
        (Operation::Mul, &ATTINY85, 5, 2, 3, 0),
        (Operation::Mul, iar, 5, 2, 3, 0),
        (Operation::Sqr, iar, 4, 2, 2, 1),
        (Operation::Mul, &ATTINY85, 4, 2, 2, 1),
        (Operation::Mul, &ATTINY85, 8, 4, 4, 0),
        (Operation::Mul, &ATTINY85, 15, 10, 5, 0),
        (Operation::Mul, &ATTINY10, 6, 4, 3, 0),
        (Operation::Sqr, &ATTINY85, 5, 2, 2, 0),
        (Operation::Sqr, &ATTINY10, 6, 3, 3, 0),
    ];
    let cases = kernels.map(|(op, core, n, e, f, mask)| {
        let spec = Spec::new(op, 8 * n, 8).expect("a size");
        let params = vec![("e", e), ("f", f), ("mask", mask)];
        (core.clone(), spec, Style::Unrolled, "shift-and-add", params)
    });
    mutants::attack::<AvrIsa>(cases.into(), FAULTS_PER_KERNEL, 7).hold(3000, 8);
}

/// Runs SBRC on a secret before `next`: cycles, or the fault.
fn skip_before(core: &Core, next: Insn) -> Result<u64, Fault> {
    let sbrc = Insn {
        op: Op::SBRC,
        ops: Ops {
            r: 20,
            b: 3,
            ..Ops::default()
        },
    };
    let insns = [sbrc, next, Insn::rr(Op::RET, 0, 0), Insn::rr(Op::RET, 0, 0)];
    let code = AvrIsa::encode(core, &insns).expect("encodes");
    let function = Function::kernel(&code);
    let (mut m, _) = enter::<Avr<Secret>, 8>(Secret::default(), core, &function, &[]);
    m.r[20] = m.d.secret("share");
    let run = Decoded::new(&code, core).run(&mut m, usize::MAX, 10);
    run.map(|ran| ran.cost.call.max).map_err(|(_, fault)| fault)
}

#[test]
fn a_skip_is_constant_time_only_before_an_instruction_of_one_cycle() {
    for core in [&ATTINY85, &ATMEGA128, &ATXMEGA32A4, &ATMEGA4809, &ATTINY10] {
        let ret = u64::from((core.cycles)(Insn::rr(Op::RET, 0, 0).form().timing));
        for op in [Op::ADC, Op::MOV, Op::EOR, Op::SUB] {
            assert_eq!(
                skip_before(core, Insn::rr(op, 22, 21)),
                Ok(2 + ret),
                "{op:?} on {}",
                core.name
            );
        }
        // Longer, or it would change more than a register: PUSH takes one cycle on some cores.
        let others = [
            Insn::rr(Op::PUSH, 0, 21),
            Insn::rr(Op::POP, 21, 0),
            Insn::dk(Op::RJMP, 0, 0),
            Insn::rr(Op::RET, 0, 0),
            Insn::dk(Op::LDDZ, 21, 0),
            Insn::rk(Op::STX, 21, 0),
            Insn::rk(Op::OUT, 21, 0x3d),
        ];
        for next in others {
            let told = skip_before(core, next);
            assert!(
                matches!(&told, Err(Fault::SecretBranch(what)) if what.to_string() == "the secret share"),
                "{} on {}: {told:?}",
                next.text(),
                core.name
            );
        }
    }
}

/// `tests/paper/no-multiplier.toml` says what `gen` gives.
#[test]
fn the_cheapest_are_those_on_record() {
    let table: Value = toml::from_str(include_str!("../paper/no-multiplier.toml")).expect("TOML");
    for op in [Operation::Mul, Operation::Sqr] {
        for row in table[op.name()].as_array().expect("rows") {
            let bits = row["bits"].as_integer().expect("bits") as u32;
            for core in [&ATTINY85, &ATTINY10] {
                let Some(said) = row.get(core.name) else {
                    continue;
                };
                let mut request = request(op, bits, &[]);
                request.method = None;
                let (_, best) = kernel::choose(&request, &any(core)).expect("a kernel");
                let made = [best.cycles(), best.code.len() as u64];
                assert_eq!(numbers(said), made, "{row}");
            }
        }
    }
}
