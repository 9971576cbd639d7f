//! Addressing: where the three pointers stand, and how each access finds its words.
//!
//! LDR and STR reach 4095 bytes either way and may leave the pointer at the word they
//! access; LDM and STM need it at their first or last word or right beside, and may move
//! it over their words. Moving it otherwise is one ADD or SUB. As that reaches every
//! place, a place is worth keeping only if it costs no more than the cheapest: the search
//! keeps the cheapest places before each access.

use std::collections::BTreeMap;

use machine::isa::arm::code::{BlockMode, Insn, immediate_bits};
use machine::isa::arm::instructions::Op;
use machine::isa::arm::machine::SP;

/// The arrays of a kernel, in the order of the arguments, and scratch memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Array {
    R,
    A,
    B,
    /// A modulus.
    M,
    /// Single words above the stack pointer, which stays.
    T,
}

impl Array {
    /// All arrays.
    pub const ALL: [Array; 5] = [Array::R, Array::A, Array::B, Array::M, Array::T];

    /// The register that points to it.
    pub fn pointer(self) -> u8 {
        match self {
            Array::T => SP,
            argument => argument as u8,
        }
    }
}

/// An instruction, or an access to words of an array whose addressing is still open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    Insn(Insn),
    /// Words from `first` on, one for each register, which ascend.
    Access {
        array: Array,
        first: usize,
        registers: Vec<u8>,
        load: bool,
    },
}

/// How an access finds its words, its pointer being at `from`.
#[derive(Clone, Copy, Debug)]
struct Reach {
    from: i64,
    to: i64,
    mode: Mode,
}

/// A displacement from where the pointer is at entry.
const STAYING: Reach = Reach {
    from: 0,
    to: 0,
    mode: Mode::Displaced,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// A single word at a displacement, the pointer staying or moving there.
    Displaced,
    /// A single word, the pointer moving on.
    Post,
    /// A block: increment, and before the access.
    Block { u: bool, p: bool },
}

/// Pointer places in words, each with the place before it and the step from there.
type Layer = BTreeMap<i64, (i64, Reach)>;

/// Places kept before an access; of more, those that the next block would like, and the first.
const MOST_PLACES: usize = 64;

/// The places from which a block of words can be accessed.
fn block_places(first: i64, count: i64) -> [(i64, Mode); 4] {
    let mode = |u, p| Mode::Block { u, p };
    [
        (first, mode(true, false)),
        (first - 1, mode(true, true)),
        (first + count - 1, mode(false, false)),
        (first + count, mode(false, true)),
    ]
}

/// The steps of an access of `count` words from `first` on, for a pointer at any of `places`.
/// `aims` are the places the next block would like.
fn steps(first: i64, count: i64, place: i64, aims: &[i64]) -> Vec<Reach> {
    let step = |from, to, mode| Reach { from, to, mode };
    if count == 1 {
        let mut list = vec![
            step(place, place, Mode::Displaced),
            step(place, first, Mode::Displaced),
        ];
        if place == first {
            list.extend(aims.iter().map(|to| step(place, *to, Mode::Post)));
        }
        return list;
    }
    let fits = block_places(first, count)
        .into_iter()
        .filter(|(from, _)| *from == place);
    fits.flat_map(|(from, mode)| {
        let over = match mode {
            Mode::Block { u: true, .. } => from + count,
            _ => from - count,
        };
        [step(from, from, mode), step(from, over, mode)]
    })
    .collect()
}

