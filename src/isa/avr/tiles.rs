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

use super::abi;
use super::code::Insn;
use super::cores::Core;
use super::instructions::{Op, Ops};
use crate::isa::LowerError;
use crate::program::Program;
use crate::schedule::{Select, Tile, Tiles};

const X: u8 = 26;
const Y: u8 = 28;
const Z: u8 = 30;

/// The reach of BRBS and BRBC, backwards, in words.
const BRANCH: usize = 63;
/// The reach of RJMP and RCALL, in words.
const JUMP: usize = 2047;

/// Registers there are for a tile.
pub fn registers(core: &Core) -> usize {
    32 - usize::from(core.set.first_register())
}

/// Tiles with the same code.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Shape {
    e: usize,
    f: usize,
    reload: usize,
    carry_in: bool,
    carry_out: bool,
    last: bool,
}

impl Shape {
    fn of(tile: &Tile) -> Self {
        Self {
            e: tile.a.len(),
            f: tile.b.len(),
            reload: tile.reload,
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

    /// Takes `by` from a pointer.
    fn back(&mut self, pointer: u8, by: usize) {
        let by = by as i32;
        if self.core.set.has(Op::SBIW) && by < 64 {
            self.insns.push(Insn::dk(Op::SBIW, pointer, by));
        } else {
            self.insns.push(Insn::dk(Op::SUBI, pointer, by & 0xff));
            self.insns.push(Insn::dk(Op::SBCI, pointer + 1, by >> 8));
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
        if shape.carry_in {
            self.bit(Op::BLD, q, 0);
            for k in e..e + f {
                let (op, addend) = if k == e {
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
        for k in 0..e + f {
            let s = self.plan.sum[k];
            if k < shape.reload {
                self.insns.push(Insn::dk(Op::LDDY, q, 0));
                self.rr(if k == 0 { Op::ADD } else { Op::ADC }, s, q);
            } else if shape.reload > 0 {
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
            self.back(Y, e);
        }
        if save.contains(&X) {
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
    let list = tiles.tiles();
    let mut shapes: Vec<Shape> = Vec::new();
    for tile in &list {
        let shape = Shape::of(tile);
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    let count = |shape: &Shape| list.iter().filter(|t| Shape::of(t) == *shape).count();
    let mut main = Vec::new();
    let mut notes = Vec::new();
    let add =
        |main: &mut Vec<Piece>, insns: Vec<Insn>| main.extend(insns.into_iter().map(Piece::Insn));
    notes.push((0, "point to r, a, b".to_string()));
    let start = emitter.apart(|m| {
        for (pointer, argument) in [Y, Z, X].into_iter().zip(core.abi.arguments) {
            m.copy_pair(pointer, argument);
        }
    });
    add(&mut main, start);
    for a in &tiles.a {
        let another = a.end < tiles.n;
        let words = emitter.plan.a[..a.len()].to_vec();
        let save: &[u8] = if emitter.plan.holds(Z) { &[Z] } else { &[] };
        notes.push((main.len(), format!("a[{}..{}]", a.start, a.end)));
        let loads = emitter.apart(|m| m.load(Op::LDZ_INC, &words, save));
        add(&mut main, loads);
        for tile in list.iter().filter(|t| t.a == *a) {
            let shape = Shape::of(tile);
            notes.push((
                main.len(),
                format!("times b[{}..{}]", tile.b.start, tile.b.end),
            ));
            match shapes.iter().position(|s| *s == shape) {
                Some(index) if count(&shape) > 1 => main.push(Piece::Call(index)),
                _ => {
                    let body = emitter.apart(|m| m.tile(&shape));
                    add(&mut main, body);
                }
            }
            if tile.last && tile.carry_out {
                let extra = emitter.apart(|m| {
                    let word = m.plan.sum[0];
                    m.clear(word);
                    m.bit(Op::BLD, word, 0);
                    m.insns.push(Insn::rk(Op::STDY, word, 0));
                });
                add(&mut main, extra);
            }
        }
        let end = emitter.apart(|m| {
            if another {
                m.back(Y, tiles.n);
                m.back(X, tiles.n);
            }
            if m.plan.holds(Z) {
                m.pop(Z);
            }
        });
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
