//! Calling conventions: how a kernel is entered, what it must give back.
//!
//! avr-gcc: the wiki page *ABI*; avr-libc manual, *Assembler programs*. On the reduced core it is
//! the same with other registers. IAR: CAVR-4, *AVR IAR C/C++ Compiler Reference Guide*, chapter
//! *Assembler language interface*, pages 101 to 106. In all of them interrupts, when on, stay on.

use std::ops::Range;

use crate::codec::Operands;
use crate::domain::Abstract;
use crate::domain::concrete::Concrete;
use crate::domain::place::{Address, Base};
use crate::domain::word::Domain;
use crate::function::{Argument, ArgumentPlace, Function};
use crate::isa::avr::assumed::{EIND, INTERRUPTS, RAMPZ, rows};
use crate::isa::avr::code::Insn;
pub use crate::isa::avr::convention::{Abi, GCC, IAR};
use crate::isa::avr::core::Core;
use crate::isa::avr::machine::Avr;
use crate::isa::avr::operands::{Op, Ops};
use crate::isa::avr::past::Environment;
use crate::isa::convention::{Callable, Convention, Link, Stack};
use crate::isa::cost::Class;
use crate::isa::enter::ForAll;
use crate::isa::numbers::OnNumbers;

/// Bytes of a pointer.
pub const POINTER_BYTES: usize = 2;
/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 1024;

/// Bytes of data space in a run on numbers: all that 16 bits address.
const DATA_SPACE: usize = 0x1_0000;
/// First address of the stack in a run on numbers, and of a data stack.
const STACK_TOP: usize = 0xf000;
const DATA_STACK_TOP: usize = 0xe000;
/// First address of an operand in a run on numbers.
const DATA: usize = 0x0200;

impl<D: Domain> Callable<8> for Avr<D> {
    const POINTER_BYTES: usize = POINTER_BYTES;

    fn convention(&self, core: &Core) -> Convention {
        let (end, most) = match &self.stack {
            Some(addresses) => (addresses.end - 1, addresses.len() as i64),
            None => (STACK_TOP, STACK_LIMIT),
        };
        let stack = |base, name, first, reserved, top| Stack {
            base,
            name,
            first,
            limit: most.min(STACK_LIMIT),
            align: 1,
            reserved,
            owned: false,
            top,
        };
        // SP points below the last byte in use, Y to it.
        let pushed = self.pc_bytes;
        let (reserved, top) = (1 + pushed as i64, end - pushed);
        let usual = stack(Base::STACK, "stack", 1, reserved, top);
        let stacks = match core.abi.data_stack {
            true => vec![
                stack(Base::DATA_STACK, "data stack", 0, 0, DATA_STACK_TOP),
                usual,
            ],
            false => vec![usual],
        };
        // The last place a program counter can hold, which counts words.
        let last = if pushed == 2 { 0xffff } else { 0x3f_ffff };
        Convention {
            rows: rows(core, pushed),
            stacks,
            // The lowest byte is pushed first.
            link: Link::Stack {
                places: if pushed == 2 { &[2, 1] } else { &[3, 2, 1] },
                pushed: last,
            },
            caller: Ops::UNIT * last as usize,
        }
    }

    fn places(&self, core: &Core, arguments: &[Argument]) -> Vec<ArgumentPlace> {
        core.abi.places(arguments, self.pc_bytes)
    }

    /// Up to r25, or from r16 on (CAVR-4, page 104).
    fn returned(core: &Core, function: &Function) -> Range<usize> {
        let bytes = function.returned_bits.unwrap_or(0) as usize / 8;
        match (bytes, core.abi.data_stack) {
            (_, true) => 16..16 + bytes,
            (1, false) => 24..25,
            (_, false) => 26 - bytes..26,
        }
    }

    fn word_name(i: u8) -> String {
        match i {
            RAMPZ => "RAMPZ".into(),
            EIND => "EIND".into(),
            0..32 => format!("r{i}"),
            _ => "SP".into(),
        }
    }

    fn flag_name(i: u8) -> String {
        match i {
            INTERRUPTS => "the interrupt flag".into(),
            _ => format!("SREG bit {i}"),
        }
    }
}

impl<D: Abstract> ForAll<8> for Avr<D> {
    fn before(domain: D, core: &Core, function: &Function) -> Self {
        let mut m = Avr::new(domain, core.pc_bytes, function.code.clone());
        m.describe(core);
        m.marks = function.marks.clone();
        m.pc = function.entry as usize;
        m.d.environment(function.constants(false), false);
        m.data_stack = data_stack(core, Base::DATA_STACK, 0);
        m
    }

    fn hold(&mut self, _: &Convention) {
        self.environment = Some(Environment::entered(self));
    }

    fn lowest(&self) -> Vec<i64> {
        let [usual, data] = self.environment.as_ref().map_or([0; 2], |e| e.lowest);
        match self.data_stack {
            Some(_) => vec![data, usual],
            None => vec![usual],
        }
    }

    fn into_domain(self) -> D {
        self.d
    }
}

impl OnNumbers<8> for Avr<Concrete> {
    /// Code that no part can hold (an unrolled 2048-bit kernel) still runs, with wider return addresses.
    fn with_memory(core: &Core, function: &Function, _: usize) -> Self {
        let fits = function.code.len() < 2 * 0xffff;
        let pc_bytes = if fits { core.pc_bytes } else { 3 };
        let d = Concrete::new(DATA_SPACE);
        let mut m = Avr::new(d, pc_bytes, function.code.clone());
        m.describe(core);
        m.marks = function.marks.clone();
        m.pc = function.entry as usize;
        // Arguments lie above the return address.
        let arguments = function
            .arguments
            .iter()
            .flatten()
            .map(|a| a.bytes)
            .sum::<usize>();
        m.stack = function.ram.as_ref().map(|ram| {
            let stack = &ram.stack;
            stack.start..stack.end.saturating_sub(arguments).max(stack.start + 1)
        });
        m.data_stack = data_stack(core, Base::ABSOLUTE, DATA_STACK_TOP as i64);
        m.d.rom.clone_from(&function.data);
        for segment in &function.data {
            let start = segment.address as usize;
            let room = m.d.memory.get_mut(start..start + segment.bytes.len());
            if let Some(room) = room {
                room.copy_from_slice(&segment.bytes);
            }
        }
        m
    }

    /// Operands lie behind the program's variables.
    fn memory(function: &Function) -> (usize, usize) {
        if let Some(ram) = &function.ram {
            return (0, ram.operands.start);
        }
        let ends = function.data.iter().map(|s| s.end() as usize);
        let last = ends.filter(|end| *end < 0x8000).max();
        (0, last.map_or(DATA, |end| end.max(DATA)))
    }
}

/// Where Y points at entry, if it is the stack pointer of data.
fn data_stack(core: &Core, base: Base, offset: i64) -> Option<Address> {
    core.abi.data_stack.then_some(Address { base, offset })
}

impl<D: Domain> Avr<D> {
    /// What kind of machine `core` is.
    fn describe(&mut self, core: &Core) {
        self.io_start = core.io_start();
        self.has_rampz = core.has_rampz();
        self.pages_data = core.pages_data();
        self.has_eind = core.has_eind();
        self.closed_by_spl = core.closed_by_spl();
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
