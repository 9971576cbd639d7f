//! Tiles on an AVR without a multiplier: shift and add, eight bits in a loop.
//!
//! With `a` of `e` words, `b` of `f` words and the sum `s` of `e + f` words in registers, a
//! step doubles `s` and then, for each word `j` of `b`, adds `a` to `s[j ..]` if the top bit of
//! `b[j]` is set, and shifts `b[j]`. SBRC skips an ADC in the time the ADC takes. A chain of
//! skipped additions leaves the carry 0 as it found it, so the carry that leaves the chain may
//! be added without a condition: `s[j+e] += carry + q`, where `q` is what the row before left
//! for that word, at most 1.
//!
//! Tiles of the same shape are one subroutine. The pointers Y (result), X (b) and Z (a) give
//! their registers to operands, and wait on the stack, where the tile is too large for the rest.
//! Where Y is the stack pointer of data, Z points to the result, and the address of `a`, which is asked for once in
//! a row of tiles, waits on the stack all the time.

mod plan;

use std::ops::Range;

use machine::isa::avr::abi;
use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::{Op, Ops};
use machine::program::Program;

use crate::refusal::LowerError;
use crate::schedule::{Tile, TileStep, Tiles};
use crate::target::avr::frame;
use crate::target::avr::tiles::plan::{Layout, Shape, X, Y, Z};

/// The reach of BRBS and BRBC, backwards, in words.
const BRANCH: usize = 63;
/// The reach of RJMP and RCALL, in words.
const JUMP: usize = 2047;
/// Words doubled in one pass of a loop.
const DOUBLED: usize = 8;

/// Registers there are for a tile: all but a stack pointer.
pub fn registers(core: &Core) -> usize {
    let pointer = if core.abi.data_stack { 2 } else { 0 };
    32 - pointer - usize::from(core.set.first_register())
}

/// An instruction, or a call of the tile of a shape.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Insn(Insn),
    Call(usize),
}

/// Emits code.
struct Emitter<'c> {
    core: &'c Core,
    plan: Layout,
    insns: Vec<Insn>,
}

