//! A product by halves: a subroutine that calls itself, and at the bottom a whole kernel in loops. Once for machines with
//! words of 32 bits.
//!
//! With `W = 2^(32 h)`, `L = al bl` and `H = ah bh` stand in the result, `M` on the stack. Of a product the
//! differences are kept modulo `W`, with their borrows `sa`, `sb` as masks:
//! `(al - ah)(bl - bh) = DA DB - W (sa DB + sb DA) + W^2 sa sb`, subtracted under the masks. Of a
//! square it is `|al - ah|^2`. Then `M := L - M + H` and `result += W M`, with what both carry in `e`.
//!
//! A call keeps what the caller works with in a record on the stack ([`Kept`]); `M` lies below it.

use machine::isa::Isa;
use machine::program::Program;

use crate::engine::basic::Three;
use crate::engine::driven::{Driven, Mem};
use crate::refusal::LowerError;
use crate::schedule::{Halves, Lowest, Scans};
use crate::target::claimed::{self, Said};

/// Bytes of a word.
const WORD: usize = 4;

/// The registers, by what is in them.
#[derive(Clone, Copy, Debug)]
pub struct Hands {
    pub kept: Kept,
    /// Words of two numbers.
    pub x: [u8; 2],
    pub y: [u8; 2],
    /// How far a loop still goes.
    pub left: u8,
    pub mask: u8,
}

/// Those that a call keeps, in the order of the record.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// Where the result and the operands are.
    pub r: u8,
    pub a: u8,
    pub b: u8,
    /// Bytes of an operand, of its half once there is a record.
    pub bytes: u8,
    /// The masks of the differences; later `e`, and its sign or where `H` is.
    pub sa: u8,
    pub sb: u8,
    /// Where the record of the caller is.
    pub record: u8,
    /// Where the caller goes on.
    pub link: u8,
}

impl Kept {
    /// All of them.
    pub fn list(&self) -> [u8; 8] {
        let Kept { r, a, b, .. } = *self;
        let Kept { bytes, sa, sb, .. } = *self;
        [r, a, b, bytes, sa, sb, self.record, self.link]
    }
}

/// What a machine adds to what drivers are written with.
pub trait Recursive: Driven {
    /// Bytes from the bottom of a record to its first word, and of a whole one.
    const RECORD_AT: i32;
    const RECORD: i32;
    /// Bytes of stack that the function itself takes, and the most there may be.
    const SAVED: i64;
    const STACK_LIMIT: i64;
    /// The stack pointer.
    const SP: u8;

    /// The registers.
    fn hands(&self) -> Hands;
    /// The start and the end of the function itself.
    fn open(&mut self);
    fn close(&mut self);
    /// `d = x / 2`.
    fn half(&mut self, d: u8, x: u8);
    /// The end of a round, which leaves carries alone. Pointers that do not walk, `to` first, move on by `step` bytes.
    ///
    /// # Errors
    /// When the branch does not reach.
    fn end_loop(
        &mut self,
        top: usize,
        pointers: &[u8],
        left: u8,
        step: usize,
    ) -> Result<(), LowerError>;

    /// A record with these registers is put on the stack.
    fn keep(&mut self, list: &[u8]) {
        self.plus(Self::SP, Self::SP, -Self::RECORD);
        for (k, r) in list.iter().enumerate() {
            self.store(record_word::<Self>(Self::SP, k), *r);
        }
    }

    /// It is taken from there.
    fn recall(&mut self, list: &[u8]) {
        for (k, r) in list.iter().enumerate() {
            self.load(*r, record_word::<Self>(Self::SP, k));
        }
        self.plus(Self::SP, Self::SP, Self::RECORD);
    }

    /// A jump if `r` is not `k`: its index. `spare` is lost.
    fn jump_unless(&mut self, r: u8, k: usize, spare: u8) -> usize {
        self.number(spare, k);
        self.three(Three::Sub, spare, spare, r);
        self.jump_if(spare)
    }

    /// Words `k` and following of a round through `base`; it moves on behind the `last` access to it where that
    /// costs nothing.
    fn load_words(&mut self, base: u8, list: &[u8], k: usize, last: bool) {
        for (i, r) in list.iter().enumerate() {
            self.load(*r, Self::word(base, k + i, last));
        }
    }

    /// The same, to memory.
    fn store_words(&mut self, base: u8, list: &[u8], k: usize, last: bool) {
        for (i, r) in list.iter().enumerate() {
            self.store(Self::word(base, k + i, last), *r);
        }
    }

    /// A register with what is in `r` that may be lost: `spare`, or `r` where
    /// [`crate::engine::driven::Values::with_carry`] loses nothing.
    fn lend(&mut self, spare: u8, r: u8) -> u8 {
        self.copy(spare, r);
        spare
    }

