//! X25519 (RFC 7748, section 5): the multiple of a point of Curve25519 by a secret number, by its u-coordinate.
//!
//! Montgomery's ladder keeps two multiples of the point, `k P` and `(k + 1) P`, and doubles one of them for each bit. Which of
//! them is doubled is chosen, and where the multiples lie is not: the sum of both does not change if they are exchanged, so that
//! a pair is selected by whether the bit differs from the one before, in place of two exchanges.
//!
//! A scalar is clamped: bit 254 is 1, so the ladder begins behind it, and bits 2 to 0 are 0, so it ends in three doublings.
//! Numbers are below `2^256` all the time, and reduced at the end.

use num_bigint::BigUint;
use spec::modulus::{Modulus, Reduce};

use crate::driver::chain::Chain;
use crate::driver::field::Field;
use crate::driver::inversion::{self, Room};
use crate::driver::modulo::{copy, repeat};
use crate::driver::{Action, Cell, Driver, MultiplyAdd, Role, Stored};

/// Bits of a number.
const BITS: u32 = 256;

/// `(A - 2) / 4` of Curve25519, whose A is 486662.
const A24: u32 = 121_665;

/// Bytes that are cleared in a loop.
const PIECE: usize = 256;

/// What the kernels are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernels {
    /// One for each operation.
    All,
    /// Products, sums and differences: the fewest bytes of code.
    Few,
}

/// The fields of the driver.
#[derive(Clone, Copy)]
struct Places {
    /// u of the point.
    u: Stored,
    scalar: Stored,
    result: Stored,
    /// u = x / z of two multiples.
    x2: Stored,
    z2: Stored,
    x3: Stored,
    z3: Stored,
    /// Sums and differences.
    a: Stored,
    b: Stored,
    c: Stored,
    d: Stored,
}

impl Places {
    fn new(d: &mut Driver) -> Self {
        Self {
            result: d.field(
                "result",
                BITS,
                Role::Output,
                "u of the multiple, below the prime",
            ),
            scalar: d.field(
                "scalar",
                BITS,
                Role::Input,
                "the number; bits 255, 254 and 2 to 0 are not read",
            ),
            u: d.field(
                "u",
                BITS,
                Role::Input,
                "u of the point: any number below 2^256",
            ),
            x2: d.field("x2", BITS, Role::Work, "u = x2 / z2 of a multiple"),
            z2: d.field("z2", BITS, Role::Work, ""),
            x3: d.field(
                "x3",
                BITS,
                Role::Work,
                "u = x3 / z3 of the next, or of the one before",
            ),
            z3: d.field("z3", BITS, Role::Work, ""),
            a: d.field("a", BITS, Role::Work, "sums and differences"),
            b: d.field("b", BITS, Role::Work, ""),
            c: d.field("c", BITS, Role::Work, ""),
            d: d.field("d", BITS, Role::Work, ""),
        }
    }
}

/// A number and the one behind it.
fn pair(first: Stored) -> Stored {
    first.part(0, 2 * first.bytes)
}

/// The ladder in the making.
struct Ladder {
    driver: Driver,
    field: Field,
    kernels: Kernels,
    at: Places,
}

impl Ladder {
    /// `(x2 : z2) = 2 (X : Z)` from `a = X + Z` and `b = X - Z`: with `E = a^2 - b^2 = 4 X Z` these are `a^2 b^2` and
    /// `E (a^2 + A24 E)`. Writes `a`, `b`, `c` and `d`.
    fn doubled(&mut self) -> Vec<Action> {
        let (f, driver, at) = (&self.field, &mut self.driver, self.at);
        let mut steps = vec![
            f.square(driver, at.c, at.a),
            f.square(driver, at.d, at.b),
            f.product(driver, at.x2, at.c, at.d),
            f.difference(driver, at.b, at.c, at.d),
        ];
        steps.extend(match self.kernels {
            Kernels::All => vec![f.multiple(driver, at.a, at.b, A24)],
            Kernels::Few => vec![
                Action::Constant {
                    to: at.d,
                    value: A24.into(),
                },
                f.product(driver, at.a, at.b, at.d),
            ],
        });
        steps.extend([
            f.sum(driver, at.a, at.c, at.a),
            f.product(driver, at.z2, at.b, at.a),
        ]);
        steps
    }

