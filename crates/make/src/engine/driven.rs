//! What drivers are written with. [`Values`]: what a machine does with values, with an implementation for machines without a carry
//! flag, whose words have 32 bits. [`Driven`]: its addresses, loops and calls.

use machine::isa::Isa;

use crate::engine::basic::{Basic, By, Moves, Three};
use crate::refusal::LowerError;

/// The registers of a driver, by what is in them. A called kernel may change all but `area`.
#[derive(Clone, Debug)]
pub struct Roles {
    /// The address of the area of numbers.
    pub area: u8,
    /// Where a pass over numbers reads and writes, and where it only reads.
    pub to: u8,
    pub from: u8,
    /// Words.
    pub words: [u8; 3],
    /// A mask.
    pub mask: u8,
    /// While all entries of a table are read: words of the one that is wanted, and the index of the one that is read.
    pub collected: Vec<u8>,
    pub index: u8,
    /// Which one is wanted; none where no register is left for it.
    pub digit: Option<u8>,
    /// All ones if it is this one.
    pub chosen: u8,
}

/// A word of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mem {
    /// The register that points.
    pub base: u8,
    /// Bytes from there.
    pub at: i32,
    /// Does the register go on to the next word?
    pub walks: bool,
}

/// What is done beside the branch of a loop that counts down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    /// The counter is written there; the loop may be of any length.
    Keep(Mem),
    /// A pointer moves on by so many bytes.
    Move(u8, usize),
}

/// What instructions do to words, carries and memory.
pub trait Values {
    /// Does a pointer that walks cost nothing?
    const WALKS: bool;

    /// `d = x op y`.
    fn three(&mut self, op: Three, d: u8, x: u8, y: u8);
    /// `d = x`.
    fn copy(&mut self, d: u8, x: u8);
    /// `d = k`.
    fn number(&mut self, d: u8, k: usize);
    /// A register that holds 0: one that always does, or `d`.
    fn zero(&mut self, d: u8) -> u8;
    fn load(&mut self, d: u8, from: Mem);
    fn store(&mut self, to: Mem, x: u8);

    /// `d = -x`.
    fn negate(&mut self, d: u8, x: u8);
    /// `d = 1` if `x` is not 0, else 0.
    fn is_some(&mut self, d: u8, x: u8);
    /// `d` is all ones if `x = y`, else 0.
    fn equal(&mut self, d: u8, x: u8, y: u8);
    /// `d` is all ones if `x` is negative, else 0.
    fn sign(&mut self, d: u8, x: u8);
    /// `into` becomes `2 into` and the top bit of `word`, `word` becomes `2 word`. `spare` is lost.
    fn double(&mut self, word: u8, into: u8, spare: u8);

    /// `d`, which is 0 or 1, becomes a mask for [`Values::masked`].
    fn mask(&mut self, d: u8) {
        self.negate(d, d);
    }
    /// `d` becomes 0 if the mask was made of 0, and carries are left alone.
    fn masked(&mut self, d: u8, mask: u8) {
        self.three(Three::And, d, d, mask);
    }

    /// A sum begins with what register `r` carries, 0 or 1, or a difference with what it borrows; without one with 0.
    fn carry_from(&mut self, r: Option<u8>, subtract: bool);
    /// `d = d + y + carry`, or the difference. `y` is lost.
    fn with_carry(&mut self, d: u8, y: Option<u8>, subtract: bool);
    /// The register that holds the carry, or borrow, as 0 or 1: one of its own, or `d`.
    fn carry_into(&mut self, d: u8, subtract: bool) -> u8;
}

/// Code in the making: addresses, loops and calls.
pub trait Driven: Values + Sized {
    /// The instruction set.
    type Isa: Isa;

    /// The registers of arguments: pointers to the operands of a kernel.
    const ARGUMENTS: &'static [u8];
    /// Bytes of the largest area.
    const MOST_BYTES: usize;
    /// Bytes of a word.
    const WORD: usize = Self::Isa::WORD_BITS as usize / 8;

    fn roles(&self) -> Roles;
    /// The index of the next instruction.
    fn here(&self) -> usize;

    /// `d = x + k`, for any distance in the area.
    fn plus(&mut self, d: u8, x: u8, k: i32);
    /// The words from byte `at` of the area on, by way of register `r` where they may be too far, or it is to walk.
    fn far(&mut self, r: u8, at: usize) -> Mem;

    /// Word `k` of a round through `base`, which walks after the `last` access to it.
    fn word(base: u8, k: usize, last: bool) -> Mem {
        Mem {
            base,
            at: if Self::WALKS {
                0
            } else {
                (Self::WORD * k) as i32
            },
            walks: Self::WALKS && last,
        }
    }

    /// So many words from where `from` points to where `to` does, by way of `through`.
    fn copy_words(&mut self, to: u8, from: u8, through: &[u8], words: usize) {
        let list = || through.iter().zip(0..words);
        for (r, k) in list() {
            self.load(*r, Self::word(from, k, true));
        }
        for (r, k) in list() {
            self.store(Self::word(to, k, true), *r);
        }
    }

