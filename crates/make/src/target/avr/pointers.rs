//! Addressing: which pointer register serves which array, and where it must move.
//!
//! X reaches the word it points to, Y and Z also 63 bytes on; all three step up after or
//! down before an access for free; any other move is two cycles (ADIW, SBIW or SUBI,
//! SBCI) and destroys the carry. Given the order of accesses, the cheapest moves are a
//! shortest path over pointer positions; the assignment of arrays to pointers is the
//! cheapest of the six.

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;

/// The bit of the carry in SREG, as BSET and BCLR name it.
pub(super) const CARRY: u8 = 0;

/// The arrays of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Array {
    R,
    A,
    B,
    /// A modulus, the fourth argument.
    M,
    /// Scratch memory on the stack.
    T,
}

impl Array {
    /// The arrays that are arguments, in their order.
    pub const ARGUMENTS: [Array; 3] = [Array::R, Array::A, Array::B];
}

/// An instruction, or an access to an array whose addressing is still open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    Insn(Insn),
    Load {
        array: Array,
        offset: usize,
        reg: u8,
    },
    Store {
        array: Array,
        offset: usize,
        reg: u8,
    },
}

impl Item {
    /// The instructions of an item that is no access.
    pub(super) fn alone(&self) -> Vec<Insn> {
        match self {
            Item::Insn(insn) => vec![*insn],
            Item::Load { .. } | Item::Store { .. } => vec![],
        }
    }

    /// The array it accesses.
    pub fn array(&self) -> Option<Array> {
        match self {
            Item::Insn(_) => None,
            Item::Load { array, .. } | Item::Store { array, .. } => Some(*array),
        }
    }
}

/// How an access finds its word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// At the pointer, or up to 63 bytes on.
    Displaced,
    PostIncrement,
    PreDecrement,
}

impl Mode {
    /// How far it moves the pointer.
    pub(super) fn moves(self) -> i64 {
        match self {
            Self::Displaced => 0,
            Self::PostIncrement => 1,
            Self::PreDecrement => -1,
        }
    }
}

/// One access: move the pointer to `from`, then use `mode`.
#[derive(Clone, Copy, Debug)]
struct Reach {
    from: i64,
    mode: Mode,
}

impl Reach {
    fn after(&self) -> i64 {
        match self.mode {
            Mode::Displaced => self.from,
            Mode::PostIncrement => self.from + 1,
            Mode::PreDecrement => self.from - 1,
        }
    }
}

/// An access of one array in the item list.
#[derive(Clone, Copy, Debug)]
struct Access {
    item: usize,
    offset: i64,
    /// Item before which the pointer may move: no carry is on its way there.
    gap: Option<usize>,
}

/// The best way to a pointer position: its cost, where the way before it is, its last step.
#[derive(Clone, Copy, Debug)]
struct Best {
    cost: u64,
    previous: usize,
    step: Reach,
}

/// The reachable pointer positions `first, first + 1, ...` after an access.
struct Layer {
    first: i64,
    states: Vec<Option<Best>>,
}

impl Layer {
    /// Positions an access at `offset` can leave a pointer of the given reach in.
    fn around(offset: i64, reach: i64) -> Self {
        let first = (offset - reach).max(0);
        Self {
            first,
            states: vec![None; (offset + 2 - first) as usize],
        }
    }

    fn at(&self, position: i64) -> Option<(u64, usize)> {
        let i = usize::try_from(position - self.first).ok()?;
        self.states.get(i)?.map(|s| (s.cost, i))
    }

    fn cheapest(&self) -> Option<(u64, usize)> {
        let costs = self.states.iter().enumerate();
        costs.filter_map(|(i, s)| s.map(|s| (s.cost, i))).min()
    }

    fn offer(&mut self, state: Best) {
        let slot = &mut self.states[(state.step.after() - self.first) as usize];
        if slot.is_none_or(|old| state.cost < old.cost) {
            *slot = Some(state);
        }
    }
}

/// Accesses solved together; longer sequences are cut there.
const WINDOW: usize = 1024;
/// The longest displacement of Y and Z (DS40002198, LDD).
pub(super) const REACH: i64 = 63;
/// Cycles of moving a pointer.
const MOVE: u64 = 2;

