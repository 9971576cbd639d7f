//! From a schedule to a whole function: words in registers, ordered, registers saved, short forms chosen.

use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::program::Program;
use rustc_hash::FxHashSet;

use crate::allocate::OutOfRegisters;
use crate::engine::words::Choices;
use crate::engine::{halves, scans};
use crate::facts::{Facts, Style};
use crate::lower::Limits;
use crate::refusal::{LowerError, those_made};
use crate::schedule::{Scans, Schedule, WordStep, Words};
use crate::target::claims;
use crate::target::riscv::accumulator::Accumulator;
use crate::target::riscv::driver::Code;
use crate::target::riscv::flow::{Flow, shortest};
use crate::target::riscv::order::{order, waits};
use crate::target::riscv::registers::{CALLEE_SAVED, CALLER_SAVED};
use crate::target::riscv::sweeps::Lowering;
use crate::target::riscv::{frame, rows};

/// Registers a function may use besides its pointers, those it need not save first.
fn registers(core: &Core) -> Vec<u8> {
    let all = CALLER_SAVED.into_iter().chain(CALLEE_SAVED);
    let there = core.features.registers();
    all.filter(|r| *r < there).collect()
}

/// Those of them that it need not save.
fn free_of_charge(core: &Core) -> usize {
    let there = core.features.registers();
    CALLER_SAVED.iter().filter(|r| **r < there).count()
}

/// What a method may know of `core`: all registers but zero, sp, gp, tp and three pointers.
pub fn facts(core: &Core) -> Facts {
    Facts {
        word_bits: 32,
        free_registers: registers(core).len(),
        // Three words, and a product of two.
        accumulator_registers: 5,
        constant_registers: 0,
        tile_registers: 0,
        tile_rows: false,
        one_time: false,
        style: Style::Unrolled,
    }
}

/// Functions that run `schedule` in the registers of the limits: with few registers to save, and with more.
///
/// # Errors
/// When registers or the stack run out, or a word is too far from its pointer.
pub fn lower(
    schedule: &Schedule,
    core: &Core,
    limits: Limits,
) -> Result<Vec<Program<Insn>>, LowerError> {
    let all = registers(core);
    let all = &all[..limits.registers.min(all.len())];
    let made: Vec<Result<Option<_>, _>> = match schedule {
        Schedule::Blocks(blocks) => {
            let words = Words::of(spec::Op::Mul, facts(core).word_bits, blocks);
            either(&words, core, all, limits.cycles)
        }
        Schedule::Words(words) => either(words, core, all, limits.cycles),
        Schedule::Tiles(_) => return Err(LowerError::Tiles),
        Schedule::Loops(_) => return Err(LowerError::Loops),
        // A record and what is added up take all registers that need not be saved.
        Schedule::Halves(_) if core.features.registers() < 32 => return Err(LowerError::Registers),
        Schedule::Halves(halves) => {
            let bases = |scans: &Scans| those_made(in_scans(scans, core, all));
            return halves::lower(halves, bases, || Code::new(core.features));
        }
        Schedule::Scans(scans) => {
            let made = in_scans(scans, core, all).into_iter();
            made.map(|program| program.map(Some)).collect()
        }
        Schedule::Stages(_) => return Err(LowerError::Nested),
    };
    // The last one has the most registers.
    Ok(those_made(made)?.into_iter().flatten().collect())
}

/// Products in a pass of an inner loop, where nothing is said.
const UNROLL: [usize; 3] = [1, 2, 4];

fn in_scans(scans: &Scans, core: &Core, all: &[u8]) -> Vec<Result<Program<Insn>, LowerError>> {
    if scans.side.is_some() {
        return vec![Err(LowerError::Blocks)];
    }
    if !core.features.multiply && !scans.strands.is_empty() {
        return vec![Err(LowerError::NoProducts(core.name))];
    }
    let unroll = match scans.unroll {
        Some(unroll) => vec![unroll],
        None => UNROLL.to_vec(),
    };
    let few = &all[..free_of_charge(core).min(all.len())];
    let choices = [few, all].into_iter();
    let choices = choices.flat_map(|r| unroll.iter().map(move |u| (r, *u)));
    choices
        .map(|(r, u)| scans::lower::<Flow>(scans, core, r, u))
        .collect()
}

