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

/// A word that a carry left, and the carry's factor there.
type Home = (VarId, i64);

/// For each carry the word it left: the first that is defined with `-2^w` times it, or else with another power of 2 times
/// it, as bits that a shift cuts off and borrows are.
fn homes(algebra: &Algebra, w: u32) -> FxHashMap<VarId, Home> {
    let mut homes = FxHashMap::default();
    let mut others = Vec::new();
    for (v, var) in (0..).zip(&algebra.vars) {
        match var.def {
            Def::Low { hi, .. } => {
                homes.entry(hi).or_insert((v, -(1 << w)));
            }
            Def::Linear { start, len, .. } => {
                let terms = &algebra.terms[start as usize..][..len as usize];
                for (carry, factor) in terms {
                    if *factor == -(1 << w) {
                        homes.entry(*carry).or_insert((v, *factor));
                    } else if *factor == 1 << w || (*factor < -1 && is_power(*factor)) {
                        others.push((*carry, (v, *factor)));
                    }
                }
            }
            _ => {}
        }
    }
    for (carry, home) in others {
        homes.entry(carry).or_insert(home);
    }
    homes
}

/// Is it a power of 2, or the negative of one?
fn is_power(factor: i64) -> bool {
    factor.unsigned_abs().is_power_of_two()
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
        let Some((word, factor)) = homes.get(&carry) else {
            break;
        };
        let bits = u64::from(factor.trailing_zeros());
        if by.shift < bits {
            break;
        }
        // word = ... + factor carry
        let by = by.with_shift(by.shift - bits).times(-factor.signum());
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
