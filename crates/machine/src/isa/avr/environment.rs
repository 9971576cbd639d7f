//! What holds after every instruction of an abstract run: the world around the function is as interrupts and
//! its caller need it.
//!
//! - SP is one address of the stack, no higher than at entry. Where no interrupt comes one of its bytes may be
//!   written and the other not yet.
//! - The interrupt flag is what it was at entry, or 0.
//! - What lies below a stack pointer is nobody's: when it rises, the bytes that it leaves are forgotten.
//! - Y, if it is the stack pointer of data, is that in every state (see [`Avr::keeps_data_stack`]).
//!
//! When an interrupt may come: CLI acts at once. When I is set again one more instruction is executed first:
//! DS40002198 says so of SEI, and avr-gcc rests upon it of OUT to SREG (every epilogue with a frame). AVRxm and
//! AVRxt let no interrupt in after a write to SPL: [`crate::isa::avr::core::Core::closed_by_spl`].

use crate::domain::Abstract;
use crate::domain::place::Base;
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::isa::avr::assumed::INTERRUPTS;
use crate::isa::avr::machine::{Avr, Pointer};
pub use crate::isa::avr::past::Past;
use crate::isa::avr::past::{Environment, Wrote};

const HALF_WRITTEN: &str = "SP is half written where an interrupt may come";
const NO_STACK_POINTER: &str = "SP is no address of the stack, or higher than at entry";
const OPENED: &str = "I is set though the caller may have cleared it: it may only be restored";

impl<D: Abstract> Environment<Avr<D>, D::Bit> {
    /// That of a function that was just entered.
    pub fn entered(m: &Avr<D>) -> Self {
        Self {
            holds: holds::<D>,
            interrupts: m.get_flag(INTERRUPTS),
            past: Past {
                sp: 0,
                y: 0,
                closed: false,
                window: 0,
            },
            lowest: [0; 2],
        }
    }
}

impl<D: Domain> Avr<D> {
    /// Shows that the environment is kept after an instruction, in a run for all inputs.
    ///
    /// # Errors
    /// What is broken.
    #[inline(always)]
    pub fn keeps_environment(&mut self) -> Result<(), Fault> {
        match self.environment.as_ref().map(|e| e.holds) {
            Some(holds) => holds(self),
            None => Ok(()),
        }
    }
}

/// Where SP points, no higher than at entry; none if only one of its bytes is written yet.
///
/// # Errors
/// When it holds anything else.
fn pointed<D: Abstract>(m: &mut Avr<D>) -> Result<Option<i64>, Fault> {
    let [lo, hi] = m.sp.clone();
    let is_part = |word, part| {
        let pointed = m.d.points(word);
        pointed.is_some_and(|(at, p)| at.base == Base::STACK && p == part)
    };
    let are_parts = is_part(&lo, 0) && is_part(&hi, 1);
    match m.d.address(&[&lo, &hi], 0) {
        Ok(at) if are_parts && at.offset <= 0 => Ok(Some(at.offset)),
        Err(_) if are_parts => Ok(None),
        Ok(_) | Err(_) => Err(Fault::Convention(NO_STACK_POINTER)),
    }
}

fn holds<D: Abstract>(m: &mut Avr<D>) -> Result<(), Fault> {
    m.keeps_data_stack()?;
    let off = m.d.flag(false);
    let flag = m.get_flag(INTERRUPTS);
    let is_closed = m.d.same_bit(&flag, &off);
    let wrote = std::mem::take(&mut m.wrote);
    let closed_by_spl = m.closed_by_spl;
    let sp = pointed(m)?;
    // It is the stack pointer of data: shown above.
    let y = match m.data_stack {
        Some(_) => m.pointer(Pointer::Y, 0).ok().map(|at| at.offset),
        None => None,
    };
    let Some(e) = m.environment.as_mut() else {
        return Ok(());
    };
    let as_entry = match D::TELLS_BITS_APART {
        true => m.d.same_bit(&flag, &e.interrupts),
        false => {
            let on = m.d.flag(true);
            !m.d.same_bit(&flag, &on)
        }
    };
    if !is_closed && !as_entry {
        return Err(Fault::Convention(OPENED));
    }
    e.past.window = match wrote {
        Wrote::Spl => closed_by_spl,
        Wrote::Other => 0,
        Wrote::Nothing => e.past.window.saturating_sub(1),
    };
    let comes = !is_closed && !e.past.closed && e.past.window == 0;
    e.past.closed = is_closed;
    let before = e.past;
    match sp {
        Some(at) => (e.past.sp, e.lowest[0]) = (at, at.min(e.lowest[0])),
        None if comes => return Err(Fault::Convention(HALF_WRITTEN)),
        None => {}
    }
    if let Some(y) = y {
        (e.past.y, e.lowest[1]) = (y, y.min(e.lowest[1]));
    }
    let now = e.past;
    // SP points below the last byte in use, Y to it.
    if now.sp > before.sp {
        m.d.forget_bytes(Base::STACK, before.sp + 1, now.sp + 1);
    }
    if now.y > before.y {
        m.d.forget_bytes(Base::DATA_STACK, before.y, now.y);
    }
    Ok(())
}
