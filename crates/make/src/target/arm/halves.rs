//! A product by halves on an ARM: a subroutine that calls itself, and at the bottom a whole kernel in loops.
//!
//! With `W = 2^(32 h)`, `L = al bl` and `H = ah bh` stand in the result, `M` on the stack. Of a product the
//! differences are kept modulo `W`, with their borrows `sa`, `sb` as masks:
//! `(al - ah)(bl - bh) = DA DB - W (sa DB + sb DA) + W^2 sa sb`, subtracted under the masks. Of a
//! square it is `|al - ah|^2`. Then `M := L - M + H` and `result += W M`, with what both carry in `e`.
//!
//! A call keeps r0 to r5 and r11: its record is r, a, b, the bytes of an operand, r4, r5, r11 and lr, and `M`
//! lies below it.

use machine::isa::arm::abi::STACK_LIMIT;
use machine::isa::arm::code::{BlockMode, Insn};
use machine::isa::arm::instructions::{Op, Ops};
use machine::isa::arm::machine::SP;
use machine::program::Program;

use crate::refusal::LowerError;
use crate::schedule::{Halves, Lowest, Scans};
use crate::target::arm::flow::{Flow, WORD};
use crate::target::arm::{frame, scans};
use crate::target::claimed;
use crate::target::claimed::Said;

const R: u8 = 0;
const A: u8 = 1;
const B: u8 = 2;
/// Bytes of an operand, of its half once there is a record.
const BYTES: u8 = 3;
/// The masks of the differences; later `e`, and `H` or the sign of `e`.
const SA: u8 = 4;
const SB: u8 = 5;
const E: u8 = SA;
/// Words of two numbers.
const X: [u8; 2] = [6, 7];
const Y: [u8; 2] = [8, 9];
/// Bytes that a loop has still to do.
const LEFT: u8 = 10;
const RECORD: u8 = 11;
const MASK: u8 = 12;
const LR: u8 = 14;

/// What a call keeps, and the bytes of that.
const KEPT: u16 = 0x3f | 1 << RECORD | 1 << LR;
const RECORDED: i64 = 4 * 8;
/// Where a record has a and b.
const AT_A: i32 = 4;
const AT_B: i32 = 8;
/// In the lowest bits of a shifter operand: half or twice the register.
const HALF: i32 = 1 << 7 | 1 << 5;
const TWICE: i32 = 1 << 7;

/// What is called or jumped to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    /// `r0[i] = r1[i] - r2[i]`, the borrow as a mask.
    Subtract,
    /// `r0[i] = r1[i] + r2[i]`, the carry in the flag.
    Add,
    /// `r0[i] -= r2[i] & mask`, the borrow added to `e`.
    Correct,
    Product,
    Over,
    Done,
    Base,
}

/// Code with labels.
struct Writer {
    flow: Flow,
    labels: Vec<(Label, usize)>,
    jumps: Vec<(usize, Label)>,
    square: bool,
    /// Pairs of words in a pass of a loop.
    pairs: usize,
    /// Bytes of an operand at the bottom.
    lowest: i32,
    /// Instructions that claims speak of: the mask of a difference, what follows its absolute value, the
    /// return from a product.
    mask: usize,
    absolute: usize,
    exit: usize,
}

/// The functions that run `halves` with the values registers `order`: one for each product at the bottom, and two
/// lengths of the other loops.
///
/// # Errors
/// When registers or the stack run out, or there is no such product.
pub fn lower(halves: &Halves, order: &[u8]) -> Result<Vec<Program<Insn>>, LowerError> {
    let Lowest::Scans(base) = &halves.base else {
        return Err(LowerError::Lowest("-p columns=1 instead of d"));
    };
    let words = halves.lowest_words();
    let pairs = [8, 4, 2, 1]
        .into_iter()
        .filter(|p| words.is_multiple_of(2 * p));
    let pairs: Vec<usize> = pairs.take(2).collect();
    let mut list = Vec::new();
    for base in whole(base, order)? {
        for pairs in &pairs {
            list.push(function(halves, &base, *pairs)?);
        }
    }
    Ok(list)
}

