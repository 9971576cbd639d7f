//! Product scanning (Comba): column by column, every operand word loaded for its product.
//!
//! hw2018, section 3.2, figure 2: `2n^2` loads, `2n` stores. Half products and operands of
//! two sizes are the same columns, some of them missing; there the words that fit stay.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::loop_forms::as_scans;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{Block, Blocks, Column, ColumnBlock, Part, Pile, Product, Schedule, Words};

/// Product scanning.
pub static METHOD: Method = Method {
    name: "product-scanning",
    summary: "column by column (Comba), few registers, two loads per product",
    source: "Hutter, Wenger 2018, section 3.2",
    ops: &[Op::Mul, Op::Mullo, Op::Mulhi],
    parameters: &[Parameter {
        name: "unroll",
        meaning: "products per pass of the inner loop (looped, rolled)",
    }],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let [n, m] = spec.words(facts.word_bits);
    match spec.op {
        Op::Mul if n == m && !facts.in_scans() => Ok(Schedule::Blocks(square(n))),
        op => as_scans(
            METHOD.name,
            columns(op, facts.word_bits, n, m),
            facts,
            params,
        ),
    }
}

/// The columns of `n` by `m` words; a low half ends, a high half keeps no word before its first.
pub(super) fn columns(op: Op, word_bits: u32, n: usize, m: usize) -> Words {
    let mut words = Words::new(op, word_bits, &[n, m]);
    let (a, b) = (words.operand(0), words.operand(1));
    let (from, to) = match op {
        Op::Mullo => (0, n),
        Op::Mulhi => (n, n + m),
        _ => (0, n + m),
    };
    let piles = (0..to).map(|k| Pile::column(&a, &b, k)).collect();
    words.result = words.sweep_from(piles, from);
    words
}

/// All products of `n` by `n` words.
fn square(n: usize) -> Blocks {
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
    Blocks {
        n,
        blocks: vec![Block::Columns(ColumnBlock {
            part: Part::Whole,
            columns,
        })],
    }
}
