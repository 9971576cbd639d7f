//! Columns on an ARM: a rotating accumulator, and operand words in whatever registers are left.
//!
//! The schedule fixes which products a column adds; which words stay in registers is
//! computed. When a word is missing, the words of the next products are looked at, as many
//! as there are registers for; neighbours of the missing word among them come with it by
//! one LDM, and what is used last makes room (Belady's rule). How far to look, which way
//! to go through a column and how many results to hold for one STM is searched for
//! ([`crate::target::arm::search`]), column by column.

use std::rc::Rc;

use machine::isa::arm::code::Insn;
use machine::isa::arm::cores::{Core, Effects};
use machine::isa::arm::instructions::{Op, Timing};

use crate::refusal::LowerError;
use crate::schedule::Product;
use crate::target::arm::outlook::{Need, Outlook, PlannedColumn, Word, operands};
use crate::target::arm::plan::{Carry, Reload, Way};
use crate::target::arm::pointers::{Array, Item};

/// Registers beside the three pointers, the caller-saved first.
pub const ORDER: [u8; 11] = [3, 12, 14, 4, 5, 6, 7, 8, 9, 10, 11];

/// Choices for one column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choices {
    /// Products to look ahead for words to load together.
    pub horizon: usize,
    /// Let a product use the register of an operand word that it uses itself.
    pub overlap: bool,
    /// Go through the products backwards.
    pub backwards: bool,
    /// The most results held, to be stored together.
    pub hold: usize,
    /// How many of the words used last stay when room is made: the next one goes.
    pub spare: usize,
}

/// Items of the columns so far, latest first.
pub struct Made {
    before: Option<Rc<Made>>,
    note: [Option<String>; 2],
    items: Vec<Item>,
}

/// The state between two columns.
#[derive(Clone)]
pub struct Columns<'a> {
    outlook: &'a Outlook<'a>,
    core: &'a Core,
    made: Option<Rc<Made>>,
    items: Vec<Item>,
    /// Most cycles of what was made, without moves of pointers.
    pub cost: u64,
    /// What each register beside the pointers holds.
    owner: [Option<Word>; 16],
    /// How many there are to use.
    registers: usize,
    free: u16,
    accumulator: Vec<u8>,
    /// Results not stored yet: index of the first, registers.
    results: (usize, Vec<u8>),
    /// The column in progress, what its products need, the product in progress.
    column: usize,
    needs: Rc<Vec<Need>>,
    now: usize,
    choices: Choices,
}

impl<'a> Columns<'a> {
    /// Before the first column; `order`: registers to use.
    pub fn new(outlook: &'a Outlook<'a>, core: &'a Core, order: &[u8]) -> Self {
        Self {
            outlook,
            core,
            made: None,
            items: Vec::new(),
            cost: 0,
            owner: [None; 16],
            registers: order.len(),
            free: order.iter().fold(0, |set, r| set | 1 << r),
            accumulator: Vec::new(),
            results: (0, Vec::new()),
            column: 0,
            needs: Rc::new(Vec::new()),
            now: 0,
            choices: Choices {
                horizon: 1,
                overlap: false,
                backwards: false,
                hold: 0,
                spare: 0,
            },
        }
    }

    fn place(&self) -> &'a PlannedColumn<'a> {
        &self.outlook.places[self.column]
    }

    /// Operand words in registers, in order: two states that agree here go on alike.
    pub fn residents(&self) -> Vec<Word> {
        let mut list: Vec<Word> = self.owner.iter().flatten().copied().collect();
        list.sort_unstable();
        list
    }

    /// What the words in registers may save, in eighths of a cycle; for a state between columns.
    pub fn prospects(&self, reach: usize) -> u64 {
        let Some(last) = self.column.checked_sub(1) else {
            return 0;
        };
        let place = &self.outlook.places[last];
        let words = self.owner.iter().flatten();
        let value = words.map(|word| match self.outlook.next_use(*word, place) {
            near if near < reach => 16 - (8 * near / reach) as u64,
            _ => 0,
        });
        value.sum()
    }