    /// The start of a routine, which may be the `first`, and its end.
    fn enter(&mut self, first: bool);
    fn leave(&mut self, first: bool);
    /// The end of a function without a frame.
    fn give_back(&mut self);
    /// A call: its index. A kernel's, behind the last pointer given to it, or that of a routine.
    fn call(&mut self, of_kernel: bool) -> usize;

    /// A jump: its index.
    fn jump(&mut self) -> usize;
    /// A jump if `r < least`: its index. `r` is lost.
    fn jump_below(&mut self, r: u8, least: u8) -> usize;
    /// A short jump if `r` is not 0: its index.
    fn jump_if(&mut self, r: u8) -> usize;
    /// The jump or call of index `at` goes to the instruction of index `to`.
    ///
    /// # Errors
    /// When it does not reach.
    fn aim(&mut self, at: usize, to: usize) -> Result<(), LowerError>;

    /// The loop that begins here goes over `bytes` bytes from [`Roles::to`] on, in so many `rounds`.
    fn rounds(&mut self, bytes: usize, rounds: usize);
    /// The end of a round, which leaves carries alone. Pointers that do not walk move on by `step` bytes,
    /// [`Roles::from`] only where the loop `reads` there.
    ///
    /// # Errors
    /// When the branch does not reach.
    fn next_round(&mut self, top: usize, reads: bool, step: usize) -> Result<(), LowerError>;
    /// `r` counts down; goes back to `top` until it is 0.
    ///
    /// # Errors
    /// When the branch does not reach.
    fn again(&mut self, r: u8, top: usize, beside: Beside) -> Result<(), LowerError>;
    /// Goes back to `top` while the index is below `entries`; [`Roles::from`] moves on by `by` bytes.
    ///
    /// # Errors
    /// When the branch does not reach.
    fn next_entry(&mut self, entries: usize, top: usize, by: usize) -> Result<(), LowerError>;

    /// All instructions.
    ///
    /// # Errors
    /// When a branch does not reach.
    fn finish(self) -> Result<Vec<<Self::Isa as Isa>::Insn>, LowerError>;
}

/// Code for a machine without a carry flag: what [`Basic`] says of its instructions is enough.
pub trait InWords {
    /// The instruction set.
    type Basic: Basic;

    /// The register of the carry.
    const CARRY: u8;
    /// One that is free while words are added.
    const SPARE: u8;

    fn push(&mut self, insn: <Self::Basic as Isa>::Insn);

    /// `d = x op k`.
    fn by(&mut self, op: By, d: u8, x: u8, k: i32) {
        self.push(Self::Basic::by(op, d, x, k));
    }
}

impl<C: InWords> Values for C {
    const WALKS: bool = false;

    fn three(&mut self, op: Three, d: u8, x: u8, y: u8) {
        self.push(C::Basic::three(op, d, x, y));
    }

    fn copy(&mut self, d: u8, x: u8) {
        self.push(C::Basic::copy(d, x));
    }

    fn number(&mut self, d: u8, k: usize) {
        for insn in C::Basic::number(d, k as u32) {
            self.push(insn);
        }
    }

    fn zero(&mut self, _: u8) -> u8 {
        C::Basic::ZERO
    }

    fn load(&mut self, d: u8, from: Mem) {
        self.push(C::Basic::load(d, from.base, from.at));
    }

    fn store(&mut self, to: Mem, x: u8) {
        self.push(C::Basic::store(x, to.base, to.at));
    }

    fn negate(&mut self, d: u8, x: u8) {
        self.three(Three::Sub, d, C::Basic::ZERO, x);
    }

    fn is_some(&mut self, d: u8, x: u8) {
        self.three(Three::Less, d, C::Basic::ZERO, x);
    }

    /// 0 or 1 if they differ, less 1.
    fn equal(&mut self, d: u8, x: u8, y: u8) {
        self.three(Three::Xor, d, x, y);
        self.is_some(d, d);
        self.by(By::Add, d, d, -1);
    }

    fn sign(&mut self, d: u8, x: u8) {
        self.by(By::SignRight, d, x, 31);
    }

    fn double(&mut self, word: u8, into: u8, spare: u8) {
        self.by(By::Right, spare, word, 31);
        self.by(By::Left, word, word, 1);
        self.by(By::Left, into, into, 1);
        self.three(Three::Or, into, into, spare);
    }

    fn carry_from(&mut self, r: Option<u8>, _: bool) {
        self.copy(C::CARRY, r.unwrap_or(C::Basic::ZERO));
    }

    /// Each of the two steps may carry, both together at most once.
    fn with_carry(&mut self, d: u8, y: Option<u8>, subtract: bool) {
        let mut step = |y: u8, out: u8| match subtract {
            true => {
                self.three(Three::Less, out, d, y);
                self.three(Three::Sub, d, d, y);
            }
            false => {
                self.three(Three::Add, d, d, y);
                self.three(Three::Less, out, d, y);
            }
        };
        match y {
            Some(y) => {
                step(y, C::SPARE);
                step(C::CARRY, y);
                self.three(Three::Or, C::CARRY, y, C::SPARE);
            }
            None => {
                step(C::CARRY, C::SPARE);
                self.copy(C::CARRY, C::SPARE);
            }
        }
    }

    fn carry_into(&mut self, _: u8, _: bool) -> u8 {
        C::CARRY
    }
}
