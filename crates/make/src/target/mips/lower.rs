//! From a schedule to a whole function: columns, rows or words, ordered, registers saved.

use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::{Feature, Op};
use machine::program::Program;
use rustc_hash::FxHashSet;

use crate::engine::words::Choices;
use crate::engine::{halves, scans};
use crate::facts::{Facts, Style};
use crate::lower::Limits;
use crate::refusal::{LowerError, those_made};
use crate::schedule::{Blocks, ColumnBlock, RowBlock, Scans, Schedule, Words};
use crate::target::claims;
use crate::target::mips::accumulator::Accumulator;
use crate::target::mips::driver::Code;
use crate::target::mips::flow::Flow;
use crate::target::mips::order::order;
use crate::target::mips::registers::{CALLEE_SAVED, CALLER_SAVED, Draft};
use crate::target::mips::sweeps::Lowering;
use crate::target::mips::{columns, frame, rows};

/// What a method may know of `core`: all registers but $zero, $k0, $k1, $gp, $sp and three pointers.
pub fn facts(core: &Core) -> Facts {
    let wide = core.features.has(Feature::WideAcc);
    Facts {
        word_bits: 32,
        free_registers: CALLER_SAVED.len() + CALLEE_SAVED.len(),
        // HI and LO accumulate; a low word on its way to memory, a word on its way from
        // there, and without guard bits HI before and after, a carry, and their count.
        accumulator_registers: if wide { 2 } else { 5 },
        constant_registers: 1,
        tile_registers: 0,
        tile_rows: false,
        one_time: false,
        style: Style::Unrolled,
    }
}

/// Functions that run `schedule` in the registers of the limits: with few registers to save, and with all there are.
///
/// # Errors
/// When registers or the stack run out.
pub fn lower(
    schedule: &Schedule,
    core: &Core,
    limits: Limits,
) -> Result<Vec<Program<Insn>>, LowerError> {
    let all = [&CALLER_SAVED[..], &CALLEE_SAVED].concat();
    let all = &all[..limits.registers.min(all.len())];
    let registers = [&all[..CALLER_SAVED.len().min(all.len())], all];
    let made: Vec<_> = match schedule {
        Schedule::Blocks(blocks) => {
            let words = Words::of(spec::Op::Mul, facts(core).word_bits, blocks);
            let mut made = in_words(&words, core, &registers, limits.cycles);
            if let Some(kind) = one_kind(blocks) {
                made.extend(registers.map(|r| in_blocks(blocks, &kind, core, r).map(Some)));
            }
            made
        }
        Schedule::Tiles(_) => return Err(LowerError::Tiles),
        Schedule::Loops(_) => return Err(LowerError::Loops),
        Schedule::Halves(halves) => {
            let bases = |scans: &Scans| those_made(in_scans(scans, core, &registers));
            return halves::lower(halves, bases, Code::default);
        }
        Schedule::Scans(scans) => {
            let made = in_scans(scans, core, &registers).into_iter();
            made.map(|program| program.map(Some)).collect()
        }
        Schedule::Stages(_) => return Err(LowerError::Nested),
        Schedule::Words(words) => in_words(words, core, &registers, limits.cycles),
    };
    // The last one has the most registers.
    Ok(those_made(made)?.into_iter().flatten().collect())
}

/// Products in a pass of an inner loop, where nothing is said.
const UNROLL: [usize; 3] = [1, 2, 4];

fn in_scans(
    scans: &Scans,
    core: &Core,
    registers: &[&[u8]],
) -> Vec<Result<Program<Insn>, LowerError>> {
    if scans.side.is_some() {
        return vec![Err(LowerError::Blocks)];
    }
    let unroll = match scans.unroll {
        Some(unroll) => vec![unroll],
        None => UNROLL.to_vec(),
    };
    let choices = registers
        .iter()
        .flat_map(|r| unroll.iter().map(move |u| (r, *u)));
    choices
        .map(|(r, u)| scans::lower::<Flow>(scans, core, r, u))
        .collect()
}

