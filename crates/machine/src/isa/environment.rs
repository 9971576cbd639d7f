//! What holds after every instruction of an abstract run on a machine whose stack pointer is one register: it is
//! an address of the stack, aligned, no higher than at entry, and what it leaves below it is forgotten, as an
//! interrupt writes there.

use crate::codec::Places;
use crate::domain::Abstract;
use crate::domain::place::Base;
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::isa::assumed::{Assumption, Back, Holds};
use crate::isa::convention::Callable;

const NO_STACK_POINTER: &str = "the stack pointer is no aligned address of the stack, or higher than at entry: an interrupt would write there";
const UNTOUCHED: &str = "it writes a register that it may not write at all";

/// A machine whose stack pointer is one register.
pub trait OneStack<const W: u32>: Callable<W> {
    /// That register.
    const SP: u8;
    /// What to say of a function that writes a register that it may not write.
    const UNTOUCHED: &'static str = UNTOUCHED;

    /// What the stack pointer is a multiple of at all times, in bytes.
    fn align(&self) -> i64;
    fn environment(&mut self) -> &mut Option<Environment<Self>>;
}

/// What an abstract run on the machine `M` is held to.
pub struct Environment<M> {
    /// Shows it of a machine after an instruction that read and wrote these registers.
    holds: fn(&mut M, [Places; 2]) -> Result<(), Fault>,
    /// Bytes from the stack pointer at entry to where it points now, and to the lowest place where it did.
    pub at: i64,
    pub lowest: i64,
    /// Registers that hold another word at each reading, as a set of bits.
    changing: Places,
    /// Registers that the function may not write.
    untouched: Places,
}

impl<M> Environment<M> {
    /// That of a machine at the entry of a function, whose convention has these rows.
    pub fn entered<const W: u32>(rows: &[Assumption]) -> Self
    where
        M: OneStack<W>,
        M::Domain: Abstract,
    {
        let registers = |is: &dyn Fn(&Assumption) -> bool| {
            let of = |r: &u8| rows.iter().any(|row| is(row) && row.speaks_of(*r));
            (0..64u8).filter(of).fold(0, |set, r| set | 1 << r)
        };
        Self {
            holds: holds::<M, W>,
            at: 0,
            lowest: 0,
            changing: registers(&|row| row.holds == Holds::Changing),
            untouched: registers(&|row| row.back == Back::Untouched),
        }
    }
}

/// Shows after an instruction that read and wrote `places` what a run is held to, and tells the domain where the stack
/// pointer is, if it `moves`.
///
/// # Errors
/// What is broken.
#[inline(always)]
pub fn settle<M: OneStack<W>, const W: u32>(
    m: &mut M,
    moves: bool,
    places: [Places; 2],
) -> Result<(), Fault> {
    if moves {
        let sp = m.register(M::SP);
        if let Ok(at) = m.domain().address(&[&sp], 0) {
            m.domain().lowered(at);
        }
    }
    match m.environment().as_ref().map(|e| e.holds) {
        Some(holds) => holds(m, places),
        None => Ok(()),
    }
}

/// The stack pointer is where it may be, no register is written that may not be, and what is read from a register of the
/// interrupt handlers is in no other reading.
fn holds<M: OneStack<W>, const W: u32>(m: &mut M, [reads, writes]: [Places; 2]) -> Result<(), Fault>
where
    M::Domain: Abstract,
{
    let (sp, align) = (m.register(M::SP), m.align());
    let Some(before) = m.environment().as_ref().map(|e| e.at) else {
        return Ok(());
    };
    let at = follow::<_, W>(m.domain(), &sp, before, align)?;
    let Some(e) = m.environment() else {
        return Ok(());
    };
    (e.at, e.lowest) = (at, at.min(e.lowest));
    let mut changing = reads & e.changing;
    if writes & e.untouched != 0 {
        return Err(Fault::Convention(M::UNTOUCHED));
    }
    while changing != 0 {
        let r = changing.trailing_zeros() as u8;
        changing &= changing - 1;
        let name = format!("{}, as an interrupt left it", M::word_name(r));
        let word = m.domain().unknown(name);
        if let Some(place) = m.words().into_iter().nth(r.into()) {
            *place = word;
        }
    }
    Ok(())
}

/// Where the stack pointer `sp` points, a multiple of `align`; forgets what it left since it pointed to `before`.
fn follow<D: Abstract, const W: u32>(
    d: &mut D,
    sp: &D::Word<W>,
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
