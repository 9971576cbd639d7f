//! The o32 calling convention: how a kernel is entered, what it must give back.
//!
//! Source: MIPS ABI supplement to System V, chapter 3; MD00305, *MIPSpro o32*. Pointers
//! arrive in $a0 to $a3; $s0 to $s7, $gp, $sp, $fp and $ra belong to the caller; the 16
//! bytes above $sp are the callee's to write (the home of the arguments). HI and LO are free.

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
pub use crate::isa::mips::assumed::is_callee_saved;
use crate::isa::mips::assumed::{Place as What, rows};
use crate::isa::mips::cores::Core;
use crate::isa::mips::machine::Mips;
use crate::isa::mips::operands::Feature;
use crate::isa::mips::registers::REGISTERS;
pub use crate::isa::mips::registers::{ARGUMENTS, HOME, RA, SAVE_AREA, SP};

/// $t9, by which position-independent code is called.
const T9: u8 = 25;
/// Bytes of a pointer.
pub const POINTER_BYTES: usize = 4;
/// What $sp is a multiple of at entry (System V ABI, MIPS supplement, chapter 3).
const STACK_ALIGN: u64 = 8;
/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 4096;

/// The register of the word that `function` returns: $v0.
pub fn returned(function: &Function) -> std::ops::Range<usize> {
    match function.returned_bits {
        None => 0..0,
        Some(_) => 2..3,
    }
}

/// What the machine held when the kernel was entered.
pub struct Entry<D: Domain> {
    r: [D::Word<32>; 32],
}

/// What becomes of a word in a register of the interrupt handlers.
const KERNEL_REGISTER: &str =
    "it writes $k0 or $k1, which interrupt handlers overwrite at any time";

/// A word that holds what a row says, of a function at `own` if its callers load that.
fn held<D: Abstract>(
    d: &mut D,
    holds: Holds,
    name: String,
    own: Option<&D::Word<32>>,
) -> D::Word<32> {
    match (holds, own) {
        (Holds::OwnAddress, Some(address)) => address.clone(),
        (Holds::Anything | Holds::Changing | Holds::OwnAddress, _) => d.unknown(name),
        (Holds::Zero, _) => d.known(0),
        (Holds::Stack(base), _) => d.pointer(base, 0, 0),
        (Holds::ReturnAddress, _) => d.pointer(Base::RETURN, 0, 0),
    }
}

/// Fills registers with what the rows of the convention say.
fn fill<D: Abstract>(m: &mut Mips<D>, own: Option<&D::Word<32>>) {
    for row in rows() {
        match row.place {
            What::Registers(range) => {
                for r in range {
                    let name = format!("${} at entry", REGISTERS[usize::from(r & 31)]);
                    m.r[usize::from(r & 31)] = held(&mut m.d, row.holds, name, own);
                }
            }
            What::Accumulator => {
                let [hi, lo, guard] = ["HI", "LO", "the guard bits"]
                    .map(|name| held(&mut m.d, row.holds, format!("{name} at entry"), own));
                m.enter_accumulator(lo, hi, guard);
            }
        }
    }
}

/// Registers whose rows say that they change by themselves, as a set of bits.
fn changing() -> u64 {
    let set = |row: crate::isa::assumed::Row<What>| match (row.place, row.holds) {
        (What::Registers(range), Holds::Changing) => range.fold(0, |set, r| set | 1 << r),
        (What::Registers(_) | What::Accumulator, _) => 0,
    };
    rows().into_iter().map(set).fold(0, |all, set| all | set)
}

/// What holds after every instruction: `$sp` is a multiple of 8 (MIPS ABI supplement, chapter 3), and what is read from
/// a register of the interrupt handlers is in no other reading.
fn holds<D: Abstract>(m: &mut Mips<D>, reads: u64, writes: u64) -> Result<(), Fault> {
    let Some(e) = m.environment.as_mut() else {
        return Ok(());
    };
    let at = environment::follow(&mut m.d, &m.r[usize::from(SP)], e.at, 8)?;
    (e.at, e.lowest) = (at, at.min(e.lowest));
    let changing = e.changing;
    if writes & changing != 0 {
        return Err(Fault::Convention(KERNEL_REGISTER));
    }
    for r in (0..32u8).filter(|r| (reads & changing) >> r & 1 == 1) {
        let name = format!("${}, as an interrupt left it", REGISTERS[usize::from(r)]);
        m.r[usize::from(r)] = m.d.unknown(name);
    }
    Ok(())
}

