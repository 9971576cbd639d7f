//! A walk from neighbour to neighbour by threshold accepting (Dueck, Scheuer 1990): a step may be worse by a threshold, which
//! falls to 0. Equal seeds give equal walks.

use spec::vectors::Random;

use crate::tune::neighbours::neighbour;
use crate::tune::point::{Cost, Counted, Point};
use crate::tune::question::Question;

/// Thresholds of a walk's first step, in thousandths; a seed takes one of them.
const THRESHOLDS: [u64; 4] = [0, 2, 5, 12];

/// How often a step looks for a neighbour that is another kernel.
const TRIES: usize = 16;

/// What came of a walk.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Walk {
    /// Places that were counted.
    pub counted: usize,
    /// The best of them by what is to be small, and those with the fewest cycles, bytes, stack.
    pub found: Vec<Counted>,
}

/// Walks so many steps from `start`. Parts of plans may come from `mates`.
pub fn walk(
    question: &Question,
    start: &Counted,
    mates: &[Point],
    steps: usize,
    seed: u64,
) -> Walk {
    let mut random = Random::new(seed);
    let threshold = THRESHOLDS[random.below(THRESHOLDS.len())];
    let mut here = start.clone();
    let mut schedule = question.schedule(&here.point).ok();
    let mut seen = vec![here.clone()];
    let mut counted = 0;
    for step in 0..steps {
        let now = question.objective.of(&here.cost);
        let slack = now / 1000 * threshold * (steps - step) as u64 / steps as u64;
        for _ in 0..TRIES {
            let next = neighbour(&here.point, mates, &mut random);
            let Ok(other) = question.schedule(&next) else {
                continue;
            };
            if schedule.as_ref() == Some(&other) {
                // Another name for the same kernel: it may be left in another direction.
                if next.style == here.point.style {
                    here.point = next;
                }
                continue;
            }
            counted += 1;
            if let Ok(Some(there)) = question.count(&next, now.saturating_add(slack)) {
                seen.push(there.clone());
                (here, schedule) = (there, Some(other));
            }
            break;
        }
    }
    Walk {
        counted,
        found: best(question, seen),
    }
}

/// What is compared of costs, the most important first.
type Key<'k> = &'k dyn Fn(&Cost) -> (u64, u64, u64);

/// The best by what is to be small, and by each figure.
pub fn best(question: &Question, seen: Vec<Counted>) -> Vec<Counted> {
    let mut found: Vec<Counted> = Vec::new();
    let keys: [Key<'_>; 4] = [
        &|c| question.objective.key(c),
        &|c| (c.cycles, c.bytes, c.stack),
        &|c| (c.bytes, c.cycles, c.stack),
        &|c| (c.stack, c.cycles, c.bytes),
    ];
    for key in keys {
        let least = seen.iter().min_by_key(|counted| key(&counted.cost));
        let new = least.filter(|least| !found.contains(least));
        found.extend(new.cloned());
    }
    found
}
