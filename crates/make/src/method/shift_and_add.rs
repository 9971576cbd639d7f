//! Shift and add: for machines without a multiplier.
//!
//! For bit `i` of the words of B, from the top: double the sum, then add `A 2^(w j)` for every
//! word `j` of B whose bit `i` is set. Of `w n^2` additions of a word none can be left out, as
//! time must not tell which bits are set; but doubling costs only `w` shifts of the sum, not
//! `w n`, since all words of B advance together. A square takes the tiles on one side of the
//! diagonal, doubled, and those on it.

use std::cmp::Ordering;

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::{one_size, positive};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{Schedule, Select, Tiles};

/// Shift and add.
pub static METHOD: Method = Method {
    name: "shift-and-add",
    summary: "bit by bit, for machines without a multiplier; tiles of e by f words in registers",
    source: "new here; bit order as in Horner's rule",
    ops: &[Op::Mul, Op::Sqr],
    parameters: &[
        Parameter {
            name: "e",
            meaning: "words of A in registers",
        },
        Parameter {
            name: "f",
            meaning: "words of B in registers; of a square e; all where they come from memory one by one",
        },
        Parameter {
            name: "mask",
            meaning: "1: add masked words; 0 (default): add conditionally, in the same time, where a machine can",
        },
    ],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        let most = largest(facts);
        let square = spec.op == Op::Sqr;
        if facts.tile_rows {
            let sizes = (1..=most.min(n)).rev();
            return sizes.map(|e| Params::from([("e", e)])).collect();
        }
        let sizes = (1..=most.min(n))
            .rev()
            .flat_map(|e| (1..=n.min(most)).map(move |f| (e, f)))
            .filter(|(e, f)| !square || e == f && *e >= n.min(2));
        let fitting: Vec<_> = sizes
            .filter(|(e, f)| need(facts, *e, *f) <= facts.tile_registers)
            .collect();
        match fitting.is_empty() {
            // The schedule says why.
            true => vec![Params::from([("e", 1), ("f", 1)])],
            false => fitting
                .into_iter()
                .map(|(e, f)| Params::from([("e", e), ("f", f)]))
                .collect(),
        }
    },
    schedule,
};

/// Registers of a tile: both operands, their product, a carry, a counter. Where words of B come from memory: A, the sum, a
/// word of B, a mask, and a word under it.
fn need(facts: &Facts, e: usize, f: usize) -> usize {
    match facts.tile_rows {
        true => 2 * e + 3,
        false => 2 * (e + f) + 2,
    }
}

/// The most words of one operand.
fn largest(facts: &Facts) -> usize {
    facts.tile_registers.saturating_sub(need(facts, 0, 1)) / 2
}

/// Of a square the tiles are square, with a word for the carry of what is doubled.
fn is_square_tile(n: usize, e: usize, f: usize) -> Result<(), MethodError> {
    let method = METHOD.name;
    let too_small = |parameter, value, least| MethodError::TooSmall {
        method,
        parameter,
        value,
        least,
    };
    match (e < n.min(2), f.cmp(&e)) {
        (true, _) => Err(too_small("e", e, 2)),
        (false, Ordering::Less) => Err(too_small("f", f, e)),
        (false, Ordering::Equal) => Ok(()),
        (false, Ordering::Greater) => Err(MethodError::TooLarge {
            method,
            parameter: "f",
            value: f,
            largest: e,
        }),
    }
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let method = METHOD.name;
    let n = one_size(method, spec, facts)?;
    if facts.tile_registers == 0 {
        return Err(MethodError::Multiplies(method));
    }
    let e = positive(method, "e", params)?;
    let square = spec.op == Op::Sqr;
    if facts.tile_rows {
        return in_rows(n, e, facts, params, square);
    }
    let f = match params.get("f") {
        None if square => e,
        _ => positive(method, "f", params)?,
    };
    if square {
        is_square_tile(n, e, f)?;
    }
    let select = match params.get("mask") {
        None | Some(0) => Select::Conditional,
        Some(1) => Select::Mask,
        Some(value) => {
            return Err(MethodError::TooLarge {
                method,
                parameter: "mask",
                value: *value,
                largest: 1,
            });
        }
    };
    // A mask, and the word under it.
    let need = need(facts, e, f) + if select == Select::Mask { 2 } else { 0 };
    if need > facts.tile_registers {
        return Err(MethodError::Registers {
            method,
            parameter: "e",
            value: e,
            need,
            free: facts.tile_registers,
            largest: match square {
                true => facts.tile_registers.saturating_sub(need - 4 * e) / 4,
                false => (e + facts.tile_registers / 2).saturating_sub(need.div_ceil(2)),
            },
        });
    }
    Ok(Schedule::Tiles(match square {
        true => Tiles::square(n, e, select),
        false => Tiles::of(n, e, f, select),
    }))
}

/// Tiles of all words of B.
fn in_rows(
    n: usize,
    e: usize,
    facts: &Facts,
    params: &Params,
    square: bool,
) -> Result<Schedule, MethodError> {
    let (method, largest) = (METHOD.name, largest(facts));
    let too_large = |parameter, value, largest| MethodError::TooLarge {
        method,
        parameter,
        value,
        largest,
    };
    match (params.get("f").copied(), params.get("mask").copied()) {
        (Some(f), _) if f > n => return Err(too_large("f", f, n)),
        (Some(f), _) if f < n => {
            return Err(MethodError::TooSmall {
                method,
                parameter: "f",
                value: f,
                least: n,
            });
        }
        (_, Some(mask)) if mask > 1 => return Err(too_large("mask", mask, 1)),
        _ => {}
    }
    match e > largest {
        true => Err(too_large("e", e, largest)),
        false => Ok(Schedule::Tiles(Tiles::in_rows(n, e, square))),
    }
}
