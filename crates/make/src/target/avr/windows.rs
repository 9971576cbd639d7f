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
    frame: Frame,
    setting: &Setting,
) -> Vec<(u32, Action, Position)> {
    let mut ways = Ways {
        state,
        access,
        retired,
        frame,
        setting,
        list: Vec::new(),
    };
    let free: Vec<usize> = (0..3).filter(|p| ways.is_free(*p)).collect();
    // A pointer that is there is used.
    for &p in &free {
        if let Some(at) = ways.there(p) {
            let reaches = modes(p, at, access.offset, setting.moves(p)).next();
            if reaches.is_some() {
                ways.push(0, p, at, Way::Stay, ways.here());
            }
        }
    }
    if ways.list.is_empty() {
        for &p in free.iter().filter(|p| setting.moves(**p)) {
            for to in targets(p, access) {
                ways.reach(p, to);
            }
        }
    }
    ways.list
}

/// Where an instruction before an access stands, and whether the carry is kept beside it.
type Spot = (usize, bool);

/// Ways to make an access, as they are found.
struct Ways<'a> {
    state: &'a State,
    access: &'a Access,
    retired: &'a [usize; 3],
    frame: Frame,
    setting: &'a Setting,
    list: Vec<(u32, Action, Position)>,
}

impl Ways<'_> {
    fn push(&mut self, cost: u32, p: usize, to: i64, way: Way, (place, save): Spot) {
        let Access { array, offset, .. } = *self.access;
        for (mode, offset) in modes(p, to, offset, self.setting.moves(p)) {
            let action = Action {
                p,
                to,
                way,
                mode,
                place,
                save,
            };
            self.list.push((cost, action, Position { array, offset }));
        }
    }

    /// Right before the access.
    fn here(&self) -> Spot {
        (self.access.item, false)
    }

    /// The same, where the carry must not be lost.
    fn here_kept(&self) -> Spot {
        (self.access.item, self.access.carry)
    }

    /// Before the carry is made.
    fn before_carry(&self) -> Spot {
        (self.access.gap, false)
    }

    /// Is nothing else to be reached by this pointer?
    fn is_free(&self, p: usize) -> bool {
        self.access.item < self.retired[p]
    }

    /// Where the pointer is in the array, if it is there.
    fn there(&self, p: usize) -> Option<i64> {
        let at = self.state.at[p].filter(|at| at.array == self.access.array);
        at.map(|at| at.offset)
    }

    /// Cycles to keep the carry in r0, which is pushed if it holds something.
    fn keep(&self) -> u32 {
        u32::from(self.access.carry) * if self.access.r0 { 6 } else { 2 }
    }

    /// Is there a carry, and is the pointer known where it is not yet made?
    fn is_early(&self, p: usize) -> bool {
        self.access.carry && self.state.from[p] <= self.access.gap
    }

    /// Brings pointer `p` to `to`.
    fn reach(&mut self, p: usize, to: i64) {
        // Where the carry may be destroyed, and what that costs.
        let (spot, extra) = match self.is_early(p) {
            true => (self.before_carry(), 0),
            false => (self.here_kept(), self.keep()),
        };
        if self.there(p).is_some() {
            return self.push(2 + extra, p, to, Way::Move, spot);
        }
        for q in 0..3 {
            self.copy(p, q, to);
        }
        let array = self.access.array;
        if let Some(home) = self.setting.home(array) {
            match to {
                0 => self.push(1, p, to, Way::Home(home), self.here()),
                _ => self.push(3 + extra, p, to, Way::Home(home), spot),
            }
        } else if array == Array::T {
            // Only a copy of Y reaches further than Y where that is the stack pointer.
            if !self.setting.abi.data_stack {
                self.push(4 + extra, p, to, Way::Stack, spot);
            }
        } else {
            self.by_frame(p, to);
        }
    }

    /// From another pointer that is in the array.
    fn copy(&mut self, p: usize, q: usize, to: i64) {
        let Some(from) = self.there(q).filter(|_| self.is_free(q)) else {
            return;
        };
        let (cost, spot) = if from == to {
            (1, self.here())
        } else if self.is_early(p) && self.is_early(q) {
            (3, self.before_carry())
        } else {
            (3 + self.keep(), self.here_kept())
        };
        self.push(cost, p, to, Way::Copy(q), spot);
    }

    /// From the address in the frame, by a pointer that reaches it or by the stack.
    fn by_frame(&mut self, p: usize, to: i64) {
        let Frame { scratch, kept } = self.frame;
        let reaches = |q: &usize| {
            !self.setting.moves(*q)
                || self.state.at[*q].is_some_and(|at| {
                    let reach = at.offset + REACH - scratch as i64;
                    at.array == Array::T && (kept..REACH).contains(&reach)
                })
        };
        let through = (1..3).find(|q| *q != p && self.is_free(*q) && reaches(q));
        if let Some(q) = through {
            let (cost, spot) = if to == 0 {
                (4, self.here())
            } else if self.is_early(p) && self.is_early(q) {
                (6, self.before_carry())
            } else {
                (6 + self.keep(), self.here_kept())
            };
            self.push(cost, p, to, Way::Frame(through), spot);
        } else if p != 0 {
            // Moves are made beside the carry, not by `save`: r0 takes the low byte between them.
            let moves = u32::from(to != 0) + u32::from(scratch > NEAR);
            let [carry, r0] = [self.access.carry, self.access.r0].map(u32::from);
            let cost = 7 + (2 + 2 * carry) * moves + 4 * r0;
            self.push(cost, p, to, Way::Frame(None), self.here());
            if self.is_early(p) && !self.access.r0_gap {
                self.push(7 + 2 * moves, p, to, Way::Frame(None), self.before_carry());
            }
        }
    }
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
