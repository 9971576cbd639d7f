//! The methods: pure functions from a spec, a machine's facts and parameters to a [`Schedule`].

mod bottom;

pub mod carry_chain;
mod catching;
pub mod cihs;
pub mod cios;
pub mod consecutive_operand_caching;
pub mod fios;
pub mod fips;
mod fold_counts;
pub mod folded_karatsuba;
pub mod hfips;
pub mod hybrid;
pub mod karatsuba;
pub mod karatsuba_calls;
pub mod karatsuba_comba;
pub mod karatsuba_joined;
pub mod karatsuba_modulo;
mod karatsuba_plans;
pub mod karatsuba_schoolbook;
pub mod karatsuba_squaring;
pub mod kcm;
pub mod lazy_doubling;
mod levels_at_once;
mod middle_first;
mod middle_signs;
mod number_products;
pub mod operand_caching;
pub mod operand_scanning;
pub mod product_scanning;
pub mod range_shifted;
mod reduction;
pub mod reverse_hybrid;
pub mod separated;
pub mod shift_and_add;
pub mod short_product;
pub mod sliding_block_doubling;
pub mod sos;
pub mod special_primes;
pub mod square_carry_catcher;
pub mod square_operand_scanning;
pub mod square_product_scanning;
pub mod square_reverse_hybrid;
mod streamed;
pub mod without_loops;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use thiserror::Error;

use crate::facts::{Facts, Style};
use crate::schedule::{Blocks, Loops, Scans, Schedule, Word, Words};
use spec::{Op, Spec};

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

/// Methods with a file of their own.
static OWN: &[&Method] = &[
    &operand_caching::METHOD,
    &consecutive_operand_caching::METHOD,
    &hybrid::METHOD,
    &product_scanning::METHOD,
    &operand_scanning::METHOD,
    &karatsuba::METHOD,
    &karatsuba_comba::METHOD,
    &karatsuba_joined::METHOD,
    &karatsuba_schoolbook::METHOD,
    &karatsuba_squaring::METHOD,
    &square_product_scanning::METHOD,
    &square_operand_scanning::METHOD,
    &square_carry_catcher::METHOD,
    &lazy_doubling::METHOD,
    &sliding_block_doubling::METHOD,
    &shift_and_add::METHOD,
    &short_product::METHOD,
    &reverse_hybrid::METHOD,
    &square_reverse_hybrid::METHOD,
    &karatsuba_calls::METHOD,
    &fips::METHOD,
    &fios::METHOD,
    &cios::METHOD,
    &cihs::METHOD,
    &sos::METHOD,
    &kcm::METHOD,
    &carry_chain::METHOD,
    &hfips::METHOD,
    &hfips::SEPARATED,
    &folded_karatsuba::METHOD,
    &karatsuba_modulo::METHOD,
    &range_shifted::METHOD,
    &range_shifted::SQUARE,
];

/// All methods: those with a file, every product with each of two reductions behind it, and with folds.
pub static METHODS: LazyLock<Vec<&'static Method>> = LazyLock::new(|| {
    let separated = separated::METHODS.iter().flatten().chain(separated::LOOPS);
    let folded = special_primes::METHODS.iter();
    OWN.iter().copied().chain(separated).chain(folded).collect()
});

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

/// The method called `name`.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|m| m.name == name)
}

/// The same; a reduction alone (`sps`, `fold`) stands behind the product scanning that computes `op`.
pub fn find_for(name: &str, op: Op) -> Option<&'static Method> {
    let scans = [&product_scanning::METHOD, &square_product_scanning::METHOD];
    let mut behind = scans
        .into_iter()
        .filter_map(|scan| find(&format!("{}+{name}", scan.name)));
    find(name).or_else(|| behind.find(|m| m.computes(op)))
}

/// A method that makes `op` in two nested loops on every machine.
pub fn in_nested_loops(op: Op) -> Option<&'static str> {
    match op {
        Op::Mul => Some(product_scanning::METHOD.name),
        Op::Sqr => Some(square_product_scanning::METHOD.name),
        Op::Montmul | Op::Montsqr | Op::Redc | Op::Tomont | Op::Frommont => Some(fips::METHOD.name),
        Op::Modmul => Some("product-scanning+fold"),
        Op::Modsqr => Some("square-product-scanning+fold"),
        _ => None,
    }
}

