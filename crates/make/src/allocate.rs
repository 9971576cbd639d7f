//! Which values of a schedule in words stay in registers.
//!
//! The order of all uses is known, so the value whose next use is farthest away is spilled
//! (Belady 1966). The distance is weighed by the cost of the spill: half a load for a number; a load for an
//! operand or result word, which is in memory anyway; a store and a load for any other value. A spilled value waits
//! in a word of the result that is not written yet, or in scratch memory. Where the result may lie on an operand, that word of the
//! operand must have been read for the last time.

use std::collections::VecDeque;

use crate::schedule::{End, Event, Origin, Sweep, Word, WordStep, Words};

/// Where a value lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slot {
    Operand {
        side: usize,
        index: usize,
    },
    /// No memory: a number, made again.
    Constant(u64),
    Result(usize),
    Scratch(usize),
}

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holds {
    Nothing,
    Value(Word),
    /// Something that may not be moved: an accumulator word, a constant.
    Taken,
}

/// Not enough registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfRegisters;

/// How much dearer the way back of a value is that memory does not hold, in quarters.
pub type Weight = u64;

/// When each value is made and used. Time counts events: the addends of a pile, each product, a
/// quotient and its product, each link of a chain, its end, any other step.
pub struct Timeline {
    pub uses: Vec<Vec<usize>>,
    pub made: Vec<usize>,
}

impl Timeline {
    /// The times of all values, where a sweep is these events.
    pub fn of(words: &Words, events: impl Fn(&Sweep) -> Vec<Event>) -> Self {
        let mut line = Self {
            uses: vec![vec![]; words.origins.len()],
            made: vec![0; words.origins.len()],
        };
        let mut now = 0;
        for step in &words.steps {
            line.step(step, &mut now, &events);
        }
        line
    }

    fn step(&mut self, step: &WordStep, now: &mut usize, events: &impl Fn(&Sweep) -> Vec<Event>) {
        match step {
            WordStep::Sweep(sweep) => {
                for Event { reads, makes } in events(sweep) {
                    for word in reads {
                        self.uses[word.0].push(*now);
                    }
                    for word in makes {
                        self.made[word.0] = *now;
                    }
                    *now += 1;
                }
            }
            WordStep::Chain(chain) => {
                for (i, link) in chain.links.iter().enumerate() {
                    let first = chain.carry.filter(|_| i == 0);
                    let read = [first, link.x, link.flip, link.y, link.mask];
                    let mut seen = Vec::new();
                    for word in read.into_iter().flatten() {
                        if !seen.contains(&word) {
                            self.uses[word.0].push(*now);
                            seen.push(word);
                        }
                    }
                    self.made[link.out.0] = *now;
                    *now += 1;
                }
                self.whole(step, now, chain.links.len());
            }
            WordStep::Part(_) => {}
            _ => self.whole(step, now, 0),
        }
    }

    /// One event for what a step reads and makes beyond its first `links` results.
    fn whole(&mut self, step: &WordStep, now: &mut usize, links: usize) {
        let (read, made) = Words::uses(step);
        if let WordStep::Chain(chain) = step {
            if let End::Into { x, .. } = chain.end {
                self.uses[x.0].push(*now);
            }
        } else {
            let mut seen = Vec::new();
            for word in read {
                if !seen.contains(&word) {
                    self.uses[word.0].push(*now);
                    seen.push(word);
                }
            }
        }
        for word in &made[links..] {
            self.made[word.0] = *now;
        }
        *now += 1;
    }
}

/// Registers and what they hold.
pub struct Bank {
    /// Registers in the order they are taken, and the time from which each is free.
    order: Vec<(u8, usize)>,
    holds: Vec<Holds>,
    /// The register of each value, if it is in one.
    place: Vec<Option<u8>>,
    /// Where memory holds it, if it does.
    home: Vec<Option<Slot>>,
    /// Uses to come.
    uses: Vec<VecDeque<usize>>,
    last_use: Vec<usize>,
    /// Which word of the result each value is, and when that is written.
    result: Vec<Option<usize>>,
    written: Vec<usize>,
    /// The words of operands that may lie where each word of the result does.
    under: Vec<Vec<Word>>,
    /// The values that wait in words of the result and of scratch memory.
    waiting: Vec<Option<Word>>,
    scratch: Vec<Option<Word>>,
    weight: Weight,
    pub now: usize,
    /// How often a register was given back, and at which of these times each one was the last time.
    times: usize,
    given: [usize; 32],
}

impl Bank {
    /// All values in memory, no register in use. `order`: registers, and from when they are free. `overlap`: may the result lie
    /// where an operand is?
    pub fn new(
        words: &Words,
        line: Timeline,
        order: &[(u8, usize)],
        weight: Weight,
        overlap: bool,
    ) -> Self {
        let count = words.origins.len();
        let mut result = vec![None; count];
        let mut written = Vec::with_capacity(words.result.len());
        let mut under = vec![vec![]; words.result.len()];
        for (i, origin) in words.origins.iter().enumerate() {
            if let (true, Origin::Operand { index, .. }) = (overlap, origin)
                && let Some(under) = under.get_mut(*index)
            {
                under.push(Word(i));
            }
        }
        for (k, word) in words.result.iter().enumerate() {
            result[word.0] = Some(k);
            written.push(line.made[word.0]);
        }
        let home = |origin: &Origin| match origin {
            Origin::Operand { side, index } => Some(Slot::Operand {
                side: *side,
                index: *index,
            }),
            Origin::Constant(value) | Origin::Stored { value, .. } => Some(Slot::Constant(*value)),
            Origin::Computed => None,
        };
        let registers = order.iter().map(|(r, _)| usize::from(*r) + 1).max();
        Self {
            order: order.to_vec(),
            holds: vec![Holds::Nothing; registers.unwrap_or(0)],
            place: vec![None; count],
            home: words.origins.iter().map(home).collect(),
            last_use: line
                .uses
                .iter()
                .map(|u| u.last().map_or(0, |t| *t))
                .collect(),
            uses: line.uses.into_iter().map(VecDeque::from).collect(),
            result,
            under,
            waiting: vec![None; written.len()],
            written,
            scratch: Vec::new(),
            weight,
            now: 0,
            times: 0,
            given: [0; 32],
        }
    }

