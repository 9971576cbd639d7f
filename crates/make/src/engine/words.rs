//! Schedules in words: values in registers as long as it pays.
//!
//! Columns are the machine's ([`Columns`]), and so is how a carry is kept: as a word
//! ([`crate::engine::word_chains`]) or in a flag ([`crate::engine::flag_chains`]).

use crate::allocate::{Bank, OutOfRegisters, Slot, Timeline, Weight};
use crate::engine::basic::Moves;
use crate::schedule::{Event, Origin, Sweep, Word, WordColumn, WordStep, Words};

/// How a machine adds up products.
pub trait Columns: Moves {
    /// What its accumulator holds, and what it must know of the core.
    type Accumulator;

    /// What a sweep reads and makes, in the order in which [`Columns::sweep`] does so.
    fn events(_accumulator: &Self::Accumulator, sweep: &Sweep) -> Vec<Event> {
        WordColumn::events_of(sweep)
    }

    /// The columns of a sweep.
    ///
    /// # Errors
    /// When registers run out.
    fn sweep(l: &mut Lowering<'_, Self>, sweep: &Sweep) -> Result<(), OutOfRegisters>;

    /// `out`, the low word first, becomes the product of two words.
    ///
    /// # Errors
    /// When registers run out.
    fn wide(
        l: &mut Lowering<'_, Self>,
        factors: [Word; 2],
        out: [Word; 2],
    ) -> Result<(), OutOfRegisters>;

    /// Any other step: a chain, logic, a shift.
    ///
    /// # Errors
    /// When registers run out.
    fn arithmetic(l: &mut Lowering<'_, Self>, step: &WordStep) -> Result<(), OutOfRegisters>;
}

/// Choices that only a count of cycles can settle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    pub weight: Weight,
    /// Registers that loads leave free, for instructions to change places.
    pub spare: usize,
    /// Is the register that was free longest taken next, so that instructions can change places? Else the first.
    pub rotate: bool,
    /// Is it the one that was given back first, instead, and are registers that wait for a column given back before its
    /// words are loaded?
    pub early: bool,
    /// Does the pointer of an operand hold values once all its words are in registers?
    pub reuse: bool,
    /// Are doubles, masks and signs that begin a chain shifts, and is a 0 no value? They take fewer instructions,
    /// which is not always less time: other registers are free then.
    pub shifts: bool,
    /// May the result lie where an operand is?
    pub overlap: bool,
}

/// Lowers steps to instructions, to be ordered later.
pub struct Lowering<'w, M: Columns> {
    pub words: &'w Words,
    pub insns: Vec<M::Insn>,
    pub notes: Vec<(usize, String)>,
    /// The instruction that writes each value to the given register.
    pub written: Vec<Option<(usize, u8)>>,
    pub bank: Bank,
    pub choices: Choices,
    /// When each register was last taken.
    taken: [usize; 32],
    /// The words of each operand.
    operands: Vec<Vec<Word>>,
    /// Operands whose pointer still points, but may hold a value.
    pointers: Vec<usize>,
    pub pinned: Vec<u8>,
    near: usize,
    /// The largest number that each value may be.
    pub most: Vec<u128>,
    /// Has a word of the result been stored?
    stored: Vec<bool>,
    /// Values that claims speak of: they must be in a register once.
    pub(super) claimed: Vec<bool>,
    /// The word whose lowest bit is in the carry flag.
    pub(super) gone: Option<Word>,
    /// Was there anything that [`Choices::shifts`] speaks of?
    pub shifted: bool,
    pub accumulator: M::Accumulator,
}

