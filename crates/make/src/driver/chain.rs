//! A number to the power of a number that is known: squares and products one after another.
//!
//! `x^(2^n - 1)` is a run of `n` ones, and `x^(2^(n+m) - 1) = (x^(2^n - 1))^(2^m) x^(2^m - 1)`: the ones at the top of the exponent are
//! made by an addition chain of their number, by factors (Knuth 1997, section 4.6.3). What follows is taken from the
//! top, in runs that are there already or windows that end in a 1, whichever is longer.

use std::collections::BTreeMap;

use num_bigint::BigUint;

/// What is done to the number so far. Slots hold powers; the base is in slot 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The number becomes the one in the slot.
    Load(usize),
    /// It is squared so many times.
    Square(u32),
    /// It is multiplied by the one in the slot.
    Multiply(usize),
    /// It is kept in the slot.
    Save(usize),
    /// So many times it is squared and multiplied by the base.
    Ones(u32),
}

/// Steps to a power.
#[derive(Clone, Default, Debug)]
pub struct Chain {
    pub steps: Vec<Step>,
    /// Slots that it takes, the base's too.
    pub slots: usize,
    /// The slot of each power that is kept, by its exponent.
    kept: BTreeMap<u64, usize>,
}

/// The largest window, in bits.
const MOST_WINDOW: u32 = 5;

/// Runs are kept up to this length, so that their exponent is a word.
const MOST_KEPT: u32 = 63;

impl Chain {
    /// The chain to `exponent`, 1 or more, with the fewest products of all windows; of these the one with the fewest slots.
    pub fn to(exponent: &BigUint) -> Self {
        let all = (1..=MOST_WINDOW).map(|window| Self::with(exponent, window));
        let cost = |chain: &Self| (chain.products() + chain.squares(), chain.slots);
        all.min_by_key(cost).unwrap_or_default()
    }

    /// The chain to `exponent`, 1 or more, with the fewest steps, and no slot but the base's: bit by bit.
    pub fn bit_by_bit(exponent: &BigUint) -> Self {
        let mut steps = vec![Step::Load(0)];
        let mut at = exponent.bits().saturating_sub(1);
        let mut squares = 0;
        while at > 0 {
            let ones = run(exponent, at);
            match ones {
                0 => squares += 1,
                1 => {
                    steps.extend([Step::Square(squares + 1), Step::Multiply(0)]);
                    squares = 0;
                }
                _ => {
                    steps.extend((squares > 0).then_some(Step::Square(squares)));
                    steps.push(Step::Ones(ones));
                    squares = 0;
                }
            }
            at -= u64::from(ones.max(1));
        }
        steps.extend((squares > 0).then_some(Step::Square(squares)));
        Self {
            steps,
            slots: 1,
            ..Self::default()
        }
    }

    /// Products in it.
    pub fn products(&self) -> usize {
        let count = |step: &Step| match step {
            Step::Multiply(_) => 1,
            Step::Ones(times) => *times as usize,
            Step::Load(_) | Step::Square(_) | Step::Save(_) => 0,
        };
        self.steps.iter().map(count).sum()
    }

    /// Squares in it.
    pub fn squares(&self) -> usize {
        let count = |step: &Step| match step {
            Step::Square(times) | Step::Ones(times) => *times as usize,
            Step::Load(_) | Step::Multiply(_) | Step::Save(_) => 0,
        };
        self.steps.iter().map(count).sum()
    }

    fn with(exponent: &BigUint, window: u32) -> Self {
        let mut chain = Self {
            kept: BTreeMap::from([(1, 0)]),
            slots: 1,
            ..Self::default()
        };
        chain.table(window);
        let bits = exponent.bits();
        let top = run(exponent, bits);
        if top > window {
            chain.steps.push(Step::Load(0));
            chain.ones(top, 1, 0);
            chain.rest(exponent, bits - u64::from(top), window);
        } else {
            let (digit, length) = digit(exponent, bits, window);
            chain
                .steps
                .extend(chain.kept.get(&digit).map(|slot| Step::Load(*slot)));
            chain.rest(exponent, bits - u64::from(length), window);
        }
        chain
    }

    /// Keeps what the number is, `x^exponent`.
    fn keep(&mut self, exponent: u64) {
        self.steps.push(Step::Save(self.slots));
        self.kept.insert(exponent, self.slots);
        self.slots += 1;
    }

