//! The plans of Karatsuba's multiplication: how each product of the tree is made, and which are tried.

use spec::Spec;

use crate::facts::Facts;
use crate::method::middle_signs::{difference, known_difference};
use crate::method::signature::Params;
use crate::plans;
use crate::schedule::{Word, Words};

/// Words from which only what is usually best is tried: each trial takes seconds then.
const LARGE: usize = 40;

/// Free registers from which more of a product stays in them than its words.
const MANY: usize = 20;

/// A plan of the file. Those of few registers and of many, of large numbers, for the products of a reduction that folds:
/// one of halves, and the sum of two.
type Set = plans::Plan;

const FEW_REGISTERS: &str = "few-registers";
const MANY_REGISTERS: &str = "many-registers";
const LARGE_NUMBERS: &str = "large";
const FOLDED: &str = "folded";

/// The products of a tree: the whole, and of each product its L, Z and M.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    L,
    Z,
    M,
}

impl Kind {
    /// What stands for it in a digit of columns, swap and whole.
    fn bit(self) -> usize {
        match self {
            Kind::Z => 1,
            Kind::M => 2,
            Kind::L | Kind::Whole => 4,
        }
    }
}

/// A choice for each kind of product.
#[derive(Clone, Copy)]
pub(super) struct Choice([usize; 4]);

impl Choice {
    /// One digit for all kinds, or four, the whole's first.
    pub(super) fn of(digits: usize) -> Self {
        match digits {
            0..10 => Self([digits; 4]),
            _ => Self([1000, 100, 10, 1].map(|weight| digits / weight % 10)),
        }
    }
}

/// How the recursion goes.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub levels: usize,
    pub rows: usize,
    pub early: Choice,
    pub late: Choice,
    pub columns: Choice,
    pub swap: Choice,
    pub apart: Choice,
    pub turn: Choice,
    pub whole: Choice,
    /// Levels that compute the middle product first.
    pub first: usize,
    /// Are its words added to others as they come?
    pub streams: bool,
    /// What is being computed, and at the bottom: by columns, with the operands exchanged?
    pub kind: Kind,
    pub by_columns: bool,
    pub swapped: bool,
    /// Take differences that another product has computed?
    pub shared: bool,
}

impl Plan {
    /// Products by columns, or by rows of up to `rows` words, on so many levels.
    pub(super) fn plain(levels: usize, rows: usize) -> Self {
        let none = Choice::of(0);
        Self {
            levels,
            rows,
            early: none,
            late: none,
            columns: none,
            swap: none,
            apart: none,
            turn: none,
            whole: none,
            first: 0,
            streams: false,
            kind: Kind::Whole,
            by_columns: false,
            swapped: false,
            shared: false,
        }
    }

    /// The plan that parameters name.
    pub(super) fn of(levels: usize, params: &Params) -> Self {
        let given = |name| params.get(name).copied().unwrap_or(0);
        let choice = |name| Choice::of(given(name));
        Self {
            early: choice("early"),
            late: choice("late"),
            columns: choice("columns"),
            swap: choice("swap"),
            apart: choice("apart"),
            turn: choice("turn"),
            whole: choice("whole"),
            first: given("first"),
            ..Self::plain(levels, given("rows"))
        }
    }

    /// `x - y` modulo `2^(w length)`, and the borrow as a mask.
    pub(super) fn difference(&self, f: &mut Words, x: &[Word], y: &[Word]) -> (Vec<Word>, Word) {
        let known = self.shared.then(|| known_difference(f, x, y)).flatten();
        known.unwrap_or_else(|| difference(f, x, y))
    }

    pub(super) fn at(&self, choice: Choice) -> usize {
        choice.0[self.kind as usize]
    }

    /// From which word on the lower half with the upper one is summed up before the middle product, whose plan has so
    /// many levels: what is added only when that is there need not be stored; the half that signs correct before must.
    pub(super) fn stored_from(&self, low: usize, levels: usize) -> usize {
        match self.at(self.apart) {
            1 if levels > 0 => low,
            2 => low,
            3 if matches!(self.at(self.late), 1 | 4) => 2 * low,
            _ => 0,
        }
    }

    /// The plan for each of the three products where the middle one comes first: that of a whole one.
    pub(super) fn half(&self) -> Self {
        Self {
            levels: self.levels - 1,
            first: self.first - 1,
            streams: false,
            ..*self
        }
    }

    /// The plan for one of the three products.
    pub(super) fn child(&self, kind: Kind) -> Self {
        Self {
            levels: match self.at(self.whole) & kind.bit() {
                0 => self.levels - 1,
                _ => 0,
            },
            first: self.first.saturating_sub(1),
            streams: false,
            kind,
            ..self.at_the_bottom(kind)
        }
    }

    /// The same, as it is at the bottom for a product of that kind.
    fn at_the_bottom(&self, kind: Kind) -> Self {
        Self {
            by_columns: self.at(self.columns) & kind.bit() > 0,
            swapped: self.at(self.swap) & kind.bit() > 0,
            ..*self
        }
    }
}