/// The cheapest steps of one pointer, which starts at 0, through accesses `(first, count)`.
fn solve(list: &[(i64, i64)]) -> Vec<Reach> {
    // For each access, the places that the next block after it would like.
    let mut aims = vec![Vec::new(); list.len()];
    let mut wanted: Vec<i64> = Vec::new();
    for (i, (first, count)) in list.iter().enumerate().rev() {
        aims[i] = wanted.clone();
        if *count > 1 {
            wanted = block_places(*first, *count).iter().map(|p| p.0).collect();
        }
    }
    let mut layers: Vec<Layer> = vec![BTreeMap::from([(0, (0, STAYING))])];
    for ((first, count), aims) in list.iter().zip(&aims) {
        let before = &layers[layers.len() - 1];
        let mut layer = Layer::new();
        let mut offer = |place: i64, step: Reach| {
            layer.entry(step.to).or_insert((place, step));
        };
        for place in before.keys() {
            for step in steps(*first, *count, *place, aims) {
                offer(*place, step);
            }
        }
        if layer.is_empty() {
            // No place serves: move to one that does.
            let place = before.keys().next().copied().unwrap_or(0);
            for (from, _) in block_places(*first, *count) {
                for step in steps(*first, *count, from, aims) {
                    layer.entry(step.to).or_insert((place, step));
                }
            }
        }
        if layer.len() > MOST_PLACES {
            let first = layer.keys().next().copied();
            layer.retain(|place, _| aims.contains(place) || Some(*place) == first);
        }
        layers.push(layer);
    }
    let mut path = Vec::with_capacity(list.len());
    let last = layers.last().and_then(|l| l.keys().next().copied());
    let mut at = last.unwrap_or(0);
    for layer in layers[1..].iter().rev() {
        if let Some((previous, step)) = layer.get(&at) {
            path.push(*step);
            at = *previous;
        }
    }
    path.reverse();
    path
}

/// Adds `words` words to a pointer.
fn move_pointer(pointer: u8, words: i64) -> Option<Insn> {
    let op = if words > 0 { Op::ADD } else { Op::SUB };
    let bits = immediate_bits(4 * words.unsigned_abs() as u32)?;
    Some(Insn::alu(op, false, pointer, pointer, bits))
}

fn access(pointer: u8, first: i64, registers: &[u8], load: bool, step: &Reach) -> Insn {
    let op = |single, block| match (load, registers.len()) {
        (_, 1) => single,
        _ => block,
    };
    let op = if load {
        op(Op::LDR, Op::LDM)
    } else {
        op(Op::STR, Op::STM)
    };
    let writes = step.to != step.from;
    let bytes = |words: i64| 4 * words as i32;
    match step.mode {
        Mode::Displaced => Insn::at(op, registers[0], pointer, bytes(first - step.from), writes),
        Mode::Post => Insn::post(op, registers[0], pointer, bytes(step.to - step.from)),
        Mode::Block { u, p } => {
            let list = registers.iter().fold(0, |set, r| set | 1 << r);
            let mode = BlockMode { up: u, before: p };
            Insn::block(op, pointer, mode, writes, list)
        }
    }
}

/// Resolves every access: for each item, its instructions. `None` where a pointer cannot reach.
pub fn resolve(items: &[Item]) -> Option<Vec<Vec<Insn>>> {
    let mut out: Vec<Vec<Insn>> = items
        .iter()
        .map(|item| match item {
            Item::Insn(insn) => vec![*insn],
            Item::Access { .. } => vec![],
        })
        .collect();
    for wanted in Array::ALL {
        let mut indices = Vec::new();
        let mut list = Vec::new();
        for (i, item) in items.iter().enumerate() {
            if let Item::Access {
                array,
                first,
                registers,
                ..
            } = item
                && *array == wanted
            {
                indices.push(i);
                list.push((*first as i64, registers.len() as i64));
            }
        }
        let pointer = wanted.pointer();
        let mut place = 0;
        let steps = match wanted {
            Array::T => vec![STAYING; list.len()],
            _ => solve(&list),
        };
        for (i, step) in indices.into_iter().zip(steps) {
            let Item::Access {
                first,
                registers,
                load,
                ..
            } = &items[i]
            else {
                continue;
            };
            if step.from != place {
                out[i].push(move_pointer(pointer, step.from - place)?);
            }
            if (*first as i64 - step.from).abs() > 1023 {
                return None;
            }
            out[i].push(access(pointer, *first as i64, registers, *load, &step));
            place = step.to;
        }
    }
    Some(out)
}
