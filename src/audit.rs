//! A function under audit: its arguments as text (`r,a,b,n@sp+4`), its judgement, its report.

use judge::verdict::{Judged, Search};
use machine::call;
use machine::domain::Base;
use machine::function::{Area, Argument, ArgumentPlace, Function, Passed};
use machine::isa::core::Core;
use machine::told;
use spec::modulus::Modular;
use spec::{Alias, Op, Size, Spec, SpecError};
use thiserror::Error;

use crate::kernel;
use crate::load::Loaded;
use crate::report::Bytes;

/// An argument that cannot be understood.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum ArgumentError {
    /// A type of argument that does not exist.
    #[error("{0} is no argument")]
    Unknown(String),
    /// An argument that lies where the convention puts none: what was given, and why not.
    #[error("{0} is no place of an argument")]
    Place(String, &'static str),
    /// A size that is no number: of what, and what was given.
    #[error("{0}: {1} bytes are not the size of an argument")]
    Size(String, String),
    /// A word that takes other than the bytes of a register: what was given, and these.
    #[error("{0}: a word that is passed by value takes {1} bytes")]
    Word(String, usize),
    /// Two pointers, each to operands at one place.
    #[error("{0} and {1}: one of them says it all")]
    Together(&'static str, &'static str),
    /// An operand that no argument points to: which, and the arguments given.
    #[error("no argument points to {0}")]
    Missing(&'static str, String),
    /// A register that the machine does not have.
    #[error("{0} is no register")]
    Register(String),
    /// More areas than a function may have.
    #[error("more than {0} areas: join some of them, as one scratch:BYTES")]
    Areas(usize),
    /// Words of so many bits on a machine with registers of so many.
    #[error("operands of {0} bits are no arrays of {1}-bit words")]
    Words(u32, u32),
}

/// A contract that does not fit the function.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum ContractError {
    /// What is computed makes no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// What `--args` says makes no sense.
    #[error("--args: {0}")]
    Arguments(ArgumentError),
    /// What `--scratch` says makes no sense.
    #[error("--scratch: {0}")]
    Scratch(ArgumentError),
}

/// Names of the operands, the result first.
fn operands(spec: &Spec) -> Vec<&'static str> {
    let sources = spec.sources();
    let names = sources.iter().map(|s| s.name);
    std::iter::once("r").chain(names).collect()
}

/// Sets the arguments of `function` from `text`: one item for each argument in the order of the
/// calling convention, `ITEM[:BYTES][@PLACE]`.
///
/// - `r`, `a`, `b`, `s`: a pointer to that operand;
/// - `r=a`, `r=b`, `a=b`, `r=a=b`: one pointer to operands that lie at one place;
/// - `=s`: that operand itself, if it is a single word;
/// - `=inverse`: `m' = -m^-1 mod 2^w` itself, which else is the word behind the modulus;
/// - a number, or `n`, `n8`, `n16`, `n32`: how many words (of so many bits) an operand has;
/// - `scratch:BYTES` or `scratch:BYTES/ALIGN`: a pointer to so many bytes that may be used freely, at a multiple
///   of ALIGN (of the bytes of a word if not given);
/// - `_`: anything.
///
/// BYTES is the size of the argument (of an `int` if not given), PLACE a register or `sp+N`.
///
/// # Errors
/// What cannot be understood, and what to type instead.
pub fn set_arguments(
    function: &mut Function,
    core: &Core,
    spec: &Spec,
    text: &str,
) -> Result<(), ArgumentError> {
    let names = operands(spec);
    let mut list = Vec::new();
    for item in text.split(',').map(str::trim) {
        list.push(argument(function, core, spec, &names, item)?);
    }
    let places = function.together.of(spec);
    for (i, name) in names.iter().enumerate() {
        let names_it = |argument: &Argument| match argument.passed {
            Passed::Pointer(at) => at == i || places.get(at) == places.get(i),
            Passed::Word(at) => at == i,
            Passed::Inverse | Passed::Number(_) | Passed::Unknown => false,
        };
        if !list.iter().any(names_it) {
            return Err(ArgumentError::Missing(name, names.join(",")));
        }
    }
    function.arguments = Some(list);
    Ok(())
}

/// A size that is none.
struct Unmeasured;

/// The bytes that a size says, and of scratch memory of what they are at a multiple: `64/8`.
fn measured(name: &str, size: Option<&str>) -> Result<(Option<usize>, Option<u64>), Unmeasured> {
    let (size, align) = match size.and_then(|size| size.split_once('/')) {
        Some((bytes, align)) if name == "scratch" => {
            let align = align.parse::<u64>().ok();
            let align = align.filter(|n| n.is_power_of_two() && *n <= 8);
            (Some(bytes), Some(align.ok_or(Unmeasured)?))
        }
        _ => (size, None),
    };
    let bytes = size.map(|s| s.parse::<usize>().map_err(|_| Unmeasured));
    Ok((bytes.transpose()?, align))
}

