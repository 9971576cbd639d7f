//! Calling conventions: how a kernel is entered, what it must give back.
//!
//! avr-gcc: the wiki page *ABI*; avr-libc manual, *Assembler programs*. On the reduced core it is
//! the same with other registers. IAR: CAVR-4, *AVR IAR C/C++ Compiler Reference Guide*, chapter
//! *Assembler language interface*, pages 101 to 106. In all of them interrupts, when on, stay on.

use std::rc::Rc;

use crate::domain::Abstract;
use crate::domain::abstract_memory::Region;
use crate::domain::concrete::{Bits, Concrete};
use crate::domain::place::{Address, Base};
use crate::domain::word::Domain;
use crate::function::{Function, Place, abstract_word, concrete_number};
use crate::isa::assumed::{Back, Holds};
use crate::isa::avr::assumed::{INTERRUPTS, Place as What, rows};
use crate::isa::avr::code::Insn;
pub use crate::isa::avr::convention::{Abi, GCC, IAR};
use crate::isa::avr::core::Core;
use crate::isa::avr::machine::Avr;
use crate::isa::avr::operands::Op;
use crate::isa::avr::past::Environment;
use crate::isa::cost::{Class, Depth};

/// Bytes of a pointer.
pub const POINTER_BYTES: usize = 2;
/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 1024;

/// The registers of the word that `function` returns: up to r25, or from r16 on (CAVR-4, page 104).
pub fn returned(core: &Core, function: &Function) -> std::ops::Range<usize> {
    let bytes = function.returned_bits.unwrap_or(0) as usize / 8;
    match (bytes, core.abi.data_stack) {
        (_, true) => 16..16 + bytes,
        (1, false) => 24..25,
        (_, false) => 26 - bytes..26,
    }
}

/// What the machine held when the kernel was entered.
pub struct Entry<D: Domain> {
    r: [D::Word<8>; 32],
    flags: [D::Bit; 8],
    pages: [D::Word<8>; 2],
}

/// A byte that holds what a row says: byte `part` of an address, or all of a register.
fn held<D: Abstract>(d: &mut D, holds: Holds, name: String, part: u32) -> D::Word<8> {
    match holds {
        Holds::Anything | Holds::Changing | Holds::OwnAddress => d.unknown(name),
        Holds::Zero => d.known(0),
        Holds::Stack(base) => d.pointer(base, 0, part),
        Holds::ReturnAddress => d.pointer(Base::RETURN, 0, part),
    }
}

/// Fills registers, flags and I/O registers with what the rows of the convention say.
fn fill<D: Abstract>(m: &mut Avr<D>, core: &Core) {
    let [mut rampz, mut eind] = m.pages();
    for row in rows(core) {
        match row.place {
            What::Registers(range) => {
                for (part, i) in range.enumerate() {
                    let name = format!("r{i} at entry");
                    m.r[usize::from(i & 31)] = held(&mut m.d, row.holds, name, part as u32);
                }
            }
            What::Flags(range) => {
                for s in range {
                    let bit = m.d.unknown_bit(format!("SREG bit {s} at entry"));
                    m.set_flag(s, bit);
                }
            }
            What::Sp => {
                for part in 0..2 {
                    m.sp[part] = held(&mut m.d, row.holds, "SP at entry".into(), part as u32);
                }
            }
            What::Rampz | What::PagingRampz => {
                rampz = held(&mut m.d, row.holds, "RAMPZ at entry".into(), 0);
            }
            // No access to them is followed.
            What::OtherPages => {}
            What::Eind => eind = held(&mut m.d, row.holds, "EIND at entry".into(), 0),
        }
    }
    m.set_pages([rampz, eind]);
}

