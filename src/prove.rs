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
use crate::domain::{Abstract, Address, Base, Domain};
use crate::function::Function;
use crate::isa::{Cost, Isa, Stopped};
use crate::spec::{Alias, Op, Spec};

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

/// Bases of the result, the sources and the areas of `function`, as the call passes them.
pub(crate) fn bases(alias: Alias, function: &Function) -> Vec<Base> {
    let [r, a, b] = [0, 1, 2].map(|i| Base(Base::FIRST_OPERAND + i));
    let operands = match alias {
        Alias::Distinct => [r, a, b],
        Alias::AIsB => [r, a, a],
        Alias::RIsA => [r, r, b],
        Alias::RIsB => [r, a, r],
        Alias::All => [r, r, r],
    };
    let areas = (Base::FIRST_AREA..).take(function.areas.len()).map(Base);
    operands.into_iter().chain(areas).collect()
}

/// Names the operands, fills the sources with unknown words, and returns these.
pub(crate) fn declare<D: Abstract>(
    d: &mut D,
    spec: &Spec,
    function: &Function,
    word_bits: u32,
    bases: &[Base],
) -> [Vec<Address>; 2] {
    let [r, a, b] = [bases[0], bases[1], bases[2]];
    for (base, name) in [(b, "b"), (a, "a")] {
        d.declare(base, Region::operand(name, spec.operand_bytes(), false));
    }
    d.declare(r, Region::operand("r", spec.result_bytes(), true));
    for (base, bytes) in bases[3..].iter().zip(&function.areas) {
        d.declare(*base, Region::operand("scratch", *bytes, true));
    }
    let mut fill = |base: Base, name: &str| {
        let places = words(base, spec.operand_bytes(), word_bits);
        for (i, at) in places.iter().enumerate() {
            let name = format!("{name}[{i}]");
            match word_bits {
                8 => unknown::<D, 8>(d, *at, name),
                16 => unknown::<D, 16>(d, *at, name),
                _ => unknown::<D, 32>(d, *at, name),
            }
        }
        places
    };
    let words_a = fill(a, "a");
    let words_b = if a == b {
        words_a.clone()
    } else {
        fill(b, "b")
    };
    [words_a, words_b]
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

/// Runs `code` for all inputs and shows equation, memory and calling convention.
pub fn prove<I: Isa>(spec: &Spec, core: &I::Core, code: &[u8], alias: Alias) -> Proof {
    prove_function::<I>(spec, core, &Function::kernel(code), alias)
}

/// The same for any function.
pub fn prove_function<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    alias: Alias,
) -> Proof {
    let mut d = Algebra::default();
    let bases = bases(alias, function);
    let word_bits = function.limb_bits.unwrap_or(I::WORD_BITS);
    let places = declare(&mut d, spec, function, word_bits, &bases);
    let sources = places.map(|places| {
        let words = places.into_iter().filter_map(|at| d.memory.peek(at));
        words.collect::<Vec<_>>()
    });
    let unknown = |text: String| Verdict::Unknown(text);
    match I::call(d, core, function, &bases, STEP_LIMIT) {
        Err(stopped) => {
            let text = describe::<I>(core, function, &stopped);
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
            let mut d = called.domain;
            let lowest = d.memory.lowest_written(Base::STACK);
            let result = words(bases[0], spec.result_bytes(), word_bits);
            Proof {
                correct: equation(spec, &mut d, &result, word_bits, &sources).map_or_else(
                    |open| unknown(told::<I>(core, function, open)),
                    |()| Verdict::Proved,
                ),
                memory: Verdict::Proved,
                abi,
                stack_bytes: lowest.map_or(0, |lowest| (I::STACK_TOP - lowest).max(0) as usize),
            }
        }
    }
}

