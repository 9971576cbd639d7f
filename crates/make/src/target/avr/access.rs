//! Accesses to memory, and the places in the code at which a pointer may move for them.

use machine::isa::avr::instructions::Op;

use crate::target::avr::pointers::{Array, Item, REACH, carry_use};

/// Accesses of the same array that a move looks at.
const LOOK: usize = 96;

/// An access, and what lies around it.
pub struct Access {
    pub item: usize,
    pub array: Array,
    pub offset: i64,
    /// The last item not after it before which no carry is on its way.
    pub gap: usize,
    /// Is the carry on its way here; does r0 hold something?
    pub carry: bool,
    pub r0: bool,
    /// Does r0 hold something at the gap?
    pub r0_gap: bool,
    /// Lowest and highest offset that a window around the next accesses covers.
    pub low: i64,
    pub high: i64,
}

/// Before which items the carry, and r0, hold something that is still read.
fn liveness(items: &[Item]) -> (Vec<bool>, Vec<bool>) {
    let mut carry = vec![false; items.len() + 1];
    let mut r0 = vec![false; items.len() + 1];
    for (i, item) in items.iter().enumerate().rev() {
        let (mut reads, mut writes) = (false, false);
        let (mut reads_r0, mut writes_r0) = (false, false);
        match item {
            Item::Insn(insn) => {
                (reads, writes) = carry_use(insn);
                let product = insn.op == Op::MUL;
                let copies = insn.op == Op::MOVW && insn.ops.r == 0;
                let named = match product {
                    // It writes r0 whatever it multiplies.
                    true => insn.ops.d == 0 || insn.ops.r == 0,
                    false => insn.registers().contains(&0),
                };
                reads_r0 = copies || named;
                writes_r0 = product;
            }
            Item::Load { reg, .. } => writes_r0 = *reg == 0,
            Item::Store { reg, .. } => reads_r0 = *reg == 0,
        }
        carry[i] = reads || (!writes && carry[i + 1]);
        r0[i] = reads_r0 || (!writes_r0 && r0[i + 1]);
    }
    (carry, r0)
}

/// The accesses among `items`.
pub fn accesses(items: &[Item]) -> Vec<Access> {
    let (carry, r0) = liveness(items);
    let mut list: Vec<Access> = Vec::new();
    let mut gap = 0;
    for (i, item) in items.iter().enumerate() {
        if !carry[i] {
            gap = i;
        }
        if let Item::Load { array, offset, .. } | Item::Store { array, offset, .. } = item {
            list.push(Access {
                item: i,
                array: *array,
                offset: *offset as i64,
                gap,
                carry: carry[i],
                r0: r0[i],
                r0_gap: r0[gap],
                low: *offset as i64,
                high: *offset as i64,
            });
        }
    }
    for i in 0..list.len() {
        let array = list[i].array;
        let (mut low, mut high) = (list[i].offset, list[i].offset);
        for next in list[i + 1..].iter().filter(|a| a.array == array).take(LOOK) {
            let (l, h) = (low.min(next.offset), high.max(next.offset));
            if h - l > REACH {
                break;
            }
            (low, high) = (l, h);
        }
        (list[i].low, list[i].high) = (low, high);
    }
    list
}
