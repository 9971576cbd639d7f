//! Values that are the same in every run: numbers, and pointers into a region
//! whose place is arbitrary. Both abstract domains fold them eagerly.
//!
//! A pointer word is part `i` of `base + offset`: on an 8-bit machine the low and
//! the high byte. `base` is a free variable, so that what is proved with it holds
//! for every placement: carries out of its low byte are kept as
//! [`PublicBit::Step`] until the next part absorbs them.

use serde::{Deserialize, Serialize};

use crate::domain::concrete::{Bits, Concrete};
use crate::domain::place::{Address, Base};
use crate::domain::word::{Domain, Logic, Signs};
use crate::fault::Fault;

/// A word that does not depend on any secret.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Public {
    Known(u64),
    /// Part `part` (least significant first) of `base + offset`.
    Pointer {
        base: Base,
        offset: i64,
        part: u32,
    },
    /// `offset - base`, in one word: what is left when a pointer is taken from a number.
    Negated {
        base: Base,
        offset: i64,
    },
}

impl Public {
    /// Are they the same word? Part `i` tells the offset modulo `2^(W (i + 1))`.
    pub fn is_same<const W: u32>(self, other: Self) -> bool {
        match (self, other) {
            (
                Public::Pointer { base, offset, part },
                Public::Pointer {
                    base: base_b,
                    offset: offset_b,
                    part: part_b,
                },
            ) => base == base_b && part == part_b && below::<W>(part + 1, offset, offset_b),
            _ => self == other,
        }
    }
}

/// A bit that does not depend on any secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PublicBit {
    Known(bool),
    /// What parts `0 ..= part` send to the next one when `base + from` becomes `base + to`:
    /// a carry if `up`, else a borrow.
    Step {
        base: Base,
        from: i64,
        to: i64,
        part: u32,
        up: bool,
    },
    /// The borrow out of parts `0 ..= part` of `(base + left) - (base + right)`.
    Below {
        base: Base,
        left: i64,
        right: i64,
        part: u32,
    },
}

/// A folded sum or difference; the minor flags are known only for numbers.
pub struct Folded {
    pub word: Public,
    pub carry: PublicBit,
    pub half: Option<bool>,
    pub overflow: Option<bool>,
}

/// `a op b op c` with `op` + or -, when it can be said.
pub fn add_sub<const W: u32>(up: bool, a: Public, b: Public, c: PublicBit) -> Option<Folded> {
    use Public::{Known, Negated, Pointer};
    if let (Known(a), Known(b), PublicBit::Known(c)) = (a, b, c) {
        let mut d = Concrete::new(0);
        let (a, b) = (Bits::<W>(a), Bits::<W>(b));
        let s = if up {
            d.add(&a, &b, &c)
        } else {
            d.sub(&a, &b, &c)
        };
        return Some(Folded {
            word: Known(s.word.0),
            carry: PublicBit::Known(s.carry),
            half: Some(s.half),
            overflow: Some(s.overflow),
        });
    }
    let (word, carry) = match (a, b) {
        (
            Pointer { base, offset, part },
            Pointer {
                base: base_b,
                offset: right,
                part: part_b,
            },
        ) if !up && base == base_b && part == part_b => apart::<W>(base, [offset, right], part, c)?,
        (_, Negated { .. }) | (Negated { .. }, _) | (Known(_), Pointer { .. })
            if W == 32 && (!up || !matches!((a, b), (Known(_), Pointer { .. }))) =>
        {
            (negated(up, a, b, c)?, NOBODY_ASKS)
        }
        (pointer @ Pointer { .. }, Known(k)) => step::<W>(up, pointer, k, c)?,
        (Known(k), pointer @ Pointer { .. }) if up => step::<W>(up, pointer, k, c)?,
        _ => return None,
    };
    Some(Folded {
        word,
        carry,
        half: None,
        overflow: None,
    })
}

/// Part `part` of the difference of two places, and the borrow that leaves it.
fn apart<const W: u32>(
    base: Base,
    [left, right]: [i64; 2],
    part: u32,
    c: PublicBit,
) -> Option<(Public, PublicBit)> {
    match c {
        PublicBit::Known(false) if part == 0 => {}
        PublicBit::Below {
            base: base_c,
            left: left_c,
            right: right_c,
            part: part_c,
        } if base_c == base
            && part_c + 1 == part
            && below::<W>(part, left_c, left)
            && below::<W>(part, right_c, right) => {}
        PublicBit::Known(_) | PublicBit::Step { .. } | PublicBit::Below { .. } => return None,
    }
    // The whole difference is the number left - right.
    let word = (left - right) as u64 >> (W * part) & ((1 << W) - 1);
    let borrow = match left == right {
        true => PublicBit::Known(false),
        false => PublicBit::Below {
            base,
            left,
            right,
            part,
        },
    };
    Some((Public::Known(word), borrow))
}

/// A carry that depends on a place.
const NOBODY_ASKS: PublicBit = PublicBit::Step {
    base: Base::ABSOLUTE,
    from: 0,
    to: 0,
    part: u32::MAX,
    up: true,
};