impl Emitter<'_> {
    fn rr(&mut self, op: Op, d: u8, r: u8) {
        self.insns.push(Insn::rr(op, d, r));
    }

    fn clear(&mut self, r: u8) {
        self.rr(Op::EOR, r, r);
    }

    fn push(&mut self, pair: u8) {
        let both = [pair, pair + 1].map(|r| abi::push(self.core.abi, r));
        self.insns.extend(both);
    }

    fn pop(&mut self, pair: u8) {
        let both = [pair + 1, pair].map(|r| abi::pop(self.core.abi, r));
        self.insns.extend(both);
    }

    /// Loads a word of the result.
    fn load_sum(&mut self, word: u8) {
        let op = if self.plan.r == Z { Op::LDDZ } else { Op::LDDY };
        self.insns.push(Insn::dk(op, word, 0));
    }

    /// Stores one, and goes on to the next where `step` says so.
    fn store_sum(&mut self, word: u8, step: bool) {
        let op = match (self.plan.r == Z, step) {
            (true, true) => Op::STZ_INC,
            (true, false) => Op::STDZ,
            (false, true) => Op::STY_INC,
            (false, false) => Op::STDY,
        };
        self.insns.push(Insn::rk(op, word, 0));
    }

    /// `words` of A, `by` words on from where its pointer was left.
    fn load_a(&mut self, words: &[u8], by: i32) {
        if !self.core.abi.data_stack {
            self.move_by(Z, by);
            let save: &[u8] = if self.plan.holds(Z) { &[Z] } else { &[] };
            return self.load(Op::LDZ_INC, words, save);
        }
        // X serves both factors; the sum is free.
        let kept = [(X, self.plan.sum[0]), (X + 1, self.plan.sum[1])];
        kept.iter().for_each(|(x, s)| self.rr(Op::MOV, *s, *x));
        self.pop(X);
        self.move_by(X, by);
        self.load(Op::LDX_INC, words, &[]);
        self.push(X);
        kept.iter().for_each(|(x, s)| self.rr(Op::MOV, *x, *s));
    }

    /// SBRC, BST, BLD: bit `b` of `r`.
    fn bit(&mut self, op: Op, r: u8, b: u8) {
        let ops = Ops { d: r, r, b, k: 0 };
        let ops = match op {
            Op::SBRC => Ops { d: 0, ..ops },
            _ => Ops { r: 0, ..ops },
        };
        self.insns.push(Insn { op, ops });
    }

    fn copy_pair(&mut self, to: u8, from: u8) {
        if self.core.set.has(Op::MOVW) {
            self.rr(Op::MOVW, to, from);
        } else {
            self.rr(Op::MOV, to, from);
            self.rr(Op::MOV, to + 1, from + 1);
        }
    }

    /// Adds `by` to a pointer.
    fn move_by(&mut self, pointer: u8, by: i32) {
        let op = if by < 0 { Op::SBIW } else { Op::ADIW };
        if by == 0 {
        } else if self.core.set.has(op) && by.abs() < 64 {
            self.insns.push(Insn::dk(op, pointer, by.abs()));
        } else {
            self.insns.push(Insn::dk(Op::SUBI, pointer, -by & 0xff));
            self.insns
                .push(Insn::dk(Op::SBCI, pointer + 1, -by >> 8 & 0xff));
        }
    }

    /// Loads `words`; those that take the place of the pointers in `save` once these are on the stack.
    fn load(&mut self, op: Op, words: &[u8], save: &[u8]) {
        let late = |r: u8| save.iter().any(|p| r == *p || r == p + 1);
        let mut waiting = Vec::new();
        let mut spare = self.plan.sum.clone().into_iter();
        for r in words {
            let to = match late(*r) {
                true => spare.next().unwrap_or(*r),
                false => *r,
            };
            self.insns.push(Insn::dk(op, to, 0));
            if to != *r {
                waiting.push((*r, to));
            }
        }
        for p in save {
            self.push(*p);
        }
        for (r, from) in waiting {
            self.rr(Op::MOV, r, from);
        }
    }

    /// One step for all words of `b`: `s += a 2^(8 j)` where bit 7 of `b[j]` is set.
    fn rows(&mut self, shape: &Shape) {
        let Shape { e, f, .. } = *shape;
        let q = self.plan.q;
        for j in 0..f {
            let b = self.plan.b[j];
            if let Some([mask, _]) = self.plan.mask {
                self.rr(Op::MOV, mask, b);
                self.rr(Op::ADD, mask, mask);
                self.rr(Op::SBC, mask, mask);
            }
            for k in 0..e {
                let (s, a) = (self.plan.sum[j + k], self.plan.a[k]);
                match self.plan.mask {
                    Some([mask, word]) => {
                        self.rr(Op::MOV, word, a);
                        self.rr(Op::AND, word, mask);
                        self.rr(if k == 0 { Op::ADD } else { Op::ADC }, s, word);
                    }
                    None => {
                        self.bit(Op::SBRC, b, 7);
                        self.rr(Op::ADC, s, a);
                    }
                }
            }
            self.rr(Op::ADC, self.plan.sum[j + e], q);
            self.clear(q);
            if j + 1 < f {
                // Also leaves the carry 0.
                self.rr(Op::ADC, q, q);
            }
        }
        for j in 0..f {
            let b = self.plan.b[j];
            self.rr(Op::ADD, b, b);
        }
    }

    /// The code of a tile, without RET.
    fn tile(&mut self, shape: &Shape) {
        let Shape { e, f, .. } = *shape;
        let (q, counter) = (self.plan.q, self.plan.counter);
        let words = self.plan.b[..f].to_vec();
        let result = self.plan.r;
        let save: Vec<u8> = [X, result]
            .into_iter()
            .filter(|p| self.plan.holds(*p))
            .collect();
        self.load(Op::LDX_INC, &words, &save);
        for k in 0..e + f {
            self.clear(self.plan.sum[k]);
        }
        self.clear(q);
        self.insns.push(Insn::dk(Op::LDI, counter, 8));
        // The first step doubles nothing: C = 0, and on to the rows.
        let clear_carry = Ops::default();
        self.insns.push(Insn {
            op: Op::BCLR,
            ops: clear_carry,
        });
        self.insns.push(Insn::dk(Op::RJMP, 0, (e + f) as i32));
        let top = self.insns.len();
        for k in 0..e + f {
            let s = self.plan.sum[k];
            self.rr(if k == 0 { Op::ADD } else { Op::ADC }, s, s);
        }
        self.rows(shape);
        self.rr(Op::DEC, counter, 0);
        self.repeat(top);
        if let Some(at) = shape.carry_in.filter(|at| *at > 0) {
            self.bit(Op::BLD, q, 0);
            for k in at..e + f {
                let (op, addend) = if k == at {
                    (Op::ADD, q)
                } else {
                    (Op::ADC, counter)
                };
                self.rr(op, self.plan.sum[k], addend);
            }
        }
        if save.contains(&result) {
            self.pop(result);
        }
        self.add_to_result(shape);
        if !shape.last {
            self.move_by(result, -(e as i32));
        }
        if save.contains(&X) {
            self.pop(X);
        }
    }

    /// Adds the sum of a tile to the words that are there, and stores it.
    fn add_to_result(&mut self, shape: &Shape) {
        let (q, counter) = (self.plan.q, self.plan.counter);
        let carries = shape.carry_in == Some(0);
        if carries {
            // To the flag.
            self.bit(Op::BLD, q, 0);
            self.rr(Op::LSR, q, 0);
        }
        for k in 0..shape.e + shape.f {
            let s = self.plan.sum[k];
            if shape.reload.contains(&k) {
                self.load_sum(q);
                let first = k == shape.reload.start && !carries;
                self.rr(if first { Op::ADD } else { Op::ADC }, s, q);
            } else if carries || k >= shape.reload.end && !shape.reload.is_empty() {
                self.rr(Op::ADC, s, counter);
            }
            self.store_sum(s, true);
        }
        if shape.carry_out {
            self.clear(q);
            self.rr(Op::ADC, q, q);
            self.bit(Op::BST, q, 0);
        }
    }

    /// Doubles `count` words of the result; the carry becomes the word above.
    fn double(&mut self, count: usize) {
        let (word, counter) = (self.plan.sum[0], self.plan.counter);
        let one = |m: &mut Self| {
            m.load_sum(word);
            m.rr(Op::ADC, word, word);
            m.store_sum(word, true);
        };
        let save = self.plan.holds(X);
        if save {
            self.push(X);
        }
        self.insns
            .push(Insn::dk(Op::LDI, counter, (count / DOUBLED) as i32));
        // C = 0.
        self.insns.push(Insn {
            op: Op::BCLR,
            ops: Ops::default(),
        });
        (0..count % DOUBLED).for_each(|_| one(self));
        if count >= DOUBLED {
            let top = self.insns.len();
            (0..DOUBLED).for_each(|_| one(self));
            self.rr(Op::DEC, counter, 0);
            self.repeat(top);
        }
        self.clear(word);
        self.rr(Op::ADC, word, word);
        self.store_sum(word, true);
        if save {
            self.pop(X);
        }
    }

    /// Jumps to `top` while Z is clear.
    fn repeat(&mut self, top: usize) {
        let back = |here: usize| top as i32 - here as i32 - 1;
        let here = self.insns.len();
        let branch = |op, k| Insn {
            op,
            ops: Ops {
                b: 1,
                k,
                ..Ops::default()
            },
        };
        if here - top < BRANCH {
            self.insns.push(branch(Op::BRBC, back(here)));
        } else {
            self.insns.push(branch(Op::BRBS, 1));
            self.insns.push(Insn::dk(Op::RJMP, 0, back(here + 1)));
        }
    }

    /// What `emit` emits.
    fn apart(&mut self, emit: impl FnOnce(&mut Self)) -> Vec<Insn> {
        let before = std::mem::take(&mut self.insns);
        emit(self);
        std::mem::replace(&mut self.insns, before)
    }
}

