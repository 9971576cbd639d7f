//! Which partial product when: the vocabulary of methods.
//!
//! The rhombus of hw2018 (figures 1 to 5): partial product `A[i] * B[j]` lies in column
//! `i + j`. Two kinds of [`Block`] cover it:
//!
//! - a [`ColumnBlock`] sweeps consecutive columns from right to left with one rotating
//!   accumulator; its [`Column`]s say which products are added, which operand words are
//!   loaded for them and kept, and whether an intermediate result is added on the way;
//! - a [`RowBlock`] keeps one word of `B` at a time; its [`Row`]s add the products of that
//!   word to intermediate result words one after another, with one word of carry between
//!   them: `a*b + c + d < 2^(2w)`, the shape of a row machine.

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
    /// Columns that become 0 for a block to add to.
    Clear,
    /// The block `b_init`.
    Init,
    /// Row `p`.
    Row(usize),
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Part::Whole => write!(f, "all columns"),
            Part::Clear => write!(f, "0"),
            Part::Init => write!(f, "b_init"),
            Part::Row(p) => write!(f, "row {p}"),
        }
    }
}

/// Consecutive columns with one accumulator, which is empty before and after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnBlock {
    pub part: Part,
    pub columns: Vec<Column>,
}

/// One product of a row: `(d, C[a + b]) = A[a] * B[b] + C[a + b] + d`, `d` the word carried along.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RowProduct {
    pub a: usize,
    /// Load `A[a]` first; otherwise it is still in a register.
    pub load_a: bool,
    /// Add the intermediate result `C[a + b]` that an earlier row stored; otherwise 0.
    pub reload: bool,
}

/// One row: `B[b]` is loaded and kept, the last word carried becomes `C[last a + b + 1]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub b: usize,
    /// With consecutive words of `A`.
    pub steps: Vec<RowProduct>,
}

/// Rows, one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowBlock {
    pub rows: Vec<Row>,
}

/// Products that are computed in one sweep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Block {
    Columns(ColumnBlock),
    Rows(RowBlock),
}

/// The order of a multiplication of `n` by `n` words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocks {
    pub n: usize,
    pub blocks: Vec<Block>,
}

/// Counts that the papers give formulas for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub loads: usize,
    pub stores: usize,
    pub products: usize,
    /// Products added to others: all but the first of a sweep, a block or a row, and those in
    /// the last column of a sweep, where only the low word may count.
    pub accumulated: usize,
    /// Words added or subtracted one at a time, in chains.
    pub links: usize,
    /// Columns whose intermediate result is reloaded.
    pub reloads: usize,
    /// The most operand words in registers at once.
    pub resident: usize,
}

impl Counts {
    /// Those of one after the other.
    pub fn then(self, other: Self) -> Self {
        Self {
            loads: self.loads + other.loads,
            stores: self.stores + other.stores,
            products: self.products + other.products,
            accumulated: self.accumulated + other.accumulated,
            links: self.links + other.links,
            reloads: self.reloads + other.reloads,
            resident: self.resident.max(other.resident),
        }
    }
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
    #[error("row {0} is empty")]
    EmptyRow(usize),
    #[error("column {0} is never stored")]
    NotStored(usize),
    #[error("value {0} is used before it is made")]
    NotMade(usize),
    #[error("value {0} is made twice")]
    MadeTwice(usize),
    #[error("the loops are not the blocks they were made from")]
    Loops,
    #[error("operands {0}")]
    Wrong(String),
}

/// What [`Blocks::check`] knows after some blocks.
struct Checker {
    n: usize,
    /// How often each product was added.
    seen: Vec<usize>,
    /// Columns that are in memory.
    stored: Vec<bool>,
    /// Operand words that were loaded at least once.
    loaded: [Vec<bool>; 2],
    /// Products that were the first of a block or row.
    firsts: usize,
    counts: Counts,
}

impl Checker {
    fn operand(&mut self, side: usize, index: usize, load: bool) -> Result<(), ScheduleError> {
        if load {
            self.counts.loads += 1;
            self.loaded[side][index] = true;
        } else if !self.loaded[side][index] {
            return Err(ScheduleError::NotLoaded(['A', 'B'][side], index));
        }
        Ok(())
    }

    fn product(&mut self, a: usize, b: usize) {
        self.seen[a * self.n + b] += 1;
        self.counts.products += 1;
    }

    fn store(&mut self, index: usize, reload: bool) -> Result<(), ScheduleError> {
        match (reload, self.stored[index]) {
            (true, false) => return Err(ScheduleError::ReloadBeforeStore(index)),
            (false, true) => return Err(ScheduleError::Overwritten(index)),
            _ => {}
        }
        if reload {
            self.counts.reloads += 1;
            self.counts.loads += 1;
        }
        self.stored[index] = true;
        self.counts.stores += 1;
        Ok(())
    }

