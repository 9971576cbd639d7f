//! The four obligations of a kernel, on its bytes, for all inputs.
//!
//! One run in the algebra domain shows the equation, the memory it touches and the
//! calling convention; runs in the secret domain ([`crate::timing`]) show what time and
//! addresses tell. The operands lie anywhere: their places are free variables.

#![deny(clippy::wildcard_enum_match_arm)]

use std::rc::Rc;

use serde::Serialize;

use crate::certificate::Case;
use crate::checker::Goal;
use crate::checker::replay::{Refusal, Replay};
use crate::domain::abstract_memory::Region;
use crate::domain::algebra::{Algebra, Value};
use crate::domain::answers::Answers;
use crate::domain::identity::Open;
use crate::domain::trace::Record;
use crate::domain::{Abstract, Address, Base};
use crate::fault::{Fault, Source};
use crate::function::Function;
use crate::isa::{Depth, Isa, Stopped};
use crate::program::Claim;
use crate::spec::{Alias, Op, Spec};

mod equation;
mod promises;

use equation::{Shown, Words, find, with_goal};

pub use crate::timing::{Leak, Timing, Ways, function_timing, leak, narrowest_access, timing};

/// The most instructions an abstract run may take.
pub const STEP_LIMIT: u64 = 10_000_000;

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

/// Bases of the result, the sources and the areas of `function`, as the call passes them.
pub(crate) fn bases(spec: &Spec, alias: Alias, function: &Function) -> Vec<Base> {
    let places = alias.of(spec).into_iter();
    let operands = places.map(|place| Base(Base::FIRST_OPERAND + place as u16));
    let areas = (Base::FIRST_AREA..).take(function.areas.len()).map(Base);
    operands.chain(areas).collect()
}

/// Words that no machine here reads or writes at once.
pub(crate) fn no_width(bits: u32) -> Fault {
    Fault::Unsupported(format!("words of {bits} bits are not followed"))
}

/// Names the operands, fills the sources with unknown words, and returns the places of these.
///
/// # Errors
/// Words of a width that no machine has.
pub(crate) fn declare<D: Abstract>(
    d: &mut D,
    spec: &Spec,
    function: &Function,
    word_bits: u32,
    bases: &[Base],
) -> Result<Vec<Vec<Address>>, Fault> {
    let sources = spec.sources();
    let lengths = spec.source_bytes();
    let names = || sources.iter().map(|source| source.name);
    let named = || bases[1..].iter().zip(names()).zip(&lengths);
    // Of two sources at one place the longer one fills it; the shorter one is its low part.
    let mut longest: Vec<(Base, &str, usize)> = Vec::new();
    for ((base, name), length) in named() {
        match longest.iter_mut().find(|(at, ..)| at == base) {
            Some((_, _, most)) => *most = *length.max(most),
            None => longest.push((*base, name, *length)),
        }
    }
    // An array lies at a multiple of its words (the C type); operands perhaps at one of more bytes.
    let own = u64::from(word_bits / 8);
    let align = function.align.max(own);
    for (base, name, length) in &longest {
        d.declare(*base, Region::operand(name, *length, false, align));
    }
    let result = spec.result_bytes();
    d.declare(bases[0], Region::operand("r", result, true, align));
    let areas = &bases[1 + sources.len()..];
    for (base, area) in areas.iter().zip(&function.areas) {
        let own = area.align.unwrap_or(own);
        d.declare(*base, Region::operand("scratch", area.bytes, true, own));
    }
    for (base, name, length) in longest {
        for (i, at) in words(base, length, word_bits).into_iter().enumerate() {
            let name = format!("{name}[{i}]");
            match word_bits {
                8 => unknown::<D, 8>(d, at, name),
                16 => unknown::<D, 16>(d, at, name),
                32 => unknown::<D, 32>(d, at, name),
                other => return Err(no_width(other)),
            }
        }
    }
    let places = |((base, _), length): ((&Base, &str), &usize)| words(*base, *length, word_bits);
    Ok(named().map(places).collect())
}

fn unknown<D: Abstract, const W: u32>(d: &mut D, at: Address, name: String) {
    let word = d.unknown::<W>(name);
    d.init(at, &word);
}

