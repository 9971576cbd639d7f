//! Claims of a schedule in words, placed at the instructions that it was lowered to.

use machine::program::{Claim, Magnitude, Term, Written};

use crate::schedule;
use crate::schedule::{Word, Words};

/// The claims of `words`. `written`: where each value is made, and in which register; `place`: the
/// index in the program of the instruction that does so. Claims on values never made are left out.
pub fn of(
    words: &Words,
    written: &[Option<(usize, u8)>],
    place: impl Fn(usize) -> Option<usize>,
) -> Vec<Claim> {
    let one = |word: &Word| {
        let (at, register) = written[word.0]?;
        Some(Written::once(place(at)?, register))
    };
    let all = |list: &[Word]| list.iter().map(one).collect::<Option<Vec<_>>>();
    let term = |t: &schedule::Term| {
        Some(Term {
            sign: if t.negative { -1 } else { 1 },
            shift: t.shift,
            x: all(&t.x)?,
            y: all(&t.y)?,
        })
    };
    let claim = |c: &schedule::Claim| {
        let terms: Option<Vec<_>> = c.terms.iter().map(term).collect();
        let magnitude = match &c.magnitude {
            None => None,
            Some(m) => Some(Magnitude {
                wrapped: all(&m.wrapped)?,
                mask: one(&m.mask)?,
            }),
        };
        Some(Claim {
            words: all(&c.words)?,
            lead: c.lead,
            terms: terms?,
            magnitude,
        })
    };
    words.claims.iter().filter_map(claim).collect()
}
