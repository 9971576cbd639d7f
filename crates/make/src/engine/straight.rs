//! From a schedule in words to whole functions: which registers and choices are tried, and where instructions come to be.

use std::hash::Hash;
use std::ops::Range;

use machine::isa::Isa;
use machine::program::Program;
use rustc_hash::FxHashSet;

use crate::engine::columns_in_rows;
use crate::engine::words::{Choices, Columns, Lowering};
use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::{Sweep, WordStep, Words};
use crate::target::claims;

/// What a machine says of its functions.
pub trait Straight: Columns<Insn: Eq + Hash> {
    /// How many more registers than those that need not be saved are tried.
    const MORE: &'static [usize];
    /// The values of [`Choices::shifts`] that are tried; all but the first only where something speaks of them.
    const SHIFTS: &'static [bool];
    /// Are whole products in columns made in rows, too ([`columns_in_rows`])?
    const ROWS: bool = false;

    /// All registers a function may use besides its pointers, those that it need not save first.
    fn usable(core: &Self::Core) -> Vec<u8>;
    /// How many it need not save.
    fn free_of_charge(core: &Self::Core) -> usize;
    /// The other choices that are tried.
    fn choices(core: &Self::Core) -> Vec<Choices>;
    /// The accumulators before the first step that are tried.
    fn accumulators(core: &Self::Core) -> Vec<Self::Accumulator>;

    /// Why there are no products, on a core without a multiplier.
    fn without_products(_core: &Self::Core) -> Option<LowerError> {
        None
    }

    /// Whole functions of which this is the body, without claims, each with where the instructions of the body are; the
    /// registers `left` are in no other use.
    ///
    /// # Errors
    /// When the stack would be too deep, or a word is too far from its pointer.
    fn functions(
        l: &Lowering<'_, Self>,
        core: &Self::Core,
        left: &[u8],
    ) -> Result<Vec<Placed<Self>>, LowerError>;
}

/// A function, and where each instruction of its body is.
pub type Placed<M> = (Program<<M as Isa>::Insn>, Vec<usize>);
/// A function; none where it would take longer than is of interest.
pub type Made<M> = Result<Option<Program<<M as Isa>::Insn>>, LowerError>;

/// The registers within `limits`.
pub fn registers<M: Straight>(core: &M::Core, limits: Limits) -> Vec<u8> {
    let mut all = M::usable(core);
    all.truncate(limits.registers);
    all
}

/// Functions of at most the cycles of `limits`, and perhaps others: products in columns as they are, and in rows.
pub fn in_words<M: Straight>(words: &Words, core: &M::Core, limits: Limits) -> Vec<Made<M>> {
    if let Some(error) = M::without_products(core)
        && words.steps.iter().any(multiplies)
    {
        return vec![Err(error)];
    }
    let mut made = as_they_are::<M>(words, core, limits);
    if let Some(rows) = M::ROWS.then(|| columns_in_rows::of(words)).flatten() {
        made.extend(as_they_are::<M>(&rows, core, limits));
    }
    made
}

/// Does a step make a product?
fn multiplies(step: &WordStep) -> bool {
    let in_sweep = |sweep: &Sweep| {
        sweep.piles.iter().any(|pile| {
            let products = pile.products.len() + pile.doubled.len();
            products > 0 || pile.quotient.is_some()
        })
    };
    match step {
        WordStep::Sweep(sweep) => in_sweep(sweep),
        WordStep::Wide { .. } => true,
        _ => false,
    }
}

fn as_they_are<M: Straight>(words: &Words, core: &M::Core, limits: Limits) -> Vec<Made<M>> {
    let all = registers::<M>(core, limits);
    let free = M::free_of_charge(core);
    let mut counts: Vec<_> = M::MORE.iter().map(|m| (free + m).min(all.len())).collect();
    counts.dedup();
    // Choices that give the same are one.
    let mut bodies = FxHashSet::default();
    let mut made = Vec::new();
    let mut shifted = false;
    for (i, shifts) in M::SHIFTS.iter().copied().enumerate() {
        if i > 0 && !shifted {
            break;
        }
        for (count, choices, accumulator) in tried::<M>(core, &counts) {
            let choices = Choices {
                shifts,
                overlap: limits.overlap,
                ..choices
            };
            let (used, left) = all.split_at(count);
            let Ok(l) = Lowering::<M>::of(words, used, accumulator, choices) else {
                made.push(Err(LowerError::Registers));
                shifted = true;
                continue;
            };
            shifted |= l.shifted;
            // An instruction takes a cycle at least.
            let is_long = l.insns.len() as u64 > limits.cycles;
            if is_long || !bodies.insert(l.insns.clone()) {
                made.push(Ok(None));
                continue;
            }
            match whole(&l, core, left) {
                Ok(functions) => made.extend(functions.into_iter().map(|f| Ok(Some(f)))),
                Err(error) => made.push(Err(error)),
            }
        }
    }
    made
}

/// Every count of registers with every choice and every accumulator.
fn tried<M: Straight>(core: &M::Core, counts: &[usize]) -> Vec<(usize, Choices, M::Accumulator)> {
    let mut tried = Vec::new();
    for count in counts {
        for choices in M::choices(core) {
            let accumulators = M::accumulators(core).into_iter();
            tried.extend(accumulators.map(|accumulator| (*count, choices, accumulator)));
        }
    }
    tried
}

/// The functions of which this is the body, with claims.
fn whole<M: Straight>(
    l: &Lowering<'_, M>,
    core: &M::Core,
    left: &[u8],
) -> Result<Vec<Program<M::Insn>>, LowerError> {
    let functions = M::functions(l, core, left)?.into_iter();
    let with_claims = functions.map(|(mut program, places)| {
        program.claims = claims::of(l.words, &l.written, |at| places.get(at).copied());
        program
    });
    Ok(with_claims.collect())
}

/// The function with these instructions, each with its index in what saves registers, the body and what gives them back
/// (what is put before an instruction has its index); where each instruction of the body is.
pub fn placed<I>(
    ordered: impl IntoIterator<Item = (usize, I)>,
    body: Range<usize>,
    notes: &[(usize, String)],
) -> (Program<I>, Vec<usize>) {
    let mut program = Program::new();
    let mut places = vec![0; body.len()];
    let mut remarks = vec![(0, "save registers".to_string())];
    remarks.extend(
        notes
            .iter()
            .map(|(at, text)| (at + body.start, text.clone())),
    );
    remarks.push((body.end, "restore registers, return".into()));
    let saves = usize::from(body.start == 0);
    let mut remarks = remarks.into_iter().skip(saves).peekable();
    for (index, insn) in ordered {
        while let Some((_, text)) = remarks.next_if(|(at, _)| *at <= index) {
            program.notes.push((program.insns.len(), text));
        }
        if body.contains(&index) {
            places[index - body.start] = program.insns.len();
        }
        program.insns.push(insn);
    }
    (program, places)
}
