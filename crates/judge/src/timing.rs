//! What an observer of time and addresses may learn: runs in the secret domain, one core at a time.
//!
//! If nothing depends on a secret, one run stands for all runs, and its cycles are those of every call. A
//! branch on a secret is reported. Then both ways are followed, a run for each sequence of decisions. Sequences that
//! differ from the straight one in a single decision come first, so that the cycles of all of them can be compared.

use std::collections::{BTreeSet, VecDeque};

use machine::domain::secret::Secret;
use machine::fault::{Fault, Source};
use machine::function::Function;
use machine::isa::core::Core;
use machine::isa::{Called, Cost, Span, Stopped};
use machine::told;
use serde::Serialize;
use spec::Spec;

use crate::prove;
use crate::prove::entry::STEP_LIMIT;

/// The most ways that are gone on one core.
const MOST_WAYS: usize = 1 << 12;
/// Instructions that they may take together, counting those that are decoded.
const WAYS_LIMIT: u64 = 5_000_000;
/// Steps of a secret's path that are kept at either end.
const TOLD: usize = 32;

/// An instruction and its address in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InsnAt {
    pub address: usize,
    pub instruction: String,
}

impl InsnAt {
    fn of(core: &Core, function: &Function, address: usize) -> Self {
        let insn = told::instruction(core, function, address);
        Self {
            address: function.shown(address),
            instruction: insn.map_or(String::new(), |(insn, _)| insn.text()),
        }
    }
}

/// What going both ways at every branch on a secret shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Ways {
    /// Branch instructions that a secret decides.
    pub branches: usize,
    /// Those of them that went both ways.
    pub both: usize,
    /// How many ways through the code were gone.
    pub gone: usize,
    /// Are these all?
    pub complete: bool,
    /// Cycles of a call, fewest and most.
    pub cycles: Span,
    /// Do all that were gone take the same time?
    pub balanced: bool,
}

impl Ways {
    /// `cycle-balanced: all 16 ways through 4 branches on secrets take 132 cycles`.
    pub fn text(&self) -> String {
        let Span { min, max } = self.cycles;
        let cycles = match min == max {
            true => max.to_string(),
            false => format!("{min} to {max}"),
        };
        let verdict = match (self.balanced, self.complete) {
            (true, true) => "cycle-balanced",
            (true, false) => "cycle-balanced as far as measured",
            (false, _) => "not cycle-balanced",
        };
        let ways = match self.complete {
            true => format!("all {} ways", self.gone),
            false => format!("{} ways of more", self.gone),
        };
        let branches = match self.branches {
            1 => "a branch".to_string(),
            n => format!("{n} branches"),
        };
        let both = match self.both == self.branches {
            true => String::new(),
            false => format!(" ({} of them both ways)", self.both),
        };
        format!("{verdict}: {ways} through {branches} on secrets{both} take {cycles} cycles")
    }
}

/// The first instruction that tells something about the operands, or that a run cannot follow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Leak {
    #[serde(flatten)]
    pub place: InsnAt,
    /// What it tells, in words.
    pub text: String,
    /// The secret, and the instructions that it passed from its load on; none if nothing is
    /// known to leak.
    pub secret: Option<String>,
    pub path: Vec<InsnAt>,
    /// Of a branch.
    pub ways: Option<Ways>,
}

impl Leak {
    fn new(
        core: &Core,
        function: &Function,
        address: usize,
        text: String,
        source: Option<&Source>,
    ) -> Self {
        let source = source.filter(|source| !source.is_place);
        let path = source.map_or(&[][..], |source| &source.path);
        let skipped = TOLD..path.len().saturating_sub(TOLD).max(TOLD);
        let told = path
            .iter()
            .enumerate()
            .filter(|(i, _)| !skipped.contains(i));
        Self {
            place: InsnAt::of(core, function, address),
            text,
            secret: source.map(|source| source.name.clone()),
            path: told
                .map(|(_, pc)| InsnAt::of(core, function, *pc))
                .collect(),
            ways: None,
        }
    }