/// A machine about to run `function`, called with pointers to the start of `bases`.
pub fn enter<D: Abstract>(
    d: D,
    core: &Core,
    function: &Function,
    bases: &[Base],
) -> (Avr<D>, Entry<D>) {
    let mut m = Avr::new(d, core.pc_bytes, function.code.clone());
    describe(&mut m, core);
    m.marks = function.marks.clone();
    m.pc = function.entry as usize;
    m.d.environment(function.constants(false), false);
    fill(&mut m, core);
    if core.abi.data_stack {
        m.data_stack = Some(Address {
            base: Base::DATA_STACK,
            offset: 0,
        });
    }
    let pc_bytes = core.pc_bytes as i64;
    let arguments = function.arguments(POINTER_BYTES);
    let (base, mut top) = core.abi.stack(core.pc_bytes);
    let mut on_stack = Vec::new();
    for (place, argument) in core
        .abi
        .places(&arguments, core.pc_bytes)
        .iter()
        .zip(&arguments)
    {
        for part in 0..argument.bytes as u32 {
            let word = abstract_word::<D, 8>(&mut m.d, argument, bases, part);
            match place {
                Place::Register(low) => m.r[usize::from(low + part as u8) & 31] = word,
                Place::Stack(above) => on_stack.push((above + i64::from(part), word)),
            }
        }
        if let Place::Stack(above) = place {
            top = top.max(above + argument.bytes as i64);
        }
    }
    let region = |name: &str, first: i64, end| Region {
        name: name.into(),
        start: first - STACK_LIMIT,
        end,
        writable_end: first,
        align: 1,
    };
    // SP points below the last byte in use, Y to it.
    m.d.declare(Base::STACK, region("stack", 1, top.max(1 + pc_bytes)));
    if core.abi.data_stack {
        m.d.declare(Base::DATA_STACK, region("data stack", 0, top));
    }
    for (offset, word) in on_stack {
        m.d.init(Address { base, offset }, &word);
    }
    for i in 0..pc_bytes {
        // The call pushed the low byte first: it lies highest.
        let part = m.d.pointer::<8>(Base::RETURN, 0, i as u32);
        let offset = pc_bytes - i;
        m.d.init(
            Address {
                base: Base::STACK,
                offset,
            },
            &part,
        );
    }
    let entry = Entry {
        r: m.r.clone(),
        flags: std::array::from_fn(|s| m.get_flag(s as u8)),
        pages: m.pages(),
    };
    m.environment = Some(Environment::entered(&m));
    (m, entry)
}

/// What kind of machine `core` is.
fn describe<D: Domain>(m: &mut Avr<D>, core: &Core) {
    m.io_start = core.io_start();
    m.has_rampz = core.has_rampz();
    m.pages_data = core.pages_data();
    m.has_eind = core.has_eind();
    m.closed_by_spl = core.closed_by_spl();
}

/// How far down an abstract run moved the stack pointer, and that of a stack of data.
pub fn depth<D: Abstract>(core: &Core, m: &Avr<D>) -> Depth {
    let lowest = m.environment.as_ref().map_or([0; 2], |e| e.lowest);
    let [usual, data] = lowest.map(|at| (-at).max(0) as usize);
    match core.abi.data_stack {
        true => Depth {
            bytes: data,
            returns: Some(usual),
        },
        false => Depth {
            bytes: usual,
            returns: None,
        },
    }
}

