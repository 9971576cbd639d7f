//! Words are integer variables with definitions and bounds: one run proves all inputs.
//!
//! Every sum is `s + 2^W c = a + b + c_in`, every product `lo + 2^W hi = a * b`, over the
//! integers. Each new word gets a variable and its defining equation; nothing is expanded
//! while running. [`crate::identity`] expands the result at the end, [`crate::bounds`]
//! shows which carries are 0. What this domain cannot follow becomes a variable without
//! definition: any word, so that nothing false is ever concluded.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use machine::domain::answers::Run;
use machine::domain::public::{Public, PublicBit};
use machine::domain::trace::{Change, Entry, Noted, Reason, Step};
pub use machine::domain::variable::{BitValue, Def, Value, Var, VarId};
use machine::domain::{Domain, Sum, low_bits};
use rustc_hash::FxHashMap;

use crate::bounds::Bounds;
use crate::claim::Claims;
use crate::cuts::Cuts;
use crate::known::Masked;
use crate::recent::Recent;

/// The algebra domain.
#[derive(Default)]
pub struct Algebra {
    pub run: Run,
    pub vars: Vec<Var>,
    pub terms: Vec<(VarId, i64)>,
    pub(crate) bounds: Bounds,
    /// Carries and borrows, and the sums that left them.
    pub(crate) left: FxHashMap<VarId, VarId>,
    pub(crate) claims: Claims,
    /// Words that were chosen by a bit: the bit, the word if it is set, the word if not.
    pub(crate) choices: FxHashMap<VarId, (VarId, Value, Value)>,
    /// Differences under a bit that is promised.
    pub(crate) masked: FxHashMap<VarId, Masked>,
    /// The lowest word of a modulus that is an input, and the input `m'` with `m m' = -1 mod 2^w`, and `w`.
    pub(crate) inverse: Option<(VarId, VarId, u64)>,
    /// Words `q = v m' mod 2^w` that were made by additions, with their `v` and `w`.
    pub(crate) quotients: RefCell<BTreeMap<VarId, (VarId, u64)>>,
    /// Bits that elimination leaves as they are: [`crate::union`].
    pub(crate) unions: RefCell<BTreeSet<VarId>>,
    /// An input that is odd: the lowest word of a modulus.
    pub(crate) odd: Option<VarId>,
    /// The same `m`, while `m'` is still to be computed.
    pub(crate) sought: Option<crate::known::Sought>,
    /// Where a number is halved: what is known of lowest bits.
    pub(crate) parity: Option<crate::known::Parity>,
    /// Words whose bits have names, lowest first.
    pub(crate) digits: FxHashMap<VarId, Vec<Value>>,
    pub(crate) cuts: Cuts,
    /// Words that hold flags: another word, of which some bits are replaced.
    pub(crate) packed: FxHashMap<VarId, (Value, Vec<(u32, BitValue)>)>,
    /// Sums and products made lately: the same operation on the same words gives the same variables.
    sums: Recent<(Value, Value, Value, u32), (Value, BitValue)>,
    pub(crate) differences: Recent<(Value, Value, Value, u32), (Value, BitValue)>,
    products: Recent<(Value, Value, u32), (Value, Value)>,
    /// What differences are of, and their borrows.
    pub(crate) compared: Recent<Value, (Value, Value, Value, BitValue)>,
    /// The bits that say whether words are 0, and of which words they do.
    pub(crate) zeros: Recent<(VarId, bool), VarId>,
    pub(crate) zero_of_bit: Recent<VarId, (VarId, bool)>,
    /// Words `x = a ^ b` of so many bits that are nothing else.
    pub(crate) xors: Recent<VarId, (u32, [Value; 2])>,
    /// Of two bits, whether the second is 1 wherever the first is.
    pub(crate) follows: Recent<(VarId, VarId), bool>,
    /// `b z` of a bit `b` and a carry `z`: the carry that leaves where only `b` counts up.
    pub(crate) stepped: FxHashMap<(VarId, VarId), VarId>,
    /// Operations inside the one that the run asks for.
    pub(crate) depth: u32,
    /// What the run did, and what was concluded.
    pub(crate) log: RefCell<Vec<Noted>>,
    /// Why the goal is reached.
    pub(crate) reason: RefCell<Option<Reason>>,
    /// The most variables.
    pub(crate) most_words: Option<usize>,
}

