//! Two stages: a function that calls the product, then what is made of it, with a frame between them.

use machine::isa::Isa;
use machine::program::{Area, Program};

use crate::engine::basic::By;
use crate::engine::frames::{Frames, frame};
use crate::refusal::LowerError;
use crate::schedule::{Schedule, Stages};
use crate::target::stages::{self, Caller, second, tried};

/// What a machine says of its calls.
pub trait Calls: Frames {
    /// Registers that called functions give back: for the addresses of the result and of the modulus while the product is
    /// made.
    const KEPT: [u8; 2];
    /// Is the instruction behind a call executed before what is called?
    const SLOT: bool;

    /// A call that is not aimed yet.
    fn open_call() -> Self::Insn;
    /// Makes the call of index `at` go to the instruction of index `target`.
    ///
    /// # Errors
    /// When it does not reach.
    fn link(insns: &mut [Self::Insn], at: usize, target: usize) -> Result<(), LowerError>;

    /// An instruction that is no call in its last form.
    fn last_form(_core: &Self::Core, insn: Self::Insn) -> Self::Insn {
        insn
    }
}

/// Functions, or why there are none.
type Made<M> = Result<Vec<Program<<M as Isa>::Insn>>, LowerError>;

/// The functions that run `stages` on `core`; `alone` makes those of a stage.
///
/// # Errors
/// That of a stage, or when the stack runs out or a call does not reach.
pub fn all<M: Calls>(
    stages: &Stages,
    core: &M::Core,
    alone: impl Fn(&Schedule) -> Made<M>,
) -> Made<M> {
    let rests = second::<M>(core, stages, alone(&stages.rest)?)?;
    let [product, _] = stages.operations();
    let products = tried::<M>(core, &product, alone(&stages.product)?)?;
    stages::all(&rests, &products, |product, rest| {
        caller::<M>(stages, core)?.with(stages, product, rest, M::link)
    })
}

/// A call with an instruction that is executed before what is called; the index of the call.
fn call<M: Calls>(body: &mut Vec<M::Insn>, with: M::Insn) -> usize {
    let at = body.len();
    body.push(with);
    let at = if M::SLOT { at } else { at + 1 };
    body.insert(at, M::open_call());
    at
}

fn caller<M: Calls>(stages: &Stages, core: &M::Core) -> Result<Caller<M::Insn>, LowerError> {
    let point = |d: u8| M::by(By::Add, d, M::SP, M::FRAME);
    let [r, a, m] = [0, 1, 2].map(|i| M::RESULT + i);
    let modulus = stages.modulus().map(|side| M::RESULT + side as u8);
    let [kept, kept_modulus] = M::KEPT;
    let mut body = vec![M::copy(kept, r)];
    body.extend(modulus.map(|given| M::copy(kept_modulus, given)));
    let first = call::<M>(&mut body, point(r));
    body.push(point(a));
    body.extend(modulus.map(|_| M::copy(m, kept_modulus)));
    let second = call::<M>(&mut body, M::copy(r, kept));
    let around = frame::<M>(core, &body, stages.words())?;
    let last_form = |(at, insn)| match [first, second].contains(&at) {
        true => insn,
        false => M::last_form(core, insn),
    };
    let body = body.into_iter().enumerate().map(last_form).collect();
    let [before, after] = [around.before, around.after].map(|part| {
        let part = part.into_iter();
        part.map(|insn| M::last_form(core, insn)).collect()
    });
    let below = -i64::from(around.bytes);
    Ok(Caller {
        parts: [before, body, after],
        notes: [
            "save registers, a frame for the product",
            "",
            "restore registers, return",
        ],
        calls: [first, second],
        behind: if M::SLOT { 2 } else { 1 },
        frame: stages::Frame {
            area: Area::Stack,
            product: below + i64::from(M::FRAME),
            stack: below,
            word: M::WORD_BYTES.into(),
            bytes: around.bytes as usize,
            limit: M::LIMIT as usize,
        },
    })
}
