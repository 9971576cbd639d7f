//! What a MIPS32 says of its stack and calls.

use machine::isa::mips::MipsIsa;
use machine::isa::mips::abi::{HOME, RA, SP, STACK_LIMIT, is_callee_saved};
use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::Op;

use crate::engine::calls::Calls;
use crate::engine::frames::Frames;
use crate::refusal::LowerError;

impl Frames for MipsIsa {
    const LIMIT: i64 = STACK_LIMIT;
    const HOME: i32 = HOME as i32;

    fn preserves(r: u8) -> bool {
        is_callee_saved(r)
    }

    fn align(_: &Core) -> i32 {
        8
    }

    fn moved(by: i32) -> Vec<Insn> {
        vec![Insn::immediate(Op::ADDIU, SP, SP, by)]
    }

    /// The last instruction is in the delay slot.
    fn leave(moves: Vec<Insn>) -> Vec<Insn> {
        let slot = moves.first().copied();
        let nop = Insn::three(Op::SLL, 0, 0, 0);
        vec![Insn::three(Op::JR, 0, RA, 0), slot.unwrap_or(nop)]
    }

    /// From the end on downwards.
    fn place(i: usize, end: i32) -> i32 {
        end - 4 * (i as i32 + 1)
    }
}

impl Calls for MipsIsa {
    /// $s0 and $s1.
    const KEPT: [u8; 2] = [16, 17];
    const SLOT: bool = true;

    /// If 0 >= 0.
    fn open_call() -> Insn {
        Insn::immediate(Op::BGEZAL, 0, 0, 0)
    }

    /// So far from the instruction behind it.
    fn link(insns: &mut [Insn], at: usize, target: usize) -> Result<(), LowerError> {
        let far = i16::try_from(target - (at + 1)).map_err(|_| LowerError::Reach)?;
        insns[at].ops.k = far.into();
        Ok(())
    }
}
