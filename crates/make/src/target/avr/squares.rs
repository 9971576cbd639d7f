//! The end of a square in loops: twice the products of different words, and the squares of the words.

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::Op;

use crate::refusal::LowerError;
use crate::target::avr::draft::Draft;
use crate::target::avr::rings::{Layout, pairs};

/// Registers of a pass over `p` words of A and `2 p` of the result.
struct Pass {
    /// Low ones of pairs: the squares but the last, which stays in r1:r0.
    squares: Vec<u8>,
    words: Vec<u8>,
    /// Masks of the carries of both sums.
    carries: [u8; 2],
}

impl Pass {
    /// If there are so many.
    fn of(plan: &Layout, p: usize) -> Option<Self> {
        let kept = plan.kept.iter().flatten().flat_map(|low| [*low, low + 1]);
        let rings = plan.rings.iter().flatten().copied();
        let others = [plan.rows, plan.fewer, plan.zero];
        let mut free: Vec<u8> = plan.accumulator.into_iter().chain(others).collect();
        free.extend(rings.chain(kept));
        free.sort_unstable();
        free.dedup();
        free.retain(|r| *r != plan.counter);
        let mut squares = pairs(&free);
        squares.truncate(p - 1);
        free.retain(|r| !squares.contains(&(r & !1)));
        let (words, others) = free.split_at_checked(2 * p)?;
        let carries = *others.first_chunk()?;
        (squares.len() == p - 1).then(|| Self {
            squares,
            words: words.to_vec(),
            carries,
        })
    }
}

/// Doubles the result, to which Y or Z points, and adds the squares of the `n` words of A, to which X
/// does: `2 r`, then `+ A[i]^2`, each sum with a carry of its own, a mask between passes.
///
/// # Errors
/// When registers run out.
pub fn add(draft: &mut Draft, plan: &Layout, n: usize) -> Result<(), LowerError> {
    let fitting = [4, 2, 1].into_iter().filter(|p| n.is_multiple_of(*p));
    let mut passes = fitting.filter_map(|p| Some((p, Pass::of(plan, p)?)));
    let (p, pass) = passes.next().ok_or(LowerError::Registers)?;
    let [load, store] = plan.result();
    draft.note("double, and add the squares");
    for mask in pass.carries {
        draft.clear(mask);
    }
    draft.count(plan.counter, n / p)?;
    let top = draft.insns.len();
    for i in 0..p {
        draft.dk(Op::LDX_INC, pass.words[0], 0);
        draft.rr(Op::MUL, pass.words[0], pass.words[0]);
        if let Some(pair) = pass.squares.get(i) {
            draft.rr(Op::MOVW, *pair, 0);
        }
    }
    for (i, word) in pass.words.iter().enumerate() {
        draft.dk(load, *word, i as i32);
    }
    let squares = pass.squares.into_iter().chain([0]);
    let squares: Vec<u8> = squares.flat_map(|low| [low, low + 1]).collect();
    for (mask, addends) in pass.carries.into_iter().zip([&pass.words, &squares]) {
        draft.rr(Op::ADD, mask, mask);
        for (word, addend) in pass.words.iter().zip(addends) {
            draft.rr(Op::ADC, *word, *addend);
        }
        draft.rr(Op::SBC, mask, mask);
    }
    for word in pass.words {
        draft.push(Insn::rk(store, word, 0));
    }
    draft.repeat(plan.counter, top)
}