/// `operand-caching e=10`.
pub fn text(name: &str, params: &Params) -> String {
    let given = params
        .iter()
        .map(|(name, value)| format!(" {name}={value}"));
    name.to_string() + &given.collect::<String>()
}

/// `blocks` of columns in loops, `unroll` columns per pass.
fn in_loops(style: Style, blocks: Blocks, unroll: Option<usize>) -> Schedule {
    match Loops::of(style, blocks.clone(), false, unroll) {
        Some(loops) => Schedule::Loops(loops),
        None => Schedule::Blocks(blocks),
    }
}

/// `words` as two nested loops where the style asks for them and they have that form.
fn as_scans(
    method: &'static str,
    words: Words,
    facts: &Facts,
    params: &Params,
) -> Result<Schedule, MethodError> {
    let unroll = match params.contains_key("unroll") {
        true => Some(positive(method, "unroll", params)?),
        false => None,
    };
    // What can only be loops is.
    let style = match facts.style {
        Style::Unrolled => Style::Rolled,
        style => style,
    };
    if facts.in_scans()
        && let Some(scans) = Scans::of(style, words.clone(), unroll)
    {
        return Ok(Schedule::Scans(scans));
    }
    Ok(Schedule::Words(words))
}

/// `words` as two nested loops over blocks of `d` by `d` words.
fn as_block_scans(method: &'static str, words: Words, d: usize) -> Result<Schedule, MethodError> {
    let scans = Scans::of(Style::Rolled, words, None);
    let mut scans = scans.ok_or(MethodError::NoLoops(method))?;
    scans.side = Some(d);
    Ok(Schedule::Scans(scans))
}

/// Words of each operand, where both must have as many.
fn one_size(method: &'static str, spec: &Spec, facts: &Facts) -> Result<usize, MethodError> {
    match spec.words(facts.word_bits) {
        [n, m] if n == m => Ok(n),
        _ => Err(MethodError::TwoSizes { method }),
    }
}

/// A squaring without steps, and the words of its operand.
fn squaring(spec: &Spec, facts: &Facts) -> (Words, Vec<Word>) {
    let [s, _] = spec.words(facts.word_bits);
    let words = Words::new(spec.op, facts.word_bits, &[s]);
    let a = words.operand(0);
    (words, a)
}

/// `A[i] A[j]`, `i + j = k`, `i < j`, where `kept`: what comes twice in column `k` of a square.
fn pairs(a: &[Word], k: usize, kept: impl Fn(usize, usize) -> bool) -> Vec<(Word, Word)> {
    let first = (k + 1).saturating_sub(a.len());
    let rows = (first..k.div_ceil(2)).filter(|i| kept(*i, k - i));
    rows.map(|i| (a[i], a[k - i])).collect()
}

/// `A[k/2]` with itself: what comes once in column `k` of a square, if `k` is even.
fn diagonal(a: &[Word], k: usize) -> Vec<(Word, Word)> {
    let word = a.get(k / 2).filter(|_| k.is_multiple_of(2));
    word.map(|x| (*x, *x)).into_iter().collect()
}

/// A parameter that must be given and is at least 1.
fn positive(
    method: &'static str,
    parameter: &'static str,
    params: &Params,
) -> Result<usize, MethodError> {
    match params.get(parameter) {
        None => Err(MethodError::Missing { method, parameter }),
        Some(0) => Err(MethodError::TooSmall {
            method,
            parameter,
            value: 0,
            least: 1,
        }),
        Some(value) => Ok(*value),
    }
}

/// `e` words of each operand kept in registers: at least 1, and as many as fit.
fn cached_words(
    method: &'static str,
    facts: &Facts,
    params: &Params,
) -> Result<usize, MethodError> {
    let parameter = "e";
    let e = positive(method, parameter, params)?;
    let largest = facts.operand_registers() / 2;
    if e > largest {
        return Err(MethodError::Registers {
            method,
            parameter,
            value: e,
            need: e
                .saturating_mul(2)
                .saturating_add(facts.accumulator_registers + facts.constant_registers),
            free: facts.free_registers,
            largest,
        });
    }
    Ok(e)
}
