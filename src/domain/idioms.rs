//! Idioms of carries: sums taken back, masks made right.
//!
//! Machines keep a carry in other ways than in a flag: as the outcome of a comparison, or
//! as a word of ones. Here such words are recognised by their definitions.

use super::algebra::{Algebra, BitValue, Def, NO, Value, VarId};
use super::public::{Public, PublicBit};
use super::{Domain, Sum};

impl Algebra {
    /// If `s = x + y - 2^W c` and `y < 2^W`, then `s - x = y - 2^W c`: comparing a sum with an
    /// addend (SLTU on a machine without a carry flag) gives the carry. `y` may be a sum itself.
    pub(super) fn undo_sum(&mut self, s: Value, x: Value, w: u32) -> Option<(Value, BitValue)> {
        let (Value::Var(s), Value::Var(x)) = (s, x) else {
            return None;
        };
        let Def::Linear {
            start,
            len,
            constant,
        } = self.vars[s as usize].def
        else {
            return None;
        };
        let terms = &self.terms[start as usize..][..usize::from(len)];
        let (sum, carry) = match terms {
            [sum @ .., (c, factor)] if *factor == -(1 << w) => (sum, BitValue::Var(*c)),
            sum => (sum, NO),
        };
        let mut rest = sum.to_vec();
        rest.swap_remove(sum.iter().position(|term| *term == (x, 1))?);
        let full = (1u64 << w) - 1;
        let mut bound = u64::try_from(constant).ok().filter(|k| *k <= full)?;
        for (v, factor) in &rest {
            bound += (*factor == 1).then_some(self.vars[*v as usize].bound)?;
        }
        if bound > full {
            return None;
        }
        let other = match (rest.as_slice(), constant) {
            ([], k) => Value::Public(Public::Known(k as u64)),
            ([(y, _)], 0) => Value::Var(*y),
            _ => Value::Var(self.linear(&rest, constant, bound)),
        };
        Some((other, carry))
    }

    /// The bit `b` if `value = (2^W - 1) * b`, and the bit `1 - b` where that has a name.
    pub(super) fn mask_bit(&self, value: Value, w: u32) -> Option<(VarId, Option<VarId>)> {
        let only_term = |v: VarId| match self.vars[v as usize].def {
            Def::Linear {
                start,
                len: 1,
                constant,
            } => Some((self.terms[start as usize], constant)),
            _ => None,
        };
        let Value::Var(mask) = value else {
            return None;
        };
        let ((bit, factor), constant) = only_term(mask)?;
        if factor != (1 << w) - 1 || constant != 0 || self.vars[bit as usize].bound > 1 {
            return None;
        }
        let complement = only_term(bit).and_then(|((c, factor), constant)| {
            (factor == -1 && constant == 1 && self.vars[c as usize].bound <= 1).then_some(c)
        });
        Some((bit, complement))
    }

    /// `(2^W - 1) b + 1 + c = 2^W b + (1 - b) + c`: a word that was made 1 too small, made right.
    pub(super) fn unmask<const W: u32>(
        &mut self,
        a: Value,
        b: Value,
        c: &BitValue,
    ) -> Option<Sum<Self, W>> {
        let one = Value::Public(Public::Known(1));
        let mask = match (a, b) {
            (mask, k) | (k, mask) if k == one => mask,
            _ => return None,
        };
        let (bit, complement) = self.mask_bit(mask, W)?;
        let complement = match complement {
            Some(c) => c,
            None => self.linear(&[(bit, -1)], 1, 1),
        };
        let sum = self.add::<W>(&Value::Var(complement), &Value::ZERO, c);
        Some(Self::opaque(sum.word, BitValue::Var(bit)))
    }

    /// `x` if `bit`, else `y`: for two numbers, and for a word and the next one, which is a sum.
    pub(super) fn chosen<const W: u32>(
        &mut self,
        bit: &BitValue,
        x: Value,
        y: Value,
    ) -> Option<Value> {
        let BitValue::Var(b) = *bit else {
            return None;
        };
        if let (Value::Public(Public::Known(x)), Value::Public(Public::Known(y))) = (x, y) {
            let step = x as i64 - y as i64;
            return Some(Value::Var(self.linear(&[(b, step)], y as i64, x.max(y))));
        }
        // (y + 1 mod 2^W) if b, else y: (y + b) mod 2^W.
        let next = |d: &Self, word: Value, next: Value| {
            let (Value::Var(word), Value::Var(next)) = (word, next) else {
                return false;
            };
            let Def::Linear {
                start,
                len,
                constant: 1,
            } = d.vars[next as usize].def
            else {
                return false;
            };
            match &d.terms[start as usize..][..usize::from(len)] {
                [(v, 1)] => *v == word,
                [(v, 1), (_, over)] => *v == word && *over == -(1 << W),
                _ => false,
            }
        };
        if next(self, y, x) {
            return Some(self.add::<W>(&y, &Value::ZERO, bit).word);
        }
        if next(self, x, y) {
            let not = self.linear(&[(b, -1)], 1, 1);
            return Some(self.add::<W>(&x, &Value::ZERO, &BitValue::Var(not)).word);
        }
        None
    }

    /// Any word, of which bit `index` is `bit` and the others are those of `word`: a status register.
    pub(super) fn pack(&mut self, word: Value, index: u32, bit: BitValue, w: u32) -> Value {
        let (base, mut bits) = match word {
            Value::Var(v) if self.packed.contains_key(&v) => self.packed[&v].clone(),
            _ => (word, Vec::new()),
        };
        bits.retain(|(i, _)| *i != index);
        bits.push((index, bit));
        let packed = self.unknown_word(w);
        if let Value::Var(v) = packed {
            self.packed.insert(v, (base, bits));
        }
        packed
    }

    /// Bit `index` of a word that holds flags.
    pub(super) fn packed_bit(&self, word: Value, index: u32) -> BitValue {
        let v = match word {
            Value::Var(v) => v,
            Value::Public(Public::Known(k)) => {
                return BitValue::Public(PublicBit::Known(k >> index & 1 == 1));
            }
            Value::Public(_) => return BitValue::Opaque,
        };
        match self.packed.get(&v) {
            Some((base, bits)) => match bits.iter().find(|(i, _)| *i == index) {
                Some((_, bit)) => *bit,
                None => self.packed_bit(*base, index),
            },
            None if index == 0 && self.vars[v as usize].bound <= 1 => BitValue::Var(v),
            None => BitValue::Opaque,
        }
    }
}
