//! The numbers modulo a prime that is in the kernels: sums and products are calls, of kernels in constant time.
//!
//! What points of a curve are computed with.

use num_bigint::BigUint;
use spec::Op;
use spec::modulus::{Modular, Reduce};

use crate::driver::modulo::request;
use crate::driver::{Action, Cell, Driver, Stored};
use crate::method::special_primes::is_special;
use crate::request::Demands;

/// A field whose numbers have so many bits.
#[derive(Clone, Debug)]
pub struct Field {
    pub bits: u32,
    pub prime: BigUint,
    modular: Modular,
    /// Products and squares are those modulo a special prime, or Montgomery's.
    pub is_special: bool,
    /// Is a square the product of a number with itself? Then the kernel of squares is saved.
    pub squares_are_products: bool,
}

impl Field {
    /// The field modulo the number that `d` is for, of `bits` bits; none for an operand.
    pub fn of(d: &Driver, bits: u32, reduce: Reduce) -> Option<Self> {
        let modular = Modular {
            reduce,
            ..Modular::full(d.modulus.clone())
        };
        let prime = modular.fixed()?.clone();
        let w = 8 * d.word as u32;
        Some(Self {
            bits,
            is_special: is_special(&prime, (bits / w) as usize, w),
            prime,
            modular,
            squares_are_products: false,
        })
    }

    /// The kernel of `d` for this operation, with a number `times` where it multiplies by one.
    fn kernel(&self, d: &mut Driver, op: Op, times: u32) -> usize {
        let modular = op.is_modular().then(|| Modular {
            times,
            ..self.modular.clone()
        });
        let known = |k: &crate::request::Request| k.op == op && k.modular == modular;
        d.kernels.iter().position(known).unwrap_or_else(|| {
            let bits = match op.is_modular() {
                true => self.bits,
                // Pairs are selected.
                false => 2 * self.bits,
            };
            d.kernels
                .push(request(op, bits, modular.clone(), Demands::default()));
            d.kernels.len() - 1
        })
    }

    fn call(&self, d: &mut Driver, op: Op, places: &[Stored]) -> Action {
        let kernel = self.kernel(d, op, 0);
        let pointers = places.iter().map(|place| place.at).collect();
        Action::Call { kernel, pointers }
    }

    /// `to = a b`, or Montgomery's product; `to` is neither `a` nor `b`.
    pub fn product(&self, d: &mut Driver, to: Stored, a: Stored, b: Stored) -> Action {
        let op = if self.is_special {
            Op::Modmul
        } else {
            Op::Montmul
        };
        self.call(d, op, &[to, a, b])
    }

    /// `to = a^2`, or Montgomery's; `to` is not `a`.
    pub fn square(&self, d: &mut Driver, to: Stored, a: Stored) -> Action {
        match (self.squares_are_products, self.is_special) {
            (true, _) => self.product(d, to, a, a),
            (false, true) => self.call(d, Op::Modsqr, &[to, a]),
            (false, false) => self.call(d, Op::Montsqr, &[to, a]),
        }
    }

    /// `to = a + b`.
    pub fn sum(&self, d: &mut Driver, to: Stored, a: Stored, b: Stored) -> Action {
        self.call(d, Op::Modadd, &[to, a, b])
    }

    /// `to = a - b`.
    pub fn difference(&self, d: &mut Driver, to: Stored, a: Stored, b: Stored) -> Action {
        self.call(d, Op::Modsub, &[to, a, b])
    }

    /// `to = k a`; `to` is not `a`.
    pub fn multiple(&self, d: &mut Driver, to: Stored, a: Stored, k: u32) -> Action {
        let kernel = self.kernel(d, Op::Modtimes, k);
        let pointers = vec![to.at, a.at];
        Action::Call { kernel, pointers }
    }

    /// The pair `a` becomes the pair `b` if the bit in the cell is 1.
    pub fn select_pair(&self, d: &mut Driver, a: Stored, b: Stored, bit: Cell) -> Action {
        let kernel = self.kernel(d, Op::Select, 0);
        let pointers = vec![a.at, a.at, b.at, bit.at(d.word)];
        Action::Call { kernel, pointers }
    }
}