/// Kernels for the product at the bottom.
fn whole(base: &Scans, order: &[u8]) -> Result<Vec<Program<Insn>>, LowerError> {
    match order.len() < crate::target::arm::columns::ORDER.len() {
        true => Err(LowerError::Registers),
        false => scans::lower(base, order),
    }
}

impl Writer {
    fn here(&mut self, label: Label) {
        self.labels.push((label, self.flow.top()));
    }

    fn jump(&mut self, op: Op, label: Label) {
        self.jumps.push((self.flow.top(), label));
        self.flow.reg(op, false, 0, 0, 0);
    }

    fn call(&mut self, label: Label) {
        self.jump(Op::BL, label);
    }

    fn back(&mut self) {
        let ops = Ops {
            m: LR,
            ..Ops::default()
        };
        self.flow.push(Insn { op: Op::BX, ops });
    }

    fn alu(&mut self, op: Op, d: u8, n: u8, k: i32) {
        self.flow.push(Insn::alu(op, false, d, n, k));
    }

    fn add(&mut self, d: u8, n: u8, m: u8) {
        self.flow.reg(Op::ADD, false, d, n, m);
    }

    fn sub(&mut self, d: u8, n: u8, m: u8) {
        self.flow.reg(Op::SUB, false, d, n, m);
    }

    /// From the record.
    fn recall(&mut self, d: u8, at: i32) {
        self.flow.push(Insn::at(Op::LDR, d, RECORD, at, false));
    }

    /// A loop over [`LEFT`] bytes with the carry of `op`, at first none.
    fn passes(&mut self, op: Op, body: impl FnOnce(&mut Self)) {
        self.flow.no_carry(op, X[0]);
        let top = self.flow.top();
        body(self);
        let bytes = (2 * self.pairs) as u8 * WORD as u8;
        self.flow.imm(Op::SUB, false, LEFT, LEFT, bytes);
        self.flow.imm(Op::TEQ, false, 0, LEFT, 0);
        self.flow.again(top);
    }

    /// `r0[i] = r1[i] op r2[i]`.
    fn combine(&mut self, op: Op) {
        self.passes(op, |w| {
            for _ in 0..w.pairs {
                w.flow.walk(Op::LDR, A, &X);
                w.flow.walk(Op::LDR, B, &Y);
                for (x, y) in X.into_iter().zip(Y) {
                    w.flow.reg(op, true, x, x, y);
                }
                w.flow.walk(Op::STR, R, &X);
            }
        });
    }

    fn subroutines(&mut self) {
        self.flow.note("r0 = r1 - r2");
        self.here(Label::Subtract);
        self.combine(Op::SBC);
        self.flow.reg(Op::SBC, false, MASK, MASK, MASK);
        self.back();
        self.flow.note("r0 = r1 + r2");
        self.here(Label::Add);
        self.combine(Op::ADC);
        self.back();
        if self.square {
            return;
        }
        self.flow.note("r0 = r0 - (r2 & mask)");
        self.here(Label::Correct);
        self.passes(Op::SBC, |w| {
            for _ in 0..w.pairs {
                w.flow.stay(Op::LDR, R, &X);
                w.flow.walk(Op::LDR, B, &Y);
                for (x, y) in X.into_iter().zip(Y) {
                    w.flow.reg(Op::AND, false, y, y, MASK);
                    w.flow.reg(Op::SBC, true, x, x, y);
                }
                w.flow.walk(Op::STR, R, &X);
            }
        });
        self.flow.reg(Op::SBC, false, MASK, MASK, MASK);
        self.sub(E, E, MASK);
        self.back();
    }

    /// `h` bytes are left to do.
    fn half(&mut self) {
        self.flow.copy(LEFT, BYTES);
    }

