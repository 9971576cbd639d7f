//! Which tiles share their code, and which registers hold what in them.

use std::ops::Range;

use machine::isa::avr::cores::Core;

use crate::schedule::{Select, Tile};

pub(super) const X: u8 = 26;
pub(super) const Y: u8 = 28;
pub(super) const Z: u8 = 30;

/// Tiles with the same code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    pub e: usize,
    pub f: usize,
    pub reload: Range<usize>,
    pub carry_in: Option<usize>,
    pub carry_out: bool,
    pub last: bool,
}

impl Shape {
    pub fn of(tile: &Tile) -> Self {
        Self {
            e: tile.a.len(),
            f: tile.b.len(),
            reload: tile.reload.clone(),
            carry_in: tile.carry_in,
            carry_out: tile.carry_out,
            last: tile.last,
        }
    }
}

/// Which register holds what, for the largest tile; smaller ones use the first of each.
pub struct Layout {
    pub a: Vec<u8>,
    pub b: Vec<u8>,
    pub sum: Vec<u8>,
    /// What a row leaves for the next; 0 between tiles' loops.
    pub q: u8,
    /// Counts bits; 0 after the loop.
    pub counter: u8,
    /// A mask, and the word under it.
    pub mask: Option<[u8; 2]>,
    /// Points to the result.
    pub r: u8,
}

impl Layout {
    pub fn new(core: &Core, e: usize, f: usize, select: Select) -> Option<Self> {
        let first = core.set.first_register();
        // The caller-saved first, among them those for LDI.
        let mut free: Vec<u8> = (first..X).rev().collect();
        free.sort_by_key(|r| core.abi.preserves(*r));
        let masked = select == Select::Mask;
        let mut need = 2 * (e + f) + 2 + 2 * usize::from(masked);
        let mut missing = |gives: bool| {
            let spills = need > free.len() && gives;
            need -= 2 * usize::from(spills);
            spills
        };
        let parked = core.abi.data_stack;
        let x = missing(true);
        let z = missing(e >= 2 && !parked);
        let last = missing(f >= 2);
        let r = if parked { Z } else { Y };
        if need > free.len() {
            return None;
        }
        let mut free = free.into_iter();
        let mut take = |pair: Option<u8>, count: usize| -> Vec<u8> {
            let own = pair.into_iter().flat_map(|p| [p, p + 1]);
            own.chain(free.by_ref().take(count - 2 * usize::from(pair.is_some())))
                .collect()
        };
        let control = take(x.then_some(X), 2);
        let a = take(z.then_some(Z), e);
        let b = take(last.then_some(r), f);
        Some(Self {
            mask: masked.then(|| take(None, 2)).map(|m| [m[0], m[1]]),
            sum: take(None, e + f),
            q: control[1],
            counter: control[0],
            a,
            b,
            r,
        })
    }

    pub fn holds(&self, pointer: u8) -> bool {
        let operands = self.a.iter().chain(&self.b);
        operands
            .chain([&self.q])
            .any(|r| *r == pointer || *r == pointer + 1)
    }
}
