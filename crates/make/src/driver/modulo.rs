//! Products modulo a number at run time: `x = x y / 2^n` and `x = x^2 / 2^n`, from kernels.
//!
//! Either the kernels are Montgomery's products themselves, or the driver composes them of plain ones:
//! of a product `t < 2^(2n)` it takes `q = t m' mod 2^n` with `m' = -m^-1 mod 2^n`, and
//! `x = (t + q m) / 2^n < 2^n + m`, less `m` if that is not below `2^n`. Then plain products, which
//! Karatsuba makes cheap, do all the work, and the code is that of a product, a square and their halves. Or one
//! kernel does so, with a modulus that folds.
//!
//! Of `q m` the lower half is known, `-t mod 2^n`, so that two products of halves do instead of three (`known_low`).

use std::collections::BTreeMap;
use std::str::FromStr;

use spec::modulus::{Modular, Modulus, Reduce};
use spec::{Op, folded};

use crate::budget::Budget;
use crate::driver::{Action, Cell, Driver, MultiplyAdd, Role, Stored, To};
use crate::request::{Demands, Request};

/// Where products modulo a number come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Products {
    /// Kernels `montmul` and `montsqr`.
    Montgomery,
    /// Kernels `mul` and `sqr`, and those of halves for the quotient.
    Composed,
    /// Kernels `mul` and `sqr`, and `redc` modulo an operand that folds.
    Folded,
}

impl Products {
    /// What is sensible for numbers of so many words: an unrolled reduction of more is larger than
    /// the memory of the machines whose words are small.
    pub fn usual(words: usize) -> Self {
        match words {
            0..=40 => Products::Montgomery,
            _ if words.is_multiple_of(4) => Products::Folded,
            _ => Products::Composed,
        }
    }

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Products::Montgomery => "montgomery",
            Products::Composed => "composed",
            Products::Folded => "folded",
        }
    }
}

impl FromStr for Products {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Products::Montgomery, Products::Composed, Products::Folded];
        let found = all.into_iter().find(|p| p.name() == text);
        found.ok_or_else(|| {
            format!("there are no products {text}: try montgomery, composed or folded")
        })
    }
}

/// The numbers that products modulo `m` work on. All but `m` are below `2^n` at any time.
#[derive(Clone, Debug)]
pub struct Modulo {
    pub x: Stored,
    pub y: Stored,
    /// `m`, and `m'` behind it; none if they are in the kernels, whose results are below `m` then.
    pub m: Option<Stored>,
    /// A number that waits, where kernels make whole products.
    pub z: Option<Stored>,
    how: How,
}

/// What the driver does for a product.
#[derive(Clone, Debug)]
enum How {
    /// Calls kernels, which write beside `x`, so that two after another end where they began.
    Kernels {
        next: Stored,
        square: usize,
        multiply: usize,
    },
    /// Does these steps.
    Steps {
        square: Vec<Action>,
        multiply: Vec<Action>,
        /// What both end with: `x` becomes the number at `t`, reduced.
        reduce: Action,
        t: Stored,
        /// What follows from `m` and `m'`.
        follows: Vec<Action>,
    },
}

/// A product that changes `x`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factor {
    /// `x = x^2 / 2^n mod m`.
    Itself,
    /// `x = x y / 2^n mod m`.
    Y,
}

/// The kernel of `d` for operands of `bits` bits, by the cheapest method.
pub fn kernel(d: &mut Driver, op: Op, bits: u32) -> usize {
    let known = |k: &Request| k.op == op && k.size == bits.into();
    if let Some(index) = d.kernels.iter().position(known) {
        return index;
    }
    let modular = Modular {
        modulus: match op {
            Op::Redc => Modulus::RuntimeFolded,
            _ => d.modulus.clone(),
        },
        reduce: match d.modulus {
            Modulus::Fixed { .. } => Reduce::Full,
            _ => Reduce::Almost,
        },
        shift: 0,
        times: 0,
    };
    // What the kernels' time tells belongs to the verdict on the driver.
    let demands = Demands::variable_time();
    let modular = op.is_modular().then_some(modular);
    d.kernels.push(request(op, bits, modular, demands));
    d.kernels.len() - 1
}