fn argument(
    function: &mut Function,
    core: &Core,
    spec: &Spec,
    names: &[&str],
    item: &str,
) -> Result<Argument, ArgumentError> {
    let (head, place) = match item.split_once('@') {
        Some((head, place)) => (head, Some(parse_place(core, place)?)),
        None => (item, None),
    };
    let (name, size) = match head.split_once(':') {
        Some((name, size)) => (name, Some(size)),
        None => (head, None),
    };
    let bad_size = || ArgumentError::Size(name.into(), size.unwrap_or_default().into());
    let (mut bytes, align) = measured(name, size).map_err(|Unmeasured| bad_size())?;
    let unknown = || ArgumentError::Unknown(item.into());
    let words = |bits: u32| match spec.size.a % bits {
        0 => Ok(Passed::Number(u64::from(spec.size.a / bits))),
        _ => Err(ArgumentError::Words(spec.size.a, bits)),
    };
    let passed = match name {
        "_" => Passed::Unknown,
        "n" => words(function.word_bits(core.word_bits()))?,
        "n8" => words(8)?,
        "n16" => words(16)?,
        "n32" => words(32)?,
        "scratch" if function.areas.len() == Base::AREAS => {
            return Err(ArgumentError::Areas(Base::AREAS));
        }
        "scratch" => {
            let bytes = bytes.take().ok_or_else(bad_size)?;
            function.areas.push(Area { bytes, align });
            Passed::Pointer(names.len() + function.areas.len() - 1)
        }
        _ if name.starts_with('=') => {
            let whole = core.word_bits() as usize / 8;
            if *bytes.get_or_insert(whole) != whole {
                return Err(ArgumentError::Word(item.into(), whole));
            }
            by_value(core, spec, names, &name[1..]).ok_or_else(unknown)?
        }
        _ if name.contains('=') => together(function, spec, name)?.ok_or_else(unknown)?,
        _ => match (names.iter().position(|n| *n == name), parse_number(name)) {
            (Some(i), _) => Passed::Pointer(i),
            (None, Some(k)) => Passed::Number(k),
            (None, None) => return Err(unknown()),
        },
    };
    let bytes = bytes.unwrap_or(core.pointer_bytes());
    if !(1..=8).contains(&bytes) {
        return Err(bad_size());
    }
    Ok(Argument {
        passed,
        bytes,
        place,
    })
}

/// The operand `name`, if it is a single word, or `m'`.
fn by_value(core: &Core, spec: &Spec, names: &[&str], name: &str) -> Option<Passed> {
    if name == "inverse" {
        return spec.inverse_follows().then_some(Passed::Inverse);
    }
    let at = names.iter().position(|n| *n == name)?;
    let source = spec.sources().into_iter().nth(at.checked_sub(1)?)?;
    // How many bits the words of `s` have may not be known yet.
    (name == "s" || source.bits == core.word_bits()).then_some(Passed::Word(at))
}

/// One pointer to operands that lie at one place (`r=a`), which the function is told.
///
/// # Errors
/// Another case was given before.
fn together(
    function: &mut Function,
    spec: &Spec,
    name: &str,
) -> Result<Option<Passed>, ArgumentError> {
    let mut cases = spec.aliases().iter().skip(1);
    let Some(case) = cases.find(|case| case.argument() == name).copied() else {
        return Ok(None);
    };
    if ![Alias::Distinct, case].contains(&function.together) {
        let texts = (function.together.text(), case.text());
        return Err(ArgumentError::Together(texts.0, texts.1));
    }
    function.together = case;
    Ok(Some(Passed::Pointer(usize::from(case == Alias::AIsB))))
}

/// The bits of the words that arguments count: 32 of `r,a,b,n32`.
fn named_words(text: &str) -> Option<u32> {
    let lengths = [("n8", 8), ("n16", 16), ("n32", 32)];
    text.split(',').find_map(|item| {
        let name = item.split([':', '@']).next()?.trim();
        lengths
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, bits)| *bits)
    })
}

fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn parse_place(core: &Core, text: &str) -> Result<ArgumentPlace, ArgumentError> {
    let stack = text.strip_prefix("sp+").and_then(|n| n.parse().ok());
    let stack = stack
        .filter(|n| (0..256).contains(n))
        .map(ArgumentPlace::Stack);
    let register = || core.register(text).map(ArgumentPlace::Register);
    let example = match core.word_bits() {
        8 => "r24",
        _ => "the name of a register",
    };
    stack
        .or_else(register)
        .ok_or_else(|| ArgumentError::Place(text.into(), example))
}

/// Sets the registers that `function` may destroy: `r2,r4-r7`.
///
/// # Errors
/// What is no register.
pub fn set_scratch(function: &mut Function, core: &Core, text: &str) -> Result<(), ArgumentError> {
    let register = |name: &str| {
        core.register(name)
            .ok_or_else(|| ArgumentError::Register(name.into()))
    };
    for item in text.split(',').map(str::trim) {
        match item.split_once('-') {
            Some((from, to)) => function.scratch.extend(register(from)?..=register(to)?),
            None => function.scratch.push(register(item)?),
        }
    }
    Ok(())
}