/// What the kernel did not give back as it should; empty if it kept the convention.
pub fn violations<D: Abstract>(
    m: &mut Avr<D>,
    entry: &Entry<D>,
    core: &Core,
    scratch: &[u8],
) -> Vec<String> {
    let mut list = Vec::new();
    let pages = m.pages();
    for row in rows(core) {
        let back = row.back;
        match row.place {
            What::Registers(range) => {
                for (part, i) in range.enumerate() {
                    let (now, was) = (m.r(i), &entry.r[usize::from(i & 31)]);
                    let is_excused = back == Back::Kept && scratch.contains(&i);
                    if !is_excused && !is_back(&mut m.d, back, [&now, was], part as u32) {
                        list.push(broken(&format!("r{i}"), back));
                    }
                }
            }
            What::Flags(range) => {
                for s in range {
                    let (now, was) = (m.get_flag(s), &entry.flags[usize::from(s & 7)]);
                    let off = m.d.flag(false);
                    let is_back = match back {
                        Back::Free => true,
                        Back::Kept => m.d.same_bit(&now, was),
                        Back::Zero => m.d.same_bit(&now, &off),
                        Back::Above(..) | Back::Untouched => false,
                    };
                    let name = match s {
                        INTERRUPTS => "the interrupt flag".into(),
                        _ => format!("bit {s} of SREG"),
                    };
                    list.extend((!is_back).then(|| broken(&name, back)));
                }
            }
            What::Sp => {
                let sp = m.sp.clone();
                let mut parts = sp.iter().zip(0..);
                if !parts.all(|(now, part)| is_back(&mut m.d, back, [now, now], part)) {
                    list.push("the stack pointer is not where it was".into());
                }
            }
            What::Rampz | What::PagingRampz => {
                if !is_back(&mut m.d, back, [&pages[0], &entry.pages[0]], 0) {
                    list.push(broken("RAMPZ", back));
                }
            }
            // Any access to them was a fault.
            What::OtherPages => {}
            What::Eind => {
                if !is_back(&mut m.d, back, [&pages[1], &entry.pages[1]], 0) {
                    list.push(broken("EIND", back));
                }
            }
        }
    }
    list
}

/// Is a byte (`part` of an address) what a row says, now and at entry?
fn is_back<D: Abstract>(d: &mut D, back: Back, [now, was]: [&D::Word<8>; 2], part: u32) -> bool {
    match back {
        Back::Free => true,
        Back::Kept | Back::Untouched => d.same(now, was),
        Back::Zero => {
            let zero = d.known::<8>(0);
            d.same(now, &zero)
        }
        Back::Above(base, bytes) => {
            let want = d.pointer::<8>(base, bytes.into(), part);
            d.same(now, &want)
        }
    }
}

/// What is said of a place that does not hold it.
fn broken(name: &str, back: Back) -> String {
    match back {
        Back::Zero => format!("{name} is not 0 at return"),
        Back::Free | Back::Kept | Back::Untouched | Back::Above(..) => {
            format!("{name} is not restored")
        }
    }
}

/// Registers a body names.
pub fn named_by(body: &[Insn]) -> [bool; 32] {
    let mut used = [false; 32];
    for r in body.iter().flat_map(Insn::registers) {
        used[usize::from(r)] = true;
    }
    if body.iter().any(|insn| insn.form().class == Class::Mul) {
        used[0] = true;
        used[1] = true;
    }
    used
}

/// Puts a register on the stack.
pub fn push(abi: &Abi, r: u8) -> Insn {
    match abi.data_stack {
        true => Insn::rk(Op::STY_DEC, r, 0),
        false => Insn::rr(Op::PUSH, 0, r),
    }
}

/// Takes it back.
pub fn pop(abi: &Abi, r: u8) -> Insn {
    match abi.data_stack {
        true => Insn::dk(Op::LDY_INC, r, 0),
        false => Insn::rr(Op::POP, r, 0),
    }
}

/// Bytes of data space in a concrete run: all that 16 bits address.
const DATA_SPACE: usize = 0x1_0000;
/// First address of the stack in a concrete run, and of a data stack.
const STACK_TOP: usize = 0xf000;
const DATA_STACK_TOP: usize = 0xe000;

/// Byte address that stands for the caller: the last one a program counter can hold.
pub fn caller(m: &Avr<Concrete>) -> usize {
    if m.pc_bytes == 2 { 0x1_fffe } else { 0x7f_fffe }
}

/// A machine about to run `code` on numbers, with pointers to `addresses` as arguments.
///
/// Code that no part can hold (an unrolled 2048-bit kernel) still runs, with wider return addresses.
pub fn enter_concrete(core: &Core, code: Rc<[u8]>, addresses: &[usize]) -> Avr<Concrete> {
    let fits = code.len() < 2 * 0xffff;
    let pc_bytes = if fits { core.pc_bytes } else { 3 };
    let mut m = Avr::new(Concrete::new(DATA_SPACE), pc_bytes, code);
    describe(&mut m, core);
    restart(&mut m, core, addresses);
    m
}

