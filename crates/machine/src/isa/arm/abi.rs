//! The procedure call standard (AAPCS): how a kernel is entered, what it must give back.
//!
//! Source: ARM IHI 0042, sections 5.1.1 (r0 to r3 arguments; r4 to r11 and r13 preserved),
//! 5.2.1 (a full descending stack, 4-byte aligned). r14 holds the return address at entry;
//! flags belong to nobody. Operands and code are word-aligned. r9 is preserved, which serves
//! platforms that give it another role too.

use std::ops::Range;
use std::rc::Rc;

use crate::domain::Abstract;
use crate::domain::abstract_memory::Region;
use crate::domain::concrete::{Concrete, number};
use crate::domain::place::{Address, Base};
use crate::domain::word::Domain;
use crate::function::{Argument, ArgumentPlace, Function, in_words};
use crate::isa::arm::assumed::{STATUS, rows};
use crate::isa::arm::code::register;
use crate::isa::arm::cores::Core;
use crate::isa::arm::machine::{Arm, Places, SP};
use crate::isa::assumed::Back;
use crate::isa::convention::{Callable, Convention, Link, Stack};
use crate::isa::enter::ForAll;
use crate::isa::environment::{Environment, OneStack};
use crate::isa::numbers::OnNumbers;
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

/// In a run on numbers: first address of an operand, of the stack, and of the code.
const DATA: usize = 0x1000;
const STACK_TOP: usize = 0x1_0000;
const CODE_START: usize = STACK_TOP + STACK_ARGUMENTS;
/// Room for arguments on the stack.
const STACK_ARGUMENTS: usize = 0x100;
/// Where a run on numbers returns to: no code is there.
const CALLER: usize = 0xffff_fff0;

/// Must the callee preserve register `r`?
pub fn is_callee_saved(r: u8) -> bool {
    let mut rows = rows().into_iter();
    rows.any(|row| row.speaks_of(r) && row.back != Back::Free)
}

impl<D: Domain> Callable<32> for Arm<D> {
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
                reserved: 0,
                owned: true,
                top: STACK_TOP,
            }],
            link: Link::Register,
            caller: CALLER,
        }
    }

    fn places(&self, _: &Core, arguments: &[Argument]) -> Vec<ArgumentPlace> {
        in_words(arguments, &ARGUMENTS, 0, POINTER_BYTES)
    }

    /// r0, extended by the callee (AAPCS, section 5.4).
    fn returned(_: &Core, function: &Function) -> Range<usize> {
        0..usize::from(function.returned_bits.is_some())
    }

    fn word_name(i: u8) -> String {
        match i {
            STATUS => "the processor mode".into(),
            _ => register(i),
        }
    }

    fn flag_name(i: u8) -> String {
        ["N", "Z", "C", "V"][usize::from(i & 3)].into()
    }
}

impl<D: Domain> OneStack<32> for Arm<D> {
    const SP: u8 = SP;

    /// AAPCS, section 5.2.1.1. The multiple of 8 between functions is kept for those outside, as `sp` returns to what it
    /// was; those inside are run themselves.
    #[inline(always)]
    fn align(&self) -> i64 {
        4
    }

    #[inline(always)]
    fn environment(&mut self) -> &mut Option<Environment<Self>> {
        &mut self.environment
    }
}

impl<D: Abstract> ForAll<32> for Arm<D> {
    fn before(mut d: D, _: &Core, function: &Function) -> Self {
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

impl OnNumbers<32> for Arm<Concrete> {
    fn with_memory(_: &Core, function: &Function, start: usize) -> Self {
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
        m
    }

    fn memory(function: &Function) -> (usize, usize) {
        let start = function.free_memory();
        (start, start + DATA)
    }
}
