//! Blocks of columns, the loops in them, and the turns around them.

use std::ops::Range;

use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;

use crate::refusal::LowerError;
use crate::schedule::{Column, FoldedBlock, LoopStep, Turn};
use crate::target::avr::bands::{A, Bands, Held, Mode, PRODUCT, R, Shrinking, bytes};
use crate::target::avr::rings::uses;

impl Bands {
    fn block(&mut self, block: &FoldedBlock) -> Result<(), LowerError> {
        self.draft.note(block.part.to_string());
        let columns: Vec<Column> = block.columns().collect();
        for side in 0..2 {
            let first = columns.iter().flat_map(|c| &c.products).find_map(|p| {
                let (index, load) = [(p.a, p.load_a), (p.b, p.load_b)][side];
                load.then_some(index)
            });
            self.state.held[side].fill(None);
            self.state.origin[side] = first.unwrap_or(0);
        }
        (self.state.lowest, self.state.length, self.state.bound) = (0, 0, 0);
        self.load_ahead(&columns)?;
        let empty = |i: usize| {
            columns
                .get(i)
                .is_none_or(|c: &Column| c.products.is_empty())
        };
        let reload = |i: usize| columns.get(i).is_some_and(|c| c.reload);
        // What the first two columns add to is there before they start.
        let there = match (empty(0), reload(0), reload(1)) {
            (true, ..) | (_, false, _) => 0,
            (_, _, again) => 1 + usize::from(again),
        };
        let mode = |i: usize| Mode {
            now: i >= there && reload(i) && (i < 2 || empty(i - 2)),
            ahead: !empty(i) && reload(i + 2),
        };
        if let Some(column) = columns.first().filter(|_| there > 0) {
            self.point(R, column.index);
            for i in 0..there {
                let byte = self.byte(i);
                self.intermediate(byte, column.index + i);
            }
            self.state.length = there;
            self.state.bound = (1 << (8 * there)) - 1;
        }
        let mut at = 0;
        for run in &block.runs {
            let end = at + run.times * run.columns.len();
            while at < end {
                // Columns that differ in what they add to are not one loop.
                let alike = (at..end).take_while(|i| mode(*i) == mode(at)).count();
                let alike = at..at + alike;
                at = alike.end;
                self.alike(&columns, alike, run.step, run.times, &mode)?;
            }
        }
        Ok(())
    }

    /// Columns that are alike: as many as may be in a loop, then the others.
    fn alike(
        &mut self,
        columns: &[Column],
        range: Range<usize>,
        step: LoopStep,
        times: usize,
        mode: &dyn Fn(usize) -> Mode,
    ) -> Result<(), LowerError> {
        let passes = match times {
            1 => 0,
            _ => range.len() / self.unroll,
        };
        let looped = if passes > 1 { passes * self.unroll } else { 0 };
        let start = range.start;
        if looped > 0 {
            let (body, after) = columns[start..].split_at(looped);
            let body = &body[..self.unroll];
            self.passes(body, after, step, times, mode(start), passes)?;
        }
        for i in start + looped..range.end {
            // What is left of the block is all that the sum can be.
            let cap = match columns.len() - i {
                left @ ..8 => (1 << (8 * left)) - 1,
                _ => u64::MAX,
            };
            self.column(&columns[i], mode(i), cap)?;
        }
        Ok(())
    }

    /// The bound of the accumulator before and after every pass over `columns`.
    fn steady(&self, columns: &[Column], mode: Mode) -> u64 {
        let after = |bound: u64| {
            columns.iter().fold(bound, |bound, column| {
                let extra = 255 * u64::from(mode.now) + (255 << 16) * u64::from(mode.ahead);
                (bound + PRODUCT * column.products.len() as u64 + extra) >> 8
            })
        };
        let mut bound = self.state.bound;
        while after(bound) > bound {
            bound = after(bound);
        }
        bound
    }

    /// Counts the passes of a loop over `by` columns; of one that becomes shorter it may have none, and the test is all
    /// there is.
    fn count_passes(
        &mut self,
        shrinking: Option<Shrinking>,
        by: usize,
        passes: usize,
    ) -> Result<(), LowerError> {
        let Some(Shrinking { fewer, set, .. }) = shrinking else {
            return self.draft.count(self.plan.counter, passes);
        };
        if !fewer.is_multiple_of(by) {
            return Err(LowerError::Passes(fewer));
        }
        self.draft.insns[set].ops.k = passes as i32 + 1;
        self.shrinking.iter_mut().for_each(|s| s.made = true);
        self.draft.rr(Op::MOV, self.plan.counter, self.plan.fewer);
        self.draft.dk(Op::RJMP, 0, 0);
        Ok(())
    }