/// The cheapest kernel for operands of `bits` bits.
pub(super) fn request(op: Op, bits: u32, modular: Option<Modular>, demands: Demands) -> Request {
    Request {
        op,
        size: bits.into(),
        modular,
        method: None,
        params: BTreeMap::new(),
        plan: None,
        max_regs: None,
        style: None,
        budget: Budget::default(),
        room: None,
        demands,
        drop: None,
        search: false,
    }
}

fn call(kernel: usize, pointers: &[Stored]) -> Action {
    let pointers = pointers.iter().map(|p| p.at).collect();
    Action::Call { kernel, pointers }
}

/// Bits that follow `m` in a driver for numbers of `bits` bits: `m'`, and what folds.
pub fn inverse_bits(products: Products, bits: u32, word: usize) -> u32 {
    match products {
        Products::Montgomery => 8 * word as u32,
        Products::Composed => bits,
        Products::Folded => bits / 2 + bits,
    }
}

impl Modulo {
    /// Room for the numbers, and kernels that work on them.
    pub fn new(d: &mut Driver, products: Products, bits: u32) -> Self {
        let inverse = inverse_bits(products, bits, d.word);
        let y = d.field("y", bits, Role::Work, "the factor");
        let m = |d: &mut Driver, more: u32| {
            let meaning = "modulus, and what follows from it";
            d.field("m", bits + inverse + more, Role::Work, meaning)
        };
        match (products, &d.modulus) {
            (Products::Composed, Modulus::Runtime) => {
                let m = m(d, 0);
                Self::composed(d, bits, [y, m])
            }
            (Products::Folded, Modulus::Runtime) => {
                let word = 8 * d.word as u32;
                let following = folded::following((bits / word) as usize) as u32 * word;
                let m = m(d, following - inverse);
                Self::folded(d, bits, [y, m])
            }
            (_, modulus) => {
                let operand = *modulus == Modulus::Runtime;
                let z = d.field("z", bits, Role::Work, "a number that waits");
                let m = operand.then(|| m(d, 0));
                Self::of_kernels(d, bits, [y, z], m)
            }
        }
    }

    fn of_kernels(d: &mut Driver, bits: u32, [y, z]: [Stored; 2], m: Option<Stored>) -> Self {
        let x = d.field("x", bits, Role::Work, "the product so far");
        let next = d.field("next", bits, Role::Work, "the next product");
        let square = kernel(d, Op::Montsqr, bits);
        let multiply = kernel(d, Op::Montmul, bits);
        let how = How::Kernels {
            next,
            square,
            multiply,
        };
        let z = Some(z);
        Self { x, y, m, z, how }
    }

    fn composed(d: &mut Driver, bits: u32, [y, m]: [Stored; 2]) -> Self {
        let bytes = y.bytes;
        let t = d.field("t", 2 * bits, Role::Work, "a product");
        let q = d.field("quotient", bits, Role::Work, "t m' mod 2^n");
        let (square, product) = (kernel(d, Op::Sqr, bits), kernel(d, Op::Mul, bits));
        let (low, inverse) = (t.part(0, bytes), m.part(bytes, bytes));
        let waiting = waiting(d, bits);
        let mut steps = low_product(d, bits, [q, low, inverse], &waiting);
        let (x, follows) = match is_halved(d, bits) {
            true => {
                let x = d.field("x", bits, Role::Work, "the product so far");
                let (more, halves) = known_low(d, bits, [x, t, q, m]);
                steps.extend(more);
                (x, sum_of_halves(m.part(0, bytes), halves))
            }
            false => {
                let p = d.field("sum", 2 * bits, Role::Work, "t + quotient m; above it x");
                // x has been used by now: it lies where q m and then the sum come to lie.
                let x = p.part(bytes, bytes);
                steps.extend([
                    call(product, &[p, q, m]),
                    Action::MultiplyAdd(MultiplyAdd::add(p, t.at).out(Cell::Carry)),
                    Action::MultiplyAdd(MultiplyAdd::subtract(x, m.at).times(Cell::Carry)),
                ]);
                (x, Vec::new())
            }
        };
        d.routines.push(steps);
        let reduce = Action::Do(d.routines.len() - 1);
        let how = How::Steps {
            square: vec![call(square, &[t, x]), reduce.clone()],
            multiply: vec![call(product, &[t, x, y]), reduce.clone()],
            reduce,
            t,
            follows,
        };
        let (m, z) = (Some(m), None);
        Self { x, y, m, z, how }
    }

