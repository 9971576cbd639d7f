//! Two stages on a MIPS32: a function that calls the product, then what is made of it, with a frame between them.

use machine::isa::mips::MipsIsa;
use machine::isa::mips::abi::{ARGUMENTS, SAVE_AREA, SP, STACK_LIMIT};
use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::Op;
use machine::program::{Area, Program};

use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::Stages;
use crate::target::mips::frame;
use crate::target::mips::lower::lower;
use crate::target::stages::{Lent, Tried, second, tried};

/// The addresses of the result and of the modulus while the product is made: $s0 and $s1.
const KEPT: [u8; 2] = [16, 17];

/// The functions that run `stages` on `core`.
///
/// # Errors
/// That of a stage, or when the stack runs out or a call does not reach.
pub fn all(stages: &Stages, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let rests = second(core, stages, lower(&stages.rest, core, limits)?)?;
    let [product, _] = stages.operations();
    let products = tried(core, &product, lower(&stages.product, core, limits)?)?;
    let mut list = Vec::with_capacity(rests.len() * products.len());
    for rest in &rests {
        for product in &products {
            list.push(function(stages, product, rest)?);
        }
    }
    Ok(list)
}

fn function(
    stages: &Stages,
    product: &Tried<MipsIsa>,
    rest: &Tried<MipsIsa>,
) -> Result<Program<Insn>, LowerError> {
    let copy = |d: u8, s: u8| Insn::three(Op::ADDU, d, s, 0);
    let frame = |d: u8| Insn::immediate(Op::ADDIU, d, SP, SAVE_AREA);
    // A call if 0 >= 0, with the instruction behind it.
    let call = Insn::immediate(Op::BGEZAL, 0, 0, 0);
    let [r, a, m, _] = ARGUMENTS;
    let modulus = stages.modulus().map(|side| ARGUMENTS[side]);
    let mut body = vec![copy(KEPT[0], r)];
    body.extend(modulus.map(|given| copy(KEPT[1], given)));
    body.extend([call, frame(r), frame(a)]);
    body.extend(modulus.map(|_| copy(m, KEPT[1])));
    body.extend([call, copy(r, KEPT[0])]);
    let words = stages.words();
    let (before, after) = frame::frame(&body, words)?;
    let start = before.len();
    let is_call = |at: &usize| body[*at].op == Op::BGEZAL;
    let calls: Vec<_> = (0..body.len())
        .filter(is_call)
        .map(|at| start + at)
        .collect();
    // The first instruction moves the stack pointer.
    let below = before.first().map_or(0, |insn| i64::from(insn.ops.k));
    let deepest = -below + product.stack.max(rest.stack) as i64;
    if deepest > STACK_LIMIT {
        let (need, limit) = (deepest as usize, STACK_LIMIT as usize);
        return Err(LowerError::Stack { need, limit });
    }
    let mut program = Program::new();
    program.notes = vec![
        (0, "save registers, a frame for the product".into()),
        (calls[0] + 2, "what is made of it".into()),
        (start + body.len(), "restore registers, return".into()),
    ];
    program.insns = [before, body, after].concat();
    let entry = program.insns.len();
    let targets = [entry, entry + product.program.insns.len()];
    for (at, target) in calls.iter().zip(targets) {
        let far = i16::try_from(target - (at + 1)).map_err(|_| LowerError::Reach)?;
        program.insns[*at].ops.k = far.into();
    }
    let lent = Lent {
        area: Area::Stack,
        product: below + i64::from(SAVE_AREA),
        stack: below,
        words,
        word: 4,
        second: stages.spec.op.factors(),
        back: calls[0] + 2,
    };
    program.append(lent.called(product.program.clone()));
    program.claims.push(lent.whole());
    program.append(rest.program.clone());
    Ok(program)
}
