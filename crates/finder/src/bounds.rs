//! Joint bounds: which sums of words fit their registers.
//!
//! Plain intervals lose carries that cannot happen: an accumulator `a2:a1:a0` to which
//! products are added needs `a2:a1:a0 <= sum of products`, not `a2 <= 255`. A `Group` is
//! a list of words `g[0], g[1], ...`, one after another in weight, with
//!
//! `sum 2^(W i) g[i] + sum 2^(W j) c <= total`
//!
//! where the `c` are the carries on their way to a word `j`. Adding `y` to `g[i]` replaces
//! `g[i]` by the sum word, sends its carry on, and raises `total` by `2^(W i) max(y)`; a
//! carry that arrives at its word is counted already, however late, and also if it was made
//! a word (SLTU) and counted up with others first.
//! Words of another group that are added one after another count together, as that
//! group's bound (a `Slice`): a product counts `max(a) max(b)`, and a row of stored
//! intermediate words counts what that row can be at most, not `2^(W n) - 1`.

use machine::domain::public::Public;
use machine::domain::trace::Change;
use machine::domain::variable::{Value, VarId};
use num_bigint::BigUint;

use crate::truth::Told;

type GroupId = u32;

/// Words of the group `of`, added to this group so far.
#[derive(Clone, Debug)]
struct Slice {
    of: GroupId,
    /// When its last word was added, by [`Bounds::changes`]: the source holds these words as
    /// long as none of them changed later.
    read: u32,
    from: usize,
    to: usize,
    /// Index in this group of the slice's first word.
    at: usize,
    /// The most of these words; it contributes `2^(W at)` times as much to `total`.
    bound: BigUint,
}

/// The most words of a group: no number here has more, and a loop without end makes no more.
const LONGEST: usize = 1 << 12;

#[derive(Clone, Debug, Default)]
struct Group {
    /// Bits of a word.
    w: u32,
    words: Vec<Value>,
    total: BigUint,
    slices: Vec<Slice>,
    /// When each word last changed, by [`Bounds::changes`].
    stamps: Vec<u32>,
    /// When any of them did.
    changed: u32,
    /// The last word that changed.
    last: Option<Last>,
    /// The operands of the addition in progress, and the carry that leaves it.
    operands: [Option<Value>; 2],
    leaving: Option<VarId>,
    /// A product, or what a claim says: it has all its words.
    complete: bool,
    /// The group of this one's words doubled.
    twice: Option<GroupId>,
}

impl Group {
    /// The slice of `source` that ends just before the word `index` of it and of the word `at` here.
    fn continued(&self, of: GroupId, source: &Group, index: usize, at: usize) -> Option<usize> {
        self.slices.iter().position(|s| {
            s.of == of
                && s.to == index
                && s.at + (s.to - s.from) == at
                && (source.stamps.get(s.from..s.to)).is_some_and(|t| t.iter().all(|t| *t <= s.read))
        })
    }
}

/// A word that changed, what it was, and the carry that left it, with the bit that masks the carry.
#[derive(Clone, Debug)]
struct Last {
    index: usize,
    old: Option<Value>,
    new: Value,
    operands: [Option<Value>; 2],
    carry: Option<VarId>,
    guard: Option<Guard>,
}

/// A bit, and the value that it has where an addition is executed.
pub type Guard = (VarId, bool);

/// Which group a variable was last a word of, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Membership {
    group: GroupId,
    index: usize,
}

/// An addition in progress: the group and the index of the word that changes.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    group: GroupId,
    index: usize,
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    groups: Vec<Group>,
    places: Vec<Option<Membership>>,
    /// Carries on their way, and where to.
    pending: Vec<Option<Membership>>,
    /// Changes of all groups so far.
    changes: u32,
    /// What was concluded of them, for the checker.
    log: Vec<(GroupId, Change)>,
}

fn get<T: Copy>(table: &[Option<T>], var: VarId) -> Option<T> {
    table.get(var as usize).copied().flatten()
}

