//! Words cut in two: `x = lo + 2^k hi` with `lo < 2^k`.
//!
//! Shifts, masks of low bits, narrow loads and stores all cut words. The two parts of a word cut
//! at one place are the same variables whoever cuts it, and parts of parts are parts of the whole,
//! so that what was cut cancels in the final identity.

use machine::domain::public::Public;
use machine::domain::trace::Entry;
use machine::domain::variable::{BitValue, Def, Value, Var, VarId};
use machine::domain::{Domain, Logic};

use crate::algebra::Algebra;
use crate::cuts::Section;

impl Algebra {
    /// `(lo, hi)` with `x = lo + 2^k hi`, `lo < 2^k`; `x` has `w` bits, `0 < k < w`.
    pub(crate) fn split(&mut self, x: Value, k: u32, w: u32) -> (Value, Value) {
        let parts = self.cut(x, k, w);
        if let Value::Var(v) = x
            && self.bound(x, w) >> k != 0
            && self.cuts.noted.insert((v, k))
        {
            let by = self.cuts.shown.remove(&(v, k)).unwrap_or_default();
            let (lo, hi) = (Some(parts.0), parts.1);
            self.note(Entry::Cut {
                x,
                w,
                k,
                lo,
                hi,
                by,
            });
        }
        if k == 1 {
            self.note_parity(x, parts.0);
        }
        parts
    }

    fn cut(&mut self, x: Value, k: u32, w: u32) -> (Value, Value) {
        let x = self.variable_or_number(x, w);
        let v = match x {
            Value::Var(v) => v,
            Value::Public(Public::Known(n)) => {
                let parts = [n & ((1 << k) - 1), n >> k];
                return parts.map(Public::Known).map(Value::Public).into();
            }
            Value::Public(_) => return (self.unknown_word(k), self.unknown_word(w - k)),
        };
        if self.bound(x, w) >> k == 0 {
            return (x, Value::ZERO);
        }
        if let Some(parts) = self.cuts.exact.get(&(v, k)) {
            return *parts;
        }
        let parts = self
            .shifted_split(v, k, w)
            .or_else(|| self.exact_split(v, k))
            .or_else(|| self.split_above(v, k, w))
            .or_else(|| self.split_top(v, k, w))
            .or_else(|| self.signed_split(v, k, w))
            .or_else(|| {
                // As the narrower word that its bound says it is.
                let bits = u64::BITS - self.vars[v as usize].bound.leading_zeros();
                (k < bits && bits < w).then(|| self.signed_split(v, k, bits))?
            })
            .or_else(|| self.split_below(v, k, w));
        if let Some(parts) = parts {
            self.cuts.exact.insert((v, k), parts);
            return parts;
        }
        let width = u64::BITS - self.vars[v as usize].bound.leading_zeros();
        let section = self.cuts.sections.get(&v).copied().unwrap_or(Section {
            whole: v,
            from: 0,
            to: width,
            width,
        });
        let middle = (section.from + k).min(section.to);
        let hi = self.section(Section {
            from: middle,
            ..section
        });
        let lo = self.section(Section {
            to: middle,
            ..section
        });
        (lo, hi)
    }

    /// The word of a section: `head(from) - 2^(to - from) head(to)`, where `head(i)` are the bits
    /// from `i` on.
    fn section(&mut self, s: Section) -> Value {
        if s.from >= s.to {
            return Value::ZERO;
        }
        if s.from == 0 && s.to == s.width {
            return Value::Var(s.whole);
        }
        if let Some(word) = self.cuts.words.get(&s) {
            return *word;
        }
        let bound = self.vars[s.whole as usize].bound >> s.from;
        let word = if s.to == s.width {
            let head = Value::Var(self.new_var(Def::Carry, bound));
            self.note(Entry::Cut {
                x: Value::Var(s.whole),
                w: s.width,
                k: s.from,
                lo: None,
                hi: head,
                by: Vec::new(),
            });
            head
        } else {
            let [head, above] = [s.from, s.to].map(|from| {
                self.section(Section {
                    from,
                    to: s.width,
                    ..s
                })
            });
            let len = s.to - s.from;
            let mut form = (Vec::with_capacity(2), 0);
            Self::collect(&mut form, head, 1);
            Self::collect(&mut form, above, -(1 << len));
            let word = self.form(&form.0, form.1, bound.min((1 << len) - 1));
            if let (Value::Var(above), Value::Var(word)) = (above, word) {
                self.leaves(word, above);
            }
            word
        };
        self.cuts.words.insert(s, word);
        if let Value::Var(v) = word {
            self.cuts.sections.insert(v, s);
        }
        word
    }

