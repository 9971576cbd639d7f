//! The procedure call standard (AAPCS): how a kernel is entered, what it must give back.
//!
//! Source: ARM IHI 0042, sections 5.1.1 (r0 to r3 arguments; r4 to r11 and r13 preserved),
//! 5.2.1 (a full descending stack, 4-byte aligned). r14 holds the return address at entry;
//! flags belong to nobody. Operands and code are word-aligned. r9 is preserved, which serves
//! platforms that give it another role too.

use std::rc::Rc;

use crate::domain::Abstract;
use crate::domain::abstract_memory::Region;
use crate::domain::concrete::{Bits, Concrete, number};
use crate::domain::place::{Address, Base};
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::function::{Function, Place, abstract_word, concrete_number, in_words};
use crate::isa::arm::assumed::{Place as What, rows};
use crate::isa::arm::machine::{Arm, LR, Places, SP};
use crate::isa::assumed::{Back, Holds};
use crate::isa::environment;
use crate::isa::environment::Environment;
use crate::segment::Segment;

/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 4096;
/// The code itself, for reads of its literals.
const CODE: Base = Base::CODE;
/// What the stack pointer is a multiple of at entry (AAPCS, section 5.2.1.2).
const STACK_ALIGN: u64 = 8;
/// Registers of the arguments.
const ARGUMENTS: [u8; 4] = [0, 1, 2, 3];
/// Bytes of a pointer.
pub const POINTER_BYTES: usize = 4;

/// Must the callee preserve register `r`?
pub fn is_callee_saved(r: u8) -> bool {
    rows().iter().any(|row| match &row.place {
        What::Registers(range) => range.contains(&r) && row.back != Back::Free,
        What::Flags | What::Mode => false,
    })
}

/// The register of the word that `function` returns: r0, extended by the callee (AAPCS, section 5.4).
pub fn returned(function: &Function) -> std::ops::Range<usize> {
    match function.returned_bits {
        None => 0..0,
        Some(_) => 0..1,
    }
}

/// What the machine held when the kernel was entered.
pub struct Entry<D: Domain> {
    r: [D::Word<32>; 15],
    status: D::Word<32>,
}

/// A word that holds what a row says.
fn held<D: Abstract>(d: &mut D, holds: Holds, name: String) -> D::Word<32> {
    match holds {
        Holds::Anything | Holds::Changing | Holds::OwnAddress => d.unknown(name),
        Holds::Zero => d.known(0),
        Holds::Stack(base) => d.pointer(base, 0, 0),
        Holds::ReturnAddress => d.pointer(Base::RETURN, 0, 0),
    }
}

/// Fills registers and flags with what the rows of the convention say.
fn fill<D: Abstract>(m: &mut Arm<D>) {
    for row in rows() {
        match row.place {
            What::Registers(range) => {
                for i in range {
                    let name = format!("r{i} at entry");
                    m.r[usize::from(i) % 15] = held(&mut m.d, row.holds, name);
                }
            }
            What::Flags => {
                m.flags.n = m.d.unknown_bit("N at entry".into());
                m.flags.z = m.d.unknown_bit("Z at entry".into());
                m.flags.c = m.d.unknown_bit("C at entry".into());
                m.flags.v = m.d.unknown_bit("V at entry".into());
            }
            What::Mode => m.status = held(&mut m.d, row.holds, "the processor mode".into()),
        }
    }
}

/// What holds after every instruction. AAPCS (section 5.2.1.1) wants a multiple of 4 at all times. That of 8 between
/// functions is kept for those outside, as `sp` returns to what it was; those inside are run themselves.
fn holds<D: Abstract>(m: &mut Arm<D>, _: u64, _: u64) -> Result<(), Fault> {
    let Some(e) = m.environment.as_mut() else {
        return Ok(());
    };
    let at = environment::follow(&mut m.d, &m.r[usize::from(SP)], e.at, 4)?;
    (e.at, e.lowest) = (at, at.min(e.lowest));
    Ok(())
}

/// A machine about to run `function`, called with pointers to the start of `bases`.
pub fn enter<D: Abstract>(mut d: D, function: &Function, bases: &[Base]) -> (Arm<D>, Entry<D>) {
    let base = match function.origin {
        Some(_) => function.image(),
        None => CODE,
    };
    let start = match base {
        Base::ABSOLUTE => d.known(0),
        _ => d.pointer(base, 0, 0),
    };
    let place = |base| Address { base, offset: 0 };
    if base == CODE {
        declare_code(&mut d, &function.code);
    }
    d.environment(function.constants(true), false);
    let places = Places {
        code: place(base),
        caller: place(Base::RETURN),
    };
    let mut m = Arm::new(d, start, places);
    m.pc = function.entry as usize;
    fill(&mut m);
    let arguments = function.arguments(POINTER_BYTES);
    let (mut top, mut on_stack) = (0, Vec::new());
    for (place, argument) in in_words(&arguments, &ARGUMENTS, 0, 4)
        .iter()
        .zip(&arguments)
    {
        let word = abstract_word::<D, 32>(&mut m.d, argument, bases, 0);
        match place {
            Place::Register(r) => m.r[usize::from(*r) % 15] = word,
            Place::Stack(above) => {
                top = top.max(above + 4);
                on_stack.push((*above, word));
            }
        }
    }
    m.d.declare(
        Base::STACK,
        Region {
            name: "stack".into(),
            start: -STACK_LIMIT,
            end: top,
            writable_end: top,
            align: STACK_ALIGN,
        },
    );
    for (offset, word) in on_stack {
        let base = Base::STACK;
        m.d.init(Address { base, offset }, &word);
    }
    m.environment = Some(Environment::entered(holds::<D>, 0));
    let entry = Entry {
        r: m.r.clone(),
        status: m.status.clone(),
    };
    (m, entry)
}

