//! Squaring by operand scanning (Yang et al.): row by row, each product doubled on its own.
//!
//! Seo, Kim 2014, section III, figure 3(a). Row `i` adds `A[i]^2` and `2 A[i] A[j]`, `j > i`, to
//! the intermediate result. After it that is below `2 W^(i+s+1)`: a word and a bit beyond the
//! row's last product.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::signature::{Method, MethodError, Params};
use crate::method::square_terms::squaring;
use crate::schedule::{Pile, Schedule, Word};

/// Squaring by operand scanning.
pub static METHOD: Method = Method {
    name: "square-operand-scanning",
    summary: "row by row, each product that comes twice doubled on its own",
    source: "Yang et al., in Seo, Kim 2014, figure 3(a)",
    ops: &[Op::Sqr],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    let (mut words, a) = squaring(spec, facts);
    let s = a.len();
    let mut result: Vec<Word> = Vec::with_capacity(2 * s);
    for i in 0..s {
        let end = (i + s + 2).min(2 * s);
        let pile = |k: usize| {
            let mut pile = Pile {
                addends: result.get(k).copied().into_iter().collect(),
                ..Pile::default()
            };
            match k - i {
                j if j == i => pile.products.push((a[i], a[i])),
                j if j < s => pile.doubled.push((a[i], a[j])),
                _ => {}
            }
            pile
        };
        let row = words.sweep((2 * i..end).map(pile).collect());
        result.truncate(2 * i);
        result.extend(row);
    }
    words.result = result;
    Ok(Schedule::Words(words))
}
