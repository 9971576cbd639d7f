//! Two stages on an ARM: a function that calls the product, then what is made of it, with a frame between them.

use machine::isa::arm::ArmIsa;
use machine::isa::arm::abi::STACK_LIMIT;
use machine::isa::arm::code::Insn;
use machine::isa::arm::cores::Core;
use machine::isa::arm::instructions::{Op, Ops};
use machine::isa::arm::machine::SP;
use machine::program::{Area, Program};

use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::Stages;
use crate::target::arm::flow::WORD;
use crate::target::arm::frame;
use crate::target::arm::lower::lower;
use crate::target::stages::{self, Caller, Frame, second, tried};

/// The addresses of the result and of the modulus while the product is made.
const KEPT: [u8; 2] = [4, 5];
/// Where a branch counts from, in words behind itself.
const AHEAD: usize = 2;

/// The functions that run `stages` on `core`.
///
/// # Errors
/// That of a stage, or when the stack runs out.
pub fn all(stages: &Stages, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let rests = second::<ArmIsa>(core, stages, lower(&stages.rest, core, limits)?)?;
    let rest = rests.get(..1).ok_or(LowerError::Registers)?;
    let [product, _] = stages.operations();
    let products = tried(core, &product, lower(&stages.product, core, limits)?)?;
    stages::all(rest, &products, |product, rest| {
        caller(stages)?.with(stages, product, rest, link)
    })
}

/// Makes a call go on to an instruction.
fn link(insns: &mut [Insn], at: usize, target: usize) -> Result<(), LowerError> {
    insns[at].ops.k = target as i32 - (at + AHEAD) as i32;
    Ok(())
}

fn caller(stages: &Stages) -> Result<Caller<Insn>, LowerError> {
    let copy = |d: u8, m: u8| Insn::reg(Op::MOV, false, d, 0, m);
    let call = Insn {
        op: Op::BL,
        ops: Ops::default(),
    };
    let modulus = stages.modulus().map(|side| (KEPT[1], side as u8));
    let keep = modulus.map(|(kept, m)| copy(kept, m));
    let give = modulus.map(|(kept, _)| copy(2, kept));
    let mut body = vec![copy(KEPT[0], 0)];
    body.extend(keep);
    let first = body.len() + 1;
    body.extend([copy(0, SP), call, copy(0, KEPT[0]), copy(1, SP)]);
    body.extend(give);
    let second = body.len();
    body.push(call);
    let words = stages.words();
    let (before, after) = frame::frame(&body, words)?;
    // LR is saved, too.
    let saved = 1 + KEPT.len() - usize::from(modulus.is_none());
    let below = WORD as usize * (saved + frame::room(words));
    Ok(Caller {
        parts: [before, body, after],
        notes: [
            "save registers, a frame for the product",
            "",
            "restore registers",
        ],
        calls: [first, second],
        behind: 1,
        frame: Frame {
            area: Area::Stack,
            product: -(below as i64),
            stack: -(below as i64),
            word: WORD.into(),
            bytes: below,
            limit: STACK_LIMIT as usize,
        },
    })
}
