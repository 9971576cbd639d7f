//! The procedure call standard (AAPCS): how a kernel is entered, what it must give back.
//!
//! Source: ARM IHI 0042, sections 5.1.1 (r0 to r3 arguments; r4 to r11 and r13 preserved),
//! 5.2.1 (a full descending stack, 4-byte aligned). r14 holds the return address at entry;
//! flags belong to nobody. Operands and code are word-aligned. r9 is preserved, which serves
//! platforms that give it another role too.

use super::code::{Insn, immediate_bits};
use super::instructions::Op;
use super::machine::{Arm, LR, Places, SP};
use crate::domain::abstract_memory::Region;
use crate::domain::concrete::{Bits, Concrete};
use crate::domain::{Abstract, Address, Base, Domain};
use crate::isa::LowerError;

/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 4096;
/// The code itself, for reads of its literals.
const CODE: Base = Base(u8::MAX);
/// Registers of the arguments.
const ARGUMENTS: usize = 4;

/// Must the callee preserve register `r`?
pub fn is_callee_saved(r: u8) -> bool {
    matches!(r, 4..=11 | SP)
}

/// What the machine held when the kernel was entered.
pub struct Entry<D: Domain> {
    r: [D::Word<32>; 15],
}

/// A machine about to run `code`, called with pointers to the start of `arguments`.
pub fn enter<D: Abstract>(mut d: D, code: &[u8], arguments: &[Base]) -> (Arm<D>, Entry<D>) {
    let place = |base| Address { base, offset: 0 };
    let length = code.len() as i64;
    d.declare(
        CODE,
        Region {
            name: "code".into(),
            start: 0,
            end: length,
            writable_end: 0,
        },
    );
    for (i, chunk) in code.chunks_exact(4).enumerate() {
        let word = chunk.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
        let word = d.known::<32>(word);
        let offset = 4 * i as i64;
        d.init(Address { base: CODE, offset }, &word);
    }
    d.declare(
        Base::STACK,
        Region {
            name: "stack".into(),
            start: -STACK_LIMIT,
            end: 0,
            writable_end: 0,
        },
    );
    let start = d.pointer(CODE, 0, 0);
    let places = Places {
        code: place(CODE),
        caller: place(Base::RETURN),
    };
    let mut m = Arm::new(d, start, places);
    for i in 0..15u8 {
        m.r[usize::from(i)] = m.d.unknown(format!("r{i} at entry"));
    }
    for (i, base) in arguments.iter().take(ARGUMENTS).enumerate() {
        m.r[i] = m.d.pointer(*base, 0, 0);
    }
    m.r[usize::from(SP)] = m.d.pointer(Base::STACK, 0, 0);
    m.r[usize::from(LR)] = m.d.pointer(Base::RETURN, 0, 0);
    m.flags.n = m.d.unknown_bit("N at entry".into());
    m.flags.z = m.d.unknown_bit("Z at entry".into());
    m.flags.c = m.d.unknown_bit("C at entry".into());
    m.flags.v = m.d.unknown_bit("V at entry".into());
    m.status = m.d.unknown("the processor mode".into());
    let entry = Entry { r: m.r.clone() };
    (m, entry)
}

/// What the kernel did not give back as it should; empty if it kept the convention.
pub fn violations<D: Abstract>(m: &Arm<D>, entry: &Entry<D>) -> Vec<String> {
    (0..15u8)
        .filter(|i| is_callee_saved(*i))
        .filter(|i| !m.d.same(&m.r[usize::from(*i)], &entry.r[usize::from(*i)]))
        .map(|i| match i {
            SP => "the stack pointer is not where it was".into(),
            _ => format!("r{i} is not restored"),
        })
        .collect()
}

/// Saves what the body needs, and makes room for `scratch` words above the stack pointer:
/// (before, after) the body.
///
/// # Errors
/// When the stack would be deeper than [`STACK_LIMIT`].
pub fn frame(body: &[Insn], scratch: usize) -> Result<(Vec<Insn>, Vec<Insn>), LowerError> {
    let used = body.iter().fold(0, |set, insn| set | insn.registers());
    let saved = (0..15u8)
        .filter(|r| is_callee_saved(*r) && *r != SP || *r == LR)
        .fold(0, |set, r| set | used & 1 << r);
    let back = Insn {
        op: Op::BX,
        ops: super::instructions::Ops {
            m: LR,
            ..Default::default()
        },
    };
    // Multiples of 4 below 1024 and of 16 below 4096 are immediates.
    let room = match scratch {
        0..256 => scratch,
        _ => scratch.next_multiple_of(4),
    };
    let need = 4 * (saved.count_ones() as usize + room);
    let bits = immediate_bits(4 * room as u32).filter(|_| need as i64 <= STACK_LIMIT);
    let bits = bits.ok_or(LowerError::Stack {
        need,
        limit: STACK_LIMIT as usize,
    })?;
    let (mut before, mut after) = (vec![], vec![back]);
    if saved != 0 {
        before.push(Insn::block(Op::STM, SP, (true, false), true, saved));
        after.insert(0, Insn::block(Op::LDM, SP, (false, true), true, saved));
    }
    if room > 0 {
        before.push(Insn::alu(Op::SUB, false, SP, SP, bits));
        after.insert(0, Insn::alu(Op::ADD, false, SP, SP, bits));
    }
    Ok((before, after))
}

/// First address of the stack and of the code in a concrete run.
pub const STACK_TOP: usize = 0x1_0000;
pub const CODE_START: usize = 0x1_0000;
/// Where a concrete run returns to: no code is there.
const CALLER: u64 = 0xffff_fff0;

/// A machine about to run `code` on numbers, with pointers to `addresses` as arguments.
pub fn enter_concrete(code: &[u8], addresses: &[usize]) -> Arm<Concrete> {
    let mut d = Concrete::new(CODE_START + code.len());
    d.memory[CODE_START..].copy_from_slice(code);
    let place = |offset| Address {
        base: Base::ABSOLUTE,
        offset,
    };
    let places = Places {
        code: place(CODE_START as i64),
        caller: place(CALLER as i64),
    };
    let start = d.known(CODE_START as u64);
    let mut m = Arm::new(d, start, places);
    for (register, address) in m.r.iter_mut().zip(addresses) {
        *register = Bits(*address as u64);
    }
    m.r[usize::from(SP)] = Bits(STACK_TOP as u64);
    m.r[usize::from(LR)] = Bits(CALLER);
    m
}
