//! Two nested loops on an AVR: product scanning and FIPS, in columns of blocks of `d` by `d` words.
//!
//! X walks upwards through one factor, Z downwards through the other, and a subroutine adds so many of
//! their blocks to the accumulator (see [`crate::target::avr::blocks`]); all columns call it for each of their
//! [`Strand`]s. Y points to the frame on the stack, which it would do anyway where it is the stack pointer
//! of data: there lie the addresses of the arrays, and the quotient words.
//!
//! Of a square, the blocks on one side of the diagonal are added up on their own and doubled; the block in the
//! middle, where there is one, is where X and Z have met then. What follows the sweep is in [`crate::target::avr::chains`].

use crate::facts::Style;
use crate::lower::LowerError;
use crate::schedule::{Array, Scans, Words};
use crate::target::avr::draft::Draft;
use crate::target::avr::frame;
use crate::target::avr::lower::move_stack;
use crate::target::avr::rounds;
use crate::target::avr::setting::Setting;
use crate::target::avr::sums;
use machine::isa::avr::abi::STACK_LIMIT;
use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::{Core, Set};
use machine::isa::avr::instructions::{Op, Ops};
use machine::isa::avr::machine::Pointer;
use machine::program::Program;
use spec::modulus::Reduce;

pub(super) const X: u8 = Pointer::X.low();
const Y: u8 = Pointer::Y.low();
pub(super) const Z: u8 = Pointer::Z.low();

/// The largest side of a block, in words.
const LARGEST: usize = 4;
/// The most blocks of a column: a register counts them.
const COLUMN: usize = 255;

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// Adds blocks.
    Strand,
    /// A word times `d` words, where there is no MUL.
    Row,
    /// The low word of a word times `m'`, where there is no MUL.
    Low,
}

/// Which register holds what.
pub(super) struct Plan {
    /// Blocks of the column; later passes of a loop.
    pub total: u8,
    /// Blocks that are still to be added.
    pub count: u8,
    pub zero: u8,
    /// A word of X, and those of Z.
    pub x: u8,
    pub y: Vec<u8>,
    /// Their product, but for its top word.
    pub row: Vec<u8>,
    pub sum: Vec<u8>,
    /// `m'`.
    pub inverse: u8,
}

/// Bytes of the frame, from where Y points.
struct Frame {
    /// Where the words of each strand begin, X and Z.
    strands: i32,
    /// Where the next words go.
    out: i32,
    result: i32,
    modulus: i32,
    /// Where the next words of what is reduced are.
    addend: i32,
    /// The sum of the columns before, of a square.
    before: i32,
    quotients: i32,
    /// The modulus, where it is not an operand.
    numbers: i32,
    bytes: i64,
}

/// Emits the loops.
pub(super) struct Nest<'a> {
    pub scans: &'a Scans,
    pub core: &'a Core,
    pub draft: Draft,
    pub calls: Vec<(usize, Label)>,
    pub labels: Vec<(Label, usize)>,
    pub on: Plan,
    /// Words of a block's side.
    pub d: usize,
    frame: Frame,
}

