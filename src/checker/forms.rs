//! Linear forms over the variables: equal by their definitions, and in a range by those of their variables.

use super::{Check, Checker};
use crate::domain::public::Public;
use crate::domain::variable::{Def, Value, VarId};

/// The least and the most, both inclusive.
pub type Range = (i128, i128);

/// What some variables are supposed to be: numbers, or earlier variables.
pub type World = Vec<(VarId, Value)>;

/// The number 0 or 1.
pub fn bit(set: bool) -> Value {
    if set { Value::ONE } else { Value::ZERO }
}

/// A number that a sum of some millions of the like cannot overflow.
pub fn within(number: Option<i128>) -> Check<i128> {
    const MOST: u128 = 1 << 100;
    number.filter(|n| n.unsigned_abs() <= MOST).ok_or(OVERFLOW)
}

/// A product. Nearly all are of numbers of 64 bits, which cannot overflow.
pub fn times(x: i128, y: i128) -> Check<i128> {
    within(match (i64::try_from(x), i64::try_from(y)) {
        (Ok(x), Ok(y)) => Some(i128::from(x) * i128::from(y)),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => x.checked_mul(y),
    })
}

/// `constant + sum of factor * variable`.
#[derive(Clone, Default, Debug)]
pub struct Form {
    /// In the order of the variables, each once.
    pub terms: Vec<(VarId, i128)>,
    pub constant: i128,
}

const OVERFLOW: &str = "a factor is too large";

impl Form {
    pub fn number(constant: i128) -> Self {
        Self {
            terms: Vec::new(),
            constant,
        }
    }

    /// A number or a variable.
    pub fn of(value: Value) -> Check<Self> {
        let mut form = Self {
            terms: Vec::with_capacity(8),
            constant: 0,
        };
        form.add_value(value, 1)?;
        Ok(form)
    }

    /// Is it this number or variable?
    pub fn is(&self, value: Value) -> bool {
        match value {
            Value::Var(v) => self.terms == [(v, 1)] && self.constant == 0,
            Value::Public(Public::Known(k)) => {
                self.terms.is_empty() && self.constant == i128::from(k)
            }
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => false,
        }
    }

    /// Adds `by * v`.
    pub fn add(&mut self, v: VarId, by: i128) -> Check {
        match self.place(v) {
            Ok(i) => {
                let factor = within(self.terms[i].1.checked_add(by))?;
                match factor {
                    0 => drop(self.terms.remove(i)),
                    factor => self.terms[i].1 = factor,
                }
            }
            Err(i) if by != 0 => self.terms.insert(i, (v, within(Some(by))?)),
            Err(_) => {}
        }
        Ok(())
    }

    /// Adds a number.
    pub fn add_number(&mut self, number: i128) -> Check {
        self.constant = within(self.constant.checked_add(number))?;
        Ok(())
    }

    /// Where a variable is, or would be.
    fn place(&self, v: VarId) -> Result<usize, usize> {
        self.terms.binary_search_by_key(&v, |(x, _)| *x)
    }

    /// Adds `by * value`.
    pub fn add_value(&mut self, value: Value, by: i128) -> Check {
        match value {
            Value::Var(v) => self.add(v, by),
            Value::Public(Public::Known(k)) => self.add_number(times(by, k.into())?),
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                Err("an address is no number")
            }
        }
    }

    /// This form and `by * value`.
    pub fn with(mut self, value: Value, by: i128) -> Check<Self> {
        self.add_value(value, by)?;
        Ok(self)
    }
}

/// The range of a number in `sum` and `by` times one in `range`.
pub fn spread(sum: Range, (low, high): Range, by: i128) -> Check<Range> {
    let add = |to: i128, x: i128| within(to.checked_add(times(x, by)?));
    match by.is_negative() {
        true => Ok((add(sum.0, high)?, add(sum.1, low)?)),
        false => Ok((add(sum.0, low)?, add(sum.1, high)?)),
    }
}

impl Checker<'_> {
    /// The least and the most that the ranges of its variables allow.
    pub(super) fn naive(&mut self, form: &Form) -> Check<Range> {
        let mut sum = (form.constant, form.constant);
        for (v, by) in &form.terms {
            sum = spread(sum, self.range(*v)?, *by)?;
        }
        Ok(sum)
    }

    /// Replaces `v` by its definition.
    pub(super) fn expand(&self, form: &mut Form, v: VarId) -> Check<bool> {
        // What has no meaning yet may be defined by itself.
        let named = self.ranges.get(v as usize).is_some_and(Option::is_some);
        let Some((terms, constant)) = self.sum(v).filter(|_| named) else {
            return Ok(false);
        };
        let Ok(at) = form.place(v) else {
            return Ok(false);
        };
        let (_, by) = form.terms.remove(at);
        form.add_number(times(by, constant.into())?)?;
        for (t, factor) in terms {
            form.add(*t, times(by, (*factor).into())?)?;
        }
        Ok(true)
    }

    /// Is the form 0 for all inputs (modulo `2^bits`, if they are given) where the variables of `world` have these
    /// values? Variables are replaced latest first, so that each has collected all its uses.
    pub(super) fn vanishes(&self, form: Form, bits: Option<u32>, world: &World) -> Check {
        let rest = self.rest(form, bits, world)?;
        let same = rest.constant == 0 && rest.terms.is_empty();
        if same {
            Ok(())
        } else {
            Err("both sides of an equation differ")
        }
    }

    /// What is left of a form, of variables without definition.
    pub(super) fn rest(&self, mut form: Form, bits: Option<u32>, world: &World) -> Check<Form> {
        /// Replacements for one equation.
        const MOST: usize = 1 << 14;
        let modulus = bits.map(|bits| 1i128 << bits);
        // Variables without definition: one may be defined by later ones.
        let mut left = Form::default();
        for _ in 0..MOST {
            if let Some(modulus) = modulus {
                form.terms.retain(|(_, by)| *by % modulus != 0);
                form.constant = form.constant.rem_euclid(modulus);
            }
            let Some((v, by)) = form.terms.last().copied() else {
                if let Some(modulus) = modulus {
                    left.terms.retain(|(_, by)| *by % modulus != 0);
                }
                left.constant = form.constant;
                return Ok(left);
            };
            if let Some((_, value)) = world.iter().find(|(known, _)| *known == v) {
                form.terms.pop();
                form.add_value(*value, by)?;
                continue;
            }
            if self.expand(&mut form, v)? {
                continue;
            }
            // A product with a factor that is a number here.
            form.terms.pop();
            let Def::Product { a, b } = self.def(v)? else {
                left.add(v, by)?;
                continue;
            };
            let number = |value: &Value| match value {
                Value::Public(Public::Known(k)) => Some(i128::from(*k)),
                Value::Public(_) | Value::Var(_) => None,
            };
            let value = |x: VarId| {
                let known = world.iter().find(|(known, _)| *known == x);
                known.and_then(|(_, value)| number(value))
            };
            let (other, value) = match (value(a), value(b)) {
                (Some(value), _) => (b, value),
                (None, Some(value)) => (a, value),
                (None, None) => {
                    left.add(v, by)?;
                    continue;
                }
            };
            form.add(other, times(by, value)?)?;
        }
        Err("an equation is too long")
    }

    /// Is the form within `least ..= most` by the ranges of its variables?
    pub(super) fn lies(&mut self, form: &Form, (least, most): Range) -> Check {
        let (low, high) = self.naive(form)?;
        match least <= low && high <= most {
            true => Ok(()),
            false => Err("a word may be too large or below 0"),
        }
    }
}
