//! Claims: equations between words, offered with a program and shown before they are used.
//!
//! A claim says `sum 2^(W i) words[i] = sum of terms` about words the run has computed. It is
//! shown in two steps, as soon as its last word is written:
//!
//! - modulo `2^(W len)` by elimination ([`super::polynomial`]), with all claims shown before;
//! - over the integers because both sides lie in `0 .. 2^(W len)`: the left as `len` words, the
//!   right by the bounds of its words.
//!
//! A carry that leaves the top of the words needs no argument of its own: it vanishes in the
//! first step. What is shown bounds the words jointly ([`super::bounds`]) and replaces them as
//! a group in later eliminations. A claim that is not shown is not used.

use std::collections::{BTreeSet, HashMap};

use num_bigint::{BigInt, BigUint};

use super::algebra::{Algebra, Value, VarId};
use super::polynomial::{Polynomial, Scaled};
use crate::program::{Claim, Term, Written};

/// `sign * 2^(w shift) * x * y`, the numbers given by their words; an empty `y` is 1.
#[derive(Clone, Debug)]
pub(super) struct Product {
    sign: i8,
    shift: usize,
    x: Vec<Value>,
    y: Vec<Value>,
}

/// `sum 2^(w i) words[i] = sum of terms <= most`, over the integers.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    w: u32,
    pub words: Vec<Value>,
    terms: Vec<Product>,
    most: BigUint,
}

/// What was offered, what of it is still to be shown, and what is shown.
#[derive(Default)]
pub(super) struct Claims {
    /// Instructions are byte addresses here.
    offered: Vec<Claim>,
    /// The registers to be read after an instruction, and the claims that are complete then.
    watched: HashMap<usize, (Vec<u8>, Vec<usize>)>,
    held: HashMap<Written, Value>,
    shown: Vec<Equation>,
    /// The shown claims by their earliest variable, where they are applied.
    pub order: BTreeSet<(VarId, usize)>,
}

impl Claims {
    pub fn get(&self, index: usize) -> Option<&Equation> {
        self.shown.get(index)
    }

    fn values(&self, places: &[Written]) -> Option<Vec<Value>> {
        let value = |place| self.held.get(place).copied();
        places.iter().map(value).collect()
    }

    /// The equation of a claim, if every word is known by now.
    fn equation(&self, claim: &Claim, w: u32) -> Option<Equation> {
        let term = |t: &Term| {
            Some(Product {
                sign: t.sign,
                shift: t.shift,
                x: self.values(&t.x)?,
                y: self.values(&t.y)?,
            })
        };
        Some(Equation {
            w,
            words: self.values(&claim.words)?,
            terms: claim.terms.iter().map(term).collect::<Option<_>>()?,
            most: BigUint::default(),
        })
    }
}

impl Equation {
    /// Adds `by * (sum 2^(w i) words[i] - sum of terms)`; `None` if an address is among them.
    pub fn add_to(&self, p: &mut Polynomial<'_>, by: &Scaled) -> Option<()> {
        let at = |by: &Scaled, i: usize| Scaled {
            odd: by.odd.clone(),
            shift: by.shift + u64::from(self.w) * i as u64,
        };
        for (i, word) in self.words.iter().enumerate() {
            p.add_value(*word, &at(by, i)).ok()?;
        }
        for term in &self.terms {
            let by = at(&by.times(-i64::from(term.sign)), term.shift);
            for (i, x) in term.x.iter().enumerate() {
                if term.y.is_empty() {
                    p.add_value(*x, &at(&by, i)).ok()?;
                }
                for (j, y) in term.y.iter().enumerate() {
                    p.add_product(*x, *y, &at(&by, i + j)).ok()?;
                }
            }
        }
        Some(())
    }

