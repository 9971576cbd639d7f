//! Addressing with more arrays than pointers: a beam search over what X, Y and Z point to.
//!
//! A pointer that moves within its array costs two cycles (ADIW, SUBI and SBCI), one that
//! follows another MOVW more; the stack pointer is read in two (IN, IN), and an operand's
//! address that no pointer holds comes back from the frame, where the prologue put it. A
//! move destroys the carry: it goes where none is on its way, or r0 keeps the carry meanwhile,
//! pushed if it holds something.
//!
//! Where Y is the stack pointer of data it stays where it is: at the bottom of the frame, which
//! holds addresses first and scratch words above them. Then X and Z serve the operands.

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;

use crate::refusal::LowerError;
use crate::target::avr::access::{Access, accesses};
use crate::target::avr::pointers::{Array, Item, Mode, REACH, load, move_pointer, store};
use crate::target::avr::setting::{ORDERS, Setting, Y};

/// I/O addresses of the stack pointer and the status register.
pub const SPL: i32 = 0x3d;
pub const SPH: i32 = 0x3e;
pub const SREG: i32 = 0x3f;

/// Bytes of scratch memory beyond which LDD may not reach the addresses from the stack pointer.
const NEAR: usize = 50;
/// States kept at each access.
const BEAM: usize = 24;

const POINTERS: [Pointer; 3] = [Pointer::X, Pointer::Y, Pointer::Z];

/// How a pointer gets somewhere else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Stay,
    /// Within its array.
    Move,
    /// From another pointer, then on.
    Copy(usize),
    /// From the stack pointer.
    Stack,
    /// From the frame, through another pointer that points there, or by itself and r0, which the
    /// stack keeps if it holds something.
    Frame(Option<usize>),
    /// From the registers that keep the address.
    Home(u8),
}

/// Bytes of the frame that addresses of three arguments, or of four, take at most.
fn kept(four: bool) -> i64 {
    if four { 8 } else { 6 }
}

/// Bytes of scratch memory, and above them of addresses at most.
#[derive(Clone, Copy)]
struct Frame {
    scratch: usize,
    kept: i64,
}

