//! Skips, and skips that depend on a secret: SBRC before a single-cycle instruction is a
//! conditional instruction.
//!
//! A skip over one word takes a cycle more than none; an instruction of one word and one cycle
//! takes that cycle where it is executed. So the pair takes two cycles in either case, and what
//! follows sees `bit ? new : old` in the register it writes and in the flags.

use std::ops::Range;

use crate::domain::word::Domain;
use crate::isa::avr::machine::{Avr, Flow, Outcome};
use crate::isa::avr::operands::Op;
use crate::isa::machine::Condition;

/// How many flags arithmetic can change: C Z N V S H.
const ARITHMETIC_FLAGS: usize = 6;

/// Does `op` change nothing but Rd (MOVW: two registers) and arithmetic flags, in one cycle on every core?
pub fn can_be_conditional(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        ADD | ADC
            | SUB
            | SUBI
            | SBC
            | SBCI
            | AND
            | ANDI
            | OR
            | ORI
            | EOR
            | COM
            | NEG
            | INC
            | DEC
            | LSR
            | ROR
            | ASR
            | SWAP
            | MOV
            | MOVW
            | LDI
    )
}

impl<D: Domain> Avr<D> {
    /// Skips the next instruction when `bit` has the value `skips`.
    #[inline(always)]
    pub fn skip_when(&mut self, bit: D::Bit, skips: bool) -> Outcome {
        match self.d.decide(&bit) {
            Ok(known) if known == skips => Ok(Flow::Skip),
            Ok(_) => Ok(Flow::Next),
            Err(fault) => {
                self.condition = Some(Condition {
                    bit,
                    executes: !skips,
                    fault,
                });
                Ok(Flow::Next)
            }
        }
    }

    /// CPSE's question.
    pub fn equal(&mut self, d: u8, r: u8) -> D::Bit {
        let (x, y, off) = (self.r(d), self.r(r), self.d.flag(false));
        let difference = self.d.sub(&x, &y, &off).word;
        self.d.is_zero(&difference)
    }

    /// Executes an instruction that writes `written` and flags, or not.
    ///
    /// # Errors
    /// What the instruction says.
    pub fn perhaps(
        &mut self,
        condition: &Condition<D::Bit>,
        written: Range<u8>,
        meaning: impl FnOnce(&mut Self) -> Outcome,
    ) -> Outcome {
        let flags = self.flags.clone();
        let words: Vec<_> = written.clone().map(|r| self.r(r)).collect();
        meaning(self)?;
        // The carry first: a bound on words and the carry on its way holds at every step.
        for (i, old) in flags.iter().enumerate().take(ARITHMETIC_FLAGS) {
            let new = self.flags[i].clone();
            let (set, clear) = match condition.executes {
                true => (&new, old),
                false => (old, &new),
            };
            self.flags[i] = self.d.select_bit(&condition.bit, set, clear);
        }
        for (r, old) in written.zip(&words) {
            let new = self.r(r);
            let (set, clear) = match condition.executes {
                true => (&new, old),
                false => (old, &new),
            };
            let chosen = self.d.select(&condition.bit, set, clear);
            self.set(r, chosen)?;
        }
        Ok(Flow::Next)
    }
}
