//! What holds after every instruction of an abstract run on a machine whose stack pointer is one register: it is
//! an address of the stack, aligned, no higher than at entry, and what it leaves below it is forgotten, as an
//! interrupt writes there.

use crate::domain::Abstract;
use crate::domain::place::Base;
use crate::fault::Fault;

const NO_STACK_POINTER: &str = "the stack pointer is no aligned address of the stack, or higher than at entry: an interrupt would write there";

/// What an abstract run on the machine `M` is held to.
pub struct Environment<M> {
    /// Shows it of a machine after an instruction that read and wrote these registers.
    pub holds: fn(&mut M, u64, u64) -> Result<(), Fault>,
    /// Bytes from the stack pointer at entry to where it points now, and to the lowest place where it did.
    pub at: i64,
    pub lowest: i64,
    /// Registers that hold another word at each reading, as a set of bits.
    pub changing: u64,
}

impl<M> Environment<M> {
    /// That of a machine at the entry of a function.
    pub fn entered(holds: fn(&mut M, u64, u64) -> Result<(), Fault>, changing: u64) -> Self {
        Self {
            holds,
            changing,
            at: 0,
            lowest: 0,
        }
    }
}

/// Where the stack pointer `sp` points, a multiple of `align`; forgets what it left since it pointed to `before`.
///
/// # Errors
/// When it is none.
pub fn follow<D: Abstract>(
    d: &mut D,
    sp: &D::Word<32>,
    before: i64,
    align: i64,
) -> Result<i64, Fault> {
    match d.points(sp) {
        Some((at, _)) if at.base == Base::STACK && at.offset <= 0 && at.offset % align == 0 => {
            if at.offset > before {
                d.forget_bytes(Base::STACK, before, at.offset);
            }
            Ok(at.offset)
        }
        _ => Err(Fault::Convention(NO_STACK_POINTER)),
    }
}