/// A number less a pointer, in a word of 32 bits; that and numbers; that and the pointer, which is a number.
fn negated(up: bool, a: Public, b: Public, c: PublicBit) -> Option<Public> {
    use Public::{Known, Negated, Pointer};
    let PublicBit::Known(c) = c else {
        return None;
    };
    let sum = |x: i64, y: i64| match up {
        true => x.wrapping_add(y).wrapping_add(i64::from(c)),
        false => x.wrapping_sub(y).wrapping_sub(i64::from(c)),
    };
    let word = |x: i64| i64::from(x as i32);
    Some(match (a, b) {
        (Known(k), Pointer { base, offset, .. }) if !up => Negated {
            base,
            offset: word(sum(k as i64, offset)),
        },
        (Negated { base, offset }, Known(k)) => Negated {
            base,
            offset: word(sum(offset, k as i64)),
        },
        (Known(k), Negated { base, offset }) if up => Negated {
            base,
            offset: word(sum(k as i64, offset)),
        },
        (
            Negated { base, offset },
            Pointer {
                base: other,
                offset: at,
                ..
            },
        )
        | (
            Pointer {
                base: other,
                offset: at,
                ..
            },
            Negated { base, offset },
        ) if up && base == other => Known(sum(offset, at) as u32 as u64),
        _ => return None,
    })
}

/// Do two offsets agree in the parts below `part`? Then carries out of these parts agree.
fn below<const W: u32>(part: u32, x: i64, y: i64) -> bool {
    (x - y) % (1 << (W * part)) == 0
}

/// Part `part` of a pointer plus or minus `k` and the step that reaches it from below.
fn step<const W: u32>(
    up: bool,
    pointer: Public,
    k: u64,
    c: PublicBit,
) -> Option<(Public, PublicBit)> {
    let Public::Pointer { base, offset, part } = pointer else {
        return None;
    };
    let reached = match c {
        PublicBit::Known(bit) if part == 0 => {
            offset + if up { i64::from(bit) } else { -i64::from(bit) }
        }
        PublicBit::Known(false) => offset,
        PublicBit::Step {
            base: base_c,
            from,
            to,
            part: part_c,
            up: up_c,
        } if base_c == base
            && part_c + 1 == part
            && up_c == up
            && below::<W>(part, from, offset) =>
        {
            offset + (to - from)
        }
        PublicBit::Known(_) | PublicBit::Step { .. } | PublicBit::Below { .. } => return None,
    };
    let k = (k << (W * part)) as i64;
    let to = if up { reached + k } else { reached - k };
    let carry = if to == offset {
        PublicBit::Known(false)
    } else {
        PublicBit::Step {
            base,
            from: offset,
            to,
            part,
            up,
        }
    };
    // A 32-bit word is a whole pointer: adding 2^32 - 4 takes 4 away.
    let offset = if W == 32 { i64::from(to as i32) } else { to };
    Some((Public::Pointer { base, offset, part }, carry))
}

/// The product of two numbers.
pub fn mul<const W: u32>(a: Public, b: Public, signs: Signs) -> Option<(Public, Public)> {
    let (Public::Known(a), Public::Known(b)) = (a, b) else {
        return None;
    };
    let (lo, hi) = Concrete::new(0).mul(&Bits::<W>(a), &Bits::<W>(b), signs);
    Some((Public::Known(lo.0), Public::Known(hi.0)))
}

/// Bitwise operation on numbers.
pub fn logic(op: Logic, a: Public, b: Public) -> Option<Public> {
    match (a, b) {
        (Public::Known(a), Public::Known(b)) => Some(Public::Known(op.apply(a, b))),
        _ => None,
    }
}

/// The address in the parts of a pointer, or in the parts of a number.
///
/// # Errors
/// [`Fault::SecretAddress`] when the parts do not belong together.
pub fn address<const W: u32>(parts: &[Public], extra: i64) -> Result<Address, Fault> {
    let torn = || Fault::SecretAddress("a pointer whose parts do not belong together".into());
    let width = W * parts.len() as u32;
    let wrap = |value: i64| value << (64 - width) >> (64 - width);
    match *parts.last().ok_or_else(torn)? {
        Public::Negated { .. } => Err(torn()),
        Public::Known(_) => {
            let mut value = 0;
            for (i, part) in parts.iter().enumerate() {
                let Public::Known(k) = part else {
                    return Err(torn());
                };
                value |= k << (W * i as u32);
            }
            let value = value.wrapping_add(extra as u64) & (u64::MAX >> (64 - width));
            Ok(Address {
                base: Base::ABSOLUTE,
                offset: value as i64,
            })
        }
        Public::Pointer { base, offset, .. } => {
            for (i, part) in parts.iter().enumerate() {
                let matches = matches!(*part, Public::Pointer { base: b, offset: o, part: p }
                    if b == base && p == i as u32 && (o ^ offset) << (64 - W * (p + 1)) == 0);
                if !matches {
                    return Err(torn());
                }
            }
            Ok(Address {
                base,
                offset: wrap(offset.wrapping_add(extra)),
            })
        }
    }
}
