//! A place of the search: method, parameters, plan and style; and its cost: cycles, bytes, stack, energy.

use crate::facts::Style;
use crate::method;
use crate::method::signature::{Method, Params};

/// A method with its parameters, in a style.
#[derive(Clone)]
pub struct Point {
    /// The method.
    pub method: &'static Method,
    /// Numbers and plan.
    pub params: Params,
    /// The style that is asked for; none if the method's own will do.
    pub style: Option<Style>,
}

impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        (self.method.name, &self.params, self.style)
            == (other.method.name, &other.params, other.style)
    }
}

impl std::fmt::Debug for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.name(), self.style)
    }
}

impl Point {
    /// `operand-caching e=10`.
    pub fn name(&self) -> String {
        method::text(self.method.name, &self.params)
    }
}

/// What a function takes, in a run of the longest time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cost {
    /// Cycles of a call.
    pub cycles: u64,
    /// Bytes of code.
    pub bytes: u64,
    /// Bytes of stack below the return address.
    pub stack: u64,
    /// The energy of a call in pJ, on a core whose currents are known.
    pub picojoules: Option<u64>,
}

/// What is to be small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Objective {
    Cycles,
    Bytes,
    Stack,
    Energy,
}

impl Objective {
    /// All of them.
    pub const ALL: [Objective; 4] = [Self::Cycles, Self::Bytes, Self::Stack, Self::Energy];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Bytes => "bytes",
            Self::Stack => "stack",
            Self::Energy => "energy",
        }
    }

    /// What is to be small of `cost`; the most there is, where energy is not known.
    pub fn of(self, cost: &Cost) -> u64 {
        match self {
            Self::Cycles => cost.cycles,
            Self::Bytes => cost.bytes,
            Self::Stack => cost.stack,
            Self::Energy => cost.picojoules.unwrap_or(u64::MAX),
        }
    }

    /// Of two costs the better one is less: first what is to be small, then cycles and bytes.
    pub fn key(self, cost: &Cost) -> (u64, u64, u64) {
        (self.of(cost), cost.cycles, cost.bytes)
    }
}

/// A place with what it takes.
#[derive(Clone, PartialEq, Debug)]
pub struct Counted {
    /// The place.
    pub point: Point,
    /// What its cheapest function takes.
    pub cost: Cost,
    /// Is that function proved?
    pub proved: bool,
}

/// Those of `all` that no other beats in cycles and bytes, or in cycles and stack, the fastest first; of those that take
/// the same the first.
pub fn front(all: &[Counted]) -> Vec<Counted> {
    let beats = |x: [u64; 2], y: [u64; 2]| x[0] <= y[0] && x[1] <= y[1] && x != y;
    let costs = |size: fn(&Cost) -> u64| {
        move |counted: &Counted| [counted.cost.cycles, size(&counted.cost)]
    };
    let [bytes, stack] = [costs(|c| c.bytes), costs(|c| c.stack)];
    let is_beaten = |this: &Counted, by: &dyn Fn(&Counted) -> [u64; 2]| {
        all.iter().any(|other| beats(by(other), by(this)))
    };
    let mut front: Vec<Counted> = Vec::new();
    for this in all {
        let same = |other: &Counted| bytes(other) == bytes(this) && stack(other) == stack(this);
        if !(is_beaten(this, &bytes) && is_beaten(this, &stack) || front.iter().any(same)) {
            front.push(this.clone());
        }
    }
    front.sort_by_key(|counted| counted.cost);
    front
}

/// At most `most` of them, spread from the first to the last.
pub fn thinned(mut list: Vec<Counted>, most: usize) -> Vec<Counted> {
    let (count, last) = (list.len(), most.saturating_sub(1).max(1));
    if count <= most {
        return list;
    }
    let kept: Vec<_> = (0..most).map(|i| i * (count - 1) / last).collect();
    let mut at = 0..;
    list.retain(|_| at.next().is_some_and(|i| kept.contains(&i)));
    list
}
