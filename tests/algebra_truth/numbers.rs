//! Every variable of the algebra as a number, and what is said of variables as a question about numbers.
//!
//! An input is given; a sum, a product and a piece of a word follow from their definitions; a carry is the one
//! number that keeps the word it left within its width. What the algebra does not follow is taken from the run
//! on numbers, where a register or a flag holds it.

use std::collections::HashSet;

use lozenge::domain::Base;
use lozenge::domain::algebra::{Algebra, BitValue, Def, Value, VarId};
use lozenge::domain::public::{Public, PublicBit};
use lozenge::domain::told::{Told, ToldTerm};
use num_bigint::BigInt;
use num_traits::Signed;

/// A value per variable, as far as it follows.
#[derive(Clone)]
pub struct Numbers<'a> {
    d: &'a Algebra,
    /// Bits of a word.
    w: u32,
    /// Where the operand lies.
    place: u64,
    values: Vec<Option<i128>>,
    /// Variables without a value, earliest first.
    open: Vec<VarId>,
    /// Pieces and digits of words: the variable, the word, the bits.
    pieces: &'a [Option<(VarId, u32, u32)>],
    zeros: &'a [Option<(VarId, bool)>],
    /// How many values were taken from the run on numbers.
    pub taken: u64,
}

/// What is said of pieces and of bits for "is it 0", by variable: the same for all inputs.
pub struct Names {
    pieces: Vec<Option<(VarId, u32, u32)>>,
    zeros: Vec<Option<(VarId, bool)>>,
}

impl Names {
    pub fn of(d: &Algebra, told: &[Told]) -> Self {
        let mut names = Self {
            pieces: vec![None; d.vars.len()],
            zeros: vec![None; d.vars.len()],
        };
        for told in told {
            match told {
                // The first name holds: what else is said of the word is checked.
                Told::Section {
                    word,
                    whole,
                    from,
                    to,
                } if d.vars[*word as usize].def == Def::Carry => {
                    names.pieces[*word as usize].get_or_insert((*whole, *from, *to));
                }
                Told::Digits { word, digits } => {
                    for (i, digit) in (0u32..).zip(digits) {
                        if let Value::Var(v) = digit
                            && d.vars[*v as usize].def == Def::Carry
                            && *v > *word
                        {
                            names.pieces[*v as usize].get_or_insert((*word, i, i + 1));
                        }
                    }
                }
                Told::Zero { bit, word, is } => names.zeros[*bit as usize] = Some((*word, *is)),
                _ => {}
            }
        }
        names
    }
}

impl<'a> Numbers<'a> {
    /// The first variables are the inputs.
    pub fn new(d: &'a Algebra, names: &'a Names, w: u32, place: u64, inputs: &[u64]) -> Self {
        let mut values = vec![None; d.vars.len()];
        for (value, input) in values.iter_mut().zip(inputs) {
            *value = Some(i128::from(*input));
        }
        let open = (inputs.len() as VarId..d.vars.len() as VarId).collect();
        Self {
            d,
            w,
            place,
            values,
            open,
            pieces: &names.pieces,
            zeros: &names.zeros,
            taken: 0,
        }
    }

    pub fn of_variable(&self, v: VarId) -> Option<i128> {
        self.values[v as usize]
    }

    /// The number in a word.
    pub fn of(&self, value: Value) -> Option<i128> {
        let full = (1u64 << self.w) - 1;
        let part = |number: u64, part: u32| Some(i128::from(number >> (self.w * part) & full));
        match value {
            Value::Public(Public::Known(k)) => Some(i128::from(k)),
            Value::Public(Public::Pointer {
                base,
                offset,
                part: i,
            }) if base.0 == Base::FIRST_OPERAND => part(self.place.wrapping_add_signed(offset), i),
            Value::Public(Public::Negated { base, offset }) if base.0 == Base::FIRST_OPERAND => {
                part((offset as u64).wrapping_sub(self.place), 0)
            }
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => None,
            Value::Var(v) => self.values[v as usize],
        }
    }

