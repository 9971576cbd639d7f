//! Claims about a run, as they are offered and shown.

use std::cell::Cell;
use std::collections::BTreeSet;

use machine::domain::trace::Product;
use machine::domain::variable::{Value, VarId};
use machine::domain::{Address, trace};
use machine::program::{Claim, Term, Written};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

/// `2^(w lead) sum 2^(w i) words[i] = sum of terms`, over the integers; the sum of the words is `most` at most.
#[derive(Clone, Debug)]
pub(crate) struct Equation {
    pub w: u32,
    pub words: Vec<Value>,
    pub lead: usize,
    pub terms: Vec<Product>,
    pub most: BigUint,
}

/// `sum 2^(w i) words[i] = |sum of terms|`, the terms numbers.
#[derive(Clone, Debug)]
pub(crate) struct Magnitude {
    pub words: Vec<Value>,
    pub terms: Vec<Product>,
    /// The bit that says whether the sum is negative.
    pub negative: VarId,
}

/// A word that claims speak of: after which visit it is read, where, and by which claims it is used.
pub struct Watched {
    pub(crate) written: Written,
    pub(crate) place: Spot,
    pub(crate) claims: Vec<usize>,
}

/// What was offered, what of it is still to be shown, and what is shown.
#[derive(Default)]
pub(crate) struct Claims {
    /// Instructions are byte addresses here.
    pub(crate) offered: Vec<Claim>,
    /// How often an instruction was executed, and what is to be read after it.
    pub(crate) watched: FxHashMap<usize, (usize, Vec<Watched>)>,
    pub(crate) held: FxHashMap<Written, Value>,
    /// How many words each claim still waits for.
    pub(crate) waiting: Vec<usize>,
    pub(crate) shown: Vec<Equation>,
    pub magnitudes: Vec<Magnitude>,
    pub quotients: Quotients,
    /// The shown claims by their earliest variable, where they are applied.
    pub order: BTreeSet<(VarId, usize)>,
    /// The first claim that was not shown: its last instruction, and what stayed open.
    pub(crate) refused: Option<(usize, String)>,
    /// Products and variables that were looked at to show claims.
    pub(crate) work: Cell<u64>,
}

/// The most work for all claims: a hundred times what a product of 2048 bits in five levels takes.
pub const MOST_WORK: u64 = 1 << 27;

impl Claims {
    /// The first claim that was not shown: the address of its last instruction, and what stayed open.
    pub fn refused(&self) -> Option<(usize, &str)> {
        let refused = self.refused.as_ref();
        refused.map(|(pc, text)| (*pc, text.as_str()))
    }

    pub fn get(&self, index: usize) -> Option<&Equation> {
        self.shown.get(index)
    }

    /// The equations that were offered and whose words are known.
    pub(crate) fn offers(&self, w: u32) -> Vec<Equation> {
        let plain = self.offered.iter().filter(|c| c.magnitude.is_none());
        plain.filter_map(|claim| self.equation(claim, w)).collect()
    }

    /// The shown ones.
    pub fn shown(&self) -> &[Equation] {
        &self.shown
    }

    pub(crate) fn spend(&self, work: u64) {
        self.work.set(self.work.get().saturating_add(work));
    }

    fn values(&self, places: &[Written]) -> Option<Vec<Value>> {
        let value = |place| self.held.get(place).copied();
        places.iter().map(value).collect()
    }

    /// What the claim says an absolute value was made from.
    pub(crate) fn made(&self, claim: &Claim) -> Option<(Vec<Value>, Value)> {
        let made = claim.magnitude.as_ref()?;
        Some((self.values(&made.wrapped)?, *self.held.get(&made.mask)?))
    }

    /// `T^2 = D^2` where `T = |D|`: products of an absolute value with itself become products of
    /// the numbers whose sum it is of.
    pub(crate) fn square_magnitudes(&self, terms: &[Product]) -> Vec<Product> {
        let mut out = Vec::with_capacity(terms.len());
        for term in terms {
            let mut known = self.magnitudes.iter();
            let squared = known.find(|m| m.words == term.x && m.words == term.y);
            let Some(magnitude) = squared else {
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

    /// The equation of a claim, if every word is known by now.
    pub(crate) fn equation(&self, claim: &Claim, w: u32) -> Option<Equation> {
        let term = |t: &Term| {
            (matches!(t.sign, -1 | 1) && t.shift <= claim.words.len()).then_some(())?;
            Some(Product {
                sign: t.sign,
                shift: t.shift,
                x: self.values(&t.x)?,
                y: self.values(&t.y)?,
            })
        };
        (claim.lead <= claim.words.len()).then_some(())?;
        Some(Equation {
            w,
            words: self.values(&claim.words)?,
            lead: claim.lead,
            terms: claim.terms.iter().map(term).collect::<Option<_>>()?,
            most: BigUint::default(),
        })
    }
}

/// The terms with all signs positive.
pub fn positive(terms: &[Product]) -> Vec<Product> {
    let terms = terms.iter().cloned();
    terms.map(|t| Product { sign: 1, ..t }).collect()
}

impl Equation {
    /// As it is written down.
    pub fn traced(&self) -> trace::Equation {
        trace::Equation {
            w: self.w,
            words: self.words.clone(),
            lead: self.lead,
            terms: self.terms.clone(),
        }
    }

    /// Bits of the left side.
    pub fn bits(&self) -> u64 {
        u64::from(self.w) * (self.lead + self.words.len()) as u64
    }

    /// The variables among the words, with their weights as powers of 2.
    pub fn variables(&self) -> impl DoubleEndedIterator<Item = (u64, VarId)> {
        let words = self.words.iter().enumerate();
        words.filter_map(|(i, v)| match v {
            Value::Var(v) => Some((u64::from(self.w) * (self.lead + i) as u64, *v)),
            Value::Public(_) => None,
        })
    }

    /// The earliest variable among the words.
    pub(crate) fn rank(&self) -> Option<VarId> {
        self.variables().map(|(_, v)| v).min()
    }
}

/// A place, with its address if it lies in memory.
#[derive(Clone, Copy)]
pub enum Spot {
    Register(u8),
    Memory(Address),
}

/// What is known of quotients.
#[derive(Default)]
pub(crate) struct Quotients {
    /// `m` and `m'`.
    pub modulus: Option<(Vec<Value>, Vec<Value>)>,
    /// `q` and `u`.
    pub shown: Option<(Vec<Value>, Vec<Value>)>,
    /// Variables among `q`.
    pub words: FxHashSet<VarId>,
    /// `l = q_0 m_0`.
    pub halves: Vec<Equation>,
}