/// The functions that run `scans` on `core` with at most `most` registers: one for each side of blocks
/// that may pay.
///
/// # Errors
/// The first reason, if there is none.
pub fn lower(core: &Core, scans: &Scans, most: usize) -> Result<Vec<Program<Insn>>, LowerError> {
    if core.set != Set::Avrrc && scans.strands.is_empty() {
        return Ok(vec![sums::lower(core, scans)?]);
    }
    match scans {
        Scans {
            rows: true,
            quotient,
            ..
        } if quotient.is_some() => {
            return Err(LowerError::RowsOfQuotients);
        }
        Scans { style, .. } if *style == Style::Looped => return Err(LowerError::Looped),
        _ => {}
    }
    if core.set == Set::Avrrc {
        return Err(LowerError::Displacements(core.name));
    }
    if scans.rows {
        return rounds::lower(core, scans, most);
    }
    let lazy = |words: &Words| {
        words
            .modular
            .as_ref()
            .is_some_and(|m| m.reduce == Reduce::Lazy)
    };
    if !core.multiplies() && lazy(&scans.words) {
        // That the top of (A B + Q M) / R is 0 is not shown of products made by additions.
        return Err(LowerError::LazyAdditions);
    }
    let sides = match (scans.side, scans.unroll) {
        (Some(side), _) => vec![side],
        (None, Some(products)) => {
            let side = (1..=LARGEST).find(|d| d * d == products);
            vec![side.ok_or(LowerError::Block(products))?]
        }
        (None, None) => {
            let sides = (1..=LARGEST).rev();
            sides.filter(|d| scans.n.is_multiple_of(*d)).collect()
        }
    };
    let made = sides.into_iter().map(|d| function(core, scans, most, d));
    let made: Vec<_> = made.collect();
    let error = made.iter().find_map(|f| f.as_ref().err().cloned());
    let list: Vec<_> = made.into_iter().flatten().collect();
    match error {
        Some(error) if list.is_empty() => Err(error),
        _ => Ok(list),
    }
}

/// Words of the largest sum: of a column's blocks, and what the columns before leave.
fn sum_words(scans: &Scans, d: usize) -> usize {
    let block = (1u128 << (8 * d)) - 1;
    let added = if scans.addend.is_some() { block } else { 0 };
    let column = (scans.strands.len() * (scans.n / d)) as u128 * block * block + added;
    let mut most = column;
    while most < column + (most >> (8 * d)) {
        most = column + (most >> (8 * d));
    }
    (128 - most.leading_zeros() as usize).div_ceil(8)
}

fn function(
    core: &Core,
    scans: &Scans,
    most: usize,
    d: usize,
) -> Result<Program<Insn>, LowerError> {
    let n = scans.n;
    if d > LARGEST || !n.is_multiple_of(d) {
        let fits = |d: &usize| n.is_multiple_of(*d);
        let largest = (1..=LARGEST).rev().find(fits).unwrap_or(1);
        return Err(LowerError::Side { d, n, largest });
    }
    if n / d > COLUMN {
        return Err(LowerError::Column(COLUMN));
    }
    let mut nest = Nest::new(core, scans, most, d)?;
    nest.body()?;
    nest.chains()?;
    let leave = move_stack(core.abi, nest.frame.bytes);
    nest.draft.insns.extend(leave);
    nest.finish()
}

fn plan(core: &Core, scans: &Scans, most: usize, d: usize) -> Result<Plan, LowerError> {
    let setting = Setting {
        abi: core.abi,
        held: [false, false, scans.rows],
    };
    let mut registers = setting.registers();
    registers.truncate(most);
    let mut free = registers.into_iter();
    let mut take = |count: usize| -> Result<Vec<u8>, LowerError> {
        let list: Vec<u8> = free.by_ref().take(count).collect();
        let enough = list.len() == count;
        enough.then_some(list).ok_or(LowerError::Registers)
    };
    // Those that CPI reaches, then those that are moved in pairs.
    let control = take(2)?;
    let row = take(if d > 1 { d.next_multiple_of(2) } else { 0 })?;
    let sum = take(sum_words(scans, d))?;
    Ok(Plan {
        total: control[0],
        count: control[1],
        row,
        sum,
        zero: take(1)?[0],
        x: take(1)?[0],
        y: take(d)?,
        inverse: take(usize::from(scans.quotient.is_some()))?
            .first()
            .copied()
            .unwrap_or(control[1]),
    })
}

