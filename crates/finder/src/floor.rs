//! The high half of a product: is `r = floor(A * B / 2^(W n))` for all inputs?
//!
//! In `2^(W n) r - A B` carries remain that come up from the words below `r`. Each is fixed by
//! the word it left: `s = x - 2^W c`. Adding `k s`, once as it is and once by its definition,
//! replaces `k 2^W c` by `k (x - s)`; latest first, the columns below `r` unroll, and what was
//! added is `low = sum k s`. If nothing remains then, `A B = 2^(W n) r + low` modulo
//! `2^(2 W n)`. With `0 <= low < 2^(W n)` both sides lie below that, so they are equal, and `r` is
//! the quotient. Carries that are 0 are dropped first ([`crate::lost`]).

use std::collections::BTreeMap;

use judge::prove::Open;
use machine::domain::variable::{Def, Value, VarId};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

use crate::algebra::Algebra;
use crate::polynomial::{Polynomial, Scaled};

/// For each carry the word it left: the first that is defined with `-2^w` times it.
fn homes(algebra: &Algebra, w: u32) -> FxHashMap<VarId, VarId> {
    let mut homes = FxHashMap::default();
    for (v, var) in (0..).zip(&algebra.vars) {
        match var.def {
            Def::Low { hi, .. } => {
                homes.entry(hi).or_insert(v);
            }
            Def::Linear { start, len, .. } => {
                let terms = &algebra.terms[start as usize..][..len as usize];
                for (carry, _) in terms.iter().filter(|(_, factor)| *factor == -(1 << w)) {
                    homes.entry(*carry).or_insert(v);
                }
            }
            _ => {}
        }
    }
    homes
}

/// Words with their factors: `2^h Z + low - P`, of which all but `low` was added to `p`, is 0 with them.
///
/// # Errors
/// The first monomial that remains, or that the words may add up to `2^h`.
pub(crate) fn words_below(
    algebra: &Algebra,
    p: &mut Polynomial<'_>,
    w: u32,
    h: u64,
) -> Result<Vec<(VarId, BigInt)>, Open> {
    let homes = homes(algebra, w);
    let mut low: BTreeMap<VarId, Scaled> = BTreeMap::new();
    let mut latest = VarId::MAX;
    p.eliminate()?;
    while let Some((carry, by)) = p.latest_carry(latest) {
        latest = carry;
        // A carry out of a word of the result, or of a number that was added, comes with a minus.
        if by.is_negative() && algebra.is_never_set(carry) {
            p.forget(carry);
            continue;
        }
        let (Some(word), true) = (homes.get(&carry), by.shift >= u64::from(w)) else {
            break;
        };
        let by = by.with_shift(by.shift - u64::from(w));
        p.add_value(Value::Var(*word), &by)?;
        p.eliminate()?;
        let kept = low.entry(*word);
        kept.or_insert(Scaled::ZERO).add(&by);
    }
    if let Some(open) = p.residue() {
        return Err(open);
    }
    let most = |(word, by): (&VarId, &Scaled)| {
        BigInt::from(algebra.vars[*word as usize].bound) * by.value()
    };
    let total: BigInt = low.iter().map(most).sum();
    if low.values().any(|by| by.is_negative()) || total.bits() > h {
        return Err(Open {
            text: "the words below the result may add up to more than they are".into(),
            pc: None,
        });
    }
    Ok(low.iter().map(|(v, by)| (*v, by.value())).collect())
}
