//! How much is tried, `LOZENGE_TIER=fast|full|night`, and where random numbers begin, `LOZENGE_SEED=n`.
//!
//! | tier | cases | random states, operands and mutants | where random numbers begin |
//! |---|---|---|---|
//! | fast | every tenth, at random | a tenth | at the day's number |
//! | full (what CI runs, and if nothing is said) | all, or the part that [`part`] takes | as many as the test says | always the same: 0 |
//! | night | all | ten times as many | at the day's number |
//!
//! `LOZENGE_SEED` is where they begin in any tier. What a test has drawn from is in its output, so that a failure says
//! what to set to see it again.

use std::env;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use lozenge::vectors::Random;

/// Cases in a row of which `fast` takes one, and how many times more or fewer random ones there are.
const STEP: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tier {
    Fast,
    Full,
    Night,
}

/// The tier of this run.
///
/// # Panics
/// When `LOZENGE_TIER` is no tier.
pub fn tier() -> Tier {
    static TIER: OnceLock<Tier> = OnceLock::new();
    *TIER.get_or_init(|| match env::var("LOZENGE_TIER").as_deref() {
        Ok("fast") => Tier::Fast,
        Ok("full" | "") | Err(env::VarError::NotPresent) => Tier::Full,
        Ok("night") => Tier::Night,
        other => panic!("LOZENGE_TIER is {other:?}: fast, full or night"),
    })
}

/// Where random numbers begin, which is printed.
pub fn seed() -> u64 {
    let seed = start();
    println!("LOZENGE_TIER={:?} LOZENGE_SEED={seed}", tier());
    seed
}

/// Where random numbers begin.
///
/// # Panics
/// When `LOZENGE_SEED` is no number.
fn start() -> u64 {
    let today = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.expect("it is after 1970").as_secs() / 86_400
    };
    match (env::var("LOZENGE_SEED"), tier()) {
        (Ok(text), _) => text.parse().expect("LOZENGE_SEED is a number"),
        (Err(_), Tier::Full) => 0,
        (Err(_), Tier::Fast | Tier::Night) => today(),
    }
}

/// Random numbers of a test, which says `own` so that no two draw the same.
pub fn random(own: u64) -> Random {
    Random::new(own ^ seed() << 32)
}

/// How many random states, operands or mutants where `full` takes `count`.
pub fn times(count: usize) -> usize {
    of([count.div_ceil(STEP), count, count * STEP])
}

/// What this tier takes of three: in `fast`, in `full`, and at night.
pub fn of<T>([fast, full, night]: [T; 3]) -> T {
    match tier() {
        Tier::Fast => fast,
        Tier::Full => full,
        Tier::Night => night,
    }
}

/// The cases that are tried: all, or of every ten in a row one. The order stays.
pub fn some<T>(cases: impl IntoIterator<Item = T>, own: u64) -> Vec<T> {
    match tier() {
        Tier::Full | Tier::Night => cases.into_iter().collect(),
        Tier::Fast => every_tenth(cases.into_iter().collect(), &mut random(own)),
    }
}

/// The cases that are tried where others ask the same of all of them: all at night, and else of every `step` cases in a row one,
/// the first, the second and so on in turn, and beginning with another one for another `own`. The order stays.
pub fn part<T>(cases: impl IntoIterator<Item = T>, step: usize, own: u64) -> Vec<T> {
    let cases = some(cases, own);
    if tier() != Tier::Full {
        return cases;
    }
    let numbered = cases.into_iter().enumerate();
    let chosen = numbered.filter(|(i, _)| i % step == (i / step + own as usize) % step);
    chosen.map(|(_, case)| case).collect()
}

/// The cases that are tried of very many: all, or in `fast` so many at random. The order stays.
pub fn sample<T>(name: &str, cases: Vec<T>, count: usize) -> Vec<T> {
    if tier() != Tier::Fast || cases.len() <= count {
        return cases;
    }
    println!("{name}: {count} of {} cases", cases.len());
    let mut random = random(cases.len() as u64);
    let mut places = std::collections::BTreeSet::new();
    while places.len() < count {
        places.insert(random.below(cases.len()));
    }
    let numbered = cases.into_iter().enumerate();
    let chosen = numbered.filter(|(place, _)| places.contains(place));
    chosen.map(|(_, case)| case).collect()
}

/// Says of one case of a long list after the other whether it is tried: in `fast` one of every ten in a row is.
#[derive(Default)]
pub struct Turns(usize);

impl Turns {
    /// Is the next case left out?
    pub fn skips(&mut self) -> bool {
        let (round, at) = (self.0 / STEP, self.0 % STEP);
        self.0 += 1;
        let from = match self.0 {
            1 => seed(),
            _ => start(),
        };
        let drawn = || Random::new(from << 32 ^ round as u64).below(STEP);
        tier() == Tier::Fast && drawn() != at
    }
}

/// How many random ones of each case, where cases are chosen by [`some`] or [`Turns`]: `count`, and ten times as many at
/// night.
pub fn of_each(count: usize) -> usize {
    of([count, count, count * STEP])
}

/// Of every ten cases in a row one, of a shorter rest as well.
fn every_tenth<T>(cases: Vec<T>, random: &mut Random) -> Vec<T> {
    let count = cases.len();
    let taken: Vec<usize> = (0..count)
        .step_by(STEP)
        .map(|from| from + random.below(STEP.min(count - from)))
        .collect();
    let numbered = cases.into_iter().enumerate();
    let chosen = numbered.filter(|(i, _)| taken.binary_search(i).is_ok());
    chosen.map(|(_, case)| case).collect()
}

/// How many of the cases must have come to something where of all of them `count` do: in `fast` a hundredth, as it may
/// draw others.
pub fn least(count: usize) -> usize {
    of([count / (STEP * STEP), count, count])
}

#[test]
fn of_ten_in_a_row_one_is_taken() {
    let mut seen = [false; 25];
    for seed in 0..200 {
        let list = every_tenth((0..25).collect(), &mut Random::new(seed));
        assert_eq!(list.len(), 3, "{list:?}");
        for (i, case) in list.iter().enumerate() {
            assert_eq!(case / STEP, i, "{list:?}");
            seen[*case] = true;
        }
    }
    assert!(seen.iter().all(|seen| *seen), "{seen:?}");
    assert!(every_tenth(Vec::<u8>::new(), &mut Random::new(0)).is_empty());
}
