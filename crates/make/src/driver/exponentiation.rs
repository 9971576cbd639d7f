//! `r = base^exponent mod m`, bit by bit or window by window, from the top of the exponent.

use std::fmt;
use std::str::FromStr;

use spec::modulus::Modulus;

use crate::driver::modulo::{Factor, Modulo, Products, copy, inverse_bits, repeat};
use crate::driver::{Action, Cell, Driver, EXPONENT, Role, Stored, To};

/// How the bits of the exponent become products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ladder {
    /// A square for every bit, a product for every 1: for exponents that are public.
    Binary,
    /// So many bits at a time: as many squares, and a product by an entry of a table that is read whole.
    Window(u32),
    /// So many bits that begin with a 1 at a time, and over the zeros between them squares: half the table
    /// and fewer products, for exponents that are public.
    Sliding(u32),
    /// Montgomery's ladder: a square and a product for every bit, of numbers exchanged under a mask.
    Montgomery,
}

/// The largest window, in bits.
pub const MOST_WINDOW: u32 = 6;

impl Ladder {
    /// Does it take the same time for all exponents of so many bits?
    pub fn is_constant_time(self) -> bool {
        matches!(self, Ladder::Window(_) | Ladder::Montgomery)
    }

    /// The window that is cheapest for so many bits: a product for each entry of the table and for each
    /// window, which reads every entry. Of large numbers a product takes as long as reading 128, of words of one
    /// `word` byte 170.
    pub fn cheapest(bits: u32, word: usize) -> Self {
        let product = if word == 1 { 170 } else { 128 };
        let cost = |k: &u32| {
            let (entries, windows) = (1 << k, bits.div_ceil(*k));
            product * (entries + windows) + entries * windows
        };
        Ladder::Window((1..MOST_WINDOW).min_by_key(cost).unwrap_or(1))
    }

    /// The sliding window with the fewest products: one for each entry of half a table, and one for each
    /// `k` bits that begin with a 1 and the one zero before them that is there on average.
    pub fn cheapest_sliding(bits: u32) -> Self {
        let cost = |k: &u32| (1 << (k - 1)) + bits / (k + 1);
        Ladder::Sliding((1..=MOST_WINDOW).min_by_key(cost).unwrap_or(1))
    }
}

impl fmt::Display for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ladder::Binary => f.write_str("binary"),
            Ladder::Window(k) => write!(f, "window of {k} bits"),
            Ladder::Sliding(k) => write!(f, "sliding window of {k} bits, not constant time"),
            Ladder::Montgomery => f.write_str("Montgomery's ladder"),
        }
    }
}

/// A name of a [`Ladder`] on the command line; a window's size is a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Binary,
    Window,
    Sliding,
    Montgomery,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "binary" => Ok(Kind::Binary),
            "window" => Ok(Kind::Window),
            "sliding" => Ok(Kind::Sliding),
            "montgomery" => Ok(Kind::Montgomery),
            _ => Err(format!(
                "there is no exponentiation {text}: try window, sliding, binary or montgomery"
            )),
        }
    }
}

/// The tables and numbers an exponentiation needs besides those of its modulus.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    ladder: Ladder,
    table: Stored,
}

impl Room {
    /// Room in `d` for numbers of `bits` bits.
    pub fn new(d: &mut Driver, ladder: Ladder, bits: u32) -> Self {
        let entries = match ladder {
            Ladder::Window(k) => 1 << k,
            // The base, and its powers by numbers of k bits that begin with a 1.
            Ladder::Sliding(k) => 1 + (1 << (k - 1)),
            Ladder::Binary | Ladder::Montgomery => 1,
        };
        let table = d.field("table", entries * bits, Role::Work, "powers of the base");
        Self { ladder, table }
    }

    /// The first bytes, for a number that is of no exponentiation.
    pub fn first(&self, bytes: usize) -> Stored {
        self.table.part(0, bytes)
    }
}