/// Places of the words of an operand of `bytes` bytes.
pub(crate) fn words(base: Base, bytes: usize, word_bits: u32) -> Vec<Address> {
    let step = word_bits as usize / 8;
    let place = |i: usize| Address {
        base,
        offset: i as i64,
    };
    (0..bytes).step_by(step).map(place).collect()
}

/// Lets a run begin as the contract says: operands, their words, and what is promised of them. The words of the
/// sources.
///
/// # Errors
/// Words of a width that no machine has.
fn enter<I: Isa, A: Answers>(
    d: &mut A,
    spec: &Spec,
    function: &Function,
    bases: &[Base],
) -> Result<Vec<Vec<Value>>, Fault> {
    d.run_mut().first = function.first as u32;
    let word_bits = function.word_bits::<I>();
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
    Ok(sources)
}

/// Runs `code` for all inputs and shows equation, memory and calling convention.
pub fn prove<I: Isa>(spec: &Spec, core: &I::Core, code: &[u8], alias: Alias) -> Proof {
    prove_with::<I>(spec, core, code, &[], alias)
}

/// `claims` about the instructions at their byte addresses; those about others are left out.
pub(crate) fn placed<I: Isa>(core: &I::Core, code: &[u8], claims: &[Claim]) -> Vec<Claim> {
    let insns = I::decode(core, code).unwrap_or_default();
    let address = |index: usize| insns.get(index).map(|(at, _)| *at);
    let claims = claims.iter().map(|claim| claim.at(address));
    claims.flatten().collect()
}

/// A generated kernel, with claims about its instructions as stepping stones.
pub fn kernel<I: Isa>(core: &I::Core, code: &[u8], claims: &[Claim]) -> Function {
    Function {
        claims: placed::<I>(core, code, claims),
        ..Function::kernel(code)
    }
}

/// The same with claims about the instructions.
pub fn prove_with<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    code: &[u8],
    claims: &[Claim],
    alias: Alias,
) -> Proof {
    prove_function::<I>(spec, core, &kernel::<I>(core, code, claims), alias)
}

/// The same for any function.
pub fn prove_function<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    alias: Alias,
) -> Proof {
    Asked::<I>::new(spec, core, function, alias).prove().0
}

/// The proof for a certificate: what the run wrote down, if everything is proved.
pub fn certify<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    alias: Alias,
) -> (Proof, Option<Case>) {
    let (proof, d) = Asked::<I>::new(spec, core, function, alias).prove();
    let case = d.filter(|_| proof.holds()).and_then(|d| d.case(alias));
    (proof, case)
}

/// The proof along a record.
pub(crate) fn follow<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    alias: Alias,
    record: Record<'_>,
) -> Proof {
    let followed = Asked::<I>::new(spec, core, function, alias).follow(record);
    followed.unwrap_or_else(|refused| refused)
}

/// A function, and what is asked of it.
struct Asked<'a, I: Isa> {
    spec: &'a Spec,
    core: &'a I::Core,
    function: &'a Function,
    alias: Alias,
}

impl<'a, I: Isa> Asked<'a, I> {
    fn new(spec: &'a Spec, core: &'a I::Core, function: &'a Function, alias: Alias) -> Self {
        Self {
            spec,
            core,
            function,
            alias,
        }
    }

