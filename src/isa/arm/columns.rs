//! Columns on an ARM: a rotating accumulator, and operand words in whatever registers are left.
//!
//! The schedule fixes the order of the products; which words stay in registers is computed.
//! When a word is missing, the words of the next products are looked at, as many as there
//! are registers for; neighbours of the missing word among them come with it by one LDM,
//! and what is used last makes room (Belady's rule).

use std::collections::VecDeque;

use super::code::Insn;
use super::instructions::Op;
use super::plan::{self, Carry, Reload, Way};
use super::pointers::{Array, Item};
use crate::isa::LowerError;
use crate::schedule::{ColumnBlock, Product, Schedule};

/// Registers beside the three pointers, the caller-saved first.
pub const ORDER: [u8; 11] = [3, 12, 14, 4, 5, 6, 7, 8, 9, 10, 11];

/// Choices that only a count of cycles can settle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choices {
    /// Products to look ahead for words to load together.
    pub horizon: usize,
    /// Let a product use the register of an operand word that it uses itself.
    pub overlap: bool,
    /// Registers kept for results, to store two together.
    pub results: usize,
}

/// A word of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Word {
    array: Array,
    index: usize,
}

/// Lowers blocks of columns to items.
pub struct Columns {
    pub items: Vec<Item>,
    pub notes: Vec<(usize, String)>,
    /// What each of the sixteen registers is free for.
    free: u16,
    accumulator: VecDeque<u8>,
    /// Registers of the words of R, A, B.
    resident: [Vec<Option<u8>>; 3],
    /// For each word, the steps that use it, latest first.
    uses: [Vec<Vec<usize>>; 3],
    /// Words used by each step, and registers the step needs beside them.
    needs: Vec<(Vec<Word>, usize)>,
    /// Results not stored yet: index of the first, registers.
    results: (usize, Vec<u8>),
    /// The step in progress.
    now: usize,
    choices: Choices,
}

impl Columns {
    /// Lowers every block of `schedule`.
    ///
    /// # Errors
    /// When registers run out.
    pub fn lower(schedule: &Schedule, choices: Choices) -> Result<Self, LowerError> {
        let n = schedule.n;
        let blocks = schedule.column_blocks().ok_or(LowerError::RowMachine {
            method: "operand scanning",
            target: "an ARM7TDMI",
        })?;
        let plans: Vec<_> = blocks.iter().map(|b| plan::block(b)).collect();
        let mut c = Self {
            items: Vec::new(),
            notes: Vec::new(),
            free: ORDER.iter().fold(0, |set, r| set | 1 << r),
            accumulator: VecDeque::new(),
            resident: [vec![None; 2 * n], vec![None; n], vec![None; n]],
            uses: [vec![vec![]; 2 * n], vec![vec![]; n], vec![vec![]; n]],
            needs: Vec::new(),
            results: (0, Vec::new()),
            now: 0,
            choices,
        };
        for (block, plans) in blocks.iter().zip(&plans) {
            c.block(block, plans)?;
        }
        Ok(c)
    }

    /// Which words the steps of `block` and of those after it use.
    fn look_ahead(&mut self, block: &ColumnBlock, plans: &[plan::ColumnPlan]) {
        self.needs.clear();
        self.now = 0;
        for list in self.uses.iter_mut().flatten() {
            list.clear();
        }
        for (column, plan) in block.columns.iter().zip(plans) {
            for (product, step) in column.products.iter().zip(&plan.steps) {
                let mut words = Vec::with_capacity(3);
                if step.reload.is_some() {
                    words.push(Word {
                        array: Array::R,
                        index: column.index,
                    });
                }
                words.extend(operands(product));
                self.needs.push((words, step.registers));
            }
        }
        for (t, (words, _)) in self.needs.iter().enumerate().rev() {
            for word in words {
                self.uses[word.array as usize][word.index].push(t);
            }
        }
    }

    fn emit(&mut self, insn: Insn) {
        self.items.push(Item::Insn(insn));
    }

