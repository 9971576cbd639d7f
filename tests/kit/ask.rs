//! What tests ask for: a request says what is special, and takes the rest from here.

use std::sync::Arc;

use lozenge::candidate::Budget;
use lozenge::kernel::{Demands, Request};
use lozenge::make::winners::Named;
use lozenge::method::Params;
use lozenge::plans::tree::Tree;
use lozenge::plans::{self, How, Plan};
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Op, Size, Spec};

/// The cheapest kernel for `op` in constant time, of any method, with no budget.
pub fn of(op: Op, size: impl Into<Size>) -> Request {
    Request {
        op,
        size: size.into(),
        modular: None,
        method: None,
        params: Default::default(),
        plan: None,
        max_regs: None,
        style: None,
        budget: Budget::default(),
        room: None,
        demands: Demands::default(),
        drop: None,
        search: false,
    }
}

/// The request by a method with its parameters: `karatsuba levels=2 plan=k160-a`.
///
/// # Panics
/// When it is none.
pub fn by(text: &str, request: Request) -> Request {
    let Named {
        method,
        params,
        plan,
    } = Named::parse(text).unwrap_or_else(|| panic!("{text}"));
    Request {
        method: Some(method),
        params,
        plan,
        ..request
    }
}

/// The request with parameters of its method.
pub fn with(params: &Params, request: Request) -> Request {
    let numbers = params.iter().map(|(name, n)| (name.to_string(), *n));
    Request {
        params: numbers.collect(),
        plan: params.plan.clone(),
        ..request
    }
}

/// Parameters with a plan that has no name.
pub fn planned(params: Params, tree: Tree) -> Params {
    params.with(&Arc::new(Plan::unnamed(How::Tree(tree))))
}

/// The plan of this name.
///
/// # Panics
/// When there is none.
pub fn plan(name: &str) -> &'static Arc<Plan> {
    plans::find(name).unwrap_or_else(|| panic!("no plan {name}"))
}

/// The same of kernels whose time may depend on their operands.
pub fn in_any_time(op: Op, size: impl Into<Size>) -> Request {
    Request {
        demands: Demands::variable_time(),
        ..of(op, size)
    }
}

/// A modulus as it is typed.
pub fn modular(modulus: &str, reduce: Reduce) -> Modular {
    Modular {
        modulus: modulus.parse().expect("a modulus"),
        reduce,
        shift: 0,
        times: 0,
    }
}

/// What is computed, of operands of `words` words of `word_bits` bits.
pub fn spec(op: Op, words: u32, modulus: Option<(&str, Reduce)>, word_bits: u32) -> Spec {
    let modular = modulus.map(|(modulus, reduce)| modular(modulus, reduce));
    Spec::with(op, words * word_bits, modular, word_bits).expect("sizes that fit")
}
