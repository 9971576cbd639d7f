//! Carries that stay: where a sum is equal to what was added to, the carry is what it was.
//!
//! Libraries for small processors keep a carry `c` in C by `s = x + b + c; if (s != x) c = s < x;`, and a
//! borrow by `s = x - b - c; if (s != x) c = s > x;`. With `Y = b + c` and `k` the carry of the sum, or the
//! borrow of the difference,
//!
//! ```text
//! s - x = Y - 2^W k    or    s - x = 2^W k - Y,    0 <= Y <= 2^W
//! ```
//!
//! As `s - x` lies between `-2^W` and `2^W`, `k` is a bit. Where `s = x`, `Y = 2^W k`: if `k = 1`, then
//! `b = 2^W - 1` and `c = 1`, else both are 0. So `c = k`. Where `s` is not `x`, `k = 1` exactly if
//! `s < x`, or `s > x`. The choice between both is `k`. All this holds for words of `W` bits in wider
//! registers as well.
//!
//! After a branch that is taken because two words are equal, the code may use either of them.

use machine::domain::trace::{Combination, Entry, Step};
use machine::domain::variable::{BitValue, Def, Value, VarId};

use crate::algebra::Algebra;

/// `sum of factor * variable`, each variable once.
type Terms = Vec<(VarId, i64)>;

/// Adds `by v`; `None` beyond 64 bits.
fn add(form: &mut Terms, v: VarId, by: i64) -> Option<()> {
    match form.iter_mut().find(|(known, _)| *known == v) {
        Some((_, factor)) => *factor = factor.checked_add(by)?,
        None => form.push((v, by)),
    }
    Some(())
}

impl Algebra {
    /// The bit "`word` is 0", or that it is not.
    pub(crate) fn zero_bit(&mut self, word: VarId, is: bool) -> Value {
        if let Some(bit) = self.zeros.get(&(word, is)) {
            return Value::Var(bit);
        }
        let bit = self.new_var(Def::Free, 1);
        self.zeros.put((word, is), bit);
        self.note(Entry::Zero { word, is, bit });
        self.zero_of_bit.put(bit, (word, is));
        Value::Var(bit)
    }

    /// `bit ? x : y` where that is the carry of a sum or difference.
    pub(crate) fn stays(&mut self, bit: &BitValue, x: Value, y: Value, w: u32) -> Option<Value> {
        let (d, is) = match bit {
            BitValue::Zero { word, is } => (*word, *is),
            BitValue::Var(bit) => self.zero_of_bit.get(bit)?,
            _ => return None,
        };
        let (stays, new) = if is { (x, y) } else { (y, x) };
        // d = l - r + 2^w below
        let (l, r, Value::ZERO, below) = self.compared.get(&Value::Var(d))? else {
            return None;
        };
        if [(l, r), (r, l)].contains(&(stays, new)) {
            return Some(new);
        }
        let BitValue::Var(below) = below else {
            return None;
        };
        let c = match stays {
            Value::ZERO => None,
            Value::Var(c) if self.vars[c as usize].bound <= 1 => Some(c),
            _ => return None,
        };
        // r - l may have been compared as well.
        let above = match self.differences.get(&(r, l, Value::ZERO, w)) {
            Some((_, BitValue::Var(above))) => Some(above),
            _ => None,
        };
        let is = |bit: VarId| new == Value::Var(bit);
        let is_not = |bit: VarId| self.only_term(new) == Some(((bit, -1), 1));
        let less = is(below) || above.is_some_and(is_not);
        let greater = is_not(below) || above.is_some_and(is);
        let mut forms = self.expansions(l, r).into_iter();
        let found = forms.find_map(|(form, by)| {
            let carries = |sign| self.carries_of(&form, c, sign, w, [l, r]);
            // What is new is k, whatever was compared; or else l < r, if l - r = Y - 2^w k; or l > r.
            // Of two carries, that of the sum with x: the other one is 1 only where b = 2^w - 1 and c = 1, so that s = x.
            let itself = |(_, carries): &(u32, Vec<VarId>)| carries.iter().any(|k| is(*k));
            let plus = carries(1).filter(|list| less || itself(list));
            let carries = plus.or_else(|| carries(-1).filter(|list| greater || itself(list)));
            Some((carries?, by))
        })?;
        let ((_, carries), by) = &found;
        let other = self.differences.get(&(r, l, Value::ZERO, w));
        let opposite = other.and_then(|(e, _)| e.variable());
        self.note_around(d, [l, r], new, by.clone(), opposite);
        let (w, carries) = (found.0.0, carries);
        match carries.as_slice() {
            [k] => Some(Value::Var(*k)),
            [j, k] => Some(Value::Var(self.one_of(*j, *k, w))),
            _ => None,
        }
    }

