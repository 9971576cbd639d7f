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

use crate::refusal::LowerError;
use crate::target::avr::access::{Access, accesses};
use crate::target::avr::arrive::{Action, POINTERS, Position, Resolved, Way, emit};
use crate::target::avr::pointers::{Array, Item, Mode, REACH};
use crate::target::avr::setting::{ORDERS, Setting, Y};

/// Bytes of scratch memory beyond which LDD may not reach the addresses from the stack pointer.
const NEAR: usize = 50;
/// States kept at each access.
const BEAM: usize = 24;

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

/// The cheapest ways to do the accesses so far: a beam of them.
struct Search<'a> {
    setting: &'a Setting,
    frame: Frame,
    retired: [usize; 3],
    /// Dearer ways are left out; was one?
    most: u32,
    too_dear: bool,
    beam: Vec<State>,
    /// What was done, and the node of what was done before.
    nodes: Vec<(usize, Action)>,
    /// Ways to do one access more, and those by position and cost.
    next: Vec<(State, Action)>,
    order: Vec<(u64, u32, usize)>,
}

impl Search<'_> {
    /// Does one access more; false if there is no way.
    fn step(&mut self, access: &Access) -> bool {
        self.next.clear();
        self.order.clear();
        for state in &self.beam {
            for (cost, action, after) in
                actions(state, access, &self.retired, self.frame, self.setting)
            {
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
                if cost > self.most {
                    self.too_dear = true;
                    continue;
                }
                let node = state.node;
                self.order.push((key(&at), cost, self.next.len()));
                let state = State {
                    at,
                    from,
                    cost,
                    node,
                };
                self.next.push((state, action));
            }
        }
        // The cheapest way to each position; of equal ones the first.
        self.order.sort_unstable();
        self.order.dedup_by_key(|(at, ..)| *at);
        self.order.sort_unstable_by_key(|(_, cost, i)| {
            let (state, action) = &self.next[*i];
            (*cost, state.node, action.p, action.to, action.mode as u8)
        });
        self.beam.clear();
        for (.., i) in self.order.iter().take(BEAM) {
            let (state, action) = &self.next[*i];
            self.nodes.push((state.node, *action));
            self.beam.push(State {
                node: self.nodes.len() - 1,
                ..*state
            });
        }
        !self.beam.is_empty()
    }

    /// The cheapest way: what it does, and the number of its start.
    fn best(&self) -> (Vec<Action>, usize) {
        let best = self.beam.iter().min_by_key(|s| s.cost);
        let mut actions = Vec::new();
        let mut node = best.map_or(usize::MAX, |best| best.node);
        while let Some((before, action)) = self.nodes.get(node) {
            actions.push(*action);
            node = *before;
        }
        actions.reverse();
        (actions, usize::MAX - node)
    }
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
    let list = accesses(items);
    let four = items.iter().any(|item| item.array() == Some(Array::M));
    let starts = starts(setting, four);
    // A start has a number from the last one down, where no node is.
    let beam = starts.iter().enumerate().map(|(s, at)| State {
        at: *at,
        from: [0; 3],
        cost: 0,
        node: usize::MAX - s,
    });
    let mut search = Search {
        setting,
        frame: Frame {
            scratch,
            kept: kept(four),
        },
        retired: retired(items),
        most: u32::try_from(most).unwrap_or(u32::MAX),
        too_dear: false,
        beam: beam.collect(),
        nodes: Vec::new(),
        next: Vec::new(),
        order: Vec::new(),
    };
    for access in &list {
        if !search.step(access) {
            return match search.too_dear {
                true => Ok(None),
                false => Err(LowerError::Addressing),
            };
        }
    }
    let (actions, start) = search.best();
    Ok(Some(emit(
        items,
        &list,
        &actions,
        starts[start],
        scratch,
        setting,
    )))
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
