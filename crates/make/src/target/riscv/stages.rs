//! Two stages on RISC-V: a function that calls the product, then what is made of it, with a frame between them.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::abi::{ARGUMENTS, RA, SAVE_AREA, SP, STACK_LIMIT};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Op;
use machine::isa::riscv::operands::Features;
use machine::program::{Area, Program};

use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::Stages;
use crate::target::riscv::flow::shortest;
use crate::target::riscv::frame;
use crate::target::riscv::lower::lower;
use crate::target::riscv::registers::ZERO;
use crate::target::stages::{Lent, Tried, second, tried};

/// The addresses of the result and of the modulus while the product is made: s0 and s1.
const KEPT: [u8; 2] = [8, 9];

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
            list.push(function(stages, product, rest, core.features)?);
        }
    }
    Ok(list)
}

/// The instructions between what is saved and given back: the product goes into a frame.
fn body(stages: &Stages) -> Vec<Insn> {
    let copy = |d: u8, s: u8| Insn::three(Op::ADD, d, ZERO, s);
    let frame = |d: u8| Insn::immediate(Op::ADDI, d, SP, SAVE_AREA);
    let call = Insn::immediate(Op::JAL, RA, 0, 0);
    let [r, a, m] = [ARGUMENTS[0], ARGUMENTS[1], ARGUMENTS[2]];
    let modulus = stages.modulus().map(|side| ARGUMENTS[side]);
    let mut body = vec![copy(KEPT[0], r)];
    body.extend(modulus.map(|given| copy(KEPT[1], given)));
    body.extend([frame(r), call, frame(a)]);
    body.extend(modulus.map(|_| copy(m, KEPT[1])));
    body.extend([copy(r, KEPT[0]), call]);
    body
}

fn function(
    stages: &Stages,
    product: &Tried<RiscvIsa>,
    rest: &Tried<RiscvIsa>,
    features: Features,
) -> Result<Program<Insn>, LowerError> {
    let body = body(stages);
    let words = stages.words();
    let (before, after) = frame::frame(&body, words, features)?;
    let start = before.len();
    let calls: Vec<_> = (0..body.len())
        .filter(|at| body[*at].op == Op::JAL)
        .map(|at| start + at)
        .collect();
    let moves = before.iter().filter(|insn| insn.op == Op::ADDI);
    let below: i64 = moves.map(|insn| i64::from(insn.ops.k)).sum();
    let deepest = -below + product.stack.max(rest.stack) as i64;
    if deepest > STACK_LIMIT {
        let (need, limit) = (deepest as usize, STACK_LIMIT as usize);
        return Err(LowerError::Stack { need, limit });
    }
    let mut program = Program::new();
    program.notes = vec![
        (0, "save registers, a frame for the product".into()),
        (calls[0] + 1, "what is made of it".into()),
        (start + body.len(), "restore registers, return".into()),
    ];
    let all = [before, body, after].concat().into_iter();
    // Calls stay long: what is called is far.
    let is_call = |insn: &Insn| insn.op == Op::JAL;
    program.insns = all
        .map(|insn| {
            if is_call(&insn) {
                insn
            } else {
                shortest(insn, features)
            }
        })
        .collect();
    let bytes = |list: &[Insn]| list.iter().map(Insn::bytes).sum::<usize>();
    let entry = bytes(&program.insns);
    let targets = [entry, entry + bytes(&product.program.insns)];
    for (at, target) in calls.iter().zip(targets) {
        let from = bytes(&program.insns[..*at]);
        program.insns[*at].ops.k = (target - from) as i32;
        program.insns[*at].code().map_err(|_| LowerError::Reach)?;
    }
    let lent = Lent {
        area: Area::Stack,
        product: below + i64::from(SAVE_AREA),
        stack: below,
        words,
        word: 4,
        second: stages.spec.op.factors(),
        back: calls[0] + 1,
    };
    program.append(lent.called(product.program.clone()));
    program.claims.push(lent.whole());
    program.append(rest.program.clone());
    Ok(program)
}
