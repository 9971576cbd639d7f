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
use lozenge::isa::avr::instructions::{Op, Ops};
use lozenge::program::{Claim, Magnitude, Program, Term, Written};

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
        self.cells.insert(at, Written::once(insn, register));
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
            self.program.claims.push(Claim::equation(words, terms));
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
        let overflow = Written::once(self.program.insns.len() - 1, v);
        let product = Term::product(self.words(da, g), self.words(db, g));
        let words = [self.words(p, 2 * g), vec![overflow]].concat();
        self.claim(words, vec![product, Term::number(addend)]);
        self.load(e, kept);
        self.rr(Op::SUB, v, e);
        self.rr(Op::MOV, ext, v);
        self.rr(Op::ADD, ext, ext);
        self.rr(Op::SBC, ext, ext);
        self.rr(Op::MOV, 25, v);
        self.finish(to, (h, g), p, [25, ext]);
        self.frame = start;
    }

    /// `to = x^2`, claimed.
    fn square(&mut self, to: At, x: At, n: usize) {
        if n <= self.style.leaf {
            self.square_columns(to, x, n);
        } else {
            self.karatsuba_square(to, x, n);
        }
        let words = self.words(x, n);
        self.claim(
            self.words(to, 2 * n),
            vec![Term::product(words.clone(), words)],
        );
    }

    /// By columns; products off the diagonal are computed once and each column is doubled.
    fn square_columns(&mut self, to: At, x: At, n: usize) {
        let carried = [11, 15];
        for r in carried {
            self.rr(Op::EOR, r, r);
        }
        for k in 0..2 * n {
            for r in 12..15 {
                self.rr(Op::EOR, r, r);
            }
            for i in (0..n).filter(|i| 2 * i < k && k - i < n) {
                self.load(18, x.plus(i));
                self.load(19, x.plus(k - i));
                self.rr(Op::MUL, 18, 19);
                self.accumulate(0, 1);
            }
            self.rr(Op::ADD, 12, 12);
            self.rr(Op::ADC, 13, 13);
            self.rr(Op::ADC, 14, 14);
            if k % 2 == 0 {
                self.load(18, x.plus(k / 2));
                self.rr(Op::MUL, 18, 18);
                self.accumulate(0, 1);
            }
            self.accumulate(carried[0], carried[1]);
            self.save(to.plus(k), 12);
            self.rr(Op::MOV, carried[0], 13);
            self.rr(Op::MOV, carried[1], 14);
        }
    }

    /// `L = xl^2`, `Z = xh^2 + L_hi`, `T = |xl - xh|`, `U = Z + L_lo + W Z - T^2`.
    fn karatsuba_square(&mut self, to: At, x: At, n: usize) {
        const ADD: [Op; 2] = [Op::ADD, Op::ADC];
        const SUB: [Op; 2] = [Op::SUB, Op::SBC];
        let (h, g) = (n / 2, n - n / 2);
        let (mask, e, ext) = (20, 22, 24);
        let z = to.plus(2 * h);
        self.square(to, x, h);
        self.square(z, x.plus(h), g);
        self.chain(ADD, (z, 2 * g), (z, 2 * g), (to.plus(h), h), None);
        let start = self.frame;
        let [t, mid, p] = [g, 2 * g, 2 * g].map(|len| self.take(len));
        self.chain(SUB, (t, g), (x, h), (x.plus(h), g), None);
        self.rr(Op::SBC, mask, mask);
        let made = Magnitude {
            mask: Written::once(self.program.insns.len() - 1, mask),
            wrapped: self.words(t, g),
        };
        // t = (t ^ mask) - mask
        self.point(X, t);
        self.point(Z, t);
        for i in 0..g {
            self.next(X, 16, t.plus(i));
            self.rr(Op::EOR, 16, mask);
            self.rr(SUB[usize::from(i > 0)], 16, mask);
            self.store(t.plus(i), 16);
        }
        if self.style.claims {
            let mut less = Term::number(self.words(x.plus(h), g));
            less.sign = -1;
            self.program.claims.push(Claim {
                lead: 0,
                words: self.words(t, g),
                terms: vec![Term::number(self.words(x, h)), less],
                magnitude: Some(made),
            });
        }
        self.square(p, t, g);
        self.copy(mid, to, h);
        self.copy(mid.plus(h), z, 2 * g - h);
        self.chain(ADD, (mid, 2 * g), (mid, 2 * g), (z, 2 * g), None);
        self.rr(Op::SBC, e, e);
        self.chain(SUB, (p, 2 * g), (mid, 2 * g), (p, 2 * g), None);
        self.rr(Op::ADC, e, ZERO);
        self.put(Insn::rr(Op::NEG, e, 0));
        self.rr(Op::MOV, ext, e);
        self.rr(Op::ADD, ext, ext);
        self.rr(Op::SBC, ext, ext);
        self.finish(to, (h, g), p, [e, ext]);
        self.frame = start;
    }

    /// The words above `L_lo`: `U`, and the rest of `Z` plus `e`.
    fn finish(&mut self, to: At, (h, g): (usize, usize), u: At, [e, ext]: [u8; 2]) {
        self.copy(to.plus(h), u, 2 * g);
        let top = to.plus(h + 2 * g);
        self.point(X, top);
        self.point(Z, top);
        for i in 0..h {
            self.next(X, 16, top.plus(i));
            match i {
                0 => self.rr(Op::ADD, 16, e),
                _ => self.rr(Op::ADC, 16, ext),
            }
            self.store(top.plus(i), 16);
        }
    }

    /// Moves the stack pointer by `words` bytes down.
    fn lower_stack(&mut self, words: i32) {
        self.put(Insn::dk(Op::IN, Y, 0x3d));
        self.put(Insn::dk(Op::IN, Y + 1, 0x3e));
        self.put(Insn::dk(Op::SUBI, Y, words & 0xff));
        self.put(Insn::dk(Op::SBCI, Y + 1, words >> 8 & 0xff));
        // No interrupt finds half a stack pointer.
        let b = 7;
        self.put(Insn::dk(Op::IN, 0, 0x3f));
        self.put(Insn {
            op: Op::BCLR,
            ops: Ops {
                b,
                ..Ops::default()
            },
        });
        self.put(Insn::rk(Op::OUT, Y + 1, 0x3e));
        self.put(Insn::rk(Op::OUT, 0, 0x3f));
        self.put(Insn::rk(Op::OUT, Y, 0x3d));
    }
}

