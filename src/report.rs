//! One result, computed once: what `gen` prints, writes as JSON and puts into banners.

use std::collections::BTreeMap;

use judge::counterexample::Counterexample;
use judge::prove::{Proof, Verdict};
use judge::timing::{Leak, Timing};
use judge::verdict::{Aliasing, Measured};
use machine::isa::energy::{Currents, Spent};
use machine::isa::{ClassCounts, Cost, Span};
use make::method;
use make::method::Params;
use make::request::Demands;
use serde::Serialize;
use spec::Spec;

use crate::kernel::Kernel;
pub use crate::report::assumes::Assumes;
pub use crate::report::energy::EnergyReport;
pub use crate::report::modular::ModularReport;
pub use crate::report::one_time::OneTime;

mod assumes;
pub mod energy;
mod modular;
mod one_time;
mod prototype;

/// A source operand.
#[derive(Clone, Debug, Serialize)]
pub struct SourceReport {
    /// Its name in the contract.
    pub name: &'static str,
    /// Its length in bits.
    pub bits: u32,
    /// Its length in bytes.
    pub bytes: usize,
}

/// The operation and its sizes.
#[derive(Clone, Debug, Serialize)]
pub struct SpecReport {
    /// The operation, as on the command line.
    pub op: &'static str,
    /// Bits of a.
    pub bits: u32,
    /// `160`, or `256x64`: as the command line takes it.
    pub size: String,
    /// The operands.
    pub sources: Vec<SourceReport>,
    /// What is computed.
    pub equation: String,
    /// The function.
    pub symbol: String,
    /// Bytes of the result.
    pub result_bytes: usize,
    /// Bits of a word of the machine.
    pub word_bits: u32,
    /// Is a word returned, the carry?
    pub returns: bool,
    /// The rule for operands that are shorter than their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shorter: Option<String>,
    /// Of a modular operation.
    #[serde(flatten)]
    pub modular: Option<ModularReport>,
}

/// Cycles in the two conventions.
#[derive(Clone, Debug, Serialize)]
pub struct Cycles {
    /// Without what only serves the call, as the papers count.
    pub body: Span,
    /// From the first instruction to the return.
    pub call: Span,
}

/// Code bytes in the two conventions.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bytes {
    /// Without what only serves the call.
    pub body: usize,
    /// All of it.
    pub call: usize,
}

/// The four verdicts.
#[derive(Clone, Debug, Serialize)]
pub struct Verdicts {
    /// Is the result right for all inputs?
    pub correct: Verdict,
    /// Does it keep to its memory?
    pub memory: Verdict,
    /// Does it keep the calling convention?
    pub abi: Verdict,
    /// Per core: `proved`, `leaks` or `unknown`; why, [`Report::leaks`] says.
    pub constant_time: BTreeMap<String, &'static str>,
}

/// Something that is not proved though it was demanded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Missing {
    /// The equation, that it keeps to its memory, or the calling convention.
    #[error("not proved")]
    Proof,
    /// An overlap that was asked for, as [`spec::Alias::text`] has it.
    #[error("not proved where {0}")]
    Overlap(String),
    /// That time and addresses are the same for all operands.
    #[error(
        "not proved: what `{at}` takes {} on {place}",
        if *.leaks { "depends on operands" } else { "is not shown to be the same for all operands" }
    )]
    Time {
        /// The instruction.
        at: String,
        /// Is it known to leak?
        leaks: bool,
        /// The core or part.
        place: String,
    },
}

/// The files written.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Files {
    /// The assembly file.
    pub asm: Option<String>,
    /// The C header.
    pub header: Option<String>,
    /// The object.
    pub object: Option<String>,
}

