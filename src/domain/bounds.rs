//! Joint bounds: which sums of words fit their registers.
//!
//! Plain intervals lose carries that cannot happen: an accumulator `a2:a1:a0` to which
//! products are added needs `a2:a1:a0 <= sum of products`, not `a2 <= 255`. A [`Group`] is
//! a list of words `g[0], g[1], ...`, one after another in weight, with
//!
//! `sum 2^(W i) g[i] + sum 2^(W j) c <= total`
//!
//! where the `c` are the carries on their way to a word `j`. Adding `y` to `g[i]` replaces
//! `g[i]` by the sum word, sends its carry on, and raises `total` by `2^(W i) max(y)`; a
//! carry that arrives at its word is counted already, however late, and also if it was made
//! a word (SLTU) and counted up with others first.
//! Words of another group that are added one after another count together, as that
//! group's bound (a [`Slice`]): a product counts `max(a) max(b)`, and a row of stored
//! intermediate words counts what that row can be at most, not `2^(W n) - 1`.

use num_bigint::BigUint;

use super::algebra::{Value, VarId};
use super::public::Public;

type GroupId = u32;

/// Words of the group `of`, added to this group so far.
#[derive(Clone, Debug)]
struct Slice {
    of: GroupId,
    /// The source's version when it was read: the bound is of those words.
    version: u32,
    from: usize,
    to: usize,
    /// Index in this group of the slice's first word.
    at: usize,
    /// What it contributes to `total`, already weighted.
    bound: BigUint,
}

#[derive(Clone, Debug, Default)]
struct Group {
    words: Vec<Value>,
    total: BigUint,
    slices: Vec<Slice>,
    /// The word whose doubling is counted already, and that of those above it.
    doubling: Option<usize>,
    /// Counts changes, so that slices of an older state are recognised.
    version: u32,
    /// When it last changed, by [`Bounds::changes`].
    changed: u32,
    /// The last word that changed.
    last: Option<Last>,
    /// The operands of the addition in progress, and the carry that leaves it.
    operands: [Option<Value>; 2],
    leaving: Option<VarId>,
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
pub struct Place {
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
    places: Vec<Option<Place>>,
    /// Carries on their way, and where to.
    pending: Vec<Option<Place>>,
    /// Changes of all groups so far.
    changes: u32,
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
    fn new_group(&mut self) -> GroupId {
        self.groups.push(Group::default());
        (self.groups.len() - 1) as GroupId
    }

    /// Where `value` is a word of a group now.
    fn place(&self, value: Value) -> Option<Place> {
        let Value::Var(v) = value else {
            return None;
        };
        let place = get(&self.places, v)?;
        let words = &self.groups[place.group as usize].words;
        (words.get(place.index) == Some(&value)).then_some(place)
    }

