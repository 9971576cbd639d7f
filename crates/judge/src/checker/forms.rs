//! Linear forms over the variables: equal by their definitions, and in a range by those of their variables.

use machine::domain::public::Public;
use machine::domain::variable::{Def, Value, VarId};

use crate::checker::form::World;
pub use crate::checker::form::{Form, Range, spread, times};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

impl Checker<'_> {
    /// The least and the most that the ranges of its variables allow.
    pub(super) fn naive(&mut self, form: &Form) -> Check<Range> {
        let mut sum = (form.constant, form.constant);
        for (v, by) in &form.terms {
            sum = spread(sum, self.range(*v)?, *by)?;
        }
        Ok(sum)
    }

    /// The sum that defines `v`. What has no meaning yet may be defined by itself, so it has none.
    fn definition(&self, v: VarId) -> Option<(&[(VarId, i64)], i64)> {
        let named = self.ranges.get(v as usize).is_some_and(Option::is_some);
        self.sum(v).filter(|_| named)
    }

    /// Replaces `v` by its definition.
    pub(super) fn expand(&self, form: &mut Form, v: VarId) -> Check<bool> {
        let Some((terms, constant)) = self.definition(v) else {
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

    /// The number that a variable is here, itself or as `k t + c` of a number `t`: the complement of a bit.
    fn number(&self, x: VarId, world: &World) -> Option<i128> {
        let known = |x: VarId| {
            let (_, value) = world.iter().find(|(known, _)| *known == x)?;
            match value {
                Value::Public(Public::Known(k)) => Some(i128::from(*k)),
                Value::Public(_) | Value::Var(_) => None,
            }
        };
        match (known(x), self.definition(x)) {
            (Some(value), _) => Some(value),
            (None, Some(([(t, k)], c))) => {
                let product = times(known(*t)?, (*k).into()).ok()?;
                product.checked_add(c.into())
            }
            (None, Some(_) | None) => None,
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
            let (other, value) = match (self.number(a, world), self.number(b, world)) {
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

    /// The same, as it stands or after some of its sums were replaced, the widest first.
    pub(super) fn lies_unrolled(&mut self, form: &Form, range: Range) -> Check {
        /// Replacements for one range.
        const MOST: usize = 64;
        let mut form = form.clone();
        for _ in 0..MOST {
            if self.lies(&form, range).is_ok() {
                return Ok(());
            }
            let mut widest = None;
            for (v, by) in &form.terms {
                let (low, high) = self.known(*v).unwrap_or_default();
                let width = high.saturating_sub(low).saturating_mul(by.saturating_abs());
                if self.sum(*v).is_some() && widest.is_none_or(|best| (width, *v) > best) {
                    widest = Some((width, *v));
                }
            }
            let Some((_, v)) = widest else { break };
            self.expand(&mut form, v)?;
        }
        self.lies(&form, range)
    }
}