fn put<T: Copy>(table: &mut Vec<Option<T>>, var: VarId, value: T) {
    if table.len() <= var as usize {
        table.resize(var as usize + 1, None);
    }
    table[var as usize] = Some(value);
}

impl Bounds {
    fn new_group(&mut self, w: u32) -> GroupId {
        self.groups.push(Group {
            w,
            ..Group::default()
        });
        (self.groups.len() - 1) as GroupId
    }

    /// A group to which words will be added.
    fn empty_group(&mut self, w: u32) -> GroupId {
        let group = self.new_group(w);
        self.log.push((group, Change::Start));
        group
    }

    /// What was concluded since this was asked last.
    pub fn concluded(&mut self) -> Vec<(GroupId, Change)> {
        std::mem::take(&mut self.log)
    }

    /// The groups that changed after `since`, as they are now, and how many changes there were.
    pub(crate) fn told(&self, since: u32) -> (Vec<Told>, u32) {
        let changed = |g: &&Group| g.changed > since || since == 0;
        let carries = |group: usize| {
            let pending = self.pending.iter().enumerate();
            let pending = pending.filter_map(|(v, place)| Some((v as VarId, (*place)?)));
            let here = pending.filter(move |(_, place)| place.group as usize == group);
            here.map(|(v, place)| (v, place.index)).collect()
        };
        let groups = self.groups.iter().enumerate();
        let told = groups
            .filter(|(_, g)| changed(g))
            .map(|(i, g)| Told::AtMost {
                words: g.words.clone(),
                carries: carries(i),
                total: g.total.clone(),
            });
        (told.collect(), self.changes)
    }

    /// Where `value` is a word of a group now.
    fn place(&self, value: Value) -> Option<Membership> {
        let Value::Var(v) = value else {
            return None;
        };
        let place = get(&self.places, v)?;
        let words = &self.groups[place.group as usize].words;
        (words.get(place.index) == Some(&value)).then_some(place)
    }

    /// Words with `sum 2^(W i) words[i] <= total`: a product, or what a claim says.
    pub fn group(&mut self, words: &[Value], total: BigUint, w: u32, reason: Change) {
        let group = self.new_group(w);
        self.log.push((group, reason));
        let g = &mut self.groups[group as usize];
        g.changed = self.changes;
        g.words = words.to_vec();
        g.stamps = vec![g.changed; words.len()];
        g.total = total;
        g.complete = true;
        for (index, word) in words.iter().enumerate() {
            if let Value::Var(v) = word {
                put(&mut self.places, *v, Membership { group, index });
            }
        }
    }

    /// Starts the addition `a + b + c_in`: finds the group it continues and raises its total.
    pub fn enter(
        &mut self,
        a: Value,
        b: Value,
        c_in: Value,
        w: u32,
        bound: impl Fn(VarId) -> u64,
    ) -> Chain {
        let (mut chain, mut addend) = self.continued(a, b, c_in, w);
        if chain.index >= LONGEST || self.groups[chain.group as usize].w != w {
            let group = self.empty_group(w);
            (chain, addend) = (Chain { group, index: 0 }, a);
        }
        self.groups[chain.group as usize].operands = [Some(a), Some(b)];
        let max = |value: Value| match value {
            Value::Public(Public::Known(k)) => k,
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => (1 << w) - 1,
            Value::Var(v) => bound(v),
        };
        // A word that starts a group counts as an addend too.
        let fresh = self.groups[chain.group as usize].words.len() == chain.index;
        let other = if fresh {
            self.other(a, b, addend)
        } else {
            Value::ZERO
        };
        for y in [c_in, addend, other] {
            if y != Value::ZERO && !self.arrive(y, &chain) {
                self.add_word(chain, y, max(y), w);
            }
        }
        chain
    }

    /// Where a carry is on its way to.
    fn pending(&self, value: Value) -> Option<Membership> {
        match value {
            Value::Var(v) => get(&self.pending, v),
            Value::Public(_) => None,
        }
    }