    /// The factor `f` for which `p` contains `f sum 2^(w i) words[i]`, if it does.
    pub fn factor_in(&self, p: &Polynomial<'_>) -> Option<Scaled> {
        let mut variables = self.words.iter().enumerate().filter_map(|(i, v)| match v {
            Value::Var(v) => Some((u64::from(self.w) * i as u64, *v)),
            Value::Public(_) => None,
        });
        let (weight, first) = variables.next()?;
        let mut factor = p.coefficient(first)?.clone();
        factor.shift = factor.shift.checked_sub(weight)?;
        for (weight, v) in variables {
            let mut rest = factor.carried(weight);
            if let Some(by) = p.coefficient(v) {
                rest.add(by);
            }
            if !rest.vanishes(p.bits) {
                return None;
            }
        }
        Some(factor)
    }

    /// The earliest variable among the words.
    fn rank(&self) -> Option<VarId> {
        let variables = self.words.iter().filter_map(|v| match v {
            Value::Var(v) => Some(*v),
            Value::Public(_) => None,
        });
        variables.min()
    }
}

impl Algebra {
    /// Offers claims about the run to come; their instructions are byte addresses.
    pub fn offer(&mut self, claims: Vec<Claim>) {
        for (index, claim) in claims.iter().enumerate() {
            for place in claim.places() {
                let (registers, _) = self.claims.watched.entry(place.insn).or_default();
                if !registers.contains(&place.register) {
                    registers.push(place.register);
                }
            }
            if let Some(last) = claim.places().map(|p| p.insn).max() {
                let (_, complete) = self.claims.watched.entry(last).or_default();
                complete.push(index);
            }
        }
        self.claims.offered = claims;
    }

    /// Notes the words that claims speak of, and shows the claims that are complete.
    pub(super) fn look(&mut self, pc: usize, w: u32, register: impl Fn(u8) -> Value) {
        let Some((registers, complete)) = self.claims.watched.get(&pc) else {
            return;
        };
        for r in registers {
            let place = Written {
                insn: pc,
                register: *r,
            };
            self.claims.held.insert(place, register(*r));
        }
        for index in complete.clone() {
            if let Some(equation) = self.shown(index, w) {
                self.accept(equation);
            }
        }
    }

    /// The equation of an offered claim, if it holds.
    fn shown(&self, index: usize, w: u32) -> Option<Equation> {
        let claim = self.claims.offered.get(index)?;
        let mut equation = self.claims.equation(claim, w)?;
        equation.most = self.most(&equation)?;
        let bits = u64::from(w) * equation.words.len() as u64;
        if equation.most.bits() > bits {
            return None;
        }
        let mut p = Polynomial::new(self, bits);
        equation.add_to(&mut p, &Scaled::new(BigInt::from(1), 0))?;
        p.eliminate().ok()?;
        p.residue().is_none().then_some(equation)
    }

    /// The largest value of the right side, if its smallest is not below 0.
    fn most(&self, equation: &Equation) -> Option<BigUint> {
        let mut most = BigUint::default();
        for term in &equation.terms {
            let y = match term.y.as_slice() {
                [] => BigUint::from(1u8),
                words => self.largest(words, equation.w),
            };
            let largest = self.largest(&term.x, equation.w) * y;
            match term.sign {
                0 => {}
                1 => most += largest << (equation.w as usize * term.shift),
                _ => return None,
            }
        }
        Some(most)
    }

    /// The largest value of `sum 2^(w i) words[i]`.
    fn largest(&self, words: &[Value], w: u32) -> BigUint {
        let known = self.claims.shown.iter().find(|e| e.words == words);
        let each = words.iter().rev().fold(BigUint::default(), |sum, word| {
            (sum << w) + self.bound(*word, w)
        });
        match known {
            Some(equation) => each.min(equation.most.clone()),
            None => each,
        }
    }

    /// Uses a shown equation from now on.
    fn accept(&mut self, equation: Equation) {
        let Some(rank) = equation.rank() else {
            return;
        };
        for (i, word) in equation.words.iter().enumerate() {
            if let Value::Var(v) = word {
                let share = &equation.most >> (equation.w as usize * i);
                let var = &mut self.vars[*v as usize];
                var.rank = var.rank.min(rank);
                var.bound = u64::try_from(share).unwrap_or(u64::MAX).min(var.bound);
            }
        }
        self.bounds.group(&equation.words, equation.most.clone());
        self.claims.order.insert((rank, self.claims.shown.len()));
        self.claims.shown.push(equation);
    }
}
