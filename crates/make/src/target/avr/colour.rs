//! Registers for values that overlap in time, so that as many as possible of the values that are
//! made together lie in a pair (MOVW).
//!
//! The lives of registers are intervals, and as many registers as overlap are enough. From a first
//! assignment, which puts a value beside one that ends at about the same time, the registers of two
//! values of a pair are changed for others: all that lies in two registers and hangs together is
//! exchanged (Kempe), so no two values ever meet. What is not worse is kept.

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
        of: first,
        near: overlaps(webs),
        partner: partners(webs.len(), pairs),
        seen: vec![0; webs.len()],
        exchanges: 0,
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
    let mut until = [0; 32];
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

/// The webs that each one meets.
fn overlaps(webs: &[Web]) -> Vec<Vec<u32>> {
    let mut near = vec![vec![]; webs.len()];
    let mut order: Vec<usize> = (0..webs.len()).collect();
    order.sort_by_key(|w| webs[*w].from);
    let mut open: Vec<usize> = Vec::new();
    for w in order {
        open.retain(|o| webs[*o].to > webs[w].from);
        for o in &open {
            near[w].push(*o as u32);
            near[*o].push(w as u32);
        }
        open.push(w);
    }
    near
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
    near: Vec<Vec<u32>>,
    /// The other web of each one's pair.
    partner: Vec<Option<usize>>,
    /// The last exchange that moved each web, and how many there were.
    seen: Vec<u32>,
    exchanges: u32,
    state: u64,
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

    /// Puts a pair into `r` and `r + 1` unless that costs more pairs than it wins.
    fn change(&mut self, [low, high]: [usize; 2], r: u8) {
        let mut moved = Vec::new();
        let done = self.exchange(low, r, &mut moved) && self.exchange(high, r + 1, &mut moved);
        // Webs whose pair may have changed, as they are now and as they were.
        let mut touched: Vec<usize> = moved.iter().map(|(w, _)| *w).collect();
        touched.extend(moved.iter().filter_map(|(w, _)| self.partner[*w]));
        touched.sort_unstable();
        touched.dedup();
        let now = touched.iter().filter(|w| self.is_pair(**w)).count();
        let later: Vec<u8> = touched.iter().map(|w| self.of[*w]).collect();
        for (w, old) in moved.iter().rev() {
            self.of[*w] = *old;
        }
        let then = touched.iter().filter(|w| self.is_pair(**w)).count();
        if done && now >= then {
            for (w, new) in touched.iter().zip(later) {
                self.of[*w] = new;
            }
        }
    }

    /// Exchanges what hangs together with web `w` in its register and in `r`.
    fn exchange(&mut self, w: usize, r: u8, moved: &mut Vec<(usize, u8)>) -> bool {
        let from = self.of[w];
        if from == r {
            return true;
        }
        let mut open = vec![w];
        let start = moved.len();
        self.exchanges += 1;
        while let Some(w) = open.pop() {
            let old = self.of[w];
            if std::mem::replace(&mut self.seen[w], self.exchanges) == self.exchanges {
                continue;
            }
            if self.webs[w].fixed.is_some() {
                return false;
            }
            moved.push((w, old));
            let new = if old == from { r } else { from };
            for n in &self.near[w] {
                if self.of[*n as usize] == new {
                    open.push(*n as usize);
                }
            }
        }
        for (w, old) in &moved[start..] {
            self.of[*w] = if *old == from { r } else { from };
        }
        true
    }
}