/// `x = base^exponent mod m` from `x = base 2^n mod m`; `y = 2^(2n) mod m` is at `r2`.
///
/// The exponent has `bits` bits; its upper ones may be 0.
pub fn power(e: &Modulo, room: &Room, exponent: Stored, bits: u32, r2: Stored) -> Vec<Action> {
    let table = room.table;
    let first = Stored {
        at: table.at,
        bytes: e.x.bytes,
    };
    // The base waits in the table's first entry while x = 1, as 2^n mod m.
    let mut steps = vec![copy(first, e.x)];
    if let Ladder::Sliding(k) = room.ladder {
        steps.extend([copy(e.y, e.x), Action::Table(first.part(first.bytes, 0).at)]);
        steps.extend(e.products(&vec![Factor::Itself; k as usize - 1]));
        steps.push(append(e.x));
        let mut body = e.multiply();
        body.push(append(e.x));
        steps.extend(repeat((1 << (k - 1)) - 1, Cell::Outer, body));
    }
    steps.extend(e.reduced(r2));
    steps.push(copy(e.y, first));
    if let Ladder::Window(k) = room.ladder {
        steps.extend(powers(e, table, 1 << k));
    }
    let padding = 8 * exponent.bytes - bits as usize;
    steps.push(Action::Rewind(exponent));
    steps.extend(repeat(padding, Cell::Outer, vec![Action::Bit]));
    steps.extend(match room.ladder {
        Ladder::Binary => {
            let mut body = vec![Action::NoDigit, Action::Bit];
            body.extend(e.square_and_perhaps(|multiply, none| if_digit(1, multiply, none)));
            repeat(bits as usize, Cell::Outer, body)
        }
        Ladder::Sliding(k) => sliding(e, first, bits, k),
        Ladder::Window(k) => windows(e, table, bits, k),
        Ladder::Montgomery => {
            // y = x base at any time: (x, y) becomes (x^2, x y) or, if the bit is 1, (x y, y^2).
            let swap = Action::Swap { a: e.x, b: e.y.at };
            let mut body = vec![Action::NoDigit, Action::Bit, swap.clone(), copy(first, e.x)];
            body.extend(e.multiply());
            body.extend([copy(e.y, e.x), copy(e.x, first)]);
            body.extend(e.square());
            body.push(swap);
            repeat(bits as usize, Cell::Outer, body)
        }
    });
    steps.extend(e.reduced(e.x));
    steps.extend(e.canonical());
    steps
}

/// Bit by bit, with a product where a window of `k` bits that begins with a 1 ends; the table's entries, from `first` on,
/// are the odd powers.
fn sliding(e: &Modulo, first: Stored, bits: u32, k: u32) -> Vec<Action> {
    let top = 1u8 << (k - 1);
    let pick = Action::Pick {
        to: e.y,
        table: first.at,
        less: top - 1,
    };
    // The digit is what came since the last product: it begins with a 1, and k bits are a window.
    let window = |multiply: &[Action], rest: &[Action]| {
        let taken = [&[pick.clone(), Action::NoDigit], multiply].concat();
        if_digit(top, &taken, rest)
    };
    let mut body = vec![Action::Bit];
    body.extend(e.square_and_perhaps(window));
    let tail = (k - 1).min(bits);
    let mut steps = vec![Action::NoDigit];
    steps.extend(repeat((bits - tail) as usize, Cell::Outer, body));
    // Of a window that begins here not all bits would come.
    let mut body = vec![Action::Bit];
    body.extend(e.square_and_perhaps(|multiply, none| {
        let single = [&[copy(e.y, first), Action::NoDigit], multiply].concat();
        let begins = if_digit(2, none, &[if_digit(1, &single, none)]);
        window(multiply, &[begins])
    }));
    steps.extend(repeat(tail as usize, Cell::Outer, body));
    steps
}

/// A product with an entry of the table for every `k` bits.
fn windows(e: &Modulo, table: Stored, bits: u32, k: u32) -> Vec<Action> {
    let entries = 1usize << k;
    let lookup = |to| Action::Lookup {
        to,
        table: table.at,
        entries,
    };
    let windows = bits.div_ceil(k);
    let take = |n: u32, mut body: Vec<Action>| {
        body.push(Action::Bit);
        let mut steps = vec![Action::NoDigit];
        steps.extend(repeat(n as usize, Cell::Inner, body));
        steps
    };
    let mut steps = take(bits - k * (windows - 1), Vec::new());
    steps.push(lookup(e.x));
    let mut body = take(k, Vec::new());
    body.push(lookup(e.y));
    let mut factors = vec![Factor::Itself; k as usize];
    factors.push(Factor::Y);
    body.extend(e.products(&factors));
    steps.extend(repeat(windows as usize - 1, Cell::Outer, body));
    steps
}