impl Algebra {
    /// Makes no more variables than arithmetic with operands of so many words may take.
    pub fn limit_words(&mut self, [a, b]: [usize; 2]) {
        let most = a.saturating_mul(b).saturating_mul(WORDS_OF_PRODUCT);
        self.most_words = Some(most.clamp(FEWEST_WORDS, MOST_WORDS));
    }

    /// Where a variable was made, as reports say it.
    pub(crate) fn made_at(&self, v: VarId) -> String {
        let pc = self.vars[v as usize].pc.wrapping_sub(self.run.first);
        format!("a word made at {pc:#x}")
    }

    pub(crate) fn new_var(&mut self, def: Def, bound: u64) -> VarId {
        let rank = self.vars.len() as VarId;
        self.vars.push(Var {
            def,
            bound,
            pc: self.run.pc,
            rank,
        });
        rank
    }

    /// A variable equal to `constant + sum of terms`.
    pub(crate) fn linear(&mut self, terms: &[(VarId, i64)], constant: i64, bound: u64) -> VarId {
        let start = self.terms.len() as u32;
        self.terms.extend_from_slice(terms);
        let len = terms.len() as u32;
        self.new_var(
            Def::Linear {
                start,
                len,
                constant,
            },
            bound,
        )
    }

    /// The terms and the constant of a variable that is a sum.
    pub(crate) fn sum(&self, v: VarId) -> Option<(&[(VarId, i64)], i64)> {
        match self.vars.get(v as usize)?.def {
            Def::Linear {
                start,
                len,
                constant,
            } => Some((&self.terms[start as usize..][..len as usize], constant)),
            _ => None,
        }
    }

    /// The name given to a free variable, if any.
    pub fn name(&self, var: VarId) -> Option<&str> {
        self.run.name(var)
    }

    pub(crate) fn unknown_word(&mut self, w: u32) -> Value {
        Value::Var(self.new_var(Def::Free, (1 << w) - 1))
    }

    /// The largest value of a word of `w` bits.
    pub(crate) fn bound(&self, value: Value, w: u32) -> u64 {
        match value {
            Value::Public(Public::Known(k)) => k,
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => (1 << w) - 1,
            Value::Var(v) => self.vars[v as usize].bound,
        }
    }

    /// A pointer in arithmetic that does not fold is any word.
    pub(crate) fn variable_or_number(&mut self, value: Value, w: u32) -> Value {
        match value {
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => self.unknown_word(w),
            _ => value,
        }
    }

    /// A bit as a number or a variable.
    pub(crate) fn concrete_bit(&mut self, bit: &BitValue) -> Value {
        match bit {
            BitValue::Public(PublicBit::Known(b)) => Value::Public(Public::Known(u64::from(*b))),
            BitValue::Var(v) => Value::Var(*v),
            BitValue::Top { word, w } => self.digit(*word, w - 1, *w),
            BitValue::Zero { word, is } => self.zero_bit(*word, *is),
            _ => Value::Var(self.new_var(Def::Free, 1)),
        }
    }

    pub(crate) fn as_bit(value: Value) -> BitValue {
        match value {
            Value::Public(Public::Known(k)) => BitValue::Public(PublicBit::Known(k & 1 == 1)),
            Value::Var(v) => BitValue::Var(v),
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => BitValue::Opaque,
        }
    }

    /// Adds `coefficient * value` to a linear form.
    pub(crate) fn collect(form: &mut (Vec<(VarId, i64)>, i64), value: Value, coefficient: i64) {
        match value {
            Value::Public(Public::Known(k)) => form.1 += coefficient * k as i64,
            Value::Var(v) => form.0.push((v, coefficient)),
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {}
        }
    }

    pub(crate) fn opaque<const W: u32>(word: Value, carry: BitValue) -> Sum<Self, W> {
        Sum {
            word,
            carry,
            half: BitValue::Opaque,
            overflow: BitValue::Opaque,
        }
    }
}

