//! Chains alone on an AVR: each is a loop over all its words. X and Z point to what is added up, Y to the result of
//! the first chain; the others change it where it lies. Where Y is no pointer, the first one does, too, once its first
//! source has been copied. DEC leaves the carry as it is.

use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::{Op, Ops};
use machine::isa::avr::machine::Pointer;
use machine::program::Program;

use crate::refusal::LowerError;
use crate::schedule::{Array, Chain, End, Scans, Sum, Word, WordStep};
use crate::target::avr::draft::Draft;
use crate::target::avr::frame;

const X: u8 = Pointer::X.low();
const Y: u8 = Pointer::Y.low();
const Z: u8 = Pointer::Z.low();
/// Where words are on their way.
const MOVED: u8 = 0;
/// 0, where the convention has no register for it.
const ZERO: u8 = 2;
/// Words in a pass of a loop, at most.
const LINKS: usize = 4;

/// What is where.
struct Sums<'a> {
    scans: &'a Scans,
    draft: Draft,
    arguments: [u8; 4],
    zero: u8,
    /// Only X and Z are pointers.
    two_pointers: bool,
    count: u8,
    word: u8,
    /// For carries and masks.
    free: Vec<u8>,
    values: Vec<(Word, u8)>,
}

/// The function that runs the chains of `scans` on `core`.
///
/// # Errors
/// When a chain has no such form.
pub fn lower(core: &Core, scans: &Scans) -> Result<Program<Insn>, LowerError> {
    let abi = core.abi;
    let arguments = abi.arguments;
    // The address of a is read once; then its pair is free, and so is that of b, or one without an argument.
    let [_, a, b, last] = arguments;
    let other = if scans.words.lengths.len() > 2 {
        b
    } else {
        last
    };
    let mut sums = Sums {
        scans,
        draft: Draft::default(),
        arguments,
        zero: abi.zero.unwrap_or(ZERO),
        two_pointers: abi.data_stack,
        count: a,
        word: a + 1,
        free: vec![other, other + 1],
        values: Vec::new(),
    };
    if abi.zero.is_none() {
        sums.draft.clear(sums.zero);
    }
    let mut first = true;
    for step in &scans.words.steps {
        match step {
            WordStep::Part(text) => sums.draft.note(text.clone()),
            WordStep::Chain(chain) => {
                sums.chain(chain, first)?;
                first = false;
            }
            _ => return Err(LowerError::Scans),
        }
    }
    let draft = sums.draft;
    let (before, after) = frame::frame(core, &draft.insns);
    let start = before.len();
    let end = start + draft.insns.len();
    let notes = draft.notes.into_iter();
    let mut program = Program::new();
    program.notes = vec![(0, "save registers".into())];
    program
        .notes
        .extend(notes.map(|(at, text)| (at + start, text)));
    program.notes.push((end, "restore registers".into()));
    program.insns = [before, draft.insns, after].concat();
    Ok(program)
}

impl Sums<'_> {
    /// Points to word 0 of an array: an operand, or the result.
    fn point(&mut self, pointer: u8, array: Array) {
        let argument = match array {
            Array::Operand(side) => self.arguments[1 + side],
            _ => self.arguments[0],
        };
        self.draft.rr(Op::MOVW, pointer, argument);
    }

    /// `links` words in a pass of a loop over all `n`.
    fn each(&mut self, n: usize, word: impl Fn(&mut Self)) -> Result<(), LowerError> {
        let fits = |links: &usize| n.is_multiple_of(*links);
        let links = (1..=LINKS).rev().find(fits).unwrap_or(1);
        self.draft.count(self.count, n / links)?;
        let ops = Ops::default();
        self.draft.push(Insn { op: Op::BCLR, ops });
        let top = self.draft.insns.len();
        (0..links).for_each(|_| word(self));
        self.draft.repeat(self.count, top)
    }

    /// The words of `array` become the result.
    fn copy(&mut self, array: Array, to: Array, n: usize) -> Result<(), LowerError> {
        self.point(X, array);
        self.point(Z, to);
        self.each(n, |sums| {
            sums.draft.dk(Op::LDX_INC, MOVED, 0);
            sums.draft.push(Insn::rk(Op::STZ_INC, MOVED, 0));
        })
    }

    fn chain(&mut self, chain: &Chain, first: bool) -> Result<(), LowerError> {
        let stretch = self.scans.stretch(chain).ok_or(LowerError::Scans)?;
        let op = match chain.sum {
            Sum::Add => Op::ADC,
            Sum::Sub => Op::SBC,
        };
        let value = |values: &[(Word, u8)], word: Word| {
            let found = values.iter().find(|(w, _)| *w == word);
            found.map(|(_, r)| *r).ok_or(LowerError::Scans)
        };
        let mask = stretch.mask.map(|m| value(&self.values, m)).transpose()?;
        let (n, out) = (stretch.links, stretch.out.0);
        let (y, _) = stretch.y.ok_or(LowerError::Scans)?;
        let mut in_place = !first;
        match stretch.x {
            Some((x, _)) if first && self.two_pointers => {
                self.copy(x, out, n)?;
                self.point(X, out);
                in_place = true;
            }
            Some((x, _)) => self.point(X, x),
            None => {}
        }
        self.point(Z, y);
        let store = self.store(in_place, out);
        let word = self.word;
        self.each(n, |sums| {
            match stretch.x {
                None => sums.draft.clear(MOVED),
                Some(_) => {
                    let load = if in_place { Op::LDX } else { Op::LDX_INC };
                    sums.draft.dk(load, MOVED, 0);
                }
            }
            sums.draft.dk(Op::LDZ_INC, word, 0);
            if let Some(mask) = mask {
                sums.draft.rr(Op::AND, word, mask);
            }
            sums.draft.rr(op, MOVED, word);
            sums.draft.push(Insn::rk(store, MOVED, 0));
        })?;
        // Words in registers, of which only the carry is of interest.
        for link in &chain.links[n..] {
            let of = |word: Option<Word>| match word {
                None => Ok(self.zero),
                Some(word) => value(&self.values, word),
            };
            let (x, y) = (of(link.x)?, of(link.y)?);
            self.draft.rr(Op::MOV, MOVED, x);
            self.draft.rr(op, MOVED, y);
        }
        self.end(chain.end, op)
    }

    /// Points to where the sum goes, if nothing does yet, and how it is stored there.
    fn store(&mut self, in_place: bool, out: Array) -> Op {
        match (in_place, self.two_pointers) {
            (false, false) => {
                self.point(Y, out);
                Op::STY_INC
            }
            // Nothing is read there.
            (false, true) => {
                self.point(X, out);
                Op::STX_INC
            }
            (true, _) => Op::STX_INC,
        }
    }

    /// What becomes of the last carry.
    fn end(&mut self, end: End, op: Op) -> Result<(), LowerError> {
        let (out, is_mask) = match end {
            End::Drop => return Ok(()),
            End::Carry { out } if op == Op::ADC => (out, false),
            End::Mask { out } => (out, true),
            End::Carry { .. } | End::Into { .. } => return Err(LowerError::Scans),
        };
        let r = self.free.pop().ok_or(LowerError::Registers)?;
        match is_mask {
            true => self.draft.rr(Op::SBC, r, r),
            false => {
                self.draft.clear(r);
                self.draft.rr(Op::ADC, r, r);
            }
        }
        self.values.push((out, r));
        Ok(())
    }
}
