//! Chains alone on an AVR: each is a loop over all its words. X and Z point to what is added up, Y to the result of
//! the first chain; the others change it where it lies. DEC leaves the carry as it is.

use super::abi;
use super::code::Insn;
use super::cores::Core;
use super::draft::Draft;
use super::instructions::{Op, Ops};
use super::machine::Pointer;
use crate::isa::LowerError;
use crate::program::Program;
use crate::schedule::{Array, Chain, End, Scans, Sum, Word, WordStep};

const X: u8 = Pointer::X.low();
const Y: u8 = Pointer::Y.low();
const Z: u8 = Pointer::Z.low();
/// Where words are on their way.
const MOVED: u8 = 0;
/// Words in a pass of a loop, at most.
const LINKS: usize = 4;

/// What is where.
struct Sums<'a> {
    scans: &'a Scans,
    draft: Draft,
    arguments: [u8; 4],
    zero: u8,
    count: u8,
    word: u8,
    /// For carries and masks.
    free: Vec<u8>,
    values: Vec<(Word, u8)>,
}

/// The function that runs the chains of `scans` on `core`.
///
/// # Errors
/// When Y is no pointer, or a chain has no such form.
pub fn lower(core: &Core, scans: &Scans) -> Result<Program<Insn>, LowerError> {
    let abi = core.abi;
    let zero = abi.zero.filter(|_| !abi.data_stack);
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
        zero: zero.ok_or(LowerError::ThreePointers)?,
        count: a,
        word: a + 1,
        free: vec![other, other + 1],
        values: Vec::new(),
    };
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
    let (before, after) = abi::frame(core, &draft.insns);
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
        if let Some((array, _)) = stretch.x {
            self.point(X, array);
        }
        let (array, _) = stretch.y.ok_or(LowerError::Scans)?;
        self.point(Z, array);
        if first {
            self.point(Y, stretch.out.0);
        }
        let n = stretch.links;
        let fits = |links: &usize| n.is_multiple_of(*links);
        let links = (1..=LINKS).rev().find(fits).unwrap_or(1);
        self.draft.count(self.count, n / links)?;
        let ops = Ops::default();
        self.draft.push(Insn { op: Op::BCLR, ops });
        let top = self.draft.insns.len();
        for _ in 0..links {
            match stretch.x {
                None => self.draft.clear(MOVED),
                Some(_) => {
                    let load = if first { Op::LDX_INC } else { Op::LDX };
                    self.draft.dk(load, MOVED, 0);
                }
            }
            self.draft.dk(Op::LDZ_INC, self.word, 0);
            if let Some(mask) = mask {
                self.draft.rr(Op::AND, self.word, mask);
            }
            self.draft.rr(op, MOVED, self.word);
            let store = if first { Op::STY_INC } else { Op::STX_INC };
            self.draft.push(Insn::rk(store, MOVED, 0));
        }
        self.draft.repeat(self.count, top)?;
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
        let (out, is_mask) = match chain.end {
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