    fn register_of(&self, word: Word) -> Option<u8> {
        self.resident[word.array as usize][word.index]
    }

    /// The next step that uses `word`, from the present one on.
    fn next_use(&self, word: Word) -> usize {
        let list = &self.uses[word.array as usize][word.index];
        let later = list.iter().rev().find(|t| **t >= self.now);
        later.copied().unwrap_or(usize::MAX)
    }

    fn all_resident(&self) -> Vec<(Word, u8)> {
        let mut list = Vec::with_capacity(11);
        for array in Array::ALL {
            let words = self.resident[array as usize].iter().enumerate();
            list.extend(words.filter_map(|(index, r)| r.map(|r| (Word { array, index }, r))));
        }
        list
    }

    fn release(&mut self, r: u8) {
        self.free |= 1 << r;
    }

    /// Makes one more register free, not that of a word in `keep`: the word used last goes.
    fn evict(&mut self, keep: &[Word]) -> bool {
        let victim = self
            .all_resident()
            .into_iter()
            .filter(|(word, _)| !keep.contains(word))
            .max_by_key(|(word, _)| self.next_use(*word));
        if let Some((word, r)) = victim {
            self.resident[word.array as usize][word.index] = None;
            self.release(r);
        }
        victim.is_some()
    }

    /// A free register; `keep` lists the words that must not go.
    fn take(&mut self, keep: &[Word]) -> Result<u8, LowerError> {
        if self.free == 0 && !self.evict(keep) {
            self.flush();
            if self.free == 0 {
                return Err(LowerError::Registers);
            }
        }
        let r = ORDER.into_iter().find(|r| self.free >> r & 1 == 1);
        let r = r.ok_or(LowerError::Registers)?;
        self.free &= !(1 << r);
        Ok(r)
    }

    /// The words of the next steps, as many as there are registers for.
    fn window(&self) -> Vec<Word> {
        let mut window: Vec<Word> = Vec::with_capacity(12);
        let mut room = usize::MAX;
        let steps = self.needs[self.now..].iter().take(self.choices.horizon);
        for (words, registers) in steps {
            let extra = usize::from(self.choices.overlap);
            let held = registers + self.choices.results;
            room = room.min((ORDER.len() + extra).saturating_sub(held));
            let fresh: Vec<_> = words.iter().filter(|w| !window.contains(w)).collect();
            if window.len() + fresh.len() > room && !window.is_empty() {
                break;
            }
            window.extend(fresh);
        }
        window
    }

    /// Brings `word` into a register, with its neighbours in the window.
    fn fetch(&mut self, word: Word) -> Result<u8, LowerError> {
        if let Some(r) = self.register_of(word) {
            return Ok(r);
        }
        let window = self.window();
        let wanted = |c: &Self, index: usize| {
            let word = Word { index, ..word };
            window.contains(&word) && c.register_of(word).is_none()
        };
        let (mut first, mut last) = (word.index, word.index);
        while first > 0 && wanted(self, first - 1) {
            first -= 1;
        }
        while wanted(self, last + 1) {
            last += 1;
        }
        // Room for all of them, or for those used first.
        let mut keep = window.clone();
        keep.push(word);
        while (self.free.count_ones() as usize) < last - first + 1 {
            if self.evict(&keep) {
                continue;
            }
            if first == last {
                let own = self.needs[self.now].0.clone();
                if !self.evict(&own) {
                    self.flush();
                }
                if self.free == 0 {
                    return Err(LowerError::Registers);
                }
                continue;
            }
            let later = |index| self.next_use(Word { index, ..word });
            if last > word.index && (first == word.index || later(last) >= later(first)) {
                last -= 1;
            } else {
                first += 1;
            }
        }
        let count = last - first + 1;
        let free = ORDER.into_iter().filter(|r| self.free >> r & 1 == 1);
        let mut registers: Vec<u8> = free.take(count).collect();
        registers.sort_unstable();
        for (i, r) in registers.iter().enumerate() {
            self.free &= !(1 << r);
            self.resident[word.array as usize][first + i] = Some(*r);
        }
        self.items.push(Item::Access {
            array: word.array,
            first,
            registers,
            load: true,
        });
        self.register_of(word).ok_or(LowerError::Registers)
    }