/// A machine about to run `function` on numbers, with pointers to `addresses`.
pub fn enter_function(core: &Core, function: &Function, addresses: &[usize]) -> Avr<Concrete> {
    let mut m = enter_concrete(core, function.code.clone(), &[]);
    m.marks = function.marks.clone();
    m.d.rom.clone_from(&function.data);
    m.pc = function.entry as usize;
    for segment in &function.data {
        let start = segment.address as usize;
        let room = m.d.memory.get_mut(start..start + segment.bytes.len());
        if let Some(room) = room {
            room.copy_from_slice(&segment.bytes);
        }
    }
    let mut kept: Vec<_> = core.abi.zero.into_iter().collect();
    kept.extend(
        core.abi
            .data_stack
            .then_some([28, 29])
            .into_iter()
            .flatten(),
    );
    let kept: Vec<_> = kept
        .into_iter()
        .map(|i| (usize::from(i), m.r[usize::from(i)]))
        .collect();
    function.spoil(&mut m.r);
    for (i, value) in kept {
        m.r[i] = value;
    }
    for s in 0..7 {
        m.set_flag(s, function.noise >> s & 1 == 1);
    }
    let mut pages = m.pages();
    for row in rows(core).iter().filter(|row| row.holds == Holds::Anything) {
        match row.place {
            What::Rampz | What::PagingRampz => pages[0] = Bits(function.noise >> 8 & 0xff),
            What::Eind => pages[1] = Bits(function.noise >> 16 & 0xff),
            What::Registers(_) | What::Flags(_) | What::Sp | What::OtherPages => {}
        }
    }
    m.set_pages(pages);
    let arguments = function.arguments(POINTER_BYTES);
    let sp = match core.abi.data_stack {
        true => DATA_STACK_TOP as i64,
        false => (STACK_TOP - m.pc_bytes) as i64,
    };
    for (place, argument) in core
        .abi
        .places(&arguments, m.pc_bytes)
        .iter()
        .zip(&arguments)
    {
        let number = concrete_number(argument, addresses);
        for part in 0..argument.bytes.min(8) {
            let byte = number >> (8 * part) & 0xff;
            match place {
                Place::Register(low) => m.r[usize::from(low + part as u8) & 31] = Bits(byte),
                Place::Stack(above) => {
                    m.d.memory[(sp + above) as usize + part] = byte as u8;
                }
            }
        }
    }
    m
}

/// Calls again, with the memory as it is.
pub fn restart(m: &mut Avr<Concrete>, core: &Core, addresses: &[usize]) {
    for (low, address) in core.abi.arguments.iter().zip(addresses) {
        let low = usize::from(*low);
        m.r[low] = m.d.known(*address as u64);
        m.r[low + 1] = m.d.known(*address as u64 >> 8);
    }
    if let Some(zero) = core.abi.zero {
        m.r[usize::from(zero)] = m.d.known(0);
    }
    for i in 0..m.pc_bytes {
        m.d.memory[STACK_TOP - i] = (caller(m) / 2 >> (8 * i)) as u8;
    }
    let sp = (STACK_TOP - m.pc_bytes) as u64;
    m.d.stacks.clear();
    if core.abi.data_stack {
        m.r[28] = m.d.known(DATA_STACK_TOP as u64);
        m.r[29] = m.d.known(DATA_STACK_TOP as u64 >> 8);
        m.data_stack = Some(Address {
            base: Base::ABSOLUTE,
            offset: DATA_STACK_TOP as i64,
        });
        m.d.watch(STACK_LIMIT, DATA_STACK_TOP);
    }
    m.d.watch(STACK_LIMIT, sp as usize + 1);
    m.sp = [m.d.known(sp), m.d.known(sp >> 8)];
    m.pc = 0;
}
