//! Products modulo a number at run time: `x = x y / 2^n` and `x = x^2 / 2^n`, from kernels.

use std::collections::BTreeMap;

use super::{Cell, Driver, Place, Role, Step, Sum};
use crate::candidate::Budget;
use crate::request::Request;
use crate::spec::Op;
use crate::spec::modulus::{Modular, Modulus, Reduce};

/// The numbers that products modulo `m` work on. All but `m` are below `2^n` at any time.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    pub x: Place,
    pub y: Place,
    /// `m`; behind it `m' = -m^-1`, as much of it as the kernels want.
    pub m: Place,
    other: Place,
    square: usize,
    multiply: usize,
}

/// A kernel for operands of `bits` bits, by the cheapest method.
pub fn kernel(op: Op, bits: u32) -> Request {
    Request {
        op,
        size: bits.into(),
        modular: op.is_modular().then_some(Modular {
            modulus: Modulus::Runtime,
            reduce: Reduce::Almost,
        }),
        method: None,
        params: BTreeMap::new(),
        max_regs: None,
        style: None,
        budget: Budget::default(),
        drop: None,
    }
}

impl Engine {
    /// Room for the numbers, and kernels that work on them.
    pub fn new(d: &mut Driver, bits: u32) -> Self {
        let word = 8 * d.word as u32;
        let x = d.field("x", bits, Role::Work, "the product so far");
        let other = d.field("z", bits, Role::Work, "the next product");
        let y = d.field("y", bits, Role::Work, "the factor");
        let m = d.field("mm", bits + word, Role::Work, "modulus, -modulus^-1");
        let mut with = |op| {
            d.kernels.push(kernel(op, bits));
            d.kernels.len() - 1
        };
        Self {
            x,
            y,
            m,
            other,
            square: with(Op::Montsqr),
            multiply: with(Op::Montmul),
        }
    }

    /// `x = x y / 2^n mod m`.
    pub fn multiply(&self) -> Vec<Step> {
        let kernel = self.multiply;
        let pointers = vec![self.other.at, self.x.at, self.y.at, self.m.at];
        vec![Step::Call { kernel, pointers }, self.back()]
    }

    /// `x = x^2 / 2^n mod m`.
    pub fn square(&self) -> Vec<Step> {
        let kernel = self.square;
        let pointers = vec![self.other.at, self.x.at, self.m.at];
        vec![Step::Call { kernel, pointers }, self.back()]
    }

    fn back(&self) -> Step {
        copy(self.x, self.other)
    }

    /// `m` and `m'` from where the caller put them.
    pub fn modulo(&self, from: Place) -> Step {
        copy(self.m, from)
    }

    /// `x`, at most `m`, becomes less than `m`.
    pub fn canonical(&self) -> Vec<Step> {
        vec![
            Step::Sum(Sum::subtract(self.x, self.m.at).out(Cell::Borrow)),
            Step::Sum(Sum::add(self.x, self.m.at).times(Cell::Borrow)),
        ]
    }
}

/// `to = from`, as much as `to` holds.
pub fn copy(to: Place, from: Place) -> Step {
    let from = from.part(0, to.bytes.min(from.bytes));
    Step::Copy {
        to: super::To::Place(to.at),
        from,
    }
}
