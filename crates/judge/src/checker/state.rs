//! What is known so far: ranges of variables, cuts, bits, joint bounds, lemmas.

use machine::domain::ids::{Map, Set};
use machine::domain::trace::{Combination, Entry, Step};
use machine::domain::variable::{BitValue, Def, Value, Var, VarId};

use crate::checker::bounded::Bounded;
use crate::checker::form;
use crate::checker::form::{Form, Range, World};
use crate::checker::lemma::{Lemma, Magnitude, Quotients};
use crate::checker::refused::{Check, Refused};

/// What is known so far.
#[derive(Default)]
pub struct Checker<'a> {
    vars: &'a [Var],
    terms: &'a [(VarId, i64)],
    /// The least and the most of each variable that has a meaning.
    pub(crate) ranges: Vec<Option<Range>>,
    /// The words that `x` falls into when it is cut at bit `k`.
    pub(crate) cuts: Map<(VarId, u32), (Option<Value>, Value)>,
    /// `h = floor(x / 2^k)`.
    pub(crate) floors: Map<VarId, (VarId, u32)>,
    pub(crate) digits: Map<VarId, Vec<Value>>,
    /// The bits "`word` is 0" and "`word` is not 0".
    pub(crate) zeros: Map<(VarId, bool), VarId>,
    pub(crate) zero_bits: Map<VarId, (VarId, bool)>,
    /// Words made of another one by a bit of its own at an index.
    pub(crate) packed: Map<VarId, (Value, u32, BitValue)>,
    pub(crate) low_bits: Map<VarId, (u32, u64)>,
    /// Carries that are 0, or other carries, where a bit has a value.
    pub(crate) equal: Map<(VarId, Value), World>,
    /// What differences are of, as forms that are 0; and the last of them.
    pub(crate) differences: Map<VarId, Form>,
    pub(crate) difference: Form,
    /// Equations around the choice that comes next.
    pub(crate) around: Vec<Combination>,
    /// The difference that is opposite to the one that chooses.
    pub(crate) opposite: Option<VarId>,
    /// The word that each carry left when it was made.
    pub(crate) left: Map<VarId, VarId>,
    /// In the order in which they begin.
    pub(crate) joints: Vec<Bounded>,
    /// Words `x = a ^ b` of so many bits.
    pub(crate) xors: Map<VarId, (u32, [Value; 2])>,
    /// Words that are one of two: which, and what is true where it is the first, and where it is the second.
    pub(crate) chosen: Map<VarId, ([Value; 2], [World; 2])>,
    pub(crate) exclusive: Set<(VarId, VarId)>,
    /// Bits that are 1 wherever a bit is.
    pub(crate) follows: Map<VarId, Vec<VarId>>,
    pub(crate) lemmas: Vec<Lemma>,
    pub(crate) magnitudes: Vec<Magnitude>,
    /// The lowest word of a modulus, `m'` with `m m' = -1`, and the bits of the power of 2 modulo which it is.
    pub(crate) inverse: Option<(VarId, VarId, u64)>,
    /// An input that is odd.
    pub(crate) odd: Option<VarId>,
    /// Words `e` with `m e = 1 (mod 2^bits)` for the odd `m`: their bits.
    pub(crate) near: Map<VarId, u64>,
    /// Words `q = v m' mod 2^w` that were made by additions, with their `v` and `w`.
    pub(crate) quotients: Map<VarId, (VarId, u64)>,
    pub(crate) long: Quotients,
    /// Sums that are not replaced where they are factors.
    pub(crate) atoms: Set<VarId>,
}

impl<'a> Checker<'a> {
    /// Nothing is known of these variables yet but their definitions.
    pub fn new(vars: &'a [Var], terms: &'a [(VarId, i64)]) -> Self {
        Self {
            vars,
            terms,
            ranges: vec![None; vars.len()],
            ..Self::default()
        }
    }

