//! From a schedule to a whole function: columns or words, addressing, registers saved.

use machine::isa::arm::code::Insn;
use machine::isa::arm::cores::Core;
use machine::program::Program;
use spec::Op;

use crate::engine::halves;
use crate::engine::order::{most_cycles, moved};
use crate::facts::{Facts, Style};
use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::{Scans, Schedule, Words};
use crate::target::arm::columns::ORDER;
use crate::target::arm::driver::Code;
use crate::target::arm::order::order;
use crate::target::arm::outlook::Outlook;
use crate::target::arm::pointers::{Array, Item};
use crate::target::arm::words::{Choices, Lowering};
use crate::target::arm::{frame, pointers, scans, search};
use crate::target::claims;

/// What a method may know: of r0 to r12 and r14, three point and two take the product.
pub const FACTS: Facts = Facts {
    word_bits: 32,
    free_registers: 9,
    accumulator_registers: 3,
    constant_registers: 0,
    tile_registers: 0,
    tile_rows: false,
    one_time: true,
    style: Style::Unrolled,
};

/// Registers of a product.
const PRODUCT: usize = 2;

/// Arrays whose pointers are free when the last of their words is loaded.
const FREED: [Array; 2] = [Array::A, Array::B];

/// Every choice of lowering words that may pay; `overlap` is that of the limits.
fn choices(overlap: bool) -> impl Iterator<Item = Choices> {
    let horizons = [1, 3, 6, 12, 24];
    horizons.into_iter().flat_map(move |horizon| {
        [(0, 4), (0, 7), (3, 4), (3, 7), (7, 7)].map(move |(hold, weight)| Choices {
            horizon,
            hold,
            weight,
            overlap,
        })
    })
}

/// Functions that run `schedule` in the free registers of the limits and two for the product: the cheapest that the search ends with.
///
/// # Errors
/// When registers or the stack run out, or a pointer does not reach.
pub fn lower(
    schedule: &Schedule,
    core: &Core,
    limits: Limits,
) -> Result<Vec<Program<Insn>>, LowerError> {
    let order = &ORDER[..(limits.registers + PRODUCT).min(ORDER.len())];
    let made = match schedule {
        Schedule::Tiles(_) => return Err(LowerError::Tiles),
        Schedule::Loops(_) => return Err(LowerError::Loops),
        Schedule::Halves(halves) => {
            let bases = |base: &Scans| match order.len() < ORDER.len() {
                true => Err(LowerError::Registers),
                false => scans::lower(base, order),
            };
            return halves::lower(halves, bases, Code::default);
        }
        Schedule::Scans(scans) => return scans::lower(scans, order),
        Schedule::Stages(_) => return Err(LowerError::Nested),
        Schedule::Words(words) => in_words(words, core, order, limits.overlap),
        Schedule::Blocks(blocks) => {
            let words = || {
                let words = Words::of(Op::Mul, FACTS.word_bits, blocks);
                in_words(&words, core, order, limits.overlap)
            };
            match Outlook::of(blocks) {
                Some(outlook) => {
                    let mut made = in_columns(&outlook, core, order)?;
                    // Words loaded between blocks are chosen better by the search.
                    if blocks.blocks.len() == 1 {
                        made.extend(words());
                    }
                    made
                }
                None => words(),
            }
        }
    };
    Ok(vec![cheapest(made)?])
}

/// A function and its cycles, or why there is none.
type Costed = Result<(u64, Program<Insn>), LowerError>;

/// The cheapest of some functions.
fn cheapest(list: Vec<Costed>) -> Result<Program<Insn>, LowerError> {
    let mut best: Option<(u64, Program<Insn>)> = None;
    let mut error = LowerError::Registers;
    for made in list {
        match made {
            Ok((cost, program)) => {
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, program));
                }
            }
            Err(e) => error = e,
        }
    }
    best.map(|(_, program)| program).ok_or(error)
}

/// Blocks of columns: what the search ends with.
fn in_columns(outlook: &Outlook<'_>, core: &Core, order: &[u8]) -> Result<Vec<Costed>, LowerError> {
    let made = search::columns(outlook, core, order)?
        .into_iter()
        .map(|state| {
            let (items, notes) = state.finish();
            let (cost, program, _) = function(&items, notes, 0, core)?;
            Ok((cost, program))
        });
    Ok(made.collect())
}

/// Schedules in words. A pointer whose array is done with holds values from then on.
fn in_words(words: &Words, core: &Core, registers: &[u8], overlap: bool) -> Vec<Costed> {
    let whole = |l: Lowering<'_>| {
        let scratch = l.bank.scratch_words();
        let (cost, mut program, places) = function(&l.items, l.notes, scratch, core)?;
        program.claims = claims::of(words, &l.written, |item| places.get(item).copied());
        Ok((cost, program))
    };
    let mut made = Vec::new();
    for choices in choices(overlap) {
        let pointer = |r: &&u8| words.lengths.len() > 2 && **r == Array::M.pointer();
        let values = registers.iter().filter(|r| !pointer(r));
        let mut order: Vec<_> = values.map(|r| (*r, 0)).collect();
        let Ok(l) = Lowering::of(words, &order, choices) else {
            made.push(Err(LowerError::Registers));
            continue;
        };
        let done = l.done;
        made.push(whole(l));
        if registers.len() < ORDER.len() {
            // A limits of registers does not count those of pointers, free or not.
            continue;
        }
        order.extend(FREED.map(|a| (a.pointer(), done[a as usize])));
        let again = Lowering::of(words, &order, choices).ok();
        let holds = |l: &Lowering<'_>| {
            FREED
                .iter()
                .all(|a| l.done[*a as usize] <= done[*a as usize])
        };
        made.extend(again.filter(holds).map(whole));
    }
    made
}

/// A whole function with `scratch` words of memory, its cycles, and the last instruction of each item.
fn function(
    items: &[Item],
    notes: Vec<(usize, String)>,
    scratch: usize,
    core: &Core,
) -> Result<(u64, Program<Insn>, Vec<usize>), LowerError> {
    let resolved = pointers::resolve(items).ok_or(LowerError::Addressing)?;
    let mut body = Vec::with_capacity(resolved.len());
    let mut notes = notes.into_iter().peekable();
    let mut body_notes = Vec::new();
    let mut places = Vec::with_capacity(items.len());
    for (i, insns) in resolved.into_iter().enumerate() {
        while let Some((_, text)) = notes.next_if(|(at, _)| *at == i) {
            body_notes.push((body.len(), text));
        }
        body.extend(insns);
        places.push(body.len().saturating_sub(1));
    }
    let ordered = order(core, &body);
    // Where an instruction is now, and before which one a remark stands.
    let now = moved(&ordered);
    let before_note = |at: usize| ordered.iter().position(|(old, _)| *old >= at);
    let body: Vec<_> = ordered.iter().map(|(_, insn)| *insn).collect();
    let (before, after) = frame::frame(&body, scratch)?;
    let offset = before.len();
    let mut program = Program::new();
    if offset > 0 {
        program.notes.push((0, "save registers".into()));
    }
    let notes = body_notes.into_iter();
    let notes = notes.map(|(at, text)| (before_note(at).unwrap_or(body.len()) + offset, text));
    program.notes.extend(notes);
    program
        .notes
        .push((offset + body.len(), "restore registers".into()));
    let cost = most_cycles(core, &body);
    program.insns = [before, body, after].concat();
    let places = places
        .into_iter()
        .map(|at| now.get(at).copied().unwrap_or(at) + offset);
    Ok((cost, program, places.collect()))
}