impl Frame {
    fn of(core: &Core, scans: &Scans, d: usize) -> Result<Self, LowerError> {
        // SP points below the last byte in use, Y as a stack pointer to it.
        let first = if core.abi.data_stack { 0 } else { 1 };
        let mut next = first;
        let mut room = |bytes: usize| {
            let at = next;
            next += bytes as i32;
            at
        };
        let square = scans.strands.iter().any(|s| s.pairs);
        let words = |wanted: bool, bytes: usize| if wanted { bytes } else { 0 };
        let quotients = scans.quotient.is_some();
        let frame = Self {
            strands: room(4 * scans.strands.len()),
            out: room(2),
            result: room(words(quotients, 2)),
            modulus: room(words(quotients, 2)),
            addend: room(words(scans.addend.is_some(), 2)),
            before: room(words(square, sum_words(scans, d) - d)),
            quotients: room(words(quotients, scans.n)),
            numbers: room(scans.words.stored().count()),
            bytes: 0,
        };
        let bytes = i64::from(next - first);
        match bytes > STACK_LIMIT {
            true => Err(LowerError::Stack {
                need: bytes as usize,
                limit: STACK_LIMIT as usize,
            }),
            false => Ok(Self { bytes, ..frame }),
        }
    }
}

impl<'a> Nest<'a> {
    /// Nothing yet, in blocks of `d` by `d` words.
    ///
    /// # Errors
    /// When registers or the stack run out.
    pub(super) fn new(
        core: &'a Core,
        scans: &'a Scans,
        most: usize,
        d: usize,
    ) -> Result<Self, LowerError> {
        Ok(Self {
            on: plan(core, scans, most, d)?,
            frame: Frame::of(core, scans, d)?,
            scans,
            core,
            draft: Draft::default(),
            calls: Vec::new(),
            labels: Vec::new(),
            d,
        })
    }

    pub(super) fn rr(&mut self, op: Op, d: u8, r: u8) {
        self.draft.rr(op, d, r);
    }

    pub(super) fn call(&mut self, label: Label) {
        self.calls.push((self.draft.insns.len(), label));
        self.draft.dk(Op::RCALL, 0, 0);
    }

    /// Loads a pointer from the frame.
    fn get(&mut self, pointer: u8, at: i32) {
        self.draft.dk(Op::LDDY, pointer, at);
        self.draft.dk(Op::LDDY, pointer + 1, at + 1);
    }

    fn put(&mut self, pointer: u8, at: i32) {
        self.draft.push(Insn::rk(Op::STDY, pointer, at));
        self.draft.push(Insn::rk(Op::STDY, pointer + 1, at + 1));
    }

    /// `pointer += by`, of X or Z.
    pub(super) fn move_by(&mut self, pointer: u8, by: i32) {
        match by {
            0 => {}
            1..64 => self.draft.dk(Op::ADIW, pointer, by),
            _ => {
                self.draft.dk(Op::SUBI, pointer, -by & 0xff);
                self.draft.dk(Op::SBCI, pointer + 1, -by >> 8 & 0xff);
            }
        }
    }

    /// The register that an operand's address comes in.
    fn argument(&self, side: usize) -> Result<u8, LowerError> {
        let arguments = self.core.abi.arguments;
        arguments.get(1 + side).copied().ok_or(LowerError::Scans)
    }

    /// The numbers, one after another in the frame. Uses X and a register that counts.
    fn lay_numbers(&mut self) {
        self.rr(Op::MOVW, X, Y);
        self.move_by(X, self.frame.numbers);
        let (spare, mut held) = (self.on.total, None);
        for number in self.scans.words.stored() {
            let from = if number == 0 { self.on.zero } else { spare };
            if number != 0 && held.replace(number) != Some(number) {
                self.draft.dk(Op::LDI, spare, number as i32);
            }
            self.draft.push(Insn::rk(Op::STX_INC, from, 0));
        }
    }

