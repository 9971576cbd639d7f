//! Schedules in words as instructions on values.
//!
//! Columns are in `sweeps.rs`. Chains keep the carry in the flag; loads, stores, MOV, EOR
//! and AND leave it alone. Which values are in registers when is decided in `residence.rs`,
//! which registers those are in `assign.rs`.

use machine::isa::avr::instructions::Op;

use crate::allocate::OutOfRegisters;
use crate::schedule::{Chain, End, Link, Origin, Sum, Word, WordStep, Words};
use crate::target::avr::assign::{First, assign};
use crate::target::avr::code::{Code, OperandWord, Value, VirtualInsn};
use crate::target::avr::registers::{Registers, UPPER};
use crate::target::avr::residence::Residence;

impl Code {
    /// The instructions of all steps; `clear_pairs`: accumulator words are cleared two at a time.
    pub fn of(words: &Words, clear_pairs: bool) -> Self {
        Self::in_place(words, clear_pairs, false)
    }

    /// The same; with `overlap`, for a result that may lie where an operand is.
    pub fn in_place(words: &Words, clear_pairs: bool, overlap: bool) -> Self {
        let mut code = Self {
            steps: Vec::new(),
            notes: Vec::new(),
            operands: Vec::new(),
            numbers: Vec::new(),
            product: Vec::new(),
            names: vec![None; words.origins.len()],
            masked: vec![None; words.origins.len()],
            clear_pairs,
            overlap,
            cleared: None,
            shifted: None,
        };
        for (word, origin) in words.origins.iter().enumerate() {
            match *origin {
                Origin::Operand { side, index } => {
                    let value = code.fresh();
                    code.operands[value.0] = Some(OperandWord { side, index });
                    code.names[word] = Some(value);
                }
                Origin::Constant(number) | Origin::Stored { value: number, .. } => {
                    let value = code.fresh();
                    code.numbers[value.0] = Some(number as u8);
                    code.names[word] = Some(value);
                }
                Origin::Computed => {}
            }
        }
        // The words of the result that each word is.
        let mut result = vec![vec![]; words.origins.len()];
        for (k, word) in words.result.iter().enumerate() {
            result[word.0].push(k);
        }
        for step in &words.steps {
            code.step(step, &result);
        }
        // Words that no step makes and that are words of the result as well.
        for (word, origin) in words.origins.iter().enumerate() {
            if *origin != Origin::Computed {
                code.store(Word(word), &result);
            }
        }
        crate::target::avr::sink::sink(&mut code);
        crate::target::avr::products::leave(&mut code);
        code
    }

    /// The value of a word; of one that is not made (no schedule that passes its check has any) a new one.
    pub(super) fn value(&mut self, word: Word) -> Value {
        match self.names[word.0] {
            Some(value) => value,
            None => {
                let value = self.fresh();
                self.names[word.0] = Some(value);
                value
            }
        }
    }

    /// `word` is that value: one of the result goes to memory at once.
    pub(super) fn define(&mut self, word: Word, value: Value, result: &[Vec<usize>]) {
        self.names[word.0] = Some(value);
        self.store(word, result);
    }

    fn store(&mut self, word: Word, result: &[Vec<usize>]) {
        let x = self.value(word);
        let stores = result[word.0]
            .iter()
            .map(|k| VirtualInsn::Result { k: *k, x });
        self.steps.extend(stores);
    }

    /// `x op y`.
    pub(super) fn two(&mut self, op: Op, x: Value, y: Option<Value>) -> Value {
        let out = self.fresh();
        self.steps.push(VirtualInsn::Two { op, out, x, y });
        out
    }

    /// A cleared register. Never touches the carry (EOR).
    pub(super) fn clear(&mut self) -> Value {
        let out = self.fresh();
        self.steps.push(VirtualInsn::Clear { out });
        out
    }

    /// A cleared register for an accumulator, the next one cleared with it (MOVW) if that is wanted.
    pub(super) fn clear_ahead(&mut self) -> Value {
        if let Some(value) = self.cleared.take() {
            return value;
        }
        if !self.clear_pairs {
            return self.clear();
        }
        let out = [self.fresh(), self.fresh()];
        self.steps.push(VirtualInsn::Clears { out });
        self.cleared = Some(out[1]);
        out[0]
    }

    fn mask(&mut self) -> Value {
        let out = self.fresh();
        self.steps.push(VirtualInsn::Mask { out });
        out
    }

    fn step(&mut self, step: &WordStep, result: &[Vec<usize>]) {
        let shifted = self.shifted.take();
        match step {
            WordStep::Part(text) => self.notes.push((self.steps.len(), text.clone())),
            WordStep::Sweep(sweep) => self.sweep(sweep, result),
            WordStep::Chain(chain) => self.chain(chain, result),
            WordStep::Wide { x, y, low, high } => {
                let product = self.multiply(*x, *y);
                self.define(*low, product[0], result);
                self.define(*high, product[1], result);
            }
            WordStep::And { x, y, out } => self.logic(Op::AND, [*x, *y], *out, result),
            WordStep::Or { x, y, out } => self.logic(Op::OR, [*x, *y], *out, result),
            WordStep::Xor { x, y, out } => self.logic(Op::EOR, [*x, *y], *out, result),
            WordStep::Sign { x, out } => {
                let x = self.value(*x);
                self.two(Op::ADD, x, Some(x));
                let mask = self.mask();
                self.define(*out, mask, result);
            }
            WordStep::Return { x } => {
                let x = self.value(*x);
                self.steps.push(VirtualInsn::Return { x });
            }
            WordStep::Odd { x, out } => {
                self.shift(Op::LSR, *x);
                let mask = self.mask();
                self.define(*out, mask, result);
            }
            WordStep::Right { x, above, out } => {
                if let Some(above) = above.filter(|above| shifted != Some(*above)) {
                    self.shift(Op::LSR, above);
                }
                let op = if above.is_some() { Op::ROR } else { Op::LSR };
                let value = self.shift(op, *x);
                self.define(*out, value, result);
                self.shifted = Some(*x);
            }
        }
    }