/// The function that runs `tiles` on `core`.
///
/// # Errors
/// When registers run out, or a call does not reach.
pub fn lower(core: &Core, tiles: &Tiles) -> Result<Vec<Program<Insn>>, LowerError> {
    let size = |parts: &[Range<usize>]| parts.iter().map(|p| p.len()).max().unwrap_or(0);
    let (e, f) = (size(&tiles.a), size(&tiles.b));
    let plan = Layout::new(core, e, f, tiles.select).ok_or(LowerError::Registers)?;
    let holds_z = !core.abi.data_stack && plan.holds(Z);
    let mut walk = Walk {
        emitter: Emitter {
            core,
            plan,
            insns: Vec::new(),
        },
        main: Vec::new(),
        notes: vec![(0, "point to r, a, b".to_string())],
        at_r: 0,
        at_a: 0,
        at_b: 0,
        held: 0..0,
        holds_z,
    };
    let steps = tiles.steps();
    let called = shapes(&steps);
    walk.enter(tiles.square);
    for step in &steps {
        walk.step(step, &called);
    }
    let waiting = [(holds_z, Z), (core.abi.data_stack, X)];
    for (_, pointer) in waiting.into_iter().filter(|(waits, _)| *waits) {
        walk.add(|m| m.pop(pointer));
    }
    let bodies = called.iter().enumerate();
    let bodies = bodies.filter(|(_, (_, times))| *times > 1);
    let bodies: Vec<(usize, Vec<Insn>)> = bodies
        .map(|(index, (shape, _))| {
            let body = walk.emitter.apart(|m| {
                m.tile(shape);
                m.rr(Op::RET, 0, 0);
            });
            (index, body)
        })
        .collect();
    assemble(core, &walk.main, &bodies, walk.notes)
}