impl<'w, M: Columns> Lowering<'w, M> {
    /// Lowers all steps to code for `registers`.
    ///
    /// # Errors
    /// When registers run out.
    pub fn of(
        words: &'w Words,
        registers: &[u8],
        accumulator: M::Accumulator,
        choices: Choices,
    ) -> Result<Self, OutOfRegisters> {
        let sides = 0..words.lengths.len();
        let points = |r: &u8| (M::RESULT..pointer::<M>(sides.end)).contains(r);
        let values = registers.iter().filter(|r| !points(r));
        let order: Vec<_> = values.map(|r| (*r, 0)).collect();
        let line = Timeline::of(words, |sweep| M::events(&accumulator, sweep));
        let mut l = Self {
            words,
            insns: Vec::new(),
            notes: Vec::new(),
            written: vec![None; words.origins.len()],
            bank: Bank::new(words, line, &order, choices.weight, choices.overlap),
            choices,
            taken: [0; 32],
            operands: sides.clone().map(|side| words.operand(side)).collect(),
            pointers: sides.filter(|_| choices.reuse).collect(),
            pinned: Vec::new(),
            near: 0,
            most: words.origins.iter().map(largest::<M>).collect(),
            stored: vec![false; words.result.len()],
            claimed: claimed(words),
            gone: None,
            shifted: false,
            accumulator,
        };
        for step in &words.steps {
            l.step(step)?;
        }
        l.copies()?;
        Ok(l)
    }

    fn step(&mut self, step: &WordStep) -> Result<(), OutOfRegisters> {
        match step {
            WordStep::Part(text) => self.notes.push((self.insns.len(), text.clone())),
            WordStep::Sweep(sweep) => M::sweep(self, sweep)?,
            WordStep::Wide { x, y, low, high } => {
                M::wide(self, [*x, *y], [*low, *high])?;
                self.tick();
            }
            WordStep::Return { x } => {
                let from = self.fetch(*x)?;
                self.insns.push(M::copy(M::RETURNED, from));
                self.tick();
            }
            step => M::arithmetic(self, step)?,
        }
        Ok(())
    }

    /// Words of the result that no step made there: operand words, or the same value twice.
    fn copies(&mut self) -> Result<(), OutOfRegisters> {
        for (k, word) in self.words.result.iter().enumerate() {
            if self.stored[k] {
                continue;
            }
            let slot = self.bank.home(*word).ok_or(OutOfRegisters)?;
            let r = self.take()?;
            self.load(slot, r)?;
            self.store(Slot::Result(k), r)?;
            self.release(r);
        }
        Ok(())
    }

    /// The event is over.
    pub fn tick(&mut self) {
        self.pinned.clear();
        self.bank.now += 1;
    }
}

/// Memory.
impl<M: Columns> Lowering<'_, M> {
    /// The register and the displacement of a place in memory.
    pub(super) fn address(&mut self, slot: Slot) -> Result<(u8, i32), OutOfRegisters> {
        let (base, at) = match slot {
            Slot::Operand { side, index } => (pointer::<M>(side), index),
            Slot::Result(k) => {
                self.near = k;
                (M::RESULT, k)
            }
            Slot::Scratch(i) => return Ok((M::SP, M::FRAME + M::WORD_BYTES * i as i32)),
            Slot::Constant(_) => return Err(OutOfRegisters),
        };
        Ok((base, M::WORD_BYTES * at as i32))
    }

    pub(super) fn store(&mut self, slot: Slot, r: u8) -> Result<(), OutOfRegisters> {
        let (base, at) = self.address(slot)?;
        self.insns.push(M::store(r, base, at));
        Ok(())
    }

    /// Loads a word, or makes a number.
    ///
    /// # Errors
    /// When memory has no such place.
    pub fn load(&mut self, slot: Slot, r: u8) -> Result<(), OutOfRegisters> {
        if let Slot::Constant(value) = slot {
            self.insns.extend(M::number(r, value as u32));
            return Ok(());
        }
        let (base, at) = self.address(slot)?;
        self.insns.push(M::load(r, base, at));
        Ok(())
    }
}

/// The largest number that a word from there may be.
fn largest<M: Moves>(origin: &Origin) -> u128 {
    match origin {
        Origin::Constant(value) | Origin::Stored { value, .. } => u128::from(*value),
        Origin::Operand { .. } | Origin::Computed => M::LARGEST,
    }
}

/// Which values do claims speak of?
fn claimed(words: &Words) -> Vec<bool> {
    let mut claimed = vec![false; words.origins.len()];
    for claim in &words.claims {
        let terms = claim
            .terms
            .iter()
            .flat_map(|term| term.x.iter().chain(&term.y));
        for word in claim.words.iter().chain(terms) {
            claimed[word.0] = true;
        }
    }
    claimed
}

