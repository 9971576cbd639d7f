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

use std::ops::Range;

use super::abi;
use super::code::Insn;
use super::cores::Core;
use super::instructions::{Op, Ops};
use crate::isa::LowerError;
use crate::program::Program;
use crate::schedule::{Select, Tile, TileStep, Tiles};

const X: u8 = 26;
const Y: u8 = 28;
const Z: u8 = 30;

/// The reach of BRBS and BRBC, backwards, in words.
const BRANCH: usize = 63;
/// The reach of RJMP and RCALL, in words.
const JUMP: usize = 2047;
/// Words doubled in one pass of a loop.
const DOUBLED: usize = 8;

/// Registers there are for a tile.
pub fn registers(core: &Core) -> usize {
    32 - usize::from(core.set.first_register())
}

/// Tiles with the same code.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Shape {
    e: usize,
    f: usize,
    reload: Range<usize>,
    carry_in: Option<usize>,
    carry_out: bool,
    last: bool,
}

impl Shape {
    fn of(tile: &Tile) -> Self {
        Self {
            e: tile.a.len(),
            f: tile.b.len(),
            reload: tile.reload.clone(),
            carry_in: tile.carry_in,
            carry_out: tile.carry_out,
            last: tile.last,
        }
    }
}

/// Which register holds what, for the largest tile; smaller ones use the first of each.
struct Plan {
    a: Vec<u8>,
    b: Vec<u8>,
    sum: Vec<u8>,
    /// What a row leaves for the next; 0 between tiles' loops.
    q: u8,
    /// Counts bits; 0 after the loop.
    counter: u8,
    /// A mask, and the word under it.
    mask: Option<[u8; 2]>,
}

impl Plan {
    fn new(core: &Core, e: usize, f: usize, select: Select) -> Option<Self> {
        let first = core.set.first_register();
        // The caller-saved first, among them those for LDI.
        let mut free: Vec<u8> = (first..X).rev().collect();
        free.sort_by_key(|r| core.abi.preserves(*r));
        let masked = select == Select::Mask;
        let mut need = 2 * (e + f) + 2 + 2 * usize::from(masked);
        let mut missing = |gives: bool| {
            let spills = need > free.len() && gives;
            need -= 2 * usize::from(spills);
            spills
        };
        let (x, z, y) = (missing(true), missing(e >= 2), missing(f >= 2));
        if need > free.len() {
            return None;
        }
        let mut free = free.into_iter();
        let mut take = |pair: Option<u8>, count: usize| -> Vec<u8> {
            let own = pair.into_iter().flat_map(|p| [p, p + 1]);
            own.chain(free.by_ref().take(count - 2 * usize::from(pair.is_some())))
                .collect()
        };
        let control = take(x.then_some(X), 2);
        let a = take(z.then_some(Z), e);
        let b = take(y.then_some(Y), f);
        Some(Self {
            mask: masked.then(|| take(None, 2)).map(|m| [m[0], m[1]]),
            sum: take(None, e + f),
            q: control[1],
            counter: control[0],
            a,
            b,
        })
    }

