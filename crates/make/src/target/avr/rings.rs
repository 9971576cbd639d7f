//! Which registers the words of columns in loops have: see [`crate::target::avr::bands`].

use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;

use crate::refusal::LowerError;
use crate::schedule::{Column, Loops};

/// Which register holds what.
#[derive(Clone)]
pub struct Layout {
    pub accumulator: [u8; 4],
    /// Passes of a loop, turns, and passes of the loops of this turn and one, where they become fewer.
    pub counter: u8,
    pub rows: u8,
    pub fewer: u8,
    pub zero: u8,
    pub rings: [Vec<u8>; 2],
    /// Low ones of the pairs that keep Z and Y over a turn, if there are so many registers.
    pub kept: Option<[u8; 2]>,
    /// The pair that holds A's address, where Y is no pointer.
    pub waits: Option<u8>,
}

impl Layout {
    /// For `loops` in the first `registers` of the usual order; A's address waits in a pair, or has X.
    pub fn new(loops: &Loops, registers: &[u8], waits: Option<u8>) -> Result<Self, LowerError> {
        let [mut a, b] = rings(loops);
        if waits.is_some() {
            a = a.max(kept_words(loops)?);
        }
        let turns = loops.turns.iter().any(|turn| turn.times > 1);
        let shrinks = loops.turns.iter().any(|turn| turn.fewer > 0);
        let mut free = registers.iter().copied();
        let mut take = |count: usize| -> Result<Vec<u8>, LowerError> {
            let list: Vec<u8> = free.by_ref().take(count).collect();
            let enough = list.len() == count;
            enough.then_some(list).ok_or(LowerError::Registers)
        };
        // Those that constants go to first, and rings in pairs.
        let control = take(2)?;
        let more = take(if shrinks { 2 } else { 0 })?;
        let low = take(4)?;
        // A square needs a ring for five words at the end.
        let least = if loops.square { 3 } else { 0 };
        let rings = [take(a.max(least))?, take(b.max(least))?];
        let zero = match (turns, more.get(1)) {
            (_, Some(zero)) => *zero,
            (true, None) => take(1)?[0],
            (false, None) => control[1],
        };
        let rest: Vec<u8> = free.collect();
        let kept = match pairs(&rest)[..] {
            [z, y, ..] if shrinks => Some([z, y]),
            _ => None,
        };
        Ok(Self {
            accumulator: [low[0], low[1], low[2], low[3]],
            counter: control[0],
            rows: control[1],
            fewer: more.first().copied().unwrap_or(control[0]),
            zero,
            rings,
            kept,
            waits,
        })
    }

    /// What points to A, B and the result.
    pub fn pointers(&self) -> [Pointer; 3] {
        match self.waits {
            None => [Pointer::X, Pointer::Z, Pointer::Y],
            Some(_) => [Pointer::X, Pointer::X, Pointer::Z],
        }
    }

    /// What loads a word of the result further on, and stores one and steps up.
    pub fn result(&self) -> [Op; 2] {
        match self.waits {
            None => [Op::LDDY, Op::STY_INC],
            Some(_) => [Op::LDDZ, Op::STZ_INC],
        }
    }
}

/// The low registers of whole pairs among `registers`.
pub fn pairs(registers: &[u8]) -> Vec<u8> {
    let low = registers.iter().copied().filter(|r| r % 2 == 0);
    low.filter(|r| registers.contains(&(r + 1))).collect()
}

/// Does one of `columns` use a word of a side that is in its ring?
pub fn uses(columns: &[Column], side: usize, word: usize) -> bool {
    let products = columns.iter().flat_map(|c| &c.products);
    let mut words = products.map(|p| [(p.a, p.load_a), (p.b, p.load_b)][side]);
    words.any(|used| used == (word, false))
}

/// The most words of A that a block loads, if no loop does.
fn kept_words(loops: &Loops) -> Result<usize, LowerError> {
    let blocks = loops.turns.iter().flat_map(|turn| &turn.blocks);
    let loaded = |columns: &[Column]| {
        let products = columns.iter().flat_map(|c| &c.products);
        products.filter(|p| p.load_a).count()
    };
    let mut most = 0;
    for block in blocks {
        if block
            .runs
            .iter()
            .any(|run| run.times > 1 && loaded(&run.columns) > 0)
        {
            return Err(LowerError::ThreePointers);
        }
        most = most.max(block.runs.iter().map(|run| loaded(&run.columns)).sum());
    }
    Ok(most)
}

/// The most words of each operand in use at once: the lengths of the rings.
fn rings(loops: &Loops) -> [usize; 2] {
    let blocks = loops.turns.iter().flat_map(|turn| &turn.blocks);
    let most = blocks.map(|block| {
        let columns: Vec<Column> = block.columns().collect();
        [0, 1].map(|side| {
            let words = |c: &Column| {
                let words = c.products.iter().map(|p| [p.a, p.b][side]);
                let (least, most) = (words.clone().min(), words.max());
                most.zip(least).map_or(0, |(most, least)| most + 1 - least)
            };
            columns.iter().map(words).max().unwrap_or(0)
        })
    });
    most.fold([0, 0], |x, y| [x[0].max(y[0]), x[1].max(y[1])])
}