    /// The parts of `2^j y`, cut at `k > j`: those of `y`, cut at `k - j`.
    fn shifted_split(&mut self, v: VarId, k: u32, w: u32) -> Option<(Value, Value)> {
        let zeros = self.low_zeros(Value::Var(v)).min(k);
        let y = (zeros > 0).then(|| self.shifted_down(v, zeros))??;
        let (lo, hi) = match k - zeros {
            0 => (Value::ZERO, y),
            k => self.split(y, k, w - zeros),
        };
        Some((self.weighted_sum(&[(lo, 1 << zeros)], w), hi))
    }

    /// The parts of a sum whose terms are multiples of `2^k`, and others that stay below `2^k`.
    fn exact_split(&mut self, v: VarId, k: u32) -> Option<(Value, Value)> {
        // (2^j - 1) b = (2^k - 1) b + 2^k (2^(j-k) - 1) b.
        if let Some(((bit, ones), 0)) = self.only_term(Value::Var(v))
            && ones > 0
            && ones & (ones + 1) == 0
            && ones >> k != 0
            && self.vars[bit as usize].bound <= 1
        {
            let part = |d: &mut Self, len: u32| {
                let ones = (1 << len) - 1;
                d.form(&[(bit, ones)], 0, ones as u64)
            };
            return Some((part(self, k), part(self, ones.trailing_ones() - k)));
        }
        let Def::Linear {
            start,
            len,
            constant,
        } = self.vars[v as usize].def
        else {
            return None;
        };
        let terms = self.terms[start as usize..][..len as usize].to_vec();
        let (above, below): (Vec<_>, Vec<_>) = terms
            .into_iter()
            .partition(|(_, factor)| factor % (1 << k) == 0);
        let low = constant.rem_euclid(1 << k);
        let mut most = low as u64;
        for (term, factor) in &below {
            let factor = u64::try_from(*factor).ok()?;
            most = most.checked_add(factor.checked_mul(self.vars[*term as usize].bound)?)?;
        }
        if most >> k != 0 {
            return None;
        }
        let above: Vec<_> = above
            .into_iter()
            .map(|(t, factor)| (t, factor >> k))
            .collect();
        let bound = self.vars[v as usize].bound >> k;
        let lo = self.form(&below, low, most);
        let hi = self.form(&above, (constant - low) >> k, bound);
        Some((lo, hi))
    }

    /// `2^j y + z` with `z < 2^j`, cut at `k > j`: `y` cut at `k - j`.
    fn split_above(&mut self, v: VarId, k: u32, w: u32) -> Option<(Value, Value)> {
        let (terms, constant) = self.sum(v)?;
        let (below, above): (Vec<_>, Vec<_>) = terms.iter().partition(|(_, f)| f % 2 != 0);
        let zeros = above.iter().map(|(_, f)| f.trailing_zeros());
        let j = zeros.min().filter(|j| *j < k)?;
        let low = constant.rem_euclid(1 << j);
        let high = (constant - low) >> j;
        let mut most = low as u64;
        for (term, factor) in &below {
            most = most.checked_add(self.vars[*term as usize].bound * u64::from(*factor == 1))?;
        }
        if most >> j != 0 || below.iter().any(|(_, factor)| *factor != 1) {
            return None;
        }
        let above: Vec<_> = above.into_iter().map(|(t, f)| (t, f >> j)).collect();
        let bound = self.vars[v as usize].bound >> j;
        let y = self.form(&above, high, bound);
        let (lo, hi) = self.split(y, k - j, w - j);
        let z = self.form(&below, low, most);
        Some((self.weighted_sum(&[(z, 1), (lo, 1 << j)], w), hi))
    }