    fn holds(&self, pointer: u8) -> bool {
        let operands = self.a.iter().chain(&self.b);
        operands
            .chain([&self.q])
            .any(|r| *r == pointer || *r == pointer + 1)
    }
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
    plan: Plan,
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
        self.rr(Op::PUSH, 0, pair);
        self.rr(Op::PUSH, 0, pair + 1);
    }

    fn pop(&mut self, pair: u8) {
        self.rr(Op::POP, pair + 1, 0);
        self.rr(Op::POP, pair, 0);
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
        let save: Vec<u8> = [X, Y].into_iter().filter(|p| self.plan.holds(*p)).collect();
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
        if save.contains(&Y) {
            self.pop(Y);
        }
        let carries = shape.carry_in == Some(0);
        if carries {
            // To the flag.
            self.bit(Op::BLD, q, 0);
            self.rr(Op::LSR, q, 0);
        }
        for k in 0..e + f {
            let s = self.plan.sum[k];
            if shape.reload.contains(&k) {
                self.insns.push(Insn::dk(Op::LDDY, q, 0));
                let first = k == shape.reload.start && !carries;
                self.rr(if first { Op::ADD } else { Op::ADC }, s, q);
            } else if carries || k >= shape.reload.end && !shape.reload.is_empty() {
                self.rr(Op::ADC, s, counter);
            }
            self.insns.push(Insn::rk(Op::STY_INC, s, 0));
        }
        if shape.carry_out {
            self.clear(q);
            self.rr(Op::ADC, q, q);
            self.bit(Op::BST, q, 0);
        }
        if !shape.last {
            self.move_by(Y, -(e as i32));
        }
        if save.contains(&X) {
            self.pop(X);
        }
    }

    /// Doubles `count` words at Y; the carry becomes the word above.
    fn double(&mut self, count: usize) {
        let (word, counter) = (self.plan.sum[0], self.plan.counter);
        let one = |m: &mut Self| {
            m.insns.push(Insn::dk(Op::LDDY, word, 0));
            m.rr(Op::ADC, word, word);
            m.insns.push(Insn::rk(Op::STY_INC, word, 0));
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
        self.insns.push(Insn::rk(Op::STY_INC, word, 0));
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
    let size = |parts: &[std::ops::Range<usize>]| parts.iter().map(|p| p.len()).max().unwrap_or(0);
    let (e, f) = (size(&tiles.a), size(&tiles.b));
    let plan = Plan::new(core, e, f, tiles.select).ok_or(LowerError::Registers)?;
    let mut emitter = Emitter {
        core,
        plan,
        insns: Vec::new(),
    };
    let steps = tiles.steps();
    let shape_of = |step: &TileStep| match step {
        TileStep::Tile(tile) => Some(Shape::of(tile)),
        TileStep::Double(_) => None,
    };
    let mut shapes: Vec<Shape> = Vec::new();
    for shape in steps.iter().filter_map(shape_of) {
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    let count = |shape: &Shape| {
        let same = |step: &&TileStep| shape_of(step).as_ref() == Some(shape);
        steps.iter().filter(same).count()
    };
    let mut main = Vec::new();
    let mut notes = vec![(0, "point to r, a, b".to_string())];
    let add =
        |main: &mut Vec<Piece>, insns: Vec<Insn>| main.extend(insns.into_iter().map(Piece::Insn));
    let [r, a, b] = [0, 1, if tiles.square { 1 } else { 2 }].map(|i| core.abi.arguments[i]);
    let start = emitter.apart(|m| {
        for (pointer, argument) in [(Y, r), (Z, a), (X, b)] {
            m.copy_pair(pointer, argument);
        }
    });
    add(&mut main, start);
    // Where Y, Z and X point to, and which words of A are in registers.
    let (mut at_r, mut at_a, mut at_b) = (0, 0, 0);
    let mut held = 0..0;
    let holds_z = emitter.plan.holds(Z);
    let moved = |at: &mut usize, to: usize| to as i32 - std::mem::replace(at, to) as i32;
    for step in &steps {
        let (a, place) = match step {
            TileStep::Tile(tile) => (tile.a.clone(), tile.place()),
            TileStep::Double(words) => (0..0, words.start..words.end + 1),
        };
        let is_new = a != held;
        if is_new {
            notes.push((
                main.len(),
                match step {
                    TileStep::Tile(_) => format!("a[{}..{}]", a.start, a.end),
                    TileStep::Double(words) => format!("{} words doubled", words.len()),
                },
            ));
        }
        let insns = emitter.apart(|m| {
            if is_new && holds_z && !held.is_empty() {
                m.pop(Z);
            }
            m.move_by(Y, moved(&mut at_r, place.start));
            match step {
                TileStep::Tile(tile) => m.move_by(X, moved(&mut at_b, tile.b.start)),
                TileStep::Double(words) => m.double(words.len()),
            }
            if is_new && !a.is_empty() {
                m.move_by(Z, moved(&mut at_a, a.start));
                at_a = a.end;
                let words = m.plan.a[..a.len()].to_vec();
                m.load(Op::LDZ_INC, &words, if holds_z { &[Z] } else { &[] });
            }
        });
        add(&mut main, insns);
        (held, at_r) = (a, place.end);
        let TileStep::Tile(tile) = step else {
            continue;
        };
        at_b = tile.b.end;
        if !tile.last {
            at_r -= tile.a.len();
        }
        let Range { start, end } = tile.b;
        notes.push((main.len(), format!("times b[{start}..{end}]")));
        let shape = Shape::of(tile);
        match shapes.iter().position(|s| *s == shape) {
            Some(index) if count(&shape) > 1 => main.push(Piece::Call(index)),
            _ => {
                let body = emitter.apart(|m| m.tile(&shape));
                add(&mut main, body);
            }
        }
        if tile.carry_word {
            let word = emitter.apart(|m| {
                let word = m.plan.sum[0];
                m.clear(word);
                m.bit(Op::BLD, word, 0);
                m.insns.push(Insn::rk(Op::STDY, word, 0));
            });
            add(&mut main, word);
        }
    }
    if holds_z {
        let end = emitter.apart(|m| m.pop(Z));
        add(&mut main, end);
    }
    let bodies: Vec<(usize, Vec<Insn>)> = shapes
        .iter()
        .enumerate()
        .filter(|(_, shape)| count(shape) > 1)
        .map(|(index, shape)| {
            let body = emitter.apart(|m| {
                m.tile(shape);
                m.rr(Op::RET, 0, 0);
            });
            (index, body)
        })
        .collect();
    assemble(core, &main, &bodies, notes)
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
    let (before, after) = abi::frame(core, &named);
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
