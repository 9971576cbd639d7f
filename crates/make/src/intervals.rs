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

#[derive(Clone, Copy)]
struct Arc {
    to: u32,
    room: u32,
    cost: i64,
    /// Its reverse.
    back: u32,
}

/// The arcs, those of one node after those of the node before; each has its reverse.
struct Graph {
    arcs: Vec<Arc>,
    /// Where the arcs of each node begin, and where the last one's end.
    first: Vec<usize>,
}

impl Graph {
    /// Arcs `(from, to, room, cost)`, none of which ends where it begins, and where each of them lies. A node's arcs and
    /// the reverses that begin there keep their order.
    fn of(nodes: usize, list: &[(usize, usize, usize, i64)]) -> (Self, Vec<usize>) {
        let mut first = vec![0; nodes + 1];
        for (from, to, ..) in list {
            first[from + 1] += 1;
            first[to + 1] += 1;
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut free = first.clone();
        let mut next = |node: usize| {
            free[node] += 1;
            free[node] - 1
        };
        let none = Arc {
            to: 0,
            room: 0,
            cost: 0,
            back: 0,
        };
        let mut arcs = vec![none; 2 * list.len()];
        let places = list.iter().map(|(from, to, room, cost)| {
            let (place, reverse) = (next(*from), next(*to));
            arcs[place] = Arc {
                to: *to as u32,
                room: *room as u32,
                cost: *cost,
                back: reverse as u32,
            };
            arcs[reverse] = Arc {
                to: *from as u32,
                room: 0,
                cost: -cost,
                back: place as u32,
            };
            place
        });
        let places = places.collect();
        (Self { arcs, first }, places)
    }

    fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// The arcs of a node, each with its place.
    fn of_node(&self, node: usize) -> impl Iterator<Item = (usize, &Arc)> {
        let from = self.first[node];
        (from..).zip(&self.arcs[from..self.first[node + 1]])
    }

    /// Distances from node 0 while all arcs go forward.
    fn forward(&self) -> Vec<i64> {
        let mut far = vec![i64::MAX; self.nodes()];
        far[0] = 0;
        for node in 0..self.nodes() {
            for (_, arc) in self.of_node(node) {
                if arc.room > 0 && far[node] < i64::MAX {
                    let to = arc.to as usize;
                    far[to] = far[to].min(far[node] + arc.cost);
                }
            }
        }
        far
    }

    /// Sends one unit from node 0 to the last one the cheapest way.
    fn send(&mut self, potential: &mut [i64], open: &mut Queue) -> bool {
        let last = self.nodes() - 1;
        let mut nodes: Vec<Node> = potential.iter().map(|p| Node::at(*p)).collect();
        open.clear();
        nodes[0].far = 0;
        open.push(0, 0);
        while let Some((d, node)) = open.pop() {
            if d > nodes[node].far {
                continue;
            }
            if node == last {
                break;
            }
            let here = d + nodes[node].potential;
            // What is as far as the last one is on no way to it.
            let most = nodes[last].far;
            for (place, arc) in self.of_node(node) {
                let end = &mut nodes[arc.to as usize];
                let to = here + arc.cost - end.potential;
                if arc.room > 0 && to < end.far.min(most) {
                    (end.far, end.by) = (to, place);
                    open.push(to, arc.to as usize);
                }
            }
        }
        let most = nodes[last].far;
        if most == i64::MAX {
            return false;
        }
        for (p, node) in potential.iter_mut().zip(&nodes) {
            *p += node.far.min(most);
        }
        let mut node = last;
        while node != 0 {
            let place = nodes[node].by;
            self.arcs[place].room -= 1;
            let back = self.arcs[place].back as usize;
            self.arcs[back].room += 1;
            node = self.arcs[back].to as usize;
        }
        true
    }
}

/// What a search knows of a node.
struct Node {
    potential: i64,
    /// How far it is, and the arc that leads to it.
    far: i64,
    by: usize,
}

impl Node {
    fn at(potential: i64) -> Self {
        let far = i64::MAX;
        Self {
            potential,
            far,
            by: 0,
        }
    }
}

/// Nodes by distance: the nearest first, of equals the last in line.
struct Queue {
    /// At each distance a bit per node, and the highest word that may hold one.
    at: BTreeMap<i64, (Vec<u64>, usize)>,
    /// Bits of distances that are done with: all 0.
    spare: Vec<Vec<u64>>,
    words: usize,
}

impl Queue {
    fn new(nodes: usize) -> Self {
        Self {
            at: BTreeMap::new(),
            spare: Vec::new(),
            words: nodes.div_ceil(64),
        }
    }

    /// Without nodes: what a search that came to its end left.
    fn clear(&mut self) {
        while let Some((_, (mut bits, _))) = self.at.pop_first() {
            bits.fill(0);
            self.spare.push(bits);
        }
    }

    fn push(&mut self, distance: i64, node: usize) {
        let Self { at, spare, words } = self;
        let zeros = || (spare.pop().unwrap_or_else(|| vec![0; *words]), 0);
        let (bits, high) = at.entry(distance).or_insert_with(zeros);
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
                self.spare.push(first.remove().0);
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
    let mut list = Vec::with_capacity(2 * points.len() + intervals.len());
    for (i, ends) in points.windows(2).enumerate() {
        let least = places[ends[0]..ends[1]].iter().copied().min().unwrap_or(0);
        list.push((i, i + 1, most - least, -NEVER));
        list.push((i, i + 1, most, 0));
    }
    let lines = list.len();
    // An interval without points takes no place.
    let arcs = intervals.iter().filter(|i| i.from < i.to);
    list.extend(arcs.map(|i| (node(i.from), node(i.to), 1, -i.worth)));
    let (mut graph, at) = Graph::of(points.len(), &list);
    let mut potential = graph.forward();
    let mut open = Queue::new(points.len());
    for _ in 0..most {
        if !graph.send(&mut potential, &mut open) {
            break;
        }
    }
    let mut arcs = at[lines..].iter();
    let mut taken = |i: &Interval| {
        let arc = (i.from < i.to).then(|| arcs.next()).flatten();
        arc.is_none_or(|place| graph.arcs[*place].room == 0)
    };
    intervals.iter().map(&mut taken).collect()
}