    /// A loop: `passes` over `columns`, each moved by `step` from one to the next; then come `after`.
    fn passes(
        &mut self,
        columns: &[Column],
        after: &[Column],
        step: LoopStep,
        times: usize,
        mode: Mode,
        passes: usize,
    ) -> Result<(), LowerError> {
        let by = columns.len();
        // The pointers are where the first pass wants them, and so where every one does.
        let products = || columns.iter().flat_map(|c| &c.products);
        if let Some(p) = products().find(|p| p.load_a) {
            self.point(A, p.a);
        }
        if let Some(p) = products().find(|p| p.load_b) {
            self.point(1, p.b);
        }
        if let Some(column) = columns.first() {
            self.point(R, column.index);
        }
        self.state.bound = self.steady(columns, mode);
        self.lengthen(bytes(self.state.bound));
        let before = self.state.clone();
        let shrinking = self.shrinking.filter(|s| s.longest == times);
        self.count_passes(shrinking, by, passes)?;
        let top = self.draft.insns.len();
        for column in columns {
            self.column(column, mode, u64::MAX)?;
        }
        self.lengthen(before.length);
        // What the next pass loads anew, and nothing behind the loop wants, may lie anywhere.
        let steps = [step.a * by, step.b * by];
        let idle = |side: usize, word: usize| {
            let last = word + steps[side] * passes;
            !uses(columns, side, word) && !uses(after, side, last)
        };
        self.turn_back(&before, steps, idle);
        if shrinking.is_some() {
            let over = self.draft.insns.len() - top;
            self.draft.insns[top - 1].ops.k = over as i32;
        }
        self.draft.repeat(self.plan.counter, top)?;
        let walked = |side: usize| (self.state.at[side] - before.at[side]) * passes;
        let at = [walked(0), walked(1), walked(R)];
        self.state = before;
        for side in 0..2 {
            let moved = [step.a, step.b][side] * by * passes;
            self.state.origin[side] += moved;
            for word in self.state.held[side].iter_mut().flatten() {
                *word += moved;
            }
        }
        for (at, walked) in self.state.at.iter_mut().zip(at) {
            *at += walked;
        }
        Ok(())
    }

    /// Moves every word to where the pass began with the word `by` below it.
    fn turn_back(&mut self, before: &Held, by: [usize; 2], is_idle: impl Fn(usize, usize) -> bool) {
        let mut moves = Vec::new();
        let mut idle = Vec::new();
        for i in 0..before.length {
            let to = self.plan.accumulator[(before.lowest + i) % 4];
            moves.push((to, self.byte(i)));
        }
        for (side, by) in by.into_iter().enumerate() {
            let ring = &self.plan.rings[side];
            for (place, word) in before.held[side].iter().enumerate() {
                let Some(word) = *word else { continue };
                if is_idle(side, word) {
                    idle.push(ring[place]);
                }
                moves.push((ring[place], ring[(place + by) % ring.len()]));
            }
        }
        self.draft.shuffle(&moves, &idle);
    }

    /// Blocks, so many times.
    pub(super) fn turn(&mut self, turn: &Turn) -> Result<(), LowerError> {
        if turn.times == 1 {
            return turn.blocks.iter().try_for_each(|block| self.block(block));
        }
        self.draft.count(self.plan.rows, turn.times)?;
        if turn.fewer > 0 {
            self.shrinking = Some(Shrinking {
                fewer: turn.fewer,
                longest: turn.longest(),
                set: self.draft.insns.len(),
                made: false,
            });
            self.draft
                .count(self.plan.fewer, turn.longest() / self.unroll + 1)?;
        }
        let before = self.state.at;
        let top = self.draft.insns.len();
        // How far a pointer comes differs where the turns do: those that slide start again.
        let [_, again @ ..] = self.plan.pointers().map(Pointer::low);
        if turn.fewer > 0 {
            self.keep(again);
        }
        turn.blocks.iter().try_for_each(|block| self.block(block))?;
        if turn.fewer > 0 {
            self.restore(again);
            self.state.at[1..].copy_from_slice(&before[1..]);
            let passes = turn.fewer / self.unroll;
            self.draft.dk(Op::SUBI, self.plan.fewer, passes as i32);
        }
        let LoopStep { a, b, r } = turn.step;
        for (side, by) in [a, b, r].into_iter().enumerate() {
            self.point(side, before[side] + by);
            self.state.at[side] = before[side] + by * turn.times;
        }
        // One pass at most, the first time: there is no loop to lose any.
        if self.shrinking.take().is_some_and(|s| !s.made) {
            return Err(LowerError::FewColumns);
        }
        self.draft.repeat(self.plan.rows, top)
    }
}
