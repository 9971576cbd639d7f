//! The plans of Karatsuba's multiplication: how each product of the tree is made, and which are tried.

use spec::Spec;

use crate::facts::Facts;
use crate::method::middle_signs::{difference, known_difference};
use crate::method::signature::Params;
use crate::schedule::{Word, Words};

/// Words from which only what is usually best is tried: each trial takes seconds then.
const LARGE: usize = 40;

/// Free registers from which more of a product stays in them than its words.
const MANY: usize = 20;

/// A plan.
type Set = [usize; 10];

/// What is tried: the most words at the bottom, then rows, columns, swap, early, late, apart, turn, whole, and
/// how many levels from the bottom take the middle product last.
/// Four digits were found by a search over all of them.
const FEW_REGISTERS: [Set; 6] = [
    [99, 0, 0, 0, 1, 2, 0, 0, 0, 99],
    [99, 0, 0, 0, 0, 2, 0, 0, 0, 99],
    [99, 0, 0, 0, 0, 1, 0, 0, 0, 99],
    [6, 6, 0, 0, 0, 1, 0, 0, 0, 99],
    [6, 6, 2, 0, 1, 1, 0, 0, 0, 99],
    [6, 6, 3, 0, 1, 2, 0, 0, 0, 99],
];
const MANY_REGISTERS: [Set; 20] = [
    [99, 0, 0, 0, 2, 1, 2, 0, 0, 99],
    [99, 0, 0, 0, 2, 1, 2, 1, 0, 99],
    [99, 0, 0, 0, 2, 2, 2, 1, 0, 99],
    [99, 0, 0, 0, 1, 2, 2, 0, 0, 99],
    [99, 0, 0, 0, 2, 2, 1, 0, 0, 99],
    [99, 0, 0, 0, 0, 4, 3, 0, 0, 99],
    [99, 0, 0, 0, 1222, 3111, 2020, 1, 0, 99],
    [99, 0, 0, 0, 0, 2, 0, 0, 0, 99],
    [8, 8, 0, 0, 2, 2, 0, 0, 0, 99],
    [8, 8, 2, 0, 2, 1, 2, 0, 0, 99],
    [8, 8, 3, 0, 2, 1, 0, 0, 0, 99],
    [8, 8, 3, 0, 2, 1, 2, 1, 0, 99],
    [8, 8, 3, 0, 1, 2, 2, 1, 0, 99],
    [5, 5, 6220, 6246, 1222, 3113, 111, 0, 0, 99],
    [6, 6, 7262, 6016, 1212, 121, 101, 0, 0, 99],
    [4, 4, 5020, 7553, 323, 1030, 3001, 1110, 3327, 99],
    [5, 5, 1230, 2225, 201, 4302, 3131, 110, 3101, 99],
    [6, 10, 2307, 5454, 233, 4113, 3212, 1010, 3107, 99],
    [8, 5, 6573, 3476, 222, 1213, 3232, 100, 670, 99],
    [99, 0, 0, 0, 2, 1, 2, 100, 0, 1],
];
const MANY_REGISTERS_LARGE: [Set; 5] = [
    [99, 0, 0, 0, 2, 1, 2, 100, 0, 1],
    [99, 0, 0, 0, 2, 2, 2, 1, 0, 99],
    [99, 0, 0, 0, 1, 2, 2, 0, 0, 99],
    [99, 0, 0, 0, 2, 2, 1, 0, 0, 99],
    [99, 6, 1335, 6724, 2322, 1131, 3221, 1010, 0, 1],
];

/// For the products of a reduction that folds: one of halves, and the sum of two.
const FOLDED: [Set; 2] = [
    [8, 5, 1335, 6724, 2122, 1131, 3221, 1010, 0, 99],
    [99, 6, 1132, 6674, 132, 1331, 3221, 1010, 0, 99],
];

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
    let sets = match (facts.free_registers >= MANY, n > LARGE) {
        (true, false) => &MANY_REGISTERS[..],
        (true, true) => &MANY_REGISTERS_LARGE,
        (false, false) => &FEW_REGISTERS,
        (false, true) => &FEW_REGISTERS[..1],
    };
    let tried = |levels: &usize| {
        let levels = *levels;
        let bottom = n.div_ceil(1 << levels);
        let pointless = move |set: &&Set| levels < 2 && (set[8] > 0 || set[9] < 99);
        let sets = sets.iter().filter(move |set| bottom <= set[0]);
        let sets = sets.filter(move |set| !pointless(set));
        sets.map(move |set| named(set, levels))
    };
    levels.iter().flat_map(tried).collect()
}