    /// Is `y` a carry on its way to the word of `chain`? Then it is there now, and counted.
    fn arrive(&mut self, y: Value, chain: &Chain) -> bool {
        let here = Membership {
            group: chain.group,
            index: chain.index,
        };
        let arrives = self.pending(y) == Some(here);
        if let (true, Value::Var(v)) = (arrives, y) {
            self.pending[v as usize] = None;
        }
        arrives
    }

    /// The word inside a group that both carries are on their way to.
    pub fn meet(&self, a: VarId, b: VarId) -> Option<Membership> {
        let place = get(&self.pending, a).filter(|_| a != b)?;
        let len = self.groups[place.group as usize].words.len();
        (get(&self.pending, b) == Some(place) && place.index < len).then_some(place)
    }

    /// The sum of two carries goes where they went.
    pub fn pass_on(&mut self, carries: [VarId; 2], sum: VarId, place: Membership) {
        for carry in carries {
            self.pending[carry as usize] = None;
        }
        let shift = self.groups[place.group as usize].w * place.index as u32;
        self.log
            .push((place.group, Change::Put { word: sum, shift }));
        put(&mut self.pending, sum, place);
    }

    /// A carry becomes a word of its own: the top of its group, if it is on its way there.
    pub fn settle(&mut self, carry: VarId) {
        if let Some(p) = get(&self.pending, carry)
            && self.groups[p.group as usize].words.len() == p.index
        {
            self.pending[carry as usize] = None;
            let chain = Chain {
                group: p.group,
                index: p.index,
            };
            self.leave(chain, Value::Var(carry));
        }
    }

    fn other(&self, a: Value, b: Value, addend: Value) -> Value {
        if addend == a { b } else { a }
    }

    /// The group that `a + b` continues, and the operand that is added to it.
    fn continued(&mut self, a: Value, b: Value, c_in: Value, w: u32) -> (Chain, Value) {
        let (in_a, in_b) = (self.place(a), self.place(b));
        let chain = |p: Membership| Chain {
            group: p.group,
            index: p.index,
        };
        if let Some(p) = self.pending(c_in) {
            if in_a == Some(p) {
                return (chain(p), b);
            }
            if in_b == Some(p) {
                return (chain(p), a);
            }
        }
        // Past the top word: the chain grows by one.
        for carry in [c_in, a, b] {
            if let Some(p) = self.pending(carry)
                && self.groups[p.group as usize].words.len() == p.index
            {
                return (chain(p), if a == Value::ZERO { b } else { a });
            }
        }
        if let (Some(p), true) = (in_a, a == b) {
            return (self.doubled(p, w), a);
        }
        // What a claim speaks of is a number that is added, and accumulates nothing: words of it that
        // are not added would hide how small the sum is. A product has two words.
        let accumulates = |p: &Membership| {
            let g = &self.groups[p.group as usize];
            !g.complete || g.words.len() <= 2
        };
        let pick = match (in_a.filter(accumulates), in_b.filter(accumulates)) {
            (Some(p), Some(q)) if self.follows(p, q) => Some((p, b)),
            (Some(p), Some(q)) if self.follows(q, p) => Some((q, a)),
            (Some(p), Some(q)) if self.rank(&p) >= self.rank(&q) => Some((p, b)),
            (_, Some(q)) => Some((q, a)),
            (Some(p), None) => Some((p, b)),
            (None, None) => None,
        };
        match pick {
            Some((place, addend)) => (
                Chain {
                    group: place.group,
                    index: place.index,
                },
                addend,
            ),
            None => {
                let group = self.empty_group(w);
                (Chain { group, index: 0 }, a)
            }
        }
    }

    /// Was the word below `q` added to the word below `p`, and `q` left as it was since? Instructions
    /// of other sums may stand between two additions of one.
    fn follows(&self, p: Membership, q: Membership) -> bool {
        let [accumulates, source] = [p, q].map(|at| &self.groups[at.group as usize]);
        let slice = accumulates.continued(q.group, source, q.index, p.index);
        slice.is_some_and(|i| source.stamps[q.index] <= accumulates.slices[i].read)
    }