    /// A sum or a difference begins without a carry; `number` holds a number that is no secret.
    fn no_carry(&mut self, _number: u8, subtract: bool) {
        self.carry_from(None, subtract);
    }

    /// `d` is all ones if the difference borrows, else 0.
    fn mask_of_borrow(&mut self, d: u8) {
        let borrow = self.carry_into(d, true);
        self.negate(d, borrow);
    }

    /// `d` becomes 1 more if the sum carries.
    fn count_carry(&mut self, d: u8) {
        let carry = self.carry_into(d, false);
        self.three(Three::Add, d, d, carry);
    }

    /// The loop that begins here goes over `left` bytes from `to` on: `left` is where it ends.
    fn begin_loop(&mut self, to: u8, left: u8) {
        self.three(Three::Add, left, to, left);
    }
}

/// Word `k` of the record at `base`.
fn record_word<D: Recursive>(base: u8, k: usize) -> Mem {
    Mem {
        base,
        at: D::RECORD_AT + (WORD * k) as i32,
        walks: false,
    }
}

/// An instruction of the machine that `D` writes for.
type InsnOf<D> = <<D as Driven>::Isa as Isa>::Insn;

/// The functions that run `halves`, written with what `code` makes: one for each product at the bottom, and two lengths of
/// the other loops.
///
/// # Errors
/// When registers or the stack run out, a branch does not reach, or there is no such product at the bottom.
pub fn lower<D: Recursive>(
    halves: &Halves,
    bases: impl FnOnce(&Scans) -> Result<Vec<Program<InsnOf<D>>>, LowerError>,
    code: impl Fn() -> D,
) -> Result<Vec<Program<InsnOf<D>>>, LowerError> {
    let Lowest::Scans(base) = &halves.base else {
        return Err(LowerError::Lowest("-p columns=1 instead of d"));
    };
    let bases = bases(base)?;
    let words = halves.lowest_words();
    let pairs = [8, 4, 2, 1].into_iter();
    let pairs = pairs.filter(|p| words.is_multiple_of(2 * p)).take(2);
    let all = pairs.flat_map(|pairs| bases.iter().map(move |base| (pairs, base)));
    all.map(|(pairs, base)| function(halves, base, pairs, code()))
        .collect()
}

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Routine {
    /// `r[i] = a[i] - b[i]`, the borrow as a mask.
    Subtract,
    /// `r[i] = a[i] + b[i]`, `e` counts the carry.
    Add,
    /// `r[i] -= b[i] & mask`, `e` counts the borrow.
    Correct,
    Product,
    Base,
}

struct Writer<D> {
    code: D,
    on: Hands,
    notes: Vec<(usize, String)>,
    starts: Vec<(Routine, usize)>,
    calls: Vec<(usize, Routine)>,
    square: bool,
    /// Pairs of words in a round of a loop.
    pairs: usize,
    /// Bytes of an operand at the bottom.
    lowest: usize,
    /// Instructions that claims speak of: the mask of a difference, what follows its absolute value, the
    /// return from a product.
    mask: usize,
    absolute: usize,
    exit: usize,
}

impl<D: Recursive> Writer<D> {
    fn note(&mut self, text: &str) {
        self.notes.push((self.code.here(), text.into()));
    }

    fn start(&mut self, routine: Routine, text: &str) {
        self.note(text);
        self.starts.push((routine, self.code.here()));
    }

    fn call(&mut self, routine: Routine) {
        let at = self.code.call(false);
        self.calls.push((at, routine));
    }

    fn add(&mut self, d: u8, x: u8, y: u8) {
        self.code.three(Three::Add, d, x, y);
    }

    fn sub(&mut self, d: u8, x: u8, y: u8) {
        self.code.three(Three::Sub, d, x, y);
    }

    /// Word `k` of the record.
    fn word(&mut self, d: u8, k: usize) {
        let from = record_word::<D>(self.on.kept.record, k);
        self.code.load(d, from);
    }

    /// A loop over as many bytes as `left` says, without a carry at first. `body` makes each pair, the first of a round or not.
    fn each(
        &mut self,
        subtract: bool,
        pointers: &[u8],
        body: impl Fn(&mut Self, usize, bool),
    ) -> Result<(), LowerError> {
        let left = self.on.left;
        self.code.begin_loop(pointers[0], left);
        self.code.no_carry(self.on.kept.bytes, subtract);
        let top = self.code.here();
        (0..self.pairs).for_each(|i| body(self, 2 * i, i + 1 == self.pairs));
        self.code
            .end_loop(top, pointers, left, 2 * WORD * self.pairs)
    }

