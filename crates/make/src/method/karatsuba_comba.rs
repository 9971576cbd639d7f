//! Karatsuba-Comba: Karatsuba's three products by Comba's method (product scanning).
//!
//! Grossschaedl, Avanzi, Savas, Tillich 2005, section 3.3 and table 2, one level, `s` words, `s`
//! even: `3s^2/4` multiplications, `9s^2/4 + 4s + 2` additions.

use spec::Op;

use crate::method::signature::{Method, Parameter};
use crate::method::{karatsuba, karatsuba_plans};

/// Karatsuba-Comba.
pub static METHOD: Method = Method {
    name: "karatsuba-comba",
    summary: "Karatsuba over product scanning (Comba)",
    source: "Grossschaedl et al. 2005, section 3.3",
    ops: &[Op::Mul],
    parameters: &[Parameter {
        name: "levels",
        meaning: "levels of recursion",
    }],
    defaults: karatsuba_plans::every_level,
    schedule: |spec, facts, params| karatsuba::over(METHOD.name, 0, spec, facts, params),
};
