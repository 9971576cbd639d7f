//! KCM: Karatsuba-Comba multiplication or squaring, then a reduction by columns.
//!
//! Grossschaedl, Avanzi, Savas, Tillich 2005, section 4.2: `7s^2/4 + s` multiplications for a product of
//! `s` words on one level, `3s^2/4` of them Karatsuba's. A square takes `11s^2/8 + 7s/4`.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::separated::Scan;
use crate::method::signature::{Method, Parameter, Params};
use crate::method::{karatsuba_comba, karatsuba_squaring, separated};

/// KCM.
pub static METHOD: Method = Method {
    name: "kcm",
    summary: "Montgomery: Karatsuba over Comba's columns, then the reduction by columns",
    source: "Grossschaedl et al. 2005, section 4.2",
    ops: &[Op::Montmul, Op::Montsqr],
    parameters: &[Parameter {
        name: "levels",
        meaning: "levels of recursion",
    }],
    defaults,
    schedule: |spec, facts, params| {
        separated::after(product(spec), Scan::Product, spec, facts, params)
    },
};

/// The product or square; a squaring that is told no more than its levels goes column by column.
fn product(spec: &Spec) -> &'static Method {
    match spec.op {
        Op::Montsqr => &karatsuba_squaring::METHOD,
        _ => &karatsuba_comba::METHOD,
    }
}

fn defaults(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let sets = (product(spec).defaults)(&separated::product(spec), facts);
    let levels = sets
        .into_iter()
        .filter_map(|set| set.get("levels").copied());
    let mut levels: Vec<_> = levels.collect();
    levels.dedup();
    let set = |levels| Params::from([("levels", levels)]);
    levels.into_iter().map(set).collect()
}