/// The plans that are tried.
pub(super) fn defaults(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    // Products of 3 to 20 words at the bottom.
    let mut levels: Vec<usize> = (1..8)
        .filter(|l| (3..=20).contains(&n.div_ceil(1 << l)))
        .collect();
    levels.sort_by_key(|l| n.div_ceil(1 << l).abs_diff(9));
    if n > LARGE {
        levels.truncate(1);
    }
    let (sets, most) = match (facts.free_registers >= MANY, n > LARGE) {
        (true, false) => (MANY_REGISTERS, usize::MAX),
        (true, true) => (LARGE_NUMBERS, usize::MAX),
        (false, false) => (FEW_REGISTERS, usize::MAX),
        (false, true) => (FEW_REGISTERS, 1),
    };
    let tried = |levels: &usize| {
        let levels = *levels;
        let bottom = n.div_ceil(1 << levels);
        let sets = plans::of_use(sets).take(most);
        let sets = sets.filter(move |set| bottom <= set.bottom);
        let sets = sets.filter(move |set| levels > 1 || !set.needs_two_levels());
        sets.map(move |set| set.params(levels))
    };
    levels.iter().flat_map(tried).collect()
}

/// `-p levels=1 ...`, as many as leave products of two words; of large numbers what is usually best.
pub(super) fn every_level(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    let most = n.ilog2().max(1) as usize;
    // With few registers shorter products at the bottom pay, too.
    let bottom = match facts.free_registers >= MANY {
        true => 6..=12,
        false => 3..=12,
    };
    (1..=most)
        .filter(|levels| n <= LARGE || bottom.contains(&n.div_ceil(1 << levels)))
        .map(|levels| Params::from([("levels", levels)]))
        .collect()
}

/// The plans that serve for a product within another method.
fn inner_sets(facts: &Facts) -> Vec<&'static Set> {
    match facts.free_registers >= MANY {
        true => {
            let many: Vec<_> = plans::of_use(MANY_REGISTERS).collect();
            let usual = [13, 14, 15, 16, 17, 18, 0, 1, 5].map(|i| many[i]);
            let large = plans::of_use(LARGE_NUMBERS).last();
            usual
                .into_iter()
                .chain(large)
                .chain(plans::of_use(FOLDED))
                .collect()
        }
        false => plans::of_use(FEW_REGISTERS).take(3).collect(),
    }
}

/// How many there are.
pub(super) fn inner_plans(facts: &Facts) -> usize {
    inner_sets(facts).len()
}

/// Three products that one recombination takes: for how many words each plan was found, and how those of the middle, the
/// low and the high one are called.
const TRIPLES: [(usize, &str); 3] = [(12, "joined-12"), (16, "joined-16"), (16, "joined-16-b")];

/// The plans of few registers that serve for all three, down to products of 8 words.
fn few(number: usize) -> Option<&'static Set> {
    let sets: Vec<_> = plans::of_use(FEW_REGISTERS).collect();
    sets.get(number).or(sets.last()).copied()
}

/// The numbers of those for products of `n` words: found for about as many.
pub(super) fn triples(n: usize, facts: &Facts) -> Vec<usize> {
    if facts.free_registers < MANY {
        return (0..=last_triple(facts)).collect();
    }
    let far = |number: &usize| TRIPLES[*number].0.abs_diff(n);
    let nearest = (0..TRIPLES.len()).map(|number| far(&number)).min();
    let all = 0..TRIPLES.len();
    all.filter(|number| Some(far(number)) == nearest).collect()
}

/// The largest number of one.
pub(super) fn last_triple(facts: &Facts) -> usize {
    match facts.free_registers >= MANY {
        true => TRIPLES.len() - 1,
        false => plans::of_use(FEW_REGISTERS).count() - 1,
    }
}

/// The plan of one product of triple `number`, of `n` words.
pub(super) fn triple_plan(n: usize, number: usize, kind: Kind, facts: &Facts) -> Plan {
    let part = match kind {
        Kind::M => 0,
        Kind::L | Kind::Whole => 1,
        Kind::Z => 2,
    };
    let many = facts.free_registers >= MANY;
    let set = match many {
        true => plans::of_use(TRIPLES[number.min(TRIPLES.len() - 1)].1).nth(part),
        false => few(number),
    };
    let Some(set) = set else {
        return Plan::plain(0, 0).at_the_bottom(kind);
    };
    let bottom = if many { set.bottom } else { set.bottom.min(8) };
    let levels = (0..).find(|l| n.div_ceil(1 << l) <= bottom);
    let levels = levels.unwrap_or(0);
    Plan::of(levels, &set.params(levels)).at_the_bottom(kind)
}

/// A product inside another method.
#[derive(Clone, Copy)]
pub(super) struct Inner {
    /// Which of the plans for such products.
    pub number: usize,
    /// How often it is halved; without: until 8 words are left.
    pub levels: Option<usize>,
    /// Are differences shared with other products?
    pub shared: bool,
}

impl Inner {
    /// By plan `number`, with differences that other products share.
    pub(super) fn shared(number: usize) -> Self {
        Self {
            number,
            levels: None,
            shared: true,
        }
    }
}

/// Its plan, for `n` words.
pub(super) fn inner_plan(n: usize, how: Inner, facts: &Facts) -> Plan {
    let sets = inner_sets(facts);
    let set = sets[how.number.min(sets.len() - 1)];
    let small = || (0..).find(|l| n.div_ceil(1 << l) <= set.bottom.min(8));
    let levels = how.levels.or_else(small).unwrap_or(0);
    Plan {
        shared: how.shared,
        ..Plan::of(levels, &set.params(levels))
    }
}
