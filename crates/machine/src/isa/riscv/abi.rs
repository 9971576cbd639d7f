//! The ILP32 and ILP32E calling conventions: how a kernel is entered, what it must give back.
//!
//! Source: *RISC-V ABIs Specification* 1.0, chapters 1 and 2. Pointers arrive in a0 to a7 (to a5 in ILP32E), then on the
//! stack from sp on; s0 to s11 belong to the caller, gp and tp to the program.

use crate::codec::Places;
use crate::domain::Abstract;
use crate::domain::abstract_memory::Region;
use crate::domain::concrete::{Bits, Concrete};
use crate::domain::place::{Address, Base};
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::function::{Function, Place, abstract_word, concrete_number, in_words};
use crate::isa::assumed::{Back, Holds};
use crate::isa::environment;
use crate::isa::environment::Environment;
use crate::isa::riscv::assumed::rows;
pub use crate::isa::riscv::assumed::{is_callee_saved, untouched};
use crate::isa::riscv::cores::Core;
use crate::isa::riscv::machine::Riscv;
use crate::isa::riscv::operands::Features;
use crate::isa::riscv::registers::REGISTERS;
pub use crate::isa::riscv::registers::{ARGUMENTS, RA, SAVE_AREA, SP};

/// Bytes of a pointer.
pub const POINTER_BYTES: usize = 4;
/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 4096;

/// What sp is a multiple of (*RISC-V ABIs*, section 2.1 and, for ILP32E, 2.3).
pub fn stack_align(features: Features) -> i64 {
    if features.reduced { 4 } else { 16 }
}

/// The registers of arguments.
pub fn argument_registers(features: Features) -> &'static [u8] {
    if features.reduced {
        &ARGUMENTS[..6]
    } else {
        &ARGUMENTS
    }
}

/// The register of the word that `function` returns: a0.
pub fn returned(function: &Function) -> std::ops::Range<usize> {
    match function.returned_bits {
        None => 0..0,
        Some(_) => 10..11,
    }
}

/// What the machine held when the kernel was entered.
pub struct Entry<D: Domain> {
    r: [D::Word<32>; 32],
}

/// What becomes of a program whose function writes gp or tp.
const GLOBAL: &str = "it writes gp or tp, which interrupt handlers and other threads rely on";

/// A word that holds what a row says.
fn held<D: Abstract>(d: &mut D, holds: Holds, name: String) -> D::Word<32> {
    match holds {
        Holds::Anything | Holds::Changing | Holds::OwnAddress => d.unknown(name),
        Holds::Zero => d.known(0),
        Holds::Stack(base) => d.pointer(base, 0, 0),
        Holds::ReturnAddress => d.pointer(Base::RETURN, 0, 0),
    }
}

/// What holds after every instruction: sp is aligned, gp and tp were not written.
fn holds<D: Abstract>(m: &mut Riscv<D>, [_, writes]: [Places; 2]) -> Result<(), Fault> {
    let align = stack_align(m.features);
    let Some(e) = m.environment.as_mut() else {
        return Ok(());
    };
    let at = environment::follow::<_, 32>(&mut m.d, &m.r[usize::from(SP)], e.at, align)?;
    (e.at, e.lowest) = (at, at.min(e.lowest));
    match writes & e.changing {
        0 => Ok(()),
        _ => Err(Fault::Convention(GLOBAL)),
    }
}