    /// The value of a bit; nothing is said of some.
    pub fn of_bit(&self, bit: BitValue) -> Option<i128> {
        match bit {
            BitValue::Public(PublicBit::Known(b)) => Some(i128::from(b)),
            BitValue::Public(_) | BitValue::Opaque => None,
            BitValue::Var(v) => self.values[v as usize],
            BitValue::Top { word, w } => Some(self.values[word as usize]? >> (w - 1) & 1),
            BitValue::Zero { word, is } => {
                Some(i128::from((self.values[word as usize]? == 0) == is))
            }
        }
    }

    /// Values of all variables below `end`, as far as they follow.
    ///
    /// # Errors
    /// A variable beyond its bound.
    pub fn settle(&mut self, end: VarId) -> Result<(), String> {
        /// What is cut from a word may be known before the word.
        const ROUNDS: usize = 3;
        for _ in 0..ROUNDS {
            let open = std::mem::take(&mut self.open);
            let before = open.len();
            for v in open {
                if v < end && self.values[v as usize].is_none() {
                    self.define(v);
                }
                match self.values[v as usize] {
                    Some(value) => self.within(v, value)?,
                    None => self.open.push(v),
                }
            }
            if self.open.len() == before {
                break;
            }
        }
        Ok(())
    }

    fn within(&self, v: VarId, value: i128) -> Result<(), String> {
        let bound = i128::from(self.d.vars[v as usize].bound);
        match (0..=bound).contains(&value) {
            true => Ok(()),
            false => Err(format!(
                "x{v} = {value}, bound {bound}, {:?}",
                self.d.vars[v as usize]
            )),
        }
    }

    fn define(&mut self, v: VarId) {
        let at = v as usize;
        let known = |values: &[Option<i128>], x: VarId| values[x as usize];
        if let Some((word, from, to)) = self.pieces[at]
            && let Some(word) = known(&self.values, word)
        {
            self.values[at] = Some(word >> from & ((1 << (to - from)) - 1));
            return;
        }
        if let Some((word, is)) = self.zeros[at] {
            self.values[at] = known(&self.values, word).map(|word| i128::from((word == 0) == is));
            return;
        }
        match self.d.vars[at].def {
            Def::Free | Def::Carry => {}
            Def::Product { a, b } => {
                let (a, b) = (known(&self.values, a), known(&self.values, b));
                self.values[at] = match (a, b) {
                    (Some(0), _) | (_, Some(0)) => Some(0),
                    (Some(a), Some(b)) => Some(a * b),
                    _ => None,
                };
            }
            Def::Low { a, b, hi, w } => {
                let product = self.of(a).zip(self.of(b)).map(|(a, b)| a * b);
                self.values[hi as usize] = product.map(|p| p >> w);
                self.values[at] = product.map(|p| p & ((1 << w) - 1));
            }
            Def::Linear {
                start,
                len,
                constant,
            } => self.define_sum(v, &self.d.terms[start as usize..][..len as usize], constant),
        }
    }

    /// `v = constant + sum of terms`, where one term may be a carry that is not known: the word is below
    /// the carry's weight.
    fn define_sum(&mut self, v: VarId, terms: &[(VarId, i64)], constant: i64) {
        let bound = i128::from(self.d.vars[v as usize].bound);
        let (mut sum, mut carry) = (i128::from(constant), None);
        for (x, k) in terms {
            match self.values[*x as usize] {
                Some(value) => sum += value * i128::from(*k),
                None if self.d.vars[*x as usize].def == Def::Carry && carry.is_none() => {
                    carry = Some((*x, i128::from(*k)));
                }
                None => return,
            }
        }
        match carry {
            None => self.values[v as usize] = Some(sum),
            Some((c, k)) if bound < k.abs() => {
                let word = sum.rem_euclid(k.abs());
                self.values[c as usize] = Some((word - sum) / k);
                self.values[v as usize] = Some(word);
            }
            Some(_) => {}
        }
    }