    /// `r[i] = a[i] ± b[i]`.
    fn combine(&mut self, subtract: bool) -> Result<(), LowerError> {
        let Hands { kept, x, y, .. } = self.on;
        self.each(subtract, &[kept.r, kept.a, kept.b], |w, k, _| {
            w.code.load_words(kept.a, &x, k, true);
            w.code.load_words(kept.b, &y, k, true);
            for (x, y) in x.into_iter().zip(y) {
                w.code.with_carry(x, Some(y), subtract);
            }
            w.code.store_words(kept.r, &x, k, true);
        })
    }

    fn subroutines(&mut self) -> Result<(), LowerError> {
        let Hands {
            kept, x, y, mask, ..
        } = self.on;
        self.start(Routine::Subtract, "r = a - b");
        self.combine(true)?;
        self.code.mask_of_borrow(mask);
        self.code.give_back();
        self.start(Routine::Add, "r = a + b");
        self.combine(false)?;
        self.code.count_carry(kept.sa);
        self.code.give_back();
        if self.square {
            return Ok(());
        }
        self.start(Routine::Correct, "r = r - (b & mask)");
        self.each(true, &[kept.r, kept.b], |w, k, _| {
            w.code.load_words(kept.r, &x, k, false);
            w.code.load_words(kept.b, &y, k, true);
            for (x, y) in x.into_iter().zip(y) {
                w.code.three(Three::And, y, y, mask);
                w.code.with_carry(x, Some(y), true);
            }
            w.code.store_words(kept.r, &x, k, true);
        })?;
        self.code.mask_of_borrow(mask);
        self.sub(kept.sa, kept.sa, mask);
        self.code.give_back();
        Ok(())
    }

    /// `h` bytes are left to do.
    fn one(&mut self) {
        self.code.copy(self.on.left, self.on.kept.bytes);
    }

    /// `2 h` are.
    fn both(&mut self) {
        let Hands { kept, left, .. } = self.on;
        self.add(left, kept.bytes, kept.bytes);
    }

    /// `M = DA DB`, and its corrections.
    fn middle_of_product(&mut self) {
        let Hands { kept, mask, .. } = self.on;
        let Kept { r, a, b, .. } = kept;
        let Kept { bytes, sa, sb, .. } = kept;
        self.code.copy(sa, mask);
        self.word(a, 2);
        self.add(b, a, bytes);
        self.one();
        self.call(Routine::Subtract);
        self.code.copy(sb, mask);
        self.word(a, 0);
        self.add(b, a, bytes);
        self.code.copy(r, D::SP);
        self.call(Routine::Product);
        self.note("- W (sa DB + sb DA) + W^2 sa sb");
        self.code.copy(mask, sa);
        self.code.three(Three::And, sa, sa, sb);
        self.add(r, r, bytes);
        self.one();
        self.call(Routine::Correct);
        self.code.copy(mask, sb);
        self.sub(r, r, bytes);
        self.code.copy(b, a);
        self.one();
        self.call(Routine::Correct);
    }

    /// `M = |D|^2`: `|D| = (D ^ mask) - mask`.
    fn middle_of_square(&mut self) -> Result<(), LowerError> {
        let Hands {
            kept, x, y, mask, ..
        } = self.on;
        let Kept { r, a, sa, .. } = kept;
        self.mask = self.code.here();
        self.code.copy(sa, mask);
        self.sub(r, r, kept.bytes);
        self.code.copy(a, r);
        self.one();
        self.each(true, &[r], |w, k, _| {
            w.code.load_words(r, &x, k, false);
            for (x, y) in x.into_iter().zip(y) {
                w.code.three(Three::Xor, x, x, sa);
                let y = w.code.lend(y, sa);
                w.code.with_carry(x, Some(y), true);
            }
            w.code.store_words(r, &x, k, true);
        })?;
        self.absolute = self.code.here();
        self.code.copy(r, D::SP);
        self.call(Routine::Product);
        self.code.number(sa, 0);
        Ok(())
    }

