//! The final equation: is `sum 2^(W i) C[i] = A * B` an identity in the inputs?
//!
//! Variables are replaced by their definitions, latest first, so that each carry has
//! collected all its uses when its turn comes; in a correct kernel it then cancels. The
//! result has as many words as the product, hence the equation is needed only modulo
//! `2^(W len)`: both sides lie in `0 .. 2^(W len)`.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_traits::Zero;

use super::algebra::{Algebra, Def, Value, VarId};
use super::public::Public;

/// An obligation that could not be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub text: String,
    /// Address of the instruction that raised it, in bytes.
    pub pc: Option<usize>,
}

/// Definitions deep that a factor of a product may be: differences of operand words are, sums
/// of products (an operand overwritten by the result) are not.
const ROUNDS: usize = 8;

/// An integer `odd * 2^shift`; 0 has `odd = 0`.
#[derive(Clone, Debug)]
struct Scaled {
    odd: BigInt,
    shift: u64,
}

impl Scaled {
    fn new(value: BigInt, shift: u64) -> Self {
        let zeros = value.trailing_zeros().unwrap_or(0);
        Self {
            odd: value >> zeros,
            shift: shift + zeros,
        }
    }

    fn add(&mut self, other: &Self) {
        if self.odd.is_zero() {
            *self = other.clone();
        } else if !other.odd.is_zero() {
            let low = self.shift.min(other.shift);
            let sum = (&self.odd << (self.shift - low)) + (&other.odd << (other.shift - low));
            *self = Self::new(sum, low);
        }
    }

    fn times(&self, factor: i64) -> Self {
        Self::new(&self.odd * factor, self.shift)
    }

    /// Is it a multiple of `2^bits`?
    fn vanishes(&self, bits: u64) -> bool {
        self.odd.is_zero() || self.shift >= bits
    }
}

/// A polynomial of degree at most 2 in the variables, modulo `2^bits`.
struct Polynomial {
    bits: u64,
    constant: Scaled,
    linear: Vec<Option<Scaled>>,
    quadratic: HashMap<(VarId, VarId), Scaled>,
}

impl Polynomial {
    fn add_value(&mut self, value: Value, by: &Scaled) -> Result<(), Open> {
        if by.vanishes(self.bits) {
            return Ok(());
        }
        match value {
            Value::Public(Public::Known(k)) => {
                self.constant.add(&Scaled::new(&by.odd * k, by.shift));
            }
            Value::Public(Public::Pointer { .. }) => {
                return Err(Open {
                    text: "the result contains an address".into(),
                    pc: None,
                });
            }
            Value::Var(v) => match &mut self.linear[v as usize] {
                Some(old) => old.add(by),
                empty => *empty = Some(by.clone()),
            },
        }
        Ok(())
    }

    fn add_product(&mut self, a: Value, b: Value, by: &Scaled) -> Result<(), Open> {
        if by.vanishes(self.bits) {
            return Ok(());
        }
        match (a, b) {
            (Value::Var(x), Value::Var(y)) => {
                let key = (x.max(y), x.min(y));
                match self.quadratic.get_mut(&key) {
                    Some(old) => old.add(by),
                    None => {
                        self.quadratic.insert(key, by.clone());
                    }
                }
                Ok(())
            }
            (Value::Public(Public::Known(k)), other) | (other, Value::Public(Public::Known(k))) => {
                self.add_value(other, &Scaled::new(&by.odd * k, by.shift))
            }
            _ => Err(Open {
                text: "an address is multiplied".into(),
                pc: None,
            }),
        }
    }

    /// Replaces linear variables by their definitions, latest first.
    fn expand_linear(&mut self, algebra: &Algebra) -> Result<(), Open> {
        for v in (0..self.linear.len()).rev() {
            let def = algebra.vars[v].def;
            if matches!(def, Def::Free | Def::Carry) {
                continue;
            }
            let Some(by) = self.linear[v].take() else {
                continue;
            };
            if by.vanishes(self.bits) {
                continue;
            }
            match def {
                Def::Linear {
                    start,
                    len,
                    constant,
                } => {
                    self.constant.add(&by.times(constant));
                    for (t, factor) in &algebra.terms[start as usize..][..usize::from(len)] {
                        self.add_value(Value::Var(*t), &by.times(*factor))?;
                    }
                }
                Def::Low { a, b, hi, w } => {
                    self.add_product(a, b, &by)?;
                    // A product below 2^w has no high word.
                    if algebra.vars[hi as usize].bound > 0 {
                        let carried = Scaled {
                            odd: -by.odd,
                            shift: by.shift + u64::from(w),
                        };
                        self.add_value(Value::Var(hi), &carried)?;
                    }
                }
                Def::Free | Def::Carry => {}
            }
        }
        Ok(())
    }