    /// `x` moved right by a bit, which is in the carry then.
    fn shift(&mut self, op: Op, x: Word) -> Value {
        let x = self.value(x);
        self.two(op, x, Some(x))
    }

    pub(super) fn multiply(&mut self, x: Word, y: Word) -> [Value; 2] {
        let (x, y) = (self.value(x), self.value(y));
        self.times(x, y)
    }

    /// `x y`, two bytes.
    pub(super) fn times(&mut self, x: Value, y: Value) -> [Value; 2] {
        let [low, high] = [self.fresh(), self.fresh()];
        self.steps.push(VirtualInsn::Mul { x, y, low, high });
        [low, high]
    }

    fn logic(&mut self, op: Op, [x, y]: [Word; 2], out: Word, result: &[Vec<usize>]) {
        self.masked[out.0] = self.masked[x.0].or(Some(x));
        let (x, y) = (self.value(x), self.value(y));
        let value = self.two(op, x, Some(y));
        self.define(out, value, result);
    }

    fn chain(&mut self, chain: &Chain, result: &[Vec<usize>]) {
        if let Some(carry) = chain.carry {
            let x = self.value(carry);
            self.steps.push(match self.numbers[x.0] {
                Some(1..) => VirtualInsn::Set,
                _ => VirtualInsn::Carry { x },
            });
        }
        for (i, link) in chain.links.iter().enumerate() {
            let value = self.link(chain.sum, link, i > 0 || chain.carry.is_some());
            self.define(link.out, value, result);
        }
        let op = match chain.sum {
            Sum::Add => Op::ADC,
            Sum::Sub => Op::SBC,
        };
        match chain.end {
            End::Drop => {}
            End::Carry { out } => {
                let cleared = self.clear_ahead();
                let value = self.two(Op::ADC, cleared, None);
                self.define(out, value, result);
            }
            End::Mask { out } => {
                let value = self.mask();
                self.define(out, value, result);
            }
            End::Into { x, out } => {
                let x = self.value(x);
                let value = self.two(op, x, None);
                self.define(out, value, result);
            }
        }
    }

    /// `(x ^ flip) ± (y & mask) ± carry`.
    fn link(&mut self, sum: Sum, link: &Link, running: bool) -> Value {
        let op = match (sum, running) {
            (Sum::Add, false) => Op::ADD,
            (Sum::Add, true) => Op::ADC,
            (Sum::Sub, false) => Op::SUB,
            (Sum::Sub, true) => Op::SBC,
        };
        let with = |code: &mut Self, op: Op, word: Option<Word>, by: Option<Word>| {
            let value = code.value(word?);
            Some(match by {
                None => value,
                Some(by) => {
                    let by = code.value(by);
                    code.two(op, value, Some(by))
                }
            })
        };
        let y = with(self, Op::AND, link.y, link.mask);
        let x = with(self, Op::EOR, link.x, link.flip);
        let (x, y) = match (x, y, sum) {
            (Some(x), y, _) => (x, y),
            (None, Some(y), Sum::Add) if link.flip.is_none() => (y, None),
            (None, y, _) => {
                let zero = self.clear();
                let x = match link.flip {
                    None => zero,
                    Some(flip) => {
                        let flip = self.value(flip);
                        self.two(Op::EOR, zero, Some(flip))
                    }
                };
                (x, y)
            }
        };
        self.two(op, x, y)
    }
}

/// Registers for the values of `code`; `free`: those there are, and from which step on.
///
/// # Errors
/// When they are too few.
pub fn assigned(code: &Code, mut free: Vec<(u8, usize)>) -> Result<First<'_>, OutOfRegisters> {
    let reads_zero = |s: &VirtualInsn| {
        matches!(
            s,
            VirtualInsn::Two { y: None, .. } | VirtualInsn::Carry { .. }
        )
    };
    let zeros = code
        .steps
        .iter()
        .any(|s| matches!(s, VirtualInsn::Clears { .. }));
    let mut zero = None;
    if zeros {
        let at_once = |r: u8| free.contains(&(r, 0));
        let mut pairs = free.iter().map(|(r, _)| r & !1);
        let pair = pairs.find(|r| at_once(*r) && at_once(r + 1));
        zero = Some(pair.ok_or(OutOfRegisters)?);
    } else if code.steps.iter().any(reads_zero) {
        zero = free.first().map(|(r, _)| *r);
    }
    // Numbers come through a register that LDI can load, where their own is none.
    let numbers = code.numbers.iter().any(Option::is_some);
    let loaded = free.iter().map(|(r, _)| *r).filter(|r| *r >= UPPER);
    let loader = match numbers {
        true => Some(
            loaded
                .filter(|r| Some(*r) != zero && !(zeros && Some(*r - 1) == zero))
                .find(|r| free.contains(&(*r, 0)))
                .ok_or(OutOfRegisters)?,
        ),
        false => None,
    };
    free.retain(|(r, _)| Some(*r) != loader);
    free.retain(|(r, _)| zero.is_none_or(|z| *r != z && !(zeros && *r == z + 1)));
    let count = |t: usize| free.iter().filter(|(_, from)| *from <= t).count();
    let counts: Vec<usize> = (0..code.steps.len()).map(count).collect();
    let residence = Residence::of(code, &counts)?;
    let registers = Registers {
        free,
        zero,
        zeros,
        loader,
    };
    assign(code, residence, registers)
}