    /// Results that are held and not paid for yet.
    pub fn held(&self) -> u64 {
        self.results.1.len() as u64
    }

    /// All items with their notes.
    pub fn finish(mut self) -> (Vec<Item>, Vec<(usize, String)>) {
        self.flush();
        self.close([None, None]);
        let mut list = Vec::new();
        let mut at = self.made.as_deref();
        while let Some(made) = at {
            list.push(made);
            at = made.before.as_deref();
        }
        let (mut items, mut notes) = (Vec::new(), Vec::new());
        for made in list.into_iter().rev() {
            let texts = made.note.iter().flatten();
            notes.extend(texts.map(|text| (items.len(), text.clone())));
            items.extend(made.items.iter().cloned());
        }
        (items, notes)
    }

    fn close(&mut self, note: [Option<String>; 2]) {
        self.made = Some(Rc::new(Made {
            before: self.made.take(),
            note,
            items: std::mem::take(&mut self.items),
        }));
    }

    fn charge(&mut self, timing: Timing, words: u32) {
        let effects = Effects {
            words,
            ..Effects::default()
        };
        self.cost += (self.core.cycles)(timing, &effects).max;
    }

    fn emit(&mut self, insn: Insn) {
        self.charge(insn.form().timing, 0);
        self.items.push(Item::Insn(insn));
    }

    fn access(&mut self, array: Array, first: usize, registers: Vec<u8>, load: bool) {
        let timing = match (load, registers.len()) {
            (true, 1) => Timing::Load,
            (true, _) => Timing::LoadMultiple,
            (false, 1) => Timing::Store,
            (false, _) => Timing::StoreMultiple,
        };
        self.charge(timing, registers.len() as u32);
        self.items.push(Item::Access {
            array,
            first,
            registers,
            load,
        });
    }
}

