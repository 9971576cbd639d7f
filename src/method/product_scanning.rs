//! Product scanning (Comba): column by column, every operand word loaded for its product.
//!
//! hw2018, section 3.2, figure 2: `2n^2` loads, `2n` stores.

use super::{Method, MethodError, Params};
use crate::facts::Facts;
use crate::schedule::{Block, Blocks, Column, ColumnBlock, Part, Product, Schedule};
use crate::spec::{Op, Spec};

/// Product scanning.
pub static METHOD: Method = Method {
    name: "product-scanning",
    summary: "column by column (Comba), few registers, two loads per product",
    source: "Hutter, Wenger 2018, section 3.2",
    op: Op::Mul,
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    let n = (spec.bits / facts.word_bits) as usize;
    let columns = (0..2 * n)
        .map(|k| {
            let first = (k + 1).saturating_sub(n);
            let mut products: Vec<_> = (first..n.min(k + 1))
                .map(|a| Product {
                    a,
                    b: k - a,
                    load_a: true,
                    load_b: true,
                })
                .collect();
            // Serpentine: every other column runs the other way, so that the pointers,
            // left at one end of the column, are where the next one starts.
            if k % 2 == 1 {
                products.reverse();
            }
            Column {
                index: k,
                reload: false,
                products,
            }
        })
        .collect();
    Ok(Schedule::Blocks(Blocks {
        n,
        blocks: vec![Block::Columns(ColumnBlock {
            part: Part::Whole,
            columns,
        })],
    }))
}
