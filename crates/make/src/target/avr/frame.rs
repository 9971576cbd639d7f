//! The frame of a function: what it saves, and its room on the stack.

use machine::isa::avr::abi::{Abi, named_by, pop, push};
use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::{Op, Ops};
use machine::isa::avr::machine::Pointer;

use crate::target::avr::arrive::{SPH, SPL, SREG};
use crate::target::avr::pointers::move_pointer;

/// Saves what the body needs: (before, after) the body.
pub fn frame(core: &Core, body: &[Insn]) -> (Vec<Insn>, Vec<Insn>) {
    let used = named_by(body);
    let abi = core.abi;
    // The stack pointer of data comes back by itself.
    let is_pointer = |r: u8| abi.data_stack && r / 2 == Pointer::Y.low() / 2;
    let is_saved = |r: &u8| used[usize::from(*r)] && abi.preserves(*r) && !is_pointer(*r);
    let saved: Vec<u8> = (0..32u8).filter(is_saved).collect();
    let before = saved.iter().map(|r| push(abi, *r)).collect();
    let mut after: Vec<_> = saved.iter().rev().map(|r| pop(abi, *r)).collect();
    if let Some(zero) = abi.zero.filter(|zero| used[usize::from(*zero)]) {
        after.push(Insn::rr(Op::EOR, zero, zero));
    }
    after.push(Insn::rr(Op::RET, 0, 0));
    (before, after)
}

/// The furthest that ADIW and SBIW go.
const STEP: i64 = 63;

/// Instructions that add `by` to the stack pointer: to Y if it is that, one whole move after the
/// other, else through Y.
pub(super) fn move_stack(abi: &Abi, by: i64) -> Vec<Insn> {
    if abi.data_stack {
        let steps = (0..by.abs()).step_by(STEP as usize);
        let step = |done: i64| (by.abs() - done).min(STEP) * by.signum();
        return steps
            .flat_map(|done| move_pointer(Pointer::Y, step(done)))
            .collect();
    }
    let mut list = vec![Insn::dk(Op::IN, 28, SPL), Insn::dk(Op::IN, 29, SPH)];
    list.extend(move_pointer(Pointer::Y, by));
    // An interrupt between the two halves would find no stack.
    list.push(Insn::dk(Op::IN, 0, SREG));
    list.push(Insn {
        op: Op::BCLR,
        ops: Ops {
            b: 7,
            ..Ops::default()
        },
    });
    list.push(Insn::rk(Op::OUT, 29, SPH));
    list.push(Insn::rk(Op::OUT, 0, SREG));
    list.push(Insn::rk(Op::OUT, 28, SPL));
    list
}