/// Everything about a kernel, with the fields that `--json` promises.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What is computed.
    pub spec: SpecReport,
    /// The core it is made for.
    pub core: String,
    /// The part it is made for, if one was named.
    pub mcu: Option<String>,
    /// How it is computed.
    pub method: &'static str,
    /// The parameters of the method.
    pub params: Params,
    /// How much is written out.
    pub style: &'static str,
    /// Is its plan the cheapest on record?
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub on_record: bool,
    /// The file that its plan is from, if `lozenge tune` found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuned: Option<String>,
    /// Cycles, over all inputs.
    pub cycles: Cycles,
    /// Where one time was asked for and the fastest kernel leaks: what it costs, or why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_time: Option<OneTime>,
    /// The same bytes on every core that runs them.
    pub cycles_on: BTreeMap<String, Cycles>,
    /// What a run draws, if it is known of the core.
    pub energy: Option<EnergyReport>,
    #[serde(skip)]
    spent: [Spent; 2],
    /// Executed instructions of the body.
    pub instructions: ClassCounts,
    /// Bytes of code.
    pub bytes: Bytes,
    /// Below the return address; of the stack of data, if return addresses have their own.
    pub stack_bytes: usize,
    /// Of a stack that is for return addresses only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_stack_bytes: Option<usize>,
    /// The longest stretch in cycles in which interrupts are kept out, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masked_cycles: Option<u64>,
    /// Is all proved that was demanded: equation, memory, calling convention, constant time on `core` unless a
    /// variable one was accepted, and the overlaps that were asked for?
    pub proved: bool,
    /// The verdicts on the bytes.
    pub verdict: Verdicts,
    /// Was it accepted that time or addresses depend on operands?
    pub variable_time: bool,
    /// Overlaps that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<&'static str>,
    /// Per core that is not constant time: the first instruction that tells, and what.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub leaks: BTreeMap<String, Leak>,
    /// Of an audit: fewest and most cycles of runs on numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// Bytes of each area that an audited function is given to work in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scratch: Vec<usize>,
    /// Of an audit: what the verdicts take for granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumes: Option<Assumes>,
    /// Of an audit: runs on numbers that show what is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counterexamples: Vec<Counterexample>,
    /// Why a verdict is not `proved`.
    pub reasons: BTreeMap<&'static str, String>,
    /// For each way operands may coincide: `proved`, or `refused: ...`.
    pub aliasing: BTreeMap<&'static str, String>,
    /// The calling convention.
    pub abi: &'static str,
    /// The command that builds a program with its GNU assembly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What to beware of.
    pub warnings: Vec<String>,
    /// The command that gives the same bytes.
    pub command: String,
    /// Of this tool.
    pub version: &'static str,
    /// The files that were written.
    pub files: Files,
}

/// What a report is about: code, where it comes from, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What is computed.
    pub spec: &'a Spec,
    /// The function.
    pub symbol: &'a str,
    /// Bits of the words that operands are arrays of.
    pub word_bits: u32,
    /// How it is computed.
    pub method: &'static str,
    /// The parameters of the method.
    pub params: &'a Params,
    /// How much is written out.
    pub style: &'static str,
    /// Bytes of code.
    pub bytes: Bytes,
    /// Cycles, instructions and stack.
    pub cost: &'a Cost,
    /// Equation, memory and calling convention.
    pub proof: &'a Proof,
    /// Which operands may share memory.
    pub aliasing: &'a [Aliasing],
    /// What time tells, per core.
    pub constant_time: &'a [(String, Timing)],
    /// Cycles of runs on numbers, where these are told.
    pub measured: Option<Measured>,
    /// What was demanded.
    pub demands: &'a Demands,
}

impl Subject<'_> {
    /// What time tells, per core, in a word.
    fn times(&self) -> BTreeMap<String, &'static str> {
        let times = self.constant_time.iter().map(|(core, timing)| {
            let leak = timing.leak.as_ref();
            (core.clone(), leak.map_or("proved", Leak::word))
        });
        times.collect()
    }

    /// On which core, and how.
    fn leaks(&self) -> BTreeMap<String, Leak> {
        let times = self.constant_time.iter();
        let leaks = times.filter_map(|(core, timing)| Some((core.clone(), timing.leak.clone()?)));
        leaks.collect()
    }

    /// Of the cores on which runs could be followed for all inputs.
    fn cycles_on(&self) -> BTreeMap<String, Cycles> {
        let times = self.constant_time.iter();
        let cycles = times.filter_map(|(core, timing)| {
            let Cost { body, call, .. } = timing.cost?;
            Some((core.clone(), Cycles { body, call }))
        });
        cycles.collect()
    }

    /// Which operands may share memory: what is said of each case.
    fn aliasing(&self) -> BTreeMap<&'static str, String> {
        let cases = self.aliasing.iter().map(|case| {
            let text = match (&case.reason, case.allowed) {
                (_, true) => "proved".to_string(),
                (Some(reason), false) => format!("refused: {reason}"),
                (None, false) => "refused".to_string(),
            };
            (case.alias.text(), text)
        });
        let partial = "refused: the contract forbids it".to_string();
        cases.chain([("partial overlap with r", partial)]).collect()
    }
}

impl SpecReport {
    fn of(subject: &Subject<'_>) -> Self {
        let spec = subject.spec;
        let sources = spec.sources().into_iter().map(|source| SourceReport {
            name: source.name,
            bits: source.bits,
            bytes: source.bits as usize / 8,
        });
        Self {
            op: spec.op.name(),
            bits: spec.size.a,
            size: spec.size.to_string(),
            sources: sources.collect(),
            equation: spec.equation(),
            symbol: subject.symbol.to_string(),
            result_bytes: spec.result_bytes(),
            word_bits: subject.word_bits,
            returns: spec.op.returns(),
            shorter: None,
            modular: ModularReport::of(spec),
        }
    }
}

