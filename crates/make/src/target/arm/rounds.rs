//! Operand scanning in two nested loops on an ARM: a row for each word of B.
//!
//! `(r[j], u) = a[j] b + r[j] + u` is `ADDS r, r, u; ADC u, z, #0; UMLAL r, u, a, b`, as it is less than
//! `2^64`: 9 cycles of the manual beside LDM and STM of a chunk. The pointers to A and R walk with the words
//! and go back behind a row, that to B walks with the rows.

use machine::isa::arm::code::Insn;
use machine::isa::arm::instructions::Op;
use machine::program::Program;

use crate::facts::Style;
use crate::refusal::LowerError;
use crate::schedule::{Array, Scans, Strand};
use crate::target::arm::flow::{Flow, WORD};
use crate::target::arm::nest::argument;

/// Registers of the rows.
struct Rows {
    flow: Flow,
    a: u8,
    b: u8,
    r: u8,
    /// Where A and B end.
    stop: u8,
    end: u8,
    /// The word of B, the word that is carried along, and 0.
    word: u8,
    carry: u8,
    zero: u8,
    /// Words of a chunk.
    x: Vec<u8>,
    t: Vec<u8>,
    /// Words of an operand, and those of a pass.
    n: usize,
    unroll: usize,
}

/// Registers beside the pointers and a chunk's words.
const NAMED: usize = 5;
/// The most words of an operand in registers at a time.
const CHUNK: usize = 3;

/// The rows of `scans`, `unroll` words in a pass of the inner loop, in the registers `values`.
///
/// # Errors
/// When registers run out, or it is not a product of two operands.
pub fn lower(scans: &Scans, values: &[u8], unroll: usize) -> Result<Program<Insn>, LowerError> {
    let (Array::Operand(a), Array::Operand(b)) = (match scans.strands[..] {
        [Strand { x, y, .. }] if scans.quotient.is_none() => (x, y),
        _ => return Err(LowerError::WideRows),
    }) else {
        return Err(LowerError::WideRows);
    };
    let arguments = 0..=scans.words.lengths.len() as u8;
    let values = values.iter().filter(|r| !arguments.contains(r));
    let mut pool: Vec<u8> = values.copied().collect();
    pool.sort_unstable();
    let chunk = pool.len().saturating_sub(NAMED) / 2;
    let chunk = chunk.min(CHUNK).min(unroll);
    if chunk == 0 {
        return Err(LowerError::Registers);
    }
    let named = pool.split_off(2 * chunk);
    let mut rows = Rows {
        flow: Flow::default(),
        a: argument(a),
        b: argument(b),
        r: 0,
        stop: named[0],
        end: named[1],
        word: named[2],
        carry: named[3],
        zero: named[4],
        t: pool.split_off(chunk),
        x: pool,
        n: scans.n,
        unroll,
    };
    rows.all(scans.style);
    rows.flow.finish(0)
}

impl Rows {
    fn all(&mut self, style: Style) {
        let bytes = WORD * self.n as i32;
        let Self {
            a,
            b,
            r,
            stop,
            end,
            zero,
            ..
        } = *self;
        let passed = self.n / self.unroll * self.unroll;
        self.flow.add(stop, a, WORD * passed as i32);
        self.flow.imm(Op::MOV, false, zero, 0, 0);
        if style == Style::Rolled && self.n > 2 {
            self.flow.add(end, b, bytes);
        }
        self.flow.note("the first row");
        self.row(true);
        self.flow.note("the other rows");
        let rows = match style {
            Style::Rolled => 1,
            _ => self.n - 1,
        };
        let top = self.flow.top();
        for _ in 0..rows {
            // A word further on than the row before.
            self.flow.add(r, r, WORD - bytes);
            self.flow.add(a, a, -bytes);
            self.row(false);
        }
        if style == Style::Rolled && self.n > 2 {
            self.flow.reg(Op::CMP, false, 0, b, end);
            self.flow.again(top);
        }
    }

    /// A row, and its last word.
    fn row(&mut self, first: bool) {
        let Self { a, b, r, .. } = *self;
        self.flow.walk(Op::LDR, b, &[self.word]);
        self.flow.imm(Op::MOV, false, self.carry, 0, 0);
        let (passes, rest) = (self.n / self.unroll, self.n % self.unroll);
        let top = self.flow.top();
        self.words(self.unroll.min(self.n), first);
        if passes > 1 {
            self.flow.reg(Op::CMP, false, 0, a, self.stop);
            self.flow.again(top);
        }
        if passes > 0 {
            self.words(rest, first);
        }
        self.flow.push(Insn::at(Op::STR, self.carry, r, 0, false));
    }

    /// So many words, a chunk at a time.
    fn words(&mut self, count: usize, first: bool) {
        let mut left = count;
        while left > 0 {
            let chunk = left.min(self.x.len());
            left -= chunk;
            let (x, t) = (self.x[..chunk].to_vec(), self.t[..chunk].to_vec());
            self.flow.walk(Op::LDR, self.a, &x);
            if !first {
                self.flow.stay(Op::LDR, self.r, &t);
            }
            for (x, t) in x.into_iter().zip(&t) {
                let (carry, zero) = (self.carry, self.zero);
                if first {
                    self.flow.copy(*t, carry);
                    self.flow.imm(Op::MOV, false, carry, 0, 0);
                } else {
                    self.flow.reg(Op::ADD, true, *t, *t, carry);
                    self.flow.imm(Op::ADC, false, carry, zero, 0);
                }
                self.flow
                    .push(Insn::long(Op::UMLAL, *t, carry, x, self.word));
            }
            self.flow.walk(Op::STR, self.r, &t);
        }
    }
}