    /// Is it known to leak, rather than not followed?
    pub fn is_known(&self) -> bool {
        self.secret.is_some()
    }

    /// `leaks` or `unknown`.
    pub fn word(&self) -> &'static str {
        match self.is_known() {
            true => "leaks",
            false => "unknown",
        }
    }

    /// `leaks: ...` or `unknown: ...`, with what the ways show.
    pub fn verdict(&self) -> String {
        let word = self.word();
        match &self.ways {
            Some(ways) => format!("{word}: {}; {}", self.text, ways.text()),
            None => format!("{word}: {}", self.text),
        }
    }
}

/// What an observer of time and addresses learns on one core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Fewest and most cycles over all inputs, if the runs could be followed to the end.
    pub cost: Option<Cost>,
    pub leak: Option<Leak>,
    /// Addresses of the instructions executed, ascending, as far as the runs could be followed.
    pub visited: Vec<usize>,
}

/// Calls `function` with secret operands.
fn call(
    mut d: Secret,
    spec: &Spec,
    core: &Core,
    function: &Function,
    word_bits: u32,
) -> Result<Called<Secret>, Stopped> {
    let bases = prove::bases(spec, function.together, function);
    prove::declare(&mut d, spec, function, word_bits, &bases)
        .map_err(|fault| (function.first as usize, fault))?;
    core.call(d, function, &bases, STEP_LIMIT.min(function.limit))
}

/// Runs `code` with secret operands on `core`.
pub fn timing(spec: &Spec, core: &Core, code: &[u8]) -> Timing {
    function_timing(spec, core, &Function::kernel(code).returning(spec))
}

/// The same for any function.
pub fn function_timing(spec: &Spec, core: &Core, function: &Function) -> Timing {
    let word_bits = function.word_bits(core.word_bits());
    let (pc, fault) = match call(Secret::default(), spec, core, function, word_bits) {
        Ok(called) => {
            let leak = called.slow_operand.as_ref().map(|slow| {
                let text = format!(
                    "at {}: {}{}",
                    told::at(core, function, slow.pc),
                    slow.text,
                    told::way(core, function, &slow.source, slow.pc)
                );
                Leak::new(core, function, slow.pc, text, Some(&slow.source))
            });
            return Timing {
                cost: Some(called.cost),
                visited: called.domain.visited(),
                leak,
            };
        }
        Err(stopped) => stopped,
    };
    let source = fault.source().cloned();
    let forks = matches!(fault, Fault::SecretBranch(_)) && fault.is_leak();
    let text = told::describe(core, function, &(pc, fault));
    let mut leak = Leak::new(core, function, pc, text, source.as_ref());
    let mut timing = Timing {
        cost: None,
        leak: None,
        visited: Vec::new(),
    };
    if forks {
        let gone = go(spec, core, function);
        leak.ways = gone.ways();
        timing.cost = gone.cost.filter(|_| gone.complete);
        timing.visited = gone.visited.into_iter().collect();
    }
    timing.leak = Some(leak);
    timing
}

/// Ways that were gone.
struct Gone {
    count: usize,
    complete: bool,
    balanced: bool,
    /// Of the way that takes longest, with the spans of all.
    cost: Option<Cost>,
    visited: BTreeSet<usize>,
    outcomes: BTreeSet<(usize, bool)>,
}

impl Gone {
    fn add(&mut self, called: &Called<Secret>, taken: &[(usize, bool)]) {
        self.count += 1;
        self.visited.extend(called.domain.visited());
        self.outcomes.extend(taken);
        let old = self.cost.unwrap_or(called.cost);
        self.balanced &= old.call == called.cost.call;
        self.cost = Some(old.join(&called.cost));
    }

    fn ways(&self) -> Option<Ways> {
        let branches: BTreeSet<_> = self.outcomes.iter().map(|(pc, _)| *pc).collect();
        Some(Ways {
            branches: branches.len(),
            both: self.outcomes.len() - branches.len(),
            gone: self.count,
            complete: self.complete,
            cycles: self.cost?.call,
            balanced: self.balanced,
        })
    }
}

