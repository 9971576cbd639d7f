//! The final equation: is `sum 2^(W i) C[i] = A * B` an identity in the inputs?
//!
//! Everything is replaced by its definition ([`crate::polynomial`]); in a correct kernel the
//! carries then cancel. The equation is needed only modulo `2^(W len)`: a result with as many
//! words as the product lies in `0 .. 2^(W len)` as the product does, and a low half is nothing
//! but that residue. The high half has a file of its own, [`crate::floor`].

use judge::checker::{Addition, Product};
use judge::prove::Open;
use machine::domain::trace::Reason;
use machine::domain::variable::Value;
use num_bigint::BigInt;

use crate::algebra::Algebra;
use crate::polynomial::{Polynomial, Scaled};

/// `2^(w shift) sum 2^(w i) result[i] - (sum 2^(w i) a[i]) (sum 2^(w j) b[j])`, modulo the weight of
/// the word after the last of `result`.
pub(crate) fn difference<'a>(
    algebra: &'a Algebra,
    goal: &Product<'_>,
    shift: usize,
) -> Result<Polynomial<'a>, Open> {
    let Product { w, result, a, b } = *goal;
    let weight = |i: usize| u64::from(w) * i as u64;
    let scaled = |sign: i64, i: usize| Scaled::new(BigInt::from(sign), weight(i));
    let mut p = Polynomial::new(algebra, weight(shift + result.len()));
    add_product(&mut p, w, &scaled(-1, 0), a, b)?;
    for (i, word) in result.iter().enumerate() {
        p.add_value(*word, &scaled(1, shift + i))?;
    }
    Ok(p)
}

/// Shows `R + s 2^(w n) C = A + s B` for all inputs, with `s` the sign, `R`, `A` and `B` the numbers in
/// `n` words of `w` bits, and `C` the number in `returned`, words of `v` bits.
///
/// It is shown modulo `M = 2^(w n + v len)`. That is enough: `0 <= R + 2^(w n) C < M` or, for `s = -1`,
/// `2^(w n) - M <= R - 2^(w n) C < 2^(w n)`, and `-2^(w n) < A + s B < 2^(w n + 1)`, so that the two
/// sides are less than `M` apart.
///
/// # Errors
/// The first monomial that remains.
pub fn sum(algebra: &Algebra, goal: &Addition<'_>) -> Result<(), Open> {
    let Addition {
        sign: s,
        w,
        result,
        a,
        b,
        v,
        returned,
    } = *goal;
    let top = u64::from(w) * result.len() as u64;
    let bits = top + u64::from(v) * returned.len() as u64;
    let mut p = Polynomial::new(algebra, bits);
    let weighted = [
        (result, w, 0, 1),
        (returned, v, top, s),
        (a, w, 0, -1),
        (b, w, 0, -s),
    ];
    for (words, width, base, sign) in weighted {
        for (i, word) in words.iter().enumerate() {
            let weight = base + u64::from(width) * i as u64;
            p.add_value(*word, &Scaled::new(BigInt::from(sign), weight))?;
        }
    }
    p.close()?;
    let used = p.used();
    *algebra.reason.borrow_mut() = Some(Reason::Identity { used });
    Ok(())
}

/// Adds `by * (sum 2^(w i) a[i]) (sum 2^(w j) b[j])`.
pub(crate) fn add_product(
    p: &mut Polynomial<'_>,
    w: u32,
    by: &Scaled,
    a: &[Value],
    b: &[Value],
) -> Result<(), Open> {
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let shift = by.shift + u64::from(w) * (i + j) as u64;
            p.add_product(*x, *y, &by.with_shift(shift))?;
        }
    }
    Ok(())
}

/// Shows `sum 2^(w i) result[i] = (sum 2^(w i) a[i]) * (sum 2^(w j) b[j])` for all inputs, modulo the
/// weight of the word after the last of `result`.
///
/// # Errors
/// The first monomial that remains.
pub fn product(algebra: &Algebra, goal: &Product<'_>) -> Result<(), Open> {
    let mut p = difference(algebra, goal, 0)?;
    p.close()?;
    let used = p.used();
    *algebra.reason.borrow_mut() = Some(Reason::Identity { used });
    Ok(())
}
