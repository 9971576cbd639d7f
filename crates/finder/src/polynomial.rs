//! Polynomials of degree 2 over the variables, and their elimination.
//!
//! Variables are replaced by their definitions, latest first. A definition names earlier
//! variables only, so that each one has collected all its uses when its turn comes: carries
//! between the words of a sum, and borrows between the words of a factor, cancel at once.
//!
//! A polynomial may *settle* carries (`Polynomial::settle`): a word that is used nowhere any more, as
//! it is known to be 0 or only its carry is wanted, is expanded as often as its carry asks.
//!
//! The words of a shown claim ([`crate::claims`]) wait for the turn of the earliest of them.
//! If they then stand there as a multiple of `sum 2^(W i) words[i]`, the claim's right side
//! takes their place; if not, their definitions do.

use judge::prove::Open;
use machine::domain::public::Public;
use machine::domain::trace;
use machine::domain::trace::Multiples;
use machine::domain::variable::{Def, Value, VarId};
use num_bigint::BigInt;

use crate::algebra::Algebra;
use crate::claim::Equation;
use crate::due::{Due, Sparse, accumulate};
use crate::homes::Home;
use crate::remainder::Remainder;
pub(crate) use crate::scaled::Scaled;

/// Products that may be added up: a few times `n^2` for operands of `n` words are, if no sum
/// of products is a factor itself (an operand overwritten by the result).
const MOST_PRODUCTS: u64 = 1 << 25;

/// Products that stand there at a time: a product of 4096 bits in bytes has an eighth.
const MOST_TERMS: u64 = 1 << 21;

/// The other factors of the products of one variable.
type Factors = Sparse<VarId>;

/// The turn of a variable ([`machine::domain::variable::Var::rank`]), and the variable.
type Turn = (VarId, VarId);

/// A polynomial of degree at most 2 in the variables, modulo `2^bits`.
pub(crate) struct Polynomial<'a> {
    pub algebra: &'a Algebra,
    pub bits: u64,
    constant: Scaled,
    /// Variables still to be replaced, by their turn, and those without definition.
    linear: Due<Turn, Scaled>,
    open_linear: Sparse<VarId>,
    /// Products, by their latest factor that is a sum; and those without such a factor.
    rows: Due<VarId, Factors>,
    open_products: Sparse<(VarId, VarId)>,
    /// Products added so far, and variables replaced.
    pub products: u64,
    pub steps: u64,
    /// Carries to be settled by the words they left, latest first, and what was left of these words.
    homes: std::slice::Iter<'a, Home>,
    left: Sparse<VarId>,
    /// Multiples of it are left, too.
    modulus: Option<Modulus<'a>>,
    /// Claims that were used, and how often.
    used: Vec<(usize, Scaled)>,
}

/// A modulus, and the weights of the words of a quotient by it.
#[derive(Clone, Copy)]
pub(crate) struct Modulus<'a> {
    pub value: &'a BigInt,
    pub w: u32,
    pub words: usize,
}

impl<'a> Polynomial<'a> {
    /// The polynomial 0.
    pub fn new(algebra: &'a Algebra, bits: u64) -> Self {
        Self {
            algebra,
            bits,
            constant: Scaled::ZERO,
            linear: Due::default(),
            open_linear: Sparse::default(),
            rows: Due::default(),
            open_products: Sparse::default(),
            products: 0,
            steps: 0,
            homes: [].iter(),
            left: Sparse::default(),
            modulus: None,
            used: Vec::new(),
        }
    }

    /// Elimination settles carries by `homes` from now on. At the turn of a word, which has the
    /// coefficient `g`, its carry has collected all its uses and would vanish if the word were there `k`
    /// times. Then the word is expanded `k` times and `g - k` times left as it is, if it is used nowhere
    /// else (`g = 0`) or `g - k` is a multiple of `modulus`. What is left is in [`Self::remainder`].
    pub fn settle(&mut self, homes: &'a [Home], modulus: Option<Modulus<'a>>) {
        self.homes = homes.iter();
        self.modulus = modulus;
    }