    /// `z + 2^k y`, cut at `k`: `z` cut there, and `y` above it.
    fn split_below(&mut self, v: VarId, k: u32, w: u32) -> Option<(Value, Value)> {
        let (terms, constant) = self.sum(v)?;
        let (above, below): (Vec<_>, Vec<_>) = terms.iter().partition(|(_, f)| f % (1 << k) == 0);
        let z = match below[..] {
            [(z, 1)] if !above.is_empty() && constant % (1 << k) == 0 => Value::Var(z),
            _ => return None,
        };
        let above = above.into_iter().map(|(t, f)| (t, f >> k)).collect();
        let mut form: (Vec<(VarId, i64)>, i64) = (above, constant >> k);
        let bound = self.vars[v as usize].bound >> k;
        if self.bound(z, w) >> w != 0 {
            return None;
        }
        let (lo, hi) = self.split(z, k, w);
        Self::collect(&mut form, hi, 1);
        Some((lo, self.form(&form.0, form.1, bound)))
    }

    /// A word cut below its top bit, which has a name already.
    fn split_top(&mut self, v: VarId, k: u32, w: u32) -> Option<(Value, Value)> {
        let top = self.known_top(v, w).filter(|_| k + 1 == w)?;
        if let Some(head) = self.head(v, w)
            && self.cuts.words.get(&head) == Some(&top)
        {
            let rest = Section {
                from: 0,
                to: k,
                ..head
            };
            return Some((self.section(rest), top));
        }
        let mut form = (vec![(v, 1)], 0);
        Self::collect(&mut form, top, -(1 << k));
        Some((self.form(&form.0, form.1, (1 << k) - 1), top))
    }

    /// The bits from `w - 1` on of a word that has `w` of them and is no part of another.
    fn head(&self, v: VarId, w: u32) -> Option<Section> {
        let whole = self.vars[v as usize].bound >> (w - 1) == 1;
        (whole && !self.cuts.sections.contains_key(&v)).then_some(Section {
            whole: v,
            from: w - 1,
            to: w,
            width: w,
        })
    }

    /// The top bit of a word of `w` bits, if it has a name.
    pub(crate) fn known_top(&self, v: VarId, w: u32) -> Option<Value> {
        let digits = self
            .digits
            .get(&v)
            .and_then(|digits| digits.get(w as usize - 1));
        let cut = || self.cuts.words.get(&self.head(v, w)?);
        digits.or_else(cut).copied()
    }

    /// Names the top bit of a word of `w` bits: what leaves when the word is doubled.
    pub(crate) fn name_top(&mut self, word: Value, w: u32, top: Value) {
        if let Value::Var(v) = word
            && let Some(head) = self.head(v, w)
        {
            self.cuts.words.insert(head, top);
            if let Value::Var(top) = top {
                self.cuts.sections.insert(top, head);
            }
        }
    }

    /// `2 a + c` of a word whose top bit has a name.
    pub(crate) fn double_cut(&mut self, a: Value, c: Value, w: u32) -> Option<(Value, BitValue)> {
        let Value::Var(v) = a else {
            return None;
        };
        let top = self.known_top(v, w)?;
        Some((self.doubled(v, c, top, w), Self::as_bit(top)))
    }

    /// `2 v + c - 2^w top`, the word left when `v` is doubled.
    pub(crate) fn doubled(&mut self, v: VarId, c: Value, top: Value, w: u32) -> Value {
        let mut form = (vec![(v, 2)], 0);
        Self::collect(&mut form, top, -(1 << w));
        Self::collect(&mut form, c, 1);
        Value::Var(self.linear(&form.0, form.1, (1 << w) - 1))
    }

