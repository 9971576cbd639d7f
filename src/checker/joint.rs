//! Joint bounds: inequalities `sum of 2^s v <= total` that grow with an accumulator.
//!
//! What is added to an accumulator is added to both sides, on the right at its most. Words of another joint bound
//! that are added one after another count together (a *slice*): with slices `S[i] <= B[i]`, what is kept is
//! `form - sum of 2^s[i] S[i] <= total - sum of 2^s[i] B[i]`, so that a slice may be exchanged for a longer one.

use std::collections::HashMap;

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::{Check, Checker};
use crate::domain::public::Public;
use crate::domain::trace::Change;
use crate::domain::variable::{Def, Value, VarId};

/// Words of another joint bound that were added: the first at `2^shift`, each next one `2^w` times as heavy.
struct Slice {
    of: u32,
    /// Where its first word stands in the other one.
    from: u32,
    words: Vec<Value>,
    w: u32,
    shift: u32,
    most: BigUint,
}

/// `form <= total`; all factors and the constant of the form are positive.
#[derive(Default)]
pub struct Bounded {
    form: HashMap<VarId, BigUint>,
    constant: BigUint,
    total: BigUint,
    slices: Vec<Slice>,
    /// The carry that was masked last, and what of it is in the form.
    masked: Option<(VarId, VarId)>,
}

impl Bounded {
    fn add(&mut self, y: Value, factor: BigUint) -> Check {
        match y {
            Value::Var(v) => *self.form.entry(v).or_default() += factor,
            Value::Public(Public::Known(k)) => self.constant += factor * k,
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                return Err("an address is no number");
            }
        }
        Ok(())
    }

    /// Takes `factor v` away from the form, which has as much.
    fn take(&mut self, v: VarId, factor: &BigUint) -> Check {
        let missing = "a joint bound does not hold this word";
        let there = self.form.get_mut(&v).filter(|there| **there >= *factor);
        let there = there.ok_or(missing)?;
        *there -= factor;
        if there.is_zero() {
            self.form.remove(&v);
        }
        Ok(())
    }

    /// Does the form hold at least `factor` times this word?
    fn holds(&self, word: Value, factor: &BigUint) -> bool {
        match word {
            Value::Var(v) => self.form.get(&v).is_some_and(|there| there >= factor),
            Value::Public(Public::Known(k)) => self.constant >= factor * k,
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => false,
        }
    }
}

fn power(shift: u32) -> BigUint {
    BigUint::one() << shift
}