    /// `to = x + z` and `less = x - z`.
    fn both(&mut self, [to, less]: [Stored; 2], x: Stored, z: Stored) -> [Action; 2] {
        let (f, driver) = (&self.field, &mut self.driver);
        [f.sum(driver, to, x, z), f.difference(driver, less, x, z)]
    }

    /// The pair that begins at `to` becomes that at `from` if the bit is 1. What is at `from` may be lost.
    fn select(&mut self, to: Stored, from: Stored) -> Action {
        match self.kernels {
            Kernels::All => {
                self.field
                    .select_pair(&mut self.driver, pair(to), pair(from), Cell::Digit)
            }
            Kernels::Few => Action::Swap {
                a: pair(to),
                b: from.at,
            },
        }
    }

    /// A bit of the scalar: the routine doubles what it chose. `(x2 : z2)` is the multiple that was doubled last, `(x3 : z3)` the
    /// other; their difference is the point, whose u is X over 1. With `a`, `b` of one and `c`, `d` of the other their sum
    /// is `(a d + b c)^2` over `u (a d - b c)^2`.
    fn step(&mut self, double: usize) -> Vec<Action> {
        let at = self.at;
        let mut steps = self.both([at.a, at.b], at.x2, at.z2).to_vec();
        steps.extend(self.both([at.c, at.d], at.x3, at.z3));
        // The carry is the bit before; the digit becomes 1 if the two differ, and the carry the bit.
        steps.extend([
            Action::NoDigit,
            Action::Bit,
            Action::Differ(Cell::Digit, Cell::Carry),
            Action::Differ(Cell::Carry, Cell::Digit),
        ]);
        let (f, driver) = (&self.field, &mut self.driver);
        steps.extend([
            f.product(driver, at.x3, at.d, at.a),
            f.product(driver, at.z3, at.c, at.b),
        ]);
        steps.push(self.select(at.a, at.c));
        steps.push(Action::Do(double));
        steps.extend(self.both([at.c, at.d], at.x3, at.z3));
        let (f, driver) = (&self.field, &mut self.driver);
        steps.extend([
            f.square(driver, at.x3, at.c),
            f.square(driver, at.a, at.d),
            f.product(driver, at.z3, at.u, at.a),
        ]);
        steps
    }

    /// The number at `x`, below `2^256`, becomes less than the prime `p`: less `p` as often as that leaves no borrow, which is twice at
    /// most, as `2^256 < 3 p`. The prime is put at `m`.
    fn reduced(&self, x: Stored, m: Stored) -> Vec<Action> {
        let mut steps = vec![Action::Constant {
            to: m,
            value: self.field.prime.clone(),
        }];
        let once = vec![
            Action::MultiplyAdd(MultiplyAdd::subtract(x, m.at).out(Cell::Borrow)),
            Action::MultiplyAdd(MultiplyAdd::add(x, m.at).times(Cell::Borrow)),
        ];
        steps.extend(repeat(2, Cell::Inner, once));
        steps
    }

    /// `x2 / z2`, reduced, becomes the result.
    fn quotient(&mut self) -> Vec<Action> {
        let at = self.at;
        let chain = match self.kernels {
            Kernels::All => inversion::chain(&self.field),
            Kernels::Few => Chain::bit_by_bit(&(&self.field.prime - 2u8)),
        };
        let mut slots = vec![at.x3, at.z3, at.c, at.d];
        let room = |slots| Room {
            pair: [at.a, at.b],
            slots,
        };
        while slots.len() + 1 < chain.slots {
            slots.push(self.driver.field(
                MORE[slots.len() % MORE.len()],
                BITS,
                Role::Work,
                "a power that is kept",
            ));
        }
        let (mut steps, inverse) =
            inversion::inverse(&mut self.driver, &self.field, &chain, at.z2, &room(slots));
        steps.push(
            self.field
                .product(&mut self.driver, at.result, at.x2, inverse),
        );
        steps.extend(self.reduced(at.result, at.a));
        steps
    }
}

/// Names of powers that find no place among the other numbers.
const MORE: [&str; 8] = [
    "power1", "power2", "power3", "power4", "power5", "power6", "power7", "power8",
];

