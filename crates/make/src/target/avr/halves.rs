//! A product by halves on an AVR: a subroutine that calls itself, and one in loops at the bottom.
//!
//! With `W = 2^(8 h)`, `L = al bl` and `H = ah bh` stand in the result, `M` in a frame on the stack.
//! Of a product the differences are kept modulo `W`, with their borrows `sa`, `sb` as masks:
//! `(al - ah)(bl - bh) = DA DB - W (sa DB + sb DA) + W^2 sa sb`, subtracted under the masks. Of a
//! square it is `|al - ah|^2`. Then `M := L - M + H` and `result += W M`. The carries of both sums are collected in `e`, which is
//! added last.
//!
//! A frame: `2 h` words of `M`, then the record: addresses of r, a, the words `h`, and of a product
//! the address of b, `sa` and `sb`, later `e`. [`Halves`](crate::schedule::Halves) calls this one after the other.

use machine::isa::avr::abi::STACK_LIMIT;
use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::{Op, Ops};
use machine::isa::avr::machine::Pointer;
use machine::program::Program;

use crate::refusal::LowerError;
use crate::schedule::{Halves, Lowest};
use crate::target::avr::draft::Draft;
use crate::target::avr::frame::move_stack;
use crate::target::avr::{bands, frame};
use crate::target::claimed;
use crate::target::claimed::Said;

const X: u8 = Pointer::X.low();
const Y: u8 = Pointer::Y.low();
const Z: u8 = Pointer::Z.low();

/// Where the record has what, in bytes.
const R: i32 = 0;
const A: i32 = 2;
const HALF: i32 = 4;
const B: i32 = 5;
const SA: i32 = 7;
const SB: i32 = 8;
const RECORD_OF_SQUARE: i64 = 5;
const RECORD: i64 = 9;

/// What is called or jumped to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    /// Y, X, Z: to r, a, b as the record has them, and its h.
    Recall,
    /// `Y[i] = X[i] - Z[i]` of h words, the borrow as a mask.
    Subtract,
    /// `Y[i] -= X[i] & mask` of h words, the borrow added to e.
    Correct,
    /// A product of as many words as `half` says.
    Product,
    /// The same of twice as many.
    Twice,
    Done,
    Base,
}

/// Which register holds what between calls.
#[derive(Clone, Copy)]
struct Registers {
    count: u8,
    zero: u8,
    /// The low one of a pair: where the record lies, or that of the caller.
    frame: u8,
    half: u8,
    e: u8,
    masks: [u8; 2],
    /// The first two are a pair.
    data: [u8; 8],
}

/// Code with labels.
struct Writer {
    draft: Draft,
    labels: Vec<(Label, usize)>,
    jumps: Vec<(usize, Label)>,
    on: Registers,
    square: bool,
    /// Words of the product at the bottom, and of those that a pass of a loop takes.
    base: usize,
    pass: usize,
    /// Instructions that claims speak of: the mask of a difference, what follows its absolute
    /// value, the return from a product.
    mask: usize,
    absolute: usize,
    exit: usize,
}

impl Writer {
    fn new(on: Registers, square: bool, base: usize, pass: usize) -> Self {
        Self {
            draft: Draft::default(),
            labels: Vec::new(),
            jumps: Vec::new(),
            on,
            square,
            base,
            pass,
            mask: 0,
            absolute: 0,
            exit: 0,
        }
    }

    fn here(&mut self, label: Label) {
        self.labels.push((label, self.draft.insns.len()));
    }

    fn jump(&mut self, op: Op, label: Label) {
        self.jumps.push((self.draft.insns.len(), label));
        self.draft.dk(op, 0, 0);
    }

    fn call(&mut self, label: Label) {
        self.jump(Op::RCALL, label);
    }

    fn rr(&mut self, op: Op, d: u8, r: u8) {
        self.draft.rr(op, d, r);
    }

    /// From the record, to which Z points.
    fn get(&mut self, register: u8, offset: i32) {
        self.draft.dk(Op::LDDZ, register, offset);
    }

    fn put(&mut self, register: u8, offset: i32) {
        self.draft.push(Insn::rk(Op::STDZ, register, offset));
    }