    /// `v / 2^zeros`, which its definition shows to be a whole number.
    fn shifted_down(&mut self, v: VarId, zeros: u32) -> Option<Value> {
        let Var { def, bound, .. } = self.vars[v as usize];
        let Def::Linear {
            start,
            len,
            constant,
        } = def
        else {
            return None;
        };
        let terms = self.terms[start as usize..][..len as usize].to_vec();
        let terms: Vec<_> = terms.into_iter().map(|(t, f)| (t, f >> zeros)).collect();
        Some(self.form(&terms, constant >> zeros, bound >> zeros))
    }

    /// The word `constant + sum of terms`: a number, a variable that is there, or a new one.
    fn form(&mut self, terms: &[(VarId, i64)], constant: i64, bound: u64) -> Value {
        match (terms, constant) {
            ([], k) => Value::Public(Public::Known(k as u64)),
            ([(v, 1)], 0) => Value::Var(*v),
            _ => Value::Var(self.linear(terms, constant, bound)),
        }
    }

    /// The `len` bits of `x` from bit `from` on.
    pub(crate) fn find_part(&mut self, x: Value, w: u32, from: u32, len: u32) -> Value {
        let above = match from {
            0 => x,
            _ => self.split(x, from, w).1,
        };
        match from + len < w {
            true => self.split(above, len, w - from).0,
            false => above,
        }
    }

    /// `x` shifted right by `count`, its top bit in the places that become free.
    pub(crate) fn shift_signed<const W: u32>(&mut self, x: Value, count: u32) -> Value {
        match self.split(x, W - 1, W).1 {
            Value::Var(top) if count == W - 1 => self.mask_of::<W>(top),
            top => {
                let word = self.split(x, count, W).1;
                let free = (1 << W) - (1 << (W - count));
                self.weighted_sum(&[(word, 1), (top, free)], W)
            }
        }
    }

