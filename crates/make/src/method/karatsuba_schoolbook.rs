//! Karatsuba-schoolbook: Karatsuba's three products by the schoolbook method (operand scanning).
//!
//! Grossschaedl, Avanzi, Savas, Tillich 2005, section 3.3 and table 2, one level, `s` words, `s`
//! even: `3s^2/4` multiplications, `3s^2 + 4s + 2` additions.

use spec::Op;

use crate::method::signature::{Method, Parameter};
use crate::method::{karatsuba, karatsuba_plans};

/// Karatsuba-schoolbook.
pub static METHOD: Method = Method {
    name: "karatsuba-schoolbook",
    summary: "Karatsuba over operand scanning (schoolbook)",
    source: "Grossschaedl et al. 2005, section 3.3",
    ops: &[Op::Mul],
    parameters: &[Parameter {
        name: "levels",
        meaning: "levels of recursion",
    }],
    defaults: karatsuba_plans::every_level,
    schedule: |spec, facts, params| karatsuba::over(METHOD.name, usize::MAX, spec, facts, params),
};
