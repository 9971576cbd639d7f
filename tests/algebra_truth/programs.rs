//! Random programs on every machine, and how many there are.
//!
//! A run in CI takes the same programs each time. With `LOZENGE_NIGHT=1` there are fifty times as many, other ones
//! each day. `LOZENGE_SEED` is the number of one program that is to be run alone, as a failure prints it.

use lozenge::vectors::Random;

use crate::compare::{Counts, compare};
use crate::machines::{Model, OnArm, OnAvr, OnMips};
use crate::{arm, avr, mips};

/// Programs of each machine: in CI, and at night.
const PROGRAMS: [u64; 2] = [2_000, 100_000];
/// How many wrong programs are told.
const SHOWN: usize = 5;
/// Blocks of a program.
const BLOCKS: usize = 24;

/// Is it a long run?
pub fn is_night() -> bool {
    std::env::var_os("LOZENGE_NIGHT").is_some_and(|value| value == "1")
}

/// The numbers of the programs to run: always the same, or other ones each day.
fn seeds() -> std::ops::Range<u64> {
    if let Ok(seed) = std::env::var("LOZENGE_SEED") {
        let seed = seed.parse().expect("LOZENGE_SEED is a number");
        return seed..seed + 1;
    }
    let first = first_seed();
    first..first + PROGRAMS[usize::from(is_night())]
}

/// Where random numbers begin: at the day's own number at night, at 0 else.
pub fn first_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = since.map_or(0, |time| time.as_secs() / 86_400);
    if is_night() { days << 32 } else { 0 }
}

/// What is false of the program that is left where blocks are dropped, as long as something is false.
fn shortest<M: Model>(mut blocks: Vec<Vec<M::Insn>>, random: &Random) -> Option<String> {
    let mut shown = None;
    for at in (0..blocks.len()).rev() {
        let block = blocks.remove(at);
        match compare::<M>(&blocks, &[], &mut random.clone()) {
            Ok(_) => blocks.insert(at, block),
            Err(what) => shown = Some(what),
        }
    }
    shown
}

/// Compares programs made of such blocks.
pub fn run<M: Model>(block: fn(&mut Random) -> Vec<M::Insn>, end: Vec<Vec<M::Insn>>) {
    let seeds = seeds();
    let (first, count) = (seeds.start, seeds.end - seeds.start);
    let (mut counts, mut wrong) = (Counts::default(), Vec::new());
    for seed in seeds {
        let mut random = Random::new(seed);
        let mut blocks: Vec<_> = (0..BLOCKS).map(|_| block(&mut random)).collect();
        blocks.extend(end.iter().cloned());
        match compare::<M>(&blocks, &[], &mut random.clone()) {
            Ok(one) => counts.add(&one),
            Err(what) if wrong.len() < SHOWN => {
                let what = shortest::<M>(blocks, &random).unwrap_or(what);
                eprintln!("LOZENGE_SEED={seed}: {what}");
                wrong.push(what);
            }
            Err(what) => wrong.push(what),
        }
    }
    let name = M::NAME;
    println!(
        "{name}: {count} programs from seed {first}, {} wrong; {counts:?}",
        wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "{name}: {} of {count} programs, as told above",
        wrong.len()
    );
    if count == 1 {
        return;
    }
    // Little is left out: a word in fifteen, a program in a hundred, a statement in four.
    assert!(
        counts.words > 1000 * count && counts.statements > 400 * count,
        "{counts:?}"
    );
    assert!(counts.left * 15 < counts.words, "{counts:?}");
    assert!(counts.stopped * 100 < counts.programs, "{counts:?}");
    assert!(counts.unknown * 4 < counts.statements, "{counts:?}");
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
