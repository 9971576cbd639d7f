//! Instructions that move the pointers before an access, as the search in `windows.rs` decided.

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;

use crate::target::avr::access::Access;
use crate::target::avr::pointers::{Array, Item, Mode, REACH, load, move_pointer, store};
use crate::target::avr::setting::{Setting, Y};

/// I/O addresses of the stack pointer and the status register.
pub const SPL: i32 = 0x3d;
pub const SPH: i32 = 0x3e;
pub const SREG: i32 = 0x3f;

pub(super) const POINTERS: [Pointer; 3] = [Pointer::X, Pointer::Y, Pointer::Z];

/// How a pointer gets somewhere else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
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

/// What one access does: before item `place` pointer `p` goes to `to` by `way`; then the
/// access by `mode`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Action {
    pub(super) p: usize,
    pub(super) to: i64,
    pub(super) way: Way,
    pub(super) mode: Mode,
    pub(super) place: usize,
    /// Keep the carry in r0 meanwhile.
    pub(super) save: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Position {
    pub(super) array: Array,
    pub(super) offset: i64,
}

/// The result: pointers at entry for R, A, B, M; the arrays whose address the frame keeps; code per item.
pub struct Resolved {
    pub entry: [Option<Pointer>; 4],
    pub kept: Vec<Array>,
    pub items: Vec<Vec<Insn>>,
}

/// `insns`, with the carry kept in r0 meanwhile if there is one.
fn beside(carry: bool, mut insns: Vec<Insn>) -> Vec<Insn> {
    if carry && !insns.is_empty() {
        insns.insert(0, Insn::rr(Op::SBC, 0, 0));
        insns.push(Insn::dk(Op::LSR, 0, 0));
    }
    insns
}

/// The same, with r0 kept on the stack where it is `needed`.
fn keeping_r0(needed: bool, mut insns: Vec<Insn>) -> Vec<Insn> {
    if needed {
        insns.insert(0, Insn::rr(Op::PUSH, 0, 0));
        insns.push(Insn::rr(Op::POP, 0, 0));
    }
    insns
}

/// The arrays whose addresses are kept in the frame, in the order in which they are wanted from there.
fn kept(list: &[Access], actions: &[Action]) -> Vec<Array> {
    let mut kept = Vec::new();
    for (access, action) in list.iter().zip(actions) {
        if matches!(action.way, Way::Frame(_)) && !kept.contains(&access.array) {
            kept.push(access.array);
        }
    }
    kept
}

/// The pointer that points into `array` to begin with.
fn starting(start: &[Option<Position>; 3], array: Array) -> Option<Pointer> {
    let p = start
        .iter()
        .position(|at| at.is_some_and(|at| at.array == array));
    p.map(|p| POINTERS[p])
}

/// Code for every item: accesses as the search found them, from pointers that start there.
pub(super) fn emit(
    items: &[Item],
    list: &[Access],
    actions: &[Action],
    start: [Option<Position>; 3],
    scratch: usize,
    setting: &Setting,
) -> Resolved {
    let kept = kept(list, actions);
    let mut before: Vec<Vec<Insn>> = vec![vec![]; items.len() + 1];
    let mut own: Vec<Vec<Insn>> = items.iter().map(Item::alone).collect();
    // Addresses in the frame: below the scratch words where Y points there all the time, else above.
    let addresses = 2 * kept.len() as i64;
    let mut emitter = Emitter {
        at: start,
        kept: &kept,
        first: match setting.abi.data_stack {
            true => -addresses,
            false => scratch as i64,
        },
    };
    let frame = Position {
        array: Array::T,
        offset: -addresses,
    };
    if setting.abi.data_stack {
        emitter.at[Y] = Some(frame);
    }
    for (access, action) in list.iter().zip(actions) {
        let p = POINTERS[action.p];
        let moves = setting.moves(action.p);
        let to = if moves { action.to } else { -addresses };
        let insns = beside(action.save, emitter.way(access, action));
        before[action.place].extend(keeping_r0(action.save && access.r0, insns));
        let q = access.offset - to;
        own[access.item] = vec![match items[access.item] {
            Item::Load { reg, .. } => load(p, action.mode, reg, q),
            Item::Store { reg, .. } => store(p, action.mode, reg, q),
            Item::Insn(insn) => insn,
        }];
        let offset = to + action.mode.moves();
        emitter.at[action.p] = Some(Position {
            array: access.array,
            offset,
        });
    }
    let items = own.into_iter().zip(before);
    // The pointers that must point to arrays at entry: those of arrays that are used.
    let is_used = |array: &Array| list.iter().any(|access| access.array == *array);
    let entry = |array: Array| starting(&start, array).filter(|_| is_used(&array));
    Resolved {
        entry: [Array::R, Array::A, Array::B, Array::M].map(entry),
        kept,
        items: items
            .map(|(insns, first)| [first, insns].concat())
            .collect(),
    }
}

/// Where pointers are while instructions are written.
struct Emitter<'a> {
    at: [Option<Position>; 3],
    /// Arrays whose addresses the frame keeps, the first of them at `first`.
    kept: &'a [Array],
    first: i64,
}

impl Emitter<'_> {
    fn offset(&self, p: usize) -> i64 {
        self.at[p].map_or(0, |at| at.offset)
    }

    /// Brings the pointer of an action to where it goes.
    fn way(&self, access: &Access, action: &Action) -> Vec<Insn> {
        let p = POINTERS[action.p];
        let low = p.low();
        let [mut insns, moves] = match action.way {
            Way::Stay => [vec![], vec![]],
            Way::Move => [vec![], move_pointer(p, action.to - self.offset(action.p))],
            Way::Copy(q) => [
                vec![Insn::rr(Op::MOVW, low, POINTERS[q].low())],
                move_pointer(p, action.to - self.offset(q)),
            ],
            Way::Stack => {
                let pushed = i64::from(action.save && access.r0);
                [
                    stack_pointer(low).into(),
                    move_pointer(p, action.to + 1 + pushed),
                ]
            }
            Way::Frame(through) => [self.kept(access, action, through), vec![]],
            Way::Home(home) => [
                vec![Insn::rr(Op::MOVW, low, home)],
                move_pointer(p, action.to),
            ],
        };
        insns.extend(moves);
        insns
    }

    /// The same for an address that the frame keeps, by the pointer `through` or by its own.
    fn kept(&self, access: &Access, action: &Action, through: Option<usize>) -> Vec<Insn> {
        let mut insns = Vec::new();
        let p = POINTERS[action.p];
        let low = p.low();
        let kept = self.kept.iter().position(|a| *a == access.array);
        let index = kept.unwrap_or(0) as i64;
        let alone = through.is_none();
        let here = alone && action.place == access.item;
        let (pushed, carry) = (here && access.r0, here && access.carry);
        let (q, offset) = match through {
            Some(q) => (q, self.offset(q)),
            None => {
                insns.extend(pushed.then_some(Insn::rr(Op::PUSH, 0, 0)));
                insns.extend(stack_pointer(low));
                (action.p, -1 - i64::from(pushed))
            }
        };
        // The pointer's low byte was pushed last: it lies lowest.
        let mut word = self.first + 2 * index - offset;
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
        insns
    }
}

/// The stack pointer, to the pointer whose low register this is.
fn stack_pointer(low: u8) -> [Insn; 2] {
    [Insn::dk(Op::IN, low, SPL), Insn::dk(Op::IN, low + 1, SPH)]
}