/// Blocks that are all columns or all rows.
enum Kind<'a> {
    Columns(Vec<&'a ColumnBlock>),
    Rows(Vec<&'a RowBlock>),
}

fn one_kind(blocks: &Blocks) -> Option<Kind<'_>> {
    let columns = blocks.column_blocks().map(Kind::Columns);
    columns.or_else(|| blocks.row_blocks().map(Kind::Rows))
}

fn in_blocks(
    schedule: &Blocks,
    kind: &Kind<'_>,
    core: &Core,
    registers: &[u8],
) -> Result<Program<Insn>, LowerError> {
    let mut draft = Draft::new(registers.iter().copied());
    match kind {
        Kind::Columns(blocks) => columns::lower(schedule, blocks, core.features, &mut draft)?,
        Kind::Rows(blocks) => {
            let paired = core.features.has(Feature::MaddHl);
            rows::lower(schedule, blocks, paired, &mut draft)?;
        }
    }
    let one = draft.known_one();
    let (program, _) = function(&draft.insns, draft.notes, 0, one, core)?;
    Ok(program)
}

/// How much dearer the way back of a value is that memory does not hold; registers that loads leave free.
const CHOICES: [(u64, usize); 4] = [(4, 0), (8, 0), (8, 3), (8, 6)];
/// A function; none where it would take longer than is of interest.
type Made = Result<Option<Program<Insn>>, LowerError>;

/// Functions of at most `most` cycles, and perhaps others.
fn in_words(words: &Words, core: &Core, registers: &[&[u8]], most: u64) -> Vec<Made> {
    // Choices that give the same are one.
    let mut bodies = FxHashSet::default();
    let mut made = Vec::new();
    // Doubles, masks and signs by additions and numbers, and by shifts if there is any of them.
    let mut any = false;
    for shifts in [false, true] {
        if shifts && !any {
            break;
        }
        for (registers, (weight, spare)) in registers.iter().flat_map(|r| CHOICES.map(|c| (r, c))) {
            let choices = Choices {
                weight,
                spare,
                rotate: true,
                reuse: false,
                shifts,
            };
            let accumulator = Accumulator {
                features: core.features,
                ..Accumulator::default()
            };
            let Ok(l) = Lowering::of(words, registers, accumulator, choices) else {
                made.push(Err(LowerError::Registers));
                any = true;
                continue;
            };
            any |= l.shifted;
            // An instruction takes a cycle at least.
            let is_long = l.insns.len() as u64 > most;
            made.push(match is_long || !bodies.insert(l.insns.clone()) {
                true => Ok(None),
                false => whole(l, core).map(Some),
            });
        }
    }
    made
}

/// The function of which this is the body.
fn whole(l: Lowering<'_>, core: &Core) -> Result<Program<Insn>, LowerError> {
    let (scratch, one) = (l.bank.scratch_words(), l.accumulator.one);
    let (mut program, places) = function(&l.insns, l.notes, scratch, one, core)?;
    program.claims = claims::of(l.words, &l.written, |at| places.get(at).copied());
    Ok(program)
}

/// A whole function with `scratch` words of memory, ordered. `one`: from which instruction on a
/// register holds 1. With it, where each instruction of `body` is.
fn function(
    body: &[Insn],
    notes: Vec<(usize, String)>,
    scratch: usize,
    one: Option<(usize, u8)>,
    core: &Core,
) -> Result<(Program<Insn>, Vec<usize>), LowerError> {
    let (before, mut after) = frame::frame(body, scratch)?;
    let slot = after.pop();
    let back = after.pop();
    let (start, end) = (before.len(), before.len() + body.len());
    let one = one.map(|(at, r)| (start + at, r));
    let code = [&before[..], body, &after].concat();
    let mut ordered = order(core, &code, one);
    // The last instruction, or the move of $sp, goes to the delay slot.
    let slot = match slot {
        Some(nop) if nop.op == Op::SLL => ordered.pop().or(Some((code.len(), nop))),
        other => other.map(|insn| (code.len(), insn)),
    };
    ordered.extend(back.map(|insn| (code.len(), insn)));
    ordered.extend(slot);
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
            // After a wait its NOP has the same index.
            places[index - start] = program.insns.len();
        }
        program.insns.push(insn);
    }
    Ok((program, places))
}
