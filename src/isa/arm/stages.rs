//! Two stages on an ARM: a function that calls the product, then what is made of it, with a frame between them.

use super::abi;
use super::code::Insn;
use super::cores::Core;
use super::instructions::{Op, Ops};
use super::lower::lower;
use super::machine::SP;
use crate::isa::{Limits, LowerError};
use crate::program::Program;
use crate::schedule::{Schedule, Stages};

/// The address of the result while the product is made.
const KEPT: u8 = 4;
/// Where a branch counts from, in words behind itself.
const AHEAD: usize = 2;

/// The functions that run `stages` on `core`.
///
/// # Errors
/// That of a stage, or when the stack runs out.
pub fn all(stages: &Stages, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let rest = lower(&Schedule::Words(stages.rest.clone()), core, limits)?;
    let rest = rest.into_iter().next().ok_or(LowerError::Registers)?;
    let products = lower(&stages.product, core, limits)?.into_iter();
    let whole = products.map(|product| function(stages.words(), product, rest.clone()));
    whole.collect()
}

fn function(
    words: usize,
    product: Program<Insn>,
    rest: Program<Insn>,
) -> Result<Program<Insn>, LowerError> {
    let copy = |d: u8, m: u8| Insn::reg(Op::MOV, false, d, 0, m);
    let call = Insn {
        op: Op::BL,
        ops: Ops::default(),
    };
    let body = vec![
        copy(KEPT, 0),
        copy(0, SP),
        call,
        copy(0, KEPT),
        copy(1, SP),
        call,
    ];
    let (before, after) = abi::frame(&body, words)?;
    let start = before.len();
    let mut program = Program::new();
    program.notes = vec![
        (0, "save registers, a frame for the product".into()),
        (start + 3, "what is made of it".into()),
        (start + body.len(), "restore registers".into()),
    ];
    program.insns = [before, body, after].concat();
    let first = program.insns.len();
    for (at, target) in [(2, first), (5, first + product.insns.len())] {
        program.insns[start + at].ops.k = target as i32 - (start + at + AHEAD) as i32;
    }
    program.append(product);
    program.append(rest);
    Ok(program)
}
