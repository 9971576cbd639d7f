//! Which memory an instruction touches, and the order of instructions in which the pipeline waits least.

use machine::isa::Isa;
use machine::isa::arm::ArmIsa;
use machine::isa::arm::code::Insn;
use machine::isa::arm::cores::Core;
use machine::isa::arm::instructions::{Op, Timing};
use machine::isa::arm::machine::PC;
use machine::program::Program;

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

/// The same of a program with loops; remarks and claims follow.
pub fn order_loops(core: &Core, program: &mut Program<Insn>) {
    let code = &program.insns;
    let branches = || {
        code.iter()
            .enumerate()
            .filter_map(|(at, insn)| Some((at, ArmIsa::branch(insn)?)))
    };
    if !core.waits || branches().next().is_none() {
        return;
    }
    let targets = branches().filter_map(|(at, by)| usize::try_from(at as i64 + by / 4).ok());
    // What leaves, and what saves or restores registers, stays where it is.
    let stays = code.iter().enumerate().filter(|(_, insn)| {
        let counter = insn.writes_pc() || insn.registers() >> PC & 1 == 1;
        ArmIsa::branch(insn).is_some() || counter || ArmIsa::is_frame(core, insn)
    });
    let starts = targets
        .chain(stays.flat_map(|(at, _)| [at, at + 1]))
        .collect();
    let ordered = order::stretches(core, code, &starts, access);
    let now = order::moved(&ordered);
    program.insns = ordered.into_iter().map(|(_, insn)| insn).collect();
    let claims = program.claims.iter();
    let claims = claims.filter_map(|claim| claim.at(|at| now.get(at).copied()));
    program.claims = claims.collect();
}
