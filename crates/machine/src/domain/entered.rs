//! The state in which runs of variables and runs of secrets begin.

use crate::domain::abstract_memory::Region;
use crate::domain::answers::Answers;
use crate::domain::entry::{Abstract, pointed};
use crate::domain::place::{Address, Base};
use crate::domain::public::Public;
use crate::domain::secret::{Secret, Taint, TaintBit};
use crate::domain::variable::{BitValue, Value};
use crate::segment::Segment;

impl<A: Answers> Abstract for A {
    fn unknown<const W: u32>(&mut self, name: String) -> Value {
        let v = self.any_word(W);
        self.run_mut().names.push((v, name));
        Value::Var(v)
    }

    fn pointer<const W: u32>(&mut self, base: Base, offset: i64, part: u32) -> Value {
        Value::Public(Public::Pointer { base, offset, part })
    }

    fn declare(&mut self, base: Base, region: Region) {
        self.run_mut().memory.declare(base, region);
    }

    fn environment(&mut self, constants: Vec<Segment>, big_endian: bool) {
        self.run_mut().memory.constants = constants;
        self.run_mut().memory.big_endian = big_endian;
    }

    fn init<const W: u32>(&mut self, at: Address, word: &Value) {
        self.run_mut().memory.set(at, W, *word);
    }

    fn same<const W: u32>(&self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Public(a), Value::Public(b)) => a.is_same::<W>(*b),
            _ => a == b,
        }
    }

    fn unknown_bit(&mut self, name: String) -> BitValue {
        let v = self.any_bit();
        self.run_mut().names.push((v, name));
        BitValue::Var(v)
    }

    fn same_bit(&self, a: &BitValue, b: &BitValue) -> bool {
        a == b && *a != BitValue::Opaque
    }

    const TELLS_BITS_APART: bool = true;

    fn points<const W: u32>(&self, word: &Value) -> Option<(Address, u32)> {
        match word {
            Value::Public(word) => pointed(*word),
            Value::Var(_) => None,
        }
    }

    fn forget_bytes(&mut self, base: Base, from: i64, to: i64) {
        self.run_mut().memory.forget_bytes(base, from, to);
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

    const TELLS_BITS_APART: bool = false;

    fn points<const W: u32>(&self, word: &Taint) -> Option<(Address, u32)> {
        match word {
            Taint::Public(word) => pointed(*word),
            Taint::Secret { .. } => None,
        }
    }

    fn forget_bytes(&mut self, base: Base, from: i64, to: i64) {
        self.memory.forget_bytes(base, from, to);
    }
}
