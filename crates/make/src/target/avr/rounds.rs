//! Rows in two nested loops on an AVR: operand scanning, `(d, C[k]) = A[i] B[j] + C[k] + d` (see [`crate::target::avr::rows`]).
//!
//! The result is 0 at first, so that all rows are alike. X walks through A and Z through the result; the
//! address of B waits in the pair in which it came.

use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::Op;
use machine::program::Program;

use crate::refusal::LowerError;
use crate::schedule::{Array, Scans};
use crate::target::avr::nest::{Nest, X, Z};

/// The words of a product.
const LOW: u8 = 0;
const HIGH: u8 = 1;
/// Words in a pass of the inner loop, where nothing is said.
const UNROLL: [usize; 3] = [1, 2, 4];

/// The functions that run the rows of `scans` on `core`.
///
/// # Errors
/// When registers run out, or a loop is too long.
pub fn lower(core: &Core, scans: &Scans, most: usize) -> Result<Vec<Program<Insn>>, LowerError> {
    let operands = [Array::Operand(0), Array::Operand(1)];
    let [strand] = scans.strands[..] else {
        return Err(LowerError::Scans);
    };
    if [strand.x, strand.y] != operands || strand.pairs {
        return Err(LowerError::Scans);
    }
    let passes = match scans.unroll {
        Some(words) => vec![words.min(scans.n)],
        None => UNROLL.into_iter().filter(|u| *u <= scans.n).collect(),
    };
    let made = passes.into_iter().map(|unroll| {
        let mut nest = Nest::new(core, scans, most, 1)?;
        nest.rounds(unroll)?;
        nest.finish()
    });
    made.collect()
}

impl Nest<'_> {
    /// All rows, with `unroll` words in a pass of the inner loop.
    fn rounds(&mut self, unroll: usize) -> Result<(), LowerError> {
        let n = self.scans.n;
        let [r, a, b, ..] = self.core.abi.arguments;
        let carried = self.on.sum[1];
        self.draft.note("point to r, a");
        self.rr(Op::MOVW, Z, r);
        self.rr(Op::MOVW, X, a);
        self.draft.clear(self.on.zero);
        self.draft.note("r = 0");
        self.draft.count(self.on.count, n)?;
        let top = self.draft.insns.len();
        self.draft.push(Insn::rk(Op::STZ_INC, self.on.zero, 0));
        self.draft.repeat(self.on.count, top)?;
        self.move_by(Z, -(n as i32));
        self.draft.note("rows");
        self.draft.count(self.on.total, n)?;
        let top = self.draft.insns.len();
        // Between products their registers are free.
        self.rr(Op::MOVW, LOW, X);
        self.rr(Op::MOVW, X, b);
        self.draft.dk(Op::LDX_INC, self.on.y[0], 0);
        self.rr(Op::MOVW, b, X);
        self.rr(Op::MOVW, X, LOW);
        self.draft.clear(carried);
        self.draft.count(self.on.count, n / unroll)?;
        let inner = self.draft.insns.len();
        (0..unroll).for_each(|_| self.word());
        self.draft.repeat(self.on.count, inner)?;
        (0..n % unroll).for_each(|_| self.word());
        self.draft.push(Insn::rk(Op::STDZ, carried, 0));
        self.move_by(Z, 1 - n as i32);
        self.move_by(X, -(n as i32));
        self.draft.repeat(self.on.total, top)
    }

    /// The next word of a row.
    fn word(&mut self) {
        let (sum, carried, zero) = (self.on.sum[0], self.on.sum[1], self.on.zero);
        self.draft.dk(Op::LDX_INC, self.on.x, 0);
        self.products();
        self.draft.dk(Op::LDDZ, sum, 0);
        self.rr(Op::ADD, LOW, carried);
        self.rr(Op::ADC, HIGH, zero);
        self.rr(Op::ADD, sum, LOW);
        self.rr(Op::ADC, HIGH, zero);
        self.draft.push(Insn::rk(Op::STZ_INC, sum, 0));
        self.rr(Op::MOV, carried, HIGH);
    }
}
