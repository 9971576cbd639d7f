//! Polynomials of degree 2, and equations that hold by the definitions of their variables.
//!
//! Definitions name earlier variables, so that replacing them latest first leaves one normal form: an equation follows
//! from them just when nothing is left. Multiples of lemmas, which were shown before, may be taken away first.

use std::collections::BinaryHeap;
use std::hash::Hash;

use machine::domain::ids::Map;
use machine::domain::public::Public;
use machine::domain::trace::{Equation, Product, Sum};
use machine::domain::variable::{Def, Value, VarId};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, Zero};

use crate::checker::form::Form;
use crate::checker::lemma::Lemma;
pub use crate::checker::number::Number;
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// A polynomial, modulo `2^bits` if they are given.
#[derive(Default)]
pub struct Polynomial {
    bits: Option<u64>,
    constant: Number,
    terms: Map<VarId, Number>,
    /// Products, by the factor that is replaced first.
    rows: Map<VarId, Map<VarId, Number>>,
    /// The variables of both, latest first.
    due: BinaryHeap<VarId>,
    /// Products of two variables that are not replaced.
    open: Map<(VarId, VarId), Number>,
    /// Variables without definition.
    left: Map<VarId, Number>,
}

/// Adds `by v`. Is it the first of `v`?
fn accumulate<K: Eq + Hash>(sum: &mut Map<K, Number>, v: K, by: Number) -> bool {
    let mut first = false;
    let there = sum.entry(v).or_insert_with(|| {
        first = true;
        Number::default()
    });
    *there = there.plus(&by);
    first
}

impl Polynomial {
    pub fn new(bits: Option<u64>) -> Self {
        Self {
            bits,
            ..Self::default()
        }
    }

    /// Adds `by * v`.
    pub fn add(&mut self, v: VarId, by: Number) {
        if !by.vanishes(self.bits) && accumulate(&mut self.terms, v, by) {
            self.due.push(v);
        }
    }

    /// Adds `by v other`; `v` is replaced first.
    fn add_row(&mut self, v: VarId, other: VarId, by: Number) {
        let row = self.rows.entry(v).or_default();
        if row.is_empty() {
            self.due.push(v);
        }
        accumulate(row, other, by);
    }

    /// Adds `by * value`.
    pub fn add_value(&mut self, value: Value, by: Number) -> Check {
        match value {
            Value::Var(v) => self.add(v, by),
            Value::Public(Public::Known(k)) => {
                self.constant = self.constant.plus(&by.times(k, 0));
            }
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                return Err("an address is no number");
            }
        }
        Ok(())
    }

    /// Adds `by` times variables with their factors.
    pub fn add_terms(&mut self, terms: &[(VarId, BigInt)], by: &BigInt) {
        for (v, factor) in terms {
            self.add(*v, Number::new(factor * by, 0));
        }
    }

    /// Adds `by` times a sum.
    pub fn add_sum(&mut self, sum: &Sum, by: &BigInt) -> Check {
        self.add_terms(&sum.terms, by);
        self.add_value(Value::ONE, Number::new(&sum.constant * by, 0))
    }

    /// Adds `by 2^shift sum of 2^(w i) words[i]`.
    pub fn add_words(&mut self, w: u32, words: &[Value], by: &BigInt, shift: u64) -> Check {
        let by = Number::new(by.clone(), shift);
        let mut words = words.iter().zip(0u64..);
        words.try_for_each(|(word, i)| self.add_value(*word, by.times(1, u64::from(w) * i)))
    }
}

