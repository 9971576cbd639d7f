//! What to answer where loops are asked for of a method that has none: why, and which method has them.

use spec::modulus::Modulus;
use spec::{Op, Spec};

use crate::method::catalogue::in_nested_loops;
use crate::method::fips;

const ROWS: &str =
    "a row loads and stores a word of the sum for each product: in loops columns are faster";
const OVERLAP: &str =
    "each of its rows begins with the words that the last one kept, so that no two are alike";
const LEVELS: &str = "its levels are code each; karatsuba-calls calls one";
const DOUBLED: &str =
    "what it doubles lies elsewhere in every row; in loops each column is doubled in registers";
const WORDS: &str = "a pass of a loop costs as much as the word it is for";
const SHORT: &str = "a half of a product has no two columns of one length";

/// Why the method called `name` is not made in loops, if it never is.
pub fn reason(name: &str) -> Option<&'static str> {
    let product = name.split('+').next().unwrap_or(name);
    if name.ends_with("sos") {
        return Some(ROWS);
    }
    match product {
        "cios" | "cihs" | "steady-rows" => Some(ROWS),
        "consecutive-operand-caching" => Some(OVERLAP),
        "karatsuba"
        | "karatsuba-comba"
        | "karatsuba-schoolbook"
        | "karatsuba-squaring"
        | "kcm"
        | "folded-karatsuba"
        | "karatsuba-modulo" => Some(LEVELS),
        "square-operand-scanning"
        | "square-carry-catcher"
        | "lazy-doubling"
        | "sliding-block-doubling" => Some(DOUBLED),
        "short-product" => Some(SHORT),
        "ripple-carry" | "shifted-words" | "word-row" | "masked-words" | "zero-test" => Some(WORDS),
        _ => None,
    }
}

/// Another method than `name` that makes the same in two nested loops, on every machine.
pub fn instead(name: &str, spec: &Spec) -> Option<&'static str> {
    let words = spec.size.a.min(spec.size.b) / spec.word_bits;
    let modulus = spec.modular.as_ref().map(|m| &m.modulus);
    let given = !matches!(modulus, Some(Modulus::RuntimeBare | Modulus::RuntimeFolded));
    let method = match (spec.op, name.ends_with("sos")) {
        (Op::Montmul, true) => Some("product-scanning+sps"),
        (Op::Montsqr, true) => Some("square-product-scanning+sps"),
        (Op::Redc, true) => Some(fips::METHOD.name),
        (op, _) => in_nested_loops(op),
    };
    method.filter(|method| words > 1 && given && *method != name)
}
