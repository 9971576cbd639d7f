//! Linear forms over the variables: sums of numbers, each checked against overflow.

use machine::domain::public::Public;
use machine::domain::variable::{Value, VarId};

use crate::checker::refused::Check;

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

pub const OVERFLOW: &str = "a factor is too large";

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
    pub(crate) fn place(&self, v: VarId) -> Result<usize, usize> {
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
