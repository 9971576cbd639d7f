//! Two stages on a MIPS32: a function that calls the product, then what is made of it, with a frame between them.

use super::abi::{self, SAVE_AREA, SP};
use super::code::Insn;
use super::cores::Core;
use super::instructions::Op;
use super::lower::lower;
use crate::isa::{Limits, LowerError};
use crate::program::Program;
use crate::schedule::{Schedule, Stages};

/// The address of the result while the product is made: $s0.
const KEPT: u8 = 16;
/// $a0 and $a1.
const R: u8 = 4;
const A: u8 = 5;

/// The functions that run `stages` on `core`.
///
/// # Errors
/// That of a stage, or when the stack runs out or a call does not reach.
pub fn all(stages: &Stages, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let rests = lower(&Schedule::Words(stages.rest.clone()), core, limits)?;
    let products = lower(&stages.product, core, limits)?;
    let mut list = Vec::with_capacity(rests.len() * products.len());
    for rest in &rests {
        for product in &products {
            list.push(function(stages.words(), product.clone(), rest.clone())?);
        }
    }
    Ok(list)
}

fn function(
    words: usize,
    product: Program<Insn>,
    rest: Program<Insn>,
) -> Result<Program<Insn>, LowerError> {
    let copy = |d: u8, s: u8| Insn::three(Op::ADDU, d, s, 0);
    let frame = |d: u8| Insn::immediate(Op::ADDIU, d, SP, SAVE_AREA);
    // A call if 0 >= 0, with the instruction behind it.
    let call = Insn::immediate(Op::BGEZAL, 0, 0, 0);
    let body = [copy(KEPT, R), call, frame(R), frame(A), call, copy(R, KEPT)];
    let (before, after) = abi::frame(&body, words)?;
    let start = before.len();
    let mut program = Program::new();
    program.notes = vec![
        (0, "save registers, a frame for the product".into()),
        (start + 3, "what is made of it".into()),
        (start + body.len(), "restore registers, return".into()),
    ];
    program.insns = [before, body.to_vec(), after].concat();
    let first = program.insns.len();
    for (at, target) in [(1, first), (4, first + product.insns.len())] {
        let far = i16::try_from(target - (start + at + 1)).map_err(|_| LowerError::Reach)?;
        program.insns[start + at].ops.k = far.into();
    }
    program.append(product);
    program.append(rest);
    Ok(program)
}
