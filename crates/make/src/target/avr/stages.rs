//! Two stages on an AVR: a function that calls the product, then what is made of it, with a frame between them.

use machine::isa::avr::AvrIsa;
use machine::isa::avr::abi::{Abi, STACK_LIMIT};
use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;
use machine::program::{Area, Program};

use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::Stages;
use crate::target::avr::draft::JUMP;
use crate::target::avr::frame;
use crate::target::avr::frame::move_stack;
use crate::target::avr::lower::lower;
use crate::target::stages::{self, Caller, Frame, second, tried};

const Y: u8 = Pointer::Y.low();
/// Bytes of the longest return address.
const WIDEST: usize = 3;

/// The functions that run `stages` on `core`.
///
/// # Errors
/// That of a stage, or when the stack runs out or a call does not reach.
pub fn all(core: &Core, stages: &Stages, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let unlimited = Limits {
        cycles: u64::MAX,
        ..limits
    };
    // The same code serves parts with return addresses of three bytes.
    let widest = &Core {
        pc_bytes: WIDEST,
        ..core.clone()
    };
    let rests = second::<AvrIsa>(widest, stages, lower(&stages.rest, core, unlimited)?)?;
    let rest = rests.get(..1).ok_or(LowerError::Registers)?;
    let [product, _] = stages.operations();
    let products = tried(widest, &product, lower(&stages.product, core, unlimited)?)?;
    stages::all(rest, &products, |product, rest| {
        caller(core, stages).with(stages, product, rest, link)
    })
}

/// Makes a call go on to an instruction: so far from the one behind it.
fn link(insns: &mut [Insn], at: usize, target: usize) -> Result<(), LowerError> {
    let far = target - at - 1;
    if far > JUMP {
        return Err(LowerError::Reach);
    }
    insns[at].ops.k = far as i32;
    Ok(())
}

/// Pairs that a called function preserves, from the top.
fn kept(abi: &Abi) -> impl Iterator<Item = u8> {
    let pairs = (0..Y / 2).rev().map(|pair| 2 * pair);
    pairs.filter(|r| abi.preserves(*r))
}

/// From where the stack pointer points to the first byte in use: SP points below it, Y as a stack pointer to it.
fn first(abi: &Abi) -> i32 {
    match abi.data_stack {
        true => 0,
        false => 1,
    }
}

/// The instructions between what is saved and given back, and which of them call: the product goes into a frame.
fn body(abi: &Abi, stages: &Stages) -> (Vec<Insn>, [usize; 2]) {
    let [r, a, m, _] = abi.arguments;
    let arguments = [Some(r), stages.modulus().map(|side| abi.arguments[side])];
    // What the second stage gets is kept while the first runs.
    let kept = kept(abi).zip(arguments.into_iter().flatten());
    let kept: Vec<[u8; 2]> = kept.map(Into::into).collect();
    let need = stages.words() as i64;
    let first = first(abi);
    let frame = |to: u8| {
        let by = -first & 0xff;
        let next = [Insn::dk(Op::SUBI, to, by), Insn::dk(Op::SBCI, to + 1, by)];
        let next = next.into_iter().take(if first == 0 { 0 } else { 2 });
        [Insn::rr(Op::MOVW, to, Y)].into_iter().chain(next)
    };
    let call = Insn::dk(Op::RCALL, 0, 0);
    let saved = kept.iter();
    let mut body: Vec<_> = saved
        .map(|[to, from]| Insn::rr(Op::MOVW, *to, *from))
        .collect();
    body.extend(move_stack(abi, -need));
    body.extend(frame(r));
    let mut calls = [body.len(), 0];
    body.push(call);
    body.extend(frame(a));
    let given = kept.iter().zip([r, m]);
    body.extend(given.map(|([from, _], to)| Insn::rr(Op::MOVW, to, *from)));
    calls[1] = body.len();
    body.push(call);
    body.extend(move_stack(abi, need));
    (body, calls)
}

fn caller(core: &Core, stages: &Stages) -> Caller<Insn> {
    let abi = core.abi;
    let bytes = stages.words();
    let (body, calls) = body(abi, stages);
    let (before, after) = frame::frame(core, &body);
    let returns = if abi.data_stack { 0 } else { core.pc_bytes };
    let below = -((before.len() + bytes) as i64);
    Caller {
        frame: Frame {
            area: match abi.data_stack {
                true => Area::DataStack,
                false => Area::Stack,
            },
            product: below + i64::from(first(abi)),
            stack: below - returns as i64,
            word: 1,
            bytes: before.len() + bytes + WIDEST,
            limit: STACK_LIMIT as usize,
        },
        parts: [before, body, after],
        notes: [
            "save registers",
            "a frame for the product",
            "restore registers",
        ],
        calls,
        behind: 1,
    }
}