    fn store_y(&mut self, register: u8) {
        self.draft.push(Insn::rk(Op::STY_INC, register, 0));
    }

    /// `pair += times h`.
    fn ahead(&mut self, pair: u8, times: usize) {
        for _ in 0..times {
            self.rr(Op::ADD, pair, self.on.half);
            self.rr(Op::ADC, pair + 1, self.on.zero);
        }
    }

    /// `pair -= times h`.
    fn back(&mut self, pair: u8, times: usize) {
        for _ in 0..times {
            self.rr(Op::SUB, pair, self.on.half);
            self.rr(Op::SBC, pair + 1, self.on.zero);
        }
    }

    /// Points to `h times` words below the record.
    fn below_record(&mut self, pair: u8, times: usize) {
        self.rr(Op::MOVW, pair, self.on.frame);
        self.back(pair, times);
    }

    /// A loop over `times h` words, without a carry at first.
    fn passes(&mut self, times: usize, body: impl FnOnce(&mut Self)) -> Result<(), LowerError> {
        let count = self.on.count;
        self.rr(Op::MOV, count, self.on.half);
        let shifts = self.pass.ilog2() as usize + 1 - times;
        for _ in 0..shifts {
            // h is a multiple of the pass: what leaves, and is the carry then, is 0.
            self.rr(Op::LSR, count, 0);
        }
        if shifts == 0 {
            self.clear_carry();
        }
        let top = self.draft.insns.len();
        body(self);
        self.draft.repeat(count, top)
    }

    fn clear_carry(&mut self) {
        let op = Op::BCLR;
        let ops = Ops::default();
        self.draft.push(Insn { op, ops });
    }

    /// `Y[i] = X[i] - Z[i]`, h words.
    fn subtract(&mut self) -> Result<(), LowerError> {
        self.passes(1, |w| {
            for _ in 0..w.pass {
                w.draft.dk(Op::LDX_INC, 0, 0);
                w.draft.dk(Op::LDZ_INC, 1, 0);
                w.rr(Op::SBC, 0, 1);
                w.store_y(0);
            }
        })?;
        let [mask, _] = self.on.masks;
        self.mask = self.draft.insns.len();
        self.rr(Op::SBC, mask, mask);
        Ok(())
    }

    /// `Y[i] = (Y[i] ^ mask) - mask`, h words.
    fn absolute(&mut self) -> Result<(), LowerError> {
        let [mask, _] = self.on.masks;
        self.passes(1, |w| {
            for _ in 0..w.pass {
                w.draft.dk(Op::LDDY, 0, 0);
                w.rr(Op::EOR, 0, mask);
                w.rr(Op::SBC, 0, mask);
                w.store_y(0);
            }
        })?;
        self.absolute = self.draft.insns.len();
        Ok(())
    }

    fn subroutines(&mut self) -> Result<(), LowerError> {
        let Registers {
            zero,
            half,
            e,
            frame,
            ..
        } = self.on;
        self.draft.note("point to r, a, b again");
        self.here(Label::Recall);
        self.rr(Op::MOVW, Z, frame);
        for (pair, at) in [(Y, R), (X, A)] {
            self.get(pair, at);
            self.get(pair + 1, at + 1);
        }
        self.get(half, HALF);
        self.draft.clear(zero);
        match self.square {
            true => self.rr(Op::MOVW, Z, X),
            false => {
                self.get(0, B);
                self.get(Z + 1, B + 1);
                self.rr(Op::MOV, Z, 0);
            }
        }
        self.rr(Op::RET, 0, 0);
        if self.square {
            return Ok(());
        }
        self.draft.note("Y = X - Z");
        self.here(Label::Subtract);
        self.subtract()?;
        self.rr(Op::RET, 0, 0);
        self.draft.note("Y = Y - (X & mask)");
        self.here(Label::Correct);
        let [mask, _] = self.on.masks;
        self.passes(1, |w| {
            for _ in 0..w.pass {
                w.draft.dk(Op::LDDY, 0, 0);
                w.draft.dk(Op::LDX_INC, 1, 0);
                w.rr(Op::AND, 1, mask);
                w.rr(Op::SBC, 0, 1);
                w.store_y(0);
            }
        })?;
        self.rr(Op::ADC, e, zero);
        self.rr(Op::RET, 0, 0);
        Ok(())
    }

