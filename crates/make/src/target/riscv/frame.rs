//! What RISC-V says of its stack and calls.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::abi::{RA, SP, STACK_LIMIT, is_callee_saved, stack_align};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Op;

use crate::engine::calls::Calls;
use crate::engine::frames::Frames;
use crate::refusal::LowerError;
use crate::target::riscv::flow::shortest;
use crate::target::riscv::registers::ZERO;

/// The largest step of ADDI that keeps sp aligned.
const STEP: i32 = 2032;

impl Frames for RiscvIsa {
    const LIMIT: i64 = STACK_LIMIT;
    const HOME: i32 = 0;

    fn preserves(r: u8) -> bool {
        is_callee_saved(r)
    }

    fn align(core: &Core) -> i32 {
        stack_align(core.features) as i32
    }

    fn moved(by: i32) -> Vec<Insn> {
        let (mut left, mut list) = (by, Vec::new());
        while left != 0 {
            let step = left.clamp(-STEP, STEP);
            list.push(Insn::immediate(Op::ADDI, SP, SP, step));
            left -= step;
        }
        list
    }

    fn leave(mut moves: Vec<Insn>) -> Vec<Insn> {
        moves.push(Insn::immediate(Op::JALR, ZERO, RA, 0));
        moves
    }
}

impl Calls for RiscvIsa {
    /// s0 and s1.
    const KEPT: [u8; 2] = [8, 9];
    const SLOT: bool = false;

    fn open_call() -> Insn {
        Insn::immediate(Op::JAL, RA, 0, 0)
    }

    /// So many bytes from its own address.
    fn link(insns: &mut [Insn], at: usize, target: usize) -> Result<(), LowerError> {
        let far = insns[at..target].iter().map(Insn::bytes).sum::<usize>();
        insns[at].ops.k = far as i32;
        insns[at].code().map(|_| ()).map_err(|_| LowerError::Reach)
    }

    /// Calls stay long: what is called is far.
    fn last_form(core: &Core, insn: Insn) -> Insn {
        shortest(insn, core.features)
    }
}