    fn folded(d: &mut Driver, bits: u32, [y, m]: [Stored; 2]) -> Self {
        let t = d.field("t", 2 * bits, Role::Work, "a product");
        let x = d.field("x", bits, Role::Work, "the product so far");
        let [square, product, reduce] = [Op::Sqr, Op::Mul, Op::Redc].map(|op| kernel(d, op, bits));
        let reduce = call(reduce, &[x, t, m]);
        let mut follows = differences(d, [m, t], y.bytes / d.word);
        if !follows.is_empty() {
            d.routines.push(follows);
            follows = vec![Action::Do(d.routines.len() - 1)];
        }
        let how = How::Steps {
            square: vec![call(square, &[t, x]), reduce.clone()],
            multiply: vec![call(product, &[t, x, y]), reduce.clone()],
            reduce,
            t,
            follows,
        };
        let (m, z) = (Some(m), None);
        Self { x, y, m, z, how }
    }

    /// `x = x y / 2^n mod m`.
    pub fn multiply(&self) -> Vec<Action> {
        self.products(&[Factor::Y])
    }

    /// `x = x^2 / 2^n mod m`.
    pub fn square(&self) -> Vec<Action> {
        self.products(&[Factor::Itself])
    }

    /// Products one after another.
    pub fn products(&self, factors: &[Factor]) -> Vec<Action> {
        let mut steps = Vec::new();
        let (mut x, mut free) = (self.x, self.x);
        for factor in factors {
            match (&self.how, factor) {
                (How::Steps { square, .. }, Factor::Itself) => steps.extend(square.clone()),
                (How::Steps { multiply, .. }, Factor::Y) => steps.extend(multiply.clone()),
                (How::Kernels { next, .. }, _) => {
                    let to = if x == self.x { *next } else { free };
                    steps.push(self.call(*factor, to, x));
                    (x, free) = (to, x);
                }
            }
        }
        if x != self.x {
            steps.push(copy(self.x, x));
        }
        steps
    }

    /// `x = number / 2^n mod m`; in steps of a number as long as a product, too.
    pub fn reduced(&self, number: Stored) -> Vec<Action> {
        let mut steps = Vec::new();
        match &self.how {
            How::Steps { t, reduce, .. } => {
                steps.push(copy(*t, number));
                if number.bytes < t.bytes {
                    let to = t.part(number.bytes, t.bytes - number.bytes);
                    steps.push(Action::Number { to, value: 0 });
                }
                steps.push(reduce.clone());
            }
            How::Kernels { .. } => {
                let one = |to: Stored| Action::Number { to, value: 1 };
                steps.extend(match number == self.x {
                    true => vec![one(self.y)],
                    false => vec![copy(self.y, number), one(self.x)],
                });
                steps.extend(self.multiply());
            }
        }
        steps
    }

    /// Are products made in steps? Then a square takes less, and reductions stand alone.
    pub fn is_of_steps(&self) -> bool {
        matches!(self.how, How::Steps { .. })
    }

