//! Two stages on RISC-V: a function that calls the product, then what is made of it, with a frame between them.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::abi::{ARGUMENTS, RA, SAVE_AREA, SP, STACK_LIMIT};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Op;
use machine::isa::riscv::operands::Features;
use machine::program::{Area, Program};

use crate::engine::whole::lower;
use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::Stages;
use crate::target::riscv::flow::shortest;
use crate::target::riscv::frame;
use crate::target::riscv::registers::ZERO;
use crate::target::stages::{self, Caller, Frame, second, tried};

/// The addresses of the result and of the modulus while the product is made: s0 and s1.
const KEPT: [u8; 2] = [8, 9];

/// The functions that run `stages` on `core`.
///
/// # Errors
/// That of a stage, or when the stack runs out or a call does not reach.
pub fn all(stages: &Stages, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let rests = second::<RiscvIsa>(core, stages, lower::<RiscvIsa>(&stages.rest, core, limits)?)?;
    let [product, _] = stages.operations();
    let products = tried(
        core,
        &product,
        lower::<RiscvIsa>(&stages.product, core, limits)?,
    )?;
    stages::all(&rests, &products, |product, rest| {
        caller(stages, core.features)?.with(stages, product, rest, link)
    })
}

/// Makes a call go on to an instruction, so many bytes from its own address.
fn link(insns: &mut [Insn], at: usize, target: usize) -> Result<(), LowerError> {
    let far = insns[at..target].iter().map(Insn::bytes).sum::<usize>();
    insns[at].ops.k = far as i32;
    insns[at].code().map(|_| ()).map_err(|_| LowerError::Reach)
}

fn caller(stages: &Stages, features: Features) -> Result<Caller<Insn>, LowerError> {
    let copy = |d: u8, s: u8| Insn::three(Op::ADD, d, ZERO, s);
    let frame = |d: u8| Insn::immediate(Op::ADDI, d, SP, SAVE_AREA);
    let call = Insn::immediate(Op::JAL, RA, 0, 0);
    let [r, a, m] = [ARGUMENTS[0], ARGUMENTS[1], ARGUMENTS[2]];
    let modulus = stages.modulus().map(|side| ARGUMENTS[side]);
    let mut body = vec![copy(KEPT[0], r)];
    body.extend(modulus.map(|given| copy(KEPT[1], given)));
    let first = body.len() + 1;
    body.extend([frame(r), call, frame(a)]);
    body.extend(modulus.map(|_| copy(m, KEPT[1])));
    let second = body.len() + 1;
    body.extend([copy(r, KEPT[0]), call]);
    let (before, after) = frame::frame(&body, stages.words(), features)?;
    let moves = before.iter().filter(|insn| insn.op == Op::ADDI);
    let below: i64 = moves.map(|insn| i64::from(insn.ops.k)).sum();
    // Calls stay long: what is called is far.
    let short = |insn: Insn| match insn.op {
        Op::JAL => insn,
        _ => shortest(insn, features),
    };
    let parts = [before, body, after];
    Ok(Caller {
        parts: parts.map(|part| part.into_iter().map(short).collect()),
        notes: [
            "save registers, a frame for the product",
            "",
            "restore registers, return",
        ],
        calls: [first, second],
        behind: 1,
        frame: Frame {
            area: Area::Stack,
            product: below + i64::from(SAVE_AREA),
            stack: below,
            word: 4,
            bytes: -below as usize,
            limit: STACK_LIMIT as usize,
        },
    })
}
