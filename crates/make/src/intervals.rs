//! The most valuable set of intervals of which at most a given number overlap at each point.
//!
//! A flow runs along the line of points, with a unit for each place. A unit that takes the arc of an
//! interval serves that interval. The cheapest flow gives the best set (Arkin, Silverberg
//! 1987). It is found by shortest paths, one unit at a time, with potentials that keep costs positive.

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
    fn send(&mut self, nodes: &mut [Node], open: &mut Queue) -> bool {
        let last = self.nodes() - 1;
        nodes.iter_mut().for_each(|node| node.far = i64::MAX);
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
                if arc.room == 0 {
                    continue;
                }
                let end = &mut nodes[arc.to as usize];
                let to = here + arc.cost - end.potential;
                if to < end.far.min(most) {
                    (end.far, end.by) = (to, place);
                    open.push(to, arc.to as usize);
                }
            }
        }
        let most = nodes[last].far;
        if most == i64::MAX {
            return false;
        }
        for node in &mut *nodes {
            node.potential += node.far.min(most);
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

/// Nodes by distance: the nearest first, of equals the last in line. Nobody comes in that is nearer than the last that left.
struct Queue {
    /// The distance whose turn it is, and its nodes: a bit each, `left` of them, none above word `high`.
    distance: i64,
    bits: Vec<u64>,
    left: usize,
    high: usize,
    /// Those that are further, by the highest bit in which their distance differs from that one (a radix heap: Ahuja,
    /// Mehlhorn, Orlin, Tarjan 1990), and a bit for each list that is not empty.
    further: [Vec<(i64, u32)>; 64],
    filled: u64,
}

impl Queue {
    fn new(nodes: usize) -> Self {
        Self {
            distance: 0,
            bits: vec![0; nodes.div_ceil(64)],
            left: 0,
            high: 0,
            further: std::array::from_fn(|_| Vec::new()),
            filled: 0,
        }
    }

    /// Without nodes: what a search that came to its end left.
    fn clear(&mut self) {
        self.bits.fill(0);
        self.further.iter_mut().for_each(Vec::clear);
        (self.distance, self.left, self.high, self.filled) = (0, 0, 0, 0);
    }

    fn push(&mut self, distance: i64, node: usize) {
        match (distance ^ self.distance).checked_ilog2() {
            None => {
                let (word, bit) = (node / 64, 1 << (node % 64));
                self.left += usize::from(self.bits[word] & bit == 0);
                self.bits[word] |= bit;
                self.high = self.high.max(word);
            }
            Some(differs) => {
                self.further[differs as usize].push((distance, node as u32));
                self.filled |= 1 << differs;
            }
        }
    }

    fn pop(&mut self) -> Option<(i64, usize)> {
        if self.left == 0 {
            self.turn()?;
        }
        while self.bits[self.high] == 0 {
            self.high -= 1;
        }
        let bit = 63 - self.bits[self.high].leading_zeros() as usize;
        self.bits[self.high] ^= 1 << bit;
        self.left -= 1;
        Some((self.distance, 64 * self.high + bit))
    }

    /// The next distance is that of the nearest of the first list, in which all differ from it in a lower bit.
    fn turn(&mut self) -> Option<()> {
        let first = self.filled.trailing_zeros() as usize;
        let mut list = std::mem::take(self.further.get_mut(first)?);
        self.filled ^= 1 << first;
        self.distance = list.iter().map(|(distance, _)| *distance).min()?;
        self.high = 0;
        for (distance, node) in list.drain(..) {
            self.push(distance, node as usize);
        }
        self.further[first] = list;
        Some(())
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
    let mut nodes: Vec<_> = graph.forward().into_iter().map(Node::at).collect();
    let mut open = Queue::new(points.len());
    for _ in 0..most {
        if !graph.send(&mut nodes, &mut open) {
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
