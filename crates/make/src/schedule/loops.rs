//! Blocks of columns written as loops.
//!
//! A loop is not declared but found: a run of columns of which each is the one before moved by
//! one word is a [`Run`]; a run of blocks of which each is the one before moved by as many words
//! is a [`Turn`]. The blocks still say what is computed: [`Loops::unfold`] gives them back, and
//! [`Loops::check`] checks that it does. Runs and turns only say which parts are written once.

use crate::facts::Style;
use crate::schedule::blocks::{Block, Blocks, Column, ColumnBlock, Counts, Part, ScheduleError};

/// How far the words of A, of B and of the result move from one column or block to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LoopStep {
    pub a: usize,
    pub b: usize,
    pub r: usize,
}

/// `columns`, `times` in all, each moved by `step` from the one before; once for straight code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    pub columns: Vec<Column>,
    pub times: usize,
    pub step: LoopStep,
}

/// One block: its accumulator is empty before and after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoldedBlock {
    pub part: Part,
    pub runs: Vec<Run>,
}

/// Blocks, `times` in all, each time moved by `step`, with `fewer` columns less in the longest runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    pub blocks: Vec<FoldedBlock>,
    pub times: usize,
    pub step: LoopStep,
    pub fewer: usize,
}

/// A multiplication of `n` by `n` words with its loops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loops {
    pub style: Style,
    /// What is computed: the product, or of a square the products of different words.
    pub blocks: Blocks,
    /// A and B are one operand: the result is twice the blocks' and the squares of its words.
    pub square: bool,
    pub turns: Vec<Turn>,
    /// Columns per pass of a loop; if none is given, the target chooses.
    pub unroll: Option<usize>,
}

fn moved(column: &Column, step: LoopStep, times: usize) -> Column {
    let mut column = column.clone();
    column.index += times * step.r;
    for p in &mut column.products {
        p.a += times * step.a;
        p.b += times * step.b;
    }
    column
}

/// From `x` to `y`, if `y` is `x` moved.
fn step_between(x: &Column, y: &Column) -> Option<LoopStep> {
    let r = y.index.checked_sub(x.index)?;
    let (a, b) = match (x.products.first(), y.products.first()) {
        (Some(p), Some(q)) => (q.a.checked_sub(p.a)?, q.b.checked_sub(p.b)?),
        _ => (0, 0),
    };
    let step = LoopStep { a, b, r };
    (moved(x, step, 1) == *y).then_some(step)
}

/// The longest runs, in order.
fn runs(columns: &[Column]) -> Vec<Run> {
    let mut list: Vec<Run> = Vec::new();
    let mut at = 0;
    while let Some(first) = columns.get(at) {
        let step = columns
            .get(at + 1)
            .and_then(|next| step_between(first, next));
        let times = step.map_or(1, |step| {
            let alike = |t: &usize| columns.get(at + t) == Some(&moved(first, step, *t));
            1 + (1..).take_while(alike).count()
        });
        match list.last_mut() {
            Some(last) if times == 1 && last.times == 1 => last.columns.push(first.clone()),
            _ => list.push(Run {
                columns: vec![first.clone()],
                times,
                step: step.unwrap_or_default(),
            }),
        }
        at += times;
    }
    list
}

impl FoldedBlock {
    /// The columns of the first time.
    pub fn columns(&self) -> impl Iterator<Item = Column> {
        self.runs.iter().flat_map(|run| {
            let times = 0..run.times;
            times.flat_map(move |i| run.columns.iter().map(move |c| moved(c, run.step, i)))
        })
    }

    fn of(block: &ColumnBlock) -> Self {
        Self {
            part: block.part,
            runs: runs(&block.columns),
        }
    }

    /// The columns when the block is run for the `t`th time of `turn`; what follows a run that has
    /// become shorter lies that much `lower`.
    fn unfold(&self, turn: &Turn, t: usize, lower: &mut LoopStep) -> Vec<Column> {
        let mut columns = Vec::new();
        for run in &self.runs {
            let place = |column: &Column| {
                let mut column = moved(column, turn.step, t);
                column.index = column.index.checked_sub(lower.r)?;
                for p in &mut column.products {
                    p.a = p.a.checked_sub(lower.a)?;
                    p.b = p.b.checked_sub(lower.b)?;
                }
                Some(column)
            };
            let first: Vec<_> = run.columns.iter().filter_map(place).collect();
            let less = if turn.shrinks(run) { t * turn.fewer } else { 0 };
            for i in 0..run.times.saturating_sub(less) {
                columns.extend(first.iter().map(|column| moved(column, run.step, i)));
            }
            lower.a += less * run.step.a;
            lower.b += less * run.step.b;
            lower.r += less * run.step.r;
        }
        columns
    }
}