    fn columns(&mut self, block: &ColumnBlock) -> Result<(), ScheduleError> {
        for (i, column) in block.columns.iter().enumerate() {
            if column.index != block.columns[0].index + i || column.index >= 2 * self.n {
                return Err(ScheduleError::NotConsecutive(column.index));
            }
            for p in &column.products {
                if p.a + p.b != column.index {
                    return Err(ScheduleError::WrongColumn(p.a, p.b, column.index));
                }
                self.operand(0, p.a, p.load_a)?;
                self.operand(1, p.b, p.load_b)?;
                self.product(p.a, p.b);
            }
            self.store(column.index, column.reload)?;
        }
        Ok(())
    }

    fn row(&mut self, row: &Row) -> Result<(), ScheduleError> {
        self.operand(1, row.b, true)?;
        let (Some(first), Some(last)) = (row.steps.first(), row.steps.last()) else {
            return Err(ScheduleError::EmptyRow(row.b));
        };
        for (i, step) in row.steps.iter().enumerate() {
            if step.a != first.a + i || step.a >= self.n {
                return Err(ScheduleError::NotConsecutive(step.a + row.b));
            }
            self.operand(0, step.a, step.load_a)?;
            self.product(step.a, row.b);
            self.store(step.a + row.b, step.reload)?;
        }
        self.store(last.a + row.b + 1, false)
    }
}

impl Blocks {
    /// Counts loads, stores and registers, and checks that every partial product is added
    /// exactly once, into its column, from words that are loaded; that every column is
    /// stored, and reloaded exactly where an earlier block or row left an intermediate result.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        self.check_products(|_, _| true)
    }

    /// The same where only products `A[i] * A[j]`, `i < j`, are added: half of a square.
    ///
    /// # Errors
    /// The first violation.
    pub fn check_triangle(&self) -> Result<Counts, ScheduleError> {
        self.check_products(|a, b| a < b)
    }

    fn check_products(
        &self,
        wanted: impl Fn(usize, usize) -> bool,
    ) -> Result<Counts, ScheduleError> {
        let n = self.n;
        let mut checker = Checker {
            n,
            seen: vec![0; n * n],
            stored: vec![false; 2 * n],
            loaded: [vec![false; n], vec![false; n]],
            firsts: 0,
            counts: Counts::default(),
        };
        for block in &self.blocks {
            match block {
                Block::Columns(columns) => checker.columns(columns)?,
                Block::Rows(rows) => rows.rows.iter().try_for_each(|r| checker.row(r))?,
            }
            let firsts = match block {
                Block::Columns(_) => 1,
                Block::Rows(rows) => rows.rows.len(),
            };
            checker.firsts += firsts;
        }
        let Checker { seen, stored, .. } = &checker;
        let wrong = |at: &usize| seen[*at] != usize::from(wanted(at / n, at % n));
        if let Some(at) = (0..n * n).find(wrong) {
            return Err(ScheduleError::Product(at / n, at % n, seen[at]));
        }
        if let Some(column) = stored.iter().position(|s| !s) {
            return Err(ScheduleError::NotStored(column));
        }
        let Counts { products, .. } = checker.counts;
        Ok(Counts {
            accumulated: products - checker.firsts.min(products),
            resident: self.resident(),
            ..checker.counts
        })
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
    pub fn products(&self) -> impl Iterator<Item = Product> {
        self.blocks.iter().flat_map(|block| match block {
            Block::Columns(block) => block
                .columns
                .iter()
                .flat_map(|c| c.products.iter().copied())
                .collect::<Vec<_>>(),
            Block::Rows(block) => block.rows.iter().flat_map(Row::products).collect(),
        })
    }

    /// The blocks, if all are columns.
    pub fn column_blocks(&self) -> Option<Vec<&ColumnBlock>> {
        let columns = self.blocks.iter().map(|block| match block {
            Block::Columns(columns) => Some(columns),
            Block::Rows(_) => None,
        });
        columns.collect()
    }

    /// The blocks, if all are rows.
    pub fn row_blocks(&self) -> Option<Vec<&RowBlock>> {
        let rows = self.blocks.iter().map(|block| match block {
            Block::Rows(rows) => Some(rows),
            Block::Columns(_) => None,
        });
        rows.collect()
    }
}

impl Row {
    /// The products of the row; its word of `B` is loaded for the first.
    fn products(&self) -> impl Iterator<Item = Product> {
        self.steps.iter().enumerate().map(|(i, step)| Product {
            a: step.a,
            b: self.b,
            load_a: step.load_a,
            load_b: i == 0,
        })
    }
}

/// For each product in order: is this the last use of its operand word in a register?
pub struct Lifetimes {
    pub a: Vec<bool>,
    pub b: Vec<bool>,
}

impl Lifetimes {
    /// Lifetimes of the operand words of a schedule.
    pub fn of(schedule: &Blocks) -> Self {
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