    fn body(&mut self) -> Result<(), LowerError> {
        let n = self.scans.n;
        let modulus = self.scans.modulus();
        self.draft.note("the frame: addresses of the arrays");
        let room = move_stack(self.core.abi, -self.frame.bytes);
        self.draft.insns.extend(room);
        let [r, ..] = self.core.abi.arguments;
        let first_out = match modulus {
            None => r,
            Some(array) => {
                self.put(r, self.frame.result);
                match array {
                    Array::Operand(side) => self.rr(Op::MOVW, Z, self.argument(side)?),
                    _ => {
                        self.rr(Op::MOVW, Z, Y);
                        self.move_by(Z, self.frame.numbers);
                    }
                }
                self.put(Z, self.frame.modulus);
                self.rr(Op::MOVW, X, Y);
                self.move_by(X, self.frame.quotients);
                X
            }
        };
        self.put(first_out, self.frame.out);
        for (i, strand) in self.scans.strands.iter().enumerate() {
            for (at, array) in [(0, strand.x), (2, strand.y)] {
                let from = match array {
                    Array::Operand(side) => self.argument(side)?,
                    Array::Quotients => X,
                    Array::Numbers | Array::Square => Z,
                    _ => return Err(LowerError::Scans),
                };
                let behind = if array == Array::Square {
                    n as i32 + 1
                } else {
                    0
                };
                self.move_by(Z, behind);
                self.put(from, self.frame.strands + 4 * i as i32 + at);
                self.move_by(Z, -behind);
            }
        }
        if let Some(side) = self.scans.added(0) {
            self.put(self.argument(side)?, self.frame.addend);
        }
        self.draft.clear(self.on.zero);
        if modulus == Some(Array::Numbers) {
            self.draft.note("the modulus and m'");
            self.lay_numbers();
        }
        if modulus.is_some() && !self.scans.is_inverse_one() {
            self.move_by(Z, n as i32);
            self.draft.dk(Op::LDDZ, self.on.inverse, 0);
        }
        for r in [&[self.on.total][..], &self.on.sum].concat() {
            self.draft.clear(r);
        }
        self.draft.note("columns that become longer");
        let top = self.draft.insns.len();
        self.rr(Op::INC, self.on.total, 0);
        self.column(true)?;
        let blocks = (n / self.d) as i32;
        self.draft.dk(Op::CPI, self.on.total, blocks);
        self.draft.again(top)?;
        if modulus.is_some() {
            self.get(X, self.frame.result);
            self.put(X, self.frame.out);
        }
        self.draft.note("columns that become shorter");
        let top = self.draft.insns.len();
        self.rr(Op::DEC, self.on.total, 0);
        self.column(false)?;
        self.rr(Op::AND, self.on.total, self.on.total);
        self.draft.again(top)
    }

    /// A column of as many blocks as `total` says.
    fn column(&mut self, rising: bool) -> Result<(), LowerError> {
        let k = if rising { 0 } else { self.scans.n };
        if self.scans.added(k).is_some() {
            self.addend();
        }
        let strands = self.scans.strands.clone();
        for (i, strand) in strands.into_iter().enumerate() {
            let at = self.frame.strands + 4 * i as i32;
            let moved = if rising { 2 } else { 0 };
            self.get(X, at);
            self.get(Z, at + 2);
            let pointer = if rising { Z } else { X };
            self.move_by(pointer, self.d as i32);
            self.put(pointer, at + moved);
            self.rr(Op::MOV, self.on.count, self.on.total);
            if strand.pairs {
                self.pairs();
                continue;
            }
            if rising && strand.x == Array::Quotients {
                // The last quotient words are still to come.
                self.rr(Op::DEC, self.on.count, 0);
            }
            self.call(Label::Strand);
        }
        self.get(X, self.frame.out);
        match rising && self.scans.quotient.is_some() {
            true => self.quotients(),
            false => {
                for i in 0..self.d {
                    let low = self.on.sum[i];
                    self.draft.push(Insn::rk(Op::STX_INC, low, 0));
                }
            }
        }
        self.put(X, self.frame.out);
        let (low, high) = (self.on.sum.len() - self.d, self.on.sum.clone());
        let moves: Vec<_> = (0..low).map(|k| (high[k], high[k + self.d])).collect();
        self.draft.shuffle(&moves, &[]);
        high[low..].iter().for_each(|r| self.draft.clear(*r));
        Ok(())
    }

