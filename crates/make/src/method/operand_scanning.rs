//! Operand scanning: row by row, one word of `B` kept, the result read and written all the time.
//!
//! hw2018, section 3.1, figure 1: `2n^2 + n` loads, `n^2 + n` stores. The first row finds
//! no intermediate result, which saves its `n` loads; `k` words of `A` that stay in
//! registers save `k (n - 1)` more.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::one_size;
use crate::method::loop_forms::as_scans;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{Block, Blocks, Row, RowBlock, RowProduct, Schedule, Words};

/// Operand scanning.
pub static METHOD: Method = Method {
    name: "operand-scanning",
    summary: "row by row (schoolbook), for machines that compute a*b + c + d",
    source: "Hutter, Wenger 2018, section 3.1",
    ops: &[Op::Mul],
    parameters: &[
        Parameter {
            name: "k",
            meaning: "words of A kept in registers (unrolled)",
        },
        Parameter {
            name: "unroll",
            meaning: "words per pass of the inner loop (looped, rolled)",
        },
    ],
    defaults: |spec, facts| {
        if facts.in_scans() {
            return vec![Params::new()];
        }
        let [n, _] = spec.words(facts.word_bits);
        (0..=facts.operand_registers().saturating_sub(1).min(n))
            .rev()
            .map(|k| Params::from([("k", k)]))
            .collect()
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let n = one_size(METHOD.name, spec, facts)?;
    let method = METHOD.name;
    let parameter = "k";
    let given = params.get(parameter).copied();
    if facts.in_scans() {
        if let Some(value) = given.filter(|k| *k > 0) {
            return Err(MethodError::TooLarge {
                method,
                parameter,
                value,
                largest: 0,
            });
        }
        let words = Words::of(spec.op, facts.word_bits, &rows(n, 0));
        return as_scans(method, words, facts, params);
    }
    let k = given.ok_or(MethodError::Missing { method, parameter })?;
    // One register more for the word of B.
    let largest = facts.operand_registers().saturating_sub(1);
    if k > largest {
        return Err(MethodError::Registers {
            method,
            parameter,
            value: k,
            need: k + 1 + facts.accumulator_registers + facts.constant_registers,
            free: facts.free_registers,
            largest,
        });
    }
    Ok(Schedule::Blocks(rows(n, k)))
}

/// All rows, with `k` words of A in registers.
fn rows(n: usize, k: usize) -> Blocks {
    let step = |a: usize, b: usize| RowProduct {
        a,
        load_a: b == 0 || a >= k,
        reload: b > 0,
    };
    let rows = (0..n)
        .map(|b| Row {
            b,
            steps: (0..n).map(|a| step(a, b)).collect(),
        })
        .collect();
    Blocks {
        n,
        blocks: vec![Block::Rows(RowBlock { rows })],
    }
}
