//! The options of a request that do not change what is computed.

use std::sync::Arc;

use machine::format::Assembler;
use machine::isa::energy::Currents;
use make::candidate::Budget;
use num_bigint::BigUint;
use spec::modulus::Modulus;
use spec::{Alias, Size};

use crate::kernel::Step;
use crate::report::OneTime;

/// A modulus, or text that is meant to be one: `p256`, `2^255-19`, `0x1f`, `runtime`.
#[derive(Clone, Debug)]
pub struct AnyModulus(pub(super) Result<Modulus, String>);

impl From<Modulus> for AnyModulus {
    fn from(modulus: Modulus) -> Self {
        Self(Ok(modulus))
    }
}

impl From<&str> for AnyModulus {
    fn from(text: &str) -> Self {
        Self(text.parse().map_err(|_: String| text.to_string()))
    }
}

impl From<BigUint> for AnyModulus {
    fn from(value: BigUint) -> Self {
        let text = format!("{value:#x}");
        Self(Ok(Modulus::Fixed { value, text }))
    }
}

/// Who is told of each step of a search; nobody, if nobody asked.
#[derive(Clone, Default)]
pub(super) struct Watcher(pub Option<Arc<Watching>>);

type Watching = dyn Fn(Step<'_>) + Send + Sync;

impl Watcher {
    pub fn tell(&self, step: Step<'_>) {
        if let Some(watch) = &self.0 {
            watch(step);
        }
    }
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watcher({})", self.0.is_some())
    }
}

/// Options that choose and name, and do not say what is computed.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub max_regs: Option<usize>,
    /// Overlaps that are proved, too.
    pub aliases: Vec<Alias>,
    pub budget: Budget,
    pub drop: Option<usize>,
    /// Are all methods tried, whatever is on record?
    pub search: bool,
    /// The file that says how it is made.
    pub tuned: Option<String>,
    /// Is a kernel wanted that is not proved?
    pub unproved: bool,
    /// The assembler of its file, if it is not the usual one.
    pub dialect: Option<Assembler>,
    /// What names begin with.
    pub prefix: String,
    /// The function's name, if it is not made of what it computes.
    pub name: Option<String>,
    /// Must a kernel take one time, where a multiplier stops early, too?
    pub constant_time: bool,
    /// The fastest kernel, beside one that was made or refused because that one leaks.
    pub one_time: Option<OneTime>,
    /// Bits that were asked for, where they are no whole words.
    pub shorter: Option<Size>,
    /// Who is told of each step of the search.
    pub watcher: Watcher,
    /// What the core draws, if it is not what is published.
    pub currents: Option<Currents>,
}
