//! Two stages on an AVR: a function that calls the product, then what is made of it, with a frame between them.

use super::abi::{self, Abi, STACK_LIMIT};
use super::code::Insn;
use super::cores::Core;
use super::draft::JUMP;
use super::instructions::Op;
use super::lower::{lower, move_stack};
use super::machine::Pointer;
use crate::isa::{Limits, LowerError};
use crate::program::{Area, Claim, Place, Program, Term, Written};
use crate::schedule::{Schedule, Stages};

const Y: u8 = Pointer::Y.low();

/// The functions that run `stages` on `core`.
///
/// # Errors
/// That of a stage, or when the stack runs out or a call does not reach.
pub fn all(core: &Core, stages: &Stages, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let unlimited = Limits {
        cycles: u64::MAX,
        ..limits
    };
    let rest = lower(&Schedule::Words(stages.rest.clone()), core, unlimited)?;
    let rest = rest.into_iter().next().ok_or(LowerError::Registers)?;
    let sizes = (stages.words(), stages.spec.op.factors());
    let products = lower(&stages.product, core, unlimited)?.into_iter();
    let whole = products.map(|product| function(core, sizes, product, rest.clone()));
    whole.collect()
}

/// The first pair that a called function preserves, from the top.
fn kept(abi: &Abi) -> Option<u8> {
    let pairs = (0..Y / 2).rev().map(|pair| 2 * pair);
    pairs.into_iter().find(|r| abi.preserves(*r))
}

fn function(
    core: &Core,
    (bytes, last): (usize, usize),
    product: Program<Insn>,
    rest: Program<Insn>,
) -> Result<Program<Insn>, LowerError> {
    let abi = core.abi;
    let [r, a, ..] = abi.arguments;
    let kept = kept(abi).ok_or(LowerError::Registers)?;
    let need = bytes as i64;
    if need > STACK_LIMIT {
        let (need, limit) = (bytes, STACK_LIMIT as usize);
        return Err(LowerError::Stack { need, limit });
    }
    // SP points below the last byte in use, Y as a stack pointer to it.
    let first = if abi.data_stack { 0 } else { 1 };
    let frame = |to: u8| {
        let by = -first & 0xff;
        let next = [Insn::dk(Op::SUBI, to, by), Insn::dk(Op::SBCI, to + 1, by)];
        let next = next.into_iter().take(if first == 0 { 0 } else { 2 });
        [Insn::rr(Op::MOVW, to, Y)].into_iter().chain(next)
    };
    let call = Insn::dk(Op::RCALL, 0, 0);
    let mut body = vec![Insn::rr(Op::MOVW, kept, r)];
    body.extend(move_stack(abi, -need));
    body.extend(frame(r));
    let mut calls = [body.len(), 0];
    body.push(call);
    body.extend(frame(a));
    body.push(Insn::rr(Op::MOVW, r, kept));
    calls[1] = body.len();
    body.push(call);
    body.extend(move_stack(abi, need));
    let (before, after) = abi::frame(core, &body);
    let start = before.len();
    let mut program = Program::new();
    program.notes = vec![
        (0, "save registers".into()),
        (start, "a frame for the product".into()),
        (start + calls[0] + 1, "what is made of it".into()),
        (start + body.len(), "restore registers".into()),
    ];
    program.insns = [before, body, after].concat();
    let targets = [
        program.insns.len(),
        program.insns.len() + product.insns.len(),
    ];
    for (at, target) in calls.into_iter().zip(targets) {
        let far = target - (start + at) - 1;
        if far > JUMP {
            return Err(LowerError::Reach);
        }
        program.insns[start + at].ops.k = far as i32;
    }
    // What is in the frame when the first call has returned.
    let area = match abi.data_stack {
        true => Area::DataStack,
        false => Area::Stack,
    };
    let words = |area, from: i64, count: usize| -> Vec<Written> {
        let word = |i| Written {
            insn: start + calls[0] + 1,
            visit: 1,
            place: Place::Memory(area, from + i as i64),
        };
        (0..count).map(word).collect()
    };
    let factors = [1, last].map(|i| words(Area::Operand(i), 0, bytes / 2));
    let [x, y] = factors;
    program.claims.push(Claim::equation(
        words(area, i64::from(first) - start as i64 - need, bytes),
        vec![Term::product(x, y)],
    ));
    program.append(product);
    program.append(rest);
    Ok(program)
}