    /// `2 h` are.
    fn both(&mut self) {
        self.alu(Op::MOV, LEFT, 0, i32::from(BYTES) | TWICE);
    }

    /// `M = DA DB`, and its corrections.
    fn middle_of_product(&mut self) {
        self.flow.copy(SA, MASK);
        self.recall(A, AT_B);
        self.add(B, A, BYTES);
        self.half();
        self.call(Label::Subtract);
        self.flow.copy(SB, MASK);
        self.recall(A, 0);
        self.add(B, A, BYTES);
        self.flow.copy(R, SP);
        self.call(Label::Product);
        self.flow.note("- W (sa DB + sb DA) + W^2 sa sb");
        self.flow.copy(MASK, SA);
        self.flow.reg(Op::AND, false, E, SA, SB);
        self.add(R, R, BYTES);
        self.half();
        self.call(Label::Correct);
        self.flow.copy(MASK, SB);
        self.sub(R, R, BYTES);
        self.flow.copy(B, A);
        self.half();
        self.call(Label::Correct);
    }

    /// `M = |D|^2`: `|D| = (D ^ mask) - mask`.
    fn middle_of_square(&mut self) {
        self.mask = self.flow.top();
        self.flow.copy(SA, MASK);
        self.sub(R, R, BYTES);
        self.flow.copy(A, R);
        self.half();
        self.passes(Op::SBC, |w| {
            for _ in 0..w.pairs {
                w.flow.stay(Op::LDR, R, &X);
                for x in X {
                    w.flow.reg(Op::EOR, false, x, x, SA);
                    w.flow.reg(Op::SBC, true, x, x, SA);
                }
                w.flow.walk(Op::STR, R, &X);
            }
        });
        self.absolute = self.flow.top();
        self.flow.copy(R, SP);
        self.call(Label::Product);
        self.flow.imm(Op::MOV, false, E, 0, 0);
    }

    /// `M := L - M + H`, `result += W M`.
    fn middle(&mut self) {
        let sign = SB;
        self.flow.note("M = L - M + H");
        self.flow.copy(SB, R);
        self.recall(A, 0);
        self.flow.copy(R, SP);
        self.flow.copy(B, SP);
        self.both();
        self.call(Label::Subtract);
        self.add(E, E, MASK);
        self.flow.copy(R, SP);
        self.flow.copy(A, SP);
        self.flow.copy(B, SB);
        self.both();
        self.call(Label::Add);
        self.flow.imm(Op::ADC, false, E, E, 0);
        self.flow.note("r + W M");
        self.recall(R, 0);
        self.add(R, R, BYTES);
        self.flow.copy(A, R);
        self.flow.copy(B, SP);
        self.both();
        self.call(Label::Add);
        self.flow.imm(Op::ADC, false, E, E, 0);
        self.flow.reg(Op::ADD, true, sign, E, E);
        self.flow.reg(Op::SBC, false, sign, sign, sign);
        self.flow.reg(Op::MVN, false, sign, 0, sign);
        self.half();
        self.passes(Op::ADC, |w| {
            for i in 0..w.pairs {
                w.flow.stay(Op::LDR, R, &X);
                let first = if i == 0 { E } else { sign };
                for (x, y) in X.into_iter().zip([first, sign]) {
                    w.flow.reg(Op::ADC, true, x, x, y);
                }
                w.flow.walk(Op::STR, R, &X);
            }
            w.flow.copy(E, sign);
        });
    }