impl Checker<'_> {
    /// Adds `by x y`.
    pub(super) fn add_product(&self, p: &mut Polynomial, x: Value, y: Value, by: Number) -> Check {
        match (x, y) {
            (Value::Var(x), Value::Var(y)) => self.multiply(p, x, y, by),
            (Value::Public(Public::Known(k)), other) | (other, Value::Public(Public::Known(k))) => {
                p.add_value(other, by.times(k, 0))
            }
            (Value::Public(_), _) | (_, Value::Public(_)) => Err("an address is multiplied"),
        }
    }

    /// Adds `by 2^shift` times the product of two numbers.
    pub(super) fn add_numbers(
        &self,
        p: &mut Polynomial,
        w: u32,
        [x, y]: [&[Value]; 2],
        by: &BigInt,
        shift: u64,
    ) -> Check {
        let by = Number::new(by.clone(), shift);
        for (i, x) in x.iter().enumerate() {
            for (j, y) in y.iter().enumerate() {
                let by = by.times(1, u64::from(w) * (i + j) as u64);
                self.add_product(p, *x, *y, by)?;
            }
        }
        Ok(())
    }

    /// Adds `by x y`: what it is beside the definitions, or a product in which a sum is replaced, or left.
    pub(super) fn multiply(&self, p: &mut Polynomial, x: VarId, y: VarId, by: Number) -> Check {
        if by.vanishes(p.bits) {
            return Ok(());
        }
        let left = p.bits.map(|bits| bits.saturating_sub(by.shift));
        if let Some((v, factor)) = self.beside(x, y, left) {
            p.add(v, by.times(factor, 0));
            return Ok(());
        }
        let is_sum = |v: VarId| self.sum(v).is_some() && !self.atoms.contains(&v);
        let (later, earlier) = (x.max(y), x.min(y));
        let (first, other) = match (is_sum(later), is_sum(earlier)) {
            (true, _) => (later, earlier),
            (false, true) => (earlier, later),
            (false, false) => {
                let zero = |v: VarId| self.known(v) == Some((0, 0));
                if !zero(x) && !zero(y) {
                    accumulate(&mut p.open, (later, earlier), by);
                }
                return Ok(());
            }
        };
        p.add_row(first, other, by);
        Ok(())
    }

    /// Is the polynomial 0 for all inputs?
    pub(super) fn is_zero(&self, mut p: Polynomial) -> Check {
        while let Some(v) = p.due.pop() {
            if let Some(row) = p.rows.remove(&v) {
                self.replace_factor(&mut p, v, row)?;
            }
            if let Some(by) = p.terms.remove(&v) {
                self.replace(&mut p, v, by)?;
            }
        }
        if p.left.values().any(|by| !by.vanishes(p.bits)) {
            return Err("an equation does not hold by its definitions");
        }
        if p.open.values().any(|by| !by.vanishes(p.bits)) {
            return Err("a product is missing, or one too many");
        }
        match p.constant.vanishes(p.bits) {
            true => Ok(()),
            false => Err("an equation is off by a number"),
        }
    }

    /// Replaces `by v`.
    fn replace(&self, p: &mut Polynomial, v: VarId, by: Number) -> Check {
        if by.vanishes(p.bits) {
            return Ok(());
        }
        if self.known(v).is_none() {
            return Err("a variable is used before it has a meaning");
        }
        match self.def(v)? {
            Def::Linear { .. } => {
                let (terms, constant) = self.sum(v).ok_or("it is no sum")?;
                p.constant = p.constant.plus(&by.times(constant, 0));
                for (t, factor) in terms {
                    p.add(*t, by.times(*factor, 0));
                }
                Ok(())
            }
            Def::Low { a, b, hi, w } => {
                p.add(hi, by.times(-1, w.into()));
                self.add_product(p, a, b, by)
            }
            Def::Product { a, b } => self.multiply(p, a, b, by),
            Def::Free | Def::Carry if self.known(v) == Some((0, 0)) => Ok(()),
            Def::Free | Def::Carry => {
                accumulate(&mut p.left, v, by);
                Ok(())
            }
        }
    }

    /// Replaces the factor `v` of a row of products.
    fn replace_factor(&self, p: &mut Polynomial, v: VarId, mut row: Map<VarId, Number>) -> Check {
        let zero = |v: VarId| self.known(v) == Some((0, 0));
        row.retain(|x, by| !by.vanishes(p.bits) && !zero(*x));
        if row.is_empty() || zero(v) {
            return Ok(());
        }
        let (terms, constant) = self.sum(v).ok_or("it is no sum")?;
        if self.known(v).is_none() {
            return Err("a variable is used before it has a meaning");
        }
        // v v = v (sum of terms)
        if let Some(by) = row.remove(&v) {
            for (t, factor) in terms {
                let by = by.times(*factor, 0);
                accumulate(&mut row, *t, by);
            }
            p.add(v, by.times(constant, 0));
        }
        for (other, by) in row {
            p.add(other, by.times(constant, 0));
            for (t, factor) in terms {
                self.multiply(p, *t, other, by.times(*factor, 0))?;
            }
        }
        Ok(())
    }

    /// Adds `by` times the difference of both sides of an equation.
    pub(super) fn add_equation(&self, p: &mut Polynomial, e: &Equation, by: &BigInt) -> Check {
        let w = u64::from(e.w);
        p.add_words(e.w, &e.words, by, w * e.lead as u64)?;
        let by = -by;
        e.terms
            .iter()
            .try_for_each(|term| self.add_term(p, e.w, term, &by))
    }

    /// Adds `by` times a product of two numbers, or a number.
    pub(super) fn add_term(
        &self,
        p: &mut Polynomial,
        w: u32,
        term: &Product,
        by: &BigInt,
    ) -> Check {
        let one = [Value::ONE];
        let y = if term.y.is_empty() { &one[..] } else { &term.y };
        let shift = u64::from(w) * term.shift as u64;
        self.add_numbers(p, w, [&term.x, y], &(by * term.sign), shift)
    }

    /// Takes multiples of shown equations away.
    pub(super) fn take_lemmas(&self, p: &mut Polynomial, used: &[(usize, BigInt)]) -> Check {
        for (index, by) in used {
            let lemma = self.lemmas.get(*index).ok_or("there is no such claim")?;
            self.add_equation(p, &lemma.equation, &-by)?;
        }
        Ok(())
    }

    /// Both sides of an equation lie below the weight of the word behind its last: the most that the right one is.
    pub(super) fn below(&mut self, e: &Equation) -> Check<BigUint> {
        let bits = u64::from(e.w) * (e.lead + e.words.len()) as u64;
        let mut most = BigUint::zero();
        for term in &e.terms {
            if term.sign != 1 {
                return Err("the right side of a claim may be below 0");
            }
            let y = match term.y.is_empty() {
                true => BigUint::one(),
                false => self.largest(&term.y, e.w)?,
            };
            most += (self.largest(&term.x, e.w)? * y) << (e.w as usize * term.shift);
        }
        let words = u64::from(e.w) * e.words.len() as u64;
        if most.bits() > bits || self.largest(&e.words, e.w)?.bits() > words {
            return Err("a side of a claim may be too large");
        }
        Ok(most)
    }

    /// Shows an equation modulo the weight of the word behind its last; both sides lie below that.
    pub(super) fn claim(&mut self, e: &Equation, used: &[(usize, BigInt)]) -> Check {
        let most = self.below(e)?;
        let bits = u64::from(e.w) * (e.lead + e.words.len()) as u64;
        let mut p = Polynomial::new(Some(bits));
        self.add_equation(&mut p, e, &BigInt::one())?;
        self.take_halves(&mut p, e)?;
        self.take_lemmas(&mut p, used)?;
        self.is_zero(p)?;
        self.keep(e, most >> (e.w as usize * e.lead))
    }

    /// A shown equation, and what it says of each of its words.
    pub(super) fn keep(&mut self, e: &Equation, most: BigUint) -> Check {
        for (word, i) in e.words.iter().zip(0usize..) {
            self.lies(&Form::of(*word)?, (0, (1 << e.w) - 1))?;
            if let (Value::Var(v), Ok(most)) = (word, i128::try_from(&most >> (e.w as usize * i))) {
                self.narrow(*v, (0, most))?;
            }
        }
        let mut equation = e.clone();
        equation.terms = self.squared(&e.terms, e.w);
        self.lemmas.push(Lemma { equation, most });
        Ok(())
    }

    /// `|D|^2 = D^2`.
    fn squared(&self, terms: &[Product], w: u32) -> Vec<Product> {
        let mut out = Vec::new();
        for term in terms {
            let magnitude = self
                .magnitudes
                .iter()
                .find(|m| m.w == w && m.words == term.x && m.words == term.y);
            let Some(magnitude) = magnitude else {
                out.push(term.clone());
                continue;
            };
            for x in &magnitude.terms {
                out.extend(magnitude.terms.iter().map(|y| Product {
                    sign: term.sign * x.sign * y.sign,
                    shift: term.shift + x.shift + y.shift,
                    x: x.x.clone(),
                    y: y.x.clone(),
                }));
            }
        }
        out
    }

    /// The most that a number is.
    pub(super) fn largest(&mut self, words: &[Value], w: u32) -> Check<BigUint> {
        let mut each = BigUint::zero();
        for word in words.iter().rev() {
            let (0.., most) = self.range_of(*word)? else {
                return Err("a word may be below 0");
            };
            each = (each << w) + most.unsigned_abs();
        }
        let known = self
            .lemmas
            .iter()
            .find(|l| l.equation.words == words && l.equation.w == w);
        Ok(known.map_or(each.clone(), |lemma| each.min(lemma.most.clone())))
    }
}