    /// `M := L - M + H`, `result += W M`.
    fn middle(&mut self) -> Result<(), LowerError> {
        let Hands {
            kept, x, y, mask, ..
        } = self.on;
        let Kept { r, a, b, .. } = kept;
        let (e, high) = (kept.sa, kept.sb);
        self.note("M = L - M + H");
        self.code.copy(high, r);
        self.word(a, 0);
        self.code.copy(r, D::SP);
        self.code.copy(b, D::SP);
        self.both();
        self.call(Routine::Subtract);
        self.add(e, e, mask);
        self.code.copy(r, D::SP);
        self.code.copy(a, D::SP);
        self.code.copy(b, high);
        self.both();
        self.call(Routine::Add);
        self.note("r + W M");
        self.word(r, 0);
        self.add(r, r, kept.bytes);
        self.code.copy(a, r);
        self.code.copy(b, D::SP);
        self.both();
        self.call(Routine::Add);
        let sign = kept.sb;
        self.code.sign(sign, e);
        self.one();
        self.each(false, &[r], |w, k, last| {
            w.code.load_words(r, &x, k, false);
            let first = if k == 0 { e } else { sign };
            for ((x, y), part) in x.into_iter().zip(y).zip([first, sign]) {
                let part = w.code.lend(y, part);
                w.code.with_carry(x, Some(part), false);
            }
            w.code.store_words(r, &x, k, true);
            if last {
                w.code.copy(e, sign);
            }
        })
    }

    fn product(&mut self) -> Result<(), LowerError> {
        let Hands { kept, left, .. } = self.on;
        let Kept { r, a, b, bytes, .. } = kept;
        self.start(Routine::Product, "r = a * b, by halves");
        self.code.keep(&kept.list());
        let over = self.code.jump_unless(bytes, self.lowest, left);
        self.call(Routine::Base);
        let done = self.code.jump();
        self.code.aim(over, self.code.here())?;
        self.code.copy(kept.record, D::SP);
        self.code.half(bytes, bytes);
        self.both();
        self.sub(D::SP, D::SP, left);
        self.note("differences of the halves");
        self.add(b, a, bytes);
        self.one();
        self.call(Routine::Subtract);
        match self.square {
            true => self.middle_of_square()?,
            false => self.middle_of_product(),
        }
        self.note("L = al * bl");
        self.word(r, 0);
        self.word(a, 1);
        self.word(b, 2);
        self.call(Routine::Product);
        self.note("H = ah * bh");
        self.both();
        self.add(r, r, left);
        self.add(a, a, bytes);
        self.add(b, b, bytes);
        self.call(Routine::Product);
        self.middle()?;
        self.code.copy(D::SP, kept.record);
        self.code.aim(done, self.code.here())?;
        self.code.recall(&kept.list());
        self.exit = self.code.here();
        self.code.give_back();
        Ok(())
    }

    /// Makes the calls go to their routines; the product at the bottom is behind all others.
    fn link(&mut self) -> Result<(), LowerError> {
        self.starts.push((Routine::Base, self.code.here()));
        for (at, routine) in std::mem::take(&mut self.calls) {
            let start = self.starts.iter().find(|(r, _)| *r == routine);
            let (_, start) = start.ok_or(LowerError::Reach)?;
            self.code.aim(at, *start)?;
        }
        Ok(())
    }
}

/// Where the middle product of each level is, from the lowest level on, below `at` bytes; and where the last one ends.
fn middles<D: Recursive>(halves: &Halves) -> (Vec<i64>, i64) {
    let lowest = (WORD * halves.lowest_words()) as i64;
    let mut at = -D::SAVED;
    let mut middles = Vec::new();
    for level in (1..=halves.levels).rev() {
        at -= i64::from(D::RECORD) + (lowest << level);
        middles.insert(0, at);
    }
    (middles, at)
}

/// The function with the kernel `base` at the bottom.
fn function<D: Recursive>(
    halves: &Halves,
    base: &Program<InsnOf<D>>,
    pairs: usize,
    code: D,
) -> Result<Program<InsnOf<D>>, LowerError> {
    let words = halves.lowest_words();
    let (middles, at) = middles::<D>(halves);
    let need = i64::from(D::RECORD) - at;
    if need > D::STACK_LIMIT {
        return Err(LowerError::Stack {
            need: need as usize,
            limit: D::STACK_LIMIT as usize,
        });
    }
    let mut w = Writer {
        on: code.hands(),
        code,
        notes: Vec::new(),
        starts: Vec::new(),
        calls: Vec::new(),
        square: halves.square(),
        pairs,
        lowest: WORD * words,
        mask: 0,
        absolute: 0,
        exit: 0,
    };
    w.code.open();
    w.code.number(w.on.kept.bytes, w.lowest << halves.levels);
    w.call(Routine::Product);
    w.code.close();
    w.subroutines()?;
    w.product()?;
    w.note("the product that is called last");
    w.link()?;
    let said = Said {
        square: w.square,
        base: words,
        mask: (w.mask, w.on.kept.sa),
        absolute: w.absolute,
        exit: w.exit,
        word: WORD as i64,
        middles,
    };
    let mut insns = w.code.finish()?;
    insns.extend(base.insns.iter().cloned());
    Ok(Program {
        insns,
        notes: w.notes,
        claims: claimed::of(said),
    })
}