    fn block(&mut self, block: &ColumnBlock, plans: &[plan::ColumnPlan]) -> Result<(), LowerError> {
        self.notes.push((self.items.len(), block.part.to_string()));
        self.look_ahead(block, plans);
        for (column, plan) in block.columns.iter().zip(plans) {
            let note = format!("column {}", column.index);
            self.notes.push((self.items.len(), note));
            for (product, step) in column.products.iter().zip(&plan.steps) {
                if let Some(reload) = step.reload {
                    self.reload(column.index, reload)?;
                }
                self.product(product, step.way)?;
                self.now += 1;
            }
            if let Some(reload) = plan.late_reload {
                self.reload(column.index, reload)?;
            }
            self.store(column.index)?;
        }
        self.flush();
        for r in std::mem::take(&mut self.accumulator) {
            self.release(r);
        }
        // Later blocks find other values in R.
        for r in std::mem::take(&mut self.resident[Array::R as usize]) {
            self.resident[Array::R as usize].push(None);
            if let Some(r) = r {
                self.release(r);
            }
        }
        Ok(())
    }

    /// The words that the step in progress needs.
    fn own(&self) -> Vec<Word> {
        match self.needs.get(self.now) {
            Some((words, _)) => words.clone(),
            None => Vec::new(),
        }
    }

    /// Adds `C[index]` at the bottom of the accumulator.
    fn reload(&mut self, index: usize, how: Reload) -> Result<(), LowerError> {
        let array = Array::R;
        let r = self.fetch(Word { array, index })?;
        self.resident[array as usize][index] = None;
        match how {
            Reload::First => self.accumulator.push_back(r),
            Reload::Chain(carry) => {
                let own = self.own();
                self.clear_for(carry, &own)?;
                let low = self.accumulator[0];
                self.emit(Insn::reg(Op::ADD, true, low, low, r));
                self.release(r);
                self.carry(1, carry, &own)?;
            }
        }
        Ok(())
    }

    /// Before the additions: a zero for a carry that makes a new word.
    fn clear_for(&mut self, carry: Carry, keep: &[Word]) -> Result<(), LowerError> {
        if carry == Carry::New {
            let top = self.take(keep)?;
            self.emit(Insn::imm(Op::MOV, false, top, 0, 0));
            self.accumulator.push_back(top);
        }
        Ok(())
    }

    /// After the additions: the carry into word `at`.
    fn carry(&mut self, at: usize, carry: Carry, keep: &[Word]) -> Result<(), LowerError> {
        if carry == Carry::NewLessOne {
            let top = self.take(keep)?;
            self.emit(Insn::reg(Op::SBC, false, top, top, top));
            self.accumulator.push_back(top);
        }
        if let Carry::New | Carry::Add | Carry::AddPlusOne = carry {
            let one = u8::from(carry == Carry::AddPlusOne);
            let word = self.accumulator[at];
            self.emit(Insn::imm(Op::ADC, false, word, word, one));
        }
        Ok(())
    }

    /// Two registers for the product of `x` and `y`, which may take the place of `y`.
    fn product_registers(&mut self, x: Word, y: Word) -> Result<[u8; 2], LowerError> {
        let own = [x, y];
        let first = self.take(&own)?;
        if self.free == 0 && !self.evict(&own) && self.choices.overlap {
            self.evict(&[x]);
        }
        Ok([first, self.take(&own)?])
    }

