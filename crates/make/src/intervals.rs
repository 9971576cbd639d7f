//! The dearest set of intervals of which at most so many overlap at each point.
//!
//! A flow of as many units as there are places runs along the line of points; a unit that takes
//! the arc of an interval spends it there. The cheapest flow is the best set (Arkin, Silverberg
//! 1987): found by shortest paths, one unit at a time, with potentials that keep costs positive.

use std::collections::BTreeMap;

/// Points `from .. to`, and what it is worth to have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    pub from: usize,
    pub to: usize,
    pub worth: i64,
}

/// Dearer than all intervals together: a unit on an arc of this cost is not at our disposal.
const NEVER: i64 = 1 << 40;

struct Arc {
    to: usize,
    room: usize,
    cost: i64,
    /// Its reverse among the arcs of `to`.
    back: usize,
}

/// The arcs of each node; each has its reverse.
struct Graph {
    at: Vec<Vec<Arc>>,
}

impl Graph {
    /// The arc's place among those of `from`, which is not `to`.
    fn add(&mut self, from: usize, to: usize, room: usize, cost: i64) -> usize {
        let [arc, back] = [from, to].map(|node| self.at[node].len());
        self.at[from].push(Arc {
            to,
            room,
            cost,
            back,
        });
        self.at[to].push(Arc {
            to: from,
            room: 0,
            cost: -cost,
            back: arc,
        });
        arc
    }

    /// Distances from node 0 while all arcs go forward.
    fn forward(&self) -> Vec<i64> {
        let mut far = vec![i64::MAX; self.at.len()];
        far[0] = 0;
        for node in 0..self.at.len() {
            for arc in &self.at[node] {
                if arc.room > 0 && far[node] < i64::MAX {
                    far[arc.to] = far[arc.to].min(far[node] + arc.cost);
                }
            }
        }
        far
    }

    /// Sends one unit from node 0 to the last one the cheapest way.
    fn send(&mut self, potential: &mut [i64]) -> bool {
        let last = self.at.len() - 1;
        let mut far = vec![i64::MAX; self.at.len()];
        let mut by = vec![(0, 0); self.at.len()];
        let mut open = Queue::new(self.at.len());
        far[0] = 0;
        open.push(0, 0);
        while let Some((d, node)) = open.pop() {
            if d > far[node] {
                continue;
            }
            if node == last {
                break;
            }
            let here = d + potential[node];
            for (i, arc) in self.at[node].iter().enumerate() {
                if arc.room == 0 {
                    continue;
                }
                let to = here + arc.cost - potential[arc.to];
                if to < far[arc.to] {
                    (far[arc.to], by[arc.to]) = (to, (node, i));
                    open.push(to, arc.to);
                }
            }
        }
        if far[last] == i64::MAX {
            return false;
        }
        for (p, d) in potential.iter_mut().zip(&far) {
            *p += (*d).min(far[last]);
        }
        let mut node = last;
        while node != 0 {
            let (from, i) = by[node];
            let arc = &mut self.at[from][i];
            arc.room -= 1;
            let back = arc.back;
            self.at[node][back].room += 1;
            node = from;
        }
        true
    }
}

/// Nodes by distance: the nearest first, of equals the last in line.
struct Queue {
    /// At each distance a bit per node, and the highest word that may hold one.
    at: BTreeMap<i64, (Vec<u64>, usize)>,
    words: usize,
}

impl Queue {
    fn new(nodes: usize) -> Self {
        Self {
            at: BTreeMap::new(),
            words: nodes.div_ceil(64),
        }
    }

    fn push(&mut self, distance: i64, node: usize) {
        let words = self.words;
        let (bits, high) = self
            .at
            .entry(distance)
            .or_insert_with(|| (vec![0; words], 0));
        bits[node / 64] |= 1 << (node % 64);
        *high = node.div_euclid(64).max(*high);
    }

    fn pop(&mut self) -> Option<(i64, usize)> {
        loop {
            let mut first = self.at.first_entry()?;
            let distance = *first.key();
            let (bits, high) = first.get_mut();
            while bits[*high] == 0 && *high > 0 {
                *high -= 1;
            }
            if bits[*high] == 0 {
                first.remove();
                continue;
            }
            let bit = 63 - bits[*high].leading_zeros() as usize;
            bits[*high] ^= 1 << bit;
            return Some((distance, 64 * *high + bit));
        }
    }
}

/// Which intervals to have, with `places[p]` of them at most at point `p`; `places` is not empty.
pub fn choose(places: &[usize], intervals: &[Interval]) -> Vec<bool> {
    let most = places.iter().copied().max().unwrap_or(0);
    // Nodes: points where an interval begins or ends.
    let mut points: Vec<usize> = intervals.iter().flat_map(|i| [i.from, i.to]).collect();
    points.extend([0, places.len()]);
    points.sort_unstable();
    points.dedup();
    let node = |point: usize| points.partition_point(|p| *p < point);
    let mut graph = Graph {
        at: points.iter().map(|_| vec![]).collect(),
    };
    for (i, ends) in points.windows(2).enumerate() {
        let least = places[ends[0]..ends[1]].iter().copied().min().unwrap_or(0);
        graph.add(i, i + 1, most - least, -NEVER);
        graph.add(i, i + 1, most, 0);
    }
    let arcs: Vec<Option<(usize, usize)>> = intervals
        .iter()
        .map(|i| {
            let from = node(i.from);
            let arc = (i.from < i.to).then(|| graph.add(from, node(i.to), 1, -i.worth));
            Some((from, arc?))
        })
        .collect();
    let mut potential = graph.forward();
    for _ in 0..most {
        if !graph.send(&mut potential) {
            break;
        }
    }
    // An interval without points takes no place.
    let taken =
        |arc: &Option<(usize, usize)>| arc.is_none_or(|(from, i)| graph.at[from][i].room == 0);
    arcs.iter().map(taken).collect()
}

#[cfg(test)]
mod tests {
    use super::{Interval, choose};

    fn worth(chosen: &[bool], intervals: &[Interval]) -> i64 {
        let taken = chosen.iter().zip(intervals).filter(|(c, _)| **c);
        taken.map(|(_, i)| i.worth).sum()
    }

    fn fits(chosen: &[bool], places: &[usize], intervals: &[Interval]) -> bool {
        places.iter().enumerate().all(|(p, room)| {
            let here = |i: &Interval| (i.from..i.to).contains(&p);
            let taken = chosen.iter().zip(intervals);
            taken.filter(|(c, i)| **c && here(i)).count() <= *room
        })
    }

    /// Against all subsets, on small random lines.
    #[test]
    fn is_the_best_of_all_sets() {
        let mut state = 1u64;
        let mut random = move |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..200 {
            let places: Vec<usize> = (0..8).map(|_| random(4)).collect();
            let intervals: Vec<Interval> = (0..9)
                .map(|_| {
                    let from = random(8);
                    Interval {
                        from,
                        to: from + random(9 - from),
                        worth: 1 + random(6) as i64,
                    }
                })
                .collect();
            let got = choose(&places, &intervals);
            assert!(fits(&got, &places, &intervals), "{places:?} {intervals:?}");
            let sets = (0..1u32 << intervals.len())
                .map(|set| (0..intervals.len()).map(|i| set >> i & 1 > 0).collect())
                .filter(|c: &Vec<bool>| fits(c, &places, &intervals));
            let best = sets.map(|c| worth(&c, &intervals)).max();
            assert_eq!(
                Some(worth(&got, &intervals)),
                best,
                "{places:?} {intervals:?}"
            );
        }
    }
}
