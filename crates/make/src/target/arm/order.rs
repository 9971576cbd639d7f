//! What of memory an instruction touches, and code in an order in which it waits less.

use machine::isa::arm::code::Insn;
use machine::isa::arm::cores::Core;
use machine::isa::arm::instructions::{Op, Timing};
use machine::isa::clock::{Delayed, Line, Timed};

use crate::engine::order::{self, Access};

/// The word at a fixed distance, or anything at its base.
fn access(insn: &Insn) -> Option<Access> {
    let ops = &insn.ops;
    let is_store = match insn.form().timing {
        Timing::Load | Timing::LoadMultiple => false,
        Timing::Store | Timing::StoreMultiple | Timing::Swap => true,
        Timing::Alu | Timing::Multiply(..) | Timing::Branch | Timing::Status => return None,
    };
    let is_word = matches!(insn.op, Op::LDR | Op::STR);
    let fixed = is_word && ops.p && !ops.w && ops.k & 0x1000 == 0;
    Some(Access {
        base: ops.n,
        offset: fixed.then_some(if ops.u { ops.k } else { -ops.k }),
        is_store,
    })
}

/// `code` in a better order, with the old index of each instruction; as it is where nothing is late.
pub fn order(core: &Core, code: &[Insn]) -> Vec<(usize, Insn)> {
    match core.waits {
        true => order::order(core, code, access),
        false => code.iter().copied().enumerate().collect(),
    }
}

/// The most cycles of `code`, straight through.
pub fn most_cycles(core: &Core, code: &[Insn]) -> u64 {
    let mut line = Delayed::default();
    for insn in code {
        let [_, most] = core.observing(insn, &core.work(insn), None);
        line.issue(&most);
    }
    line.end()
}
