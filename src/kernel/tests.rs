//! Which candidate becomes the kernel.

#![cfg(test)]

use std::collections::BTreeMap;

use judge::prove::Verdict;
use machine::function::Function;
use machine::isa::avr::AvrIsa;
use machine::isa::avr::cores::ATMEGA128;
use make::candidate::Budget;
use make::request::{Demands, Request};
use spec::Op;

use crate::kernel::{Search, finish, first_proved, generate, judge_function};

fn request(method: Option<&str>, drop: Option<usize>) -> Request {
    Request {
        op: Op::Mul,
        size: 64.into(),
        modular: None,
        method: method.map(String::from),
        params: BTreeMap::new(),
        max_regs: None,
        style: None,
        budget: Budget::default(),
        demands: Demands::default(),
        room: None,
        drop,
        search: false,
    }
}

/// A judge who proves none of the first `lost` candidates: the kernel that is taken then, and how often he was asked.
fn taken(request: &Request, lost: usize) -> (crate::kernel::Kernel<AvrIsa>, usize) {
    let mut asked = 0;
    let kernel = first_proved(request, &ATMEGA128, |spec, candidate| {
        asked += 1;
        let judged =
            |code: &Function| judge_function::<AvrIsa>(spec, &ATMEGA128, code, Search::OWN);
        let mut kernel = finish(spec, candidate, &ATMEGA128, request, judged)?;
        if asked <= lost {
            kernel.proof.correct = Verdict::Unknown("this judge does not follow it".into());
        }
        Ok(kernel)
    });
    (kernel.expect("a kernel"), asked)
}

/// Where the cheapest is not proved, the next takes its place: of all methods, and of one that was named.
#[test]
fn the_cheapest_that_is_proved() {
    for method in [None, Some("operand-caching"), Some("karatsuba")] {
        let request = request(method, None);
        let cheapest = generate::<AvrIsa>(&request, &ATMEGA128).expect("a kernel");
        assert!(cheapest.is_proved());
        for lost in 1..=2 {
            let (kernel, asked) = taken(&request, lost);
            assert_eq!(asked, lost + 1, "{method:?}");
            assert!(kernel.is_proved(), "{method:?}");
            assert_ne!(kernel.code, cheapest.code, "{method:?}");
            assert!(kernel.cost.call.max >= cheapest.cost.call.max, "{method:?}");
        }
    }
}

/// Where none is proved it is the cheapest, and not proved.
#[test]
fn none_is_proved() {
    let request = request(Some("operand-caching"), None);
    let (kernel, asked) = taken(&request, usize::MAX);
    let cheapest = generate::<AvrIsa>(&request, &ATMEGA128).expect("a kernel");
    assert_eq!(kernel.code, cheapest.code);
    assert!(!kernel.is_proved() && asked > 1);
}

/// A kernel without one of its instructions is meant to fail.
#[test]
fn what_was_dropped_is_not_replaced() {
    let request = request(Some("operand-caching"), Some(20));
    let (kernel, asked) = taken(&request, 1);
    assert!(!kernel.is_proved() && asked == 1);
}
