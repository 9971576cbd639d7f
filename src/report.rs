//! One result, computed once: what `gen` prints, writes as JSON and puts into banners.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use serde::Serialize;

use crate::isa::{ClassCounts, Cost, Isa, Span};
use crate::kernel::{Aliasing, Kernel, Measured};
use crate::method::{self, Params};
use crate::prove::{Leak, Proof, Timing, Verdict};
use crate::spec::Spec;
use crate::spec::modulus::{negated_inverse, square_of_r};

/// A source operand.
#[derive(Clone, Debug, Serialize)]
pub struct SourceReport {
    pub name: &'static str,
    pub bits: u32,
    pub bytes: usize,
}

/// The operation and its sizes.
#[derive(Clone, Debug, Serialize)]
pub struct SpecReport {
    pub op: &'static str,
    /// Bits of a.
    pub bits: u32,
    /// `160`, or `256x64`: as the command line takes it.
    pub size: String,
    pub sources: Vec<SourceReport>,
    pub equation: String,
    pub symbol: String,
    pub result_bytes: usize,
    pub word_bits: u32,
    /// Of a modular operation.
    #[serde(flatten)]
    pub modular: Option<ModularReport>,
}

/// The modulus and what follows from it.
#[derive(Clone, Debug, Serialize)]
pub struct ModularReport {
    /// Hexadecimal, or `runtime`.
    pub modulus: String,
    pub reduce: &'static str,
    /// What the result is below: `m`, `2 m` or `2^n`.
    pub bound: String,
    pub contract: String,
    /// How far numbers are shifted, if they are.
    #[serde(skip_serializing_if = "is_zero")]
    pub shift: u32,
    /// Numbers that go with a fixed modulus of Montgomery's, hexadecimal: m', `one = 2^n mod m` (1 in Montgomery's form)
    /// and `r2 = 2^(2n) mod m` (whose product with a number is its form); the last two of the shift where numbers are.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<&'static str, String>,
}

fn is_zero(bits: &u32) -> bool {
    *bits == 0
}

impl ModularReport {
    fn of(spec: &Spec) -> Option<Self> {
        let modular = spec.modular.as_ref()?;
        let n = spec.size.a;
        let hex = |x: &BigUint| format!("{x:#x}");
        let mut constants = BTreeMap::new();
        if let Some(m) = modular.fixed().filter(|_| spec.op.is_montgomery()) {
            let one = BigUint::from(1u8);
            let inverse = negated_inverse(m, spec.word_bits);
            constants.insert("mprime", format!("{inverse:#x}"));
            constants.insert("one", hex(&((one << n) % m)));
            constants.insert("r2", hex(&square_of_r(m, n)));
        }
        if let Some(m) = modular.fixed().filter(|_| modular.shift > 0) {
            let one = BigUint::from(1u8);
            constants.insert("one", hex(&((one << modular.shift) % m)));
            constants.insert("r2", hex(&square_of_r(m, modular.shift)));
        }
        Some(Self {
            modulus: modular.fixed().map_or(modular.modulus.to_string(), hex),
            reduce: modular.reduce.name(),
            bound: modular.reduce.bound_text(n),
            contract: spec.contract()?,
            shift: modular.shift,
            constants,
        })
    }
}

/// Cycles in the two conventions.
#[derive(Clone, Debug, Serialize)]
pub struct Cycles {
    pub body: Span,
    pub call: Span,
}

/// Code bytes in the two conventions.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bytes {
    pub body: usize,
    pub call: usize,
}

/// The four verdicts.
#[derive(Clone, Debug, Serialize)]
pub struct Verdicts {
    pub correct: Verdict,
    pub memory: Verdict,
    pub abi: Verdict,
    /// Per core: `proved`, `leaks: ...` or `unknown: ...`.
    pub constant_time: BTreeMap<String, String>,
}

/// The files written.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Files {
    pub asm: Option<String>,
    pub header: Option<String>,
    pub object: Option<String>,
}

/// Everything about a kernel, with the fields that `--json` promises.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub spec: SpecReport,
    pub core: String,
    pub mcu: Option<String>,
    pub method: &'static str,
    pub params: BTreeMap<&'static str, usize>,
    pub style: &'static str,
    pub cycles: Cycles,
    /// The same bytes on every core that runs them.
    pub cycles_on: BTreeMap<String, Cycles>,
    /// Executed instructions of the body.
    pub instructions: ClassCounts,
    pub bytes: Bytes,
    /// Below the return address; of the stack of data, if return addresses have their own.
    pub stack_bytes: usize,
    /// Of a stack that is for return addresses only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_stack_bytes: Option<usize>,
    pub verdict: Verdicts,
    /// Per core that is not constant time: the first instruction that tells, and what.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub leaks: BTreeMap<String, Leak>,
    /// Of an audit: fewest and most cycles of runs on numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// Bytes of each area that an audited function is given to work in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scratch: Vec<usize>,
    /// Why a verdict is not `proved`.
    pub reasons: BTreeMap<&'static str, String>,
    /// For each way operands may coincide: `proved`, or `refused: ...`.
    pub aliasing: BTreeMap<&'static str, String>,
    pub abi: &'static str,
    pub warnings: Vec<String>,
    /// The command that gives the same bytes.
    pub command: String,
    pub version: &'static str,
    pub files: Files,
}

/// What a report is about: code, where it comes from, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub spec: &'a Spec,
    pub symbol: &'a str,
    /// Bits of the words that operands are arrays of.
    pub word_bits: u32,
    pub method: &'static str,
    pub params: &'a Params,
    pub style: &'static str,
    pub bytes: Bytes,
    pub cost: &'a Cost,
    pub proof: &'a Proof,
    pub aliasing: &'a [Aliasing],
    pub constant_time: &'a [(String, Timing)],
    pub measured: Option<Measured>,
}