    /// `sum of weight * word`, known to be below `2^w`.
    pub(crate) fn weighted_sum(&mut self, words: &[(Value, u64)], w: u32) -> Value {
        let (mut terms, mut constant, mut bound) = (Vec::new(), 0, 0u64);
        for (word, weight) in words {
            match word {
                Value::Public(Public::Known(k)) => constant += (weight * k) as i64,
                Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                    return self.unknown_word(w);
                }
                Value::Var(v) => {
                    bound = bound.saturating_add(weight.saturating_mul(self.bound(*word, w)));
                    // 2^j y has no name of its own, so that y is cut in one way.
                    let multiple = self.only_term(*word).filter(|((_, k), constant)| {
                        *constant == 0 && *k > 1 && k.count_ones() == 1
                    });
                    let (v, k) = multiple.map_or((*v, 1), |(term, _)| term);
                    terms.push((v, k * *weight as i64));
                }
            }
        }
        let bound = bound.saturating_add(constant as u64).min((1 << w) - 1);
        match self.reunited(&terms) {
            Some(section) if constant == 0 => self.section(section),
            _ => self.form(&terms, constant, bound),
        }
    }

    /// The section that several make, one above the other.
    fn reunited(&self, terms: &[(VarId, i64)]) -> Option<Section> {
        let mut terms = terms.to_vec();
        terms.sort_by_key(|(_, weight)| *weight);
        let section = |v: &VarId| self.cuts.sections.get(v).copied();
        let ((first, 1), rest) = terms.split_first()? else {
            return None;
        };
        let mut all = section(first)?;
        for (v, weight) in rest {
            let next = section(v)?;
            let adjoins = next.whole == all.whole && next.from == all.to;
            if !adjoins || *weight != 1 << (all.to - all.from) {
                return None;
            }
            all.to = next.to;
        }
        (!rest.is_empty()).then_some(all)
    }

    /// `x + y` for `x | y`, if no bit can be in both: `x` is a multiple of a power of two above `y`.
    fn disjoint(&mut self, x: Value, y: Value, w: u32) -> Option<Value> {
        for (high, low) in [(x, y), (y, x)] {
            let zeros = self.low_zeros(high);
            if zeros > 0 && self.bound(low, w) >> zeros.min(63) == 0 {
                return Some(self.weighted_sum(&[(low, 1), (high, 1)], w));
            }
        }
        None
    }

    /// How many low bits of `x` are certainly 0.
    fn low_zeros(&self, x: Value) -> u32 {
        match x {
            Value::Public(Public::Known(k)) => k.trailing_zeros(),
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => 0,
            Value::Var(v) => match self.vars[v as usize].def {
                Def::Linear {
                    start,
                    len,
                    constant,
                } => {
                    let terms = &self.terms[start as usize..][..len as usize];
                    let factors = terms.iter().map(|(_, factor)| factor.trailing_zeros());
                    factors.min().unwrap_or(0).min(constant.trailing_zeros())
                }
                _ => 0,
            },
        }
    }

    /// `a op b`, bit by bit.
    pub(crate) fn find_logic<const W: u32>(&mut self, op: Logic, a: Value, b: Value) -> Value {
        let ones = Value::Public(Public::Known((1 << W) - 1));
        let borrow = self.flag(false);
        match op {
            Logic::Xor if a == b => Value::ZERO,
            _ if a == b => a,
            Logic::And if a == Value::ZERO || b == Value::ZERO => Value::ZERO,
            Logic::Or | Logic::Xor if a == Value::ZERO => b,
            Logic::Or | Logic::Xor if b == Value::ZERO => a,
            Logic::And if a == ones => b,
            Logic::And if b == ones => a,
            Logic::Xor if a == ones => self.sub::<W>(&a, &b, &borrow).word,
            Logic::Xor if b == ones => self.sub::<W>(&b, &a, &borrow).word,
            _ => match self
                .masked_difference::<W>(op, a, b)
                .or_else(|| self.exchanged::<W>(op, a, b))
                .or_else(|| self.under_two_bits::<W>(op, a, b))
                .or_else(|| self.masked(op, a, b, W))
                .or_else(|| self.cut_logic(op, a, b, W))
                .or_else(|| self.masked_narrow(op, a, b, W))
            {
                Some(word) => word,
                None => {
                    let word = self.unknown_word(W);
                    if let (Value::Var(x), Logic::Xor) = (word, op) {
                        self.xors.put(x, (W, [a, b]));
                    }
                    word
                }
            },
        }
    }

    /// `x op y` where that takes part of one, or puts both together.
    pub(crate) fn cut_logic(&mut self, op: Logic, x: Value, y: Value, w: u32) -> Option<Value> {
        match (op, x, y) {
            (Logic::And, Value::Public(Public::Known(k)), x)
            | (Logic::And, x, Value::Public(Public::Known(k))) => self.cut_mask(x, k, w),
            (Logic::And, ..) => None,
            (Logic::Or, Value::Public(Public::Known(k)), x)
            | (Logic::Or, x, Value::Public(Public::Known(k))) => {
                let known = Value::Public(Public::Known(k));
                let apart = self.disjoint(known, x, w);
                apart.or_else(|| self.cut_ones(x, k, w))
            }
            _ => self.disjoint(x, y, w),
        }
    }

    /// `x OR k` for a `k` that is ones down from the top: what is below them, and `k`.
    fn cut_ones(&mut self, x: Value, k: u64, w: u32) -> Option<Value> {
        let low = k.trailing_zeros();
        let top = (1..w).contains(&low) && k >> low == ((1 << w) - 1) >> low;
        let bits = top.then(|| self.find_part(x, w, 0, low))?;
        Some(self.weighted_sum(&[(bits, 1), (Value::Public(Public::Known(k)), 1)], w))
    }

    /// `x AND k` for a mask of bits that adjoin.
    fn cut_mask(&mut self, x: Value, k: u64, w: u32) -> Option<Value> {
        if k & (k + 1) == 0 {
            return Some(self.find_part(x, w, 0, k.trailing_ones()));
        }
        // A run of bits from `low` on.
        let low = k.trailing_zeros();
        let run = k >> low;
        if run & (run + 1) == 0 {
            let bits = self.find_part(x, w, low, run.trailing_ones());
            return Some(self.weighted_sum(&[(bits, 1 << low)], w));
        }
        None
    }
}
