//! From a schedule to a whole function: pointers set up, columns, registers saved.

use machine::isa::avr::abi::{self, Abi};
use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::{Core, Set};
use machine::isa::avr::instructions::{Op, Timing};
use machine::program::{Claim, Program};

use crate::facts::{Facts, Style};
use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::{Schedule, WordStep, Words};
use crate::target::avr::arrive::Resolved;
use crate::target::avr::assign::{Assigned, First};
use crate::target::avr::code::{Code, Value, VirtualInsn};
use crate::target::avr::columns::{Choices, Columns};
use crate::target::avr::frame::move_stack;
use crate::target::avr::pointers::{Array, Item};
use crate::target::avr::rows::Rows;
use crate::target::avr::setting::Setting;
use crate::target::avr::{bands, frame, halves, least, pointers, scans, tiles, windows, words};
use crate::target::claims;

/// What a method may know: r2..r25 are free once r0, r1 hold the product and X, Y, Z point.
pub const FACTS: Facts = Facts {
    word_bits: 8,
    free_registers: 24,
    accumulator_registers: 3,
    constant_registers: 1,
    tile_registers: 0,
    tile_rows: false,
    one_time: false,
    style: Style::Unrolled,
};

/// What a method may know of `core`.
pub fn facts(core: &Core) -> Facts {
    Facts {
        tile_registers: match core.multiplies() {
            true => 0,
            false => tiles::registers(core),
        },
        ..FACTS
    }
}

/// Every choice of lowering columns that may pay; the cheapest result is taken.
const CHOICES: [Choices; 2] = [
    Choices { clear_pairs: false },
    Choices { clear_pairs: true },
];

/// Functions that run `schedule` within `limits`, any of which may be the cheapest.
///
/// # Errors
/// When registers run out, or a pointer cannot move where it must.
pub fn lower(
    schedule: &Schedule,
    core: &Core,
    limits: Limits,
) -> Result<Vec<Program<Insn>>, LowerError> {
    match schedule {
        Schedule::Halves(_) if core.abi.data_stack => {
            return Err(LowerError::ThreePointers);
        }
        Schedule::Tiles(tiles) => return tiles::lower(core, tiles),
        Schedule::Scans(scans) => return scans::lower(core, scans, limits.registers),
        Schedule::Stages(_) => return Err(LowerError::Nested),
        _ => {}
    }
    // A quotient word is a product, too, which counts as none.
    let quotients = |step: &WordStep| matches!(step, WordStep::Sweep(sweep) if sweep.piles.iter().any(|pile| pile.quotient.is_some()));
    let adds = |words: &Words| {
        let none = words.count().is_ok_and(|counts| counts.products == 0);
        none && !words.steps.iter().any(quotients)
    };
    match schedule {
        _ if core.multiplies() => {}
        Schedule::Words(words) if adds(words) && core.set == Set::Avrrc => {
            return Err(LowerError::Displacements(core.name));
        }
        Schedule::Words(words) if adds(words) => {}
        _ => return Err(LowerError::NoMultiplier(core.name)),
    }
    if let Schedule::Loops(loops) = schedule {
        return bands::lower(core, loops, limits.registers);
    }
    let mut list = Vec::new();
    let mut refused = None;
    for setting in Setting::of(core.abi) {
        match lower_in(schedule, core, &setting, limits) {
            Ok(programs) => list.extend(programs),
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) if list.is_empty() => Err(error),
        _ => Ok(list),
    }
}

fn lower_in(
    schedule: &Schedule,
    core: &Core,
    setting: &Setting,
    limits: Limits,
) -> Result<Vec<Program<Insn>>, LowerError> {
    let mut order = setting.registers();
    order.truncate(limits.registers);
    let order = order.as_slice();
    let schedule = match schedule {
        Schedule::Loops(loops) => return bands::lower(core, loops, limits.registers),
        Schedule::Halves(halves) => return halves::lower(core, halves, order),
        Schedule::Blocks(blocks) => blocks,
        Schedule::Words(words) => return in_words(core, words, order, setting, limits),
        Schedule::Tiles(_) => return Err(LowerError::Tiles),
        Schedule::Scans(_) => return Err(LowerError::Scans),
        Schedule::Stages(_) => return Err(LowerError::Nested),
    };
    if let Some(blocks) = schedule.column_blocks() {
        let lowered = CHOICES.iter().map(|choices| {
            let columns = Columns::lower(schedule, &blocks, order, *choices);
            let Columns { items, notes, .. } = columns.map_err(|_| LowerError::Registers)?;
            function(core, &items, notes, setting)
        });
        return lowered.collect();
    }
    let blocks = schedule.row_blocks().ok_or(LowerError::Mixed)?;
    let rows = Rows::lower(schedule.n, &blocks, order).map_err(|_| LowerError::Registers)?;
    Ok(vec![function(core, &rows.items, rows.notes, setting)?])
}

