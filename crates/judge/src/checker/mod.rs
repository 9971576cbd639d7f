//! The checker: decides whether what a run wrote down ([`machine::domain::trace`]) is true.
//!
//! It knows nothing of how conclusions were found. Every variable stands for a number that the inputs fix:
//!
//! - an input is any word of its width, or what the contract says of it;
//! - a carry or a high word is *defined* by the first operation that names it, as the quotient of a division by a
//!   power of 2; the word is the remainder. Whoever names it again must show that it is the same;
//! - a sum or a product of variables is an abbreviation.
//!
//! Operations that name no new variable are checked by *unique division*: `E = word + 2^w carry` and
//! `0 <= word < 2^w` leave one value to each. Equations are checked by replacing variables by their definitions,
//! latest first; ranges by the ranges of the variables; a choice by a bit in both of its cases.

#![deny(clippy::wildcard_enum_match_arm)]

mod choices;
mod claims;
mod cuts;
mod folded;
mod forms;
mod goal;
mod ids;
mod joint;
mod limits;
mod number;
mod operations;
mod polynomial;
mod quotient;
mod refute;
pub mod replay;
mod residue;

use machine::domain::trace::{Combination, Entry, Step};
use machine::domain::variable::{BitValue, Def, Value, Var, VarId};

use crate::checker::claims::Magnitude;
pub use crate::checker::folded::Folded;
use crate::checker::forms::{Form, Range, World};
pub use crate::checker::goal::{By, Goal, Modulus};
use crate::checker::ids::{Map, Set};
use crate::checker::joint::Bounded;
use crate::checker::polynomial::Lemma;
use crate::checker::quotient::Quotients;
pub use crate::checker::residue::{Corner, Residue, Term};

/// Why something is not accepted.
pub type Refused = &'static str;

/// What an entry comes to.
type Check<T = ()> = Result<T, Refused>;

/// What is known so far.
#[derive(Default)]
pub struct Checker<'a> {
    vars: &'a [Var],
    terms: &'a [(VarId, i64)],
    /// The least and the most of each variable that has a meaning.
    ranges: Vec<Option<Range>>,
    /// The words that `x` falls into when it is cut at bit `k`.
    cuts: Map<(VarId, u32), (Option<Value>, Value)>,
    /// `h = floor(x / 2^k)`.
    floors: Map<VarId, (VarId, u32)>,
    digits: Map<VarId, Vec<Value>>,
    /// The bits "`word` is 0" and "`word` is not 0".
    zeros: Map<(VarId, bool), VarId>,
    zero_bits: Map<VarId, (VarId, bool)>,
    /// Words made of another one by a bit of its own at an index.
    packed: Map<VarId, (Value, u32, BitValue)>,
    low_bits: Map<VarId, (u32, u64)>,
    /// Carries that are 0, or other carries, where a bit has a value.
    equal: Map<(VarId, Value), World>,
    /// What differences are of, as forms that are 0; and the last of them.
    differences: Map<VarId, Form>,
    difference: Form,
    /// Equations around the choice that comes next.
    around: Vec<Combination>,
    /// The difference that is opposite to the one that chooses.
    opposite: Option<VarId>,
    /// The word that each carry left when it was made.
    left: Map<VarId, VarId>,
    /// In the order in which they begin.
    joints: Vec<Bounded>,
    /// Words that are one of two: which, and what is true where it is the first, and where it is the second.
    chosen: Map<VarId, ([Value; 2], [World; 2])>,
    exclusive: Set<(VarId, VarId)>,
    /// Bits that are 1 wherever a bit is.
    follows: Map<VarId, Vec<VarId>>,
    lemmas: Vec<Lemma>,
    magnitudes: Vec<Magnitude>,
    /// The lowest word of a modulus, `m'` with `m m' = -1`, and the bits of the power of 2 modulo which it is.
    inverse: Option<(VarId, VarId, u64)>,
    /// An input that is odd.
    odd: Option<VarId>,
    /// Words `e` with `m e = 1 (mod 2^bits)` for the odd `m`: their bits.
    near: Map<VarId, u64>,
    /// Words `q = v m' mod 2^w` that were made by additions, with their `v` and `w`.
    quotients: Map<VarId, (VarId, u64)>,
    long: Quotients,
    /// Sums that are not replaced where they are factors.
    atoms: Set<VarId>,
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

    fn step(&mut self, step: &Step) -> Check {
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
            } => self.newton((*e, *low), (*s, *sign), used),
            Step::Even { x, bit, used } => self.even(*x, *bit, used),
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
    fn sum(&self, v: VarId) -> Option<(&'a [(VarId, i64)], i64)> {
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

    fn def(&self, v: VarId) -> Check<Def> {
        let var = self
            .vars
            .get(v as usize)
            .ok_or("there is no such variable")?;
        Ok(var.def)
    }

    /// Does the variable have no meaning yet, and wait for one?
    fn is_new(&self, v: VarId) -> bool {
        let waits = |def| matches!(def, Ok(Def::Free | Def::Carry));
        waits(self.def(v)) && self.known(v).is_none()
    }

    /// Gives a new variable its meaning, which lies in this range.
    fn name(&mut self, v: VarId, range: Range) -> Check {
        if !self.is_new(v) {
            return Err("a variable is given two meanings");
        }
        self.ranges[v as usize] = Some(range);
        Ok(())
    }

    /// The range of a variable, if it has a meaning and the range is known.
    fn known(&self, v: VarId) -> Option<Range> {
        self.ranges.get(v as usize).copied().flatten()
    }

    /// The range of a variable that has a meaning.
    fn range(&mut self, v: VarId) -> Check<Range> {
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
                    sum = forms::spread(sum, range, (*factor).into())?;
                }
                sum
            }
            Def::Product { a, b } => {
                let (a, b) = (
                    self.range_within(a, depth + 1)?,
                    self.range_within(b, depth + 1)?,
                );
                let (x, y) = (forms::times(a.0, b.0)?, forms::times(a.0, b.1)?);
                let (z, t) = (forms::times(a.1, b.0)?, forms::times(a.1, b.1)?);
                (x.min(y).min(z).min(t), x.max(y).max(z).max(t))
            }
            Def::Free | Def::Carry | Def::Low { .. } => return Err(unnamed),
        };
        self.ranges[v as usize] = Some(range);
        Ok(range)
    }

    /// From now on the variable lies in this range as well.
    fn narrow(&mut self, v: VarId, range: Range) -> Check {
        let old = self.range(v)?;
        self.ranges[v as usize] = Some((old.0.max(range.0), old.1.min(range.1)));
        Ok(())
    }

    /// The range of a number or of a variable.
    fn range_of(&mut self, value: Value) -> Check<Range> {
        match value {
            Value::Var(v) => self.range(v),
            Value::Public(_) => self.naive(&Form::of(value)?),
        }
    }
}
