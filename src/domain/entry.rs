//! How an abstract run begins and ends: unknown words, free places, regions of memory.

use super::abstract_memory::Region;
use super::algebra::{Algebra, BitValue, Def, Value};
use super::public::Public;
use super::secret::{Secret, Taint, TaintBit};
use super::{Address, Base, Domain};
use crate::function::Segment;

/// A domain whose runs stand for all inputs: it starts from unknown words and free places.
pub trait Abstract: Domain {
    /// A word about which only its name is known.
    fn unknown<const W: u32>(&mut self, name: String) -> Self::Word<W>;
    /// Part `part` of the address `base + offset`.
    fn pointer<const W: u32>(&mut self, base: Base, offset: i64, part: u32) -> Self::Word<W>;
    /// Declares a region of memory.
    fn declare(&mut self, base: Base, region: Region);
    /// Data that every run finds in memory.
    fn environment(&mut self, constants: Vec<Segment>, big_endian: bool);
    /// Puts a word into memory, whatever the region's rights.
    fn init<const W: u32>(&mut self, at: Address, word: &Self::Word<W>);
    /// Are they certainly the same word?
    fn same<const W: u32>(&self, a: &Self::Word<W>, b: &Self::Word<W>) -> bool;
    /// A bit about which only its name is known.
    fn unknown_bit(&mut self, name: String) -> Self::Bit;
    /// Are they certainly the same bit?
    fn same_bit(&self, a: &Self::Bit, b: &Self::Bit) -> bool;
    /// The lowest byte ever written in a region.
    fn lowest_written(&self, base: Base) -> Option<i64>;
}

impl Abstract for Algebra {
    fn unknown<const W: u32>(&mut self, name: String) -> Value {
        let value = self.unknown_word(W);
        if let Value::Var(v) = value {
            self.names.push((v, name));
        }
        value
    }

    fn pointer<const W: u32>(&mut self, base: Base, offset: i64, part: u32) -> Value {
        Value::Public(Public::Pointer { base, offset, part })
    }

    fn declare(&mut self, base: Base, region: Region) {
        self.memory.declare(base, region);
    }

    fn environment(&mut self, constants: Vec<Segment>, big_endian: bool) {
        self.memory.constants = constants;
        self.memory.big_endian = big_endian;
    }

    fn init<const W: u32>(&mut self, at: Address, word: &Value) {
        self.memory.set(at, W, *word);
    }

    fn same<const W: u32>(&self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Public(a), Value::Public(b)) => a.is_same::<W>(*b),
            _ => a == b,
        }
    }

    fn unknown_bit(&mut self, name: String) -> BitValue {
        let v = self.new_var(Def::Free, 1);
        self.names.push((v, name));
        BitValue::Var(v)
    }

    fn same_bit(&self, a: &BitValue, b: &BitValue) -> bool {
        a == b && *a != BitValue::Opaque
    }

    fn lowest_written(&self, base: Base) -> Option<i64> {
        self.memory.lowest_written(base)
    }
}

impl Abstract for Secret {
    fn unknown<const W: u32>(&mut self, name: String) -> Taint {
        self.secret(name)
    }

    fn pointer<const W: u32>(&mut self, base: Base, offset: i64, part: u32) -> Taint {
        Taint::Public(Public::Pointer { base, offset, part })
    }

    fn declare(&mut self, base: Base, region: Region) {
        self.memory.declare(base, region);
    }

    fn environment(&mut self, constants: Vec<Segment>, big_endian: bool) {
        self.memory.constants = constants;
        self.memory.big_endian = big_endian;
    }

    fn init<const W: u32>(&mut self, at: Address, word: &Taint) {
        self.memory.set(at, W, *word);
    }

    fn same<const W: u32>(&self, a: &Taint, b: &Taint) -> bool {
        match (a, b) {
            (Taint::Public(a), Taint::Public(b)) => a.is_same::<W>(*b),
            _ => a == b,
        }
    }

    fn unknown_bit(&mut self, name: String) -> TaintBit {
        let word = self.secret(name);
        TaintBit::Secret(Self::first_origin(&[word], &[]))
    }

    fn same_bit(&self, a: &TaintBit, b: &TaintBit) -> bool {
        a == b && matches!(a, TaintBit::Public(_))
    }

    fn lowest_written(&self, base: Base) -> Option<i64> {
        self.memory.lowest_written(base)
    }
}
