//! The search for the cheapest columns: every choice for the next column from each of the
//! best states so far, kept apart by the words they hold in registers.

use std::collections::BTreeMap;

use machine::isa::arm::cores::Core;

use crate::refusal::LowerError;
use crate::target::arm::columns::{Choices, Columns};
use crate::target::arm::outlook::{Outlook, Word};

/// Products after which a word in a register is worth nothing.
const REACH: usize = 12;

/// Every choice that may pay for a column.
fn choices() -> Vec<Choices> {
    let mut list = Vec::new();
    for horizon in [2, 3, 4, 9] {
        for (overlap, backwards) in [(false, false), (false, true), (true, false), (true, true)] {
            for (hold, spare) in [(0, 0), (0, 1), (3, 0), (3, 1)] {
                list.push(Choices {
                    horizon,
                    overlap,
                    backwards,
                    hold,
                    spare,
                });
            }
        }
    }
    list
}

/// States kept after each column; fewer for long operands, so that the effort stays bounded.
fn width(n: usize) -> usize {
    (4000 / (n * n)).clamp(1, 60)
}

/// The best ways to lower all columns, cheapest first by their own account.
///
/// # Errors
/// When registers run out.
pub fn columns<'a>(
    outlook: &'a Outlook<'a>,
    core: &'a Core,
    order: &[u8],
) -> Result<Vec<Columns<'a>>, LowerError> {
    let all = choices();
    let width = width(outlook.n);
    let mut states = vec![Columns::new(outlook, core, order)];
    for _ in &outlook.places {
        let mut next: BTreeMap<(Vec<Word>, u64), (u64, Columns<'a>)> = BTreeMap::new();
        for state in &states {
            for choices in &all {
                let mut state = state.clone();
                if state.next(*choices).is_err() {
                    continue;
                }
                let score =
                    8 * (state.cost + state.held()) + 1000 - state.prospects(REACH).min(1000);
                let key = (state.residents(), state.held());
                match next.get(&key) {
                    Some((least, _)) if *least <= score => {}
                    _ => {
                        next.insert(key, (score, state));
                    }
                }
            }
        }
        let mut list: Vec<_> = next.into_values().collect();
        list.sort_by_key(|(score, _)| *score);
        list.truncate(width);
        states = list.into_iter().map(|(_, state)| state).collect();
        if states.is_empty() {
            return Err(LowerError::Registers);
        }
    }
    Ok(states)
}