/// Why something is not proved.
fn reasons(proof: &Proof) -> BTreeMap<&'static str, String> {
    let verdicts = [
        ("correct", &proof.correct),
        ("memory", &proof.memory),
        ("abi", &proof.abi),
    ];
    let open = verdicts.into_iter();
    open.filter_map(|(name, verdict)| Some((name, verdict.reason()?.to_string())))
        .collect()
}

impl Report {
    /// The report of a kernel for `core` (and part `mcu`), made by `command`.
    pub fn new(
        kernel: &Kernel,
        mcu: Option<String>,
        warnings: Vec<String>,
        command: String,
    ) -> Self {
        let core = &kernel.core;
        let subject = Subject {
            spec: &kernel.spec,
            symbol: &kernel.spec.symbol(),
            word_bits: core.word_bits(),
            method: kernel.method.name,
            params: &kernel.params,
            style: kernel.style.name(),
            bytes: Bytes {
                body: kernel.body_bytes,
                call: kernel.code.len(),
            },
            cost: &kernel.cost,
            proof: &kernel.proof,
            aliasing: &kernel.aliasing,
            constant_time: &kernel.constant_time,
            measured: None,
            demands: &kernel.demands,
        };
        Self {
            on_record: kernel.on_record,
            masked_cycles: kernel.cost.masked,
            ..Self::of(&subject, core.name(), mcu, kernel.abi, warnings, command)
        }
    }

    /// The report of any code for a core and part, in the convention `abi`.
    pub fn of(
        subject: &Subject<'_>,
        core: String,
        mcu: Option<String>,
        abi: &'static str,
        warnings: Vec<String>,
        command: String,
    ) -> Self {
        let proof = subject.proof;
        let mut report = Self {
            spec: SpecReport::of(subject),
            core,
            mcu,
            method: subject.method,
            params: subject.params.clone(),
            style: subject.style,
            on_record: false,
            tuned: None,
            cycles: Cycles {
                body: subject.cost.body,
                call: subject.cost.call,
            },
            one_time: None,
            cycles_on: subject.cycles_on(),
            energy: None,
            spent: subject.cost.spent,
            instructions: subject.cost.counts,
            bytes: subject.bytes,
            stack_bytes: proof.stack.bytes,
            return_stack_bytes: proof.stack.returns,
            masked_cycles: None,
            proved: false,
            variable_time: subject.demands.variable_time,
            overlaps: subject.demands.aliases.iter().map(|a| a.text()).collect(),
            verdict: Verdicts {
                correct: proof.correct.clone(),
                memory: proof.memory.clone(),
                abi: proof.abi.clone(),
                constant_time: subject.times(),
            },
            leaks: subject.leaks(),
            measured: subject.measured,
            scratch: Vec::new(),
            assumes: None,
            counterexamples: Vec::new(),
            reasons: reasons(proof),
            aliasing: subject.aliasing(),
            abi,
            link: None,
            warnings,
            command,
            version: env!("CARGO_PKG_VERSION"),
            files: Files::default(),
        };
        report.variable_time &= report.time(&report.core) != "proved";
        report.proved = report.is_sound() && report.keeps_its_time();
        report
    }

    /// With the energy that follows from currents, if they are known.
    pub fn drawing(mut self, currents: Option<Currents>) -> Self {
        self.energy = currents.map(|currents| EnergyReport::of(&self.spent, currents));
        self
    }

    /// Its energy, or that nothing is known.
    pub fn energy_text(&self) -> String {
        let energy = self.energy.as_ref();
        energy.map_or(energy::NO_DATA.into(), EnergyReport::text)
    }

    /// Is everything proved that was demanded?
    pub fn is_proved(&self) -> bool {
        self.proved
    }

    /// Are equation, memory and calling convention proved, for the overlaps that were asked for, too?
    pub fn is_sound(&self) -> bool {
        let allowed = |case: &&str| self.may_coincide(case);
        self.verdict.correct.is_proved()
            && self.verdict.memory.is_proved()
            && self.verdict.abi.is_proved()
            && self.overlaps.iter().all(allowed)
    }

    /// Is it in constant time on its core, or was it accepted that it is not?
    pub fn keeps_its_time(&self) -> bool {
        self.variable_time || self.time(&self.core) == "proved"
    }