/// The register that points to operand `side`.
fn pointer<M: Moves>(side: usize) -> u8 {
    M::RESULT + 1 + side as u8
}

/// Registers.
impl<M: Columns> Lowering<'_, M> {
    /// A register that nothing else uses; a value may have to wait in memory for it.
    ///
    /// # Errors
    /// When registers run out.
    pub fn take(&mut self) -> Result<u8, OutOfRegisters> {
        let age = |r: &u8| match self.choices.rotate {
            true if self.choices.early => self.bank.given(*r),
            true => self.taken[usize::from(*r)],
            false => 0,
        };
        let free = self.bank.free().min_by_key(age);
        let r = match free.or_else(|| self.retire()) {
            Some(r) => r,
            None => self.evict()?,
        };
        self.bank.seize(r);
        self.taken[usize::from(r)] = self.insns.len() + 1;
        Ok(r)
    }

    /// The pointer of an operand of which every word that is read again is in a register.
    fn retire(&mut self) -> Option<u8> {
        let is_done = |side: &usize| {
            let mut list = self.operands[*side].iter();
            list.all(|w| self.bank.is_dead(*w) || self.bank.place(*w).is_some())
        };
        let at = self.pointers.iter().position(is_done)?;
        let side = self.pointers.remove(at);
        for word in &self.operands[side] {
            self.bank.forget(*word);
        }
        self.bank.add(pointer::<M>(side));
        Some(pointer::<M>(side))
    }

    /// The register of the value that may best wait in memory, free then, but none of those that are pinned.
    ///
    /// # Errors
    /// When there is no such value.
    pub fn evict(&mut self) -> Result<u8, OutOfRegisters> {
        let (r, word) = self.bank.victim(&self.pinned)?;
        if self.bank.home(word).is_none() {
            let slot = self.bank.slot(word, self.near);
            self.store(slot, r)?;
            self.bank.stored(word, slot);
        }
        self.bank.release(r);
        Ok(r)
    }

    pub fn release(&mut self, r: u8) {
        if r != M::ZERO {
            self.bank.release(r);
        }
    }

    /// Is it done as [`Choices::shifts`] says, where that `applies`?
    pub(super) fn shifts(&mut self, applies: bool) -> bool {
        self.shifted |= applies;
        applies && self.choices.shifts
    }

    /// The register of a value, loaded if it must be; it keeps it until the event is over. A number that is 0 may need none.
    ///
    /// # Errors
    /// When registers run out.
    pub fn fetch(&mut self, word: Word) -> Result<u8, OutOfRegisters> {
        let is_zero = self.words.known(word) == Some(0);
        if self.shifts(is_zero) {
            return Ok(M::ZERO);
        }
        let r = match self.bank.place(word) {
            Some(r) => r,
            None => {
                let slot = self.bank.home(word).ok_or(OutOfRegisters)?;
                let spare = self.choices.spare;
                while spare > 0 && self.bank.free().count() <= spare && self.evict().is_ok() {}
                let r = self.take()?;
                self.load(slot, r)?;
                // An operand word is made by its first load.
                let load = self.insns.len() - 1;
                self.written[word.0].get_or_insert((load, r));
                self.bank.put(word, r);
                r
            }
        };
        self.pinned.push(r);
        Ok(r)
    }

    /// These uses, each word's only one, are over.
    pub fn used_all(&mut self, words: &[Word]) {
        for (i, word) in words.iter().enumerate() {
            if !words[..i].contains(word) {
                self.bank.used(*word);
            }
        }
    }

    /// `word` is now in register `r`: a word of the result goes to memory at once.
    pub fn define(&mut self, word: Word, r: u8) {
        let written = self.insns.iter().rposition(|insn| M::writes(insn, r));
        self.written[word.0] = written.map(|at| (at, r));
        if let Some(k) = self.bank.result(word)
            && self.store(Slot::Result(k), r).is_ok()
        {
            self.bank.stored(word, Slot::Result(k));
            self.stored[k] = true;
        }
        if self.bank.is_dead(word) {
            self.release(r);
        } else {
            self.bank.put(word, r);
        }
    }
}