/// Functions that run a schedule in words.
fn in_words(
    core: &Core,
    schedule: &Words,
    registers: &[u8],
    setting: &Setting,
    limits: Limits,
) -> Result<Vec<Program<Insn>>, LowerError> {
    // Which is the cheapest is known before addresses are, but for the moves of pointers.
    let codes = [false, true].map(|pairs| Code::in_place(schedule, pairs, limits.overlap));
    let least = |code: &Code| least::cycles(core, code, &most_free(code, registers, setting));
    let within: Vec<_> = codes.iter().filter(|c| least(c) <= limits.cycles).collect();
    if within.is_empty() {
        return Ok(vec![]);
    }
    let made = |code| drafts_of(core, code, registers, setting, limits.cycles);
    let made: Vec<_> = within.iter().map(|code| made(code)).collect();
    // What takes too long is none, and no reason.
    let none = made.iter().flatten().any(Vec::is_empty);
    let mut refused = Some(LowerError::Registers).filter(|_| !none);
    let of_code = |(made, code)| {
        Option::into_iter(made)
            .flatten()
            .map(move |(l, d)| (l, d, code))
    };
    let mut drafts: Vec<_> = made.into_iter().zip(within).flat_map(of_code).collect();
    drafts.sort_by_key(|(least, ..)| *least);
    let mut best: Option<(u64, usize, Program<Insn>)> = None;
    for (least, draft, code) in drafts {
        let limit = best.as_ref().map_or(limits.cycles, |(cycles, ..)| *cycles);
        if least > limit {
            refused = None;
            break;
        }
        let scratch = draft.scratch;
        let resolved = match windows::resolve(&draft.items, scratch, setting, limit - least) {
            Ok(Some(resolved)) => resolved,
            Ok(None) => {
                refused = None;
                continue;
            }
            Err(reason) => {
                refused = refused.and(Some(reason));
                continue;
            }
        };
        let written = written(code, &draft);
        let Assigned {
            notes, returned, ..
        } = draft;
        let program = framed(core, resolved, notes, scratch, returned, |place| {
            claims::of(schedule, &written, place)
        });
        let (cycles, length) = (cycles(core, &program.insns), program.insns.len());
        let beaten = |(c, n, _): &(u64, usize, _)| (cycles, length) < (*c, *n);
        if best.as_ref().is_none_or(beaten) {
            best = Some((cycles, length, program));
        }
    }
    match (best, refused) {
        (None, Some(reason)) => Err(reason),
        (best, _) => Ok(best.into_iter().map(|(.., program)| program).collect()),
    }
}

/// What a schedule in words takes at least.
pub fn at_least(core: &Core, schedule: &Schedule) -> Option<u64> {
    let Schedule::Words(words) = schedule else {
        return None;
    };
    let settings = Setting::of(core.abi);
    let codes = [false, true].map(|clear_pairs| Code::of(words, clear_pairs));
    let each = codes.iter().flat_map(|code| {
        let least = |setting: &Setting| {
            let free = most_free(code, &setting.registers(), setting);
            least::cycles(core, code, &free)
        };
        settings.iter().map(least)
    });
    each.min()
}

/// The registers for values, each from a step on, where as many pointers as can be make room.
fn most_free(code: &Code, registers: &[u8], setting: &Setting) -> Vec<(u8, usize)> {
    let [few, _] = setting.pointers();
    free_registers(code, registers, setting, few, true)
}

/// The registers for values, each from a step on, where so many pointers remain at the end; with r1:r0 behind
/// the last product?
fn free_registers(
    code: &Code,
    registers: &[u8],
    setting: &Setting,
    pointers: usize,
    beyond: bool,
) -> Vec<(u8, usize)> {
    let [first, second] = last_reads(code);
    // A limit on registers does not count those of pointers, free or not.
    let whole = registers.len() == setting.registers().len();
    let freed: &[(u8, usize)] = match pointers {
        1 if whole => &[(26, first), (27, first), (30, second), (31, second)],
        2 if whole => &[(26, second), (27, second)],
        _ => &[],
    };
    let last = last_product(code);
    let products = [(0, last), (1, last)].into_iter();
    let products = products.filter(|_| beyond && whole);
    let order = registers.iter().map(|r| (*r, 0));
    order.chain(freed.iter().copied()).chain(products).collect()
}

