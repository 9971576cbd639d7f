//! The o32 calling convention: how a kernel is entered, what it must give back.
//!
//! Source: MIPS ABI supplement to System V, chapter 3; MD00305, *MIPSpro o32*. Pointers
//! arrive in $a0 to $a3; $s0 to $s7, $gp, $sp, $fp and $ra belong to the caller; the 16
//! bytes above $sp are the callee's to write (the home of the arguments). HI and LO are free.

use std::ops::Range;

use crate::domain::Abstract;
use crate::domain::concrete::Concrete;
use crate::domain::place::Base;
use crate::domain::word::Domain;
use crate::function::{Argument, ArgumentPlace, Function, in_words};
use crate::isa::convention::{Callable, Convention, Link, Stack};
use crate::isa::enter::ForAll;
use crate::isa::environment::{Environment, OneStack};
pub use crate::isa::mips::assumed::is_callee_saved;
use crate::isa::mips::assumed::rows;
use crate::isa::mips::cores::Core;
use crate::isa::mips::machine::Mips;
use crate::isa::mips::operands::Feature;
use crate::isa::mips::registers::REGISTERS;
pub use crate::isa::mips::registers::{ARGUMENTS, HOME, RA, SAVE_AREA, SP};
use crate::isa::numbers::OnNumbers;
use crate::isa::words::{Image, Words};

/// Bytes of a pointer.
pub const POINTER_BYTES: usize = 4;
/// What $sp is a multiple of at entry (System V ABI, MIPS supplement, chapter 3).
const STACK_ALIGN: u64 = 8;
/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 4096;

/// In a run on numbers: bytes of memory, $sp at entry, first address of an operand.
const MEMORY: usize = 0x1_0000;
const STACK_TOP: usize = 0xff00;
const DATA: usize = 0x100;
/// The return address in a run on numbers: no code is there.
const CALLER: usize = 0x7fff_fff0;

impl<D: Domain> Callable<32> for Mips<D> {
    const POINTER_BYTES: usize = POINTER_BYTES;

    fn convention(&self, _: &Core) -> Convention {
        Convention {
            rows: rows(),
            stacks: vec![Stack {
                base: Base::STACK,
                name: "stack",
                first: 0,
                limit: STACK_LIMIT,
                align: STACK_ALIGN,
                reserved: HOME,
                owned: true,
                top: STACK_TOP,
            }],
            link: Link::Register,
            caller: CALLER,
        }
    }

    fn places(&self, _: &Core, arguments: &[Argument]) -> Vec<ArgumentPlace> {
        in_words(arguments, &ARGUMENTS, HOME, POINTER_BYTES)
    }

    /// $v0.
    fn returned(_: &Core, function: &Function) -> Range<usize> {
        2..2 + usize::from(function.returned_bits.is_some())
    }

    fn word_name(i: u8) -> String {
        match i {
            0..32 => format!("${}", REGISTERS[usize::from(i)]),
            32 => "HI".into(),
            33 => "LO".into(),
            _ => "the guard bits".into(),
        }
    }

    /// There are none.
    fn flag_name(i: u8) -> String {
        format!("flag {i}")
    }

    /// Position-independent code finds its own place by it.
    fn own_address(&mut self, function: &Function) -> Option<D::Word<32>> {
        let is_called = function.called_by_address;
        is_called.then(|| self.in_program(function.entry))
    }

    fn filled(&mut self) {
        self.enter_guard();
    }
}

impl<D: Domain> OneStack<32> for Mips<D> {
    const SP: u8 = SP;
    const UNTOUCHED: &'static str =
        "it writes $k0 or $k1, which interrupt handlers overwrite at any time";

    /// MIPS ABI supplement, chapter 3.
    #[inline(always)]
    fn align(&self) -> i64 {
        8
    }

    #[inline(always)]
    fn environment(&mut self) -> &mut Option<Environment<Self>> {
        &mut self.environment
    }
}

impl<D: Abstract> ForAll<32> for Mips<D> {
    fn before(d: D, core: &Core, function: &Function) -> Self {
        let wide = core.features.has(Feature::WideAcc);
        let mut m = Mips::new(d, wide, core.big_endian);
        m.pc = function.entry as usize;
        m.d.environment(function.constants(true), core.big_endian);
        if function.movable {
            let base = Base::IMAGE;
            let start = m.d.pointer(base, 0, 0);
            m.image = Image { base, start };
        }
        m
    }

    fn hold(&mut self, convention: &Convention) {
        self.environment = Some(Environment::entered(&convention.rows));
    }

    fn lowest(&self) -> Vec<i64> {
        self.environment.iter().map(|e| e.lowest).collect()
    }

    fn into_domain(self) -> D {
        self.d
    }
}

impl OnNumbers<32> for Mips<Concrete> {
    fn with_memory(core: &Core, function: &Function, start: usize) -> Self {
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
        m
    }

    fn memory(function: &Function) -> (usize, usize) {
        let start = match function.origin {
            Some(_) => function.free_memory(),
            None => 0,
        };
        (start, start + DATA)
    }
}
