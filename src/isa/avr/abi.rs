//! The avr-gcc calling convention: how a kernel is entered, what it must give back.
//!
//! Source: avr-gcc wiki page *ABI*; avr-libc manual, *Assembler programs*. Pointers
//! arrive in r25:r24, r23:r22, r21:r20; r2..r17, r28, r29 belong to the caller; r1 is 0
//! at entry and must be at return; interrupts, when on, stay on. On the reduced core the
//! same with r18, r19, r28, r29 for the caller's registers and r17 for r1.

use std::rc::Rc;

use super::code::Insn;
use super::cores::{Core, Set};
use super::instructions::Op;
use super::machine::Avr;
use crate::domain::abstract_memory::Region;
use crate::domain::concrete::{Bits, Concrete};
use crate::domain::{Abstract, Address, Base, Domain};
use crate::function::{Argument, Function, Place, abstract_word, concrete_number, in_words};
use crate::isa::Class;

/// Low registers of the pointer arguments, in order.
pub const ARGUMENTS: [u8; 4] = [24, 22, 20, 18];
/// Bytes of a pointer.
pub const POINTER_BYTES: usize = 2;
/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 1024;

/// Must the callee preserve register `r`?
pub fn is_callee_saved(core: &Core, r: u8) -> bool {
    match core.set {
        Set::Avrrc => matches!(r, 18 | 19 | 28 | 29),
        _ => matches!(r, 2..=17 | 28 | 29),
    }
}

/// The register that holds 0 whenever C code runs.
pub fn zero_register(core: &Core) -> u8 {
    match core.set {
        Set::Avrrc => 17,
        _ => 1,
    }
}

/// What the machine held when the kernel was entered.
pub struct Entry<D: Domain> {
    r: [D::Word<8>; 32],
    interrupts: D::Bit,
}

/// Places of the arguments: from r25 down, each in whole pairs, then on the stack (avr-gcc wiki,
/// *Calling convention*).
fn places(arguments: &[Argument], pc_bytes: usize) -> Vec<Place> {
    let pairs: Vec<u8> = (4..13u8).rev().map(|pair| 2 * pair).collect();
    let list = in_words(arguments, &pairs, 1 + pc_bytes as i64, 2);
    let low = |(place, argument): (Place, &Argument)| match (place, argument.place) {
        // The least significant byte is in the lowest register of all pairs.
        (Place::Register(first), None) => {
            Place::Register(first + 2 - 2 * argument.bytes.div_ceil(2).max(1) as u8)
        }
        (place, _) => place,
    };
    list.into_iter().zip(arguments).map(low).collect()
}

