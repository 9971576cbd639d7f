//! Register assignment for overlapping live ranges, so that as many pairs of values as possible lie in register pairs
//! (MOVW).
//!
//! Live ranges are intervals, so as many registers are enough as there are values live at once. The first
//! assignment puts a value beside one whose live range ends at about the same time. Then it is improved by Kempe exchanges: for two
//! registers, a connected set of overlapping values changes sides, so that two live values never share a register. A
//! change that is not worse is kept.

/// Registers of the machine.
const REGISTERS: usize = 32;

/// Changes tried for each pair that is not one yet.
const CHANGES: usize = 60;

/// Points `from .. to` in one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Web {
    pub from: usize,
    pub to: usize,
    /// A register that is not at our disposal then.
    pub fixed: Option<u8>,
}

/// Other registers for the webs, from those that they have `first`, so that more of `pairs` (the web of the even
/// register first) are one.
pub fn paired(webs: &[Web], pairs: &[[usize; 2]], registers: &[u8], first: Vec<u8>) -> Vec<u8> {
    let is_even = |r: &u8| r.is_multiple_of(2) && registers.contains(&(r + 1));
    let even: Vec<u8> = registers.iter().copied().filter(is_even).collect();
    if even.is_empty() {
        return first;
    }
    let mut colouring = Colouring {
        within: by_register(webs, &first),
        of: first,
        partner: partners(webs.len(), pairs),
        seen: vec![0; webs.len()],
        marks: 0,
        webs,
        state: 1,
    };
    let mut is_open = true;
    for _ in 0..CHANGES {
        if !is_open {
            break;
        }
        is_open = false;
        for pair in pairs {
            if !colouring.is_pair(pair[0]) {
                is_open = true;
                let r = even[colouring.random(even.len())];
                colouring.change(*pair, r);
            }
        }
    }
    colouring.of
}

/// The registers of the webs, in the order they begin: beside a web that ends at about the same time, pairs in pairs.
/// None if the registers do not suffice.
pub fn first(webs: &[Web], pairs: &[[usize; 2]], registers: &[u8]) -> Option<Vec<u8>> {
    let mut second = vec![None; webs.len()];
    for [low, high] in pairs {
        second[*low] = Some(*high);
    }
    let mut order: Vec<usize> = (0..webs.len()).collect();
    order.sort_by_key(|w| {
        (
            webs[*w].fixed.is_none(),
            webs[*w].from,
            second[*w].is_none(),
            *w,
        )
    });
    let mut of: Vec<Option<u8>> = webs.iter().map(|w| w.fixed).collect();
    // When what is in each register ends.
    let mut until = [0; REGISTERS];
    for w in order {
        let web = webs[w];
        if let Some(r) = of[w] {
            until[usize::from(r)] = until[usize::from(r)].max(web.to);
            continue;
        }
        let is_free = |r: u8| registers.contains(&r) && until[usize::from(r)] <= web.from;
        if let Some(high) = second[w]
            && let Some(r) = registers
                .iter()
                .find(|r| *r % 2 == 0 && is_free(**r) && is_free(*r + 1))
        {
            (of[w], of[high]) = (Some(*r), Some(r + 1));
            until[usize::from(*r)] = web.to;
            until[usize::from(*r) + 1] = webs[high].to;
            continue;
        }
        let cost = |r: &u8| match until[usize::from(r ^ 1)] {
            end if end > web.from => end.abs_diff(web.to),
            _ => 40,
        };
        let free = registers.iter().copied().filter(|r| is_free(*r));
        let r = free.min_by_key(cost)?;
        of[w] = Some(r);
        until[usize::from(r)] = web.to;
    }
    of.into_iter().collect()
}

/// The webs in each register, in the order in which they live.
fn by_register(webs: &[Web], of: &[u8]) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..webs.len() as u32).collect();
    order.sort_by_key(|w| webs[*w as usize].from);
    let mut within = vec![vec![]; REGISTERS];
    for w in order {
        within[usize::from(of[w as usize])].push(w);
    }
    within
}

fn partners(count: usize, pairs: &[[usize; 2]]) -> Vec<Option<usize>> {
    let mut partner = vec![None; count];
    for [low, high] in pairs {
        (partner[*low], partner[*high]) = (Some(*high), Some(*low));
    }
    partner
}

struct Colouring<'a> {
    webs: &'a [Web],
    of: Vec<u8>,
    /// The same by registers: the webs in each, in the order in which they live.
    within: Vec<Vec<u32>>,
    /// The other web of each one's pair.
    partner: Vec<Option<usize>>,
    /// The last mark that was set on each web, and how many there were.
    seen: Vec<u32>,
    marks: u32,
    state: u64,
}

/// What an exchange moved, and what changed in the two registers.
struct Exchanged {
    moved: Vec<(usize, u8)>,
    parts: [Part; 2],
}

/// A register's webs from place `first` on, of which `now` are where those `before` were.
struct Part {
    register: u8,
    first: usize,
    now: usize,
    before: Vec<u32>,
}

