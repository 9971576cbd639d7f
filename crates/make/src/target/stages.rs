//! What all machines share of kernels of two stages: the choice of the function of each stage, and the claims about a
//! product that another function reads.

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

/// The functions of every pair of stages.
///
/// # Errors
/// The first reason why there is none of a pair.
pub fn all<I: Isa>(
    rests: &[Tried<I>],
    products: &[Tried<I>],
    function: impl Fn(&Tried<I>, &Tried<I>) -> Result<Program<I::Insn>, LowerError>,
) -> Result<Vec<Program<I::Insn>>, LowerError> {
    let pairs = rests
        .iter()
        .flat_map(|rest| products.iter().map(move |product| (product, rest)));
    pairs
        .map(|(product, rest)| function(product, rest))
        .collect()
}

/// A function that calls what makes the product, then what is made of it, as a machine writes it: its calls are open.
pub struct Caller<I> {
    /// What saves registers, the function itself, and what gives them back.
    pub parts: [Vec<I>; 3],
    /// Remarks on these; the function itself may have none.
    pub notes: [&'static str; 3],
    /// The instructions of the function itself that call, and how many on it goes on.
    pub calls: [usize; 2],
    pub behind: usize,
    pub frame: Frame,
}

/// The stack frame that the product lies in.
pub struct Frame {
    pub area: Area,
    /// Where the product begins, from where the stack pointer is at entry; where that is when it is made.
    pub product: i64,
    pub stack: i64,
    /// Bytes of a word.
    pub word: i64,
    /// Bytes of stack without those of the stages, and the most that there may be with them.
    pub bytes: usize,
    pub limit: usize,
}

impl<I> Caller<I> {
    /// The whole function. `link` makes the call at an index go to the function at another.
    ///
    /// # Errors
    /// When the stack is too deep, or a call does not reach.
    pub fn with<M: Isa<Insn = I>>(
        self,
        stages: &Stages,
        product: &Tried<M>,
        rest: &Tried<M>,
        link: impl Fn(&mut [I], usize, usize) -> Result<(), LowerError>,
    ) -> Result<Program<I>, LowerError>
    where
        I: Clone,
    {
        let Self {
            parts: [before, body, after],
            notes: [saves, makes, restores],
            calls,
            behind,
            frame,
        } = self;
        let (need, limit) = (frame.bytes + product.stack.max(rest.stack), frame.limit);
        if need > limit {
            return Err(LowerError::Stack { need, limit });
        }
        let start = before.len();
        let calls = calls.map(|at| start + at);
        let back = calls[0] + behind;
        let notes = [
            (0, saves),
            (start, makes),
            (back, "what is made of it"),
            (start + body.len(), restores),
        ];
        let told = notes.into_iter().filter(|(_, text)| !text.is_empty());
        let mut program = Program::new();
        program.notes = told.map(|(at, text)| (at, text.to_string())).collect();
        program.insns = [before, body, after].concat();
        let lent = Lent {
            area: frame.area,
            product: frame.product,
            stack: frame.stack,
            words: stages.words(),
            word: frame.word,
            second: stages.spec.op.factors(),
            back,
        };
        let entry = program.insns.len();
        let targets = [entry, entry + product.program.insns.len()];
        program.append(lent.called(product.program.clone()));
        program.claims.push(lent.whole());
        program.append(rest.program.clone());
        for (at, target) in calls.into_iter().zip(targets) {
            link(&mut program.insns, at, target)?;
        }
        Ok(program)
    }
}

/// A product that lies in the stack frame of a function that calls what makes it.
struct Lent {
    /// The stack that has the frame.
    area: Area,
    /// Where the product begins, from where the stack pointer is at entry; where that is when it is made.
    product: i64,
    stack: i64,
    /// Its words, and the bytes of one.
    words: usize,
    word: i64,
    /// Of the factors the second, which is the first of a square.
    second: usize,
    /// The instruction that is executed next.
    back: usize,
}

impl Lent {
    /// The function that makes it, with what it says as its caller sees that, and what its caller says.
    fn called<I>(&self, mut made: Program<I>) -> Program<I> {
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
    fn whole(&self) -> Claim {
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