/// The step from which r1:r0 holds no product any more.
fn last_product(code: &Code) -> usize {
    let is_product = |v: Value| code.product[v.0].is_some();
    let holds = |step: &VirtualInsn| step.reads().chain(step.makes()).any(is_product);
    let last = code.steps.iter().rposition(holds);
    last.map_or(0, |last| last + 1)
}

/// Cycles that more registers can save where a value comes back: its store and its load.
const WAY_BACK: u64 = 4;

/// Where each named word was written.
fn written(code: &Code, draft: &Assigned) -> Vec<Option<(usize, u8)>> {
    let made = |value: &Value| draft.made[value.0];
    let names = code.names.iter();
    names.map(|name| name.as_ref().and_then(made)).collect()
}

/// The code in registers, with as few pointers as will do; none of which it is known that it takes more than `most`.
/// None where registers do not suffice.
fn drafts_of(
    core: &Core,
    code: &Code,
    registers: &[u8],
    setting: &Setting,
    most: u64,
) -> Option<Vec<(u64, Assigned)>> {
    let last = last_product(code);
    let first = |pointers: usize, beyond: bool| {
        let free = free_registers(code, registers, setting, pointers, beyond);
        let draft = words::assigned(code, free).ok();
        // Scratch memory takes a pointer more.
        draft.filter(|draft| pointers > 1 || draft.assigned.scratch == 0)
    };
    // The draft itself, unless it takes more than `most` for certain.
    let draft = |first: First<'_>, most: u64| {
        let least = least_cycles(core, &first.assigned.items).saturating_sub(first.may_save());
        let draft = (least <= most).then(|| first.paired().ok()).flatten()?;
        Some((least_cycles(core, &draft.items), draft))
    };
    let with = |pointers: usize| -> Option<Vec<(u64, Assigned)>> {
        let few = first(pointers, false)?;
        // r1:r0 serves where registers are short; but a move of a pointer may want r0 for the carry.
        let back = few.assigned.back.iter().filter(|step| **step >= last);
        let back = back.count() as u64;
        let may_save = most.saturating_add(WAY_BACK * back);
        let few = draft(few, may_save);
        let may_pay = |(least, _): &(u64, Assigned)| back > 0 && *least <= may_save;
        let more = match few.as_ref().is_some_and(may_pay) {
            true => first(pointers, true).and_then(|more| draft(more, most)),
            false => None,
        };
        Some(few.into_iter().chain(more).collect())
    };
    let [few, more] = setting.pointers();
    match (with(few), few) {
        (Some(drafts), 1) => Some(drafts),
        (drafts, _) => match (drafts, with(more)) {
            (None, None) => None,
            (some, others) => Some(some.into_iter().chain(others).flatten().collect()),
        },
    }
}

/// The steps after which but one and none of the operands is read any more.
fn last_reads(code: &Code) -> [usize; 2] {
    // As many as there are at most: a, b and a modulus, which has no pointer of its own.
    let mut ends = [0; 3];
    for (t, step) in code.steps.iter().enumerate() {
        for operand in step.reads().filter_map(|v| code.operands[v.0]) {
            ends[operand.side] = t + 1;
        }
    }
    ends.sort_unstable();
    [ends[1], ends[2]]
}

/// Cycles of `insns`, straight through.
fn cycles(core: &Core, insns: &[Insn]) -> u64 {
    insns.iter().map(|i| u64::from(core.cycles_of(i))).sum()
}

/// The same of `items`, if no pointer ever moves.
fn least_cycles(core: &Core, items: &[Item]) -> u64 {
    let one = |item: &Item| match item {
        Item::Insn(insn) => core.cycles_of(insn),
        Item::Load { .. } => (core.cycles)(Timing::Load),
        Item::Store { .. } => (core.cycles)(Timing::Store),
    };
    items.iter().map(|item| u64::from(one(item))).sum()
}

/// Bytes up to which PUSH and POP make room on the stack faster than arithmetic does.
const PUSHED: usize = 4;

