//! How a kernel is entered, what it must give back.
//!
//! Source: SLAA534, *MSP430 Embedded Application Binary Interface*, section 3. Arguments arrive in R12 to R15, then on the
//! stack; R4 to R10 belong to the caller. What other conventions change of this says [`convention`](super::convention).

use std::ops::Range;

use crate::domain::Abstract;
use crate::domain::concrete::Concrete;
use crate::domain::place::Base;
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::function::{Argument, ArgumentPlace, Function, Passed, in_words};
use crate::isa::convention::{Callable, Convention, Link, Stack};
use crate::isa::enter::ForAll;
use crate::isa::environment::{Environment, OneStack};
use crate::isa::msp430::assumed::{HIGH, MULTIPLIER, rows};
use crate::isa::msp430::cores::Core;
use crate::isa::msp430::machine::{GIE, Msp430};
use crate::isa::msp430::operands::SP;
use crate::isa::numbers::OnNumbers;

/// Bytes of a pointer.
pub const POINTER_BYTES: usize = 2;
/// The deepest stack a kernel may use, in bytes.
pub const STACK_LIMIT: i64 = 1024;

/// In a run on numbers: bytes of memory, SP at entry, first address of an operand; all below where flash begins.
const MEMORY: usize = 0x1_0000;
const STACK_TOP: usize = 0x3ff0;
const DATA: usize = 0x0600;
/// The return address in a run on numbers: no code is there.
const CALLER: u64 = 0xfffe;

const OPENED: &str = "GIE is set though the caller may have cleared it: it may only be restored";

impl<D: Domain> Callable<16> for Msp430<D> {
    const POINTER_BYTES: usize = POINTER_BYTES;

    fn convention(&self, core: &Core) -> Convention {
        Convention {
            rows: rows(core.abi, core.irq),
            stacks: vec![Stack {
                base: Base::STACK,
                name: "stack",
                first: 0,
                limit: STACK_LIMIT,
                align: 2,
                reserved: if core.abi.large { 4 } else { 2 },
                owned: false,
                top: STACK_TOP,
            }],
            // SP points to what CALL pushed, or CALLA.
            link: Link::Stack {
                places: if core.abi.large { &[0, 2] } else { &[0] },
                pushed: CALLER,
            },
            caller: CALLER as usize,
        }
    }

    fn places(&self, core: &Core, arguments: &[Argument]) -> Vec<ArgumentPlace> {
        let abi = core.abi;
        let usual = in_words(arguments, &abi.arguments, 2, POINTER_BYTES);
        let mut above = 4;
        let place = |(place, argument): (ArgumentPlace, &Argument)| {
            let words = argument.bytes.div_ceil(POINTER_BYTES).max(1) as u8;
            match place {
                _ if argument.place.is_some() => place,
                // The lowest word is in the lowest register.
                ArgumentPlace::Register(r) if abi.arguments[0] > abi.arguments[1] => {
                    ArgumentPlace::Register(r + 1 - words)
                }
                // A pointer takes two words there.
                ArgumentPlace::Stack(_) if abi.large => {
                    let pointer = matches!(argument.passed, Passed::Pointer(_));
                    above += if pointer { 4 } else { 2 * i64::from(words) };
                    ArgumentPlace::Stack(above - if pointer { 4 } else { 2 * i64::from(words) })
                }
                ArgumentPlace::Register(_) | ArgumentPlace::Stack(_) => place,
            }
        };
        usual.into_iter().zip(arguments).map(place).collect()
    }

    /// R12 and what follows, or what comes before R15 with it.
    fn returned(core: &Core, function: &Function) -> Range<usize> {
        let words = function.returned_bits.unwrap_or(0).div_ceil(16) as usize;
        match core.abi.arguments[0] {
            15 => 16 - words..16,
            first => usize::from(first)..usize::from(first) + words,
        }
    }

    fn word_name(i: u8) -> String {
        match i {
            ..MULTIPLIER => format!("r{i}"),
            MULTIPLIER..HIGH => "the multiplier".into(),
            HIGH.. => format!("bits 19 to 16 of r{}", i - HIGH),
        }
    }

    fn flag_name(i: u8) -> String {
        match usize::from(i) {
            GIE => "the interrupt flag".into(),
            _ => format!("SR bit {i}"),
        }
    }

    /// Four bits of each.
    fn filled(&mut self) {
        for r in 0..self.high.len() {
            self.high[r] = self.above(r as u8);
        }
    }
}

impl<D: Domain> OneStack<16> for Msp430<D> {
    const SP: u8 = SP;

    #[inline(always)]
    fn align(&self) -> i64 {
        2
    }

    #[inline(always)]
    fn environment(&mut self) -> &mut Option<Environment<Self>> {
        &mut self.environment
    }
}

/// GIE is 0, or what it was at entry.
fn keeps_interrupts<D: Abstract>(m: &mut Msp430<D>, entry: &D::Bit) -> Result<(), Fault> {
    let (on, off) = (m.d.flag(true), m.d.flag(false));
    let now = &m.flags[GIE];
    let as_entry = match D::TELLS_BITS_APART {
        true => m.d.same_bit(now, entry),
        false => !m.d.same_bit(now, &on),
    };
    match as_entry || m.d.same_bit(now, &off) {
        true => Ok(()),
        false => Err(Fault::Convention(OPENED)),
    }
}

impl<D: Abstract> ForAll<16> for Msp430<D> {
    fn before(d: D, core: &Core, function: &Function) -> Self {
        let mut m = Msp430::new(d, core.multiplier, core.irq);
        m.is_of(core.features.extended, core.abi.large);
        m.pc = function.entry as usize;
        m.d.environment(function.constants(true), false);
        m
    }

    fn hold(&mut self, convention: &Convention) {
        self.environment = Some(Environment::entered(&convention.rows));
        self.interrupts = Some((self.flags[GIE].clone(), keeps_interrupts::<D>));
    }

    fn lowest(&self) -> Vec<i64> {
        self.environment.iter().map(|e| e.lowest).collect()
    }

    fn into_domain(self) -> D {
        self.d
    }
}

impl OnNumbers<16> for Msp430<Concrete> {
    fn with_memory(core: &Core, function: &Function, start: usize) -> Self {
        let mut d = Concrete::new(MEMORY);
        d.start = start;
        d.rom = function.constants(true);
        for segment in &d.rom {
            let at = segment.address as usize;
            let room = d.memory.get_mut(at..at + segment.bytes.len());
            if let Some(room) = room {
                room.copy_from_slice(&segment.bytes);
            }
        }
        let mut m = Msp430::new(d, core.multiplier, core.irq);
        m.is_of(core.features.extended, core.abi.large);
        m.pc = function.entry as usize;
        // What a caller may leave in registers.
        for r in 4..16 {
            m.r[r] = m.d.known(0x0101 * r as u64 + 0x8000);
        }
        m
    }

    /// Operands lie behind the program's variables.
    fn memory(function: &Function) -> (usize, usize) {
        let ends = function.data.iter().map(|s| s.end() as usize);
        let last = ends.filter(|end| *end < STACK_TOP / 2).max();
        (0, last.map_or(DATA, |end| end.max(DATA)))
    }
}