/// What one access does: before item `place` pointer `p` goes to `to` by `way`; then the
/// access by `mode`.
#[derive(Clone, Copy, Debug)]
struct Action {
    p: usize,
    to: i64,
    way: Way,
    mode: Mode,
    place: usize,
    /// Keep the carry in r0 meanwhile.
    save: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Position {
    array: Array,
    offset: i64,
}

/// Three positions in one number.
fn key(at: &[Option<Position>; 3]) -> u64 {
    let one = |at: &Option<Position>| match at {
        None => 0,
        Some(at) => 1 + at.array as u64 + ((at.offset as u64 & 0x3_ffff) << 3),
    };
    at.iter().fold(0, |key, at| key << 21 | one(at))
}

#[derive(Clone, Copy, Debug)]
struct State {
    at: [Option<Position>; 3],
    /// The first item before which each pointer may move.
    from: [usize; 3],
    cost: u32,
    node: usize,
}

/// The result: pointers at entry for R, A, B, M; the arrays whose address the frame keeps; code per item.
pub struct Resolved {
    pub entry: [Option<Pointer>; 4],
    pub kept: Vec<Array>,
    pub items: Vec<Vec<Insn>>,
}

/// From which item on each pointer register holds values and can point no more.
fn retired(items: &[Item]) -> [usize; 3] {
    POINTERS.map(|p| {
        let named = |item: &Item| match item {
            Item::Insn(insn) => {
                let registers = insn.registers();
                registers.contains(&p.low()) || registers.contains(&(p.low() + 1))
            }
            Item::Load { reg, .. } | Item::Store { reg, .. } => *reg / 2 == p.low() / 2,
        };
        items.iter().position(named).unwrap_or(items.len())
    })
}

/// What `access` can do with pointer `p` once it is at `to`: modes, and where each leaves it.
fn modes(p: usize, to: i64, offset: i64, moves: bool) -> impl Iterator<Item = (Mode, i64)> {
    let d = offset - to;
    let displaced =
        (d == 0 || (p != 0 && (0..=REACH).contains(&d))).then_some((Mode::Displaced, to));
    let up = (d == 0 && moves).then_some((Mode::PostIncrement, to + 1));
    let down = (d == -1 && moves).then_some((Mode::PreDecrement, to - 1));
    [displaced, up, down].into_iter().flatten()
}

/// Where X, Y and Z may point at entry: to the arguments in any order, of four to any three.
fn starts(setting: &Setting, four: bool) -> Vec<[Option<Position>; 3]> {
    use Array::{A, B, M, R};
    let triples: &[[Array; 3]] = match four {
        true => &[[R, A, B], [R, A, M], [R, B, M], [A, B, M]],
        false => &[[R, A, B]],
    };
    // As many addresses as there may be lie below the scratch words.
    let frame = Position {
        array: Array::T,
        offset: -kept(four),
    };
    let start = |(arrays, order): (&[Array; 3], [usize; 3])| {
        let mut at = [None; 3];
        for (array, p) in arrays.iter().zip(order) {
            at[p] = Some(Position {
                array: *array,
                offset: 0,
            });
        }
        if setting.abi.data_stack {
            at[Y] = Some(frame);
        }
        at
    };
    let all = triples.iter().flat_map(|t| ORDERS.map(|order| (t, order)));
    all.map(start).collect()
}

/// Resolves every access; `None` if all ways take more than `most` cycles.
///
/// # Errors
/// When no pointer is left for an access.
pub fn resolve(
    items: &[Item],
    scratch: usize,
    setting: &Setting,
    most: u64,
) -> Result<Option<Resolved>, LowerError> {
    let most = u32::try_from(most).unwrap_or(u32::MAX);
    let mut too_dear = false;
    let list = accesses(items);
    let retired = retired(items);
    let mut nodes: Vec<(usize, Action)> = Vec::new();
    let four = items.iter().any(|item| item.array() == Some(Array::M));
    let frame = Frame {
        scratch,
        kept: kept(four),
    };
    let starts = starts(setting, four);
    let mut beam: Vec<State> = starts
        .iter()
        .enumerate()
        .map(|(s, at)| State {
            at: *at,
            from: [0; 3],
            cost: 0,
            node: usize::MAX - s,
        })
        .collect();
    let mut next: Vec<(State, Action)> = Vec::new();
    let mut order: Vec<(u64, u32, usize)> = Vec::new();
    for access in &list {
        next.clear();
        order.clear();
        for state in &beam {
            for (cost, action, after) in actions(state, access, &retired, frame, setting) {
                let mut at = state.at;
                at[action.p] = Some(after);
                let mut from = state.from;
                from[action.p] = access.item + 1;
                match action.way {
                    Way::Copy(q) | Way::Frame(Some(q)) => {
                        from[q] = access.item + 1;
                    }
                    _ => {}
                }
                let cost = state.cost + cost;
                if cost > most {
                    too_dear = true;
                    continue;
                }
                let node = state.node;
                order.push((key(&at), cost, next.len()));
                next.push((
                    State {
                        at,
                        from,
                        cost,
                        node,
                    },
                    action,
                ));
            }
        }
        // The cheapest way to each position; of equal ones the first.
        order.sort_unstable();
        order.dedup_by_key(|(at, ..)| *at);
        order.sort_unstable_by_key(|(_, cost, i)| {
            let (state, action) = &next[*i];
            (*cost, state.node, action.p, action.to, action.mode as u8)
        });
        beam.clear();
        for (.., i) in order.iter().take(BEAM) {
            let (state, action) = &next[*i];
            nodes.push((state.node, *action));
            beam.push(State {
                node: nodes.len() - 1,
                ..*state
            });
        }
        if beam.is_empty() {
            return match too_dear {
                true => Ok(None),
                false => Err(LowerError::Addressing),
            };
        }
    }
    let best = beam.iter().min_by_key(|s| s.cost);
    let mut actions = Vec::with_capacity(list.len());
    let mut node = best.map_or(usize::MAX, |best| best.node);
    while node < nodes.len() {
        actions.push(nodes[node].1);
        node = nodes[node].0;
    }
    actions.reverse();
    let start = starts[usize::MAX - node];
    Ok(Some(emit(items, &list, &actions, start, scratch, setting)))
}

/// Every way to make an access: cost, action, where its pointer is then.
fn actions(
    state: &State,
    access: &Access,
    retired: &[usize; 3],
    Frame { scratch, kept }: Frame,
    setting: &Setting,
) -> Vec<(u32, Action, Position)> {
    let mut list = Vec::new();
    let array = access.array;
    let offset = access.offset;
    let mut push = |cost: u32, p: usize, to: i64, way: Way, (place, save): (usize, bool)| {
        for (mode, offset) in modes(p, to, offset, setting.moves(p)) {
            let action = Action {
                p,
                to,
                way,
                mode,
                place,
                save,
            };
            list.push((cost, action, Position { array, offset }));
        }
    };
    let here = (access.item, false);
    let free: Vec<usize> = (0..3).filter(|p| access.item < retired[*p]).collect();
    // A pointer that is there is used.
    let mut there = false;
    for &p in &free {
        if let Some(at) = state.at[p].filter(|at| at.array == array)
            && modes(p, at.offset, offset, setting.moves(p))
                .next()
                .is_some()
        {
            push(0, p, at.offset, Way::Stay, here);
            there = true;
        }
    }
    if there {
        return list;
    }
    // Cycles to keep the carry in r0, which is pushed if it holds something.
    let keep = u32::from(access.carry) * if access.r0 { 6 } else { 2 };
    for &p in free.iter().filter(|p| setting.moves(**p)) {
        let early = state.from[p] <= access.gap;
        // Where the carry may be destroyed, and what that costs.
        let (spot, extra) = match access.carry && early {
            true => ((access.gap, false), 0),
            false => ((access.item, access.carry), keep),
        };
        for to in targets(p, access) {
            if state.at[p].is_some_and(|at| at.array == array) {
                push(2 + extra, p, to, Way::Move, spot);
                continue;
            }
            let on = |extra: u32| if to == 0 { 0 } else { 2 + extra };
            for q in (0..3).filter(|q| access.item < retired[*q]) {
                let Some(from) = state.at[q].filter(|at| at.array == array) else {
                    continue;
                };
                if from.offset == to {
                    push(1, p, to, Way::Copy(q), here);
                } else if access.carry && early && state.from[q] <= access.gap {
                    push(3, p, to, Way::Copy(q), (access.gap, false));
                } else {
                    push(3 + keep, p, to, Way::Copy(q), (access.item, access.carry));
                }
            }
            if let Some(home) = setting.home(array) {
                if to == 0 {
                    push(1, p, to, Way::Home(home), here);
                } else {
                    push(3 + extra, p, to, Way::Home(home), spot);
                }
                continue;
            }
            if array == Array::T {
                // Only a copy of Y reaches further than Y where that is the stack pointer.
                if !setting.abi.data_stack {
                    push(4 + extra, p, to, Way::Stack, spot);
                }
                continue;
            }
            let reaches = |q: &usize| {
                !setting.moves(*q)
                    || state.at[*q].is_some_and(|at| {
                        let reach = at.offset + REACH - scratch as i64;
                        at.array == Array::T && (kept..REACH).contains(&reach)
                    })
            };
            let through = (1..3).find(|q| *q != p && access.item < retired[*q] && reaches(q));
            if let Some(q) = through {
                if to == 0 {
                    push(4, p, to, Way::Frame(through), here);
                } else if access.carry && early && state.from[q] <= access.gap {
                    push(6, p, to, Way::Frame(through), (access.gap, false));
                } else {
                    let spot = (access.item, access.carry);
                    push(4 + on(keep), p, to, Way::Frame(through), spot);
                }
            } else if p != 0 {
                // Moves are made beside the carry, not by `save`: r0 takes the low byte between them.
                let moves = u32::from(to != 0) + u32::from(scratch > NEAR);
                let [carry, r0] = [access.carry, access.r0].map(u32::from);
                let cost = 7 + (2 + 2 * carry) * moves + 4 * r0;
                push(cost, p, to, Way::Frame(None), here);
                if access.carry && early && !access.r0_gap {
                    push(7 + 2 * moves, p, to, Way::Frame(None), (access.gap, false));
                }
            }
        }
    }
    list
}

/// Where a pointer may usefully be for an access: windows up and down from it, and around what follows.
fn targets(p: usize, access: &Access) -> Vec<i64> {
    let offset = access.offset;
    if p == 0 {
        return vec![offset, offset + 1];
    }
    let mut all = vec![
        offset,
        access.low,
        (access.high - REACH).max(0),
        (offset - REACH).max(0),
    ];
    all.retain(|to| *to <= offset && offset - to <= REACH);
    all.sort_unstable();
    all.dedup();
    all
}

/// `insns`, with the carry kept in r0 meanwhile if there is one.
fn beside(carry: bool, mut insns: Vec<Insn>) -> Vec<Insn> {
    if carry && !insns.is_empty() {
        insns.insert(0, Insn::rr(Op::SBC, 0, 0));
        insns.push(Insn::dk(Op::LSR, 0, 0));
    }
    insns
}

fn emit(
    items: &[Item],
    list: &[Access],
    actions: &[Action],
    start: [Option<Position>; 3],
    scratch: usize,
    setting: &Setting,
) -> Resolved {
    let mut kept = Vec::new();
    for (access, action) in list.iter().zip(actions) {
        if matches!(action.way, Way::Frame(_)) && !kept.contains(&access.array) {
            kept.push(access.array);
        }
    }
    let mut before: Vec<Vec<Insn>> = vec![vec![]; items.len() + 1];
    let mut own: Vec<Vec<Insn>> = items
        .iter()
        .map(|item| match item {
            Item::Insn(insn) => vec![*insn],
            _ => vec![],
        })
        .collect();
    let mut at = start;
    // Addresses in the frame: below the scratch words where Y points there all the time, else above.
    let addresses = 2 * kept.len() as i64;
    let first = match setting.abi.data_stack {
        true => {
            at[Y] = Some(Position {
                array: Array::T,
                offset: -addresses,
            });
            -addresses
        }
        false => scratch as i64,
    };
    for (access, action) in list.iter().zip(actions) {
        let p = POINTERS[action.p];
        let to = match setting.moves(action.p) {
            true => action.to,
            false => -addresses,
        };
        let low = p.low();
        let here = at[action.p];
        let mut insns = Vec::new();
        let keeps_r0 = action.save && access.r0;
        match action.way {
            Way::Stay => {}
            Way::Move => {
                insns.extend(move_pointer(p, action.to - here.map_or(0, |h| h.offset)));
            }
            Way::Copy(q) => {
                insns.push(Insn::rr(Op::MOVW, low, POINTERS[q].low()));
                insns.extend(move_pointer(p, action.to - at[q].map_or(0, |h| h.offset)));
            }
            Way::Stack => {
                insns.push(Insn::dk(Op::IN, low, SPL));
                insns.push(Insn::dk(Op::IN, low + 1, SPH));
                insns.extend(move_pointer(p, action.to + 1 + i64::from(keeps_r0)));
            }
            Way::Frame(through) => {
                let index = kept.iter().position(|a| *a == access.array).unwrap_or(0) as i64;
                let alone = through.is_none();
                let here = alone && action.place == access.item;
                let (pushed, carry) = (here && access.r0, here && access.carry);
                let (q, offset) = match through {
                    Some(q) => (q, at[q].map_or(0, |h| h.offset)),
                    None => {
                        insns.extend(pushed.then_some(Insn::rr(Op::PUSH, 0, 0)));
                        insns.push(Insn::dk(Op::IN, low, SPL));
                        insns.push(Insn::dk(Op::IN, low + 1, SPH));
                        (action.p, -1 - i64::from(pushed))
                    }
                };
                // The pointer's low byte was pushed last: it lies lowest.
                let mut word = first + 2 * index - offset;
                let base = POINTERS[q];
                if word >= REACH {
                    insns.extend(beside(carry, move_pointer(base, word)));
                    word = 0;
                }
                let first = if alone { 0 } else { low };
                insns.push(load(base, Mode::Displaced, first, word));
                insns.push(load(base, Mode::Displaced, low + 1, word + 1));
                insns.extend(alone.then_some(Insn::rr(Op::MOV, low, 0)));
                insns.extend(beside(carry, move_pointer(p, action.to)));
                insns.extend(pushed.then_some(Insn::rr(Op::POP, 0, 0)));
            }
            Way::Home(home) => {
                insns.push(Insn::rr(Op::MOVW, low, home));
                insns.extend(move_pointer(p, action.to));
            }
        }
        insns = beside(action.save, insns);
        if keeps_r0 {
            insns.insert(0, Insn::rr(Op::PUSH, 0, 0));
            insns.push(Insn::rr(Op::POP, 0, 0));
        }
        before[action.place].extend(insns);
        let q = access.offset - to;
        own[access.item] = match items[access.item] {
            Item::Load { reg, .. } => vec![load(p, action.mode, reg, q)],
            Item::Store { reg, .. } => vec![store(p, action.mode, reg, q)],
            Item::Insn(insn) => vec![insn],
        };
        let after = match action.mode {
            Mode::Displaced => to,
            Mode::PostIncrement => to + 1,
            Mode::PreDecrement => to - 1,
        };
        at[action.p] = Some(Position {
            array: access.array,
            offset: after,
        });
    }
    for (insns, first) in own.iter_mut().zip(before) {
        insns.splice(0..0, first);
    }
    let used = |array: Array| {
        list.iter().any(|a| a.array == array).then(|| {
            let p = start
                .iter()
                .position(|at| at.is_some_and(|at| at.array == array));
            p.map(|p| POINTERS[p])
        })?
    };
    Resolved {
        entry: [Array::R, Array::A, Array::B, Array::M].map(used),
        kept,
        items: own,
    }
}