    /// `d` words of what is reduced.
    fn addend(&mut self) {
        self.get(X, self.frame.addend);
        for k in 0..self.on.sum.len() {
            let op = if k == 0 { Op::ADD } else { Op::ADC };
            let word = if k < self.d { self.on.x } else { self.on.zero };
            if k < self.d {
                self.draft.dk(Op::LDX_INC, word, 0);
            }
            self.rr(op, self.on.sum[k], word);
        }
        self.put(X, self.frame.addend);
    }

    /// Twice the blocks on one side of the diagonal, what there was before, and the block on it.
    fn pairs(&mut self) {
        let (sum, before) = (self.on.sum.clone(), self.frame.before);
        let kept = sum.len() - self.d;
        for (i, r) in sum[..kept].iter().enumerate() {
            self.draft.push(Insn::rk(Op::STDY, *r, before + i as i32));
            self.draft.clear(*r);
        }
        self.rr(Op::LSR, self.on.count, 0);
        self.call(Label::Strand);
        for (i, r) in sum.iter().enumerate() {
            let op = if i == 0 { Op::ADD } else { Op::ADC };
            self.rr(op, *r, *r);
        }
        for (i, r) in sum.iter().enumerate() {
            let op = if i == 0 { Op::ADD } else { Op::ADC };
            match i < kept {
                true => {
                    self.draft.dk(Op::LDDY, 0, before + i as i32);
                    self.rr(op, *r, 0);
                }
                false => self.rr(op, *r, self.on.zero),
            }
        }
        // The count is 0.
        let odd = Ops {
            r: self.on.total,
            ..Ops::default()
        };
        self.draft.push(Insn {
            op: Op::SBRC,
            ops: odd,
        });
        self.rr(Op::INC, self.on.count, 0);
        self.call(Label::Strand);
    }

    /// `d` quotient words, to where X points: `q = sum m' mod 2^8`, `sum += q m[0 .. d]`, word by word.
    fn quotients(&mut self) {
        self.get(Z, self.frame.modulus);
        self.load_words();
        for i in 0..self.d {
            self.low_product(self.on.sum[i]);
            self.draft.push(Insn::rk(Op::STX_INC, self.on.x, 0));
            self.row(i);
        }
    }

    /// The address of the result, and of the modulus.
    pub(super) fn point_to_result(&mut self) {
        self.get(X, self.frame.result);
        self.get(Z, self.frame.modulus);
    }

    /// The function: what is there so far returns before what it calls.
    ///
    /// # Errors
    /// When something is too far away.
    pub(super) fn finish(mut self) -> Result<Program<Insn>, LowerError> {
        let main = self.draft.insns.len();
        self.subroutines()?;
        let (before, after) = frame::frame(self.core, &self.draft.insns);
        for (at, label) in &self.calls {
            let target = self.labels.iter().find(|(l, _)| l == label);
            let far = target.ok_or(LowerError::Reach)?.1 as i64 - *at as i64 - 1;
            let over = if *at < main { after.len() as i64 } else { 0 };
            self.draft.insns[*at].ops.k = (far + over) as i32;
        }
        let place = |at: usize| before.len() + at + if at < main { 0 } else { after.len() };
        let mut program = Program::new();
        let end = (before.len() + main, "restore registers".to_string());
        let notes = self.draft.notes.into_iter();
        let notes = notes.map(|(at, text)| (place(at), text));
        program.notes = [(0, "save registers".to_string()), end]
            .into_iter()
            .chain(notes)
            .collect();
        program.notes.sort_by_key(|(at, _)| *at);
        let (main, rest) = self.draft.insns.split_at(main);
        program.insns = [&before, main, &after, rest].concat();
        Ok(program)
    }
}