/// What a caller promises, as text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contract<'a> {
    /// See [`set_arguments`].
    pub arguments: Option<&'a str>,
    /// See [`set_scratch`].
    pub scratch: Option<&'a str>,
    /// Bits of the words that operands are arrays of; as arguments count or the function reads them if not given.
    pub limb_bits: Option<u32>,
    /// Operands lie at multiples of so many bytes; of their words if not given.
    pub align: Option<u64>,
    /// The most instructions that a run may take.
    pub limit: Option<u64>,
}

/// What a function is to compute.
pub struct Asked {
    /// Sum, product, residue.
    pub op: Op,
    /// Bits of its operands.
    pub size: Size,
    /// Its modulus, and how far results are reduced.
    pub modular: Option<Modular>,
}

/// The spec of a function under `contract`, which is told what it is called with.
///
/// # Errors
/// What does not fit, and what to type instead.
pub fn prepare(
    asked: Asked,
    core: &Core,
    function: &mut Function,
    contract: &Contract<'_>,
) -> Result<Spec, ContractError> {
    let Asked { op, size, modular } = asked;
    let named = contract.arguments.and_then(named_words);
    let limb_bits = contract.limb_bits.or(named);
    function.limb_bits = limb_bits;
    function.align = contract.align.unwrap_or(1);
    function.limit = contract.limit.unwrap_or(u64::MAX);
    // The words may turn out to be narrower than the machine's.
    let spec = Spec::with(op, size, modular.clone(), limb_bits.unwrap_or(8))?;
    if let Some(text) = contract.arguments {
        set_arguments(function, core, &spec, text).map_err(ContractError::Arguments)?;
    }
    if let Some(text) = contract.scratch {
        set_scratch(function, core, text).map_err(ContractError::Scratch)?;
    }
    if function.limb_bits.is_none() {
        function.limb_bits = judge::timing::narrowest_access(&spec, core, function);
    }
    let word_bits = function.word_bits(core.word_bits());
    function.align = contract.align.unwrap_or(u64::from(word_bits / 8));
    // A word in its registers.
    let returned = op.returns().then_some(word_bits.max(core.word_bits()));
    function.returned_bits = returned;
    // Words of several registers, the lowest first, are words of these.
    let word_bits = word_bits.min(core.word_bits());
    function.limb_bits = Some(word_bits);
    let spec = Spec::with(op, size, modular, word_bits)?;
    function.ram = core.ram().and_then(|ram| {
        let ends = function.data.iter().map(|segment| segment.end() as usize);
        let last = ends.filter(|end| ram.contains(end)).max();
        call::placed(&spec, function, last.unwrap_or(ram.start)..ram.end)
    });
    Ok(spec)
}

/// A function, judged.
pub struct Audit {
    /// What the judge decided.
    pub judged: Judged,
    /// Bytes of code.
    pub bytes: Bytes,
}

/// Judges the function of `loaded` on `core`.
pub fn audit(spec: &Spec, core: &Core, loaded: &Loaded) -> Audit {
    let judged = kernel::judge_function(spec, core, &loaded.function, Search::AUDIT);
    let name = core.name();
    let timing = judged.constant_time.iter().find(|(n, _)| *n == name);
    let visited = timing.map_or(&[][..], |(_, timing)| &timing.visited);
    Audit {
        bytes: bytes(core, loaded, visited),
        judged,
    }
}

/// Bytes of the function and of those that it called, and without what only serves the calls.
fn bytes(core: &Core, loaded: &Loaded, visited: &[usize]) -> Bytes {
    let function = &loaded.function;
    let within = |(address, bytes, _): &&(u64, u64, String), pc: u64| {
        (*address..address.saturating_add(*bytes)).contains(&pc)
    };
    let mut reached: Vec<_> = loaded
        .symbols
        .iter()
        .filter(|symbol| {
            let mut pcs = visited.iter().map(|pc| *pc as u64).chain([function.entry]);
            pcs.any(|pc| within(symbol, pc))
        })
        .map(|(address, bytes, _)| (*address, *bytes))
        .collect();
    reached.sort_unstable();
    reached.dedup();
    let insns = visited.iter().filter_map(|pc| {
        let (insn, bytes) = told::instruction(core, function, *pc)?;
        let named = reached
            .iter()
            .any(|(at, len)| (*at..at + len).contains(&(*pc as u64)));
        Some((core.is_frame(insn), bytes, named))
    });
    let insns: Vec<_> = insns.collect();
    let sum = |want: &dyn Fn(&(bool, usize, bool)) -> bool| -> usize {
        insns
            .iter()
            .filter(|i| want(i))
            .map(|(_, bytes, _)| bytes)
            .sum()
    };
    let named: u64 = reached.iter().map(|(_, bytes)| bytes).sum();
    let call = named as usize + sum(&|(_, _, named)| !named);
    Bytes {
        body: call.saturating_sub(sum(&|(frame, _, _)| *frame)),
        call,
    }
}
