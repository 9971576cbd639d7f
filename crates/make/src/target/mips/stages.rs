//! Two stages on a MIPS32: a function that calls the product, then what is made of it, with a frame between them.

use machine::isa::mips::MipsIsa;
use machine::isa::mips::abi::{ARGUMENTS, SAVE_AREA, SP, STACK_LIMIT};
use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::Op;
use machine::program::{Area, Program};

use crate::engine::whole::lower;
use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::Stages;
use crate::target::mips::frame;
use crate::target::stages::{self, Caller, Frame, second, tried};

/// The addresses of the result and of the modulus while the product is made: $s0 and $s1.
const KEPT: [u8; 2] = [16, 17];

/// The functions that run `stages` on `core`.
///
/// # Errors
/// That of a stage, or when the stack runs out or a call does not reach.
pub fn all(stages: &Stages, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let rests = second::<MipsIsa>(core, stages, lower::<MipsIsa>(&stages.rest, core, limits)?)?;
    let [product, _] = stages.operations();
    let products = tried(
        core,
        &product,
        lower::<MipsIsa>(&stages.product, core, limits)?,
    )?;
    stages::all(&rests, &products, |product, rest| {
        caller(stages)?.with(stages, product, rest, link)
    })
}

/// Makes a call go on to an instruction: so far from the one behind it.
fn link(insns: &mut [Insn], at: usize, target: usize) -> Result<(), LowerError> {
    let far = i16::try_from(target - (at + 1)).map_err(|_| LowerError::Reach)?;
    insns[at].ops.k = far.into();
    Ok(())
}

fn caller(stages: &Stages) -> Result<Caller<Insn>, LowerError> {
    let copy = |d: u8, s: u8| Insn::three(Op::ADDU, d, s, 0);
    let frame = |d: u8| Insn::immediate(Op::ADDIU, d, SP, SAVE_AREA);
    // A call if 0 >= 0, with the instruction behind it.
    let call = Insn::immediate(Op::BGEZAL, 0, 0, 0);
    let [r, a, m, _] = ARGUMENTS;
    let modulus = stages.modulus().map(|side| ARGUMENTS[side]);
    let mut body = vec![copy(KEPT[0], r)];
    body.extend(modulus.map(|given| copy(KEPT[1], given)));
    let first = body.len();
    body.extend([call, frame(r), frame(a)]);
    body.extend(modulus.map(|_| copy(m, KEPT[1])));
    let second = body.len();
    body.extend([call, copy(r, KEPT[0])]);
    let (before, after) = frame::frame(&body, stages.words())?;
    // The first instruction moves the stack pointer.
    let below = before.first().map_or(0, |insn| i64::from(insn.ops.k));
    Ok(Caller {
        parts: [before, body, after],
        notes: [
            "save registers, a frame for the product",
            "",
            "restore registers, return",
        ],
        calls: [first, second],
        behind: 2,
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
