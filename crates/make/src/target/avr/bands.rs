//! Columns in loops on an AVR: rings of registers that turn by name as long as code is straight,
//! and are moved back, mostly in pairs, where a loop closes.
//!
//! The words of A and of B that are in use are consecutive: word `i` lies in register `i` of a
//! ring, modulo its length. The accumulator is a ring of four. A pass of a loop over `k` columns
//! turns the rings by `k`; moving them back costs a MOVW for two words, and nothing where `k`
//! is a multiple of a ring's length. X reads A, Z reads B, both upwards; Y is at the column. Where Y
//! is a stack pointer, Z is at the column and X reads B; for the words of A that a block keeps, X
//! takes their address from the pair where it waits.
//!
//! As in straight code ([`crate::target::avr::columns`]) `C[k+2]` is the third byte that the last product of
//! column `k` is added to.

mod loops;
mod pointing;

use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;
use machine::program::Program;

use crate::refusal::LowerError;
use crate::schedule::{Column, Loops, Product};
use crate::target::avr::draft::Draft;
use crate::target::avr::pointers::{Array, move_pointer};
use crate::target::avr::rings::Layout;
use crate::target::avr::setting::Setting;
use crate::target::avr::{frame, squares};

/// The largest product of two words.
const PRODUCT: u64 = 255 * 255;

/// Bytes that a number up to `bound` needs.
fn bytes(bound: u64) -> usize {
    (64 - bound.leading_zeros() as usize).div_ceil(8)
}

/// How a column's intermediate result gets into the accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mode {
    /// At its own start.
    now: bool,
    /// It brings that of the column two further on.
    ahead: bool,
}

/// What is where, at a place in the code.
#[derive(Clone)]
struct Held {
    /// The word in each register of the rings, and the word whose place is the first one.
    held: [Vec<Option<usize>>; 2],
    origin: [usize; 2],
    /// The lowest byte of the accumulator, how many bytes of it there are, and its largest value.
    lowest: usize,
    length: usize,
    bound: u64,
    /// Words that X, Z and Y point to, in A, B and the result.
    at: [usize; 3],
}

/// A loop that becomes shorter from turn to turn.
#[derive(Clone, Copy)]
struct Shrinking {
    /// Columns that it loses, and has the first time.
    fewer: usize,
    longest: usize,
    /// The instruction that says how many passes it has the first time, and one.
    set: usize,
    /// Was it made?
    made: bool,
}

/// Emits blocks.
struct Bands {
    plan: Layout,
    draft: Draft,
    state: Held,
    unroll: usize,
    /// Of a turn whose longest loop has fewer columns each time.
    shrinking: Option<Shrinking>,
}

const X: Pointer = Pointer::X;
const Y: Pointer = Pointer::Y;
const Z: Pointer = Pointer::Z;
/// Index in [`Held::at`].
const A: usize = 0;
const R: usize = 2;

impl Bands {
    fn place(&self, side: usize, index: usize) -> usize {
        let size = self.plan.rings[side].len();
        (index + size * (1 + self.state.origin[side] / size) - self.state.origin[side]) % size
    }

    fn byte(&self, i: usize) -> u8 {
        self.plan.accumulator[(self.state.lowest + i) % 4]
    }

    fn operand(&mut self, side: usize, index: usize, load: bool) -> Result<u8, LowerError> {
        let place = self.place(side, index);
        let register = self.plan.rings[side][place];
        if load && !(side == A && self.plan.waits.is_some()) {
            self.point(side, index);
            let op = match self.plan.pointers()[side] {
                X => Op::LDX_INC,
                _ => Op::LDZ_INC,
            };
            self.draft.dk(op, register, 0);
            self.state.at[side] += 1;
            self.state.held[side][place] = Some(index);
        }
        match self.state.held[side][place] == Some(index) {
            true => Ok(register),
            false => Err(LowerError::Registers),
        }
    }

    /// Loads `C[index]`, at or above the column.
    fn intermediate(&mut self, register: u8, index: usize) {
        let distance = index - self.state.at[R];
        let [load, _] = self.plan.result();
        self.draft.dk(load, register, distance as i32);
    }

    fn store(&mut self, register: u8) {
        let [_, store] = self.plan.result();
        self.draft.push(Insn::rk(store, register, 0));
        self.state.at[R] += 1;
    }

