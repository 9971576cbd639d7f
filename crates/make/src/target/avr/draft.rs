//! A list of instructions with loops, shared by all that write AVR code.

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::{Op, Ops};

use crate::refusal::LowerError;

/// The reach of BRBS and BRBC, backwards, in words.
const BRANCH: usize = 63;
/// The reach of RJMP and RCALL, in words.
pub const JUMP: usize = 2047;

/// Where the product is; between products it holds what moves.
const SPARE: u8 = 0;

/// Code that grows. Every instruction is one word.
#[derive(Default)]
pub struct Draft {
    pub insns: Vec<Insn>,
    pub notes: Vec<(usize, String)>,
}

/// A move of one register, or of a pair.
#[derive(Clone, Copy)]
struct Unit {
    to: u8,
    from: u8,
    wide: bool,
}

impl Unit {
    fn registers(self, first: u8) -> std::ops::RangeInclusive<u8> {
        first..=first + u8::from(self.wide)
    }

    /// Would this move overwrite what `other` still reads?
    fn blocks(self, other: Unit) -> bool {
        self.registers(self.to)
            .any(|r| other.registers(other.from).contains(&r))
    }
}

impl Draft {
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push((self.insns.len(), text.into()));
    }

    /// Appends code that jumps nowhere but inside itself.
    pub fn append(&mut self, other: Draft) {
        let offset = self.insns.len();
        let notes = other.notes.into_iter();
        self.notes
            .extend(notes.map(|(at, text)| (at + offset, text)));
        self.insns.extend(other.insns);
    }

    pub fn push(&mut self, insn: Insn) {
        self.insns.push(insn);
    }

    pub fn rr(&mut self, op: Op, d: u8, r: u8) {
        self.push(Insn::rr(op, d, r));
    }

    pub fn dk(&mut self, op: Op, d: u8, k: i32) {
        self.push(Insn::dk(op, d, k));
    }

    /// Leaves the carry as it is.
    pub fn clear(&mut self, r: u8) {
        self.rr(Op::EOR, r, r);
    }

    /// Branches on SREG bit `b`, by `k` words.
    fn branch(&mut self, op: Op, b: u8, k: i32) {
        let ops = Ops {
            b,
            k,
            ..Ops::default()
        };
        self.push(Insn { op, ops });
    }

    /// A number of passes or turns.
    ///
    /// # Errors
    /// When a register cannot count so far.
    pub fn count(&mut self, register: u8, times: usize) -> Result<(), LowerError> {
        if times > 256 {
            return Err(LowerError::Reach);
        }
        self.dk(Op::LDI, register, (times & 0xff) as i32);
        Ok(())
    }

    /// Counts `counter` down and goes back to `top` until it is 0. Leaves the carry as it is.
    ///
    /// # Errors
    /// When `top` is too far away.
    pub fn repeat(&mut self, counter: u8, top: usize) -> Result<(), LowerError> {
        self.rr(Op::DEC, counter, 0);
        self.again(top)
    }

    /// Goes back to `top` while Z is clear.
    ///
    /// # Errors
    /// When `top` is too far away.
    pub fn again(&mut self, top: usize) -> Result<(), LowerError> {
        let back = |here: usize| top as i32 - here as i32 - 1;
        let here = self.insns.len();
        if here - top < BRANCH {
            self.branch(Op::BRBC, 1, back(here));
        } else if here - top < JUMP {
            self.branch(Op::BRBS, 1, 1);
            self.dk(Op::RJMP, 0, back(here + 1));
        } else {
            return Err(LowerError::Reach);
        }
        Ok(())
    }

    /// Moves registers `(to, from)` all at once, in pairs where they are; each is read once. Those
    /// of `idle` need not be moved. Uses r1:r0.
    pub fn shuffle(&mut self, moves: &[(u8, u8)], idle: &[u8]) {
        let moved = in_order(moves, idle, true).or_else(|| in_order(moves, idle, false));
        self.insns.extend(moved.unwrap_or_default());
    }
}

/// The moves one after another, in pairs if `pairs`: then r1:r0 may not be enough. (Single
/// registers turn in circles, and one register at a time opens each.)
fn in_order(moves: &[(u8, u8)], idle: &[u8], pairs: bool) -> Option<Vec<Insn>> {
    let pairs_with = |to: u8, from: u8| pairs && moves.contains(&(to, from));
    let needed = |r: u8| !idle.contains(&r);
    let mut left: Vec<Unit> = Vec::with_capacity(moves.len());
    for (to, from) in moves.iter().copied().filter(|(to, from)| to != from) {
        let low = to % 2 == 0 && from % 2 == 0;
        let wide = low && pairs_with(to + 1, from + 1);
        let upper = to % 2 == 1 && from % 2 == 1 && pairs_with(to - 1, from - 1);
        if !upper && (needed(to) || wide && needed(to + 1)) {
            left.push(Unit { to, from, wide });
        }
    }
    let mut insns = Vec::with_capacity(left.len() + 1);
    let insn = |unit: &Unit, to: u8| {
        let op = if unit.wide { Op::MOVW } else { Op::MOV };
        Insn::rr(op, to, unit.from)
    };
    while !left.is_empty() {
        let is_clear = |i: &usize| {
            let mut others = left.iter().enumerate().filter(|(j, _)| j != i);
            others.all(|(_, other)| !left[*i].blocks(*other))
        };
        match (0..left.len()).find(is_clear) {
            Some(i) => {
                let unit = left.remove(i);
                insns.push(insn(&unit, unit.to));
            }
            None if left.iter().any(|unit| unit.from <= SPARE + 1) => return None,
            None => {
                insns.push(insn(&left[0], SPARE));
                left[0].from = SPARE;
            }
        }
    }
    Some(insns)
}
