//! An equation of numbers: is `2^h Z + low = P` an identity in the inputs?
//!
//! Everything is replaced by its definition ([`crate::polynomial`]); in a correct kernel the carries then cancel. The
//! equation is needed only modulo `2^bits`: both sides are less than that apart, or, for a low half, it is nothing but
//! that residue. Where a result is rounded down, [`crate::floor`] finds `low`.

use judge::checker::{Goal, Rest, Term};
use judge::prove::Open;
use machine::domain::trace::Reason;
use machine::domain::variable::Value;
use num_bigint::BigInt;

use crate::algebra::Algebra;
use crate::floor;
use crate::polynomial::{Polynomial, Scaled};

/// Shows `2^h Z + low = P` for all inputs.
///
/// # Errors
/// The first monomial that remains, or that the words below the result may be too large.
pub fn show(algebra: &Algebra, goal: &Goal<'_>) -> Result<(), Open> {
    let mut p = Polynomial::new(algebra, goal.bits);
    add_value(&mut p, &goal.value, &BigInt::from(-1))?;
    add_words(&mut p, goal.w, goal.result, goal.h)?;
    let low = match goal.rest {
        Rest::Nothing | Rest::Above => {
            p.close()?;
            Vec::new()
        }
        Rest::Below => floor::words_below(algebra, &mut p, goal.w, goal.h)?,
    };
    let used = p.used();
    *algebra.reason.borrow_mut() = Some(Reason {
        used,
        low,
        ..Reason::default()
    });
    Ok(())
}

/// Adds `2^shift` times a number in words of `w` bits.
pub(crate) fn add_words(
    p: &mut Polynomial<'_>,
    w: u32,
    words: &[Value],
    shift: u64,
) -> Result<(), Open> {
    let one = BigInt::from(1);
    for (i, word) in words.iter().enumerate() {
        p.add_value(
            *word,
            &Scaled::new(one.clone(), shift + u64::from(w) * i as u64),
        )?;
    }
    Ok(())
}

/// Adds `by` times a sum of products of numbers.
pub(crate) fn add_value(
    p: &mut Polynomial<'_>,
    value: &[Term<'_>],
    by: &BigInt,
) -> Result<(), Open> {
    for term in value {
        let by = Scaled::new(by * term.sign, term.shift);
        add_product(p, term.w, &by, term.a, term.b.unwrap_or(&[Value::ONE]))?;
    }
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