/// The most variables, whatever the operands: a product of 2048 bits in bytes takes a quarter.
pub(crate) const MOST_WORDS: usize = 1 << 21;
/// The fewest that are the limit, and for each product of two words of the operands.
const FEWEST_WORDS: usize = 1 << 17;
const WORDS_OF_PRODUCT: usize = 512;

pub(crate) const NO: BitValue = BitValue::Public(PublicBit::Known(false));

impl Algebra {
    /// Writes down what was concluded of joint bounds.
    pub(crate) fn note_joints(&mut self) {
        for (of, change) in self.bounds.concluded() {
            self.note(Entry::Step(Step::Joint { of, change }));
        }
    }

    /// `word + 2^W carry = a + b + c`, of numbers and variables.
    pub(crate) fn find_sum<const W: u32>(
        &mut self,
        a: Value,
        b: Value,
        c_in: Value,
    ) -> Sum<Self, W> {
        if let Some(sum) = self.unmask::<W>(a, b, &Self::as_bit(c_in)) {
            return sum;
        }
        if let Some(chosen) = self.chosen_by_difference::<W>(a, b, c_in) {
            return chosen;
        }
        if c_in == Value::ZERO
            && let Some(sum) = self.less_one::<W>(a, b)
        {
            return sum;
        }
        // x + 0 + 0 is x itself.
        if c_in == Value::ZERO && (a == Value::ZERO || b == Value::ZERO) {
            let word = if a == Value::ZERO { b } else { a };
            return Self::opaque(word, NO);
        }
        // 0 + 0 + c is the carry itself.
        if let (Value::ZERO, Value::ZERO, Value::Var(v)) = (a, b, c_in) {
            self.bounds.settle(v);
            return Self::opaque(c_in, NO);
        }
        let key = (a, b, c_in, W);
        let known = self.sums.get(&key);
        if let Some((word, carry)) = known.or_else(|| self.sums.get(&(b, a, c_in, W))) {
            return Self::opaque(word, carry);
        }
        if a == b {
            let doubled = self
                .double_digits(a, c_in, W)
                .or_else(|| self.double_signed(a, c_in, W))
                .or_else(|| self.double_cut(a, c_in, W));
            if let Some((word, carry)) = doubled {
                self.sums.put(key, (word, carry));
                return Self::opaque(word, carry);
            }
        }
        if let Some(both) = self
            .both_borrows::<W>(a, b, c_in)
            .or_else(|| self.both_borrows::<W>(b, a, c_in))
        {
            return both;
        }
        if c_in == Value::ZERO
            && let Some(bit) = self
                .joint_borrow(a, b, W)
                .or_else(|| self.joint_carry(a, b, W))
        {
            return Self::opaque(bit, NO);
        }
        let (word, carry) = self.new_sum::<W>(a, b, c_in);
        self.sums.put(key, (word, carry));
        Self::opaque(word, carry)
    }

    /// A word that is a sum, and the carry that it leaves.
    fn new_sum<const W: u32>(&mut self, a: Value, b: Value, c_in: Value) -> (Value, BitValue) {
        let mut bound = self.bound(a, W) + self.bound(b, W) + self.bound(c_in, 1);
        let few = match c_in {
            Value::ZERO => self.carries_of_one_word(a, b, W),
            Value::Var(_) | Value::Public(_) => None,
        };
        let few = few.filter(|(most, _)| *most < bound);
        if let Some((most, _)) = &few {
            bound = *most;
        }
        let chain = self
            .bounds
            .enter(a, b, c_in, W, |v| self.vars[v as usize].bound);
        let carries = bound >> W != 0 && !self.bounds.fits(&chain, W);
        let carry = if carries {
            let c_out = self.new_var(Def::Carry, 1);
            self.bounds.carry(c_out, &chain);
            Some(c_out)
        } else {
            None
        };
        let mut form = (Vec::with_capacity(4), 0);
        Self::collect(&mut form, a, if a == b { 2 } else { 1 });
        if a != b {
            Self::collect(&mut form, b, 1);
        }
        Self::collect(&mut form, c_in, 1);
        if let Some(c_out) = carry {
            form.0.push((c_out, -(1 << W)));
        }
        let top = self.bounds.top(&chain, W);
        let told = top < bound.min((1 << W) - 1) || carry.is_none() && bound >> W != 0;
        let mut bound = bound.min((1 << W) - 1).min(top);
        if a == b && c_in == Value::ZERO {
            // An even number.
            bound &= !1;
        }
        let word = self.linear(&form.0, form.1, bound);
        if let Some(c_out) = carry {
            self.leaves(word, c_out);
        }
        self.bounds.made(&chain, word, W);
        self.bounds.leave(chain, Value::Var(word));
        if told {
            self.bounds.tells(&chain, word);
        }
        if let Some((most, by)) = few {
            let by = vec![[by, vec![(word, 1 << W)]].concat()];
            let v = word;
            self.note(Entry::Step(Step::Bound { v, most, by }));
        }
        // A carry has a meaning once its sum is written down; a word that leaves none is shown to be one before.
        if carry.is_none() {
            self.note_joints();
        }
        if a == b {
            self.name_top(a, W, carry.map_or(Value::ZERO, Value::Var));
        }
        (Value::Var(word), carry.map_or(NO, BitValue::Var))
    }

