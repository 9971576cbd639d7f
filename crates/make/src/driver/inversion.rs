//! `1 / x` modulo a prime `p`, as `x^(p-2)` (Fermat): the steps are the same for all numbers, and 0 gives 0.

use num_bigint::BigUint;
use spec::modulus::Reduce;

use crate::driver::chain::{Chain, Step};
use crate::driver::field::Field;
use crate::driver::modulo::{copy, repeat};
use crate::driver::{Action, Cell, Driver, Role, Stored};

/// Squares that are calls one after another; more are a loop.
const WRITTEN: u32 = 3;

/// Where an inversion works.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// The number so far, and the next one.
    pub pair: [Stored; 2],
    /// Powers that are kept.
    pub slots: Vec<Stored>,
}

/// The chain of an inversion, for who gives it room.
pub(super) fn chain(field: &Field) -> Chain {
    Chain::to(&(&field.prime - 2u8))
}

/// Steps that leave `1 / x` somewhere in the room or at `x`, of Montgomery's products `x^-1 R^2` times `R^-1`, and where
/// that is. `x` is in no place of the room, which has a slot for all of the chain but the first.
pub(super) fn inverse(
    d: &mut Driver,
    field: &Field,
    chain: &Chain,
    x: Stored,
    room: &Room,
) -> (Vec<Action>, Stored) {
    let slot = |i: usize| match i.checked_sub(1) {
        None => x,
        Some(i) => room.slots.get(i).copied().unwrap_or(x),
    };
    let other = |at: Stored| room.pair[usize::from(at == room.pair[0])];
    let mut steps = Vec::new();
    let mut at = x;
    for step in &chain.steps {
        match step {
            Step::Load(i) => at = slot(*i),
            Step::Save(i) => steps.push(copy(slot(*i), at)),
            Step::Multiply(i) => {
                let to = other(at);
                steps.push(field.product(d, to, at, slot(*i)));
                at = to;
            }
            Step::Square(times) => {
                let mut left = *times;
                // Two squares end in the pair where they began.
                while left > WRITTEN && !room.pair.contains(&at) {
                    steps.push(field.square(d, other(at), at));
                    (at, left) = (other(at), left - 1);
                }
                if left > WRITTEN {
                    let next = other(at);
                    let body = vec![field.square(d, next, at), field.square(d, at, next)];
                    steps.extend(repeat((left / 2) as usize, Cell::Outer, body));
                    left %= 2;
                }
                for _ in 0..left {
                    steps.push(field.square(d, other(at), at));
                    at = other(at);
                }
            }
            Step::Ones(times) => {
                let mut left = *times;
                if !room.pair.contains(&at) {
                    let [first, second] = room.pair;
                    steps.extend([
                        field.square(d, second, at),
                        field.product(d, first, second, x),
                    ]);
                    (at, left) = (first, left - 1);
                }
                let next = other(at);
                let body = vec![field.square(d, next, at), field.product(d, at, next, x)];
                steps.extend(repeat(left as usize, Cell::Outer, body));
            }
        }
    }
    (steps, at)
}

/// Names of powers that are kept.
const NAMES: [&str; 32] = [
    "power1", "power2", "power3", "power4", "power5", "power6", "power7", "power8", "power9",
    "power10", "power11", "power12", "power13", "power14", "power15", "power16", "power17",
    "power18", "power19", "power20", "power21", "power22", "power23", "power24", "power25",
    "power26", "power27", "power28", "power29", "power30", "power31", "power32",
];

/// The driver of `result = 1 / base mod m` for numbers of `bits` bits, modulo the prime that `d` is for; none for an operand.
pub fn driver(mut d: Driver, bits: u32) -> Option<Driver> {
    let field = Field::of(&d, bits, Reduce::Full)?;
    let result = d.field(
        "result",
        bits,
        Role::Output,
        "1 / base mod m, 0 if base is 0",
    );
    let base = d.field("base", bits, Role::Input, "less than m");
    let mut work = |name, meaning| d.field(name, bits, Role::Work, meaning);
    let pair = ["x", "next"].map(|name| work(name, "a power of the base"));
    let chain = chain(&field);
    let names = NAMES.iter().take(chain.slots - 1);
    let slots = names.map(|name| work(name, "a power that is kept"));
    let room = Room {
        pair,
        slots: slots.collect(),
    };
    let (mut steps, at) = inverse(&mut d, &field, &chain, base, &room);
    let at = match field.is_special {
        true => at,
        false => {
            // Of R = 2^n the power has the factor R^-(m-3), and this product R^-1: R^(m-2) is missing.
            let power = (BigUint::from(1u8) << bits).modpow(&(&field.prime - 2u8), &field.prime);
            let number = pair[usize::from(at == pair[0])];
            steps.push(Action::Constant {
                to: number,
                value: power,
            });
            steps.push(field.product(&mut d, result, at, number));
            result
        }
    };
    if at != result {
        steps.push(copy(result, at));
    }
    d.routines[0] = steps;
    Some(d)
}

/// How an inverse is computed: `255 squares and 12 products`.
pub fn told(prime: &BigUint) -> String {
    let chain = Chain::to(&(prime - 2u8));
    let (squares, products) = (chain.squares(), chain.products());
    format!("a chain of {squares} squares and {products} products")
}