    /// `j + k` of two carries, of which one at most is 1.
    fn one_of(&mut self, j: VarId, k: VarId, w: u32) -> VarId {
        let (x, y) = (Value::Var(j), Value::Var(k));
        let known = self.joint_borrow(x, y, w);
        let sum = match known.or_else(|| self.joint_carry(x, y, w)) {
            Some(Value::Var(sum)) => sum,
            _ => self.linear(&[(j, 1), (k, 1)], 0, 1),
        };
        let var = &mut self.vars[sum as usize];
        var.bound = var.bound.min(1);
        sum
    }

    /// `l - r`, with one of them, and sums in that, replaced by their definitions.
    fn expansions(&self, l: Value, r: Value) -> Vec<(Terms, Combination)> {
        /// A word, what it was cut from, two sums.
        const DEPTH: usize = 4;
        let (Value::Var(l), Value::Var(r)) = (l, r) else {
            return Vec::new();
        };
        let mut forms = Vec::new();
        for (s, sign, other) in [(l, 1, r), (r, -1, l)] {
            let mut list = vec![(Vec::from([(s, sign), (other, -sign)]), Combination::new())];
            for _ in 0..DEPTH {
                let further = list.iter().flat_map(|(form, by): &(Terms, Combination)| {
                    let inner = form.iter().filter(|(v, _)| *v != other);
                    inner.filter_map(move |(v, factor)| {
                        let form = self.expanded(form, *v)?;
                        Some((form, [by.as_slice(), &[(*v, *factor)]].concat()))
                    })
                });
                list = further.collect();
                forms.extend(list.iter().cloned());
            }
        }
        forms
    }

    /// Writes down the equations around a choice between `c` and a comparison: `d = l - r + 2^w below`, with the
    /// definitions that were replaced in it, and the opposite difference `e`.
    fn note_around(
        &self,
        d: VarId,
        words: [Value; 2],
        new: Value,
        replaced: Combination,
        e: Option<VarId>,
    ) {
        let is_sum = |v: &VarId| self.sum(*v).is_some();
        let words = words.iter().chain([&new]).filter_map(Value::variable);
        let single = words.chain(replaced.iter().map(|(v, _)| *v));
        let single = single.chain([d]).chain(e).filter(is_sum);
        let mut by: Vec<_> = single.map(|v| vec![(v, 1)]).collect();
        by.push(replaced);
        let opposite = e;
        self.note(Entry::Step(Step::Around { by, opposite }));
    }

    /// `form` with the definition of `v`, if that is a sum without a constant.
    fn expanded(&self, form: &Terms, v: VarId) -> Option<Terms> {
        let (terms, 0) = self.sum(v)? else {
            return None;
        };
        let (_, by) = *form.iter().find(|(known, _)| *known == v)?;
        let mut form = form.clone();
        form.retain(|(known, _)| *known != v);
        for (t, factor) in terms {
            add(&mut form, *t, factor.checked_mul(by)?)?;
        }
        Some(form)
    }

    /// `v` and the carries whose sum is `k`, if the form is `sign (b + c - 2^v k)` with `v <= w` and `b` and
    /// the words that are `compared` below `2^v`.
    fn carries_of(
        &self,
        form: &Terms,
        c: Option<VarId>,
        sign: i64,
        w: u32,
        compared: [Value; 2],
    ) -> Option<(u32, Vec<VarId>)> {
        let largest = form.iter().map(|(_, factor)| factor.unsigned_abs()).max()?;
        let w = match largest {
            0 | 1 => w,
            _ => w.min(largest.trailing_zeros()),
        };
        let mut carries = Vec::new();
        let mut addends = Vec::new();
        for (v, factor) in form.iter().filter(|(_, factor)| *factor != 0) {
            match factor * sign {
                1 => addends.push(*v),
                by if by == -(1 << w) => carries.push(*v),
                _ => return None,
            }
        }
        if let Some(c) = c {
            addends.swap_remove(addends.iter().position(|v| *v == c)?);
        }
        let words = addends.iter().map(|v| Value::Var(*v)).chain(compared);
        let mut bounds = words.map(|word| self.bound(word, w));
        (addends.len() <= 1 && bounds.all(|most| most >> w == 0)).then_some((w, carries))
    }
}