    /// Makes bytes up to `length`, of a value that does not reach them.
    fn lengthen(&mut self, length: usize) {
        while self.state.length < length {
            let byte = self.byte(self.state.length);
            self.draft.clear(byte);
            self.state.length += 1;
        }
    }

    /// Adds the carry to the bytes `from ..` of a value that becomes at most `bound`.
    fn carry_on(&mut self, from: usize, bound: u64) {
        for i in from..bytes(bound) {
            self.lengthen(i + 1);
            let byte = self.byte(i);
            self.draft.rr(Op::ADC, byte, self.plan.zero);
        }
        self.state.bound = bound;
    }

    fn column(&mut self, column: &Column, mode: Mode, cap: u64) -> Result<(), LowerError> {
        self.point(R, column.index);
        if mode.now {
            // Between products their registers are free.
            self.intermediate(0, column.index);
            self.lengthen(1);
            self.draft.rr(Op::ADD, self.byte(0), 0);
            self.carry_on(1, (self.state.bound + 255).min(cap));
        }
        let Some((last, products)) = column.products.split_last() else {
            let low = match self.state.length {
                0 => self.plan.zero,
                _ => self.byte(0),
            };
            self.store(low);
            self.shift();
            return Ok(());
        };
        for p in products {
            let (x, y) = (
                self.operand(0, p.a, p.load_a)?,
                self.operand(1, p.b, p.load_b)?,
            );
            self.draft.rr(Op::MUL, x, y);
            let bound = (self.state.bound + PRODUCT).min(cap);
            if self.first() {
                continue;
            }
            self.draft.rr(Op::ADD, self.byte(0), 0);
            self.high(bound);
            self.carry_on(2, bound);
        }
        self.last_product(column, last, mode, cap)?;
        self.shift();
        Ok(())
    }

    /// The last product of a column, whose low byte is then stored; the word two columns further on may come with it.
    fn last_product(
        &mut self,
        column: &Column,
        last: &Product,
        mode: Mode,
        cap: u64,
    ) -> Result<(), LowerError> {
        let (x, y) = (
            self.operand(0, last.a, last.load_a)?,
            self.operand(1, last.b, last.load_b)?,
        );
        self.draft.rr(Op::MUL, x, y);
        let without = (self.state.bound + PRODUCT).min(cap);
        let first = self.first();
        if !first {
            self.draft.rr(Op::ADD, self.byte(0), 0);
        }
        let low = self.byte(0);
        self.store(low);
        let third = self.byte(2);
        if mode.ahead && self.state.length <= 2 {
            // Nothing there yet: the word itself becomes the third byte.
            if !first {
                self.high(without);
            }
            self.lengthen(2);
            self.intermediate(third, column.index + 2);
            self.state.length = 3;
            let bound = (without + (255 << 16)).min(cap);
            match bytes(without) > 2 {
                true => self.carry_on(2, bound),
                false => self.state.bound = bound,
            }
        } else if mode.ahead {
            let bound = (without + (255 << 16)).min(cap);
            self.intermediate(0, column.index + 2);
            self.high(bound);
            self.draft.rr(Op::ADC, third, 0);
            self.carry_on(3, bound);
        } else if !first {
            self.high(without);
            self.carry_on(2, without);
        }
        Ok(())
    }

    /// The first product of an empty accumulator is it.
    fn first(&mut self) -> bool {
        if self.state.length > 0 {
            return false;
        }
        let (low, high) = (self.byte(0), self.byte(1));
        match low % 2 == 0 && high == low + 1 {
            true => self.draft.rr(Op::MOVW, low, 0),
            false => {
                self.draft.rr(Op::MOV, low, 0);
                self.draft.rr(Op::MOV, high, 1);
            }
        }
        self.state.length = 2;
        self.state.bound = PRODUCT;
        true
    }

    /// Adds the high byte of a product to a value that becomes at most `bound`.
    fn high(&mut self, bound: u64) {
        if bytes(bound) > 1 {
            self.lengthen(2);
            self.draft.rr(Op::ADC, self.byte(1), 1);
        }
    }

