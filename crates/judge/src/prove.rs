//! The four obligations of a kernel, on its bytes, for all inputs.
//!
//! One run in the algebra domain shows the equation, the memory it touches and the
//! calling convention; runs in the secret domain ([`crate::timing`]) show what time and
//! addresses tell. The operands lie anywhere: their places are free variables.

#![deny(clippy::wildcard_enum_match_arm)]

use std::rc::Rc;

use machine::domain::answers::Answers;
use machine::domain::trace::Record;
use machine::domain::variable::Value;
use machine::domain::{Address, Base};
use machine::fault::Fault;
use machine::function::Function;
use machine::isa::core::Core;
use machine::isa::{Depth, Stopped};
use machine::program::Claim;
use machine::told::{at, describe};
use serde::Serialize;
use spec::{Alias, Spec};

use crate::case::Case;
use crate::checker::Goal;
use crate::checker::replay::{Refusal, Replay};
pub use crate::prove::entry::{STEP_LIMIT, bases, declare, words};
pub use crate::prove::open::{Open, Shown};

pub mod entry;
mod equation;
pub mod open;
mod promises;

use equation::{Words, with_goal};

/// A verdict on one obligation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Proved,
    /// False, with the evidence.
    Disproved(String),
    /// Not shown, with the obligation that stayed open.
    Unknown(String),
    /// Up to the chip: the manual leaves undefined what an instruction does, which is named.
    Unpredictable(String),
}

impl Verdict {
    /// Is it proved?
    pub fn is_proved(&self) -> bool {
        *self == Verdict::Proved
    }

    /// `proved`, `disproved`, `unknown` or `unpredictable`.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Proved => "proved",
            Verdict::Disproved(_) => "disproved",
            Verdict::Unknown(_) => "unknown",
            Verdict::Unpredictable(_) => "unpredictable",
        }
    }

    /// The evidence or the open obligation.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Verdict::Proved => None,
            Verdict::Disproved(text) | Verdict::Unknown(text) | Verdict::Unpredictable(text) => {
                Some(text)
            }
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// What one run in the algebra domain shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    pub correct: Verdict,
    pub memory: Verdict,
    pub abi: Verdict,
    pub stack: Depth,
}

impl Proof {
    /// Is everything proved?
    pub fn holds(&self) -> bool {
        self.correct.is_proved() && self.memory.is_proved() && self.abi.is_proved()
    }
}

/// Somebody who answers a run of variables, finds why its goal is reached, and writes both down. He is not believed.
pub trait Finder: Answers {
    /// Before a run for `spec` on words of `word_bits` bits, with these claims about the code and bases of the
    /// result, the sources and the areas.
    fn new(spec: &Spec, word_bits: u32, claims: Vec<Claim>, bases: &[Base]) -> Self;

    /// The run begins with these words of the sources.
    fn entered(&mut self, spec: &Spec, sources: &[Vec<Value>]);