/// The shapes of tiles, in the order in which they come first, and how often each is there.
fn shapes(steps: &[TileStep]) -> Vec<(Shape, usize)> {
    let mut shapes: Vec<(Shape, usize)> = Vec::new();
    for step in steps {
        let TileStep::Tile(tile) = step else {
            continue;
        };
        let shape = Shape::of(tile);
        match shapes.iter_mut().find(|(known, _)| *known == shape) {
            Some((_, times)) => *times += 1,
            None => shapes.push((shape, 1)),
        }
    }
    shapes
}

/// The way through the tiles: what is written, and what registers hold.
struct Walk<'a> {
    emitter: Emitter<'a>,
    main: Vec<Piece>,
    notes: Vec<(usize, String)>,
    /// Where the pointers to the result, a and b are.
    at_r: usize,
    at_a: usize,
    at_b: usize,
    /// The words of a in registers.
    held: Range<usize>,
    /// Are Z's registers among these, and Z on the stack?
    holds_z: bool,
}

impl Walk<'_> {
    fn add(&mut self, write: impl FnOnce(&mut Emitter<'_>)) {
        let insns = self.emitter.apart(write).into_iter();
        self.main.extend(insns.map(Piece::Insn));
    }

    /// Pointers to the arguments.
    fn enter(&mut self, square: bool) {
        let core = self.emitter.core;
        let [r, a, b] = [0, 1, if square { 1 } else { 2 }].map(|i| core.abi.arguments[i]);
        self.add(|m| {
            let pointers = match core.abi.data_stack {
                true => vec![(Z, r), (X, b)],
                false => vec![(Y, r), (Z, a), (X, b)],
            };
            for (pointer, argument) in pointers {
                m.copy_pair(pointer, argument);
            }
            if core.abi.data_stack {
                m.push(a);
            }
        });
    }

    /// Shapes that are there more than once are `called`, by their numbers.
    fn step(&mut self, step: &TileStep, called: &[(Shape, usize)]) {
        let (a, place) = match step {
            TileStep::Tile(tile) => (tile.a.clone(), tile.place()),
            TileStep::Double(words) => (0..0, words.start..words.end + 1),
        };
        let is_new = a != self.held;
        if is_new {
            let text = match step {
                TileStep::Tile(_) => format!("a[{}..{}]", a.start, a.end),
                TileStep::Double(words) => format!("{} words doubled", words.len()),
            };
            self.notes.push((self.main.len(), text));
        }
        let returns_z = is_new && self.holds_z && !self.held.is_empty();
        let moved = |from: usize, to: usize| to as i32 - from as i32;
        let (up_r, up_a) = (moved(self.at_r, place.start), moved(self.at_a, a.start));
        let at_b = self.at_b;
        self.add(|m| {
            if returns_z {
                m.pop(Z);
            }
            m.move_by(m.plan.r, up_r);
            match step {
                TileStep::Tile(tile) => m.move_by(X, moved(at_b, tile.b.start)),
                TileStep::Double(words) => m.double(words.len()),
            }
            if is_new && !a.is_empty() {
                let words = m.plan.a[..a.len()].to_vec();
                m.load_a(&words, up_a);
            }
        });
        if is_new && !a.is_empty() {
            self.at_a = a.end;
        }
        (self.held, self.at_r) = (a, place.end);
        if let TileStep::Tile(tile) = step {
            self.tile(tile, called);
        }
    }

    /// The products of a tile.
    fn tile(&mut self, tile: &Tile, called: &[(Shape, usize)]) {
        self.at_b = tile.b.end;
        if !tile.last {
            self.at_r -= tile.a.len();
        }
        let Range { start, end } = tile.b;
        let text = format!("times b[{start}..{end}]");
        self.notes.push((self.main.len(), text));
        let shape = Shape::of(tile);
        let same = |(known, times): &(Shape, usize)| *known == shape && *times > 1;
        match called.iter().position(same) {
            Some(index) => self.main.push(Piece::Call(index)),
            None => self.add(|m| m.tile(&shape)),
        }
        if tile.carry_word {
            self.add(|m| {
                let word = m.plan.sum[0];
                m.clear(word);
                m.bit(Op::BLD, word, 0);
                m.store_sum(word, false);
            });
        }
    }
}

