//! What a method is: its name, its parameters, the function that makes a schedule, and why there may be none.

use std::collections::BTreeMap;

use spec::{Op, Spec};
use thiserror::Error;

use crate::facts::Facts;
use crate::schedule::Schedule;

/// Method parameters by name: `e = 10`.
pub type Params = BTreeMap<&'static str, usize>;

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