    /// `proved`, `leaks` or `unknown`.
    pub fn time(&self, core: &str) -> &'static str {
        let known = self.verdict.constant_time.get(core);
        known.copied().unwrap_or("unknown")
    }

    /// Is this way of sharing memory proved? As [`spec::Alias::text`] has it.
    pub fn may_coincide(&self, case: &str) -> bool {
        self.aliasing.get(case).is_some_and(|text| text == "proved")
    }

    /// What is not proved though it was demanded.
    pub fn missing(&self) -> Vec<Missing> {
        let verdict = &self.verdict;
        let three = [&verdict.correct, &verdict.memory, &verdict.abi];
        let mut list = Vec::new();
        if !three.iter().all(|v| v.is_proved()) {
            list.push(Missing::Proof);
        } else if let Some(case) = self.overlaps.iter().find(|case| !self.may_coincide(case)) {
            list.push(Missing::Overlap(case.to_string()));
        }
        if !self.keeps_its_time() {
            let leak = self.leaks.get(&self.core);
            list.push(Missing::Time {
                at: leak.map_or(String::new(), |leak| leak.place.instruction.clone()),
                leaks: self.time(&self.core) == "leaks",
                place: self.place().into(),
            });
        }
        list
    }

    /// The same in words.
    pub fn open(&self) -> Vec<String> {
        self.missing().iter().map(Missing::to_string).collect()
    }

    /// `30 bytes of stack`, below the return address, or how many of each of two stacks.
    pub fn stack_text(&self) -> String {
        let bytes = self.stack_bytes;
        match self.return_stack_bytes {
            None => format!("{bytes} bytes of stack"),
            Some(returns) => format!("{bytes} bytes of data stack, {returns} of return stack"),
        }
    }

    /// How long interrupts wait, if they do.
    pub fn masked_text(&self) -> Option<String> {
        let cycles = self.masked_cycles?;
        Some(format!("kept out for at most {cycles} cycles in a row"))
    }

    /// `operand-caching e=10`, `karatsuba levels=2 plan=k160-a`.
    pub fn method_text(&self) -> String {
        method::text(self.method, &self.params)
    }

    /// `2341`, or `2341..2400` where operands decide.
    pub fn span_text(span: &Span) -> String {
        if span.min == span.max {
            span.max.to_string()
        } else {
            format!("{}..{}", span.min, span.max)
        }
    }

    /// What it was made for, in the words of whoever asked: `atmega328p`.
    pub fn place(&self) -> &str {
        self.mcu.as_deref().unwrap_or(&self.core)
    }

    /// `2341 body, 2417 call on atmega328p`.
    pub fn cycles_text(&self) -> String {
        let Cycles { body, call } = &self.cycles;
        let (body, call) = (Self::span_text(body), Self::span_text(call));
        format!("{body} body, {call} call on {}", self.place())
    }

    /// What time tells where it was made for: `proved on atmega328p`, or what leaks.
    pub fn time_text(&self) -> String {
        let place = self.place();
        let accepted = match self.variable_time {
            true => "accepted (--variable-time): ",
            false => "",
        };
        match (self.time(&self.core), self.leaks.get(&self.core)) {
            ("proved", _) => format!("proved on {place}"),
            (word, None) => format!("on {place}: {accepted}{word}"),
            (_, Some(leak)) => format!("on {place}: {accepted}{}", leak.verdict()),
        }
    }

    /// The other cores that run the same bytes, with the cycles of a call: `atmega2560 2101, ...; all constant time`.
    pub fn others_text(&self) -> Option<String> {
        let others = self.verdict.constant_time.iter();
        let others: Vec<_> = others.filter(|(core, _)| **core != self.core).collect();
        let all = others.iter().all(|(_, time)| **time == "proved");
        let one = |(core, time): &(&String, &&str)| {
            let cycles = self.cycles_on.get(*core);
            let cycles = cycles.map_or("?".to_string(), |c| Self::span_text(&c.call));
            match (all, **time) {
                (true, _) => format!("{core} {cycles}"),
                (false, "proved") => format!("{core} {cycles} (constant time)"),
                (false, word) => format!("{core} {cycles} (time: {word})"),
            }
        };
        let list: Vec<_> = others.iter().map(one).collect();
        let time = if all { ", all in constant time" } else { "" };
        (!list.is_empty()).then(|| format!("call: {}{time}", list.join(", ")))
    }

    /// What may coincide, as the header says it.
    pub fn aliasing_text(&self) -> String {
        let allowed: Vec<_> = self
            .aliasing
            .iter()
            .filter(|(_, text)| *text == "proved")
            .map(|(case, _)| *case)
            .collect();
        format!(
            "allowed and proved: {}; any other overlap with r is forbidden",
            if allowed.is_empty() {
                "none".to_string()
            } else {
                allowed.join(", ")
            }
        )
    }
}