    fn product(&mut self) {
        self.flow.note("r0 = r1 * r2, by halves");
        self.here(Label::Product);
        let before = Insn::block(Op::STM, SP, BlockMode::DB, true, KEPT);
        self.flow.push(before);
        self.flow.compare(BYTES, self.lowest, LEFT);
        self.jump(Op::B, Label::Over);
        self.call(Label::Base);
        self.jump(Op::B, Label::Done);
        self.here(Label::Over);
        self.flow.copy(RECORD, SP);
        self.alu(Op::MOV, BYTES, 0, i32::from(BYTES) | HALF);
        self.alu(Op::SUB, SP, SP, i32::from(BYTES) | TWICE);
        self.flow.note("differences of the halves");
        self.add(B, A, BYTES);
        self.half();
        self.call(Label::Subtract);
        match self.square {
            true => self.middle_of_square(),
            false => self.middle_of_product(),
        }
        self.flow.note("L = al * bl");
        self.recall(R, 0);
        self.recall(A, AT_A);
        self.recall(B, AT_B);
        self.call(Label::Product);
        self.flow.note("H = ah * bh");
        self.alu(Op::ADD, R, R, i32::from(BYTES) | TWICE);
        self.add(A, A, BYTES);
        self.add(B, B, BYTES);
        self.call(Label::Product);
        self.middle();
        self.flow.copy(SP, RECORD);
        self.here(Label::Done);
        let after = Insn::block(Op::LDM, SP, BlockMode::IA, true, KEPT);
        self.flow.push(after);
        self.exit = self.flow.top();
        self.back();
    }
}

impl Writer {
    /// Makes the jumps go to their labels, each instruction being at its place.
    fn link(&mut self, place: impl Fn(usize) -> usize) -> Result<(), LowerError> {
        for (at, label) in &self.jumps {
            let target = self.labels.iter().find(|(l, _)| l == label);
            let (_, target) = target.ok_or(LowerError::Reach)?;
            let jump = &mut self.flow.insns[*at].ops;
            // Relative to two instructions further on.
            jump.k = place(*target) as i32 - place(*at) as i32 - 2;
            // NE
            jump.cond = if *label == Label::Over { 1 } else { jump.cond };
        }
        Ok(())
    }
}

/// Where the middle product of each level is, from the lowest level on, below `at` bytes; and where the last one ends.
fn middles(halves: &Halves, mut at: i64) -> (Vec<i64>, i64) {
    let lowest = i64::from(WORD) * halves.lowest_words() as i64;
    let mut middles = Vec::new();
    for level in (1..=halves.levels).rev() {
        at -= RECORDED + (lowest << level);
        middles.insert(0, at);
    }
    (middles, at)
}

/// The function with the kernel `base` at the bottom.
fn function(
    halves: &Halves,
    base: &Program<Insn>,
    pairs: usize,
) -> Result<Program<Insn>, LowerError> {
    let words = halves.lowest_words();
    let lowest = WORD * words as i32;
    let mut w = Writer {
        flow: Flow::default(),
        labels: Vec::new(),
        jumps: Vec::new(),
        square: halves.square(),
        pairs,
        lowest,
        mask: 0,
        absolute: 0,
        exit: 0,
    };
    w.flow.number(BYTES, (lowest << halves.levels) as u32);
    w.call(Label::Product);
    let main = w.flow.top();
    w.subroutines();
    w.product();
    w.flow.note("the product that is called last");
    w.here(Label::Base);
    w.flow.insns.extend(&base.insns);
    let (before, after) = frame::frame(&w.flow.insns, 0)?;
    let place = |at: usize| before.len() + at + if at < main { 0 } else { after.len() };
    let saved: u32 = before.iter().map(|i| i.ops.k.count_ones()).sum();
    let saved = i64::from(WORD) * i64::from(saved);
    let (middles, at) = middles(halves, -saved);
    let need = (RECORDED - at) as usize;
    if need as i64 > STACK_LIMIT {
        return Err(LowerError::Stack {
            need,
            limit: STACK_LIMIT as usize,
        });
    }
    w.link(place)?;
    let said = Said {
        square: w.square,
        base: words,
        mask: (place(w.mask), SA),
        absolute: place(w.absolute),
        exit: place(w.exit),
        word: WORD.into(),
        middles,
    };
    Ok(Program {
        notes: w.flow.notes(place),
        insns: [
            &before,
            &w.flow.insns[..main],
            &after,
            &w.flow.insns[main..],
        ]
        .concat(),
        claims: claimed::of(said),
    })
}