    /// Drops the lowest byte, which is stored, and top bytes that are 0.
    fn shift(&mut self) {
        let s = &mut self.state;
        s.lowest = (s.lowest + 1) % 4;
        s.bound >>= 8;
        s.length = s.length.saturating_sub(1).min(bytes(s.bound));
    }
}

/// The functions that run `loops` on `core` with at most `most` registers, of any of which there may
/// be use.
///
/// # Errors
/// When registers run out, or a loop is too long.
pub fn lower(core: &Core, loops: &Loops, most: usize) -> Result<Vec<Program<Insn>>, LowerError> {
    let setting = Setting {
        abi: core.abi,
        held: [false, core.abi.data_stack, false],
    };
    let mut registers = setting.registers();
    registers.truncate(most);
    let waits = setting.home(Array::A);
    each(loops, &registers, waits, |inner| {
        let mut draft = Draft::default();
        draft.note("point to r, a, b");
        let [r, a, b, ..] = core.abi.arguments;
        let b = if loops.square { a } else { b };
        let pointers = match core.abi.data_stack {
            // A's address waits where it came.
            true => vec![(Z, r), (X, b)],
            false => vec![(Y, r), (X, a), (Z, b)],
        };
        for (pointer, argument) in pointers {
            draft.rr(Op::MOVW, pointer.low(), argument);
        }
        draft.append(inner);
        Ok(function(core, draft))
    })
}

/// What `make` makes of the bodies that run `loops`, with each number of columns per pass that may pay;
/// in these registers, and with A's address in a pair if that is not X.
///
/// # Errors
/// The first reason, if there is none.
pub fn each(
    loops: &Loops,
    registers: &[u8],
    waits: Option<u8>,
    make: impl Fn(Draft) -> Result<Program<Insn>, LowerError>,
) -> Result<Vec<Program<Insn>>, LowerError> {
    let plan = Layout::new(loops, registers, waits)?;
    let a = plan.rings[0].len();
    let mut passes = match loops.unroll {
        Some(columns) => vec![columns.max(1)],
        None => vec![1, 2, 4, a.max(1), 2 * a],
    };
    passes.sort_unstable();
    passes.dedup();
    let made = passes
        .into_iter()
        .map(|unroll| make(body(loops, &plan, unroll)?));
    let made: Vec<Result<_, LowerError>> = made.collect();
    let error = made.iter().find_map(|f| f.as_ref().err().cloned());
    let list: Vec<_> = made.into_iter().flatten().collect();
    match error {
        Some(error) if list.is_empty() => Err(error),
        _ => Ok(list),
    }
}

/// Runs `loops`; Y points to the result, X to A and Z to B, or, for a square, to A as well. Where A's
/// address waits in a pair, Z points to the result and X to B.
fn body(loops: &Loops, plan: &Layout, unroll: usize) -> Result<Draft, LowerError> {
    let mut bands = Bands {
        state: Held {
            held: [0, 1].map(|side| vec![None; plan.rings[side].len()]),
            origin: [0; 2],
            lowest: 0,
            length: 0,
            bound: 0,
            at: [0; 3],
        },
        plan: plan.clone(),
        draft: Draft::default(),
        unroll,
        shrinking: None,
    };
    bands.draft.clear(plan.zero);
    loops.turns.iter().try_for_each(|turn| bands.turn(turn))?;
    if loops.square {
        if let Some(pair) = plan.waits {
            bands.draft.rr(Op::MOVW, X.low(), pair);
        }
        bands
            .draft
            .insns
            .extend(move_pointer(X, -(bands.state.at[A] as i64)));
        bands.point(R, 0);
        squares::add(&mut bands.draft, plan, loops.blocks.n)?;
    }
    Ok(bands.draft)
}

/// A whole function: registers saved and restored.
pub fn function(core: &Core, draft: Draft) -> Program<Insn> {
    let (before, after) = frame::frame(core, &draft.insns);
    let offset = before.len();
    let mut program = Program::new();
    program.notes.push((0, "save registers".into()));
    let notes = draft
        .notes
        .into_iter()
        .map(|(at, text)| (at + offset, text));
    program.notes.extend(notes);
    program
        .notes
        .push((offset + draft.insns.len(), "restore registers".into()));
    program.insns = [before, draft.insns, after].concat();
    program
}