/// Registers and the words in them.
impl Columns<'_> {
    fn register_of(&self, word: Word) -> Option<u8> {
        let at = self.owner.iter().position(|w| *w == Some(word));
        at.map(|r| r as u8)
    }

    /// Products until `word` is used, from product `from` of the column on.
    fn next_use(&self, word: Word, from: usize) -> usize {
        let here = self.needs.iter().skip(from);
        if let Some(i) = here.clone().position(|need| need.words.contains(&word)) {
            return i;
        }
        let left = here.count();
        let after = self.outlook.next_use(word, self.place());
        after.saturating_add(left)
    }

    fn release(&mut self, r: u8) {
        self.owner[usize::from(r)] = None;
        self.free |= 1 << r;
    }

    /// Makes a register free that holds no word of `keep`: one never used again, else results
    /// waiting to be stored, else the word used last.
    fn make_room(&mut self, keep: &[Word]) -> bool {
        let words = (0..16u8).filter_map(|r| self.owner[usize::from(r)].map(|w| (r, w)));
        let mut victims: Vec<_> = words
            .filter(|(_, word)| !keep.contains(word))
            .map(|(r, word)| (self.next_use(word, self.now), r))
            .collect();
        victims.sort_unstable();
        let at = victims.len().saturating_sub(1 + self.choices.spare);
        let victim = victims.get(at).copied();
        match victim {
            Some((usize::MAX, r)) => self.release(r),
            _ if !self.results.1.is_empty() => self.flush(),
            Some((_, r)) => self.release(r),
            None => return false,
        }
        true
    }

    /// A free register, above `above` if there is one; `keep` lists the words that must not go.
    fn take(&mut self, keep: &[Word], above: u8) -> Result<u8, LowerError> {
        if self.free == 0 && !self.make_room(keep) {
            return Err(LowerError::Registers);
        }
        let free = |r: &u8| self.free >> r & 1 == 1;
        let higher = (above + 1..15).find(free);
        let r = higher.or_else(|| ORDER.into_iter().find(free));
        let r = r.ok_or(LowerError::Registers)?;
        self.free &= !(1 << r);
        Ok(r)
    }

    /// The register of the accumulator's top word.
    fn top(&self) -> u8 {
        self.accumulator.last().copied().unwrap_or(0)
    }

    /// The words of the next products, as many as there are registers for.
    fn window(&self) -> Vec<Word> {
        let mut window: Vec<Word> = Vec::with_capacity(12);
        let mut room = usize::MAX;
        let here = self.needs[self.now..].iter();
        let needs = here.chain(self.outlook.after(self.place()));
        for need in needs.take(self.choices.horizon) {
            let extra = usize::from(self.choices.overlap);
            room = room.min((self.registers + extra).saturating_sub(need.registers));
            let fresh: Vec<_> = need.words.iter().filter(|w| !window.contains(w)).collect();
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
        let mut keep = self.window();
        let wanted = |c: &Self, index: usize| {
            let word = Word { index, ..word };
            keep.contains(&word) && c.register_of(word).is_none()
        };
        let (mut first, mut last) = (word.index, word.index);
        while first > 0 && wanted(self, first - 1) {
            first -= 1;
        }
        while wanted(self, last + 1) {
            last += 1;
        }
        // Room for all of them, or for those used first.
        keep.push(word);
        while (self.free.count_ones() as usize) < last - first + 1 {
            if self.make_room(&keep) {
                continue;
            }
            if first == last {
                let own = self.own();
                if !self.make_room(&own) {
                    return Err(LowerError::Registers);
                }
                continue;
            }
            let later = |index| self.next_use(Word { index, ..word }, self.now);
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
            let index = first + i;
            self.owner[usize::from(*r)] = Some(Word { index, ..word });
        }
        self.access(word.array, first, registers, true);
        self.register_of(word).ok_or(LowerError::Registers)
    }

    /// The words that the product in progress needs.
    fn own(&self) -> Vec<Word> {
        match self.needs.get(self.now) {
            Some(need) => need.words.clone(),
            None => Vec::new(),
        }
    }

    /// Stores the results held.
    fn flush(&mut self) {
        let (first, registers) = std::mem::take(&mut self.results);
        for r in &registers {
            self.release(*r);
        }
        if !registers.is_empty() {
            self.access(Array::R, first, registers, false);
        }
    }
}