/// Puts the function and its subroutines one after another. Every instruction is one word.
fn assemble(
    core: &Core,
    main: &[Piece],
    bodies: &[(usize, Vec<Insn>)],
    notes: Vec<(usize, String)>,
) -> Result<Vec<Program<Insn>>, LowerError> {
    let straight = main.iter().filter_map(|piece| match piece {
        Piece::Insn(insn) => Some(*insn),
        Piece::Call(_) => None,
    });
    let named: Vec<Insn> = straight
        .chain(bodies.iter().flat_map(|(_, body)| body.iter().copied()))
        .collect();
    let (before, after) = frame::frame(core, &named);
    let mut at = before.len() + main.len() + after.len();
    let mut entries = Vec::with_capacity(bodies.len());
    for (index, body) in bodies {
        entries.push((*index, at));
        at += body.len();
    }
    let mut program = Program::new();
    program.notes.push((0, "save registers".into()));
    let shifted = notes
        .into_iter()
        .map(|(at, text)| (at + before.len(), text));
    program.notes.extend(shifted);
    program
        .notes
        .push((before.len() + main.len(), "restore registers".into()));
    program.insns = before;
    for piece in main {
        let here = program.insns.len();
        program.insns.push(match piece {
            Piece::Insn(insn) => *insn,
            Piece::Call(shape) => {
                let entry = entries.iter().find(|(index, _)| index == shape);
                let distance = entry.map_or(usize::MAX, |(_, at)| at - here - 1);
                if distance > JUMP {
                    return Err(LowerError::Reach);
                }
                Insn::dk(Op::RCALL, 0, distance as i32)
            }
        });
    }
    program.insns.extend(after);
    for (_, body) in bodies {
        program.notes.push((program.insns.len(), "a tile".into()));
        program.insns.extend(body);
    }
    Ok(vec![program])
}
