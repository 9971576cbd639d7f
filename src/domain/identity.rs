//! The final equation: is `sum 2^(W i) C[i] = A * B` an identity in the inputs?
//!
//! Everything is replaced by its definition ([`super::polynomial`]); in a correct kernel the
//! carries then cancel. The result has as many words as the product, hence the equation is
//! needed only modulo `2^(W len)`: both sides lie in `0 .. 2^(W len)`.

use num_bigint::BigInt;

use super::algebra::{Algebra, Value};
use super::polynomial::{Polynomial, Scaled};

/// An obligation that could not be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub text: String,
    /// Address of the instruction that raised it, in bytes.
    pub pc: Option<usize>,
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
    let mut p = Polynomial::new(algebra, weight(result.len()));
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            p.add_product(*x, *y, &scaled(-1, i + j))?;
        }
    }
    for (i, word) in result.iter().enumerate() {
        p.add_value(*word, &scaled(1, i))?;
    }
    p.eliminate()?;
    match p.residue() {
        Some(open) => Err(open),
        None => Ok(()),
    }
}