/// Columns and products.
impl Columns<'_> {
    /// Lowers the next column.
    ///
    /// # Errors
    /// When registers run out.
    pub fn next(&mut self, choices: Choices) -> Result<(), LowerError> {
        let place = self.place();
        let column = place.column;
        let mut products = column.products.clone();
        if choices.backwards {
            products.reverse();
        }
        self.choices = choices;
        self.needs = Rc::new(Outlook::needs(column, &place.plan, &products));
        self.now = 0;
        for (product, step) in products.iter().zip(&place.plan.steps) {
            if let Some(reload) = step.reload {
                self.reload(column.index, reload)?;
            }
            self.product(product, step.way)?;
            self.now += 1;
        }
        if let Some(reload) = place.plan.late_reload {
            self.reload(column.index, reload)?;
        }
        self.store(column.index)?;
        let next = self.outlook.places.get(self.column + 1);
        if next.is_none_or(|next| next.part.is_some()) {
            self.end_block();
        }
        self.close([place.part.clone(), Some(format!("column {}", column.index))]);
        self.column += 1;
        Ok(())
    }

    fn end_block(&mut self) {
        self.flush();
        for r in std::mem::take(&mut self.accumulator) {
            self.release(r);
        }
        // Later blocks find other values in R.
        for r in 0..16 {
            if self.owner[usize::from(r)].is_some_and(|w| w.array == Array::R) {
                self.release(r);
            }
        }
    }

    /// Adds `C[index]` at the bottom of the accumulator.
    fn reload(&mut self, index: usize, how: Reload) -> Result<(), LowerError> {
        let array = Array::R;
        let r = self.fetch(Word { array, index })?;
        self.owner[usize::from(r)] = None;
        match how {
            Reload::First => self.accumulator.push(r),
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
            let top = self.take(keep, self.top())?;
            self.emit(Insn::imm(Op::MOV, false, top, 0, 0));
            self.accumulator.push(top);
        }
        Ok(())
    }

    /// After the additions: the carry into word `at`.
    fn carry(&mut self, at: usize, carry: Carry, keep: &[Word]) -> Result<(), LowerError> {
        if carry == Carry::NewLessOne {
            let top = self.take(keep, self.top())?;
            self.emit(Insn::reg(Op::SBC, false, top, top, top));
            self.accumulator.push(top);
        }
        if let Carry::New | Carry::Add | Carry::AddPlusOne = carry {
            let one = u8::from(carry == Carry::AddPlusOne);
            let word = self.accumulator[at];
            self.emit(Insn::imm(Op::ADC, false, word, word, one));
        }
        Ok(())
    }

    /// Two registers for a product, the second of which may be that of its own word `y`.
    fn product_registers(&mut self, x: Word, y: Word) -> Result<[u8; 2], LowerError> {
        let above = if self.accumulator.is_empty() {
            self.top()
        } else {
            0
        };
        let own = [x, y];
        let first = self.take(&own, above)?;
        if self.free == 0 && !self.make_room(&own) && self.choices.overlap {
            self.make_room(&[x]);
        }
        Ok([first, self.take(&own, first)?])
    }

    /// Multiplies and accumulates.
    fn product(&mut self, product: &Product, way: Way) -> Result<(), LowerError> {
        let [a, b] = operands(product);
        let own = [a, b];
        self.fetch(a)?;
        self.fetch(b)?;
        // The operand used again first is Rm, which must stay.
        let after = self.now + 1;
        let (m, s) = match self.next_use(a, after) <= self.next_use(b, after) {
            true => (a, b),
            false => (b, a),
        };
        let x = self.fetch(m)?;
        let y = self.register_of(s).ok_or(LowerError::Registers)?;
        match way {
            Way::First => {
                let [lo, hi] = self.product_registers(m, s)?;
                self.emit(Insn::long(Op::UMULL, lo, hi, x, y));
                self.accumulator.extend([lo, hi]);
            }
            Way::Extend => {
                let hi = self.take(&own, self.top())?;
                self.emit(Insn::imm(Op::MOV, false, hi, 0, 0));
                self.emit(Insn::long(Op::UMLAL, self.accumulator[0], hi, x, y));
                self.accumulator.push(hi);
            }
            Way::Accumulate => {
                let (lo, hi) = (self.accumulator[0], self.accumulator[1]);
                self.emit(Insn::long(Op::UMLAL, lo, hi, x, y));
            }
            Way::Chain(carry) => {
                if carry == Carry::New && self.accumulator.len() == 1 {
                    return Err(LowerError::Registers);
                }
                self.clear_for(carry, &own)?;
                let [lo, hi] = self.product_registers(m, s)?;
                self.emit(Insn::long(Op::UMULL, lo, hi, x, y));
                let low = self.accumulator[0];
                self.emit(Insn::reg(Op::ADD, true, low, low, lo));
                let on = carry != Carry::None;
                if self.accumulator.len() == 1 {
                    self.emit(Insn::imm(Op::ADC, on, hi, hi, 0));
                    self.accumulator.push(hi);
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

    /// Stores the lowest word of the accumulator, now or together with the next.
    fn store(&mut self, index: usize) -> Result<(), LowerError> {
        let low = match self.accumulator.is_empty() {
            false => self.accumulator.remove(0),
            true => {
                let r = self.take(&[], 0)?;
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
        let waits = self.accumulator.first().is_some_and(|next| *next > low);
        if !waits || self.results.1.len() > self.choices.hold {
            self.flush();
        }
        Ok(())
    }
}
