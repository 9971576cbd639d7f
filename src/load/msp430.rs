//! Relocations of the MSP430 (binutils, elf/msp430.h and elf32-msp430.c), which the MSP430X numbers in another way: words
//! that are addresses, or distances from themselves, and jumps.

use crate::load::relocation::{Reference, Relocations, Unknown};

/// What a relocation does.
enum Does {
    Nothing,
    /// A word is an address.
    Word,
    /// A word is the distance from itself.
    Distance,
    /// So are ten bits of a jump, in words from the one behind it.
    Jump,
}

/// What type `kind` does, on the MSP430X or not.
fn does(kind: u32, extended: bool) -> Option<Does> {
    Some(match (kind, extended) {
        (0, _) => Does::Nothing,
        (2 | 15, true) | (3 | 5, false) => Does::Word,
        (4 | 13, true) | (4 | 6, false) => Does::Distance,
        (19, true) | (2, false) => Does::Jump,
        _ => return None,
    })
}

impl Relocations<'_> {
    /// Applies `r`, whose `S` is `to`, at byte `at`.
    pub(super) fn msp430(
        &self,
        r: &Reference,
        to: u64,
        bytes: &mut [u8],
        at: usize,
    ) -> Result<(), Unknown> {
        let old = self.get(bytes, at, 2);
        let x = (to as i64).wrapping_add(r.addend.unwrap_or(0));
        let from_here = x.wrapping_sub((self.address + r.offset) as i64);
        let new = match does(r.kind, self.extended).ok_or(Unknown)? {
            Does::Nothing => old,
            Does::Word => x as u64 & 0xffff,
            Does::Distance => from_here as u64 & 0xffff,
            Does::Jump if (-1022..=1024).contains(&from_here) => {
                old & 0xfc00 | ((from_here - 2) >> 1) as u64 & 0x3ff
            }
            Does::Jump => return Err(Unknown),
        };
        self.put(bytes, at, 2, new);
        Ok(())
    }
}
