//! Squaring with carry catchers: no carry runs on, each is counted in a word of its own.
//!
//! Scott, Szczechowiak 2007, in Seo, Kim 2014, section III, figures 3(b) and 4(b). Columns of
//! blocks of `d` by `d` words; a product that comes twice is doubled, added to two words, and
//! its carries go to the catcher of the third. When a column of blocks is done, the catchers
//! are added in one chain.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::catching::Catching;
use crate::method::checked_parameters::positive;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::square_terms::squaring;
use crate::schedule::Schedule;

/// Squaring with carry catchers.
pub static METHOD: Method = Method {
    name: "square-carry-catcher",
    summary: "columns of d x d blocks, carries counted in words of their own",
    source: "Scott, Szczechowiak 2007, in Seo, Kim 2014, figure 3(b)",
    ops: &[Op::Sqr],
    parameters: &[Parameter {
        name: "d",
        meaning: "words of a block's side",
    }],
    defaults: |spec, facts| {
        let [s, _] = spec.words(facts.word_bits);
        (1..=s.min(5)).map(|d| Params::from([("d", d)])).collect()
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let d = positive(METHOD.name, "d", params)?;
    let (words, a) = squaring(spec, facts);
    let s = a.len();
    if d > s {
        return Err(MethodError::TooLarge {
            method: METHOD.name,
            parameter: "d",
            value: d,
            largest: s,
        });
    }
    let mut f = Catching::new(words, 2 * s);
    let blocks = s.div_ceil(d);
    for column in 0..2 * blocks - 1 {
        let end = ((column + 2) * d + 1).min(2 * s);
        for block in (column + 1).saturating_sub(blocks)..=column / 2 {
            let rows = block * d..((block + 1) * d).min(s);
            let other = column - block;
            for i in rows {
                for j in (other * d).max(i)..((other + 1) * d).min(s) {
                    f.add(i + j, [a[i], a[j]], end, i != j);
                }
            }
        }
        f.settle(column * d, end);
    }
    Ok(Schedule::Words(f.finish()))
}