/// A plan as parameters; those of one level that are not asked for are left out.
fn named(set: &Set, levels: usize) -> Params {
    let [
        _,
        rows,
        columns,
        swap,
        early,
        late,
        apart,
        turn,
        whole,
        last,
    ] = *set;
    let mut params = Params::from([
        ("levels", levels),
        ("rows", rows),
        ("columns", columns),
        ("swap", swap),
        ("early", early),
        ("late", late),
        ("apart", apart),
        ("turn", turn),
        ("whole", whole),
    ]);
    if levels > last {
        params.insert("first", levels - last);
    }
    params
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
fn inner_sets(facts: &Facts) -> Vec<Set> {
    match facts.free_registers >= MANY {
        true => {
            let usual = [13, 14, 15, 16, 17, 18, 0, 1, 5].map(|i| MANY_REGISTERS[i]);
            let [.., large] = MANY_REGISTERS_LARGE;
            usual.into_iter().chain([large]).chain(FOLDED).collect()
        }
        false => FEW_REGISTERS[..3].to_vec(),
    }
}

/// How many there are.
pub(super) fn inner_plans(facts: &Facts) -> usize {
    inner_sets(facts).len()
}

/// Three products that one recombination takes: for how many words each plan was found, and those of the middle, the
/// low and the high one.
const TRIPLES: [(usize, [Set; 3]); 3] = [
    (
        12,
        [
            [4, 5, 6056, 6466, 2012, 1031, 1201, 1101, 7757, 99],
            [8, 9, 3372, 2215, 2221, 1112, 2200, 1100, 6653, 99],
            [12, 0, 0, 0, 0, 0, 0, 1000, 0, 99],
        ],
    ),
    (
        16,
        [
            [8, 7, 1171, 5075, 2202, 1331, 2312, 1101, 6706, 99],
            [8, 4, 5514, 3323, 2212, 1122, 2220, 1101, 4417, 99],
            [8, 11, 7773, 3132, 2221, 3334, 2020, 100, 1312, 99],
        ],
    ),
    (
        16,
        [
            [8, 6, 5536, 6116, 2301, 1114, 2011, 100, 304, 99],
            [4, 5, 7077, 7521, 322, 1002, 3032, 1101, 3654, 99],
            [4, 5, 2103, 7721, 210, 1213, 3032, 1101, 3000, 99],
        ],
    ),
];

/// One for all three, down to products of 8 words.
fn few(number: usize) -> Set {
    let mut set = FEW_REGISTERS[number.min(FEW_REGISTERS.len() - 1)];
    set[0] = set[0].min(8);
    set
}

/// The numbers of those for products of `n` words: found for about as many.
pub(super) fn triples(n: usize, facts: &Facts) -> Vec<usize> {
    if facts.free_registers < MANY {
        return (0..FEW_REGISTERS.len()).collect();
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
        false => FEW_REGISTERS.len() - 1,
    }
}

/// The plan of one product of triple `number`, of `n` words.
pub(super) fn triple_plan(n: usize, number: usize, kind: Kind, facts: &Facts) -> Plan {
    let part = match kind {
        Kind::M => 0,
        Kind::L | Kind::Whole => 1,
        Kind::Z => 2,
    };
    let set = match facts.free_registers >= MANY {
        true => TRIPLES[number.min(TRIPLES.len() - 1)].1[part],
        false => few(number),
    };
    let levels = (0..).find(|l| n.div_ceil(1 << l) <= set[0]);
    let levels = levels.unwrap_or(0);
    Plan::of(levels, &named(&set, levels)).at_the_bottom(kind)
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
    let small = || (0..).find(|l| n.div_ceil(1 << l) <= set[0].min(8));
    let levels = how.levels.or_else(small).unwrap_or(0);
    Plan {
        shared: how.shared,
        ..Plan::of(levels, &named(&set, levels))
    }
}