    /// A square, and after it what `choose` makes of the steps of a product by `y` and of those of none.
    pub fn square_and_perhaps(
        &self,
        choose: impl FnOnce(&[Action], &[Action]) -> Action,
    ) -> Vec<Action> {
        let (mut steps, multiply, none) = match &self.how {
            How::Steps {
                square, multiply, ..
            } => (square.clone(), multiply.clone(), Vec::new()),
            How::Kernels { next, .. } => (
                vec![self.call(Factor::Itself, *next, self.x)],
                vec![self.call(Factor::Y, self.x, *next)],
                vec![copy(self.x, *next)],
            ),
        };
        steps.push(choose(&multiply, &none));
        steps
    }

    fn call(&self, factor: Factor, to: Stored, x: Stored) -> Action {
        let (kernel, mut places) = match (&self.how, factor) {
            (How::Kernels { square, .. }, Factor::Itself) => (*square, vec![to, x]),
            (How::Kernels { multiply, .. }, Factor::Y) => (*multiply, vec![to, x, self.y]),
            // Of other products there is no single call.
            (How::Steps { .. }, _) => return copy(to, x),
        };
        places.extend(self.m);
        call(kernel, &places)
    }

    /// `m` and `m'` from where the caller put them, and what follows from them.
    pub fn modulo(&self, from: Stored) -> Vec<Action> {
        let Some(m) = self.m else { return Vec::new() };
        let mut steps = vec![copy(m, from)];
        if let How::Steps { follows, .. } = &self.how {
            steps.extend(follows.clone());
        }
        steps
    }

    /// `x`, at most `m`, becomes less than `m`.
    pub fn canonical(&self) -> Vec<Action> {
        let Some(m) = self.m else { return Vec::new() };
        vec![
            Action::MultiplyAdd(MultiplyAdd::subtract(self.x, m.at).out(Cell::Borrow)),
            Action::MultiplyAdd(MultiplyAdd::add(self.x, m.at).times(Cell::Borrow)),
        ]
    }

    /// `x = x + z`, less an operand `m` once or twice where it is not below `2^n`, for `m >= 2^(n-1)`.
    pub fn add(&self) -> Vec<Action> {
        let (Some(m), Some(z)) = (self.m, self.z) else {
            return Vec::new();
        };
        let less = MultiplyAdd::subtract(self.x, m.at).times(Cell::Carry);
        vec![
            Action::MultiplyAdd(MultiplyAdd::add(self.x, z.at).out(Cell::Carry)),
            Action::MultiplyAdd(less.out(Cell::Borrow)),
            Action::Fewer(Cell::Carry, Cell::Borrow),
            Action::MultiplyAdd(less),
        ]
    }
}

/// Is `q m` made of two products of halves? Of fewer words the sums around them take as long as a third.
fn is_halved(d: &Driver, bits: u32) -> bool {
    let words = bits / (8 * d.word as u32);
    words >= 16 && words.is_multiple_of(2)
}

/// The sum of the halves of `m`.
fn sum_of_halves(m: Stored, to: Stored) -> Vec<Action> {
    let half = m.bytes / 2;
    let (sum, top) = (to.part(0, half), to.part(half, to.bytes - half));
    vec![
        copy(sum, m),
        Action::MultiplyAdd(MultiplyAdd::add(sum, m.at + half).out(Cell::Halves)),
        Action::Number { to: top, value: 0 },
        only(top, Cell::Halves),
    ]
}