/// A whole function with `scratch` bytes on the stack, below the addresses that are kept there, which returns what is in
/// the register `returned` at its end.
fn framed(
    core: &Core,
    resolved: Resolved,
    notes: Vec<(usize, String)>,
    scratch: usize,
    returned: Option<u8>,
    claims: impl Fn(&dyn Fn(usize) -> Option<usize>) -> Vec<Claim>,
) -> Program<Insn> {
    let abi = core.abi;
    let kept = resolved.kept.iter().rev().flat_map(|array| {
        let low = argument(abi, *array);
        [abi::push(abi, low + 1), abi::push(abi, low)]
    });
    let is_pushed = |bytes: usize| bytes <= PUSHED && !abi.data_stack;
    let scratch_words = match is_pushed(scratch) {
        true => vec![Insn::rr(Op::PUSH, 0, 0); scratch],
        false => move_stack(abi, -(scratch as i64)),
    };
    // Addresses lie above the scratch words, or below where Y points there all the time.
    let mut body: Vec<Insn> = match abi.data_stack {
        true => scratch_words.into_iter().chain(kept).collect(),
        false => kept.chain(scratch_words).collect(),
    };
    for (p, low) in resolved.entry.iter().zip(abi.arguments) {
        body.extend(p.map(|p| Insn::rr(Op::MOVW, p.low(), low)));
    }
    let mut notes = notes.into_iter().peekable();
    let mut body_notes = vec![(0, "point to r, a, b".into())];
    // The index of the last instruction of each item.
    let mut ends = Vec::with_capacity(resolved.items.len());
    for (i, insns) in resolved.items.into_iter().enumerate() {
        while let Some((_, text)) = notes.next_if(|(at, _)| *at == i) {
            body_notes.push((body.len(), text));
        }
        body.extend(insns);
        ends.push(body.len().checked_sub(1));
    }
    let place = abi.arguments[0];
    let away = returned.filter(|r| *r != place);
    body.extend(away.map(|r| Insn::rr(Op::MOV, place, r)));
    let room = scratch + 2 * resolved.kept.len();
    match is_pushed(room) {
        true => body.extend((0..room).map(|_| Insn::rr(Op::POP, 0, 0))),
        false => body.extend(move_stack(abi, room as i64)),
    }
    let (before, after) = frame::frame(core, &body);
    let offset = before.len();
    let mut program = Program::new();
    program.notes.push((0, "save registers".into()));
    let body_notes = body_notes.into_iter().map(|(at, text)| (at + offset, text));
    program.notes.extend(body_notes);
    program
        .notes
        .push((offset + body.len(), "restore registers".into()));
    program.insns = [before, body, after].concat();
    program.claims = claims(&|item| Some(ends.get(item).copied().flatten()? + offset));
    program
}

/// The lower register of a pair that holds an address at the entry.
fn argument(abi: &Abi, array: Array) -> u8 {
    abi.arguments[match array {
        Array::R => 0,
        Array::A => 1,
        Array::B | Array::T => 2,
        Array::M => 3,
    }]
}

/// A whole function: pointers set up, accesses resolved, registers saved.
fn function(
    core: &Core,
    items: &[Item],
    notes: Vec<(usize, String)>,
    setting: &Setting,
) -> Result<Program<Insn>, LowerError> {
    if core.abi.data_stack {
        let resolved =
            windows::resolve(items, 0, setting, u64::MAX)?.ok_or(LowerError::Addressing)?;
        return Ok(framed(core, resolved, notes, 0, None, |_| vec![]));
    }
    let (pointers, resolved) = pointers::resolve(items).ok_or(LowerError::Addressing)?;
    // An array that nothing accesses (a squaring has no b) needs no pointer.
    let used = |array: Array| items.iter().any(|item| item.array() == Some(array));
    let mut body: Vec<Insn> = Array::ARGUMENTS
        .into_iter()
        .zip(pointers)
        .zip(core.abi.arguments)
        .filter(|((array, _), _)| used(*array))
        .map(|((_, p), argument)| Insn::rr(Op::MOVW, p.low(), argument))
        .collect();
    let mut program = Program::new();
    let mut notes = notes.into_iter().peekable();
    let mut body_notes = Vec::new();
    for (i, insns) in resolved.into_iter().enumerate() {
        while let Some((_, text)) = notes.next_if(|(at, _)| *at == i) {
            body_notes.push((body.len(), text));
        }
        body.extend(insns);
    }
    let (before, after) = frame::frame(core, &body);
    let offset = before.len();
    program.notes.push((0, "save registers".into()));
    program.notes.push((offset, "point to r, a, b".into()));
    program
        .notes
        .extend(body_notes.into_iter().map(|(at, text)| (at + offset, text)));
    program
        .notes
        .push((offset + body.len(), "restore registers".into()));
    program.insns = [before, body, after].concat();
    Ok(program)
}
