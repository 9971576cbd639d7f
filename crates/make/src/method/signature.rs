//! What a method is: its name, its parameters, the function that makes a schedule, and why there may be none.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use spec::{Op, Spec};
use thiserror::Error;

use crate::facts::Facts;
use crate::plans::Plan;
use crate::schedule::Schedule;

/// Numbers by the names of a method's parameters.
type Numbers = BTreeMap<&'static str, usize>;

/// Method parameters: numbers by name, `e = 10`, and the plan of a method that follows one.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Params {
    numbers: Numbers,
    /// How its products are made.
    pub plan: Option<Arc<Plan>>,
}

impl Params {
    /// No parameter.
    pub fn new() -> Self {
        Self::default()
    }

    /// Is nothing given, a plan neither?
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.plan.is_none()
    }

    /// The same with a plan.
    pub fn with(mut self, plan: &Arc<Plan>) -> Self {
        self.plan = Some(plan.clone());
        self
    }

    /// The names of all of them, with their values as text: a plan by its name.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let numbers = self.iter().map(|(name, value)| (*name, value.to_string()));
        let plan = self.plan.iter().map(|plan| (PLAN, plan.name.clone()));
        numbers.chain(plan)
    }
}

/// The parameter that is a plan.
pub const PLAN: &str = "plan";

impl Deref for Params {
    type Target = Numbers;

    fn deref(&self) -> &Numbers {
        &self.numbers
    }
}

impl DerefMut for Params {
    fn deref_mut(&mut self) -> &mut Numbers {
        &mut self.numbers
    }
}

impl<const N: usize> From<[(&'static str, usize); N]> for Params {
    fn from(numbers: [(&'static str, usize); N]) -> Self {
        numbers.into_iter().collect()
    }
}

impl FromIterator<(&'static str, usize)> for Params {
    fn from_iter<I: IntoIterator<Item = (&'static str, usize)>>(numbers: I) -> Self {
        Self {
            numbers: numbers.into_iter().collect(),
            plan: None,
        }
    }
}

/// A map: numbers, and the name of the plan.
impl Serialize for Params {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (name, value) in &self.numbers {
            map.serialize_entry(name, value)?;
        }
        if let Some(plan) = &self.plan {
            map.serialize_entry(PLAN, &plan.name)?;
        }
        map.end()
    }
}

/// A parameter a method takes.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub meaning: &'static str,
}

/// One method.
pub struct Method {
    /// The word on the command line, and the name of its file.
    pub name: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    /// What it computes.
    pub ops: &'static [Op],
    pub parameters: &'static [Parameter],
    /// Parameters to use when none are given, best first.
    pub defaults: fn(&Spec, &Facts) -> Vec<Params>,
    pub schedule: fn(&Spec, &Facts, &Params) -> Result<Schedule, MethodError>,
}

impl Method {
    /// Does it compute `op`?
    pub fn computes(&self, op: Op) -> bool {
        self.ops.contains(&op)
    }
}

/// Why a method has no schedule for these parameters.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum MethodError {
    #[error(
        "{method} {parameter}={value}: need {need} registers, {free} are free: \
         the largest {parameter} that fits is {largest}"
    )]
    Registers {
        method: &'static str,
        parameter: &'static str,
        value: usize,
        need: usize,
        free: usize,
        largest: usize,
    },
    #[error("{method} {parameter}={value}: {parameter} is at least {least}")]
    TooSmall {
        method: &'static str,
        parameter: &'static str,
        value: usize,
        least: usize,
    },
    #[error("{method} makes its products by one tree, and plan {plan} is about several products")]
    NoTree { method: &'static str, plan: String },
    #[error("{method} follows a plan for each of its products: {part} has none in {plan}")]
    NoPart {
        method: &'static str,
        part: &'static str,
        plan: String,
    },
    #[error("{method} {parameter}={value}: {parameter} is at most {largest}")]
    TooLarge {
        method: &'static str,
        parameter: &'static str,
        value: usize,
        largest: usize,
    },
    #[error("{method} takes operands of one size")]
    TwoSizes { method: &'static str },
    #[error(
        "{method} halves its operands on each level, and {words} words cannot be halved so often"
    )]
    Halves { method: &'static str, words: usize },
    #[error("{method} has plans of its own for {least} words and more, and these are {words}")]
    Levels {
        method: &'static str,
        words: usize,
        least: usize,
        most: usize,
        parameter: &'static str,
        value: usize,
    },
    #[error("there is no modulus")]
    NoModulus,
    #[error(
        "to fold, a modulus is 2^k - c with a c of few words, or the sum of few powers of words, and its highest word \
         is not 0"
    )]
    NotSpecial,
    #[error(
        "{0} is for moduli 2^n - c of four or more words, c a sum of different powers of words below 2^(n/2), like \
         p192"
    )]
    NoSumOfWords(&'static str),
    #[error(
        "to fold from both ends, m is 2^n - c with n bits and a lowest word of ones, c and 2^(-n/2) mod m sums and \
         differences of few powers of words, and the shift is n / 2, like p192 with --shift 96"
    )]
    NotHalf,
    #[error("{method} takes numbers that are shifted by half of their bits (--shift 96 for p192)")]
    NotShifted {
        method: &'static str,
        instead: &'static str,
    },
    #[error(
        "a multiplier's time tells the words of a modulus that is an operand, too, and {0} is for numbers (fips takes any)"
    )]
    NotFixed(&'static str),
    #[error("{0} is for a multiplier that one factor stops early, and here there is none")]
    InOneTime(&'static str),
    #[error(
        "a fold modulo a number with several zero bits on top is made for --reduce full and almost"
    )]
    LazyFold,
    #[error("{0} is not proved modulo a number with several zero bits on top")]
    TopBits(&'static str),
    #[error("{0} folds from the top only")]
    Shifted(&'static str),
    #[error("a folded modulus is for folded-karatsuba")]
    Folded,
    #[error("{0} folds")]
    Unfolded(&'static str),
    #[error("{0} is for machines without a multiplier, and this one multiplies")]
    Multiplies(&'static str),
    #[error("{0} is straight code: its words are in it one by one")]
    Straight(&'static str),
    #[error("{0} is loops only")]
    OnlyLoops(&'static str),
    #[error("{0} has loops modulo two words or more, with m' given or a number")]
    NoLoops(&'static str),
    #[error("modhalf shifts from the highest word down, and loops here go from the lowest word up")]
    NoLoopsOfHalves,
    #[error("{0} reduces by products with MUL, which this machine has not")]
    WantsMul(&'static str),
    #[error(
        "only full sums and negatives modulo an operand are loops (the words of a number are in the code one by \
         one, and other bounds take other words)"
    )]
    NoLoopsOfSums,
    #[error("{method} needs its parameter {parameter}, or more registers to choose it")]
    Missing {
        method: &'static str,
        parameter: &'static str,
    },
}
