//! Kernels for parts without a multiplier: every shape of tile proved and run, single-instruction
//! faults rejected, and skips that are conditional instructions told from those that leak.

use std::collections::BTreeMap;

use lozenge::call::Operands;
use lozenge::candidate::Budget;
use lozenge::domain::secret::Secret;
use lozenge::fault::Fault;
use lozenge::function::Function;
use lozenge::isa::Isa;
use lozenge::isa::avr::abi::IAR;
use lozenge::isa::avr::code::Insn;
use lozenge::isa::avr::cores::{ATMEGA128, ATMEGA4809, ATTINY10, ATTINY85, ATXMEGA32A4, Core};
use lozenge::isa::avr::instructions::{Op, Ops};
use lozenge::isa::avr::{AvrIsa, run::Decoded};
use lozenge::kernel::{self, Request};
use lozenge::lower::Lower;
use lozenge::method::{self, Params};
use lozenge::prove;
use lozenge::spec::{Alias, Op as Operation, Spec};
use lozenge::vectors::{self, Random};
use num_bigint::BigUint;

use crate::kit::tier;

/// Instructions after which a mutant does not return any more.
const PATIENCE: u64 = 100_000;
const FAULTS_PER_KERNEL: usize = 300;

fn request(op: Operation, bits: u32, params: &[(&str, usize)]) -> Request {
    let params: BTreeMap<_, _> = params.iter().map(|(k, v)| (k.to_string(), *v)).collect();
    Request {
        op,
        size: bits.into(),
        modular: None,
        method: Some("shift-and-add".into()),
        params,
        max_regs: None,
        style: None,
        budget: Budget::default(),
        room: None,
        demands: lozenge::kernel::Demands::default(),
        drop: None,
    }
}

