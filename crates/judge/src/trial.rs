//! Runs on numbers in search of operands on which a function is wrong.

use machine::call::Operands;
use machine::fault::Fault;
use machine::function::Function;
use machine::isa::core::Core;
use machine::isa::{Cost, RUN_LIMIT};
use machine::told;
use num_bigint::BigUint;
use spec::{Alias, Spec, vectors};

use crate::counterexample::{Counterexample, Run};

/// Instructions that a search for a counterexample may run, and decode.
const SEARCH_LIMIT: u64 = 2_000_000_000;

/// Instructions of a run in search of an access outside the operands.
const FENCED_LIMIT: u64 = 1 << 22;

/// Runs that may come to no end before the search is given up.
const STUCK: usize = 3;

/// Runs that may come to what is not followed, before the search is given up.
const UNFOLLOWED: usize = 64;

/// Operands on which `function` gives the wrong result, among corners and `count` others.
pub fn counterexample(
    spec: &Spec,
    core: &Core,
    function: &Function,
    alias: Alias,
    count: usize,
) -> Option<Counterexample> {
    let tested = try_pairs(spec, core, function, alias, count, &[]);
    tested.wrong.or(tested.unpredictable)
}

/// Operands on which `function` reads or writes what is not its own.
pub fn trespass(spec: &Spec, core: &Core, function: &Function) -> Option<Counterexample> {
    /// Runs: where a function goes depends little on its operands.
    const RUNS: usize = 64;
    let list = vectors::of(spec, RUNS, u64::from(spec.size.a));
    let mut stuck = 0;
    let function = fenced(function);
    let call = core.calls(function.clone());
    let limit = FENCED_LIMIT.min(function.limit);
    list.into_iter().zip(1..).find_map(|(sources, noise)| {
        if stuck == STUCK {
            return None;
        }
        let operands = Operands {
            noise,
            ..Operands::of(spec, &sources, function.together)
        };
        let stopped = call(&operands, limit).err()?;
        stuck += usize::from(matches!(stopped.1, Fault::StepLimit(_) | Fault::Endless(_)));
        let text = || told::describe(core, &function, &stopped);
        let run = Run {
            core,
            function: &function,
            operands: &operands,
        };
        (stopped.1.is_memory()).then(|| run.stopped(text()))
    })
}

/// The same function, watched where it reads and writes.
fn fenced(function: &Function) -> Function {
    Function {
        fenced: true,
        claims: Vec::new(),
        ..function.clone()
    }
}

/// Runs on numbers.
#[derive(Default)]
pub struct Tested {
    /// How many gave the right result.
    pub runs: usize,
    /// Of the run that took longest, with the spans of all.
    pub cost: Option<Cost>,
    /// Operands on which the function is wrong.
    pub wrong: Option<Counterexample>,
    /// Operands on which it could not be run to its end.
    pub stuck: Option<String>,
    /// Operands on which it does what the manual leaves undefined.
    pub unpredictable: Option<Counterexample>,
    /// Operands on which it reads or writes what is not its own, if that was asked.
    pub trespassed: Option<Counterexample>,
    /// Runs that came to no end, or to what is not followed.
    endless: usize,
    unfollowed: usize,
}

impl Tested {
    /// A run that stopped: what cannot be run says nothing about the result, and others may come to an end.
    fn stops(&mut self, fault: &Fault, run: &Run<'_>, text: String) {
        match fault {
            Fault::StepLimit(_) => {
                self.endless += 1;
                self.stuck.get_or_insert_with(|| run.text(&text));
            }
            Fault::Unsupported(_) => {
                self.unfollowed += 1;
                self.stuck.get_or_insert_with(|| run.text(&text));
            }
            Fault::Unpredictable(_) => self.unpredictable = Some(run.stopped(text)),
            Fault::SecretBranch(_)
            | Fault::SecretAddress(_)
            | Fault::Load(_)
            | Fault::Store(_)
            | Fault::Fetch(_)
            | Fault::Return
            | Fault::Endless(_)
            | Fault::WordLimit(_)
            | Fault::Convention(_)
            | Fault::Exception(_) => self.wrong = Some(run.stopped(text)),
        }
    }

    /// The runs that show what is wrong.
    pub fn counterexamples(&self) -> Vec<Counterexample> {
        let result = self.wrong.as_ref().or(self.unpredictable.as_ref());
        self.trespassed.iter().chain(result).cloned().collect()
    }

    /// Will no other run say more?
    fn is_decided(&self) -> bool {
        let found = self.wrong.is_some() || self.unpredictable.is_some();
        found || self.endless == STUCK || self.unfollowed == UNFOLLOWED
    }
}

/// Runs `function` on corners, `count` other operands and those made of `numbers` until a result is wrong.
pub fn try_pairs(
    spec: &Spec,
    core: &Core,
    function: &Function,
    alias: Alias,
    count: usize,
    numbers: &[u64],
) -> Tested {
    let mut spent = 0;
    let mut tested = Tested::default();
    let function = &fenced(function);
    let call = core.calls(function.clone());
    let seed = u64::from(spec.size.a);
    let mut list = vectors::of_numbers(spec, core.word_bits(), numbers, seed);
    list.extend(vectors::of(spec, count, seed));
    for (mut sources, round) in list.into_iter().zip(0..) {
        coincide(&mut sources, spec, alias);
        // A result must not depend on what others left, either.
        let operands = Operands {
            noise: round,
            ..Operands::of(spec, &sources, alias)
        };
        let run = Run {
            core,
            function,
            operands: &operands,
        };
        match call(&operands, RUN_LIMIT.min(function.limit)) {
            Ok((got, cost)) if spec.accepts(&sources, &got) => {
                tested.runs += 1;
                tested.cost = Some(tested.cost.map_or(cost, |old| old.join(&cost)));
                spent += cost.executed + function.code.len() as u64;
            }
            Ok((got, cost)) => {
                tested.cost = tested.cost.or(Some(cost));
                tested.wrong = Some(run.wrong(&got));
            }
            Err(stopped) => {
                let text = told::describe(core, function, &stopped);
                tested.stops(&stopped.1, &run, text);
            }
        }
        if tested.is_decided() || spent > SEARCH_LIMIT {
            break;
        }
    }
    tested
}

/// Makes sources that share an address agree: the shorter one is the low part of the longer.
fn coincide(sources: &mut [BigUint], spec: &Spec, alias: Alias) {
    let places = alias.of(spec);
    let shared = spec.op.factors() == 2 && places[1] == places[2];
    if let ([x, y, ..], true) = (sources, shared) {
        let low = |x: &BigUint, bits: u32| x % (BigUint::from(1u8) << bits);
        match spec.size.a >= spec.size.b {
            true => *y = low(x, spec.size.b),
            false => *x = low(y, spec.size.a),
        }
    }
}