/// A function; none where it would take longer than is of interest.
type Made = Result<Option<Program<Insn>>, LowerError>;

/// Products in columns as they are, and in rows: functions of at most `most` cycles, and perhaps others.
fn either(words: &Words, core: &Core, all: &[u8], most: u64) -> Vec<Made> {
    let mut list = in_words(words, core, all, most);
    if let Some(rows) = rows::of(words) {
        list.extend(in_words(&rows, core, all, most));
    }
    list
}

/// How many more registers than those free of charge are tried.
const SAVED: [usize; 7] = [0, 3, 6, 8, 10, 12, 13];
/// How much dearer the way back of a value is that memory does not hold; do pointers become free?
const CHOICES: [(u64, bool); 4] = [(8, true), (4, true), (8, false), (4, false)];

fn in_words(words: &Words, core: &Core, all: &[u8], most: u64) -> Vec<Made> {
    let products = words.steps.iter().any(|step| match step {
        WordStep::Sweep(sweep) => sweep.piles.iter().any(|pile| {
            let products = pile.products.len() + pile.doubled.len();
            products > 0 || pile.quotient.is_some()
        }),
        WordStep::Wide { .. } => true,
        _ => false,
    });
    if products && !core.features.multiply {
        return vec![Err(LowerError::NoProducts(core.name))];
    }
    let mut counts: Vec<_> = SAVED
        .map(|more| (free_of_charge(core) + more).min(all.len()))
        .to_vec();
    counts.dedup();
    let choices = counts.iter().flat_map(|count| {
        CHOICES.map(|(weight, reuse)| {
            let rotate = waits(core);
            let choices = Choices {
                weight,
                spare: 0,
                shifts: true,
                rotate,
                reuse,
            };
            (&all[..*count], choices)
        })
    });
    let mut bodies = FxHashSet::default();
    choices
        .map(|(registers, choices)| one(words, core, registers, choices, most, &mut bodies))
        .collect()
}

/// One function, unless it takes more than `most` cycles for certain, or is one of the `bodies` made before.
fn one(
    words: &Words,
    core: &Core,
    registers: &[u8],
    choices: Choices,
    most: u64,
    bodies: &mut FxHashSet<Vec<Insn>>,
) -> Made {
    let l = Lowering::of(words, registers, Accumulator::default(), choices);
    let l = l.map_err(|OutOfRegisters| LowerError::Registers)?;
    // An instruction takes a cycle at least.
    if l.insns.len() as u64 > most || !bodies.insert(l.insns.clone()) {
        return Ok(None);
    }
    let scratch = l.bank.scratch_words();
    let (mut program, places) = function(&l.insns, l.notes, scratch, core)?;
    program.claims = claims::of(words, &l.written, |at| places.get(at).copied());
    Ok(Some(program))
}

/// A whole function with `scratch` words of memory, ordered; with it, where each instruction of `body` is.
fn function(
    body: &[Insn],
    notes: Vec<(usize, String)>,
    scratch: usize,
    core: &Core,
) -> Result<(Program<Insn>, Vec<usize>), LowerError> {
    let (before, after) = frame::frame(body, scratch, core.features)?;
    let (start, end) = (before.len(), before.len() + body.len());
    let (last, rest) = after.split_last().ok_or(LowerError::Registers)?;
    let code = [&before[..], body, rest].concat();
    let mut ordered = order(core, &code);
    ordered.push((code.len(), *last));
    let mut program = Program::new();
    let mut places = vec![0; body.len()];
    let mut remarks = vec![(0, "save registers".to_string())];
    remarks.extend(notes.into_iter().map(|(at, text)| (at + start, text)));
    remarks.push((end, "restore registers, return".into()));
    let mut remarks = remarks.into_iter().peekable();
    if start == 0 {
        remarks.next();
    }
    for (index, insn) in ordered {
        while let Some((_, text)) = remarks.next_if(|(at, _)| *at <= index) {
            program.notes.push((program.insns.len(), text));
        }
        if (start..end).contains(&index) {
            places[index - start] = program.insns.len();
        }
        program.insns.push(shortest(insn, core.features));
    }
    match program.insns.iter().any(|insn| insn.code().is_err()) {
        true => Err(LowerError::Displacement),
        false => Ok((program, places)),
    }
}
