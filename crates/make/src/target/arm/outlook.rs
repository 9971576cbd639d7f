//! A look ahead: which words each product uses, and when each word is used next.

use crate::schedule::{Blocks, Column, Product};
use crate::target::arm::plan;
use crate::target::arm::plan::ColumnPlan;
use crate::target::arm::pointers::Array;

/// A word of an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Word {
    pub array: Array,
    pub index: usize,
}

/// The operand words of a product.
pub fn operands(product: &Product) -> [Word; 2] {
    let word = |array, index| Word { array, index };
    [word(Array::A, product.a), word(Array::B, product.b)]
}

/// A product: the words it uses, and the registers it needs beside them.
#[derive(Clone, Debug)]
pub struct Need {
    pub words: Vec<Word>,
    pub registers: usize,
}

/// A column with its plan; times count products in the order of the schedule.
pub struct PlannedColumn<'a> {
    pub column: &'a Column,
    pub plan: ColumnPlan,
    /// Time after its last product, and after the last of its block.
    pub end: usize,
    pub block_end: usize,
    /// The name of the block that starts here, if one does.
    pub part: Option<String>,
}

/// A schedule, prepared for looking ahead.
pub struct Outlook<'a> {
    pub n: usize,
    pub places: Vec<PlannedColumn<'a>>,
    needs: Vec<Need>,
    /// For each word of R, A, B, the times of its uses.
    uses: [Vec<Vec<usize>>; 3],
}

impl<'a> Outlook<'a> {
    /// Prepares `schedule`; `None` if it has rows, which this machine does not compute in one step.
    pub fn of(schedule: &'a Blocks) -> Option<Self> {
        let blocks = schedule.column_blocks()?;
        let n = schedule.n;
        let mut out = Self {
            n,
            places: Vec::new(),
            needs: Vec::new(),
            uses: [vec![vec![]; 2 * n], vec![vec![]; n], vec![vec![]; n]],
        };
        for block in blocks {
            let first = out.places.len();
            for (column, plan) in block.columns.iter().zip(plan::block(block)) {
                for need in Self::needs(column, &plan, &column.products) {
                    let time = out.needs.len();
                    for word in &need.words {
                        out.uses[word.array as usize][word.index].push(time);
                    }
                    out.needs.push(need);
                }
                let starts = out.places.len() == first;
                out.places.push(PlannedColumn {
                    column,
                    plan,
                    end: out.needs.len(),
                    block_end: 0,
                    part: starts.then(|| block.part.to_string()),
                });
            }
            let end = out.needs.len();
            for place in &mut out.places[first..] {
                place.block_end = end;
            }
        }
        Some(out)
    }

    /// What a column's products need, in the given order.
    pub fn needs(column: &Column, plan: &ColumnPlan, products: &[Product]) -> Vec<Need> {
        let steps = products.iter().zip(&plan.steps);
        let list = steps.map(|(product, step)| {
            let reloaded = step.reload.map(|_| Word {
                array: Array::R,
                index: column.index,
            });
            Need {
                words: reloaded.into_iter().chain(operands(product)).collect(),
                registers: step.registers,
            }
        });
        list.collect()
    }

    /// The needs after a column, up to its block's end for words of R.
    pub fn after(&self, place: &PlannedColumn<'_>) -> impl Iterator<Item = &Need> {
        let crosses = move |(t, need): &(usize, &Need)| {
            *t >= place.block_end && need.words.iter().any(|w| w.array == Array::R)
        };
        let later = self.needs.iter().enumerate().skip(place.end);
        later.take_while(move |x| !crosses(x)).map(|(_, need)| need)
    }

    /// How many products after the column's last one `word` is used next; words of R change
    /// when their block ends.
    pub fn next_use(&self, word: Word, place: &PlannedColumn<'_>) -> usize {
        let list = &self.uses[word.array as usize][word.index];
        let next = list.get(list.partition_point(|t| *t < place.end));
        let valid = next.filter(|t| word.array != Array::R || **t < place.block_end);
        valid.map_or(usize::MAX, |t| t - place.end)
    }
}