/// Does the instruction read the carry, and does it write it?
pub(super) fn carry_use(insn: &Insn) -> (bool, bool) {
    match insn.op {
        Op::ADC | Op::SBC | Op::SBCI | Op::CPC | Op::ROR => (true, true),
        Op::BRBS | Op::BRBC | Op::RET | Op::RETI => (true, false),
        Op::ADD | Op::ADIW | Op::SUB | Op::SUBI | Op::SBIW | Op::COM | Op::NEG | Op::CP => {
            (false, true)
        }
        Op::CPI | Op::MUL | Op::MULS | Op::MULSU | Op::FMUL | Op::FMULS | Op::FMULSU => {
            (false, true)
        }
        Op::LSR | Op::ASR => (false, true),
        Op::BSET | Op::BCLR => (false, insn.ops.b == CARRY),
        _ => (false, false),
    }
}

fn accesses(items: &[Item], wanted: Array) -> Vec<Access> {
    // Before which items is the carry dead?
    let mut dead = vec![true; items.len() + 1];
    for (i, item) in items.iter().enumerate().rev() {
        let (reads, writes) = match item {
            Item::Insn(insn) => carry_use(insn),
            _ => (false, false),
        };
        dead[i] = !reads && (writes || dead[i + 1]);
    }
    let mut list = Vec::new();
    let mut gap = None;
    for (i, item) in items.iter().enumerate() {
        if dead[i] {
            gap = Some(i);
        }
        if let Item::Load { array, offset, .. } | Item::Store { array, offset, .. } = item
            && *array == wanted
        {
            list.push(Access {
                item: i,
                offset: *offset as i64,
                gap,
            });
            gap = None;
        }
    }
    list
}

/// Cuts `list` into windows, each starting where the pointer may move.
fn windows(list: &[Access]) -> Vec<&[Access]> {
    let mut cuts = vec![0];
    for (i, access) in list.iter().enumerate() {
        if i >= cuts[cuts.len() - 1] + WINDOW && access.gap.is_some() {
            cuts.push(i);
        }
    }
    cuts.push(list.len());
    cuts.windows(2).map(|cut| &list[cut[0]..cut[1]]).collect()
}

/// The cheapest steps of one pointer through `list`, and their cost; `None` if a move has no place.
fn solve(list: &[Access], reach: i64) -> Option<(Vec<Reach>, u64)> {
    let mut steps = Vec::with_capacity(list.len());
    let (mut position, mut total) = (0i64, 0u64);
    for window in windows(list) {
        let start = Best {
            cost: 0,
            previous: 0,
            step: Reach {
                from: position,
                mode: Mode::Displaced,
            },
        };
        let mut layers = vec![Layer {
            first: position,
            states: vec![Some(start)],
        }];
        for access in window {
            let before = &layers[layers.len() - 1];
            let moved = before
                .cheapest()
                .filter(|_| access.gap.is_some())
                .map(|(cost, i)| (cost + MOVE, i));
            let o = access.offset;
            let mut layer = Layer::around(o, reach);
            for from in layer.first..=o + 1 {
                let Some((cost, previous)) = before.at(from).into_iter().chain(moved).min() else {
                    continue;
                };
                let modes: &[Mode] = match o - from {
                    -1 => &[Mode::PreDecrement],
                    0 => &[Mode::Displaced, Mode::PostIncrement],
                    _ => &[Mode::Displaced],
                };
                for mode in modes {
                    let step = Reach { from, mode: *mode };
                    layer.offer(Best {
                        cost,
                        previous,
                        step,
                    });
                }
            }
            layers.push(layer);
        }
        let last = layers.last()?;
        let (cost, mut at) = last.cheapest()?;
        total += cost;
        position = last.first + at as i64;
        let mut tail = Vec::with_capacity(window.len());
        for layer in layers[1..].iter().rev() {
            let state = layer.states[at]?;
            tail.push(state.step);
            at = state.previous;
        }
        steps.extend(tail.into_iter().rev());
    }
    Some((steps, total))
}

/// Instructions that add `by` to a pointer.
pub(super) fn move_pointer(p: Pointer, by: i64) -> Vec<Insn> {
    let low = p.low();
    match by {
        0 => vec![],
        1..=REACH => vec![Insn::dk(Op::ADIW, low, by as i32)],
        -63..=-1 => vec![Insn::dk(Op::SBIW, low, -by as i32)],
        _ => {
            let k = -by as i32;
            vec![
                Insn::dk(Op::SUBI, low, k & 0xff),
                Insn::dk(Op::SBCI, low + 1, k >> 8 & 0xff),
            ]
        }
    }
}