/// A machine about to run `function`, called with pointers to the start of `bases`.
pub fn enter<D: Abstract>(
    d: D,
    core: &Core,
    function: &Function,
    bases: &[Base],
) -> (Avr<D>, Entry<D>) {
    let mut m = Avr::new(d, core.pc_bytes, function.code.clone());
    m.io_start = core.io_start();
    m.pc = function.entry as usize / 2;
    m.d.environment(function.constants(false), function.align, false);
    for i in 0..32u8 {
        m.r[usize::from(i)] = m.d.unknown(format!("r{i} at entry"));
    }
    m.r[usize::from(zero_register(core))] = m.d.known(0);
    for s in 0..8 {
        let bit = m.d.unknown_bit(format!("SREG bit {s} at entry"));
        m.set_flag(s, bit);
    }
    m.sp = [
        m.d.pointer(Base::STACK, 0, 0),
        m.d.pointer(Base::STACK, 0, 1),
    ];
    let pc_bytes = core.pc_bytes as i64;
    let arguments = function.arguments(POINTER_BYTES);
    let (mut top, mut on_stack) = (pc_bytes + 1, Vec::new());
    for (place, argument) in places(&arguments, core.pc_bytes).iter().zip(&arguments) {
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
    m.d.declare(
        Base::STACK,
        Region {
            name: "stack".into(),
            start: 1 - STACK_LIMIT,
            end: top,
            writable_end: 1,
        },
    );
    let stack = |offset| Address {
        base: Base::STACK,
        offset,
    };
    for (offset, word) in on_stack {
        m.d.init(stack(offset), &word);
    }
    for i in 0..pc_bytes {
        // The call pushed the low byte first: it lies highest.
        let part = m.d.pointer::<8>(Base::RETURN, 0, i as u32);
        m.d.init(stack(pc_bytes - i), &part);
    }
    let entry = Entry {
        r: m.r.clone(),
        interrupts: m.get_flag(7),
    };
    (m, entry)
}

/// Bytes of stack written in an abstract run.
pub fn stack_bytes<D: Abstract>(d: &D) -> usize {
    let lowest = d.lowest_written(Base::STACK);
    lowest.map_or(0, |lowest| (1 - lowest).max(0) as usize)
}

/// What the kernel did not give back as it should; empty if it kept the convention.
pub fn violations<D: Abstract>(
    m: &mut Avr<D>,
    entry: &Entry<D>,
    core: &Core,
    scratch: &[u8],
) -> Vec<String> {
    let mut list = Vec::new();
    for i in (0..32u8).filter(|i| is_callee_saved(core, *i) && !scratch.contains(i)) {
        let i = usize::from(i);
        if !m.d.same(&m.r[i], &entry.r[i]) {
            list.push(format!("r{i} is not restored"));
        }
    }
    let (zero, known) = (zero_register(core), m.d.known::<8>(0));
    if !m.d.same(&m.r[usize::from(zero)], &known) {
        list.push(format!("r{zero} is not 0 at return"));
    }
    let back = core.pc_bytes as i64;
    for part in 0..2 {
        let want = m.d.pointer::<8>(Base::STACK, back, part);
        if !m.d.same(&m.sp[part as usize], &want) {
            list.push("the stack pointer is not where it was".into());
            break;
        }
    }
    if !m.d.same_bit(&m.get_flag(7), &entry.interrupts) {
        list.push("the interrupt flag is not restored".into());
    }
    list
}

/// Registers a body names.
fn named_by(body: &[Insn]) -> [bool; 32] {
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

/// Saves what the body needs: (before, after) the body.
pub fn frame(core: &Core, body: &[Insn]) -> (Vec<Insn>, Vec<Insn>) {
    let used = named_by(body);
    let is_saved = |r: &u8| used[usize::from(*r)] && is_callee_saved(core, *r);
    let saved: Vec<u8> = (0..32u8).filter(is_saved).collect();
    let before = saved.iter().map(|r| Insn::rr(Op::PUSH, 0, *r)).collect();
    let mut after: Vec<_> = saved
        .iter()
        .rev()
        .map(|r| Insn::rr(Op::POP, *r, 0))
        .collect();
    let zero = zero_register(core);
    if used[usize::from(zero)] {
        after.push(Insn::rr(Op::EOR, zero, zero));
    }
    after.push(Insn::rr(Op::RET, 0, 0));
    (before, after)
}

/// Bytes of data space in a concrete run: all that 16 bits address.
const DATA_SPACE: usize = 0x1_0000;
/// First address of the stack in a concrete run.
const STACK_TOP: usize = 0xf000;

/// Word address that stands for the caller: the last one a program counter can hold.
pub fn caller(m: &Avr<Concrete>) -> usize {
    if m.pc_bytes == 2 { 0xffff } else { 0x3f_ffff }
}

/// A machine about to run `code` on numbers, with pointers to `addresses` as arguments.
///
/// Code that no part can hold (an unrolled 2048-bit kernel) still runs, with wider return addresses.
pub fn enter_concrete(core: &Core, code: Rc<[u8]>, addresses: &[usize]) -> Avr<Concrete> {
    let fits = code.len() < 2 * 0xffff;
    let pc_bytes = if fits { core.pc_bytes } else { 3 };
    let mut m = Avr::new(Concrete::new(DATA_SPACE), pc_bytes, code);
    m.io_start = core.io_start();
    restart(&mut m, core, addresses);
    m
}

/// A machine about to run `function` on numbers, with pointers to `addresses`.
pub fn enter_function(core: &Core, function: &Function, addresses: &[usize]) -> Avr<Concrete> {
    let mut m = enter_concrete(core, function.code.clone(), &[]);
    m.pc = function.entry as usize / 2;
    for segment in &function.data {
        let start = segment.address as usize;
        let room = m.d.memory.get_mut(start..start + segment.bytes.len());
        if let Some(room) = room {
            room.copy_from_slice(&segment.bytes);
        }
    }
    let arguments = function.arguments(POINTER_BYTES);
    let sp = (STACK_TOP - m.pc_bytes) as i64;
    for (place, argument) in places(&arguments, m.pc_bytes).iter().zip(&arguments) {
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
    for (low, address) in ARGUMENTS.iter().zip(addresses) {
        let low = usize::from(*low);
        m.r[low] = m.d.known(*address as u64);
        m.r[low + 1] = m.d.known(*address as u64 >> 8);
    }
    m.r[usize::from(zero_register(core))] = m.d.known(0);
    for i in 0..m.pc_bytes {
        m.d.memory[STACK_TOP - i] = (caller(m) >> (8 * i)) as u8;
    }
    let sp = (STACK_TOP - m.pc_bytes) as u64;
    m.d.watch(STACK_LIMIT, sp as usize + 1);
    m.sp = [m.d.known(sp), m.d.known(sp >> 8)];
    m.pc = 0;
}