    /// Takes what does not follow from the run on numbers, where `v` has this value: an unknown word itself, or
    /// the unknown bits that `v` was made from.
    ///
    /// # Errors
    /// A variable beyond its bound, or no bits that give this value.
    pub fn take(&mut self, v: VarId, value: i128, end: VarId) -> Result<(), String> {
        if self.values[v as usize].is_some() {
            return Ok(());
        }
        let mut free = Vec::new();
        self.unknowns(v, &mut free, &mut HashSet::new());
        match free.as_slice() {
            [one] if self.given(v, value, *one) => {
                self.taken += 1;
                self.settle(end)
            }
            _ if !free.is_empty() && free.iter().all(|x| self.d.vars[*x as usize].bound == 1) => {
                self.take_bits(&free, v, value, end)
            }
            _ => Ok(()),
        }
    }

    /// The unknown words and bits that `v` was made from, at most a few; what is in `seen` was looked through.
    fn unknowns(&self, v: VarId, free: &mut Vec<VarId>, seen: &mut HashSet<VarId>) {
        const MOST: usize = 4;
        if self.values[v as usize].is_some() || free.len() == MOST || !seen.insert(v) {
            return;
        }
        let mut through = |x| self.unknowns(x, free, seen);
        if let Some((word, ..)) = self.pieces[v as usize] {
            return through(word);
        }
        if let Some((word, _)) = self.zeros[v as usize] {
            return through(word);
        }
        match self.d.vars[v as usize].def {
            Def::Free => free.push(v),
            // The word that it left.
            Def::Carry => {}
            Def::Product { a, b } => [a, b].into_iter().for_each(through),
            Def::Low { a, b, .. } => {
                let factors = [a, b].into_iter().filter_map(|x| x.variable());
                factors.for_each(through);
            }
            Def::Linear { start, len, .. } => {
                let terms = &self.d.terms[start as usize..][..len as usize];
                terms.iter().for_each(|(x, _)| through(*x));
            }
        }
    }

    /// Gives the one unknown word `x` its value, if `v` tells it.
    fn given(&mut self, v: VarId, value: i128, x: VarId) -> bool {
        if v == x {
            self.values[v as usize] = Some(value);
            return true;
        }
        match self.d.vars[v as usize].def {
            Def::Product { a, b } => {
                let (known, other) = match (self.values[a as usize], self.values[b as usize]) {
                    (Some(k), None) => (k, b),
                    (None, Some(k)) => (k, a),
                    _ => return false,
                };
                known != 0 && value % known == 0 && self.given(other, value / known, x)
            }
            Def::Linear {
                start,
                len,
                constant,
            } => {
                let terms = &self.d.terms[start as usize..][..len as usize];
                let (mut rest, mut open, mut carry) = (value - i128::from(constant), None, None);
                for (y, k) in terms {
                    let k = i128::from(*k);
                    match self.values[*y as usize] {
                        Some(number) => rest -= number * k,
                        None if self.d.vars[*y as usize].def == Def::Carry && carry.is_none() => {
                            carry = Some(k.abs());
                        }
                        None if open.is_none() => open = Some((*y, k)),
                        None => return false,
                    }
                }
                match (open, carry) {
                    (Some((y, k)), None) => rest % k == 0 && self.given(y, rest / k, x),
                    (Some((y, k @ (1 | -1))), Some(weight))
                        if i128::from(self.d.vars[y as usize].bound) < weight =>
                    {
                        self.given(y, (rest * k).rem_euclid(weight), x)
                    }
                    _ => false,
                }
            }
            Def::Free | Def::Carry | Def::Low { .. } => false,
        }
    }