    /// What a call needs to know later goes to the record.
    fn open_frame(&mut self) {
        let Registers {
            zero,
            frame,
            half,
            data,
            ..
        } = self.on;
        self.draft.clear(zero);
        self.ahead(frame, 2);
        let room = -(record(self.square) as i32);
        self.draft.dk(Op::SUBI, frame, room & 0xff);
        self.draft.dk(Op::SBCI, frame + 1, room >> 8 & 0xff);
        self.rr(Op::MOVW, data[0], Y);
        self.rr(Op::MOVW, Y, frame);
        let kept = [(R, data[0]), (A, X), (B, Z)];
        let count = if self.square { 2 } else { 3 };
        for (at, pair) in kept.into_iter().take(count) {
            self.draft.push(Insn::rk(Op::STDY, pair, at));
            self.draft.push(Insn::rk(Op::STDY, pair + 1, at + 1));
        }
        self.draft.push(Insn::rk(Op::STDY, half, HALF));
        self.rr(Op::MOVW, Y, data[0]);
    }

    /// `M`: of a product `DA DB` and its corrections, of a square that of the absolute difference.
    fn middle_product(&mut self) -> Result<(), LowerError> {
        let Registers {
            frame, masks, e, ..
        } = self.on;
        self.draft.note("differences of the halves");
        self.rr(Op::MOVW, Z, X);
        self.ahead(Z, 1);
        if self.square {
            self.subtract()?;
            self.back(Y, 1);
            self.absolute()?;
            self.rr(Op::MOVW, X, Y);
            self.back(X, 1);
            self.rr(Op::MOVW, Z, X);
            self.below_record(Y, 2);
            self.call(Label::Product);
            return Ok(());
        }
        self.call(Label::Subtract);
        self.rr(Op::MOV, masks[1], masks[0]);
        self.rr(Op::MOVW, Z, frame);
        self.get(X, B);
        self.get(X + 1, B + 1);
        self.rr(Op::MOVW, Z, X);
        self.ahead(Z, 1);
        self.call(Label::Subtract);
        self.rr(Op::MOVW, Z, frame);
        self.put(masks[1], SA);
        self.put(masks[0], SB);
        self.get(X, R);
        self.get(X + 1, R + 1);
        self.rr(Op::MOVW, Z, X);
        self.ahead(Z, 1);
        self.below_record(Y, 2);
        self.call(Label::Product);
        self.draft.note("- W (sa DB + sb DA) + W^2 sa sb");
        self.call(Label::Recall);
        self.rr(Op::MOVW, X, Y);
        self.rr(Op::MOVW, Z, frame);
        self.get(masks[0], SB);
        self.get(e, SA);
        self.rr(Op::AND, e, masks[0]);
        self.below_record(Y, 1);
        self.call(Label::Correct);
        self.get(masks[0], SA);
        self.back(Y, 1);
        self.call(Label::Correct);
        self.put(e, SA);
        Ok(())
    }

    /// `M := L - M + H`, `result += W M`.
    fn middle(&mut self) -> Result<(), LowerError> {
        let Registers { masks, data, .. } = self.on;
        let [borrow, carry] = masks;
        self.draft.note("M = L - M + H");
        self.call(Label::Recall);
        self.rr(Op::MOVW, X, Y);
        self.rr(Op::MOVW, Z, Y);
        self.ahead(Z, 2);
        self.below_record(Y, 2);
        self.draft.clear(borrow);
        self.draft.clear(carry);
        self.passes(2, |w| {
            let words = &data[..w.pass];
            for x in words {
                w.draft.dk(Op::LDX_INC, *x, 0);
            }
            w.rr(Op::ADD, borrow, borrow);
            for (i, x) in words.iter().enumerate() {
                w.draft.dk(Op::LDDY, 0, i as i32);
                w.rr(Op::SBC, *x, 0);
            }
            w.rr(Op::SBC, borrow, borrow);
            w.rr(Op::ADD, carry, carry);
            for x in words {
                w.draft.dk(Op::LDZ_INC, 0, 0);
                w.rr(Op::ADC, *x, 0);
            }
            w.rr(Op::SBC, carry, carry);
            for x in words {
                w.store_y(*x);
            }
        })?;
        self.add_middle(borrow, carry)
    }