    /// The double of a group is twice its bound: another group, whose next word this is.
    fn doubled(&mut self, p: Membership, w: u32) -> Chain {
        let source = &self.groups[p.group as usize];
        let next = source.twice.and_then(|group| {
            let g = &self.groups[group as usize];
            let top = g.words.len();
            let at = [top, top.wrapping_sub(1)].into_iter();
            let mut at = at.filter(|at| g.continued(p.group, source, p.index, *at).is_some());
            at.next().map(|index| Chain { group, index })
        });
        if let Some(chain) = next {
            self.give_way(&chain);
            return chain;
        }
        let group = self.empty_group(w);
        self.groups[p.group as usize].twice = Some(group);
        Chain { group, index: 0 }
    }

    /// The top word of a group, if `chain` is to have its place, is on its way there again: the
    /// carries of the word below.
    fn give_way(&mut self, chain: &Chain) {
        let g = &mut self.groups[chain.group as usize];
        if g.words.len() != chain.index + 1 {
            return;
        }
        g.stamps.pop();
        if let Some(Value::Var(v)) = g.words.pop() {
            let Chain { group, index } = *chain;
            put(&mut self.pending, v, Membership { group, index });
        }
    }

    /// Which of two words accumulates: what changed last (or is a product made since), then
    /// what has come further up its group. Either choice is sound; this one is tight.
    fn rank(&self, p: &Membership) -> (bool, usize) {
        let last = self.groups[p.group as usize].changed == self.changes;
        (last, p.index)
    }

    fn raise(&mut self, chain: Chain, by: u64, w: u32) {
        if by > 0 {
            let shift = w as usize * chain.index;
            self.groups[chain.group as usize].total += BigUint::from(by) << shift;
        }
    }

    /// Counts the addend `y <= max` at the chain's word.
    fn add_word(&mut self, chain: Chain, y: Value, max: u64, w: u32) {
        let source = self.place(y).filter(|p| p.group != chain.group);
        let source = source.filter(|p| self.groups[p.group as usize].w == w);
        let shift = w * chain.index as u32;
        let Some(source) = source else {
            self.log.push((chain.group, Change::Raise { y, shift }));
            return self.raise(chain, max, w);
        };
        let other = &self.groups[source.group as usize];
        let last = other.complete && other.words.len() == source.index + 1;
        let target = &self.groups[chain.group as usize];
        let continued = target.continued(source.group, other, source.index, chain.index);
        let (from, at) = match continued {
            Some(i) => (target.slices[i].from, target.slices[i].at),
            None => (source.index, chain.index),
        };
        let to = source.index + 1;
        self.log.push((
            chain.group,
            Change::Slice {
                of: source.group,
                from: from as u32,
                word: y,
                w,
                shift,
                continues: continued.is_some(),
            },
        ));
        // The words from..to are at most 2^(W (to - from)) - 1, and at most the group's total.
        let mut bound = (&other.total) >> (w as usize * from);
        if bound.bits() > u64::from(w) * (to - from) as u64 {
            bound = (BigUint::from(1u8) << (w as usize * (to - from))) - 1u8;
        }
        // Words not yet added keep their own share: only the slice up to here counts.
        let weight = w as usize * at;
        let target = &mut self.groups[chain.group as usize];
        if let Some(i) = continued {
            let old = target.slices.swap_remove(i);
            target.total -= old.bound << weight;
        }
        target.total += &bound << weight;
        if !last {
            target.slices.push(Slice {
                of: source.group,
                read: self.changes,
                from,
                to,
                at,
                bound,
            });
        }
    }

    /// Can no carry leave the word that changes? True when it is the top word and `total < 2^(W len)`.
    pub fn fits(&self, chain: &Chain, w: u32) -> bool {
        let g = &self.groups[chain.group as usize];
        let len = chain.index + 1;
        g.words.len() <= len && g.total.bits() <= u64::from(w) * len as u64
    }