/// Proved, in constant time, and right on random and structured operands?
fn judge(op: Operation, bits: u32, params: &[(&str, usize)], core: &Core) {
    let what = format!("{} {bits} bits, {params:?} on {}", op.name(), core.name);
    let kernel = kernel::generate::<AvrIsa>(&request(op, bits, params), core)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(kernel.is_proved(), "{what}: {:?}", kernel.proof);
    for (name, timing) in &kernel.constant_time {
        assert_eq!(timing.leak, None, "{what}: {name}");
        let cost = timing.cost.expect("followed");
        assert_eq!(cost.call.min, cost.call.max, "{what}");
    }
    let spec = Spec::new(op, bits, 8).expect("a size");
    for [a, b] in vectors::pairs(bits as usize / 8, 40, bits.into()) {
        let b = if op == Operation::Sqr { a.clone() } else { b };
        let sources = [a, b];
        let run = kernel::run::<AvrIsa>(&spec, core, &kernel.code, &sources, Alias::Distinct);
        let (got, cost) = run.expect("runs");
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
        let (_, best) = kernel::choose::<AvrIsa>(&request, core).expect("a kernel");
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

fn returns_right(spec: &Spec, core: &Core, code: &[u8], pair: &[BigUint; 2]) -> Option<bool> {
    let [a, b] = pair;
    let b = if spec.op == Operation::Sqr { a } else { b };
    let operands = Operands {
        spec,
        sources: pair,
        alias: Alias::Distinct,
    };
    match AvrIsa::call_concrete(core, &Function::kernel(code), &operands, PATIENCE) {
        Ok((got, _)) => Some(got == a * b),
        Err((_, Fault::StepLimit(_))) => None,
        Err(_) => Some(false),
    }
}

fn mutate(program: &[Insn], core: &Core, random: &mut Random) -> Option<(String, Vec<u8>)> {
    let at = random.below(program.len());
    let mut out = program.to_vec();
    match random.below(5) {
        0 => out[at] = Insn::rr(Op::NOP, 0, 0),
        1 => {
            let mut code = AvrIsa::encode(core, program).expect("encodes");
            code[2 * at + random.below(2)] ^= 1 << random.below(8);
            AvrIsa::decode(core, &code).ok()?;
            return Some((format!("bit of {} at {at}", program[at].text()), code));
        }
        2 if at + 1 < out.len() => out.swap(at, at + 1),
        3 => match out[at].op {
            Op::ADC => out[at].op = Op::ADD,
            Op::ADD => out[at].op = Op::ADC,
            Op::SBRC => out[at].op = Op::SBRS,
            Op::BLD => out[at].ops.b = 1,
            Op::LDI => out[at].ops.k -= 1,
            _ => return None,
        },
        _ => match out[at].op {
            Op::ADC | Op::ADD | Op::MOV | Op::AND => out[at].ops.r ^= 1,
            Op::SBRC => out[at].ops.b -= 1,
            _ => return None,
        },
    }
    if out == program {
        return None;
    }
    let code = AvrIsa::encode(core, &out).ok()?;
    Some((
        format!("{} -> {} at {at}", program[at].text(), out[at].text()),
        code,
    ))
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
    let (mut total, mut rejected, mut endless) = (0, 0, 0);
    for (op, core, n, e, f, mask) in tier::some(kernels, 7) {
        let spec = Spec::new(op, 8 * n as u32, 8).expect("a size");
        let params = Params::from([("e", e), ("f", f), ("mask", mask)]);
        let method = method::find("shift-and-add").expect("a method");
        let schedule = (method.schedule)(&spec, &AvrIsa::facts(core), &params).expect("a schedule");
        schedule.check().expect("a valid schedule");
        let mut programs = AvrIsa::lower(&schedule, core).expect("lowers");
        let program = programs.pop().expect("a program").insns;
        let mut random = tier::random((n + e) as u64);
        let pairs = vectors::pairs(n, 400, 5);
        let mut tried = 0;
        while tried < tier::of_each(FAULTS_PER_KERNEL) {
            let Some((what, code)) = mutate(&program, core, &mut random) else {
                continue;
            };
            tried += 1;
            total += 1;
            if returns_right(&spec, core, &code, &pairs[0]).is_none() {
                endless += 1;
                continue;
            }
            let proved = prove::prove::<AvrIsa>(&spec, core, &code, Alias::Distinct).holds();
            let is_right = |pair| returns_right(&spec, core, &code, pair) == Some(true);
            assert!(
                !proved || pairs.iter().all(is_right),
                "PROVED BUT WRONG: {} n={n} e={e} f={f} mask={mask} on {}: {what}",
                op.name(),
                core.name
            );
            rejected += usize::from(!proved);
        }
    }
    println!("{total} faults, {rejected} rejected, {endless} without end");
    assert!(
        rejected * 10 > total * tier::of([4, 7, 7]),
        "{rejected} of {total} rejected"
    );
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
    let (mut m, _) =
        lozenge::isa::avr::abi::enter(Secret::default(), core, &Function::kernel(&code), &[]);
    m.r[20] = m.d.secret("share");
    let run = Decoded::new(&code, core).run(&mut m, usize::MAX, 10);
    run.map(|cost| cost.call.max).map_err(|(_, fault)| fault)
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

/// README's table says what `gen` gives.
#[test]
fn readme_says_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).expect("README.md");
    for bits in [64, 128, 160, 256] {
        let mut row = format!("| {bits} |");
        for core in [&ATTINY85, &ATTINY10] {
            let mut request = request(Operation::Mul, bits, &[]);
            request.method = None;
            let (_, best) = kernel::choose::<AvrIsa>(&request, core).expect("a kernel");
            let cycles = best.cost.expect("returns").call.max;
            row += &format!(" {cycles} | {} |", best.code.len());
        }
        assert!(readme.contains(&row), "README lacks {row}");
    }
    let mut request = request(Operation::Sqr, 160, &[]);
    request.method = None;
    let (_, best) = kernel::choose::<AvrIsa>(&request, &ATTINY85).expect("a kernel");
    let cycles = best.cost.expect("returns").call.max;
    let square = format!("{cycles} cycles\nand {} bytes on attiny85", best.code.len());
    assert!(readme.contains(&square), "README lacks {square}");
}
