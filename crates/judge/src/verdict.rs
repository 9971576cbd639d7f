//! Everything that is decided about a function: the proof for every overlap of operands, and time on every core.

use machine::function::Function;
use machine::isa::core::Core;
use machine::isa::{Cost, Span};
use spec::{Alias, Spec};

use crate::counterexample::Counterexample;
use crate::prove::{self, Finder, Proof, Verdict};
use crate::timing;
use crate::timing::Timing;
use crate::trial::{Tested, counterexample, trespass, try_pairs};

/// What may share memory, and why not.
#[derive(Clone, Debug)]
pub struct Aliasing {
    pub alias: Alias,
    pub allowed: bool,
    pub reason: Option<String>,
}

/// Concrete runs in search of a counterexample, besides the corners.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Beside a proof.
    pub proved: usize,
    /// Where there is none.
    pub open: usize,
    /// Say how many were right?
    pub told: bool,
}

impl Search {
    /// For kernels made here.
    pub const OWN: Search = Search {
        proved: 8,
        open: 400,
        told: false,
    };
    /// For kernels of others.
    pub const AUDIT: Search = Search {
        proved: 100,
        open: 20_000,
        told: true,
    };
}

/// Fewest and most cycles of runs on numbers.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Measured {
    pub runs: usize,
    pub body: Span,
    pub call: Span,
}

/// What is known of a function that is said to compute `spec`.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Over all inputs, if the runs in the secret domain could be followed; else as measured.
    pub cost: Cost,
    pub measured: Option<Measured>,
    pub proof: Proof,
    /// Runs on numbers that show what is wrong.
    pub counterexamples: Vec<Counterexample>,
    pub aliasing: Vec<Aliasing>,
    /// What time tells, per core.
    pub constant_time: Vec<(String, Timing)>,
}

/// Proves `function` for every aliasing case and every core.
pub fn judge_function<F: Finder>(
    spec: &Spec,
    core: &Core,
    function: &Function,
    search: Search,
) -> Judged {
    let (mut proof, tested) = verdict::<F>(spec, core, function, search);
    let together = function.together;
    let overlaps = spec.aliases().iter().copied();
    let overlaps = overlaps.filter(|alias| *alias != together && alias.includes(together));
    let aliasing = overlaps
        .map(|alias| overlap::<F>(spec, core, function, alias, &mut proof))
        .collect();
    let relatives = core.relatives().into_iter();
    let constant_time: Vec<_> = relatives
        .map(|c| {
            let timing = timing::function_timing(spec, &c, function);
            (c.name(), timing)
        })
        .collect();
    let name = core.name();
    let counted = constant_time.iter().find(|(n, _)| *n == name);
    let measured = tested.cost.map(|cost| Measured {
        runs: tested.runs,
        call: cost.call,
        body: cost.body,
    });
    Judged {
        cost: counted
            .and_then(|(_, timing)| timing.cost)
            .or(tested.cost)
            .unwrap_or_default(),
        measured: measured.filter(|_| search.told),
        proof,
        counterexamples: tested.counterexamples(),
        aliasing,
        constant_time,
    }
}

/// May operands share memory like this? If the contract says that they may, `proof` for operands apart stands only with it.
fn overlap<F: Finder>(
    spec: &Spec,
    core: &Core,
    function: &Function,
    alias: Alias,
    proof: &mut Proof,
) -> Aliasing {
    let refused = |reason: &str| Aliasing {
        alias,
        allowed: false,
        reason: Some(reason.into()),
    };
    if !proof.holds() {
        return refused("not even operands apart are proved");
    }
    // A wrong result on numbers refuses at once; only what passes is worth a proof.
    if !alias.is_required() && counterexample(spec, core, function, alias, 0).is_some() {
        return refused("r is written before the operand is read");
    }
    // What is proved for any a and b that are only read holds for one that is both: the run
    // is the same, as it cannot compare where they lie.
    let case = match alias {
        Alias::AIsB if proof.correct.is_proved() && proof.memory.is_proved() => proof.clone(),
        _ => prove::prove_function::<F>(spec, core, function, alias),
    };
    let reason = [&case.correct, &case.memory, &case.abi]
        .iter()
        .find_map(|v| v.reason().map(String::from));
    let right = case.correct.is_proved() && case.memory.is_proved();
    if alias.is_required() && !right && proof.correct.is_proved() {
        let text = reason.clone().unwrap_or_default();
        proof.correct = Verdict::Unknown(format!("with {}: {text}", alias.text()));
    }
    Aliasing {
        alias,
        allowed: case.holds(),
        reason,
    }
}

/// The proof for operands that lie as callers pass them, with a counterexample where it fails and one is found.
///
/// Numbers are run beside a proof, too: should they ever disagree, the proof counts for nothing.
pub fn verdict<F: Finder>(
    spec: &Spec,
    core: &Core,
    function: &Function,
    search: Search,
) -> (Proof, Tested) {
    let alias = function.together;
    let mut proof = prove::prove_function::<F>(spec, core, function, alias);
    let count = if proof.correct.is_proved() {
        search.proved
    } else {
        search.open
    };
    // What is not proved may be wrong for the very numbers that stand in the code.
    let numbers = match proof.correct.is_proved() || !search.told {
        true => Vec::new(),
        false => timing::numbers(spec, core, function),
    };
    let mut tested = try_pairs(spec, core, function, alias, count, &numbers);
    let mut trespassed = None;
    if let Verdict::Unknown(open) = &proof.memory
        && let Some(counterexample) = trespass(spec, core, function)
    {
        proof.memory = Verdict::Disproved(format!("{}; {open}", counterexample.text()));
        trespassed = Some(counterexample);
    }
    let runs = tested.runs;
    let wrong = tested.wrong.as_ref().map(Counterexample::text);
    proof.correct = match (&wrong, proof.correct) {
        // The same for all operands, or for these.
        (None, unpredictable @ Verdict::Unpredictable(_)) => unpredictable,
        (None, correct) if tested.unpredictable.is_some() => {
            let text = tested.unpredictable.as_ref().map(Counterexample::text);
            let parts = text.as_deref().into_iter().chain(correct.reason());
            Verdict::Unpredictable(parts.collect::<Vec<_>>().join("; "))
        }
        (None, Verdict::Unknown(open)) if search.told => {
            let right = format!("{runs} random and structured operand pairs gave the right result");
            let right = (runs > 0).then_some(right);
            let parts = [Some(open), right, tested.stuck.clone()];
            Verdict::Unknown(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
        }
        (None, correct) => correct,
        (Some(text), correct) => Verdict::Disproved(match correct.reason() {
            Some(open) => format!("{text}; {open}"),
            None => text.clone(),
        }),
    };
    tested.trespassed = trespassed;
    (proof, tested)
}
