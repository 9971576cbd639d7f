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
use crate::target::stages::{Lent, Tried, second, tried};

/// The addresses of the result and of the modulus while the product is made.
const KEPT: [u8; 2] = [4, 5];
/// Where a branch counts from, in words behind itself.
const AHEAD: usize = 2;

/// The functions that run `stages` on `core`.
///
/// # Errors
/// That of a stage, or when the stack runs out.
pub fn all(stages: &Stages, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let rests = second(core, stages, lower(&stages.rest, core, limits)?)?;
    let rest = rests.first().ok_or(LowerError::Registers)?;
    let [product, _] = stages.operations();
    let products = tried(core, &product, lower(&stages.product, core, limits)?)?;
    let whole = products.into_iter();
    whole
        .map(|product| function(stages, product, rest))
        .collect()
}

fn function(
    stages: &Stages,
    product: Tried<ArmIsa>,
    rest: &Tried<ArmIsa>,
) -> Result<Program<Insn>, LowerError> {
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
    body.extend([copy(0, SP), call, copy(0, KEPT[0]), copy(1, SP)]);
    body.extend(give);
    body.push(call);
    let words = stages.words();
    let (before, after) = frame::frame(&body, words)?;
    let start = before.len();
    let is_call = |at: &usize| body[*at].op == Op::BL;
    let calls: Vec<_> = (0..body.len())
        .filter(is_call)
        .map(|at| start + at)
        .collect();
    // LR is saved, too.
    let saved = 1 + KEPT.len() - usize::from(modulus.is_none());
    let below = WORD as usize * (saved + frame::room(words));
    let deepest = below + product.stack.max(rest.stack);
    if deepest > STACK_LIMIT as usize {
        let (need, limit) = (deepest, STACK_LIMIT as usize);
        return Err(LowerError::Stack { need, limit });
    }
    let mut program = Program::new();
    program.notes = vec![
        (0, "save registers, a frame for the product".into()),
        (calls[0] + 1, "what is made of it".into()),
        (start + body.len(), "restore registers".into()),
    ];
    program.insns = [before, body, after].concat();
    let entry = program.insns.len();
    let targets = [entry, entry + product.program.insns.len()];
    for (at, target) in calls.iter().zip(targets) {
        program.insns[*at].ops.k = target as i32 - (at + AHEAD) as i32;
    }
    let lent = Lent {
        area: Area::Stack,
        product: -(below as i64),
        stack: -(below as i64),
        words,
        word: WORD.into(),
        second: stages.spec.op.factors(),
        back: calls[0] + 1,
    };
    program.append(lent.called(product.program));
    program.claims.push(lent.whole());
    program.append(rest.program.clone());
    Ok(program)
}