    /// Words with `sum 2^(W i) words[i] <= total`: a product, or what a claim says.
    pub fn group(&mut self, words: &[Value], total: BigUint) {
        let group = self.new_group();
        let g = &mut self.groups[group as usize];
        g.changed = self.changes;
        g.words = words.to_vec();
        g.total = total;
        for (index, word) in words.iter().enumerate() {
            if let Value::Var(v) = word {
                put(&mut self.places, *v, Place { group, index });
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
        let (chain, addend) = self.continued(a, b, c_in);
        self.groups[chain.group as usize].operands = [Some(a), Some(b)];
        let place = Place {
            group: chain.group,
            index: chain.index,
        };
        if a == b && self.place(a) == Some(place) {
            self.double(&chain, w);
            if c_in != Value::ZERO && !self.arrive(c_in, &chain) {
                self.raise(chain, 1, w);
            }
            return chain;
        }
        let max = |value: Value| match value {
            Value::Public(Public::Known(k)) => k,
            Value::Public(Public::Pointer { .. }) => (1 << w) - 1,
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

    /// Doubles the word of `chain`. With the first of a row of words, `sum 2^(W j) g[j]` over
    /// all words from it on is counted once more, which is at most `total` without its low words;
    /// the doublings of the next ones are counted then.
    fn double(&mut self, chain: &Chain, w: u32) {
        let g = &mut self.groups[chain.group as usize];
        if g.doubling != Some(chain.index) {
            let low = w as usize * chain.index;
            let upper = (&g.total >> low) << low;
            g.total += upper;
        }
        g.doubling = Some(chain.index + 1);
    }

    /// Where a carry is on its way to.
    fn pending(&self, value: Value) -> Option<Place> {
        match value {
            Value::Var(v) => get(&self.pending, v),
            Value::Public(_) => None,
        }
    }

    /// Is `y` a carry on its way to the word of `chain`? Then it is there now, and counted.
    fn arrive(&mut self, y: Value, chain: &Chain) -> bool {
        let here = Place {
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
    pub fn meet(&self, a: VarId, b: VarId) -> Option<Place> {
        let place = get(&self.pending, a).filter(|_| a != b)?;
        let len = self.groups[place.group as usize].words.len();
        (get(&self.pending, b) == Some(place) && place.index < len).then_some(place)
    }

    /// The sum of two carries goes where they went.
    pub fn pass_on(&mut self, carries: [VarId; 2], sum: VarId, place: Place) {
        for carry in carries {
            self.pending[carry as usize] = None;
        }
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
    fn continued(&mut self, a: Value, b: Value, c_in: Value) -> (Chain, Value) {
        let (in_a, in_b) = (self.place(a), self.place(b));
        let chain = |p: Place| Chain {
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
        let pick = match (in_a, in_b) {
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
                let group = self.new_group();
                (Chain { group, index: 0 }, a)
            }
        }
    }

    /// Which of two words accumulates: what changed last (or is a product made since), then
    /// what has come further up its group. Either choice is sound; this one is tight.
    fn rank(&self, p: &Place) -> (bool, usize) {
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
        let Some(source) = source else {
            return self.raise(chain, max, w);
        };
        let other = &self.groups[source.group as usize];
        let (version, top) = (other.version, other.words.len());
        let target = &self.groups[chain.group as usize];
        let continued = target.slices.iter().position(|s| {
            s.of == source.group
                && s.version == version
                && s.to == source.index
                && s.at + (s.to - s.from) == chain.index
        });
        let (from, at) = match continued {
            Some(i) => (target.slices[i].from, target.slices[i].at),
            None => (source.index, chain.index),
        };
        let to = source.index + 1;
        // The words from..to are at most 2^(W (to - from)) - 1, and at most the group's total.
        let mut bound = (&other.total) >> (w as usize * from);
        if bound.bits() > u64::from(w) * (to - from) as u64 {
            bound = (BigUint::from(1u8) << (w as usize * (to - from))) - 1u8;
        }
        // Words not yet added keep their own share: only the slice up to here counts.
        let bound = bound << (w as usize * at);
        let target = &mut self.groups[chain.group as usize];
        if let Some(i) = continued {
            let old = target.slices.swap_remove(i);
            target.total -= old.bound;
        }
        target.total += &bound;
        if to < top {
            target.slices.push(Slice {
                of: source.group,
                version,
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
        let place = Place {
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
            g.version += 1;
            g.changed = self.changes;
            g.words[place.index] = chosen;
            g.last = None;
            put(&mut self.places, v, place);
        }
    }

    /// Ends the addition: its word becomes the group's.
    pub fn leave(&mut self, chain: Chain, word: Value) {
        self.changes += 1;
        let g = &mut self.groups[chain.group as usize];
        g.version += 1;
        // Only while the words to come stay as they were counted.
        g.doubling = g.doubling.filter(|next| *next == chain.index + 1);
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
        } else {
            g.words.push(word);
        }
        if let Value::Var(v) = word {
            put(
                &mut self.places,
                v,
                Place {
                    group: chain.group,
                    index: chain.index,
                },
            );
        }
    }
}
