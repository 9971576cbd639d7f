//! Products without a multiplier: `e` words of A by the words of B, one after the other.
//!
//! With A and a sum `s` of `e` words in registers, a word `b` of B takes 16 steps. In each the lowest bit of `b` leaves it, A
//! is added to `s` under that bit, and the sum moves right by a bit, its lowest one into `b` from above: behind the last,
//! `2^16 s + b` is what `s` was and `A b`. No instruction is executed under a condition, so the word that is added is
//! masked: SUBC makes `c - 1` of the carry, the complement of the mask, and BIC leaves the carry alone.
//!
//! With a word `C` of the result that is there already, `A b + s + C < 2^(16 (e + 1))`.

use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::operands::{SP, SR};
use machine::program::Program;

use crate::refusal::LowerError;
use crate::schedule::{Tile, TileStep, Tiles};
use crate::target::msp430::flow::Flow;

/// The register that points into the result.
const RESULT: u8 = 12;
/// Those of the operands, which wait on the stack.
const POINTERS: [u8; 2] = [13, 14];
/// Registers of a tile.
const REGISTERS: [u8; 11] = [15, 14, 13, 11, 10, 9, 8, 7, 6, 5, 4];
/// How many there are.
pub const COUNT: usize = REGISTERS.len();
/// Words of the frame: the operands, where B is read next, and how many of its words are left.
const FRAME: usize = 4;
const AT: usize = 2;
const LEFT: usize = 3;
/// Bits of a word.
const BITS: usize = 16;

/// The registers of a tile by what is in them, and code.
struct Emitter {
    a: Vec<u8>,
    sum: Vec<u8>,
    b: u8,
    /// The complement of a mask.
    mask: u8,
    /// Any word.
    word: u8,
    /// The word of the result that is pointed to.
    at: usize,
    flow: Flow,
}

/// The word of the frame.
fn slot(i: usize) -> (Source, Dest) {
    let at = 2 * i as u16;
    (Source::Indexed(SP, at), Dest::Indexed(SP, at))
}

/// The word of the result `i` words from where its pointer is.
fn result(i: usize) -> (Source, Dest) {
    let at = 2 * i as u16;
    (Source::Indexed(RESULT, at), Dest::Indexed(RESULT, at))
}

impl Emitter {
    fn new(e: usize) -> Result<Self, LowerError> {
        let mut free = REGISTERS.into_iter();
        let mut take = || free.next().ok_or(LowerError::Registers);
        // Pointers are read before A is there: its words come last.
        let [word, b, mask] = [take()?, take()?, take()?];
        let mut all = |_| take();
        Ok(Self {
            sum: (0..e).map(&mut all).collect::<Result<_, _>>()?,
            a: (0..e).map(&mut all).collect::<Result<_, _>>()?,
            b,
            mask,
            word,
            at: 0,
            flow: Flow::default(),
        })
    }

    fn two(&mut self, op: Op, source: Source, dest: Dest) {
        self.flow.two(op, source, dest);
    }

    /// `r = r op source`.
    fn register(&mut self, op: Op, source: Source, r: u8) {
        self.flow.register(op, source, r);
    }

    fn number(&mut self, k: usize, dest: Dest) {
        self.two(Op::MOV, Source::Constant(k as u16), dest);
    }

    /// `r` moves right by a bit: the carry into it, its lowest bit out.
    fn turn(&mut self, r: u8) {
        self.flow.push(Insn::one(Op::RRC, Source::Register(r)));
    }

    /// Lets the pointer of the result point to word `at`.
    fn point(&mut self, at: usize) {
        self.flow.add(2 * (at as i32 - self.at as i32), RESULT);
        self.at = at;
    }

    /// `2^16 s + b = s + A b`.
    fn row(&mut self, a: &[u8], sum: &[u8]) {
        let Self { b, mask, word, .. } = *self;
        // This bit comes out last, and is not looked at.
        self.register(Op::BIC, Source::Constant(1), SR);
        self.turn(b);
        for _ in 0..BITS {
            self.register(Op::SUBC, Source::Register(mask), mask);
            for (k, (a, s)) in a.iter().zip(sum).enumerate() {
                self.register(Op::MOV, Source::Register(*a), word);
                self.register(Op::BIC, Source::Register(mask), word);
                let op = if k == 0 { Op::ADD } else { Op::ADDC };
                self.register(op, Source::Register(word), *s);
            }
            sum.iter().rev().chain([&b]).for_each(|r| self.turn(*r));
        }
    }