/// Makes the differences behind a modulus `m` of `n` words that folds; what is at `room` is lost.
fn differences(d: &Driver, [m, room]: [Stored; 2], n: usize) -> Vec<Action> {
    let words = |p: Stored, from: usize, len: usize| p.part(d.word * from, d.word * len);
    let mut steps = Vec::new();
    for level in folded::levels(n) {
        let half = level.half;
        let [low, high] = [0, half].map(|from| words(room, from, half));
        let mask = words(room, 2 * half, 1);
        let difference = vec![
            Action::Take(low),
            Action::Take(high),
            Action::MultiplyAdd(MultiplyAdd::subtract(high, low.at).out(Cell::Borrow)),
            Action::Number { to: mask, value: 0 },
            negated(only(mask, Cell::Borrow)),
            Action::Copy {
                to: To::Entry,
                from: words(room, half, half + 1),
            },
        ];
        steps.push(Action::Table(words(m, level.at, 0).at));
        for run in level.runs {
            // A number is taken from the word on that was to come next.
            steps.push(Action::Rewind(words(m, run.at, 0)));
            let mut group = repeat(run.numbers, Cell::Inner, difference.clone());
            let skipped = words(room, 0, run.skipped);
            group.extend((run.skipped > 0).then_some(Action::Take(skipped)));
            steps.extend(repeat(run.groups, Cell::Outer, group));
        }
    }
    steps
}

/// Subtracts instead.
fn negated(step: Action) -> Action {
    match step {
        Action::MultiplyAdd(sum) => Action::MultiplyAdd(MultiplyAdd {
            subtract: true,
            ..sum
        }),
        step => step,
    }
}

/// `to = to + carry`.
fn only(to: Stored, carry: Cell) -> Action {
    Action::MultiplyAdd(MultiplyAdd {
        from: None,
        ..MultiplyAdd::add(to, 0).with(carry)
    })
}

/// `x = (t + q m) / 2^n < 2^n + m`, less `m` if that is not below `2^n`, where `q = t m' mod 2^n`; and room for
/// `m_0 + m_1`.
///
/// With `X = 2^(n/2)`, `q = q_0 + X q_1`, `m = m_0 + X m_1`, `L = q_0 m_0`, `H = q_1 m_1`, `S = (q_0 + q_1)(m_0 + m_1)`,
/// Karatsuba has `q m = L + X (S - H - L) + X^2 H`. Here `q m = -t mod X^2`, so that `L` follows from the others:
/// of `V = S - H + t_0 + t_1 = v_0 + X v_1` the low word gives `L = -(t_0 + X v_0) mod X^2`. This is
/// `e X^2 - t_0 - X v_0`, `e = 0` if `t_0 = 0` (then `q_0` is 0, too), else 1, and what remains is
/// `x = t_2 + X t_3 + H + v_1 + v_0 + e - e X`.
fn known_low(d: &mut Driver, bits: u32, [x, t, q, m]: [Stored; 4]) -> (Vec<Action>, Stored) {
    let word = 8 * d.word as u32;
    let halves = d.field(
        "halves",
        bits / 2 + word,
        Role::Work,
        "the halves of the modulus, added",
    );
    let s = d.field(
        "middle",
        bits + word,
        Role::Work,
        "(q0 + q1)(m0 + m1) - q1 m1",
    );
    let half = x.bytes / 2;
    let part = |p: Stored, i: usize| p.part(half * i, half);
    let ([q0, q1], [v0, v1]) = ([0, 1].map(|i| part(q, i)), [0, 1].map(|i| part(s, i)));
    // What lies above v_1; later all that is to be added to the upper half of x beside its words.
    let small = s.part(2 * half, d.word);
    let product = kernel(d, Op::Mul, bits / 2);
    let sum = |to: Stored, from: Stored| MultiplyAdd::add(to, from.at);
    let steps = vec![
        call(product, &[x, q1, part(m, 1)]),
        Action::MultiplyAdd(sum(q0, q1).out(Cell::Carry)),
        call(product, &[s, q0, halves]),
        Action::Number {
            to: small,
            value: 0,
        },
        Action::MultiplyAdd(sum(s.part(half, half + d.word), halves).times(Cell::Carry)),
        Action::MultiplyAdd(sum(v1, q0).times(Cell::Halves).out(Cell::Carry)),
        only(small, Cell::Carry),
        Action::MultiplyAdd(MultiplyAdd::subtract(s.part(0, 2 * half), x.at).out(Cell::Borrow)),
        negated(only(small, Cell::Borrow)),
        Action::MultiplyAdd(sum(v0, t).out(Cell::Carry)),
        Action::MultiplyAdd(sum(v0, part(t, 1)).out(Cell::Borrow)),
        Action::MultiplyAdd(sum(part(x, 0), v1).with(Cell::Carry).out(Cell::Carry)),
        only(small, Cell::Carry),
        Action::MultiplyAdd(sum(part(x, 0), v0).with(Cell::Borrow).out(Cell::Carry)),
        only(small, Cell::Carry),
        Action::NotZero {
            to: Cell::Carry,
            of: part(t, 0),
        },
        Action::MultiplyAdd(sum(x, part(t, 2)).with(Cell::Carry).out(Cell::Borrow)),
        negated(only(small, Cell::Carry)),
        Action::AddWord {
            to: part(x, 1),
            word: small.at,
            lacks: Cell::Carry,
        },
        Action::Fewer(Cell::Borrow, Cell::Carry),
        Action::MultiplyAdd(MultiplyAdd::subtract(x, m.at).times(Cell::Borrow)),
    ];
    (steps, halves)
}