    /// `r + W M`, with what the carries of `M` come to.
    fn add_middle(&mut self, borrow: u8, carry: u8) -> Result<(), LowerError> {
        let Registers { zero, frame, .. } = self.on;
        // A mask of a carry is its negative.
        let e = match self.square {
            true => borrow,
            false => {
                self.rr(Op::MOVW, Z, frame);
                self.get(self.on.e, SA);
                self.rr(Op::ADD, self.on.e, borrow);
                self.on.e
            }
        };
        self.rr(Op::SUB, e, carry);
        self.draft.note("r + W M");
        self.rr(Op::MOVW, Y, X);
        self.back(Y, 1);
        self.below_record(X, 2);
        self.passes(2, |w| {
            for _ in 0..w.pass {
                w.draft.dk(Op::LDDY, 0, 0);
                w.draft.dk(Op::LDX_INC, 1, 0);
                w.rr(Op::ADC, 0, 1);
                w.store_y(0);
            }
        })?;
        self.rr(Op::ADC, e, zero);
        let sign = carry;
        self.rr(Op::MOV, sign, e);
        self.rr(Op::ADD, sign, sign);
        self.rr(Op::SBC, sign, sign);
        self.passes(1, |w| {
            for i in 0..w.pass {
                w.draft.dk(Op::LDDY, 0, 0);
                w.rr(Op::ADC, 0, if i == 0 { e } else { sign });
                w.store_y(0);
            }
            w.rr(Op::MOV, e, sign);
        })
    }

    /// The product of X and Z to Y.
    fn product(&mut self) -> Result<(), LowerError> {
        let Registers { frame, half, .. } = self.on;
        self.draft.note("Y = X * Z, by halves");
        self.here(Label::Product);
        self.rr(Op::LSR, half, 0);
        self.here(Label::Twice);
        self.rr(Op::PUSH, 0, frame);
        self.rr(Op::PUSH, 0, frame + 1);
        self.draft.dk(Op::CPI, half, (self.base / 2) as i32);
        let ops = Ops {
            b: 1,
            k: 2,
            ..Ops::default()
        };
        self.draft.push(Insn { op: Op::BRBC, ops });
        self.call(Label::Base);
        self.jump(Op::RJMP, Label::Done);
        self.open_frame();
        self.middle_product()?;
        self.draft.note("L = al * bl");
        self.call(Label::Recall);
        self.call(Label::Product);
        self.draft.note("H = ah * bh");
        self.call(Label::Recall);
        self.ahead(X, 1);
        match self.square {
            true => self.rr(Op::MOVW, Z, X),
            false => self.ahead(Z, 1),
        }
        self.ahead(Y, 2);
        self.call(Label::Product);
        self.middle()?;
        self.here(Label::Done);
        self.rr(Op::POP, frame + 1, 0);
        self.rr(Op::POP, frame, 0);
        self.exit = self.draft.insns.len();
        self.rr(Op::RET, 0, 0);
        Ok(())
    }
}

/// Bytes of a record.
fn record(square: bool) -> i64 {
    if square { RECORD_OF_SQUARE } else { RECORD }
}

/// The largest operands, in words: `h` and the base's counts fit a register.
const MOST: usize = 256;

/// The functions that run `halves` on `core`, of any of which there may be use.
///
/// # Errors
/// When registers run out, or the stack would, or something is too far away.
pub fn lower(
    core: &Core,
    halves: &Halves,
    registers: &[u8],
) -> Result<Vec<Program<Insn>>, LowerError> {
    let Some(([count, zero, low, _, half, e, sa, sb], others)) = registers.split_first_chunk()
    else {
        return Err(LowerError::Registers);
    };
    let data = others.first_chunk().ok_or(LowerError::Registers)?;
    if halves.words() > MOST {
        return Err(LowerError::Halves(MOST));
    }
    let on = Registers {
        count: *count,
        zero: *zero,
        frame: *low,
        half: *half,
        e: *e,
        masks: [*sa, *sb],
        data: *data,
    };
    let Lowest::Bands(base) = &halves.base else {
        return Err(LowerError::Lowest("-p d=2"));
    };
    let words = halves.lowest_words();
    let passes = [8, 4, 2].into_iter().filter(|p| words.is_multiple_of(*p));
    let mut list = Vec::new();
    // The longest passes, and half as long ones.
    for pass in passes.take(2) {
        let make = |base| function(core, halves, on, pass, base);
        list.extend(bands::each(base, registers, None, make)?);
    }
    Ok(list)
}