    /// The largest value of the top word that changes: `total >> (W index)`.
    pub fn top(&self, chain: &Chain, w: u32) -> u64 {
        let g = &self.groups[chain.group as usize];
        if g.words.len() > chain.index + 1 {
            return u64::MAX;
        }
        let digits = (&g.total >> (w as usize * chain.index)).to_u64_digits();
        match digits.as_slice() {
            [] => 0,
            [one] => *one,
            _ => u64::MAX,
        }
    }

    /// The variable of the carry that leaves the word that changes.
    pub fn carry(&mut self, var: VarId, chain: &Chain) {
        let place = Membership {
            group: chain.group,
            index: chain.index + 1,
        };
        put(&mut self.pending, var, place);
        self.groups[chain.group as usize].leaving = Some(var);
    }

    /// The carry of an addition that is executed under `guard` becomes `masked`, 0 elsewhere:
    /// that is no more than the carry, and has its place.
    pub fn guard(&mut self, guard: Guard, carry: Value, masked: Value) {
        let (Value::Var(c), Value::Var(m)) = (carry, masked) else {
            return;
        };
        let Some(place) = get(&self.pending, c) else {
            return;
        };
        if let Some(last) = &mut self.groups[place.group as usize].last
            && last.carry == Some(c)
            && last.guard.is_none()
        {
            last.guard = Some(guard);
            self.pending[c as usize] = None;
            put(&mut self.pending, m, place);
            let change = Change::Mask {
                carry: c,
                masked: m,
            };
            self.log.push((place.group, change));
        }
    }

    /// A word that was added to under `guard` is `new` there and `old` elsewhere. Elsewhere the
    /// group is what it was before the addition, which its old bound holds for, and its new one
    /// is no less: so `chosen` is the group's word, if the carry that left is masked as well.
    pub fn choose(&mut self, guard: Guard, new: Value, old: Value, chosen: Value) {
        let (Some(place), Value::Var(v)) = (self.place(new), chosen) else {
            return;
        };
        self.changes += 1;
        let g = &mut self.groups[place.group as usize];
        let Some(last) = &g.last else {
            return;
        };
        let restored = match last.old {
            Some(word) => word == old,
            // There was no such word: nothing, or one that was counted when it was added.
            None => old == Value::ZERO || last.operands.contains(&Some(old)),
        };
        let masked = last.carry.is_none() || last.guard == Some(guard);
        if last.new == new && last.index == place.index && restored && masked {
            g.changed = self.changes;
            g.stamps[place.index] = self.changes;
            g.complete = false;
            g.words[place.index] = chosen;
            g.last = None;
            put(&mut self.places, v, place);
            if let Value::Var(word) = new {
                self.log
                    .push((place.group, Change::Choose { word, chosen: v }));
            }
        }
    }

    /// The word that an addition made, `word = a + b + c - 2^W carry`, is one of the group.
    pub fn made(&mut self, chain: &Chain, word: VarId, w: u32) {
        let shift = w * chain.index as u32;
        self.log.push((chain.group, Change::Put { word, shift }));
    }

    /// The joint bound is what bounds the word.
    pub fn tells(&mut self, chain: &Chain, word: VarId) {
        self.log.push((chain.group, Change::Bounds { v: word }));
    }

    /// Ends the addition: its word becomes the group's.
    pub fn leave(&mut self, chain: Chain, word: Value) {
        self.changes += 1;
        let g = &mut self.groups[chain.group as usize];
        g.changed = self.changes;
        g.last = Some(Last {
            index: chain.index,
            old: g.words.get(chain.index).copied(),
            new: word,
            operands: std::mem::take(&mut g.operands),
            carry: g.leaving.take(),
            guard: None,
        });
        if chain.index < g.words.len() {
            g.words[chain.index] = word;
            g.stamps[chain.index] = self.changes;
        } else {
            g.words.push(word);
            g.stamps.push(self.changes);
            g.complete = false;
        }
        if let Value::Var(v) = word {
            put(
                &mut self.places,
                v,
                Membership {
                    group: chain.group,
                    index: chain.index,
                },
            );
        }
    }
}
