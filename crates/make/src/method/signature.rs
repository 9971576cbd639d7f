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
         the largest {parameter} that fits is {largest} (try -p {parameter}={largest})"
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
    #[error("{method} takes operands of one size: try --method product-scanning")]
    TwoSizes { method: &'static str },
    #[error(
        "{method} halves its operands on each of its levels, and {words} words cannot be: another size, or leave out --method"
    )]
    Halves { method: &'static str, words: usize },
    #[error(
        "{method} has plans of its own for {least} words and more, and these are {words}: try -p levels=1 -p \
         {parameter}={value} (levels up to {most}), or leave out --method"
    )]
    Levels {
        method: &'static str,
        words: usize,
        least: usize,
        most: usize,
        parameter: &'static str,
        value: usize,
    },
    #[error("there is no modulus: try --modulus p256")]
    NoModulus,
    #[error(
        "to fold, a modulus is 2^n - c or 2^(n-1) - c with a c of few words, or the sum of few powers of \
         words: try montmul"
    )]
    NotSpecial,
    #[error(
        "{0} is for moduli 2^n - c of four or more words, c a sum of different powers of words below 2^(n/2), like \
         p192: try --method karatsuba+fold"
    )]
    NoSumOfWords(&'static str),
    #[error(
        "to fold from both ends, m is 2^n - c with n bits and a lowest word of ones, c and 2^(-n/2) mod m sums and \
         differences of few powers of words, and the shift is n / 2, like p192 with --shift 96: try --shift 0, or montmul"
    )]
    NotHalf,
    #[error(
        "{method} is for numbers that are shifted by half of their bits (--shift 96 for p192): \
         try --method {instead}, in loops with --style rolled"
    )]
    NotShifted {
        method: &'static str,
        instead: &'static str,
    },
    #[error(
        "a multiplier's time tells the words of a modulus that is an operand, too, and {0} is for numbers (fips takes any)"
    )]
    NotFixed(&'static str),
    #[error(
        "{0} is for a multiplier that one factor stops early, and here there is none: leave out --method"
    )]
    InOneTime(&'static str),
    #[error("{0} folds from the top only: leave out --shift, or try --method range-shifted")]
    Shifted(&'static str),
    #[error("a folded modulus is for folded-karatsuba: leave out --method")]
    Folded,
    #[error("{0} folds: try --modulus runtime-folded --reduce almost, or leave out --method")]
    Unfolded(&'static str),
    #[error(
        "{0} is for machines without a multiplier, and this one multiplies: leave out --method, or --max-regs"
    )]
    Multiplies(&'static str),
    #[error("{0} is loops only: try --style looped or --style rolled")]
    OnlyLoops(&'static str),
    #[error(
        "{0} has loops modulo two words or more, with m' given or a number: try --modulus runtime, or --style unrolled"
    )]
    NoLoops(&'static str),
    #[error(
        "a half is shifted from the top, and loops go up from the bottom: try --style unrolled"
    )]
    NoLoopsOfHalves,
    #[error(
        "{0} reduces by products with MUL, which this machine has not: try --style rolled --method hfips"
    )]
    WantsMul(&'static str),
    #[error(
        "only full sums and negatives modulo an operand are loops (the words of a number are in the code one by \
         one, and other bounds take other words): try --modulus runtime --reduce full, or --style unrolled"
    )]
    NoLoopsOfSums,
    #[error("{method} needs -p {parameter}=...: more registers, or try -p {parameter}=1")]
    Missing {
        method: &'static str,
        parameter: &'static str,
    },
}
