//! The four obligations of a kernel, on its bytes, for all inputs.
//!
//! One run in the algebra domain shows the equation, the memory it touches and the
//! calling convention; one run in the secret domain per core shows what time and
//! addresses tell. The operands lie anywhere: their places are free variables.

use serde::Serialize;

use crate::domain::abstract_memory::Region;
use crate::domain::algebra::{Algebra, Value};
use crate::domain::identity::{self, Open};
use crate::domain::secret::Secret;
use crate::domain::{Abstract, Address, Base};
use crate::isa::{Cost, Isa, Stopped};
use crate::program::Claim;
use crate::spec::{Alias, Op, Spec};

/// The most instructions an abstract run may take.
pub const STEP_LIMIT: u64 = 50_000_000;

/// A verdict on one obligation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Proved,
    /// False, with the evidence.
    Disproved(String),
    /// Not shown, with the obligation that stayed open.
    Unknown(String),
}

impl Verdict {
    /// Is it proved?
    pub fn is_proved(&self) -> bool {
        *self == Verdict::Proved
    }

    /// `proved`, `disproved` or `unknown`.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Proved => "proved",
            Verdict::Disproved(_) => "disproved",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// The evidence or the open obligation.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Verdict::Proved => None,
            Verdict::Disproved(text) | Verdict::Unknown(text) => Some(text),
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
    /// Bytes of stack below the return address.
    pub stack_bytes: usize,
}

impl Proof {
    /// Is everything proved?
    pub fn holds(&self) -> bool {
        self.correct.is_proved() && self.memory.is_proved() && self.abi.is_proved()
    }
}

/// Bases of the result and the sources, as the call passes them.
fn bases(alias: Alias) -> [Base; 3] {
    let [r, a, b] = [0, 1, 2].map(|i| Base(Base::FIRST_OPERAND + i));
    match alias {
        Alias::Distinct => [r, a, b],
        Alias::AIsB => [r, a, a],
        Alias::RIsA => [r, r, b],
        Alias::RIsB => [r, a, r],
        Alias::All => [r, r, r],
    }
}

/// Names the operands, fills the sources with unknown words, and returns these.
fn declare<D: Abstract, V: Copy>(
    d: &mut D,
    spec: &Spec,
    word_bits: u32,
    bases: [Base; 3],
    mut unknown: impl FnMut(&mut D, Address, String) -> V,
) -> [Vec<V>; 2] {
    let [r, a, b] = bases;
    for (base, name) in [(b, "b"), (a, "a")] {
        d.declare(base, Region::operand(name, spec.operand_bytes(), false));
    }
    d.declare(r, Region::operand("r", spec.result_bytes(), true));
    let step = (word_bits / 8) as usize;
    let mut fill = |base: Base, name: &str| {
        (0..spec.operand_bytes())
            .step_by(step)
            .map(|i| {
                let at = Address {
                    base,
                    offset: i as i64,
                };
                unknown(d, at, format!("{name}[{}]", i / step))
            })
            .collect::<Vec<_>>()
    };
    let words_a = fill(a, "a");
    let words_b = if a == b {
        words_a.clone()
    } else {
        fill(b, "b")
    };
    [words_a, words_b]
}

/// Runs `code` for all inputs and shows equation, memory and calling convention.
pub fn prove<I: Isa>(spec: &Spec, core: &I::Core, code: &[u8], alias: Alias) -> Proof {
    prove_with::<I>(spec, core, code, &[], alias)
}

/// `claims` about the instructions at their byte addresses; those about others are left out.
fn placed<I: Isa>(core: &I::Core, code: &[u8], claims: &[Claim]) -> Vec<Claim> {
    let insns = I::decode(core, code).unwrap_or_default();
    let address = |index: usize| insns.get(index).map(|(at, _)| *at);
    let claims = claims.iter().map(|claim| claim.at(address));
    claims.flatten().collect()
}

