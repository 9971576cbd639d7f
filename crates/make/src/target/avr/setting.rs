//! Which pointers a calling convention leaves free: all three, or X and Z where Y is a stack pointer.

use machine::isa::avr::abi::Abi;

use crate::target::avr::pointers::Array;

/// The index of Y among X, Y and Z.
pub const Y: usize = 1;
/// Which of them may point to R, A and B at entry.
pub const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// What the calling convention gives to point with.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub abi: &'static Abi,
    /// Whose addresses stay in the registers of the arguments: R, A, B.
    pub held: [bool; 3],
}

impl Setting {
    /// What may be worth trying: all registers for values, or some that keep addresses.
    pub fn of(abi: &'static Abi) -> Vec<Self> {
        let held: &[[bool; 3]] = match abi.data_stack {
            true => &[[false; 3], [false, true, true], [true; 3]],
            false => &[[false; 3]],
        };
        held.iter().map(|held| Self { abi, held: *held }).collect()
    }

    /// Registers for values, those to prefer first.
    pub fn registers(&self) -> Vec<u8> {
        let homes = Array::ARGUMENTS
            .iter()
            .filter_map(|array| self.home(*array));
        let homes: Vec<u8> = homes.collect();
        let is_free = |r: &&u8| !homes.contains(&(**r & !1));
        self.abi.order.iter().filter(is_free).copied().collect()
    }

    /// How many pointers there must be at the end, where values take the places of the others.
    pub fn pointers(&self) -> [usize; 2] {
        match self.abi.data_stack {
            // Y is one of them.
            true => [2, 3],
            false => [1, 2],
        }
    }

    /// The registers in which the address of `array` stays.
    pub fn home(&self, array: Array) -> Option<u8> {
        let index = Array::ARGUMENTS.iter().position(|a| *a == array)?;
        self.held[index].then_some(self.abi.arguments[index])
    }

    /// Pointers that may be moved.
    pub fn moves(&self, p: usize) -> bool {
        p != Y || !self.abi.data_stack
    }
}
