//! What an abstract run remembers of earlier instructions, so that [`crate::isa::avr::environment`] can be checked after
//! each one.

use crate::fault::Fault;
use crate::isa::machine;

/// What the running instruction wrote of the I/O registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wrote {
    #[default]
    Nothing,
    /// SPL.
    Spl,
    /// Any other.
    Other,
}

/// What must be known of the instructions before to judge the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Past {
    /// Where SP pointed when it was an address last, and Y if it is the stack pointer of data.
    pub(crate) sp: i64,
    pub(crate) y: i64,
    /// Was I 0 before the last instruction?
    pub(crate) closed: bool,
    /// How many instructions the hardware still executes before it lets an interrupt in.
    pub(crate) window: u8,
}

/// What an abstract run on the machine `M` with bits `B` is held to.
pub struct Environment<M, B> {
    pub(crate) holds: fn(&mut M) -> Result<(), Fault>,
    /// I at entry.
    pub(crate) interrupts: B,
    pub past: Past,
    /// The lowest places that SP and Y pointed to.
    pub lowest: [i64; 2],
}

impl machine::Past for Past {
    /// With the higher stack pointers: what lies below them is forgotten in both.
    fn join(self, other: Self) -> Self {
        Self {
            sp: self.sp.max(other.sp),
            y: self.y.max(other.y),
            closed: self.closed && other.closed,
            window: self.window.min(other.window),
        }
    }
}
