//! Operand caching: rows of `e` words, whose operand words stay in registers.
//!
//! hw2018, section 3.4 and appendix A. With `r = floor(n/e)` rows: the block `b_init` of
//! the `n - re` words left over comes first, then rows `p = r-1 ... 0`, each of parts 1
//! (both operands loaded), 2 (`A` kept, `B` slides), 3 (`B` kept, `A` slides) and 4. Looped, parts
//! 2 and 3 are loops (section 4).
//! Loads `2n + 4rn - 2er^2 - 2er`, stores `2n + 2rn - er^2 - er`.

use spec::{Op, Spec};

use crate::facts::{Facts, Style};
use crate::method::checked_parameters::{cached_words, one_size};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{Block, Blocks, Column, ColumnBlock, Part, Product, Schedule};

/// Operand caching.
pub static METHOD: Method = Method {
    name: "operand-caching",
    summary: "rows of e words with both operands cached in registers",
    source: "Hutter, Wenger 2018, section 3.4",
    ops: &[Op::Mul],
    parameters: &[
        Parameter {
            name: "e",
            meaning: "words of each operand kept in registers",
        },
        Parameter {
            name: "unroll",
            meaning: "columns per pass of a loop (looped)",
        },
    ],
    defaults: |_, facts| {
        (1..=facts.operand_registers() / 2)
            .rev()
            .map(|e| Params::from([("e", e)]))
            .collect()
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let n = one_size(METHOD.name, spec, facts)?;
    let e = cached_words(METHOD.name, facts, params)?;
    let r = n / e;
    let mut blocks = Vec::with_capacity(r + 1);
    if n > r * e {
        blocks.push(b_init(r * e, n - r * e));
    }
    blocks.extend((0..r).rev().map(|p| row(n, e, p)));
    let blocks = Blocks { n, blocks };
    Ok(match facts.style {
        Style::Unrolled => Schedule::Blocks(blocks),
        // Rows differ in length: parts 2 and 3 are loops, but the rows are not one.
        _ => crate::method::loop_forms::in_loops(
            Style::Looped,
            blocks,
            params.get("unroll").copied(),
        ),
    })
}

/// Products of column `k` for `a` in a range, the words in `load_a` and `load_b` coming from memory.
fn column(
    k: usize,
    a: std::ops::Range<usize>,
    load_a: Option<usize>,
    load_b: Option<usize>,
    reload: bool,
) -> Column {
    let mut products: Vec<_> = a
        .map(|a| Product {
            a,
            b: k - a,
            load_a: load_a == Some(a),
            load_b: load_b == Some(k - a),
        })
        .collect();
    // A word that is loaded takes the place of one that dies: use the new one last.
    products.sort_by_key(|p| p.load_a || p.load_b);
    Column {
        index: k,
        reload,
        products,
    }
}

/// `A[re .. n] * B[0 .. m]`, `m = n - re`: product scanning with all words kept.
fn b_init(re: usize, m: usize) -> Block {
    let columns = (0..2 * m)
        .map(|i| {
            let first = re + (i + 1).saturating_sub(m);
            let new = (i < m).then_some(i);
            column(
                re + i,
                first..(re + i + 1).min(re + m),
                new.map(|i| re + i),
                new,
                false,
            )
        })
        .collect();
    Block::Columns(ColumnBlock {
        part: Part::Init,
        columns,
    })
}

/// Row `p`: `A[pe .. pe+e] * B[0 .. n-pe]` and `A[pe+e .. n] * B[n-pe-e .. n-pe]`.
fn row(n: usize, e: usize, p: usize) -> Block {
    let (pe, slide) = (p * e, n - (p + 1) * e);
    let part_1 = (0..e).map(|i| column(pe + i, pe..pe + i + 1, Some(pe + i), Some(i), false));
    let part_2 = (0..slide).map(|i| column(pe + e + i, pe..pe + e, None, Some(e + i), true));
    let part_3 = (0..slide).map(|i| {
        let first = pe + 1 + i;
        column(n + i, first..first + e, Some(pe + e + i), None, true)
    });
    let part_4 = (0..e).map(|i| {
        let first = n - e + 1 + i;
        column(2 * n - (p + 1) * e + i, first..n, None, None, false)
    });
    Block::Columns(ColumnBlock {
        part: Part::Row(p),
        columns: part_1.chain(part_2).chain(part_3).chain(part_4).collect(),
    })
}
