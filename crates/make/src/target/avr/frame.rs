//! The frame of a function: what it saves.

use machine::isa::avr::abi::{named_by, pop, push};
use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;

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