/// The code as data, for reads of its literals.
fn declare_code<D: Abstract>(d: &mut D, code: &[u8]) {
    d.declare(
        CODE,
        Region {
            name: "code".into(),
            start: 0,
            end: code.len() as i64,
            writable_end: 0,
            align: 4,
        },
    );
    for (i, chunk) in code.chunks_exact(4).enumerate() {
        let word = d.known::<32>(number(chunk, false));
        let offset = 4 * i as i64;
        d.init(Address { base: CODE, offset }, &word);
    }
}

/// What the kernel did not give back as it should; empty if it kept the convention.
pub fn violations<D: Abstract>(m: &mut Arm<D>, entry: &Entry<D>, scratch: &[u8]) -> Vec<String> {
    let mut list = Vec::new();
    for row in rows() {
        let back = row.back;
        match row.place {
            What::Registers(range) => {
                for i in range.filter(|i| back != Back::Kept || !scratch.contains(i)) {
                    let at = usize::from(i) % 15;
                    if !is_back(&mut m.d, back, [&m.r[at], &entry.r[at]]) {
                        list.push(match i {
                            SP => "the stack pointer is not where it was".into(),
                            _ => format!("r{i} is not restored"),
                        });
                    }
                }
            }
            // Nobody asks for a flag.
            What::Flags => {}
            What::Mode => {
                if !is_back(&mut m.d, back, [&m.status, &entry.status]) {
                    list.push("the processor mode is not restored".into());
                }
            }
        }
    }
    list
}

/// Is a word what a row says, now and at entry?
fn is_back<D: Abstract>(d: &mut D, back: Back, [now, was]: [&D::Word<32>; 2]) -> bool {
    match back {
        Back::Free => true,
        Back::Kept | Back::Untouched => d.same(now, was),
        Back::Zero => {
            let zero = d.known::<32>(0);
            d.same(now, &zero)
        }
        Back::Above(base, bytes) => {
            let want = d.pointer::<32>(base, bytes.into(), 0);
            d.same(now, &want)
        }
    }
}

/// First address of the stack and of the code in a concrete run.
pub const STACK_TOP: usize = 0x1_0000;
pub const CODE_START: usize = STACK_TOP + STACK_ARGUMENTS;
/// Room for arguments on the stack.
const STACK_ARGUMENTS: usize = 0x100;
/// Where a concrete run returns to: no code is there.
const CALLER: u64 = 0xffff_fff0;

/// A machine about to run `code` on numbers, with pointers to `addresses` as arguments.
pub fn enter_concrete(code: &[u8], addresses: &[usize]) -> Arm<Concrete> {
    enter_function(&Function::kernel(code), 0, addresses)
}

/// A machine about to run `function` on numbers, its memory at `start`, with pointers to `addresses`.
pub fn enter_function(function: &Function, start: usize, addresses: &[usize]) -> Arm<Concrete> {
    let mut d = Concrete::new(STACK_TOP + STACK_ARGUMENTS);
    d.start = start;
    d.rom = function.constants(true);
    let mut at = 0;
    if function.origin.is_none() {
        at = start + CODE_START;
        d.rom.push(Segment {
            base: Base::ABSOLUTE,
            address: at as u64,
            align: 4,
            bytes: function.code.clone(),
            writable: false,
            marks: Rc::default(),
        });
    }
    let place = |offset| Address {
        base: Base::ABSOLUTE,
        offset,
    };
    let places = Places {
        code: place(at as i64),
        caller: place(CALLER as i64),
    };
    let code = d.known(at as u64);
    let mut m = Arm::new(d, code, places);
    m.pc = function.entry as usize;
    function.spoil(&mut m.r);
    let arguments = function.arguments(POINTER_BYTES);
    for (place, argument) in in_words(&arguments, &ARGUMENTS, 0, 4)
        .iter()
        .zip(&arguments)
    {
        let word = concrete_number(argument, addresses) & 0xffff_ffff;
        match place {
            Place::Register(r) => m.r[usize::from(*r) % 15] = Bits(word),
            Place::Stack(above) => {
                let at = STACK_TOP + (*above as usize).min(STACK_ARGUMENTS - 4);
                m.d.memory[at..at + 4].copy_from_slice(&(word as u32).to_le_bytes());
            }
        }
    }
    m.d.watch(STACK_LIMIT, start + STACK_TOP);
    m.r[usize::from(SP)] = Bits((start + STACK_TOP) as u64);
    m.r[usize::from(LR)] = Bits(CALLER);
    m
}