/// `table[i] = y^i` for `x = 1`, an even number of entries.
fn powers(e: &Modulo, table: Stored, entries: usize) -> Vec<Action> {
    let mut steps = vec![
        Action::Table(table.at),
        append(e.x),
        copy(e.x, e.y),
        append(e.x),
    ];
    if !e.is_of_steps() {
        let mut body = e.multiply();
        body.push(append(e.x));
        steps.extend(repeat(entries - 2, Cell::Outer, body));
        return steps;
    }
    // An even entry is the square of the one in the middle, where the cell of the exponent points meanwhile.
    steps.push(Action::Rewind(table.part(0, e.x.bytes)));
    let mut body = vec![Action::Take(e.x)];
    body.extend(e.square());
    body.push(append(e.x));
    body.extend(e.multiply());
    body.push(append(e.x));
    steps.extend(repeat(entries / 2 - 1, Cell::Outer, body));
    steps
}

fn if_digit(least: u8, body: &[Action], otherwise: &[Action]) -> Action {
    Action::IfDigit {
        least,
        body: body.to_vec(),
        otherwise: otherwise.to_vec(),
    }
}

fn append(from: Stored) -> Action {
    Action::Copy {
        to: To::Entry,
        from,
    }
}

/// The driver of `result = base^exponent mod modulus` for an odd modulus of `bits` bits that is not known yet.
pub fn driver(
    word: usize,
    bits: u32,
    exponent_bits: u32,
    ladder: Ladder,
    products: Products,
) -> Driver {
    modulo(Driver::new(word), bits, exponent_bits, ladder, products)
}

/// The same in `d`, modulo what that says.
pub fn modulo(
    mut d: Driver,
    bits: u32,
    exponent_bits: u32,
    ladder: Ladder,
    products: Products,
) -> Driver {
    let result = d.field("result", bits, Role::Output, "base^exponent mod modulus");
    let base = d.field("base", bits, Role::Input, "less than the modulus");
    let exponent = d.field(EXPONENT, exponent_bits, Role::Input, "the exponent");
    let modulus = operand(&mut d, products, bits);
    let r2 = d.field(
        "r2",
        bits,
        Role::Input,
        "2^(2n) mod m, for numbers of n bits",
    );
    let e = Modulo::new(&mut d, products, bits);
    let room = Room::new(&mut d, ladder, bits);
    let mut steps = modulus.map_or_else(Vec::new, |m| e.modulo(m));
    steps.extend([copy(e.x, base), copy(e.y, r2)]);
    steps.extend(e.multiply());
    steps.extend(power(&e, &room, exponent, exponent_bits, r2));
    steps.push(copy(result, e.x));
    d.routines[0] = steps;
    d
}

/// Room for the modulus of `d`, if it is an operand.
pub fn operand(d: &mut Driver, products: Products, bits: u32) -> Option<Stored> {
    let operand = d.modulus == Modulus::Runtime;
    operand.then(|| modulus(d, "modulus", products, bits))
}

/// Room for a modulus of `bits` bits that the caller gives, with its inverse.
pub fn modulus(d: &mut Driver, name: &'static str, products: Products, bits: u32) -> Stored {
    let inverse = inverse_bits(products, bits, d.word);
    let meaning = match products {
        Products::Montgomery => "an odd modulus m, then the word -m^-1 mod 2^w",
        Products::Composed => "an odd modulus m of n bits, then -m^-1 mod 2^n",
        Products::Folded => {
            "an odd modulus m of n bits, then -m^-1 mod 2^(n/2), then 2^n - m + (2^-(n/2) mod m)"
        }
    };
    d.field(name, bits + inverse, Role::Input, meaning)
}