    /// Finds why the goal is reached, and writes it down.
    ///
    /// # Errors
    /// What stayed open.
    fn find(&mut self, goal: &Goal<'_>) -> Shown<()>;

    /// What was written down.
    fn record(&mut self) -> Record<'_>;

    /// The same for a certificate, if a reason was found.
    fn case(self, alias: Alias) -> Option<Case>;
}

/// What a run began with.
struct Entered {
    /// The words of the sources.
    sources: Vec<Vec<Value>>,
    /// Those of `a - b`, where they are compared.
    difference: Vec<Value>,
}

/// Lets a run begin as the contract says: operands, their words, and what is promised of them.
///
/// # Errors
/// Words of a width that no machine has.
fn enter<A: Answers>(
    d: &mut A,
    spec: &Spec,
    core: &Core,
    function: &Function,
    bases: &[Base],
) -> Result<Entered, Fault> {
    d.run_mut().first = function.first as u32;
    let word_bits = function.word_bits(core.word_bits());
    let places = declare(d, spec, function, word_bits, bases)?;
    if let (true, Some(modulus)) = (spec.is_folded(), places.last()) {
        promises::differences(d, spec, word_bits, modulus)?;
    }
    let words = |places: Vec<Address>| {
        places
            .into_iter()
            .filter_map(|at| d.run().peek(at))
            .collect()
    };
    let sources: Vec<_> = places.into_iter().map(words).collect();
    for promise in promises::promises(spec, word_bits, &sources) {
        d.assume(promise);
    }
    let difference = promises::compared(d, spec, word_bits, &sources)?;
    Ok(Entered {
        sources,
        difference,
    })
}

/// Runs `code` for all inputs and shows equation, memory and calling convention.
pub fn prove<F: Finder>(spec: &Spec, core: &Core, code: &[u8], alias: Alias) -> Proof {
    prove_with::<F>(spec, core, code, &[], alias)
}

/// `claims` about the instructions at their byte addresses; those about others are left out.
pub fn placed(core: &Core, code: &[u8], claims: &[Claim]) -> Vec<Claim> {
    let insns = core.decode(code).unwrap_or_default();
    let address = |index: usize| insns.get(index).map(|(at, _)| *at);
    let claims = claims.iter().map(|claim| claim.at(address));
    claims.flatten().collect()
}

/// A generated kernel, with claims about its instructions as stepping stones.
pub fn kernel(core: &Core, code: &[u8], claims: &[Claim]) -> Function {
    Function {
        claims: placed(core, code, claims),
        ..Function::kernel(code)
    }
}

/// The same with claims about the instructions.
pub fn prove_with<F: Finder>(
    spec: &Spec,
    core: &Core,
    code: &[u8],
    claims: &[Claim],
    alias: Alias,
) -> Proof {
    let function = kernel(core, code, claims).returning(spec);
    prove_function::<F>(spec, core, &function, alias)
}

/// The same for any function.
pub fn prove_function<F: Finder>(
    spec: &Spec,
    core: &Core,
    function: &Function,
    alias: Alias,
) -> Proof {
    Asked::new(spec, core, function, alias).prove::<F>().0
}

/// The proof for a certificate: what the run wrote down, if everything is proved.
pub fn certify<F: Finder>(
    spec: &Spec,
    core: &Core,
    function: &Function,
    alias: Alias,
) -> (Proof, Option<Case>) {
    let (proof, d) = Asked::new(spec, core, function, alias).prove::<F>();
    let case = d.filter(|_| proof.holds()).and_then(|d| d.case(alias));
    (proof, case)
}

/// The proof along a record.
pub fn follow(
    spec: &Spec,
    core: &Core,
    function: &Function,
    alias: Alias,
    record: Record<'_>,
) -> Proof {
    let followed = Asked::new(spec, core, function, alias).follow(record);
    followed.unwrap_or_else(|refused| refused)
}

/// A function, and what is asked of it.
struct Asked<'a> {
    spec: &'a Spec,
    core: &'a Core,
    function: &'a Function,
    alias: Alias,
}

impl<'a> Asked<'a> {
    fn new(spec: &'a Spec, core: &'a Core, function: &'a Function, alias: Alias) -> Self {
        Self {
            spec,
            core,
            function,
            alias,
        }
    }

    /// Lets the finder look for a proof, and follows what it wrote down: the second run decides.
    fn prove<F: Finder>(&self) -> (Proof, Option<F>) {
        let claims = &self.function.claims;
        let (followed, d) = self.prove_with(claims.clone());
        match followed {
            Ok(proof) => (proof, d),
            // Claims are hints. What the checker does not follow because of them may be left out.
            Err(refused) if !claims.is_empty() => {
                let (bare, d) = self.prove_with(Vec::new());
                let mut proof = bare.unwrap_or_else(|refused| refused);
                if !proof.correct.is_proved() {
                    proof.correct = refused.correct;
                }
                (proof, d)
            }
            Err(refused) => (refused, d),
        }
    }

    /// The same with these claims; an error where the checker refuses what was found.
    fn prove_with<F: Finder>(&self, claims: Vec<Claim>) -> (Result<Proof, Proof>, Option<F>) {
        let (found, d) = self.search::<F>(claims);
        let Some(mut d) = d else {
            return (Ok(found), None);
        };
        let mut followed = self.follow(d.record());
        let (Ok(proof) | Err(proof)) = &mut followed;
        if !proof.correct.is_proved() && !found.correct.is_proved() {
            proof.correct = found.correct;
        }
        (followed, Some(d))
    }

    /// Runs along a record, and lets the checker decide. An error where it refuses an entry: then nothing is shown.
    fn follow(&self, record: Record<'_>) -> Result<Proof, Proof> {
        let refusal = Refusal::default();
        let show = |d: &mut Replay<'_>, goal: &Goal<'_>| {
            d.reached(goal).map_err(|why| Open {
                text: format!("the checker does not accept it: {why}"),
                pc: None,
            })
        };
        let replay = Replay::new(record, Rc::clone(&refusal));
        let (proof, _) = self.run(replay, |_, _| (), show);
        let Some((entry, why)) = refusal.get() else {
            return Ok(proof);
        };
        // What was run along answers that are wrong says nothing.
        let place = record.entries.get(entry).map(|noted| noted.pc as usize);
        let place = place.map_or(String::new(), |pc| {
            format!(": {}", at(self.core, self.function, pc))
        });
        let text = format!("the checker does not accept entry {entry}: {why}{place}");
        let unknown = || Verdict::Unknown(text.clone());
        Err(Proof {
            correct: unknown(),
            memory: unknown(),
            abi: unknown(),
            stack: Depth::default(),
        })
    }