    /// `a - b - c` where one word is the other, 0, or a mask.
    fn simple_difference<const W: u32>(
        &mut self,
        a: Value,
        b: Value,
        c_in: Value,
    ) -> Option<Sum<Self, W>> {
        let full = (1u64 << W) - 1;
        if a == b {
            // a - a - c = -c: all ones under the borrow.
            return Some(match c_in {
                Value::Var(v) => Self::opaque(self.mask_of::<W>(v), BitValue::Var(v)),
                _ => low_bits::folded(self, false, &Value::ZERO, &Value::ZERO, &Self::as_bit(c_in))
                    .unwrap_or_else(|| Self::opaque(Value::ZERO, NO)),
            });
        }
        if c_in == Value::ZERO && b == Value::ZERO {
            return Some(Self::opaque(a, NO));
        }
        // 0 - b = -b, b a bit.
        if let (Value::ZERO, Value::ZERO, Value::Var(v)) | (Value::ZERO, Value::Var(v), Value::ZERO) =
            (a, b, c_in)
            && self.vars[v as usize].bound <= 1
        {
            return Some(Self::opaque(self.mask_of::<W>(v), BitValue::Var(v)));
        }
        // a - (2^W - 1) b = a + b - 2^W b: so a comparison of 0 brings the carry back out of a mask.
        if c_in == Value::ZERO
            && self.bound(a, W) < full
            && let Some((bit, _)) = self.mask_bit(b, W)
        {
            let bit = BitValue::Var(bit);
            return Some(Self::opaque(
                self.add::<W>(&a, &Value::ZERO, &bit).word,
                bit,
            ));
        }
        // (2^W - 1) b - 1 = (2^W - 1 - b) - 2^W (1 - b): so does a comparison with 1.
        if c_in == Value::ZERO
            && b == Value::ONE
            && W > 1
            && let Some(bit) = self.selector(a, W)
        {
            let word = self.linear(&[(bit, -1)], full as i64, full);
            let borrow = self.not(&BitValue::Var(bit));
            return Some(Self::opaque(Value::Var(word), borrow));
        }
        // b - 1 = (2^W - 1) (1 - b) - 2^W (1 - b) of a bit b.
        if let (Value::Var(bit), Value::ONE, Value::ZERO) = (a, b, c_in)
            && W > 1
            && self.vars[bit as usize].bound <= 1
        {
            let borrow = self.linear(&[(bit, -1)], 1, 1);
            let word = self.mask_of::<W>(borrow);
            return Some(Self::opaque(word, BitValue::Var(borrow)));
        }
        None
    }

