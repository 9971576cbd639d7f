//! Random programs on every machine, and how many there are.
//!
//! A run in CI takes the same programs each time. With `LOZENGE_NIGHT=1` there are fifty times as many, other ones
//! each day; `LOZENGE_SEED` is the number of the first one, as a failure prints it.

use lozenge::vectors::Random;

use crate::compare::{Counts, compare};
use crate::machines::{Model, OnArm, OnAvr, OnMips};
use crate::{arm, avr, mips};

/// Programs of each machine: in CI, and at night.
const PROGRAMS: [u64; 2] = [2_000, 100_000];
/// Blocks of a program.
const BLOCKS: usize = 24;

/// Is it a long run?
pub fn is_night() -> bool {
    std::env::var_os("LOZENGE_NIGHT").is_some_and(|value| value == "1")
}

/// Where random numbers begin: always the same, or another one each day.
pub fn first_seed() -> u64 {
    if let Ok(seed) = std::env::var("LOZENGE_SEED") {
        return seed.parse().expect("LOZENGE_SEED is a number");
    }
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH);
    let days = since.map_or(0, |time| time.as_secs() / 86_400);
    if is_night() { days << 32 } else { 0 }
}

/// Compares programs made of such blocks.
fn run<M: Model>(block: fn(&mut Random) -> Vec<M::Insn>, end: Vec<Vec<M::Insn>>) {
    let count = PROGRAMS[usize::from(is_night())];
    let first = first_seed();
    let (mut counts, mut wrong) = (Counts::default(), Vec::new());
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let mut blocks: Vec<_> = (0..BLOCKS).map(|_| block(&mut random)).collect();
        blocks.extend(end.iter().cloned());
        match compare::<M>(&blocks, &mut random) {
            Ok(one) => counts.add(&one),
            Err(what) => wrong.push(format!("LOZENGE_SEED={seed}: {what}")),
        }
    }
    let name = M::NAME;
    println!("{name}: {count} programs from seed {first}, {} wrong; {counts:?}", wrong.len());
    let told = wrong.iter().take(5).map(String::as_str).collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{name}: {} of {count} programs\n{}", wrong.len(), told.join("\n"));
    // Little is left out: a word in fifty, a program in twenty, a statement in ten.
    assert!(counts.words > 1000 * count && counts.statements > 1000 * count, "{counts:?}");
    assert!(counts.left * 50 < counts.words, "{counts:?}");
    assert!(counts.stopped * 20 < counts.programs, "{counts:?}");
    assert!(counts.unknown * 10 < counts.statements, "{counts:?}");
    assert!(counts.answers > count, "{counts:?}");
}

#[test]
fn programs_for_avr_are_what_they_are_said_to_be() {
    run::<OnAvr>(avr::block, avr::memory());
}

#[test]
fn programs_for_arm_are_what_they_are_said_to_be() {
    run::<OnArm>(arm::block, arm::memory());
}

#[test]
fn programs_for_mips_are_what_they_are_said_to_be() {
    run::<OnMips>(mips::block, mips::memory());
}
