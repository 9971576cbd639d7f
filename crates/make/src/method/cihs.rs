//! Coarsely integrated hybrid scanning (CIHS): the lower half of the product by columns, then rows of
//! the reduction, each followed by one more column of the upper half.
//!
//! Koc, Acar, Kaliski 1996; Seo, Kim 2014, figure 5. A column is less than `n 2^(2w)`, so `t` has at most
//! `n + 2` words.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::reduction;
use crate::method::reduction::Reduction;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Pile, Schedule, WordStep};

/// CIHS.
pub static METHOD: Method = Method {
    name: "cihs",
    summary: "Montgomery: columns of the product, rows of the reduction between them",
    source: "Koc, Acar, Kaliski 1996; Seo, Kim 2014, section IV",
    ops: &[Op::Montmul, Op::Montsqr],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, _: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    let (mut words, factors) = reduction::factors(spec);
    let reduction = Reduction::of(spec, &mut words)?;
    let n = reduction.len();
    let last = 1 + reduction.reduced_len();
    let len = |i: usize| if i + 1 < n { n + 2 } else { last };
    words.push(WordStep::Part("columns of the lower half".into()));
    let lower = |k: usize| match k < n {
        true => reduction::column(spec, &factors, k),
        false => Pile::default(),
    };
    let piles = (0..len(0)).map(lower).collect();
    let mut t = words.sweep(piles);
    for i in 0..n {
        words.push(WordStep::Part(format!("(t + q m) / 2^w, column {}", n + i)));
        t = reduction.row(&mut words, &t, len(i));
        if i + 1 == n {
            break;
        }
        let piles = (n - 1..len(i + 1)).map(|k| Pile {
            addends: t.get(k).copied().into_iter().collect(),
            ..match k == n - 1 {
                true => reduction::column(spec, &factors, n + i),
                false => Pile::default(),
            }
        });
        let piles = piles.collect();
        let sum = words.sweep(piles);
        t.truncate(n - 1);
        t.extend(sum);
    }
    words.result = reduction.subtract(&mut words, &t);
    Ok(Schedule::Words(words))
}