/// A machine about to run `function`, called with pointers to the start of `bases`.
pub fn enter<D: Abstract>(
    d: D,
    core: &Core,
    function: &Function,
    bases: &[Base],
) -> (Riscv<D>, Entry<D>) {
    let mut m = Riscv::new(d, core.features);
    m.pc = function.entry as usize;
    m.d.environment(function.constants(true), false);
    if function.movable {
        let start = m.d.pointer(Base::IMAGE, 0, 0);
        m.place(Base::IMAGE, start);
    }
    for row in rows() {
        for r in (0..32u8).filter(|r| row.speaks_of(*r)) {
            let name = format!("{} at entry", REGISTERS[usize::from(r)]);
            m.r[usize::from(r)] = held(&mut m.d, row.holds, name);
        }
    }
    let arguments = function.arguments(POINTER_BYTES);
    let places = in_words(&arguments, argument_registers(core.features), 0, 4);
    let (mut top, mut on_stack) = (0, Vec::new());
    for (place, argument) in places.iter().zip(&arguments) {
        let word = abstract_word::<D, 32>(&mut m.d, argument, bases, 0);
        match place {
            Place::Register(r) => m.r[usize::from(*r & 31)] = word,
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
            align: stack_align(core.features) as u64,
        },
    );
    for (offset, word) in on_stack {
        let base = Base::STACK;
        m.d.init(Address { base, offset }, &word);
    }
    m.environment = Some(Environment::held_to(holds::<D>, untouched()));
    let entry = Entry { r: m.r.clone() };
    (m, entry)
}

/// What the kernel did not give back as it should; empty if it kept the convention.
pub fn violations<D: Abstract>(m: &mut Riscv<D>, entry: &Entry<D>, scratch: &[u8]) -> Vec<String> {
    let mut list = Vec::new();
    for row in rows() {
        let back = row.back;
        let excused = |r: &u8| back == Back::Kept && scratch.contains(r);
        for r in (0..32u8).filter(|r| row.speaks_of(*r) && !excused(r)) {
            let at = usize::from(r);
            if !is_back(&mut m.d, back, [&m.r[at], &entry.r[at]]) {
                list.push(format!("{} is not restored", REGISTERS[at]));
            }
        }
    }
    list
}

/// Is a word what a row says, now and at entry? What may not be written is watched while the function runs.
fn is_back<D: Abstract>(d: &mut D, back: Back, [now, was]: [&D::Word<32>; 2]) -> bool {
    match back {
        Back::Free | Back::Untouched => true,
        Back::Kept => d.same(now, was),
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

/// Bytes of memory in a concrete run.
const MEMORY: usize = 0x1_0000;
/// sp at entry in a concrete run.
const STACK_TOP: usize = 0xff00;
/// First address of an operand in a concrete run.
pub const DATA: usize = 0x100;
/// The return address in a concrete run: no code is there.
pub const CALLER: usize = 0x7fff_fff0;

/// A machine about to run `function` on numbers, its memory at `start`, with pointers to `addresses`.
pub fn enter_function(
    core: &Core,
    function: &Function,
    start: usize,
    addresses: &[usize],
) -> Riscv<Concrete> {
    let mut d = Concrete::new(MEMORY);
    d.start = start;
    d.rom = function.constants(true);
    let mut m = Riscv::new(d, core.features);
    m.pc = function.entry as usize;
    // What a caller may leave in registers.
    for r in 1..32 {
        m.r[r] = m.d.known(0x0101_0101 * r as u64 + 0x8000_0000);
    }
    function.spoil(&mut m.r[1..]);
    let arguments = function.arguments(POINTER_BYTES);
    let places = in_words(&arguments, argument_registers(core.features), 0, 4);
    for (place, argument) in places.iter().zip(&arguments) {
        let word = concrete_number(argument, addresses) & 0xffff_ffff;
        match place {
            Place::Register(r) => m.r[usize::from(*r & 31)] = Bits(word),
            Place::Stack(above) => {
                let at = (STACK_TOP + *above as usize).min(MEMORY - 4);
                m.d.memory[at..at + 4].copy_from_slice(&(word as u32).to_le_bytes());
            }
        }
    }
    m.d.watch(STACK_LIMIT, start + STACK_TOP);
    m.r[usize::from(SP)] = m.d.known((start + STACK_TOP) as u64);
    m.r[usize::from(RA)] = m.d.known(CALLER as u64);
    m
}
