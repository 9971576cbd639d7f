//! Signed Karatsuba for AVR as plainly as it can be written: from memory to memory, nothing kept.
//!
//! `x = xl + W xh`, `y = yl + W yh`, `W = 2^(8 h)`, `V = 2^(8 g)`, `h + g = n`, `h <= g`:
//! `L = xl yl`; `Z = xh yh + L_hi`; `DA = xl - xh + V sa`; `DB = yh - yl + V sb`;
//! `Y = Z + L_lo + W Z - V (sa DB + sb DA)`; `U = Y + DA DB`; `e` is what lies above `U`.
//! The result is `L_lo`, `U`, the rest of `Z` plus `e`.

use std::collections::HashMap;

use lozenge::isa::avr::abi;
use lozenge::isa::avr::code::Insn;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::avr::instructions::Op;
use lozenge::program::{Claim, Program, Term, Written};

/// A place in memory: the register pair that holds the base, and the offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct At(u8, usize);

impl At {
    fn plus(self, words: usize) -> At {
        At(self.0, self.1 + words)
    }
}

const FRAME: u8 = 2;
const R: u8 = 4;
const A: u8 = 6;
const B: u8 = 8;
const ZERO: u8 = 10;
const X: u8 = 26;
const Y: u8 = 28;
const Z: u8 = 30;

/// How products are claimed and where addends join.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Operands of at most so many words are multiplied by columns.
    pub leaf: usize,
    /// Are inner products claimed?
    pub claims: bool,
    /// Does `Y` join the columns of a leaf, rather than being added to the product?
    pub merge: bool,
}

/// A program as it grows.
struct Emitter {
    program: Program<Insn>,
    cells: HashMap<At, Written>,
    frame: usize,
    deepest: usize,
    style: Style,
}

impl Emitter {
    fn put(&mut self, insn: Insn) {
        self.program.insns.push(insn);
    }

    fn rr(&mut self, op: Op, d: u8, r: u8) {
        self.put(Insn::rr(op, d, r));
    }

    /// Points `pair` to a place; spoils the carry.
    fn point(&mut self, pair: u8, at: At) {
        let less = -(at.1 as i32);
        self.rr(Op::MOVW, pair, at.0);
        self.put(Insn::dk(Op::SUBI, pair, less & 0xff));
        self.put(Insn::dk(Op::SBCI, pair + 1, less >> 8 & 0xff));
    }

    fn wrote(&mut self, at: At, register: u8) {
        let insn = self.program.insns.len() - 1;
        self.cells.insert(at, Written { insn, register });
    }

    /// The next word through X or Y.
    fn next(&mut self, pair: u8, register: u8, at: At) {
        let op = if pair == X { Op::LDX_INC } else { Op::LDY_INC };
        self.rr(op, register, 0);
        if !self.cells.contains_key(&at) {
            self.wrote(at, register);
        }
    }

    fn store(&mut self, at: At, register: u8) {
        self.rr(Op::STZ_INC, 0, register);
        self.wrote(at, register);
    }

    fn load(&mut self, register: u8, at: At) {
        self.point(X, at);
        self.next(X, register, at);
    }

    fn save(&mut self, at: At, register: u8) {
        self.point(Z, at);
        self.store(at, register);
    }

    /// `to = x op y`, words beyond an end being 0, `y` under a mask if there is one; leaves C.
    fn chain(
        &mut self,
        ops: [Op; 2],
        (to, len): (At, usize),
        (x, x_len): (At, usize),
        (y, y_len): (At, usize),
        mask: Option<u8>,
    ) {
        self.point(X, x);
        self.point(Y, y);
        self.point(Z, to);
        for i in 0..len {
            if i < x_len {
                self.next(X, 16, x.plus(i));
            } else {
                self.rr(Op::MOV, 16, ZERO);
            }
            let mut addend = ZERO;
            if i < y_len {
                addend = 17;
                self.next(Y, 17, y.plus(i));
                if let Some(mask) = mask {
                    self.rr(Op::AND, 17, mask);
                }
            }
            self.rr(ops[usize::from(i > 0)], 16, addend);
            self.store(to.plus(i), 16);
        }
    }

    fn copy(&mut self, to: At, from: At, len: usize) {
        self.chain([Op::MOV; 2], (to, len), (from, len), (from, len), None);
    }

    fn take(&mut self, words: usize) -> At {
        let at = At(FRAME, self.frame);
        self.frame += words;
        self.deepest = self.deepest.max(self.frame);
        at
    }

    fn words(&self, at: At, len: usize) -> Vec<Written> {
        (0..len).map(|i| self.cells[&at.plus(i)]).collect()
    }

    fn claim(&mut self, words: Vec<Written>, terms: Vec<Term>) {
        if self.style.claims {
            self.program.claims.push(Claim { words, terms });
        }
    }

    /// `to = x y`, claimed.
    fn multiply(&mut self, to: At, x: At, y: At, n: usize) {
        if n <= self.style.leaf {
            self.columns(to, x, y, n, None);
        } else {
            self.karatsuba(to, x, y, n);
        }
        let product = Term::product(self.words(x, n), self.words(y, n));
        self.claim(self.words(to, 2 * n), vec![product]);
    }

    /// `to = x y (+ addend)` by product scanning; the word above `to` is left in r12.
    fn columns(&mut self, to: At, x: At, y: At, n: usize, addend: Option<At>) {
        for r in 12..15 {
            self.rr(Op::EOR, r, r);
        }
        for k in 0..2 * n {
            if let Some(addend) = addend {
                self.load(18, addend.plus(k));
                self.accumulate(18, ZERO);
            }
            for i in (0..n).filter(|i| (*i..i + n).contains(&k)) {
                self.load(18, x.plus(i));
                self.load(19, y.plus(k - i));
                self.rr(Op::MUL, 18, 19);
                self.accumulate(0, 1);
            }
            self.save(to.plus(k), 12);
            self.rr(Op::MOV, 12, 13);
            self.rr(Op::MOV, 13, 14);
            self.rr(Op::EOR, 14, 14);
        }
    }

