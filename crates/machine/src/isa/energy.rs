//! Energy of a run: cycles by class of instruction, and the published current of each class.

use serde::{Deserialize, Serialize};

use crate::isa::span::Span;

/// What an instruction draws current for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draw {
    /// Arithmetic, logic, moves, shifts.
    Alu,
    Mul,
    Load,
    Store,
    /// Branches, calls, returns, and what has no other name here.
    Other,
}

/// How many there are.
pub const DRAWS: usize = 5;

/// Cycles of a run by what drew current in them, an instruction's waits counted with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent([Span; DRAWS]);

impl Spent {
    /// So many cycles of each, in the order of [`Draw`].
    pub fn of(cycles: impl IntoIterator<Item = Span>) -> Self {
        let mut spent = Self::default();
        for (to, span) in spent.0.iter_mut().zip(cycles) {
            *to = span;
        }
        spent
    }

    /// All cycles.
    pub fn total(&self) -> Span {
        let mut total = Span::default();
        for span in self.0 {
            total.min += span.min;
            total.max += span.max;
        }
        total
    }

    /// Those of both.
    pub fn and(&self, other: &Self) -> Self {
        let mut sum = *self;
        for (to, span) in sum.0.iter_mut().zip(other.0) {
            to.min += span.min;
            to.max += span.max;
        }
        sum
    }

    /// The smallest spans that hold both.
    pub(crate) fn join(&self, other: &Self) -> Self {
        let mut joined = *self;
        for (to, span) in joined.0.iter_mut().zip(other.0) {
            *to = to.join(span);
        }
        joined
    }
}

/// Mean currents of a core, in amperes, where it runs at so many volts and megahertz; as a user may give them in a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Currents {
    pub source: String,
    pub volts: f64,
    pub megahertz: f64,
    pub alu: f64,
    pub mul: f64,
    pub load: f64,
    pub store: f64,
    pub other: f64,
}

/// What a run takes, at least and at most.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Energy {
    pub nanojoules: [f64; 2],
    /// Mean over the run, of the shortest and of the longest.
    pub amperes: [f64; 2],
}

impl Currents {
    /// Are all numbers positive and finite?
    ///
    /// # Errors
    /// The name of one that is not.
    pub fn check(&self) -> Result<(), &'static str> {
        let named = [
            ("volts", self.volts),
            ("megahertz", self.megahertz),
            ("alu", self.alu),
            ("mul", self.mul),
            ("load", self.load),
            ("store", self.store),
            ("other", self.other),
        ];
        let wrong = |(_, number): &&(&str, f64)| !(number.is_finite() && *number > 0.0);
        match named.iter().find(wrong) {
            Some((name, _)) => Err(name),
            None => Ok(()),
        }
    }

    /// In the order of [`Draw`].
    fn each(&self) -> [f64; DRAWS] {
        [self.alu, self.mul, self.load, self.store, self.other]
    }

    /// Of these cycles: `E = U sum of I[class] cycles[class] / f`.
    pub fn energy(&self, spent: &Spent) -> Energy {
        let of = |cycles: fn(&Span) -> u64| {
            let charges = spent.0.iter().zip(self.each());
            // Amperes times cycles.
            let sum: f64 = charges.map(|(span, i)| cycles(span) as f64 * i).sum();
            let all: u64 = spent.0.iter().map(cycles).sum();
            // V A / MHz is a microjoule.
            let nanojoules = sum * self.volts / self.megahertz * 1000.0;
            (nanojoules, sum / (all.max(1) as f64))
        };
        let (least, most) = (of(|span| span.min), of(|span| span.max));
        Energy {
            nanojoules: [least.0, most.0],
            amperes: [least.1, most.1],
        }
    }
}