    /// The values of some bits that make `v` this number, if only one choice does.
    fn take_bits(
        &mut self,
        free: &[VarId],
        v: VarId,
        value: i128,
        end: VarId,
    ) -> Result<(), String> {
        let (mut fitting, mut possible) = (Vec::new(), 0);
        for choice in 0..1 << free.len() {
            let mut trial = self.clone();
            for (i, x) in free.iter().enumerate() {
                trial.values[*x as usize] = Some(choice >> i & 1);
            }
            // What these bits make may be impossible: then they are not these.
            let settled = trial.settle(end).is_ok();
            match trial.values[v as usize] {
                Some(is) if is == value && settled => {
                    possible += 1;
                    fitting.push(trial);
                }
                None if settled => possible += 1,
                _ => {}
            }
        }
        match (possible, fitting.pop()) {
            (0, _) => Err(format!("no unknown bits make x{v} {value:x}")),
            (1, Some(one)) => {
                *self = one;
                self.taken += free.len() as u64;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Is it true here? `None` if it speaks of what is not known.
    pub fn holds(&self, told: &Told) -> Option<bool> {
        let var = |v: &VarId| self.values[*v as usize];
        Some(match told {
            Told::AtMost {
                words,
                carries,
                total,
            } => {
                let mut sum = BigInt::ZERO;
                for (i, word) in words.iter().enumerate() {
                    sum += BigInt::from(self.of(*word)?) << (self.w as usize * i);
                }
                for (carry, place) in carries {
                    sum += BigInt::from(var(carry)?) << (self.w as usize * place);
                }
                !sum.is_negative() && sum.magnitude() <= total
            }
            Told::Choice {
                word,
                bit,
                set,
                clear,
            } => {
                let chosen = if var(bit)? == 1 { set } else { clear };
                var(word)? == self.of(*chosen)?
            }
            Told::Digits { word, digits } => {
                let mut sum = 0;
                for (i, digit) in digits.iter().enumerate() {
                    let digit = self.of(*digit)?;
                    sum += digit << i;
                    if !matches!(digit, 0 | 1) {
                        return Some(false);
                    }
                }
                var(word)? == sum
            }
            Told::Cut {
                word,
                at,
                low,
                high,
            } => {
                let (low, high) = (self.of(*low)?, self.of(*high)?);
                low < 1 << at && var(word)? == low + (high << at)
            }
            Told::Section {
                word,
                whole,
                from,
                to,
            } => var(word)? == var(whole)? >> from & ((1 << (to - from)) - 1),
            Told::Product { product, x, y } => var(product)? == var(x)? * var(y)?,
            Told::Difference {
                word,
                of: [a, b, c],
                borrow,
            } => {
                let sum = self.of(*a)? - self.of(*b)? - self.of(*c)?;
                self.of(*word)? == sum + (self.of_bit(*borrow)? << self.w)
            }
            Told::Zero { bit, word, is } => var(bit)? == i128::from((var(word)? == 0) == *is),
            Told::LowBits { word, count, bits } => {
                var(word)? & ((1i128 << (*count).min(self.w)) - 1)
                    == i128::from(*bits) & ((1i128 << (*count).min(self.w)) - 1)
            }
            Told::Follows { bit, after } => var(bit)? == 0 || var(after)? == 1,
            Told::Claim {
                words,
                lead,
                terms,
                most,
            } => {
                let left = self.joined(words)?;
                let bounded = most.as_ref().is_none_or(|most| left.magnitude() <= most);
                bounded && left << (self.w as usize * lead) == self.sum(terms)?
            }
            Told::Magnitude {
                words,
                terms,
                negative,
            } => {
                let (size, sum) = (self.joined(words)?, self.sum(terms)?);
                size.magnitude() == sum.magnitude()
                    && var(negative)? == i128::from(sum.is_negative())
            }
            Told::Packed { word, base, bits } => {
                let (word, base) = (var(word)?, self.of(*base)?);
                let mut replaced = 0;
                for (i, bit) in bits {
                    replaced |= 1 << i;
                    if let Some(bit) = self.of_bit(*bit)
                        && word >> i & 1 != bit
                    {
                        return Some(false);
                    }
                }
                (word ^ base) & !replaced == 0
            }
        })
    }

    /// The number of a list of words.
    fn joined(&self, words: &[Value]) -> Option<BigInt> {
        let mut sum = BigInt::ZERO;
        for (i, word) in words.iter().enumerate() {
            sum += BigInt::from(self.of(*word)?) << (self.w as usize * i);
        }
        Some(sum)
    }

    fn sum(&self, terms: &[ToldTerm]) -> Option<BigInt> {
        let mut sum = BigInt::ZERO;
        for term in terms {
            let mut product = self.joined(&term.x)? * term.sign;
            if !term.y.is_empty() {
                product *= self.joined(&term.y)?;
            }
            sum += product << (self.w as usize * term.shift);
        }
        Some(sum)
    }
}