    fn accumulate(&mut self, lo: u8, hi: u8) {
        self.rr(Op::ADD, 12, lo);
        self.rr(Op::ADC, 13, hi);
        self.rr(Op::ADC, 14, ZERO);
    }

    fn karatsuba(&mut self, to: At, x: At, y: At, n: usize) {
        const ADD: [Op; 2] = [Op::ADD, Op::ADC];
        const SUB: [Op; 2] = [Op::SUB, Op::SBC];
        let (h, g) = (n / 2, n - n / 2);
        let (ma, mb, e, ext) = (20, 21, 22, 24);
        let z = to.plus(2 * h);
        self.multiply(to, x, y, h);
        self.multiply(z, x.plus(h), y.plus(h), g);
        let l_hi = self.words(to.plus(h), h);
        self.chain(ADD, (z, 2 * g), (z, 2 * g), (to.plus(h), h), None);
        let product = Term::product(self.words(x.plus(h), g), self.words(y.plus(h), g));
        self.claim(self.words(z, 2 * g), vec![product, Term::number(l_hi)]);
        let start = self.frame;
        let [da, db, mid, p, kept] = [g, g, 2 * g, 2 * g, 1].map(|len| self.take(len));
        self.chain(SUB, (da, g), (x, h), (x.plus(h), g), None);
        self.rr(Op::SBC, ma, ma);
        self.chain(SUB, (db, g), (y.plus(h), g), (y, h), None);
        self.rr(Op::SBC, mb, mb);
        self.copy(mid, to, h);
        self.copy(mid.plus(h), z, 2 * g - h);
        self.chain(ADD, (mid, 2 * g), (mid, 2 * g), (z, 2 * g), None);
        self.rr(Op::SBC, e, e);
        for (mask, factor) in [(ma, db), (mb, da)] {
            let top = mid.plus(g);
            self.chain(SUB, (top, g), (top, g), (factor, g), Some(mask));
            self.rr(Op::ADC, e, ZERO);
        }
        self.rr(Op::AND, ma, mb);
        self.rr(Op::ADD, e, ma);
        self.save(kept, e);
        let addend = self.words(mid, 2 * g);
        let mut v = 12;
        if self.style.merge && g <= self.style.leaf {
            self.columns(p, da, db, g, Some(mid));
        } else {
            self.multiply(p, da, db, g);
            self.chain(ADD, (p, 2 * g), (mid, 2 * g), (p, 2 * g), None);
            v = 23;
            self.rr(Op::EOR, v, v);
            self.rr(Op::ADC, v, ZERO);
        }
        let overflow = Written {
            insn: self.program.insns.len() - 1,
            register: v,
        };
        let product = Term::product(self.words(da, g), self.words(db, g));
        let words = [self.words(p, 2 * g), vec![overflow]].concat();
        self.claim(words, vec![product, Term::number(addend)]);
        self.load(e, kept);
        self.rr(Op::SUB, v, e);
        self.rr(Op::MOV, ext, v);
        self.rr(Op::ADD, ext, ext);
        self.rr(Op::SBC, ext, ext);
        self.rr(Op::MOV, 25, v);
        self.copy(to.plus(h), p, 2 * g);
        let top = to.plus(h + 2 * g);
        self.point(X, top);
        self.point(Z, top);
        for i in 0..h {
            self.next(X, 16, top.plus(i));
            match i {
                0 => self.rr(Op::ADD, 16, 25),
                _ => self.rr(Op::ADC, 16, ext),
            }
            self.store(top.plus(i), 16);
        }
        self.frame = start;
    }

    /// Moves the stack pointer by `words` bytes down.
    fn lower_stack(&mut self, words: i32) {
        self.put(Insn::dk(Op::IN, Y, 0x3d));
        self.put(Insn::dk(Op::IN, Y + 1, 0x3e));
        self.put(Insn::dk(Op::SUBI, Y, words & 0xff));
        self.put(Insn::dk(Op::SBCI, Y + 1, words >> 8 & 0xff));
        self.put(Insn::rk(Op::OUT, Y + 1, 0x3e));
        self.put(Insn::rk(Op::OUT, Y, 0x3d));
    }
}

/// `r = a b` for operands of `n` words; Karatsuba at the top.
pub fn karatsuba(n: usize, style: Style) -> Program<Insn> {
    let mut e = Emitter {
        program: Program::new(),
        cells: HashMap::new(),
        frame: 1,
        deepest: 1,
        style,
    };
    for (base, argument) in [R, A, B].into_iter().zip(abi::ARGUMENTS) {
        e.rr(Op::MOVW, base, argument);
    }
    e.rr(Op::EOR, ZERO, ZERO);
    e.karatsuba(At(R, 0), At(A, 0), At(B, 0), n);
    let frame = e.deepest as i32;
    e.lower_stack(-frame);
    let mut program = Emitter {
        program: Program::new(),
        cells: HashMap::new(),
        frame: 0,
        deepest: 0,
        style,
    };
    program.lower_stack(frame);
    program.rr(Op::MOVW, FRAME, Y);
    let (before, after) = abi::frame(&ATMEGA128, &e.program.insns);
    e.program
        .insert(0, before.into_iter().chain(program.program.insns));
    e.program.insns.extend(after);
    e.program
}