    /// When the register was last given back: the larger, the later.
    pub fn given(&self, r: u8) -> usize {
        self.given[usize::from(r)]
    }

    /// The register that holds a value.
    pub fn place(&self, word: Word) -> Option<u8> {
        self.place[word.0]
    }

    /// Where memory holds a value.
    pub fn home(&self, word: Word) -> Option<Slot> {
        self.home[word.0]
    }

    /// The word of the result that a value is.
    pub fn result(&self, word: Word) -> Option<usize> {
        self.result[word.0]
    }

    /// Words of scratch memory used so far.
    pub fn scratch_words(&self) -> usize {
        self.scratch.len()
    }

    /// Is no use of the value left?
    pub fn is_dead(&self, word: Word) -> bool {
        self.uses[word.0].is_empty()
    }

    /// Is one use left, the one now being made?
    pub fn is_last(&self, word: Word) -> bool {
        self.uses[word.0].len() == 1
    }

    /// When a value is used next.
    pub fn next_use(&self, word: Word) -> Option<usize> {
        self.uses[word.0].front().copied()
    }

    /// When it is used after that.
    pub fn use_after(&self, word: Word) -> Option<usize> {
        self.uses[word.0].get(1).copied()
    }

    /// Free registers, the preferred first.
    pub fn free(&self) -> impl Iterator<Item = u8> {
        self.order.iter().filter_map(|(r, from)| {
            let free = self.holds[usize::from(*r)] == Holds::Nothing && *from <= self.now;
            free.then_some(*r)
        })
    }

    /// Is the register free?
    pub fn is_free(&self, r: u8) -> bool {
        self.free().any(|f| f == r)
    }

    /// One more register, from now on.
    pub fn add(&mut self, r: u8) {
        let least = usize::from(r) + 1;
        if self.holds.len() < least {
            self.holds.resize(least, Holds::Nothing);
        }
        self.order.push((r, self.now));
    }

    /// Memory that holds the value is out of reach from now on.
    pub fn forget(&mut self, word: Word) {
        self.home[word.0] = None;
    }

    /// Makes a register unavailable for values.
    pub fn seize(&mut self, r: u8) {
        if let Some(holds) = self.holds.get_mut(usize::from(r)) {
            *holds = Holds::Taken;
        }
    }

    /// Gives a register back.
    pub fn release(&mut self, r: u8) {
        self.times += 1;
        self.given[usize::from(r)] = self.times;
        if let Some(holds) = self.holds.get_mut(usize::from(r)) {
            if let Holds::Value(word) = *holds {
                self.place[word.0] = None;
            }
            *holds = Holds::Nothing;
        }
    }

    /// Puts a value into a register, out of the one it was in.
    pub fn put(&mut self, word: Word, r: u8) {
        if let Some(old) = self.place[word.0] {
            self.holds[usize::from(old)] = Holds::Nothing;
        }
        self.holds[usize::from(r)] = Holds::Value(word);
        self.place[word.0] = Some(r);
    }

    /// Memory holds the value there from now on.
    pub fn stored(&mut self, word: Word, slot: Slot) {
        self.home[word.0] = Some(slot);
    }

    /// One use is over; a value without further ones leaves its register.
    pub fn used(&mut self, word: Word) {
        self.uses[word.0].pop_front();
        if self.is_dead(word)
            && let Some(r) = self.place[word.0]
        {
            self.release(r);
        }
    }

    /// The register whose value may best wait in memory, but none of `pinned`.
    pub fn victim(&self, pinned: &[u8]) -> Result<(u8, Word), OutOfRegisters> {
        let candidates = self.order.iter().filter_map(|(r, _)| {
            let Holds::Value(word) = self.holds[usize::from(*r)] else {
                return None;
            };
            let next = *self.uses[word.0].front()?;
            let distance = (next.max(self.now) - self.now) as u64 + 1;
            let weight = match self.home[word.0] {
                Some(Slot::Constant(_)) => 2,
                Some(_) => 4,
                None => self.weight,
            };
            (!pinned.contains(r)).then_some((distance * 1024 / weight, *r, word))
        });
        let best = candidates.max_by_key(|(score, r, _)| (*score, *r));
        best.map(|(_, r, word)| (r, word)).ok_or(OutOfRegisters)
    }

    /// Memory for a value that memory does not hold, near word `near` of the result.
    pub fn slot(&mut self, word: Word, near: usize) -> Slot {
        let until = self.last_use[word.0];
        let is_free = |waits: &Option<Word>| waits.is_none_or(|word| self.is_dead(word));
        let free = (0..self.written.len())
            .filter(|k| is_free(&self.waiting[*k]) && self.written[*k] > until)
            .filter(|k| self.under[*k].iter().all(|word| self.is_dead(*word)))
            .min_by_key(|k| k.abs_diff(near));
        if let Some(k) = free {
            self.waiting[k] = Some(word);
            return Slot::Result(k);
        }
        let i = match self.scratch.iter().position(is_free) {
            Some(i) => i,
            None => {
                self.scratch.push(None);
                self.scratch.len() - 1
            }
        };
        self.scratch[i] = Some(word);
        Slot::Scratch(i)
    }
}