/// Shows the equation of `spec` from the words in memory.
fn equation(
    spec: &Spec,
    d: &mut Algebra,
    result: &[Address],
    word_bits: u32,
    [a, b]: &[Vec<Value>; 2],
) -> Result<(), Open> {
    let mut words = Vec::with_capacity(result.len());
    for (i, at) in result.iter().enumerate() {
        if !d.memory.is_written(*at, word_bits) {
            let text = format!("r[{i}] is never written");
            return Err(Open { text, pc: None });
        }
        let word = match word_bits {
            8 => d.load::<8>(*at),
            16 => d.load::<16>(*at),
            _ => d.load::<32>(*at),
        };
        words.push(word.map_err(|fault| Open {
            text: fault.to_string(),
            pc: None,
        })?);
    }
    match spec.op {
        Op::Mul => identity::product(d, word_bits, &words, a, b),
    }
}

fn told<I: Isa>(core: &I::Core, function: &Function, open: Open) -> String {
    match open.pc {
        None => open.text,
        Some(pc) => format!("{}: {}", open.text, at::<I>(core, function, pc)),
    }
}

/// `0x1a: adc r2, r3`.
pub fn at<I: Isa>(core: &I::Core, function: &Function, pc: usize) -> String {
    match instruction::<I>(core, function, pc) {
        Some((insn, _)) => format!("{pc:#x}: {}", I::text(&insn)),
        None => format!("{pc:#x}"),
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
        Some((list.first()?.1, bytes.len()))
    })
}

/// A fault in words, with its instruction, and the way that a secret took to it.
pub fn describe<I: Isa>(core: &I::Core, function: &Function, (pc, fault): &Stopped) -> String {
    if let Some(text) = function.missing.get(&(*pc as u64)) {
        return format!("{text} at {pc:#x}");
    }
    let text = format!("{fault} at {}", at::<I>(core, function, *pc));
    let path = fault.source().map_or(&[][..], |source| &source.path);
    /// Steps told in full: those at the beginning and those at the end.
    const TOLD: usize = 3;
    let steps: Vec<_> = path.iter().map(|pc| at::<I>(core, function, *pc)).collect();
    match steps.len() {
        0 => text,
        n if n <= 2 * TOLD => format!("{text}, by way of {}", steps.join(", ")),
        n => format!(
            "{text}, by way of {}, ..., {}",
            steps[..TOLD].join(", "),
            steps[n - TOLD..].join(", ")
        ),
    }
}

/// What an observer of time and addresses learns on one core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Fewest and most cycles over all inputs, if the run could be followed.
    pub cost: Option<Cost>,
    /// The first instruction that tells something about the operands, or that the run cannot follow.
    pub leak: Option<String>,
    /// Addresses of the instructions it executed, ascending, if the run could be followed.
    pub visited: Vec<usize>,
}

/// Runs `code` with secret operands on `core`.
pub fn timing<I: Isa>(spec: &Spec, core: &I::Core, code: &[u8]) -> Timing {
    function_timing::<I>(spec, core, &Function::kernel(code))
}

/// The width of the narrowest loads from the operands, in bits, if the run can be followed.
pub fn narrowest_access<I: Isa>(spec: &Spec, core: &I::Core, function: &Function) -> Option<u32> {
    let mut d = Secret::default();
    let bases = bases(Alias::Distinct, function);
    declare(&mut d, spec, function, I::WORD_BITS, &bases);
    let called = I::call(d, core, function, &bases, STEP_LIMIT).ok()?;
    let widths = bases[1..3]
        .iter()
        .filter_map(|b| called.domain.memory.narrowest_load(*b));
    widths.min()
}

/// The same for any function.
pub fn function_timing<I: Isa>(spec: &Spec, core: &I::Core, function: &Function) -> Timing {
    let mut d = Secret::default();
    let bases = bases(Alias::Distinct, function);
    let word_bits = function.limb_bits.unwrap_or(I::WORD_BITS);
    declare(&mut d, spec, function, word_bits, &bases);
    match I::call(d, core, function, &bases, STEP_LIMIT) {
        Ok(called) => Timing {
            cost: Some(called.cost),
            visited: called.domain.visited(),
            leak: called
                .slow_operand
                .map(|(pc, text)| format!("at {}: {text}", at::<I>(core, function, pc))),
        },
        Err(stopped) => {
            let text = describe::<I>(core, function, &stopped);
            Timing {
                cost: None,
                visited: Vec::new(),
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
            ..
        } => Ok(cost),
        Timing { leak, .. } => Err(leak.unwrap_or_default()),
    }
}