    /// Goes through the entries of a run, in their order.
    ///
    /// # Errors
    /// The first entry that is not accepted, and why.
    pub fn run<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e Entry>,
    ) -> Result<(), (usize, Refused)> {
        let mut entries = entries.enumerate();
        entries.try_for_each(|(i, entry)| self.operation(entry).map_err(|why| (i, why)))
    }

    pub(crate) fn step(&mut self, step: &Step) -> Check {
        match step {
            Step::Bound { v, most, by } => self.bound(*v, *most, by),
            Step::Exclusive { x, y, by } => {
                self.refuted(&[(*x, (1, 1)), (*y, (1, 1))], by)?;
                self.exclusive.insert((*x.min(y), *x.max(y)));
                Ok(())
            }
            Step::Follows { x, y, by } => {
                self.refuted(&[(*x, (1, 1)), (*y, (0, 0))], by)?;
                self.follows.entry(*x).or_default().push(*y);
                Ok(())
            }
            Step::NeverSet {
                c,
                scale,
                by,
                products,
                claims,
            } => self.never_set(*c, scale, by, products, claims),
            Step::Below { v, most } => {
                // Of an input b + 2 h, h as well.
                if let Some((_, Value::Var(h))) = self.cuts.get(&(*v, 1)).copied() {
                    self.narrow(h, (0, (most >> 1).into()))?;
                }
                self.narrow(*v, (0, (*most).into()))
            }
            Step::Bit { v } => self.narrow(*v, (0, 1)),
            Step::Inverse { m, inverse, bits } => {
                self.inverse = Some((*m, *inverse, *bits));
                Ok(())
            }
            Step::Around { by, opposite } => {
                self.around.clone_from(by);
                self.opposite = *opposite;
                Ok(())
            }
            Step::Odd { m } => {
                self.odd = Some(*m);
                Ok(())
            }
            Step::Newton {
                e,
                s,
                sign,
                low,
                used,
            } => self.newton(*e, *low, *s, *sign, used),
            Step::Even { x, bit, used } => self.even(*x, *bit, used),
            Step::Factor { v } => {
                self.atoms.insert(*v);
                Ok(())
            }
            Step::Quotient { q, v, w, used } => self.quotient(*q, *v, *w, used),
            Step::Joint { of, change } => self.change(*of, change),
            Step::Inverses { m, inverse, w } => {
                self.long.inverses = Some((m.clone(), inverse.clone(), *w));
                Ok(())
            }
            Step::LongQuotient { equation, used } => self.long_quotient(equation, used),
            Step::Half { equation, used } => self.half(equation, used),
            Step::Claim { equation, used } => self.claim(equation, used),
            Step::Magnitude {
                equation,
                wrapped,
                mask,
                used,
            } => {
                let used = [&used[0][..], &used[1][..]];
                self.magnitude(equation, wrapped, *mask, used)
            }
            Step::Signed {
                equation,
                product,
                factors,
                mask,
            } => self.signed(equation, *product, *factors, *mask),
        }
    }

    /// The terms and the constant of a variable that is a sum.
    pub(crate) fn sum(&self, v: VarId) -> Option<(&'a [(VarId, i64)], i64)> {
        match self.vars.get(v as usize)?.def {
            Def::Linear {
                start,
                len,
                constant,
            } => {
                let from = start as usize;
                Some((self.terms.get(from..from + len as usize)?, constant))
            }
            Def::Free | Def::Carry | Def::Low { .. } | Def::Product { .. } => None,
        }
    }

    pub(crate) fn def(&self, v: VarId) -> Check<Def> {
        let var = self
            .vars
            .get(v as usize)
            .ok_or("there is no such variable")?;
        Ok(var.def)
    }

    /// Does the variable have no meaning yet, and wait for one?
    pub(crate) fn is_new(&self, v: VarId) -> bool {
        let waits = |def| matches!(def, Ok(Def::Free | Def::Carry));
        waits(self.def(v)) && self.known(v).is_none()
    }

    /// Gives a new variable its meaning, which lies in this range.
    pub(crate) fn name(&mut self, v: VarId, range: Range) -> Check {
        if !self.is_new(v) {
            return Err("a variable is given two meanings");
        }
        self.ranges[v as usize] = Some(range);
        Ok(())
    }

    /// The range of a variable, if it has a meaning and the range is known.
    pub(crate) fn known(&self, v: VarId) -> Option<Range> {
        self.ranges.get(v as usize).copied().flatten()
    }

    /// The range of a variable that has a meaning.
    pub(crate) fn range(&mut self, v: VarId) -> Check<Range> {
        match self.known(v) {
            Some(range) => Ok(range),
            None => self.range_within(v, 0),
        }
    }

    fn range_within(&mut self, v: VarId, depth: usize) -> Check<Range> {
        /// Definitions inside definitions that nobody asked for before.
        const DEEPEST: usize = 64;
        let unnamed = "a variable is used before it has a meaning";
        if let Some(range) = self.known(v) {
            return Ok(range);
        }
        if depth > DEEPEST {
            return Err("definitions are too deep");
        }
        let range = match self.def(v)? {
            Def::Linear { .. } => {
                let (terms, constant) = self.sum(v).ok_or(unnamed)?;
                let mut sum = (i128::from(constant), i128::from(constant));
                for (t, factor) in terms {
                    let range = self.range_within(*t, depth + 1)?;
                    sum = form::spread(sum, range, (*factor).into())?;
                }
                sum
            }
            Def::Product { a, b } => {
                let (a, b) = (
                    self.range_within(a, depth + 1)?,
                    self.range_within(b, depth + 1)?,
                );
                let (x, y) = (form::times(a.0, b.0)?, form::times(a.0, b.1)?);
                let (z, t) = (form::times(a.1, b.0)?, form::times(a.1, b.1)?);
                (x.min(y).min(z).min(t), x.max(y).max(z).max(t))
            }
            Def::Free | Def::Carry | Def::Low { .. } => return Err(unnamed),
        };
        self.ranges[v as usize] = Some(range);
        Ok(range)
    }

    /// From now on the variable lies in this range as well.
    pub(crate) fn narrow(&mut self, v: VarId, range: Range) -> Check {
        let old = self.range(v)?;
        self.ranges[v as usize] = Some((old.0.max(range.0), old.1.min(range.1)));
        Ok(())
    }

    /// The range of a number or of a variable.
    pub(crate) fn range_of(&mut self, value: Value) -> Check<Range> {
        match value {
            Value::Var(v) => self.range(v),
            Value::Public(_) => self.naive(&Form::of(value)?),
        }
    }
}