impl Turn {
    fn once(block: FoldedBlock) -> Self {
        Self {
            blocks: vec![block],
            times: 1,
            step: LoopStep::default(),
            fewer: 0,
        }
    }

    /// The times of the longest run.
    pub fn longest(&self) -> usize {
        let runs = self.blocks.iter().flat_map(|block| &block.runs);
        runs.map(|run| run.times).max().unwrap_or(0)
    }

    /// Has `run` fewer columns each time?
    pub fn shrinks(&self, run: &Run) -> bool {
        self.fewer > 0 && run.times == self.longest()
    }

    /// The columns of its blocks the `t`th time.
    fn unfold_once(&self, t: usize) -> Vec<Vec<Column>> {
        let mut lower = LoopStep::default();
        let blocks = self.blocks.iter();
        blocks.map(|b| b.unfold(self, t, &mut lower)).collect()
    }

    fn unfold(&self) -> Vec<Vec<Column>> {
        (0..self.times).flat_map(|t| self.unfold_once(t)).collect()
    }

    /// The longest turn of `period` blocks each that `blocks` begin with, of two times at least.
    fn starting(blocks: &[&ColumnBlock], period: usize) -> Option<Self> {
        let (first, second) = (blocks.get(..period)?, blocks.get(period..2 * period)?);
        let folded = |list: &[&ColumnBlock]| -> Vec<_> {
            list.iter().map(|block| FoldedBlock::of(block)).collect()
        };
        let starts = |list: &[&ColumnBlock]| {
            let mut columns = list.iter().flat_map(|block| &block.columns);
            columns.find(|c| !c.products.is_empty()).cloned()
        };
        let step = step_between(&starts(first)?, &starts(second)?)?;
        let once = |list: &[&ColumnBlock]| Turn {
            blocks: folded(list),
            times: 1,
            step,
            fewer: 0,
        };
        let mut turn = once(first);
        turn.fewer = turn.longest().checked_sub(once(second).longest())?;
        let same = |turn: &Turn, t: usize| {
            let given = blocks.get(t * period..(t + 1) * period);
            given.is_some_and(|given| {
                let made = turn.unfold_once(t).into_iter();
                made.eq(given.iter().map(|b| b.columns.clone()))
            })
        };
        while same(&turn, turn.times) {
            turn.times += 1;
        }
        (turn.times > 1).then_some(turn)
    }
}

/// The most blocks in a turn.
const PERIOD: usize = 2;

impl Loops {
    /// The loops of `blocks`; `None` if they are not columns.
    pub fn of(style: Style, blocks: Blocks, square: bool, unroll: Option<usize>) -> Option<Self> {
        let list = blocks.column_blocks()?;
        let mut turns = Vec::new();
        let mut at = 0;
        while at < list.len() {
            let most = if style == Style::Rolled { PERIOD } else { 0 };
            let found = (1..=most).filter_map(|period| Turn::starting(&list[at..], period));
            let turn = match found.max_by_key(|turn| turn.times * turn.blocks.len()) {
                Some(turn) => turn,
                None => Turn::once(FoldedBlock::of(list[at])),
            };
            at += turn.times * turn.blocks.len();
            turns.push(turn);
        }
        Some(Self {
            style,
            blocks,
            square,
            turns,
            unroll,
        })
    }

    /// The columns of every block, in order.
    pub fn unfold(&self) -> Vec<Vec<Column>> {
        self.turns.iter().flat_map(Turn::unfold).collect()
    }

    /// Checks that the loops are the blocks, and that these compute what they should.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        let blocks = self.blocks.blocks.iter().map(|block| match block {
            Block::Columns(block) => block.columns.clone(),
            Block::Rows(_) => Vec::new(),
        });
        if !self.unfold().into_iter().eq(blocks) {
            return Err(ScheduleError::Loops);
        }
        match self.square {
            false => self.blocks.check(),
            true => self.blocks.check_triangle(),
        }
    }
}
