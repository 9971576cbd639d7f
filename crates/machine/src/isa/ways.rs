//! A branch that may go either way: both ways are followed until they meet, and what they left is joined.
//!
//! In a run for all inputs nobody knows which way a secret takes. The run goes the one, comes back and
//! goes the other. At the first place that both reach, every register, flag and word of memory is "that
//! of the one way if the bit is set, else that of the other" ([`Domain::select`]): what follows is the
//! same from either state. It stays a branch on a secret, which the timing of crate `judge` tells.

use std::collections::HashSet;

use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::isa::cost::Stopped;

/// The most instructions of a way, tried in turn: what a way runs beyond the place where both meet makes
/// words ahead of their time, and proofs replace words in the order in which they were made.
const LONGEST: [usize; 3] = [16, 256, 2000];
/// How many branches one inside the other are joined.
const DEEPEST: usize = 3;

/// Where control is; from equal places and equal states runs go on alike.
pub type Position = (usize, usize);

/// Where a run is that returned to its caller.
pub const RETURNED: Position = (usize::MAX, usize::MAX);

/// A machine in the middle of its code.
pub trait Run {
    type Domain: Domain;
    /// Registers, flags, and where control is.
    type State: Clone;

    fn domain(&mut self) -> &mut Self::Domain;
    fn state(&mut self) -> Self::State;
    fn resume(&mut self, state: Self::State);
    /// None where ways cannot be joined.
    fn place(&self) -> Option<Position>;
    /// Executes an instruction.
    ///
    /// # Errors
    /// A fault and where.
    fn step(&mut self) -> Result<(), Stopped>;
    /// The numbers in registers and flags, if they are the same in every run.
    fn numbers(&mut self) -> Option<Vec<u64>>;
    /// The state where `bit` is set, and `clear` where it is not.
    fn join(&mut self, bit: &<Self::Domain as Domain>::Bit, clear: Self::State);
}

/// Goes both ways from the branch at which `run` stopped: how many instructions that took, at most
/// `room`. The run goes on where the ways meet.
///
/// # Errors
/// `stopped`, if they do not meet.
pub fn both<R: Run>(run: &mut R, stopped: Stopped, room: u64) -> Result<u64, Stopped> {
    let mut left = room;
    match go(run, &stopped, DEEPEST, &mut left) {
        Some(()) => Ok(room - left),
        None => Err(stopped),
    }
}

/// A run on numbers is stopped after `limit` instructions: it comes to no end if it comes back to this state.
pub fn limit<R: Run>(run: &mut R, limit: u64) -> Fault {
    /// The most instructions of a turn.
    const TURN: u64 = 4096;
    let memory = run.domain().content().map(<[u8]>::to_vec);
    let start = (run.place(), run.numbers());
    if let (Some(memory), (Some(_), Some(_))) = (memory, &start) {
        for turn in 1..=TURN {
            if run.step().is_err() {
                break;
            }
            let is_back = (run.place(), run.numbers()) == start;
            if is_back && run.domain().content() == Some(&memory) {
                return Fault::Endless(turn);
            }
        }
    }
    Fault::StepLimit(limit)
}

fn go<R: Run>(run: &mut R, stopped: &Stopped, depth: usize, left: &mut u64) -> Option<()> {
    if !matches!(stopped.1, Fault::SecretBranch(_)) {
        return None;
    }
    let bit = run.domain().undecided()?;
    let (start, memory) = (run.state(), run.domain().keep());
    let mut way = |outcome: bool, effort, until: &dyn Fn(Position) -> bool| {
        run.resume(start.clone());
        run.domain().resume(memory);
        run.domain().force(outcome);
        walk(run, effort, left, until)
    };
    // Branches inside a way are followed only if there are some before the ways meet.
    let inner = [0, depth.saturating_sub(1)];
    let inner = inner.into_iter().take(1 + depth.min(1));
    let mut efforts = inner.flat_map(|depth| LONGEST.map(|longest| Effort { longest, depth }));
    let (effort, meeting) = efforts.find_map(|effort| {
        let set: HashSet<Position> = way(true, effort, &|_| false).0.into_iter().collect();
        let (places, met) = way(false, effort, &|place| set.contains(&place));
        let last = places.last().copied().filter(|_| met)?;
        Some((effort, last))
    })?;
    let clear = (run.state(), run.domain().keep());
    run.resume(start);
    run.domain().resume(memory);
    run.domain().force(true);
    let (_, met) = walk(run, effort, left, &|place| place == meeting);
    if !met {
        return None;
    }
    run.join(&bit, clear.0);
    run.domain().join(&bit, clear.1);
    run.domain().forget(memory);
    Some(())
}

/// How far a way is gone.
#[derive(Clone, Copy)]
struct Effort {
    /// The most instructions.
    longest: usize,
    /// How many branches inside the way, one inside the other, are joined.
    depth: usize,
}

/// The places of a way, and whether it came to one that `until` names.
fn walk<R: Run>(
    run: &mut R,
    Effort { longest, depth }: Effort,
    left: &mut u64,
    until: &dyn Fn(Position) -> bool,
) -> (Vec<Position>, bool) {
    let mut places = Vec::new();
    while places.len() < longest && *left > 0 {
        *left -= 1;
        if let Err(stopped) = run.step()
            && (depth == 0 || go(run, &stopped, depth - 1, left).is_none())
        {
            break;
        }
        let Some(place) = run.place() else {
            continue;
        };
        places.push(place);
        if until(place) {
            return (places, true);
        }
        if place == RETURNED {
            break;
        }
    }
    (places, false)
}