    /// Lets the finder look for a proof, and follows what it wrote down: the second run decides.
    fn prove(&self) -> (Proof, Option<Algebra>) {
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
    fn prove_with(&self, claims: Vec<Claim>) -> (Result<Proof, Proof>, Option<Algebra>) {
        let (found, d) = self.search(claims);
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
            format!(": {}", at::<I>(self.core, self.function, pc))
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
    fn search(&self, claims: Vec<Claim>) -> (Proof, Option<Algebra>) {
        let Self { spec, function, .. } = self;
        let mut d = Algebra::default();
        let bases = bases(spec, self.alias, function);
        d.offer(claims, &bases);
        let word_bits = function.word_bits::<I>();
        d.limit_words([spec.size.a, spec.size.b].map(|bits| bits.div_ceil(word_bits) as usize));
        let hint = |d: &mut Algebra, sources: &[Vec<Value>]| {
            if spec.op == Op::Modhalf {
                d.watch_parity(sources[0][0]);
            }
        };
        self.run(d, hint, find)
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
        let word_bits = function.word_bits::<I>();
        let sources = match enter::<I, _>(&mut d, spec, function, &bases) {
            Err(fault) => return (self.stopped(&(function.first as usize, fault)), None),
            Ok(sources) => sources,
        };
        hint(&mut d, &sources);
        let called = match I::call(d, core, function, &bases, STEP_LIMIT.min(function.limit)) {
            Err(stopped) => return (self.stopped(&stopped), None),
            Ok(called) => called,
        };
        let mut d = called.domain;
        let result = words(bases[0], spec.result_bytes(), word_bits);
        let places = Words {
            result: &result,
            bits: word_bits,
            returned_bits: function.returned_bits,
            register_bits: I::WORD_BITS,
            sources: &sources,
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
        let text = describe::<I>(self.core, self.function, stopped);
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
            Some(pc) => format!("{}: {}", open.text, at::<I>(core, function, pc)),
        };
        let text = match d.run().joined() {
            None => text,
            Some(branch) => format!(
                "{}; both ways were followed, but {text}",
                describe::<I>(core, function, branch)
            ),
        };
        match d.refused_claim() {
            None => text,
            Some((pc, claim)) => format!(
                "{text}; nor is shown what the method claims at {}: {claim}",
                at::<I>(core, function, pc)
            ),
        }
    }
}

/// `0x1a: adc r2, r3`.
pub fn at<I: Isa>(core: &I::Core, function: &Function, pc: usize) -> String {
    let shown = function.shown(pc);
    match instruction::<I>(core, function, pc) {
        Some((insn, _)) => format!("{shown:#x}: {}", I::text(&insn)),
        None => format!("{shown:#x}"),
    }
}

/// The instruction at `pc`, and its bytes.
pub fn instruction<I: Isa>(
    core: &I::Core,
    function: &Function,
    pc: usize,
) -> Option<(I::Insn, usize)> {
    [2, 4].into_iter().find_map(|len| {
        let bytes = function.code_at(pc as u64, len);
        let list = I::decode(core, bytes).ok()?;
        let known = function.marks.gap(pc as u64, bytes.len()).is_none();
        Some((list.first()?.1, bytes.len())).filter(|_| known)
    })
}

/// Bytes of what stands at `pc`, if that is an instruction, known or not.
fn lacking<I: Isa>(core: &I::Core, function: &Function, pc: usize) -> usize {
    let whole = |len: &usize| I::decode(core, function.code_at(pc as u64, *len)).is_ok();
    [2, 4].into_iter().find(whole).unwrap_or(2)
}

/// A fault in words, with its instruction, and the way that a secret took to it.
pub fn describe<I: Isa>(core: &I::Core, function: &Function, (pc, fault): &Stopped) -> String {
    let missing = function
        .marks
        .gap(*pc as u64, lacking::<I>(core, function, *pc));
    if let Some(text) = missing {
        return format!("{text} at {:#x}", function.shown(*pc));
    }
    let text = if let Fault::Fetch(to) = fault {
        Fault::Fetch(function.shown(*to)).to_string()
    } else {
        fault.to_string()
    };
    let text = format!("{text} at {}", at::<I>(core, function, *pc));
    match fault.source() {
        Some(source) => text + &way::<I>(core, function, source, *pc),
        None => text,
    }
}

/// `, by way of 0x4: ldr r2, [r2], ...`: the instructions that a secret passed before the one at `pc`.
pub(crate) fn way<I: Isa>(
    core: &I::Core,
    function: &Function,
    source: &Source,
    pc: usize,
) -> String {
    /// Steps told in full: those at the beginning and those at the end.
    const TOLD: usize = 3;
    let steps = source.path.iter().filter(|step| **step != pc);
    let steps: Vec<_> = steps.map(|pc| at::<I>(core, function, *pc)).collect();
    match steps.len() {
        0 => String::new(),
        n if n <= 2 * TOLD => format!(", by way of {}", steps.join(", ")),
        n => format!(
            ", by way of {}, ..., {}",
            steps[..TOLD].join(", "),
            steps[n - TOLD..].join(", ")
        ),
    }
}