impl Report {
    /// The report of a kernel for `core` (and part `mcu`), made by `command`.
    pub fn new<I: Isa>(
        kernel: &Kernel<I>,
        core: String,
        mcu: Option<String>,
        warnings: Vec<String>,
        command: String,
    ) -> Self {
        let subject = Subject {
            spec: &kernel.spec,
            symbol: &kernel.spec.symbol(),
            word_bits: I::WORD_BITS,
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
        };
        Self::of(&subject, (core, mcu), kernel.abi, warnings, command)
    }

    /// The report of any code for a core and part, in the convention `abi`.
    pub fn of(
        subject: &Subject<'_>,
        (core, mcu): (String, Option<String>),
        abi: &'static str,
        warnings: Vec<String>,
        command: String,
    ) -> Self {
        let Subject { spec, proof, .. } = *subject;
        let constant_time = subject
            .constant_time
            .iter()
            .map(|(core, timing)| {
                let leak = timing.leak.as_ref();
                let text = leak.map_or("proved".to_string(), |leak| leak.verdict());
                (core.clone(), text)
            })
            .collect();
        let leaks = subject
            .constant_time
            .iter()
            .filter_map(|(core, timing)| Some((core.clone(), timing.leak.clone()?)))
            .collect();
        let mut aliasing: BTreeMap<_, _> = subject
            .aliasing
            .iter()
            .map(|case| {
                let text = match (&case.reason, case.allowed) {
                    (_, true) => "proved".to_string(),
                    (Some(reason), false) => format!("refused: {reason}"),
                    (None, false) => "refused".to_string(),
                };
                (case.alias.text(), text)
            })
            .collect();
        aliasing.insert(
            "partial overlap with r",
            "refused: the contract forbids it".into(),
        );
        let verdicts = [
            ("correct", &proof.correct),
            ("memory", &proof.memory),
            ("abi", &proof.abi),
        ];
        let reasons = verdicts
            .into_iter()
            .filter_map(|(name, v)| Some((name, v.reason()?.to_string())))
            .collect();
        let sources = spec.sources().into_iter().map(|source| SourceReport {
            name: source.name,
            bits: source.bits,
            bytes: source.bits as usize / 8,
        });
        Self {
            spec: SpecReport {
                op: spec.op.name(),
                bits: spec.size.a,
                size: spec.size.to_string(),
                sources: sources.collect(),
                equation: spec.equation(),
                symbol: subject.symbol.to_string(),
                result_bytes: spec.result_bytes(),
                word_bits: subject.word_bits,
                modular: ModularReport::of(spec),
            },
            core,
            mcu,
            method: subject.method,
            params: subject.params.clone(),
            style: subject.style,
            cycles: Cycles {
                body: subject.cost.body,
                call: subject.cost.call,
            },
            cycles_on: subject
                .constant_time
                .iter()
                .filter_map(|(core, timing)| {
                    let Cost { body, call, .. } = timing.cost?;
                    Some((core.clone(), Cycles { body, call }))
                })
                .collect(),
            instructions: subject.cost.counts,
            bytes: subject.bytes,
            stack_bytes: proof.stack.bytes,
            return_stack_bytes: proof.stack.returns,
            verdict: Verdicts {
                correct: proof.correct.clone(),
                memory: proof.memory.clone(),
                abi: proof.abi.clone(),
                constant_time,
            },
            leaks,
            measured: subject.measured,
            scratch: Vec::new(),
            reasons,
            aliasing,
            abi,
            warnings,
            command,
            version: env!("CARGO_PKG_VERSION"),
            files: Files::default(),
        }
    }

    /// Is everything that must hold for any use proved? Constant time depends on the core and is told, not demanded.
    pub fn is_proved(&self) -> bool {
        self.verdict.correct.is_proved()
            && self.verdict.memory.is_proved()
            && self.verdict.abi.is_proved()
    }

    /// The C prototype.
    pub fn prototype(&self) -> String {
        let spec = &self.spec;
        let word = format!("uint{}_t", spec.word_bits);
        let words = |bytes: usize| 8 * bytes / spec.word_bits as usize;
        let result = format!("{word} r[{}]", words(spec.result_bytes));
        let source = |s: &SourceReport| format!("const {word} {}[{}]", s.name, words(s.bytes));
        let sources = spec.sources.iter().map(source);
        let arguments: Vec<_> = std::iter::once(result).chain(sources).collect();
        format!("void {}({});", spec.symbol, arguments.join(", "))
    }

    /// `30 bytes of stack`, below the return address, or how many of each of two stacks.
    pub fn stack_text(&self) -> String {
        let bytes = self.stack_bytes;
        match self.return_stack_bytes {
            None => format!("{bytes} bytes of stack"),
            Some(returns) => format!("{bytes} bytes of data stack, {returns} of return stack"),
        }
    }

    /// `operand-caching e=10`.
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

    /// `2341 body, 2417 call on atmega128`: the kernel's core first, then the others that run it.
    pub fn cycles_text(&self) -> Vec<String> {
        let line = |core: &String, cycles: &Cycles| {
            let (body, call) = (Self::span_text(&cycles.body), Self::span_text(&cycles.call));
            format!("{body} body, {call} call on {core}")
        };
        let others = self
            .cycles_on
            .iter()
            .filter(|(core, _)| **core != self.core);
        std::iter::once(line(&self.core, &self.cycles))
            .chain(others.map(|(core, cycles)| line(core, cycles)))
            .collect()
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