/// The same with claims about the instructions, as stepping stones.
pub fn prove_with<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    code: &[u8],
    claims: &[Claim],
    alias: Alias,
) -> Proof {
    let mut d = Algebra::default();
    d.offer(placed::<I>(core, code, claims));
    let bases = bases(alias);
    let [a, b] = declare(&mut d, spec, I::WORD_BITS, bases, |d, at, name| {
        let word = match I::WORD_BITS {
            8 => d.unknown::<8>(name),
            _ => d.unknown::<32>(name),
        };
        d.memory.set(at, I::WORD_BITS, word);
        word
    });
    let unknown = |text: String| Verdict::Unknown(text);
    match I::call(d, core, code, &bases, STEP_LIMIT) {
        Err(stopped) => {
            let text = describe::<I>(core, code, &stopped);
            let memory = match stopped.1.is_memory() {
                true => Verdict::Disproved(text.clone()),
                false => unknown(text.clone()),
            };
            Proof {
                correct: unknown(text.clone()),
                memory,
                abi: unknown(text),
                stack_bytes: 0,
            }
        }
        Ok(called) => {
            let abi = match called.violations.as_slice() {
                [] => Verdict::Proved,
                list => Verdict::Disproved(list.join("; ")),
            };
            let d = called.domain;
            let lowest = d.memory.lowest_written(Base::STACK);
            Proof {
                correct: equation::<I>(spec, &d, bases[0], [&a, &b], core, code),
                memory: Verdict::Proved,
                abi,
                stack_bytes: lowest.map_or(0, |lowest| (I::STACK_TOP - lowest).max(0) as usize),
            }
        }
    }
}

/// Shows the equation of `spec` from the words in memory.
fn equation<I: Isa>(
    spec: &Spec,
    d: &Algebra,
    result: Base,
    [a, b]: [&[Value]; 2],
    core: &I::Core,
    code: &[u8],
) -> Verdict {
    let step = (I::WORD_BITS / 8) as usize;
    let mut words = Vec::with_capacity(spec.result_bytes() / step);
    for i in (0..spec.result_bytes()).step_by(step) {
        let at = Address {
            base: result,
            offset: i as i64,
        };
        match d.memory.get(at, I::WORD_BITS) {
            Ok(Some(value)) => words.push(value),
            _ => return Verdict::Unknown(format!("r[{}] is never written", i / step)),
        }
    }
    let shown = match spec.op {
        Op::Mul => identity::product(d, I::WORD_BITS, &words, a, b),
    };
    match shown {
        Ok(()) => Verdict::Proved,
        Err(Open { text, pc: None }) => Verdict::Unknown(text),
        Err(Open { text, pc: Some(pc) }) => {
            Verdict::Unknown(format!("{text}: {}", at::<I>(core, code, pc)))
        }
    }
}

/// `0x1a: adc r2, r3`.
pub fn at<I: Isa>(core: &I::Core, code: &[u8], pc: usize) -> String {
    let insn = I::decode(core, code)
        .ok()
        .and_then(|list| list.into_iter().find(|(at, _)| *at == pc));
    match insn {
        Some((_, insn)) => format!("{pc:#x}: {}", I::text(&insn)),
        None => format!("{pc:#x}"),
    }
}

fn describe<I: Isa>(core: &I::Core, code: &[u8], (pc, fault): &Stopped) -> String {
    format!("{fault} at {}", at::<I>(core, code, *pc))
}

/// What an observer of time and addresses learns on one core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Fewest and most cycles over all inputs, if the run could be followed.
    pub cost: Option<Cost>,
    /// The first instruction that tells something about the operands, or that the run cannot follow.
    pub leak: Option<String>,
}

/// Runs `code` with secret operands on `core`.
pub fn timing<I: Isa>(spec: &Spec, core: &I::Core, code: &[u8]) -> Timing {
    let mut d = Secret::default();
    let bases = bases(Alias::Distinct);
    declare(&mut d, spec, I::WORD_BITS, bases, |d, at, name| {
        let word = d.secret(name);
        d.memory.set(at, I::WORD_BITS, word);
        word
    });
    match I::call(d, core, code, &bases, STEP_LIMIT) {
        Ok(called) => Timing {
            cost: Some(called.cost),
            leak: called
                .slow_operand
                .map(|(pc, text)| format!("at {}: {text}", at::<I>(core, code, pc))),
        },
        Err(stopped) => {
            let text = describe::<I>(core, code, &stopped);
            Timing {
                cost: None,
                leak: Some(if stopped.1.is_leak() {
                    text
                } else {
                    format!("unknown: {text}")
                }),
            }
        }
    }
}

/// The cost on `core` if neither time nor addresses tell anything about the operands.
///
/// # Errors
/// The first instruction that leaks, or that the run cannot follow.
pub fn leak<I: Isa>(spec: &Spec, core: &I::Core, code: &[u8]) -> Result<Cost, String> {
    match timing::<I>(spec, core, code) {
        Timing {
            cost: Some(cost),
            leak: None,
        } => Ok(cost),
        Timing { leak, .. } => Err(leak.unwrap_or_default()),
    }
}