    /// Is a word left as it is as often as this: a multiple of the modulus?
    pub fn leaves(&self, by: &Scaled) -> bool {
        !by.is_zero() && self.modulus.is_some_and(|m| by.is_multiple(m.value))
    }

    /// Of a word that left no carry, and is a sum: how often it is itself, if the rest are multiples of the modulus.
    fn itself(&self, v: VarId, by: &Scaled) -> Option<Scaled> {
        let Modulus { w, words, .. } = self.modulus?;
        let is_copy = matches!(self.algebra.sum(v), Some(([_], _)));
        if by.odd_bits() <= 1 || is_copy {
            return None;
        }
        let mut weights = (0..words as u64).map(|k| Scaled::power(u64::from(w) * k));
        weights.find(|weight| {
            let mut rest = by.clone();
            rest.add(&weight.times(-1));
            self.leaves(&rest)
        })
    }

    /// Keeps `by * v` as it is.
    fn leave(&mut self, v: VarId, by: &Scaled) {
        accumulate(&mut self.left, v, by, self.bits);
    }

    fn settle_carry(&mut self, home: &Home) {
        let of = |v| self.coefficient(v).cloned().unwrap_or(Scaled::ZERO);
        let (g, by) = (of(home.word), of(home.carry));
        let waits = self.algebra.vars[home.word as usize].rank != home.word;
        // A carry that is used as often as a multiple of the modulus is a mask, and stays.
        if waits || self.leaves(&by) {
            return;
        }
        let Some(k) = by.divided(-home.sign, u64::from(home.w)) else {
            return;
        };
        let mut rest = g.clone();
        rest.add(&k.times(-1));
        if rest.is_zero() || !(g.is_zero() || self.leaves(&rest)) {
            return;
        }
        self.linear.insert((home.word, home.word), k);
        self.leave(home.word, &rest);
    }

    /// After elimination: constant, terms, and products; the words among the terms that were left.
    pub fn remainder(&self) -> Remainder {
        let mut r = Remainder {
            constant: self.constant.value(),
            ..Remainder::default()
        };
        for (v, by) in self.open_linear.iter().chain(&self.left) {
            *r.terms.entry(*v).or_default() += by.value();
        }
        for ((x, y), by) in &self.open_products {
            r.products.insert((*x, *y), by.value());
        }
        r.left = self.left.keys().copied().collect();
        r
    }

    /// The least and the most that the bounds of its variables allow, if no two are multiplied.
    pub fn range(&self) -> Option<(BigInt, BigInt)> {
        if !self.rows.is_empty() || !self.open_products.is_empty() {
            return None;
        }
        let mut least = self.constant.value();
        let mut most = least.clone();
        for (v, by) in self.summands() {
            let share = by.value() * self.algebra.vars[v as usize].bound;
            match by.is_negative() {
                true => least += share,
                false => most += share,
            }
        }
        Some((least, most))
    }

    /// The sum that it is now, if no two variables are multiplied.
    pub fn form(&self) -> Option<trace::ShownSum> {
        if !self.rows.is_empty() || !self.open_products.is_empty() {
            return None;
        }
        let mut terms: Vec<_> = self.summands().collect();
        terms.sort_by_key(|(v, _)| *v);
        Some(trace::ShownSum {
            sum: trace::Sum {
                constant: self.constant.value(),
                terms: (terms.iter().map(|(v, by)| (*v, by.value()))).collect(),
            },
            used: self.used(),
        })
    }

    /// All terms of one variable.
    fn summands(&self) -> impl Iterator<Item = (VarId, &Scaled)> {
        let linear = self.linear.iter().map(|((_, v), by)| (v, by));
        let others = self.open_linear.iter().chain(&self.left);
        linear.chain(others.map(|(v, by)| (*v, by)))
    }