    /// Lets the finder look for a proof. The domain of a run that came to its end.
    fn search<F: Finder>(&self, claims: Vec<Claim>) -> (Proof, Option<F>) {
        let Self {
            spec,
            core,
            function,
            alias,
        } = *self;
        let word_bits = function.word_bits(core.word_bits());
        let d = F::new(spec, word_bits, claims, &bases(spec, alias, function));
        let entered = |d: &mut F, sources: &[Vec<Value>]| d.entered(spec, sources);
        self.run(d, entered, F::find)
    }

    /// Runs the function with words that `d` answers, and lets `show` show the goal.
    fn run<A: Answers>(
        &self,
        mut d: A,
        hint: impl FnOnce(&mut A, &[Vec<Value>]),
        show: impl FnOnce(&mut A, &Goal<'_>) -> Shown<()>,
    ) -> (Proof, Option<A>) {
        let Self {
            spec,
            core,
            function,
            alias,
        } = *self;
        let bases = bases(spec, alias, function);
        let word_bits = function.word_bits(core.word_bits());
        let entered = match enter(&mut d, spec, core, function, &bases) {
            Err(fault) => return (self.stopped(&(function.first as usize, fault)), None),
            Ok(entered) => entered,
        };
        hint(&mut d, &entered.sources);
        let called = match core.call(d, function, &bases, STEP_LIMIT.min(function.limit)) {
            Err(stopped) => return (self.stopped(&stopped), None),
            Ok(called) => called,
        };
        let mut d = called.domain;
        let result = words(bases[0], spec.result_bytes(), word_bits);
        let places = Words {
            result: &result,
            bits: word_bits,
            returned_bits: function.returned_bits,
            register_bits: core.word_bits(),
            sources: &entered.sources,
            difference: &entered.difference,
        };
        let proof = Proof {
            correct: match with_goal(spec, &mut d, &places, show) {
                Ok(()) => Verdict::Proved,
                Err(open) => Verdict::Unknown(self.told(&d, open)),
            },
            memory: Verdict::Proved,
            abi: match called.violations.as_slice() {
                [] => Verdict::Proved,
                list => Verdict::Disproved(list.join("; ")),
            },
            stack: called.cost.stack,
        };
        (proof, Some(d))
    }

    /// What is known of a run that did not come to its end.
    fn stopped(&self, stopped: &Stopped) -> Proof {
        let text = describe(self.core, self.function, stopped);
        let disproved = |is: bool| match is {
            true => Verdict::Disproved(text.clone()),
            false => Verdict::Unknown(text.clone()),
        };
        Proof {
            correct: match stopped.1 {
                Fault::Unpredictable(_) => Verdict::Unpredictable(text.clone()),
                Fault::SecretBranch(_)
                | Fault::SecretAddress(_)
                | Fault::Load(_)
                | Fault::Store(_)
                | Fault::Fetch(_)
                | Fault::Return
                | Fault::StepLimit(_)
                | Fault::Endless(_)
                | Fault::WordLimit(_)
                | Fault::Convention(_)
                | Fault::Unsupported(_)
                | Fault::Exception(_) => Verdict::Unknown(text.clone()),
            },
            memory: disproved(stopped.1.is_memory()),
            abi: disproved(matches!(stopped.1, Fault::Convention(_))),
            stack: Depth::default(),
        }
    }

    /// What stayed open, and the first claim that was not shown.
    fn told<A: Answers>(&self, d: &A, open: Open) -> String {
        let (core, function) = (self.core, self.function);
        let text = match open.pc {
            None => open.text,
            Some(pc) => format!("{}: {}", open.text, at(core, function, pc)),
        };
        let text = match d.run().joined() {
            None => text,
            Some(branch) => format!(
                "{}; both ways were followed, but {text}",
                describe(core, function, branch)
            ),
        };
        match d.refused_claim() {
            None => text,
            Some((pc, claim)) => format!(
                "{text}; nor is shown what the method claims at {}: {claim}",
                at(core, function, pc)
            ),
        }
    }
}
