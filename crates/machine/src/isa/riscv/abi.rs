//! The ILP32 and ILP32E calling conventions: how a kernel is entered, what it must give back.
//!
//! Source: *RISC-V ABIs Specification* 1.0, chapters 1 and 2. Pointers arrive in a0 to a7 (to a5 in ILP32E), then on the
//! stack from sp on; s0 to s11 belong to the caller, gp and tp to the program.

use std::ops::Range;

use crate::domain::Abstract;
use crate::domain::concrete::Concrete;
use crate::domain::place::Base;
use crate::domain::word::Domain;
use crate::function::{Argument, ArgumentPlace, Function, in_words};
use crate::isa::convention::{Callable, Convention, Link, Stack};
use crate::isa::enter::ForAll;
use crate::isa::environment::{Environment, OneStack};
use crate::isa::numbers::OnNumbers;
pub use crate::isa::riscv::assumed::is_callee_saved;
use crate::isa::riscv::assumed::rows;
use crate::isa::riscv::cores::Core;
use crate::isa::riscv::machine::Riscv;
use crate::isa::riscv::operands::Features;
use crate::isa::riscv::registers::REGISTERS;
pub use crate::isa::riscv::registers::{ARGUMENTS, RA, SAVE_AREA, SP};
use crate::isa::words::Image;

/// Bytes of a pointer.
pub const POINTER_BYTES: usize = 4;
/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 4096;

/// In a run on numbers: bytes of memory, sp at entry, first address of an operand.
const MEMORY: usize = 0x1_0000;
const STACK_TOP: usize = 0xff00;
const DATA: usize = 0x100;
/// The return address in a run on numbers: no code is there.
const CALLER: usize = 0x7fff_fff0;

/// What sp is a multiple of (*RISC-V ABIs*, section 2.1 and, for ILP32E, 2.3).
pub fn stack_align(features: Features) -> i64 {
    if features.reduced { 4 } else { 16 }
}

impl<D: Domain> Callable<32> for Riscv<D> {
    const POINTER_BYTES: usize = POINTER_BYTES;

    fn convention(&self, core: &Core) -> Convention {
        Convention {
            rows: rows(),
            stacks: vec![Stack {
                base: Base::STACK,
                name: "stack",
                first: 0,
                limit: STACK_LIMIT,
                align: stack_align(core.features) as u64,
                reserved: 0,
                owned: true,
                top: STACK_TOP,
            }],
            link: Link::Register,
            caller: CALLER,
        }
    }

    /// ILP32E has only the first six registers.
    fn places(&self, core: &Core, arguments: &[Argument]) -> Vec<ArgumentPlace> {
        let registers = if core.features.reduced { 6 } else { 8 };
        in_words(arguments, &ARGUMENTS[..registers], 0, POINTER_BYTES)
    }

    /// a0.
    fn returned(_: &Core, function: &Function) -> Range<usize> {
        10..10 + usize::from(function.returned_bits.is_some())
    }

    fn word_name(i: u8) -> String {
        REGISTERS[usize::from(i & 31)].into()
    }

    /// There are none.
    fn flag_name(i: u8) -> String {
        format!("flag {i}")
    }
}

impl<D: Domain> OneStack<32> for Riscv<D> {
    const SP: u8 = SP;
    const UNTOUCHED: &'static str =
        "it writes gp or tp, which interrupt handlers and other threads rely on";

    #[inline(always)]
    fn align(&self) -> i64 {
        stack_align(self.features)
    }

    #[inline(always)]
    fn environment(&mut self) -> &mut Option<Environment<Self>> {
        &mut self.environment
    }
}

impl<D: Abstract> ForAll<32> for Riscv<D> {
    fn before(d: D, core: &Core, function: &Function) -> Self {
        let mut m = Riscv::new(d, core.features);
        m.pc = function.entry as usize;
        m.d.environment(function.constants(true), false);
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

impl OnNumbers<32> for Riscv<Concrete> {
    fn with_memory(core: &Core, function: &Function, start: usize) -> Self {
        let mut d = Concrete::new(MEMORY);
        d.start = start;
        d.rom = function.constants(true);
        let mut m = Riscv::new(d, core.features);
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