    /// A tile; the carry of the one before is in the sum.
    fn tile(&mut self, tile: &Tile, square: bool) {
        let f = tile.b.len();
        let (a, sum, word, b) = (self.a.clone(), self.sum.clone(), self.word, self.b);
        let words = format!("words {:?} of a by {:?}", tile.a, tile.b);
        self.flow.note(&words);
        self.register(Op::MOV, slot(0).0, word);
        for (k, a) in tile.a.clone().zip(&a) {
            self.register(Op::MOV, Source::Indexed(word, 2 * k as u16), *a);
        }
        let kept = usize::from(tile.carry_in.is_some());
        let (a, sum) = (&a[..tile.a.len()], &sum[..tile.a.len()]);
        for s in &sum[kept..] {
            self.number(0, Dest::Register(*s));
        }
        self.point(tile.place().start);
        self.register(Op::MOV, slot(usize::from(!square)).0, word);
        self.flow.add(2 * tile.b.start as i32, word);
        self.two(Op::MOV, Source::Register(word), slot(AT).1);
        self.number(f, slot(LEFT).1);
        let top = self.flow.here();
        self.register(Op::MOV, slot(AT).0, word);
        self.register(Op::MOV, Source::Increment(word), b);
        self.two(Op::MOV, Source::Register(word), slot(AT).1);
        self.row(a, sum);
        if tile.reload.start == 0 && tile.reload.end >= f {
            self.register(Op::ADD, result(0).0, b);
            for s in sum {
                self.register(Op::ADDC, Source::Constant(0), *s);
            }
        }
        self.two(Op::MOV, Source::Register(b), result(0).1);
        self.register(Op::ADD, Source::Constant(2), RESULT);
        self.two(Op::SUB, Source::Constant(1), slot(LEFT).1);
        self.flow.jump(Op::JNE, top);
        self.at += f;
        self.upper(tile, sum);
    }

    /// The words of a tile that are in the sum, added to those that are there, and the carry that leaves them.
    fn upper(&mut self, tile: &Tile, sum: &[u8]) {
        let mut running = false;
        for (k, s) in sum.iter().enumerate() {
            if tile.reload.contains(&(tile.b.len() + k)) {
                let op = if running { Op::ADDC } else { Op::ADD };
                self.register(op, result(k).0, *s);
                running = true;
            } else if running {
                self.register(Op::ADDC, Source::Constant(0), *s);
            }
            self.two(Op::MOV, Source::Register(*s), result(k).1);
        }
        if tile.carry_out {
            self.number(0, Dest::Register(sum[0]));
            if running {
                self.register(Op::ADDC, Source::Constant(0), sum[0]);
            }
        }
    }

    /// Doubles `count` words of the result; the carry becomes the word above.
    fn double(&mut self, start: usize, count: usize) {
        self.flow.note("doubled");
        self.point(start);
        for k in 0..count {
            let op = if k == 0 { Op::ADD } else { Op::ADDC };
            self.two(op, result(k).0, result(k).1);
        }
        self.number(0, result(count).1);
        self.two(Op::ADDC, Source::Constant(0), result(count).1);
    }
}

/// The function that runs `tiles`, which have all words of B.
///
/// # Errors
/// When registers or the stack run out, or a jump does not reach.
pub fn lower(core: &Core, tiles: &Tiles) -> Result<Vec<Program<Insn>>, LowerError> {
    let e = tiles.a.iter().map(|part| part.len()).max().unwrap_or(0);
    let mut emitter = Emitter::new(e)?;
    let operands = if tiles.square { 1 } else { 2 };
    for (i, pointer) in POINTERS[..operands].iter().enumerate() {
        emitter.two(Op::MOV, Source::Register(*pointer), slot(i).1);
    }
    for step in tiles.steps() {
        match step {
            TileStep::Tile(tile) => emitter.tile(&tile, tiles.square),
            TileStep::Double(words) => emitter.double(words.start, words.len()),
        }
    }
    Ok(vec![emitter.flow.function(core, FRAME)?])
}