    /// Multiplies and accumulates.
    fn product(&mut self, product: &Product, way: Way) -> Result<(), LowerError> {
        let [a, b] = operands(product);
        let mut own = self.own();
        own.retain(|w| w.array != Array::R);
        self.fetch(a)?;
        self.fetch(b)?;
        self.fetch(a)?;
        // The operand used again first is Rm, which must stay.
        let (a, b) = match self.later_use(a) <= self.later_use(b) {
            true => (a, b),
            false => (b, a),
        };
        let missing = LowerError::Registers;
        let x = self.register_of(a).ok_or(missing.clone())?;
        let y = self.register_of(b).ok_or(missing)?;
        match way {
            Way::First => {
                let [lo, hi] = self.product_registers(a, b)?;
                self.emit(Insn::long(Op::UMULL, lo, hi, x, y));
                self.accumulator.extend([lo, hi]);
            }
            Way::Extend => {
                let hi = self.take(&own)?;
                self.emit(Insn::imm(Op::MOV, false, hi, 0, 0));
                self.emit(Insn::long(Op::UMLAL, self.accumulator[0], hi, x, y));
                self.accumulator.push_back(hi);
            }
            Way::Accumulate => {
                let (lo, hi) = (self.accumulator[0], self.accumulator[1]);
                self.emit(Insn::long(Op::UMLAL, lo, hi, x, y));
            }
            Way::Chain(carry) => {
                self.clear_for_chain(carry, &own)?;
                let [lo, hi] = self.product_registers(a, b)?;
                self.emit(Insn::long(Op::UMULL, lo, hi, x, y));
                let low = self.accumulator[0];
                self.emit(Insn::reg(Op::ADD, true, low, low, lo));
                let on = carry != Carry::None;
                if self.accumulator.len() == 1 {
                    self.emit(Insn::imm(Op::ADC, on, hi, hi, 0));
                    self.accumulator.push_back(hi);
                } else {
                    let next = self.accumulator[1];
                    self.emit(Insn::reg(Op::ADC, on, next, next, hi));
                    self.release(hi);
                }
                self.release(lo);
                self.carry(2, carry, &own)?;
            }
        }
        Ok(())
    }

    fn clear_for_chain(&mut self, carry: Carry, keep: &[Word]) -> Result<(), LowerError> {
        if carry == Carry::New && self.accumulator.len() == 1 {
            return Err(LowerError::Registers);
        }
        self.clear_for(carry, keep)
    }

    /// The next step after the present one that uses `word`.
    fn later_use(&self, word: Word) -> usize {
        let list = &self.uses[word.array as usize][word.index];
        let later = list.iter().rev().find(|t| **t > self.now);
        later.copied().unwrap_or(usize::MAX)
    }

    /// Stores the lowest word of the accumulator, now or together with the next.
    fn store(&mut self, index: usize) -> Result<(), LowerError> {
        let low = match self.accumulator.pop_front() {
            Some(r) => r,
            None => {
                let r = self.take(&self.own())?;
                self.emit(Insn::imm(Op::MOV, false, r, 0, 0));
                r
            }
        };
        let (first, held) = &self.results;
        let follows = first + held.len() == index && held.last().is_some_and(|r| *r < low);
        if !held.is_empty() && !follows {
            self.flush();
        }
        if self.results.1.is_empty() {
            self.results.0 = index;
        }
        self.results.1.push(low);
        // Wait for the next word only if its register is higher.
        let waits = self.accumulator.front().is_some_and(|next| *next > low);
        if !waits || self.results.1.len() > self.choices.results {
            self.flush();
        }
        Ok(())
    }

    /// Stores the results held.
    fn flush(&mut self) {
        let (first, registers) = std::mem::take(&mut self.results);
        if registers.is_empty() {
            return;
        }
        for r in &registers {
            self.release(*r);
        }
        self.items.push(Item::Access {
            array: Array::R,
            first,
            registers,
            load: false,
        });
    }
}

fn operands(product: &Product) -> [Word; 2] {
    [
        Word {
            array: Array::A,
            index: product.a,
        },
        Word {
            array: Array::B,
            index: product.b,
        },
    ]
}
