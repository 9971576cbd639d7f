//! Which partial product when: the vocabulary of methods.
//!
//! The rhombus of hw2018 (figures 1 to 5): partial product `A[i] * B[j]` lies in column
//! `i + j`. A [`Block`] sweeps consecutive columns from right to left with one rotating
//! accumulator; its [`Column`]s say which products are added, which operand words are
//! loaded for them and kept, and whether an intermediate result is added on the way.

use thiserror::Error;

/// One partial product `A[a] * B[b]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Product {
    pub a: usize,
    pub b: usize,
    /// Load the operand word first; otherwise it is still in a register.
    pub load_a: bool,
    pub load_b: bool,
}

/// One column of a block: add products, store the low word, shift the accumulator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Column {
    /// Index of the result word.
    pub index: usize,
    /// Add the intermediate result `C[index]` that an earlier block stored.
    pub reload: bool,
    pub products: Vec<Product>,
}

/// The parts of the rhombus, as hw2018 section 3.4 names them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// All columns (product scanning).
    Whole,
    /// The block `b_init`.
    Init,
    /// Row `p`.
    Row(usize),
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Part::Whole => write!(f, "all columns"),
            Part::Init => write!(f, "b_init"),
            Part::Row(p) => write!(f, "row {p}"),
        }
    }
}

/// Consecutive columns with one accumulator, which is empty before and after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    pub part: Part,
    pub columns: Vec<Column>,
}

/// The order of a multiplication of `n` by `n` words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    pub n: usize,
    pub blocks: Vec<Block>,
}

/// Counts that the papers give formulas for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub loads: usize,
    pub stores: usize,
    pub products: usize,
    /// Columns whose intermediate result is reloaded.
    pub reloads: usize,
    /// The most operand words in registers at once.
    pub resident: usize,
}

/// What is wrong with a schedule.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum ScheduleError {
    #[error("partial product A[{0}]*B[{1}] appears {2} times")]
    Product(usize, usize, usize),
    #[error("A[{0}]*B[{1}] is added in column {2}")]
    WrongColumn(usize, usize, usize),
    #[error("{0}[{1}] is used before it is loaded")]
    NotLoaded(char, usize),
    #[error("column {0} is reloaded before it is stored")]
    ReloadBeforeStore(usize),
    #[error("column {0} is stored by a block that drops what was there")]
    Overwritten(usize),
    #[error("columns of a block are not consecutive at {0}")]
    NotConsecutive(usize),
    #[error("column {0} is never stored")]
    NotStored(usize),
}

impl Schedule {
    /// Counts loads, stores and registers, and checks that every partial product is added
    /// exactly once, into its column, from words that are loaded; that every column is
    /// stored, and reloaded exactly where an earlier block left an intermediate result.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        let n = self.n;
        let mut seen = vec![0usize; n * n];
        let mut stored = vec![false; 2 * n];
        let mut loaded = [vec![false; n], vec![false; n]];
        let mut counts = Counts::default();
        for block in &self.blocks {
            for (i, column) in block.columns.iter().enumerate() {
                if column.index != block.columns[0].index + i || column.index >= 2 * n {
                    return Err(ScheduleError::NotConsecutive(column.index));
                }
                if column.reload {
                    if !stored[column.index] {
                        return Err(ScheduleError::ReloadBeforeStore(column.index));
                    }
                    counts.reloads += 1;
                    counts.loads += 1;
                } else if stored[column.index] {
                    return Err(ScheduleError::Overwritten(column.index));
                }
                for p in &column.products {
                    if p.a + p.b != column.index {
                        return Err(ScheduleError::WrongColumn(p.a, p.b, column.index));
                    }
                    for (side, index, load) in [(0, p.a, p.load_a), (1, p.b, p.load_b)] {
                        if load {
                            counts.loads += 1;
                            loaded[side][index] = true;
                        } else if !loaded[side][index] {
                            return Err(ScheduleError::NotLoaded(['A', 'B'][side], index));
                        }
                    }
                    seen[p.a * n + p.b] += 1;
                    counts.products += 1;
                }
                stored[column.index] = true;
                counts.stores += 1;
            }
        }
        if let Some(at) = seen.iter().position(|times| *times != 1) {
            return Err(ScheduleError::Product(at / n, at % n, seen[at]));
        }
        if let Some(column) = stored.iter().position(|s| !s) {
            return Err(ScheduleError::NotStored(column));
        }
        counts.resident = self.resident();
        Ok(counts)
    }

    /// The most operand words in registers at once: from each load to the last use before the next.
    fn resident(&self) -> usize {
        let uses = self.products().collect::<Vec<_>>();
        let dies = Lifetimes::of(self);
        let (mut now, mut most) = (0usize, 0usize);
        for (t, p) in uses.iter().enumerate() {
            now += usize::from(p.load_a) + usize::from(p.load_b);
            most = most.max(now);
            now -= usize::from(dies.a[t]) + usize::from(dies.b[t]);
        }
        most
    }

    /// All products in order.
    pub fn products(&self) -> impl Iterator<Item = &Product> {
        self.blocks
            .iter()
            .flat_map(|b| &b.columns)
            .flat_map(|c| &c.products)
    }
}

/// For each product in order: is this the last use of its operand word in a register?
pub struct Lifetimes {
    pub a: Vec<bool>,
    pub b: Vec<bool>,
}

impl Lifetimes {
    /// Lifetimes of the operand words of a schedule.
    pub fn of(schedule: &Schedule) -> Self {
        let products: Vec<_> = schedule.products().collect();
        let (mut a, mut b) = (vec![false; products.len()], vec![false; products.len()]);
        // Going backwards: a word is dead where its next use is a load, or never comes.
        let mut live = [vec![false; schedule.n], vec![false; schedule.n]];
        for (t, p) in products.iter().enumerate().rev() {
            a[t] = !live[0][p.a];
            b[t] = !live[1][p.b];
            live[0][p.a] = !p.load_a;
            live[1][p.b] = !p.load_b;
        }
        Self { a, b }
    }
}