/// Goes every way through `function`, as far as the limits allow.
///
/// A way is the script of its first decisions, followed by "no branch". Each way is gone once: it
/// hands on the scripts that differ from it in one decision after its own.
fn go(spec: &Spec, core: &Core, function: &Function) -> Gone {
    let word_bits = function.word_bits(core.word_bits());
    let mut gone = Gone {
        count: 0,
        complete: true,
        balanced: true,
        cost: None,
        visited: BTreeSet::new(),
        outcomes: BTreeSet::new(),
    };
    let mut scripts = VecDeque::from([Vec::new()]);
    let mut spent = 0;
    while let Some(script) = scripts.pop_front() {
        let own = script.len();
        let d = Secret::forking(script);
        let Ok(called) = call(d, spec, core, function, word_bits) else {
            gone.complete = false;
            continue;
        };
        spent += called.cost.executed + function.code.len() as u64;
        let taken = called.domain.taken();
        gone.add(&called, taken);
        let room = MOST_WAYS.saturating_sub(gone.count + scripts.len());
        gone.complete &= taken.len() - own <= room && taken.len() <= MOST_WAYS;
        for i in (own..taken.len().min(MOST_WAYS)).take(room) {
            let before = taken[..i].iter().map(|(_, outcome)| *outcome);
            scripts.push_back(before.chain([!taken[i].1]).collect());
        }
        if spent > WAYS_LIMIT && !scripts.is_empty() {
            gone.complete = false;
            break;
        }
    }
    gone
}

/// Numbers that the code of `function` holds or makes of others, in the order of a run: on the straight way,
/// and where the first branches on secrets go the other way.
pub fn numbers(spec: &Spec, core: &Core, function: &Function) -> Vec<u64> {
    /// Ways beside the straight one.
    const WAYS: usize = 16;
    let word_bits = function.word_bits(core.word_bits());
    let function = Function {
        limit: STEP_LIMIT.min(function.limit).min(WAYS_LIMIT / WAYS as u64),
        ..function.clone()
    };
    let (mut list, mut scripts) = (Vec::new(), VecDeque::from([Vec::new()]));
    while let Some(script) = scripts.pop_front() {
        let straight = script.is_empty();
        let d = Secret::listening(script);
        let Ok(called) = call(d, spec, core, &function, word_bits) else {
            continue;
        };
        list.extend(called.domain.numbers());
        let outcomes = called.domain.taken().iter().map(|(_, outcome)| *outcome);
        let outcomes: Vec<_> = outcomes.take(WAYS).collect();
        for i in (0..outcomes.len()).filter(|_| straight) {
            let before = outcomes[..i].iter().copied();
            scripts.push_back(before.chain([!outcomes[i]]).collect());
        }
    }
    list
}

/// The width of the narrowest loads from the operands, in bits, if a run can be followed.
pub fn narrowest_access(spec: &Spec, core: &Core, function: &Function) -> Option<u32> {
    let d = Secret::forking(Vec::new());
    let called = call(d, spec, core, function, core.word_bits()).ok()?;
    let bases = prove::bases(spec, function.together, function);
    let widths = bases[1..=spec.sources().len()]
        .iter()
        .filter_map(|b| called.domain.memory.narrowest_load(*b));
    widths.min()
}

/// The cost on `core` if neither time nor addresses tell anything about the operands.
///
/// # Errors
/// The first instruction that leaks, or that the run cannot follow.
pub fn leak(spec: &Spec, core: &Core, code: &[u8]) -> Result<Cost, String> {
    match timing(spec, core, code) {
        Timing {
            cost: Some(cost),
            leak: None,
            ..
        } => Ok(cost),
        Timing { leak, .. } => Err(leak.map(|leak| leak.verdict()).unwrap_or_default()),
    }
}
