//! A calling convention, as data: what a function may assume when it is entered, where its arguments are, which stacks
//! there are, and what it must give back. Every machine's functions are entered and judged from it, in runs for all inputs
//! ([`crate::isa::enter`]) and in runs on numbers ([`crate::isa::numbers`]).

use std::ops::Range;

use crate::domain::place::Base;
use crate::function::{Argument, ArgumentPlace, Function};
use crate::isa::assumed::Assumption;
use crate::isa::machine::{Machine, WordOf};

/// A stack.
#[derive(Clone, Debug)]
pub struct Stack {
    pub base: Base,
    /// As faults call it.
    pub name: &'static str,
    /// From where its pointer points at entry to the lowest byte in use.
    pub first: i64,
    /// Bytes below that which a function may take.
    pub limit: i64,
    /// What the pointer is a multiple of.
    pub align: u64,
    /// Bytes above its pointer that are there whatever the arguments are.
    pub reserved: i64,
    /// Are these and the arguments the function's to write?
    pub owned: bool,
    /// Where its pointer points at entry in a run on numbers, behind the start of memory.
    pub top: usize,
}

/// Where the return address is beside what the rows say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// In a register.
    Register,
    /// Its words lie so many bytes above where the stack pointer points at entry, the lowest word first. In a run on numbers
    /// they are those of `pushed`.
    Stack { places: &'static [i64], pushed: u64 },
}

/// What a function may rely on.
#[derive(Clone, Debug)]
pub struct Convention {
    /// What holds at entry and is given back.
    pub rows: Vec<Assumption>,
    /// That of the arguments first.
    pub stacks: Vec<Stack>,
    pub link: Link,
    /// The address a return from a run on numbers goes to: no code is there.
    pub caller: usize,
}

/// A machine whose functions can be called.
pub trait Callable<const W: u32>: Machine<W> {
    /// Bytes of a pointer.
    const POINTER_BYTES: usize;

    /// The calling convention of functions on `core`.
    fn convention(&self, core: &Self::Core) -> Convention;
    /// Where `arguments` are that have no place of their own.
    fn places(&self, core: &Self::Core, arguments: &[Argument]) -> Vec<ArgumentPlace>;
    /// The words, as [`Machine::words`] numbers them, of what `function` returns.
    fn returned(core: &Self::Core, function: &Function) -> Range<usize>;
    /// A word, as messages call it.
    fn word_name(i: u8) -> String;
    /// A flag, as messages call it.
    fn flag_name(i: u8) -> String;
    /// The address of `function`, if its callers load it.
    fn own_address(&mut self, _function: &Function) -> Option<WordOf<Self, W>> {
        None
    }
    /// The words were filled with what a caller may leave.
    fn filled(&mut self) {}
}

/// The arguments of `function`, with their places.
pub fn arguments<M: Callable<W>, const W: u32>(
    m: &M,
    core: &M::Core,
    function: &Function,
) -> Vec<(ArgumentPlace, Argument)> {
    let list = function.arguments(M::POINTER_BYTES);
    m.places(core, &list).into_iter().zip(list).collect()
}