impl Colouring<'_> {
    fn random(&mut self, below: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.state >> 33) as usize % below
    }

    /// Is the web in a pair with the other one?
    fn is_pair(&self, w: usize) -> bool {
        self.partner[w].is_some_and(|p| self.of[w] ^ 1 == self.of[p])
    }

    /// Sets the newest mark on a web. Was it there?
    fn mark(&mut self, w: usize) -> bool {
        std::mem::replace(&mut self.seen[w], self.marks) == self.marks
    }

    /// Puts a pair into `r` and `r + 1` unless that costs more pairs than it wins.
    fn change(&mut self, [low, high]: [usize; 2], r: u8) {
        let mut done = Vec::with_capacity(2);
        for (w, r) in [(low, r), (high, r + 1)] {
            if self.of[w] != r {
                match self.exchange(w, r) {
                    Some(exchanged) => done.push(exchanged),
                    None => return self.undo(done),
                }
            }
        }
        // Webs whose pair may have changed.
        self.marks += 1;
        let mut touched = Vec::new();
        for (w, _) in done.iter().flat_map(|exchanged| &exchanged.moved) {
            let both = [Some(*w), self.partner[*w]];
            touched.extend(both.into_iter().flatten().filter(|w| !self.mark(*w)));
        }
        let pairs = |all: &Self| touched.iter().filter(|w| all.is_pair(**w)).count();
        let now = pairs(self);
        let later: Vec<u8> = touched.iter().map(|w| self.of[*w]).collect();
        for (w, old) in done.iter().rev().flat_map(|exchanged| &exchanged.moved) {
            self.of[*w] = *old;
        }
        if now < pairs(self) {
            return self.undo(done);
        }
        for (w, new) in touched.iter().zip(later) {
            self.of[*w] = new;
        }
    }

    /// Takes exchanges back, the last one first.
    fn undo(&mut self, done: Vec<Exchanged>) {
        for Exchanged { moved, parts } in done.into_iter().rev() {
            for (w, old) in moved {
                self.of[w] = old;
            }
            for part in parts {
                let within = &mut self.within[usize::from(part.register)];
                within.splice(part.first..part.first + part.now, part.before);
            }
        }
    }

    /// Exchanges what hangs together with web `w` in its register and in `r`, another one. None, and nothing is done, if
    /// a web must stay where it is.
    fn exchange(&mut self, w: usize, r: u8) -> Option<Exchanged> {
        let from = self.of[w];
        let other = |register: u8| if register == from { r } else { from };
        let mut open = vec![w];
        let mut moved = Vec::new();
        self.marks += 1;
        while let Some(w) = open.pop() {
            if self.mark(w) {
                continue;
            }
            let web = self.webs[w];
            if web.fixed.is_some() {
                return None;
            }
            moved.push((w, self.of[w]));
            // Those that it meets in the other register.
            let within = &self.within[usize::from(other(self.of[w]))];
            let first = within.partition_point(|n| self.webs[*n as usize].to <= web.from);
            let near = within[first..].iter().map(|n| *n as usize);
            open.extend(near.take_while(|n| self.webs[*n].from < web.to));
        }
        // All that moves begins between these points, so what begins before or after stays where it is.
        let begins = moved.iter().map(|(w, _)| self.webs[*w].from);
        let (least, most) = begins.fold((usize::MAX, 0), |(least, most), at| {
            (at.min(least), at.max(most))
        });
        let [left, right] = [from, r].map(|register| {
            let webs = &self.within[usize::from(register)];
            let before =
                |point: usize| webs.partition_point(|w| self.webs[*w as usize].from < point);
            before(least)..before(most + 1)
        });
        let [here, there] = [(from, &left), (r, &right)]
            .map(|(register, places)| &self.within[usize::from(register)][places.clone()]);
        let (new, other_new) = (self.merged(here, there), self.merged(there, here));
        let parts = [(from, left, new), (r, right, other_new)];
        let parts = parts.map(|(register, places, new)| {
            let (first, now) = (places.start, new.len());
            let within = &mut self.within[usize::from(register)];
            let before = within.splice(places, new).collect();
            Part {
                register,
                first,
                now,
                before,
            }
        });
        for (w, old) in &moved {
            self.of[*w] = other(*old);
        }
        Some(Exchanged { moved, parts })
    }

    /// Of the webs in a part of a register those that have no mark, and of those in the same part of the other one those that
    /// have, in the order in which they live.
    fn merged(&self, stay: &[u32], come: &[u32]) -> Vec<u32> {
        let is_marked = |w: &&u32| self.seen[**w as usize] == self.marks;
        let mut come = come.iter().filter(is_marked).peekable();
        let begins = |w: &u32| self.webs[*w as usize].from;
        let mut all = Vec::with_capacity(stay.len());
        for w in stay.iter().filter(|w| !is_marked(w)) {
            while let Some(first) = come.next_if(|n| begins(n) < begins(w)) {
                all.push(*first);
            }
            all.push(*w);
        }
        all.extend(come);
        all
    }
}