    /// The odd powers below `2^window`.
    fn table(&mut self, window: u32) {
        if window == 1 {
            return;
        }
        let square = self.slots;
        self.steps
            .extend([Step::Load(0), Step::Square(1), Step::Save(square)]);
        self.slots += 1;
        for power in (3..1u64 << window).step_by(2) {
            // The number is the square, or the power before.
            self.steps
                .push(Step::Multiply(if power == 3 { 0 } else { square }));
            self.keep(power);
        }
    }

    /// From a run of `base` ones, which is in `slot`, to one of `count base`.
    fn ones(&mut self, count: u32, base: u32, slot: usize) {
        match split(count) {
            Split::Done => {}
            Split::Once => {
                self.ones(count - 1, base, slot);
                self.steps
                    .extend([Step::Square(base), Step::Multiply(slot)]);
            }
            Split::Factor(2) => {
                self.steps
                    .extend([Step::Square(base), Step::Multiply(slot)]);
                self.on(count, base, 2);
            }
            Split::Factor(factor) => {
                self.ones(factor, base, slot);
                self.on(count, base, factor);
            }
        }
    }

    /// The number is a run of `factor base` ones: on to one of `count base`.
    fn on(&mut self, count: u32, base: u32, factor: u32) {
        let (left, length) = (count / factor, base * factor);
        if left == 1 {
            return;
        }
        let slot = self.slots;
        match length <= MOST_KEPT {
            true => self.keep((1 << length) - 1),
            false => {
                self.steps.push(Step::Save(slot));
                self.slots += 1;
            }
        }
        self.ones(left, length, slot);
    }

    /// The bits below bit `at`.
    fn rest(&mut self, exponent: &BigUint, mut at: u64, window: u32) {
        let mut squares = 0;
        while at > 0 {
            if !exponent.bit(at - 1) {
                (at, squares) = (at - 1, squares + 1);
                continue;
            }
            let ones = run(exponent, at).min(MOST_KEPT);
            let runs = (1..=ones).rev().map(|n| ((1 << n) - 1, n));
            let found = runs
                .into_iter()
                .find(|(power, _)| self.kept.contains_key(power));
            let other = digit(exponent, at, window);
            let (power, length) = match found {
                Some(found) if found.1 >= other.1 => found,
                _ => other,
            };
            self.steps.push(Step::Square(squares + length));
            self.steps
                .extend(self.kept.get(&power).map(|slot| Step::Multiply(*slot)));
            (at, squares) = (at - u64::from(length), 0);
        }
        self.steps
            .extend((squares > 0).then_some(Step::Square(squares)));
    }
}

/// How many ones there are from bit `at - 1` downwards.
fn run(exponent: &BigUint, at: u64) -> u32 {
    (0..at).rev().take_while(|bit| exponent.bit(*bit)).count() as u32
}

/// The window of at most so many bits from bit `at - 1` downwards, without the zeros at its end: its number and length.
fn digit(exponent: &BigUint, at: u64, window: u32) -> (u64, u32) {
    let length = at.min(window.into());
    let number = (at - length..at)
        .rev()
        .fold(0, |number, bit| 2 * number + u64::from(exponent.bit(bit)));
    let zeros = number.trailing_zeros().min(length as u32);
    (number >> zeros, length as u32 - zeros)
}

/// What the last step of an addition chain is.
#[derive(Clone, Copy)]
enum Split {
    Done,
    /// One more.
    Once,
    /// First so many, then as often as is left.
    Factor(u32),
}

/// Products in the chain to `count` by this method, and its last step.
fn cost(count: u32, known: &BTreeMap<u32, u32>) -> (u32, Split) {
    let known = |n: u32| known.get(&n).copied().unwrap_or(0);
    let once = (known(count - 1) + 1, Split::Once);
    let factors = (2..=count / 2).filter(|factor| count.is_multiple_of(*factor));
    let factors = factors.map(|factor| {
        let first = known(factor);
        (first + known(count / factor), Split::Factor(factor))
    });
    let all = [once].into_iter().chain(factors);
    all.min_by_key(|(cost, _)| *cost).unwrap_or(once)
}

fn split(count: u32) -> Split {
    if count < 2 {
        return Split::Done;
    }
    // A product for 2 is one, that of 1 and 1.
    let mut costs = BTreeMap::from([(1, 0), (2, 1)]);
    for n in 3..count {
        let (products, _) = cost(n, &costs);
        costs.insert(n, products);
    }
    match count {
        2 => Split::Factor(2),
        _ => cost(count, &costs).1,
    }
}
