//! Joint bounds: inequalities `sum of 2^s v <= total` that grow with an accumulator.
//!
//! What is added to an accumulator is added to both sides, on the right at its most. Words of another joint bound
//! that are added one after another count together (a *slice*): with slices `S[i] <= B[i]`, what is kept is
//! `form - sum of 2^s[i] S[i] <= total - sum of 2^s[i] B[i]`, so that a slice may be exchanged for a longer one.

use machine::domain::public::Public;
use machine::domain::trace::Change;
use machine::domain::variable::{Def, Value, VarId};
use num_bigint::BigUint;
use num_traits::Zero;

use crate::checker::bounded::{Bounded, Slice};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// The largest exponent, and the longest slice.
const MOST: u32 = 1 << 20;

/// Are these numbers small enough for sums and products with the bits of a word?
fn are_small(numbers: [u32; 3]) -> Check {
    match numbers.iter().all(|n| *n <= MOST) {
        true => Ok(()),
        false => Err("a joint bound is too long"),
    }
}

impl Checker<'_> {
    /// The most that a word is; it is at least 0.
    fn most(&mut self, value: Value) -> Check<BigUint> {
        match self.range_of(value)? {
            (0.., most) => Ok(BigUint::from(most.unsigned_abs())),
            _ => Err("a word of a joint bound may be below 0"),
        }
    }

    /// A joint bound changes, or the next one begins.
    pub(super) fn change(&mut self, of: u32, change: &Change) -> Check {
        let mut first = Bounded::default();
        match change {
            Change::Start => {}
            Change::Product { lo } => {
                let Def::Low { a, b, hi, w } = self.def(*lo)? else {
                    return Err("it is no product");
                };
                self.range(*lo)?;
                first.total = self.most(a)? * self.most(b)?;
                first.form = vec![(*lo, 0), (hi, w)];
            }
            Change::Claim { index } => {
                let lemma = self.lemmas.get(*index).ok_or("there is no such claim")?;
                first.total = lemma.most.clone();
                first.form = lemma.weighted().map(|(v, s)| (v, s as u32)).collect();
            }
            Change::Raise { .. }
            | Change::Slice { .. }
            | Change::Put { .. }
            | Change::Mask { .. }
            | Change::Choose { .. }
            | Change::Bounds { .. } => {
                let joint = self.joints.get_mut(of as usize);
                let mut joint = std::mem::take(joint.ok_or("there is no such joint bound")?);
                let done = self.grow(&mut joint, change);
                self.joints[of as usize] = joint;
                return done;
            }
        }
        if of as usize != self.joints.len() {
            return Err("joint bounds do not begin in their order");
        }
        self.joints.push(first);
        Ok(())
    }

    fn grow(&mut self, joint: &mut Bounded, change: &Change) -> Check {
        match change {
            Change::Start | Change::Product { .. } | Change::Claim { .. } => Ok(()),
            Change::Raise { y, shift } => {
                are_small([*shift, 0, 0])?;
                joint.total += self.most(*y)? << shift;
                joint.add(*y, *shift)
            }
            Change::Slice {
                of,
                from,
                word,
                w,
                shift,
                continues,
            } => {
                are_small([*shift, *from, w.saturating_mul(MOST / 64)])?;
                let begun = Slice {
                    of: *of,
                    from: *from,
                    words: Vec::new(),
                    w: *w,
                    shift: *shift,
                    each: BigUint::zero(),
                    most: BigUint::zero(),
                    seen: 0,
                };
                self.slice(joint, begun, *word, *continues)
            }
            Change::Put { word, shift } => self.put(joint, *word, *shift),
            Change::Mask { carry, masked } => {
                self.at_most(*masked, *carry)?;
                joint.rename(*carry, *masked);
                joint.masked = Some((*carry, *masked));
                Ok(())
            }
            Change::Choose { word, chosen } => match self.choose(joint, *word, *chosen) {
                Ok(()) => Ok(()),
                // It is not shown to be one of them, so it counts as one more.
                Err(_) => {
                    joint.total += self.most(Value::Var(*chosen))? * joint.factor(*word);
                    let here = joint.form.iter().filter(|(v, _)| v == word);
                    let more: Vec<_> = here.map(|(_, shift)| (*chosen, *shift)).collect();
                    joint.form.extend(more);
                    Ok(())
                }
            },
            Change::Bounds { v } => self.bounds(joint, *v),
        }
    }

    /// Puts a word in the place of the sum that it is.
    fn put(&mut self, joint: &mut Bounded, word: VarId, shift: u32) -> Check {
        are_small([shift, 0, 0])?;
        let (terms, constant) = self.sum(word).ok_or("it is no sum")?;
        for (v, factor) in terms {
            let by = factor.unsigned_abs();
            if *factor > 0 {
                joint.take(*v, by, shift)?;
                continue;
            }
            let digits = (0..u64::BITS).filter(|bit| by >> bit & 1 == 1);
            joint.form.extend(digits.map(|bit| (*v, shift + bit)));
        }
        if constant != 0 {
            let constant = u64::try_from(constant).map_err(|_| "a sum has a negative number")?;
            let constant = BigUint::from(constant) << shift;
            if joint.constant < constant {
                return Err("a joint bound does not hold this number");
            }
            joint.constant -= constant;
        }
        match self.range(word)? {
            (0.., _) => joint.add(Value::Var(word), shift),
            _ => Err("a word of a joint bound may be below 0"),
        }
    }

    /// A variable is at most what the bound leaves for it.
    fn bounds(&mut self, joint: &Bounded, v: VarId) -> Check {
        let digit = joint.form.iter().rfind(|(x, _)| *x == v);
        let (_, shift) = digit.ok_or("there is no such word")?;
        // Every other term is at least 0, so that 2^shift v is at most the total less the constant.
        if joint.total < joint.constant {
            return Err("a joint bound is below its number");
        }
        match i128::try_from((&joint.total - &joint.constant) >> *shift) {
            Ok(most) => self.narrow(v, (0, most)),
            Err(_) => Ok(()),
        }
    }

    /// Adds `2^shift word`, the first word of the slice that is `begun`, or one that follows those of its like.
    fn slice(&mut self, joint: &mut Bounded, begun: Slice, word: Value, continues: bool) -> Check {
        let (of, from, w, shift) = (begun.of, begun.from, begun.w, begun.shift);
        let most = self.most(word)?;
        let source = self.joints.get(of as usize);
        let source = source.ok_or("there is no such joint bound")?;
        let mut slice = match continues {
            true => {
                let next = |s: &Slice| w * (from + s.words.len() as u32);
                let fits = |s: &Slice| {
                    let alike = (s.of, s.from, s.w) == (of, from, w);
                    alike && source.holds(word, next(s)) && source.holds_slice(s)
                };
                // Any that fits will do; if two end here, that behind which the word stands is meant.
                let meant = |s: &Slice| source.is_at(word, next(s)) && fits(s);
                let slices = &mut joint.slices;
                let found = slices.take(shift, meant);
                let found = found.or_else(|| slices.take(shift, fits));
                found.ok_or("there is no such slice")?
            }
            false => begun,
        };
        let at = slice.words.len() as u32;
        are_small([at, 0, 0])?;
        if !continues && !source.holds(word, w * from) {
            return Err("a joint bound does not hold the words of a slice");
        }
        slice.seen = source.taken;
        slice.words.push(word);
        slice.each += most << (w * at);
        let most = &source.total >> (w * from);
        let most = if most < slice.each {
            most
        } else {
            slice.each.clone()
        };
        joint.add(word, shift)?;
        // What was counted for the slice is in the total.
        joint.total += &most << slice.shift;
        joint.total -= std::mem::replace(&mut slice.most, most) << slice.shift;
        joint.slices.push(slice);
        Ok(())
    }

    /// `masked <= carry`, as it is the carry or 0.
    fn at_most(&mut self, masked: VarId, carry: VarId) -> Check {
        self.range(masked)?;
        match self.def(masked)? {
            Def::Product { a, b } if a == carry || b == carry => {
                let other = if a == carry { b } else { a };
                let bit = (0, 1);
                match (self.range(other)?, self.range(carry)?) {
                    (range, (0.., _)) if range.0 >= bit.0 && range.1 <= bit.1 => Ok(()),
                    _ => Err("what masks a carry is no bit"),
                }
            }
            Def::Product { .. } | Def::Free | Def::Carry | Def::Low { .. } | Def::Linear { .. } => {
                Err("it is no masked carry")
            }
        }
    }

    /// `word + 2^w c` becomes `chosen + 2^w m` for a masked carry `m`: where the bit is set these are the same, and
    /// where it is not, `m = 0` and `chosen` is 0 or an addend of the word.
    fn choose(&mut self, joint: &mut Bounded, word: VarId, chosen: VarId) -> Check {
        let (words, worlds) = self.chosen.get(&chosen).ok_or("nothing was chosen")?;
        let (other, there, elsewhere) = match words {
            [set, other] if *set == Value::Var(word) => (*other, &worlds[0], &worlds[1]),
            [other, clear] if *clear == Value::Var(word) => (*other, &worlds[1], &worlds[0]),
            _ => return Err("the word was not chosen"),
        };
        let (there, elsewhere) = (there.clone(), elsewhere.clone());
        let (terms, constant) = self.sum(word).ok_or("it is no sum")?;
        if constant < 0 {
            return Err("a sum has a negative number");
        }
        let is_addend = match other {
            Value::Public(Public::Known(0)) => true,
            Value::Var(v) => terms.iter().any(|(t, factor)| *t == v && *factor >= 1),
            Value::Public(_) => false,
        };
        if !is_addend {
            return Err("the other word that was chosen is no addend");
        }
        let factor = joint.factor(word);
        if factor.is_zero() {
            return Err("a joint bound does not hold this word");
        }
        for (v, by) in terms.iter().filter(|(_, by)| *by < 0) {
            // The carry was masked by the same bit, and is there as often as it left the word.
            let (carry, masked) = joint.masked.ok_or("the carry is not masked")?;
            let share = &factor * by.unsigned_abs();
            let Def::Product { a, b } = self.def(masked)? else {
                return Err("it is no masked carry");
            };
            let bit = if a == carry { b } else { a };
            let masks =
                there.contains(&(bit, Value::ONE)) && elsewhere.contains(&(bit, Value::ZERO));
            if *v != carry || !masks || joint.factor(masked) != share {
                return Err("the carry is masked by another bit");
            }
        }
        for (v, _) in terms.iter().filter(|(_, by)| *by > 0) {
            if self.range(*v)?.0 < 0 {
                return Err("an addend may be below 0");
            }
        }
        self.most(Value::Var(chosen))?;
        joint.rename(word, chosen);
        Ok(())
    }
}