impl Checker<'_> {
    /// The most that a word is; it is at least 0.
    fn most(&mut self, value: Value) -> Check<BigUint> {
        match self.range_of(value)? {
            (0.., most) => Ok(BigUint::from(most.unsigned_abs())),
            _ => Err("a word of a joint bound may be below 0"),
        }
    }

    pub(super) fn change(&mut self, of: u32, change: &Change) -> Check {
        let unknown = "there is no such joint bound";
        match change {
            Change::Start => {
                self.joints.insert(of, Bounded::default());
                return Ok(());
            }
            Change::Product { lo } => {
                let Def::Low { a, b, hi, w } = self.def(*lo)? else {
                    return Err("it is no product");
                };
                self.range(*lo)?;
                let mut joint = Bounded {
                    total: self.most(a)? * self.most(b)?,
                    ..Bounded::default()
                };
                joint.add(Value::Var(*lo), BigUint::one())?;
                joint.add(Value::Var(hi), power(w))?;
                self.joints.insert(of, joint);
                return Ok(());
            }
            Change::Claim { index } => {
                let lemma = self.lemmas.get(*index).ok_or("there is no such claim")?;
                let mut joint = Bounded {
                    total: lemma.most.clone(),
                    ..Bounded::default()
                };
                for (v, weight) in lemma.weighted() {
                    joint.add(Value::Var(v), BigUint::one() << weight)?;
                }
                self.joints.insert(of, joint);
                return Ok(());
            }
            Change::Raise { .. }
            | Change::Slice { .. }
            | Change::Put { .. }
            | Change::Mask { .. }
            | Change::Choose { .. }
            | Change::Bounds { .. } => {}
        }
        let mut joint = self.joints.remove(&of).ok_or(unknown)?;
        let done = self.grow(&mut joint, change);
        self.joints.insert(of, joint);
        done
    }

    fn grow(&mut self, joint: &mut Bounded, change: &Change) -> Check {
        match change {
            Change::Start | Change::Product { .. } | Change::Claim { .. } => Ok(()),
            Change::Raise { y, shift } => {
                joint.total += self.most(*y)? << shift;
                joint.add(*y, power(*shift))
            }
            Change::Slice {
                of,
                from,
                word,
                w,
                shift,
                continues,
            } => self.slice(joint, (*of, *from), *word, (*w, *shift), *continues),
            Change::Put { word, shift } => {
                let (terms, constant) = self.sum(*word).ok_or("it is no sum")?;
                let by = power(*shift);
                for (v, factor) in terms {
                    let share = &by * factor.unsigned_abs();
                    match factor.is_negative() {
                        true => joint.add(Value::Var(*v), share)?,
                        false => joint.take(*v, &share)?,
                    }
                }
                let constant =
                    u64::try_from(constant).map_err(|_| "a sum has a negative number")?;
                let constant = &by * constant;
                if joint.constant < constant {
                    return Err("a joint bound does not hold this number");
                }
                joint.constant -= constant;
                self.most(Value::Var(*word))?;
                joint.add(Value::Var(*word), by)
            }
            Change::Mask { carry, masked } => {
                self.at_most(*masked, *carry)?;
                let factor = joint.form.remove(carry).ok_or("there is no such carry")?;
                joint.masked = Some((*carry, *masked));
                joint.add(Value::Var(*masked), factor)
            }
            Change::Choose { word, chosen } => match self.choose(joint, *word, *chosen) {
                Ok(()) => Ok(()),
                // It is not shown to be one of them, so it counts as one more.
                Err(_) => {
                    let factor = joint.form.get(word).cloned().unwrap_or_default();
                    joint.total += self.most(Value::Var(*chosen))? * &factor;
                    joint.add(Value::Var(*chosen), factor)
                }
            },
            Change::Bounds { v } => {
                let factor = joint.form.get(v).ok_or("there is no such word")?;
                // Every other term is at least 0.
                let most = (&joint.total - &joint.constant) / factor;
                match i128::try_from(most) {
                    Ok(most) => self.narrow(*v, (0, most)),
                    Err(_) => Ok(()),
                }
            }
        }
    }

    /// Adds `2^shift word`, a word that follows those of a slice, or the first of one.
    fn slice(
        &mut self,
        joint: &mut Bounded,
        (of, from): (u32, u32),
        word: Value,
        (w, shift): (u32, u32),
        continues: bool,
    ) -> Check {
        let source = self.joints.get(&of).ok_or("there is no such joint bound")?;
        let mut slice = match continues {
            true => {
                let end = |s: &Slice| s.shift + s.w * s.words.len() as u32;
                let next = |s: &Slice| power(w * (from + s.words.len() as u32));
                let found = joint.slices.iter().position(|s| {
                    let alike = (s.of, s.from, s.w, end(s)) == (of, from, w, shift);
                    alike && source.holds(word, &next(s)) && source.holds_slice(s)
                });
                joint
                    .slices
                    .swap_remove(found.ok_or("there is no such slice")?)
            }
            false => Slice {
                of,
                from,
                words: Vec::new(),
                w,
                shift,
                most: BigUint::zero(),
            },
        };
        slice.words.push(word);
        if !source.holds_slice(&slice) {
            return Err("a joint bound does not hold the words of a slice");
        }
        let mut most = &source.total >> (w * from);
        let mut each = BigUint::zero();
        let words = slice.words.clone();
        for word in words.iter().rev() {
            each = (each << w) + self.most(*word)?;
        }
        most = most.min(each);
        joint.add(word, power(shift))?;
        joint.total += &most << slice.shift;
        let before = &slice.most << slice.shift;
        if joint.total < before {
            return Err("a joint bound is below 0");
        }
        joint.total -= before;
        slice.most = most;
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
        let factor = joint.form.get(&word).cloned();
        let factor = factor.ok_or("a joint bound does not hold this word")?;
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
            if *v != carry || !masks || joint.form.get(&masked) != Some(&share) {
                return Err("the carry is masked by another bit");
            }
        }
        for (v, _) in terms.iter().filter(|(_, by)| *by > 0) {
            if self.range(*v)?.0 < 0 {
                return Err("an addend may be below 0");
            }
        }
        self.most(Value::Var(chosen))?;
        joint.take(word, &factor)?;
        joint.add(Value::Var(chosen), factor)
    }
}

impl Bounded {
    /// Does the form hold the words of a slice?
    fn holds_slice(&self, slice: &Slice) -> bool {
        let mut words = slice.words.iter().enumerate();
        words.all(|(i, word)| self.holds(*word, &power(slice.w * (slice.from + i as u32))))
    }
}