    /// Replaces the factors of products by their definitions while they are sums.
    fn expand_quadratic(&mut self, algebra: &Algebra) -> Result<(), Open> {
        let is_sum = |v: VarId| matches!(algebra.vars[v as usize].def, Def::Linear { .. });
        for _ in 0..ROUNDS {
            let keys: Vec<_> = self
                .quadratic
                .keys()
                .copied()
                .filter(|(x, y)| is_sum(*x) || is_sum(*y))
                .collect();
            if keys.is_empty() {
                return Ok(());
            }
            for key in keys {
                let Some(by) = self.quadratic.remove(&key) else {
                    continue;
                };
                let (sum, other) = if is_sum(key.0) { key } else { (key.1, key.0) };
                let Def::Linear {
                    start,
                    len,
                    constant,
                } = algebra.vars[sum as usize].def
                else {
                    continue;
                };
                self.add_value(Value::Var(other), &by.times(constant))?;
                for (t, factor) in &algebra.terms[start as usize..][..usize::from(len)] {
                    self.add_product(Value::Var(*t), Value::Var(other), &by.times(*factor))?;
                }
            }
            self.expand_linear(algebra)?;
        }
        Err(Open {
            text: format!("words computed in more than {ROUNDS} steps are multiplied"),
            pc: None,
        })
    }

    /// The first monomial that does not vanish.
    fn residue(&self, algebra: &Algebra) -> Option<Open> {
        let name = |v: VarId| match algebra.name(v) {
            Some(name) => name.to_string(),
            None => format!("a word made at {:#x}", algebra.vars[v as usize].pc),
        };
        let open_linear = self.linear.iter().enumerate().find_map(|(v, by)| {
            let by = by.as_ref().filter(|by| !by.vanishes(self.bits))?;
            let var = &algebra.vars[v];
            let text = match var.def {
                Def::Carry if var.bound <= 1 => {
                    format!("the carry of weight 2^{} may be lost", by.shift)
                }
                Def::Carry => format!("the high word of weight 2^{} may be lost", by.shift),
                _ => format!(
                    "the result depends on {} (weight 2^{})",
                    name(v as VarId),
                    by.shift
                ),
            };
            Some(Open {
                text,
                pc: Some(var.pc as usize),
            })
        });
        let open_product = || {
            let mut open: Vec<_> = self
                .quadratic
                .iter()
                .filter(|(_, by)| !by.vanishes(self.bits))
                .collect();
            open.sort_by_key(|(key, by)| (by.shift, **key));
            let ((x, y), by) = open.first()?;
            Some(Open {
                text: format!(
                    "the product {} * {} is missing or misplaced (off by {} * 2^{})",
                    name(*y),
                    name(*x),
                    by.odd,
                    by.shift
                ),
                pc: None,
            })
        };
        let open_constant = || {
            (!self.constant.vanishes(self.bits)).then(|| Open {
                text: format!(
                    "the result is off by the constant {} * 2^{}",
                    self.constant.odd, self.constant.shift
                ),
                pc: None,
            })
        };
        open_product().or(open_linear).or_else(open_constant)
    }
}

/// Shows `sum 2^(w i) result[i] = (sum 2^(w i) a[i]) * (sum 2^(w j) b[j])` for all inputs.
///
/// # Errors
/// The first monomial that remains.
pub fn product(
    algebra: &Algebra,
    w: u32,
    result: &[Value],
    a: &[Value],
    b: &[Value],
) -> Result<(), Open> {
    let weight = |i: usize| u64::from(w) * i as u64;
    let scaled = |sign: i64, i: usize| Scaled::new(BigInt::from(sign), weight(i));
    let mut p = Polynomial {
        bits: weight(result.len()),
        constant: scaled(0, 0),
        linear: vec![None; algebra.vars.len()],
        quadratic: HashMap::with_capacity(a.len() * b.len()),
    };
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            p.add_product(*x, *y, &scaled(-1, i + j))?;
        }
    }
    for (i, word) in result.iter().enumerate() {
        p.add_value(*word, &scaled(1, i))?;
    }
    p.expand_linear(algebra)?;
    p.expand_quadratic(algebra)?;
    match p.residue(algebra) {
        Some(open) => Err(open),
        None => Ok(()),
    }
}
