//! Calling conventions, as data.

use std::ops::RangeInclusive;

use crate::domain::place::Base;
use crate::function::{Argument, ArgumentPlace, in_words};
use crate::isa::avr::operands::Op;

/// A calling convention.
#[derive(Debug)]
pub struct Abi {
    /// As on the command line.
    pub name: &'static str,
    /// As reports call it.
    pub title: &'static str,
    /// Low registers of the pointer arguments, in order.
    pub arguments: [u8; 4],
    /// Registers that the callee must preserve.
    pub preserved: &'static [RangeInclusive<u8>],
    /// The register that holds 0 whenever C code runs.
    pub zero: Option<u8>,
    /// Is Y the stack pointer of data, apart from that of return addresses? Then it must at all
    /// times point to the last byte in use, as interrupts write below it.
    pub data_stack: bool,
    /// Registers that are free once r0, r1 hold the product and pointers point: those that need
    /// not be saved come first.
    pub order: [u8; 24],
}

/// avr-gcc.
pub static GCC: Abi = Abi {
    name: "gcc",
    title: "avr-gcc",
    arguments: [24, 22, 20, 18],
    preserved: &[2..=17, 28..=29],
    zero: Some(1),
    data_stack: false,
    order: [
        24, 25, 22, 23, 20, 21, 18, 19, 16, 17, 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3,
    ],
};

/// avr-gcc on the reduced core, which has r16 to r31 only.
pub static GCC_REDUCED: Abi = Abi {
    preserved: &[18..=19, 28..=29],
    zero: Some(17),
    ..GCC
};

/// IAR: r0 to r3, r16 to r23 and Z are scratch; registers are saved on the data stack.
pub static IAR: Abi = Abi {
    name: "iar",
    title: "IAR AVR, data stack in Y",
    arguments: [16, 18, 20, 22],
    preserved: &[4..=15, 24..=29],
    zero: None,
    data_stack: true,
    order: [
        22, 23, 20, 21, 18, 19, 16, 17, 2, 3, 24, 25, 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5,
    ],
};

impl Abi {
    /// Must the callee preserve register `r`?
    pub fn preserves(&self, r: u8) -> bool {
        self.preserved.iter().any(|range| range.contains(&r))
    }

    /// Does `op` save a register for the caller, or restore one? With Y as the stack pointer
    /// `ST -Y` is what PUSH is elsewhere.
    pub fn saves(&self, op: Op) -> bool {
        self.data_stack && matches!(op, Op::STY_DEC | Op::LDY_INC)
    }

    /// The stack that arguments and saved registers are on, and where arguments begin above its pointer.
    pub(crate) fn stack(&self, pc_bytes: usize) -> (Base, i64) {
        match self.data_stack {
            true => (Base::DATA_STACK, 0),
            false => (Base::STACK, 1 + pc_bytes as i64),
        }
    }

    /// Where the calling convention puts arguments that have no place of their own.
    pub(crate) fn places(&self, arguments: &[Argument], pc_bytes: usize) -> Vec<ArgumentPlace> {
        let (_, stack) = self.stack(pc_bytes);
        match self.data_stack {
            true => first_fit(arguments, stack),
            false => downwards(arguments, stack),
        }
    }
}

/// avr-gcc: from r25 down, each in whole pairs, then on the stack (avr-gcc wiki, *Calling convention*).
fn downwards(arguments: &[Argument], stack: i64) -> Vec<ArgumentPlace> {
    let pairs: Vec<u8> = (4..13u8).rev().map(|pair| 2 * pair).collect();
    let list = in_words(arguments, &pairs, stack, 2);
    let low = |(place, argument): (ArgumentPlace, &Argument)| match (place, argument.place) {
        // The least significant byte is in the lowest register of all pairs.
        (ArgumentPlace::Register(first), None) => {
            ArgumentPlace::Register(first + 2 - 2 * argument.bytes.div_ceil(2).max(1) as u8)
        }
        (place, _) => place,
    };
    list.into_iter().zip(arguments).map(low).collect()
}

/// IAR: the first free registers of r16 to r23 that are aligned, then the data stack (CAVR-4, page 103).
fn first_fit(arguments: &[Argument], stack: i64) -> Vec<ArgumentPlace> {
    let (mut taken, mut above) = ([false; 8], stack);
    let mut place = |argument: &Argument| {
        if let Some(place) = argument.place {
            return place;
        }
        let bytes = argument.bytes.max(1);
        let mut starts = (0..taken.len()).step_by(bytes.next_power_of_two());
        let free = starts.find(|i| {
            taken
                .get(*i..i + bytes)
                .is_some_and(|list| !list.contains(&true))
        });
        match free {
            Some(i) => {
                taken[i..i + bytes].fill(true);
                ArgumentPlace::Register(16 + i as u8)
            }
            None => {
                above += bytes as i64;
                ArgumentPlace::Stack(above - bytes as i64)
            }
        }
    };
    arguments.iter().map(&mut place).collect()
}