/// A machine about to run `function`, called with pointers to the start of `bases`.
pub fn enter<D: Abstract>(
    d: D,
    core: &Core,
    function: &Function,
    bases: &[Base],
) -> (Mips<D>, Entry<D>) {
    let wide = core.features.has(Feature::WideAcc);
    let mut m = Mips::new(d, wide, core.big_endian);
    m.pc = function.entry as usize;
    m.d.environment(function.constants(true), core.big_endian);
    if function.movable {
        let start = m.d.pointer(Base::IMAGE, 0, 0);
        m.place(Base::IMAGE, start);
    }
    // Position-independent code finds its own place by it.
    let own = function.called_by_address;
    let own = own.then(|| m.in_program(function.entry));
    fill(&mut m, own.as_ref());
    let arguments = function.arguments(POINTER_BYTES);
    let (mut top, mut on_stack) = (HOME, Vec::new());
    for (place, argument) in in_words(&arguments, &ARGUMENTS, HOME, 4)
        .iter()
        .zip(&arguments)
    {
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
            align: STACK_ALIGN,
        },
    );
    for (offset, word) in on_stack {
        let base = Base::STACK;
        m.d.init(Address { base, offset }, &word);
    }
    m.environment = Some(Environment::entered(holds::<D>, changing()));
    let entry = Entry { r: m.r.clone() };
    (m, entry)
}

/// What the kernel did not give back as it should; empty if it kept the convention.
pub fn violations<D: Abstract>(m: &mut Mips<D>, entry: &Entry<D>, scratch: &[u8]) -> Vec<String> {
    let mut list = Vec::new();
    for row in rows() {
        let back = row.back;
        match row.place {
            What::Registers(range) => {
                for r in range.filter(|r| back != Back::Kept || !scratch.contains(r)) {
                    let at = usize::from(r & 31);
                    if !is_back(&mut m.d, back, [&m.r[at], &entry.r[at]]) {
                        list.push(format!("${} is not restored", REGISTERS[at]));
                    }
                }
            }
            // Nobody asks for what a product leaves.
            What::Accumulator => {}
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
/// $sp at entry in a concrete run.
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
) -> Mips<Concrete> {
    let mut d = Concrete::new(MEMORY);
    d.start = start;
    d.big_endian = core.big_endian;
    d.rom = function.constants(true);
    let mut m = Mips::new(d, core.features.has(Feature::WideAcc), core.big_endian);
    m.pc = function.entry as usize;
    // What a caller may leave in registers.
    for r in 1..32 {
        m.r[r] = m.d.known(0x0101_0101 * r as u64 + 0x8000_0000);
    }
    function.spoil(&mut m.r[1..]);
    let arguments = function.arguments(POINTER_BYTES);
    for (place, argument) in in_words(&arguments, &ARGUMENTS, HOME, 4)
        .iter()
        .zip(&arguments)
    {
        let word = concrete_number(argument, addresses) & 0xffff_ffff;
        match place {
            Place::Register(r) => m.r[usize::from(*r & 31)] = Bits(word),
            Place::Stack(above) => {
                let at = (STACK_TOP + *above as usize).min(MEMORY - 4);
                let bytes = match core.big_endian {
                    true => (word as u32).to_be_bytes(),
                    false => (word as u32).to_le_bytes(),
                };
                m.d.memory[at..at + 4].copy_from_slice(&bytes);
            }
        }
    }
    m.d.watch(STACK_LIMIT, start + STACK_TOP);
    if function.called_by_address {
        m.r[usize::from(T9)] = m.d.known(function.entry);
    }
    m.r[usize::from(SP)] = m.d.known((start + STACK_TOP) as u64);
    m.r[usize::from(RA)] = m.d.known(CALLER as u64);
    m
}