/// The driver on a machine with words of `word` bytes. It clears what it worked in.
///
/// # Errors
/// A modulus that is no number (a defect of this tool).
pub fn driver(word: usize, kernels: Kernels) -> Result<Driver, String> {
    let modulus: Modulus = "25519".parse()?;
    let mut driver = Driver::modulo(word, modulus);
    let mut field = Field::of(&driver, BITS, Reduce::Almost).ok_or("the field has no prime")?;
    field.squares_are_products = kernels == Kernels::Few;
    let at = Places::new(&mut driver);
    let mut ladder = Ladder {
        driver,
        field,
        kernels,
        at,
    };
    let doubled = ladder.doubled();
    ladder.driver.routines.push(doubled);
    let double = ladder.driver.routines.len() - 1;
    let one = |to: Stored| Action::Number { to, value: 1 };
    // P and 2 P, for bit 254.
    let mut steps = vec![copy(at.x3, at.u), one(at.z3)];
    steps.extend(ladder.both([at.a, at.b], at.x3, at.z3));
    steps.push(Action::Do(double));
    steps.push(Action::Number {
        to: cell(Cell::Carry, word),
        value: 1,
    });
    steps.extend([Action::Rewind(at.scalar), Action::Bit, Action::Bit]);
    let body = ladder.step(double);
    steps.extend(repeat(BITS as usize - 5, Cell::Inner, body));
    // k P, for bits 2 to 0 that are 0: what was not doubled last, if the last bit was 1.
    steps.extend([Action::NoDigit, Action::Differ(Cell::Digit, Cell::Carry)]);
    steps.push(ladder.select(at.x2, at.x3));
    let mut body = ladder.both([at.a, at.b], at.x2, at.z2).to_vec();
    body.push(Action::Do(double));
    steps.extend(repeat(3, Cell::Inner, body));
    steps.extend(ladder.quotient());
    let mut driver = ladder.driver;
    // All work lies in one piece, behind inputs and result. Pieces of it are short enough for one loop.
    let ends = [0..at.result.at, at.x2.at..driver.bytes];
    let pieces = ends.into_iter().flat_map(|piece| {
        let end = piece.end;
        piece.step_by(PIECE).map(move |at| Stored {
            at,
            bytes: PIECE.min(end - at),
        })
    });
    steps.extend(pieces.map(|to| Action::Number { to, value: 0 }));
    driver.wipes = true;
    driver.routines[0] = steps;
    Ok(driver)
}

/// A cell as a number in the area.
fn cell(cell: Cell, word: usize) -> Stored {
    Stored {
        at: cell.at(word),
        bytes: word,
    }
}

/// What the driver must leave: `u(k P)` by the ladder of RFC 7748, section 5, in big integers.
pub fn value(scalar: &BigUint, u: &BigUint) -> BigUint {
    let p = (BigUint::from(1u8) << 255) - 19u8;
    let mut k: BigUint = scalar % (BigUint::from(1u8) << 255);
    k.set_bit(254, true);
    for bit in 0..3 {
        k.set_bit(bit, false);
    }
    let x1: BigUint = u % &p;
    let less = |x: &BigUint, y: &BigUint| -> BigUint { (x + &p - y) % &p };
    let one = BigUint::from(1u8);
    let (mut x2, mut z2, mut x3, mut z3) = (one.clone(), BigUint::ZERO, x1.clone(), one);
    for bit in (0..255).rev() {
        if k.bit(bit) {
            (x2, z2, x3, z3) = (x3, z3, x2, z2);
        }
        let (a, b, c, d) = (&x2 + &z2, less(&x2, &z2), &x3 + &z3, less(&x3, &z3));
        let (aa, bb) = (&a * &a % &p, &b * &b % &p);
        let e = less(&aa, &bb);
        let (da, cb) = (d * &a % &p, c * &b % &p);
        let (sum, difference) = (&da + &cb, less(&da, &cb));
        (x3, z3) = (
            &sum * &sum % &p,
            &x1 * (&difference * &difference % &p) % &p,
        );
        (x2, z2) = (&aa * bb % &p, &e * (aa + &e * A24) % &p);
        if k.bit(bit) {
            (x2, z2, x3, z3) = (x3, z3, x2, z2);
        }
    }
    x2 * z2.modpow(&(&p - 2u8), &p) % p
}