impl Writer {
    /// Makes the jumps go to their labels: between the first `main` instructions and what they call, the function
    /// returns by `after` more.
    fn link(&mut self, main: usize, after: usize) -> Result<(), LowerError> {
        for (at, label) in &self.jumps {
            let target = self.labels.iter().find(|(l, _)| l == label);
            let (_, target) = target.ok_or(LowerError::Reach)?;
            let far = *target as i64 - *at as i64 - 1;
            let over = if *at < main { after as i64 } else { 0 };
            self.draft.insns[*at].ops.k = (far + over) as i32;
        }
        Ok(())
    }
}

/// Makes room on the stack, and the result there by the product of the halves.
fn call_product(w: &mut Writer, core: &Core, n: usize, room: i64) {
    let (on, square) = (w.on, w.square);
    w.draft.note("make room on the stack, point to r, a, b");
    w.draft.insns.extend(move_stack(core.abi, -room));
    let [r, a, b, ..] = core.abi.arguments;
    w.rr(Op::MOVW, X, a);
    if !square {
        w.rr(Op::MOVW, Z, b);
    }
    // The first frame begins where the stack pointer is, and one on.
    w.rr(Op::MOVW, on.frame, Y);
    w.draft.dk(Op::SUBI, on.frame, record(square) as i32 - 1);
    w.draft.dk(Op::SBCI, on.frame + 1, 0);
    w.rr(Op::MOVW, Y, r);
    w.draft.dk(Op::LDI, on.half, (n / 2) as i32);
    w.call(Label::Twice);
    w.draft.insns.extend(move_stack(core.abi, room));
}

fn function(
    core: &Core,
    halves: &Halves,
    on: Registers,
    pass: usize,
    base: Draft,
) -> Result<Program<Insn>, LowerError> {
    let (n, words, square) = (halves.words(), halves.lowest_words(), halves.square());
    let mut w = Writer::new(on, square, words, pass);
    let frames = (1..=halves.levels).map(|level| (words << level) as i64 + record(square));
    let room: i64 = frames.sum();
    if room > STACK_LIMIT {
        return Err(LowerError::Stack {
            need: room as usize,
            limit: STACK_LIMIT as usize,
        });
    }
    call_product(&mut w, core, n, room);
    let main = w.draft.insns.len();
    w.subroutines()?;
    w.product()?;
    w.here(Label::Base);
    w.draft.append(base);
    w.rr(Op::RET, 0, 0);
    let (before, after) = frame::frame(core, &w.draft.insns);
    w.link(main, after.len())?;
    let place = |at: usize| before.len() + at + if at < main { 0 } else { after.len() };
    let mut at = 1 - before.len() as i64 - room;
    let mut middles = Vec::new();
    for level in (1..=halves.levels).rev() {
        middles.insert(0, at);
        at += (words << level) as i64 + record(square);
    }
    let said = Said {
        square,
        base: words,
        mask: (place(w.mask), on.masks[0]),
        absolute: place(w.absolute),
        exit: place(w.exit),
        word: 1,
        middles,
    };
    let restored = (before.len() + main, "restore registers".into());
    let own = w.draft.notes.iter();
    let own = own.map(|(at, text)| (place(*at), text.clone()));
    let mut notes: Vec<_> = own
        .chain([(0, "save registers".into()), restored])
        .collect();
    // In the order of the code.
    notes.sort_by_key(|(at, _)| *at);
    let (main, rest) = w.draft.insns.split_at(main);
    Ok(Program {
        insns: [&before, main, &after, rest].concat(),
        notes,
        claims: claimed::of(said),
    })
}
