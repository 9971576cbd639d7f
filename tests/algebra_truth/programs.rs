//! Random programs on every machine, and how many there are.
//!
//! How many there are, and which, says the tier (`kit/tier.rs`). `LOZENGE_PROGRAM` is the number of one program that is
//! to be run alone, as a failure prints it.

use lozenge::vectors::Random;

use crate::algebra_truth::compare::{Counts, compare};
use crate::algebra_truth::machines::{Model, OnArm, OnAvr, OnMips, OnMsp430, OnRiscv};
use crate::algebra_truth::{arm, avr, mips, msp430, riscv};
use crate::kit::{tier, work};

/// Programs of each machine, by tier.
const PROGRAMS: [u64; 3] = [200, 2_000, 100_000];
/// How many wrong programs are told.
const SHOWN: usize = 5;
/// Blocks of a program.
const BLOCKS: usize = 24;

/// The numbers of the programs to run.
fn seeds() -> Vec<u64> {
    if let Ok(one) = std::env::var("LOZENGE_PROGRAM") {
        return vec![one.parse().expect("LOZENGE_PROGRAM is a number")];
    }
    let first = tier::seed() << 32;
    (first..first + tier::of(PROGRAMS)).collect()
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
pub fn run<M: Model>(block: fn(&mut Random) -> Vec<M::Insn>, end: Vec<Vec<M::Insn>>)
where
    M::Insn: Sync,
{
    let seeds = seeds();
    let (first, count) = (seeds[0], seeds.len() as u64);
    let compared = work::each(&seeds, |seed| {
        let mut random = Random::new(*seed);
        let mut blocks: Vec<_> = (0..BLOCKS).map(|_| block(&mut random)).collect();
        blocks.extend(end.iter().cloned());
        let result = compare::<M>(&blocks, &[], &mut random.clone());
        result.map_err(|what| (*seed, what, blocks, random))
    });
    let (mut counts, mut wrong) = (Counts::default(), Vec::new());
    for result in compared {
        match result {
            Ok(one) => counts.add(&one),
            Err((seed, what, blocks, random)) if wrong.len() < SHOWN => {
                let what = shortest::<M>(blocks, &random).unwrap_or(what);
                eprintln!("LOZENGE_PROGRAM={seed}: {what}");
                wrong.push(what);
            }
            Err((_, what, ..)) => wrong.push(what),
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

#[test]
fn programs_for_riscv_are_what_they_are_said_to_be() {
    run::<OnRiscv>(riscv::block, riscv::memory());
}

#[test]
fn programs_for_msp430_are_what_they_are_said_to_be() {
    run::<OnMsp430>(msp430::block, msp430::memory());
}
