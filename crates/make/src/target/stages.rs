//! What the stages of a kernel have in common on all machines: which function of each is taken, and what is
//! said to the prover of a product that another function reads.

use machine::call::Operands;
use machine::function::Function;
use machine::isa::Isa;
use machine::program::{Area, Claim, Place, Program, Term, Written};
use spec::vectors::Random;
use spec::{Alias, Spec, vectors};

use crate::refusal::LowerError;
use crate::schedule::{Schedule, Stages};

/// The most instructions of a trial.
const LIMIT: u64 = 1 << 26;

/// A function that was run once.
pub struct Tried<I: Isa> {
    pub program: Program<I::Insn>,
    cycles: u64,
    /// Bytes of stack it takes.
    pub stack: usize,
}

/// Runs functions that compute `spec`.
///
/// # Errors
/// When none of them returns.
pub fn tried<I: Isa>(
    core: &I::Core,
    spec: &Spec,
    programs: Vec<Program<I::Insn>>,
) -> Result<Vec<Tried<I>>, LowerError> {
    let mut random = Random::new(u64::from(spec.size.a));
    let bytes = spec.source_bytes().into_iter();
    let mut sources: Vec<_> = bytes.map(|bytes| random.uniform(bytes)).collect();
    vectors::admit(spec, &mut sources);
    let operands = Operands::of(spec, &sources, Alias::Distinct);
    let tried = programs.into_iter().filter_map(|program| {
        let code = I::encode(core, &program.insns).ok()?;
        let called = I::calls(core, Function::kernel(&code))(&operands, LIMIT);
        let cost = called.ok()?.1;
        Some(Tried {
            program,
            cycles: cost.call.max,
            stack: cost.stack.bytes,
        })
    });
    let list: Vec<_> = tried.collect();
    match list.is_empty() {
        true => Err(LowerError::Registers),
        false => Ok(list),
    }
}

/// Functions for the second stage: in loops the fastest, in words all.
///
/// # Errors
/// When none of them returns.
pub fn second<I: Isa>(
    core: &I::Core,
    stages: &Stages,
    programs: Vec<Program<I::Insn>>,
) -> Result<Vec<Tried<I>>, LowerError> {
    let [_, rest] = stages.operations();
    if let Schedule::Words(_) = *stages.rest {
        let whole = programs.into_iter().map(|program| Tried {
            program,
            cycles: 0,
            stack: 0,
        });
        return Ok(whole.collect());
    }
    let list = tried::<I>(core, &rest, programs)?.into_iter();
    Ok(list.min_by_key(|t| t.cycles).into_iter().collect())
}

/// A product that lies in the stack frame of a function that calls what makes it.
pub struct Lent {
    /// The stack that has the frame.
    pub area: Area,
    /// Where the product begins, from where the stack pointer is at entry; where that is when it is made.
    pub product: i64,
    pub stack: i64,
    /// Its words, and the bytes of one.
    pub words: usize,
    pub word: i64,
    /// Of the factors the second, which is the first of a square.
    pub second: usize,
    /// The instruction that is executed next.
    pub back: usize,
}

impl Lent {
    /// The function that makes it, with what it says as its caller sees that, and what its caller says.
    pub fn called<I>(&self, mut made: Program<I>) -> Program<I> {
        let place = |place| match place {
            Place::Memory(Area::Operand(0), at) => Place::Memory(self.area, self.product + at),
            Place::Memory(area, at) if area == self.area => Place::Memory(area, self.stack + at),
            place => place,
        };
        let seen = |claim: Claim| claim.seen(place);
        made.claims = made.claims.into_iter().map(seen).collect();
        made
    }

    /// That it is the product of the factors.
    pub fn whole(&self) -> Claim {
        let words = |area, from: i64, count: usize| -> Vec<Written> {
            let word = |i| Written {
                insn: self.back,
                visit: 1,
                place: Place::Memory(area, from + self.word * i as i64),
            };
            (0..count).map(word).collect()
        };
        let [x, y] = [1, self.second].map(|i| words(Area::Operand(i), 0, self.words / 2));
        let product = words(self.area, self.product, self.words);
        Claim::equation(product, vec![Term::product(x, y)])
    }
}