    /// `word - 2^W borrow = a - b - c`, of numbers and variables.
    pub(crate) fn find_difference<const W: u32>(
        &mut self,
        a: Value,
        b: Value,
        c_in: Value,
    ) -> Sum<Self, W> {
        if let Some(known) = self.simple_difference::<W>(a, b, c_in) {
            return known;
        }
        if let Some(both) = self.borrow_again::<W>(a, b, c_in) {
            return both;
        }
        let undone = self.undo_sum(a, b, c_in, W);
        if let Some((word, borrow)) = undone.or_else(|| self.undo_difference(a, b, c_in, W)) {
            self.compared.put(word, (a, b, c_in, borrow));
            return Self::opaque(word, borrow);
        }
        let key = (a, b, c_in, W);
        if let Some((word, borrow)) = self.differences.get(&key) {
            return Self::opaque(word, borrow);
        }
        if let Some(second) = self.second_step::<W>(a, b, c_in) {
            return second;
        }
        let mut form = (Vec::with_capacity(4), 0);
        Self::collect(&mut form, a, 1);
        Self::collect(&mut form, b, -1);
        Self::collect(&mut form, c_in, -1);
        // A minuend no smaller than what is taken away never borrows: COM.
        let least = match a {
            Value::Public(Public::Known(k)) => k,
            _ => 0,
        };
        if self.bound(b, W) + self.bound(c_in, 1) <= least {
            // k - (k - y) = y.
            if let (Value::ZERO, Some(((y, -1), k))) = (c_in, self.only_term(b))
                && a == Value::Public(Public::Known(k as u64))
            {
                return Self::opaque(Value::Var(y), NO);
            }
            let most = self.bound(a, W);
            let word = self.linear(&form.0, form.1, most);
            return Self::opaque(Value::Var(word), NO);
        }
        let borrow = self.new_var(Def::Carry, 1);
        form.0.push((borrow, 1 << W));
        let word = self.linear(&form.0, form.1, (1 << W) - 1);
        self.leaves(word, borrow);
        let (word, borrow) = (Value::Var(word), BitValue::Var(borrow));
        self.differences.put(key, (word, borrow));
        self.compared.put(word, (a, b, c_in, borrow));
        Self::opaque(word, borrow)
    }

    /// `lo + 2^W hi = a b`, of numbers and variables without signs.
    pub(crate) fn find_product<const W: u32>(&mut self, a: Value, b: Value) -> (Value, Value) {
        if a == Value::ZERO || b == Value::ZERO {
            return (Value::ZERO, Value::ZERO);
        }
        for (one, other) in [(a, b), (b, a)] {
            if one == Value::ONE {
                return (other, Value::ZERO);
            }
        }
        let key = (a, b, W);
        let product = self.bound(a, W) * self.bound(b, W);
        if let Some((Value::Var(lo), hi)) = self.products.get(&key) {
            self.bound_together(lo, hi, product, W);
            return (Value::Var(lo), hi);
        }
        let hi = self.new_var(Def::Carry, product >> W);
        let lo = self.new_var(Def::Low { a, b, hi, w: W }, product.min((1 << W) - 1));
        let hi = match product >> W {
            0 => Value::ZERO,
            _ => Value::Var(hi),
        };
        // The checker knows the product from here on.
        self.note(Entry::Product {
            w: W,
            a,
            b,
            lo: Value::Var(lo),
            hi,
        });
        self.bound_together(lo, hi, product, W);
        self.products.put(key, (Value::Var(lo), hi));
        self.note_inverse(lo, [a, b], W);
        (Value::Var(lo), hi)
    }

    /// The words of a product are at most that together, where it is made again, too: it may go to another column.
    fn bound_together(&mut self, lo: VarId, hi: Value, product: u64, w: u32) {
        let words = [Value::Var(lo), hi];
        let reason = Change::Product { lo };
        self.bounds.group(&words, product.into(), w, reason);
        self.note_joints();
    }

    /// `x` if `bit`, else `y`.
    pub(crate) fn find_choice<const W: u32>(
        &mut self,
        bit: &BitValue,
        x: Value,
        y: Value,
    ) -> Value {
        (self.stays(bit, x, y, W))
            .or_else(|| self.chosen::<W>(bit, x, y))
            .unwrap_or_else(|| self.choose::<W>(bit, x, y))
    }

    /// Bit `index` of a word.
    pub(crate) fn find_bit(&mut self, v: VarId, index: u32, w: u32) -> BitValue {
        if self.vars[v as usize].bound >> index == 0 {
            NO
        } else if self.packed.contains_key(&v) {
            self.packed_bit(Value::Var(v), index)
        } else if index == w - 1 {
            BitValue::Top { word: v, w }
        } else {
            Self::as_bit(self.digit(v, index, w))
        }
    }
}