/// `r = a b` for operands of `n` words; Karatsuba at the top.
pub fn karatsuba(n: usize, style: Style) -> Program<Insn> {
    function(style, |e| e.karatsuba(At(R, 0), At(A, 0), At(B, 0), n))
}

/// `r = a^2` for an operand of `n` words; Karatsuba at the top.
pub fn karatsuba_square(n: usize, style: Style) -> Program<Insn> {
    function(style, |e| e.karatsuba_square(At(R, 0), At(A, 0), n))
}

/// A function in the calling convention, with room on the stack.
fn function(style: Style, body: impl Fn(&mut Emitter)) -> Program<Insn> {
    let emitter = || Emitter {
        program: Program::new(),
        cells: HashMap::new(),
        frame: 1,
        deepest: 1,
        style,
    };
    let mut e = emitter();
    for (base, argument) in [R, A, B].into_iter().zip(abi::GCC.arguments) {
        e.rr(Op::MOVW, base, argument);
    }
    e.rr(Op::EOR, ZERO, ZERO);
    body(&mut e);
    let frame = e.deepest as i32;
    e.lower_stack(-frame);
    let mut entry = emitter();
    entry.lower_stack(frame);
    entry.rr(Op::MOVW, FRAME, Y);
    let (before, after) = lozenge::make::target::avr::frame::frame(&ATMEGA128, &e.program.insns);
    let before = before.into_iter().chain(entry.program.insns);
    e.program.insert(0, before);
    e.program.insns.extend(after);
    e.program
}