    /// The claims that elimination used, and how often.
    pub fn used(&self) -> Multiples {
        let used = self.used.iter();
        used.map(|(index, by)| (*index, by.value())).collect()
    }

    /// Products that stand here.
    pub fn terms(&self) -> u64 {
        let rows: usize = self.rows.iter().map(|(_, row)| row.len()).sum();
        (rows + self.open_products.len()) as u64
    }

    fn def(&self, v: VarId) -> Def {
        match self.algebra.unions.borrow().contains(&v) {
            true => Def::Free,
            false => self.algebra.vars[v as usize].def,
        }
    }

    fn is_sum(&self, v: VarId) -> bool {
        matches!(self.def(v), Def::Linear { .. })
            && !self.algebra.quotients.borrow().contains_key(&v)
            && !self.algebra.claims.quotients.words.contains(&v)
    }

    /// Was something added to `v` under a bit? So quotient words are made without a multiplier, by carries that
    /// nobody wants.
    pub fn is_conditional(&self, v: VarId) -> bool {
        let (terms, _) = self.algebra.sum(v).unwrap_or((&[], 0));
        let mut terms = terms.iter();
        terms.any(|(t, _)| matches!(self.def(*t), Def::Product { .. }))
    }

    /// Adds `by * value`.
    pub fn add_value(&mut self, value: Value, by: &Scaled) -> Result<(), Open> {
        match value {
            Value::Public(Public::Known(k)) => {
                self.constant.add(&by.times_wide(k.into()));
            }
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                return Err(Open {
                    text: "the result contains an address".into(),
                    pc: None,
                });
            }
            Value::Var(v) => self.add_variable(v, by),
        }
        Ok(())
    }

    fn add_variable(&mut self, v: VarId, by: &Scaled) {
        if by.vanishes(self.bits) {
            return;
        }
        match self.def(v) {
            Def::Free | Def::Carry => {
                accumulate(&mut self.open_linear, v, by, self.bits);
            }
            Def::Linear { .. } | Def::Low { .. } | Def::Product { .. } => {
                let key = (self.algebra.vars[v as usize].rank, v);
                self.linear.add(key, by, self.bits);
            }
        }
    }

    /// The coefficient of the term `v`, if it is not 0.
    pub fn coefficient(&self, v: VarId) -> Option<&Scaled> {
        let key = (self.algebra.vars[v as usize].rank, v);
        self.linear.get(key).or_else(|| self.open_linear.get(&v))
    }

    /// Adds `by * a * b`.
    pub fn add_product(&mut self, a: Value, b: Value, by: &Scaled) -> Result<(), Open> {
        match (a, b) {
            (Value::Var(x), Value::Var(y)) => {
                self.add_variables(x, y, by);
                Ok(())
            }
            (Value::Public(Public::Known(k)), other) | (other, Value::Public(Public::Known(k))) => {
                self.add_value(other, &by.times_wide(k.into()))
            }
            _ => Err(Open {
                text: "an address is multiplied".into(),
                pc: None,
            }),
        }
    }

    fn add_variables(&mut self, x: VarId, y: VarId, by: &Scaled) {
        if by.vanishes(self.bits) {
            return;
        }
        let left = self.bits.saturating_sub(by.shift);
        if let Some((v, factor)) = self.algebra.beside(x, y, left) {
            return self.add_variable(v, &by.times(factor));
        }
        self.products += 1;
        let (later, earlier) = (x.max(y), x.min(y));
        let (sum, other) = if self.is_sum(later) {
            (later, earlier)
        } else if self.is_sum(earlier) {
            (earlier, later)
        } else {
            accumulate(&mut self.open_products, (later, earlier), by, self.bits);
            return;
        };
        accumulate(self.rows.entry(sum), other, by, self.bits);
    }

    /// Is it 0 when all variables are replaced?
    ///
    /// # Errors
    /// The first monomial that remains.
    pub fn close(&mut self) -> Result<(), Open> {
        self.eliminate()?;
        self.forget_exclusive();
        self.forget_lost();
        match self.residue() {
            Some(open) => Err(open),
            None => Ok(()),
        }
    }

    /// Replaces all variables that have definitions, latest first.
    pub(crate) fn eliminate(&mut self) -> Result<(), Open> {
        self.eliminate_while(|_| true)
    }

    /// The same as long as `wanted` says so before the next is replaced.
    pub(crate) fn eliminate_while(
        &mut self,
        mut wanted: impl FnMut(&Self) -> bool,
    ) -> Result<(), Open> {
        let claims = &self.algebra.claims;
        let mut order = claims.order.iter().rev().peekable();
        let mut looked = self.products;
        while self.products <= MOST_PRODUCTS {
            if self.products - looked > MOST_TERMS >> 3 {
                looked = self.products;
                if self.terms() > MOST_TERMS {
                    break;
                }
            }
            if !wanted(self) {
                return Ok(());
            }
            let linear = self.linear.last();
            let row = self.rows.last();
            let next = linear.map(|(rank, _)| rank).max(row);
            let claim = order.peek().map(|(rank, _)| *rank);
            if let Some(home) = self.homes.as_slice().first()
                && Some(home.word) >= next.max(claim)
            {
                self.homes.next();
                self.settle_carry(home);
                continue;
            }
            if let Some((_, index)) = order.next_if(|(rank, _)| Some(*rank) >= next) {
                if let Some(equation) = claims.get(*index) {
                    self.apply(*index, equation)?;
                }
                continue;
            }
            self.steps += 1;
            match (linear, row) {
                (None, None) => return Ok(()),
                (_, Some(v)) if row == next => self.eliminate_row(v),
                (Some((_, v)), _) => self.eliminate_linear(v)?,
                (None, Some(v)) => self.eliminate_row(v),
            }
        }
        Err(Open {
            text: "too many products: words that are computed from products are multiplied".into(),
            pc: None,
        })
    }

    /// Replaces the words of a shown claim by its right side, if they stand as a multiple of its left.
    fn apply(&mut self, index: usize, equation: &Equation) -> Result<(), Open> {
        match equation.factor_in(self) {
            Some(factor) => {
                self.used.push((index, factor.clone()));
                equation.add_to(self, &factor.times(-1))?;
                // Without a modulus the rest (a word may stand on both sides of a claim) is replaced in its turn.
                let modular = self.modulus.is_some();
                for (_, v) in equation.variables().filter(|_| modular) {
                    let key = (self.algebra.vars[v as usize].rank, v);
                    if let Some(rest) = self.linear.remove(key) {
                        self.leave(v, &rest);
                    }
                }
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Replaces `v` where it is a term.
    fn eliminate_linear(&mut self, v: VarId) -> Result<(), Open> {
        let key = (self.algebra.vars[v as usize].rank, v);
        let Some(by) = self.linear.remove(key) else {
            return Ok(());
        };
        let algebra = self.algebra;
        if self.leaves(&by) && self.is_conditional(v) {
            self.leave(v, &by);
            return Ok(());
        }
        let by = match self.itself(v, &by) {
            Some(once) => {
                let mut rest = by;
                rest.add(&once.times(-1));
                self.leave(v, &rest);
                once
            }
            None => by,
        };
        if let Some((terms, constant)) = algebra.sum(v) {
            self.constant.add(&by.times(constant));
            for (t, factor) in terms {
                self.add_variable(*t, &by.times(*factor));
            }
        }
        match self.def(v) {
            Def::Low { a, b, hi, w } => {
                self.add_product(a, b, &by)?;
                // A product below 2^w has no high word.
                if self.algebra.vars[hi as usize].bound > 0 {
                    self.add_variable(hi, &by.carried(u64::from(w)));
                }
            }
            Def::Product { a, b } => self.add_variables(a, b, &by),
            Def::Free | Def::Carry | Def::Linear { .. } => {}
        }
        Ok(())
    }

    /// Replaces the sum `v` where it is a factor.
    fn eliminate_row(&mut self, v: VarId) {
        let algebra = self.algebra;
        let (Some(mut row), Some((terms, constant))) = (self.rows.remove(v), algebra.sum(v)) else {
            return;
        };
        // v v = v (sum of terms), unless v is a bit: the row grows by its own terms.
        if let Some(by) = row.remove(&v) {
            for (t, factor) in terms {
                accumulate(&mut row, *t, &by.times(*factor), self.bits);
            }
            self.add_variable(v, &by.times(constant));
        }
        for (other, by) in &row {
            self.add_variable(*other, &by.times(constant));
            for (t, factor) in terms {
                self.add_variables(*t, *other, &by.times(*factor));
            }
        }
    }

    /// Removes the carries that are 0 ([`crate::lost`]), if nothing else is left.
    fn forget_lost(&mut self) {
        if !self.open_products.is_empty() || !self.constant.vanishes(self.bits) {
            return;
        }
        let algebra = self.algebra;
        let is_lost =
            |v: VarId| algebra.vars[v as usize].def == Def::Carry && algebra.is_never_set(v);
        let mut left: Vec<_> = self.open_linear.keys().copied().collect();
        left.sort_unstable();
        for v in left.into_iter().take_while(|v| is_lost(*v)) {
            self.open_linear.remove(&v);
        }
    }

    /// Drops products of two carries that are never both 1, up to the first that are not so: it stays in any case.
    fn forget_exclusive(&mut self) {
        let algebra = self.algebra;
        let mut left: Vec<_> = self.open_products.keys().copied().collect();
        left.sort_unstable();
        for (x, y) in left {
            if !algebra.are_exclusive(x, y) {
                return;
            }
            self.open_products.remove(&(x, y));
        }
    }

    /// Drops the carry `c`, which is 0, where it is a term.
    pub fn forget(&mut self, c: VarId) {
        self.open_linear.remove(&c);
    }

    /// The latest carry before `below` that is left as a term, and its coefficient.
    pub fn latest_carry(&self, below: VarId) -> Option<(VarId, Scaled)> {
        let is_carry = |v: &VarId| *v < below && self.def(*v) == Def::Carry;
        let carries = self.open_linear.iter().filter(|(v, _)| is_carry(v));
        let (carry, by) = carries.max_by_key(|(v, _)| **v)?;
        Some((*carry, by.clone()))
    }

    /// The first monomial that is not replaced and does not vanish.
    pub(crate) fn residue(&self) -> Option<Open> {
        let name = |v: VarId| match self.algebra.name(v) {
            Some(name) => name.to_string(),
            None => self.algebra.made_at(v),
        };
        let first = self.open_linear.iter().min_by_key(|(v, _)| **v);
        let open_linear = first.map(|(v, by)| {
            let var = &self.algebra.vars[*v as usize];
            let text = match var.def {
                Def::Carry if var.bound <= 1 => {
                    format!("the carry of weight 2^{} may be lost", by.shift)
                }
                Def::Carry => format!("the high word of weight 2^{} may be lost", by.shift),
                _ => format!("the result depends on {} (weight 2^{})", name(*v), by.shift),
            };
            Open {
                text,
                pc: Some(var.pc as usize),
            }
        });
        let open_product = || {
            let products = self.open_products.iter();
            let ((x, y), by) = products.min_by_key(|(key, by)| (by.shift, **key))?;
            Some(Open {
                text: format!(
                    "the product {} * {} is missing or misplaced (off by {} * 2^{})",
                    name(*y),
                    name(*x),
                    by.odd(),
                    by.shift
                ),
                pc: None,
            })
        };
        let open_constant = || {
            (!self.constant.vanishes(self.bits)).then(|| Open {
                text: format!(
                    "the result is off by the constant {} * 2^{}",
                    self.constant.odd(),
                    self.constant.shift
                ),
                pc: None,
            })
        };
        open_product().or(open_linear).or_else(open_constant)
    }
}
