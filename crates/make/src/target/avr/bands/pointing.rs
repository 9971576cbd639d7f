//! Where the pointers of a band move, and which of them are kept in a pair of registers meanwhile.

use machine::isa::avr::instructions::Op;

use crate::refusal::LowerError;
use crate::schedule::Column;
use crate::target::avr::bands::{A, Bands, X};
use crate::target::avr::draft::Draft;
use crate::target::avr::pointers::move_pointer;

/// The product's registers, which hold a pointer between products.
const SPARE: u8 = 0;

impl Bands {
    pub(super) fn point(&mut self, side: usize, to: usize) {
        let by = to as i64 - self.state.at[side] as i64;
        self.state.at[side] = to;
        match self.plan.waits {
            Some(_) if side == A && by == 0 => {}
            Some(_) if side == A => self.aside(|draft| draft.insns.extend(move_pointer(X, by))),
            _ => {
                let pointer = self.plan.pointers()[side];
                self.draft.insns.extend(move_pointer(pointer, by));
            }
        }
    }

    /// Does something with X at A, where that address waits in a pair.
    fn aside(&mut self, work: impl FnOnce(&mut Draft)) {
        if let Some(pair) = self.plan.waits {
            self.draft.rr(Op::MOVW, SPARE, X.low());
            self.draft.rr(Op::MOVW, X.low(), pair);
            work(&mut self.draft);
            self.draft.rr(Op::MOVW, pair, X.low());
            self.draft.rr(Op::MOVW, X.low(), SPARE);
        }
    }

    /// Loads the words of A that `columns` load, if A has no pointer of its own.
    pub(super) fn load_ahead(&mut self, columns: &[Column]) -> Result<(), LowerError> {
        if self.plan.waits.is_none() {
            return Ok(());
        }
        let products = columns.iter().flat_map(|c| &c.products);
        let words: Vec<usize> = products.filter(|p| p.load_a).map(|p| p.a).collect();
        let Some(first) = words.first() else {
            return Ok(());
        };
        let in_order = words.iter().copied().eq(*first..first + words.len());
        if words.len() > self.plan.rings[A].len() || !in_order {
            return Err(LowerError::ThreePointers);
        }
        let by = *first as i64 - self.state.at[A] as i64;
        let places: Vec<_> = words.iter().map(|w| self.place(A, *w)).collect();
        let registers: Vec<u8> = places.iter().map(|p| self.plan.rings[A][*p]).collect();
        self.aside(|draft| {
            draft.insns.extend(move_pointer(X, by));
            for register in registers {
                draft.dk(Op::LDX_INC, register, 0);
            }
        });
        for (place, word) in places.into_iter().zip(&words) {
            self.state.held[A][place] = Some(*word);
        }
        self.state.at[A] = first + words.len();
        Ok(())
    }

    /// Keeps pointers over a turn, in pairs if there are some.
    pub(super) fn keep(&mut self, pointers: [u8; 2]) {
        for (i, low) in pointers.into_iter().enumerate() {
            match self.plan.kept {
                Some(pairs) => self.draft.rr(Op::MOVW, pairs[i], low),
                None => {
                    self.draft.rr(Op::PUSH, 0, low);
                    self.draft.rr(Op::PUSH, 0, low + 1);
                }
            }
        }
    }

    pub(super) fn restore(&mut self, pointers: [u8; 2]) {
        for (i, low) in pointers.into_iter().enumerate().rev() {
            match self.plan.kept {
                Some(pairs) => self.draft.rr(Op::MOVW, low, pairs[i]),
                None => {
                    self.draft.rr(Op::POP, low + 1, 0);
                    self.draft.rr(Op::POP, low, 0);
                }
            }
        }
    }
}