pub(super) fn load(p: Pointer, mode: Mode, reg: u8, q: i64) -> Insn {
    let op = match (p, mode) {
        (Pointer::X, Mode::Displaced) => Op::LDX,
        (Pointer::X, Mode::PostIncrement) => Op::LDX_INC,
        (Pointer::X, Mode::PreDecrement) => Op::LDX_DEC,
        (Pointer::Y, Mode::Displaced) => Op::LDDY,
        (Pointer::Y, Mode::PostIncrement) => Op::LDY_INC,
        (Pointer::Y, Mode::PreDecrement) => Op::LDY_DEC,
        (Pointer::Z, Mode::Displaced) => Op::LDDZ,
        (Pointer::Z, Mode::PostIncrement) => Op::LDZ_INC,
        (Pointer::Z, Mode::PreDecrement) => Op::LDZ_DEC,
    };
    Insn::dk(op, reg, displacement(op, q))
}

pub(super) fn store(p: Pointer, mode: Mode, reg: u8, q: i64) -> Insn {
    let op = match (p, mode) {
        (Pointer::X, Mode::Displaced) => Op::STX,
        (Pointer::X, Mode::PostIncrement) => Op::STX_INC,
        (Pointer::X, Mode::PreDecrement) => Op::STX_DEC,
        (Pointer::Y, Mode::Displaced) => Op::STDY,
        (Pointer::Y, Mode::PostIncrement) => Op::STY_INC,
        (Pointer::Y, Mode::PreDecrement) => Op::STY_DEC,
        (Pointer::Z, Mode::Displaced) => Op::STDZ,
        (Pointer::Z, Mode::PostIncrement) => Op::STZ_INC,
        (Pointer::Z, Mode::PreDecrement) => Op::STZ_DEC,
    };
    Insn::rk(op, reg, displacement(op, q))
}

fn displacement(op: Op, q: i64) -> i32 {
    match op {
        Op::LDDY | Op::LDDZ | Op::STDY | Op::STDZ => q as i32,
        _ => 0,
    }
}

/// Resolves every access. Returns the pointers of R, A and B, and for each item its instructions.
pub fn resolve(items: &[Item]) -> Option<([Pointer; 3], Vec<Vec<Insn>>)> {
    use Pointer::{X, Y, Z};
    let lists = Array::ARGUMENTS.map(|array| accesses(items, array));
    let solutions: Vec<_> = lists
        .iter()
        .map(|list| (solve(list, 0), solve(list, REACH)))
        .collect();
    // Z before Y where both would do: Y must be saved by the callee.
    let orders = [
        [X, Y, Z],
        [X, Z, Y],
        [Z, X, Y],
        [Y, X, Z],
        [Z, Y, X],
        [Y, Z, X],
    ];
    let pick = |array: usize, p: Pointer| match p {
        X => solutions[array].0.as_ref(),
        Y | Z => solutions[array].1.as_ref(),
    };
    let best = orders
        .iter()
        .filter_map(|order| {
            let cost: Option<u64> = (0..3).map(|i| pick(i, order[i]).map(|s| s.1)).sum();
            Some((cost?, order))
        })
        .min_by_key(|(cost, _)| *cost)?
        .1;
    let mut out: Vec<Vec<Insn>> = items
        .iter()
        .map(|item| match item {
            Item::Insn(insn) => vec![*insn],
            _ => vec![],
        })
        .collect();
    let mut moves: Vec<Vec<Insn>> = vec![vec![]; items.len() + 1];
    for (i, list) in lists.iter().enumerate() {
        let (steps, _) = pick(i, best[i])?;
        let p = best[i];
        let mut position = 0;
        for (access, step) in list.iter().zip(steps) {
            let by = step.from - position;
            if by != 0 {
                moves[access.gap?].extend(move_pointer(p, by));
            }
            let q = access.offset - step.from;
            out[access.item] = match items[access.item] {
                Item::Load { reg, .. } => vec![load(p, step.mode, reg, q)],
                Item::Store { reg, .. } => vec![store(p, step.mode, reg, q)],
                Item::Insn(insn) => vec![insn],
            };
            position = step.after();
        }
    }
    for (insns, before) in out.iter_mut().zip(moves) {
        insns.splice(0..0, before);
    }
    Some((*best, out))
}