/// The fewest bits of a product `mod 2^n` that is made of halves: below, its kernel is cheap.
const SPLIT: u32 = 1024;

/// Is such a product made of halves?
fn is_split(d: &Driver, bits: u32) -> bool {
    bits >= SPLIT && (bits / 2).is_multiple_of(8 * d.word as u32)
}

/// Room for what waits to be added, a number for each level of halves.
fn waiting(d: &mut Driver, bits: u32) -> Vec<Stored> {
    const NAMES: [&str; 4] = ["low0", "low1", "low2", "low3"];
    let mut list = Vec::new();
    for (level, name) in NAMES.into_iter().enumerate() {
        let bits = bits >> level;
        if !is_split(d, bits) {
            break;
        }
        list.push(d.field(name, bits / 2, Role::Work, "half of a quotient"));
    }
    list
}

/// `r = a b mod 2^n`: `r = a_0 b_0 + 2^(n/2) (a_0 b_1 + a_1 b_0 mod 2^(n/2))`, the latter in the same way.
fn low_product(
    d: &mut Driver,
    bits: u32,
    [r, a, b]: [Stored; 3],
    waiting: &[Stored],
) -> Vec<Action> {
    let Some((sum, rest)) = waiting.split_first() else {
        let kernel = kernel(d, Op::Mullo, bits);
        return vec![call(kernel, &[r, a, b])];
    };
    let parts = |p: Stored| [p.part(0, sum.bytes), p.part(sum.bytes, sum.bytes)];
    let ([_, high], [a0, a1], [b0, b1]) = (parts(r), parts(a), parts(b));
    let product = kernel(d, Op::Mul, bits / 2);
    let mut steps = vec![call(product, &[r, a0, b0])];
    for (x, y) in [(a0, b1), (a1, b0)] {
        steps.extend(low_product(d, bits / 2, [*sum, x, y], rest));
        steps.push(Action::MultiplyAdd(MultiplyAdd::add(high, sum.at)));
    }
    steps
}

/// `to = from`, as much as `to` holds.
pub fn copy(to: Stored, from: Stored) -> Action {
    let from = from.part(0, to.bytes.min(from.bytes));
    Action::Copy {
        to: To::Place(to.at),
        from,
    }
}

/// The body so many times.
pub(super) fn repeat(times: usize, counter: Cell, body: Vec<Action>) -> Vec<Action> {
    match times {
        0 => Vec::new(),
        1 => body,
        _ => vec![Action::Repeat {
            times,
            counter,
            body,
        }],
    }
}
