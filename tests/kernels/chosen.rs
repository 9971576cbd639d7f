//! Which candidate becomes the kernel.

use std::cell::Cell;

use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel;
use lozenge::kernel::{Kernel, Request, Search};
use lozenge::prove::Verdict;
use lozenge::spec::Op;

use crate::kit::{any, ask, known};

fn request(method: Option<&str>, drop: Option<usize>) -> Request {
    Request {
        method: method.map(String::from),
        drop,
        ..ask::of(Op::Mul, 64)
    }
}

/// A judge who proves none of the first `lost` candidates: the kernel that is taken then, and how often he was asked.
fn taken(request: &Request, lost: usize) -> (Kernel, usize) {
    let asked = Cell::new(0);
    let kernel = kernel::generate_by(request, &any(&ATMEGA128), &|spec, code| {
        asked.set(asked.get() + 1);
        let mut judged = kernel::judge_function(spec, &any(&ATMEGA128), code, Search::OWN);
        if asked.get() <= lost {
            judged.proof.correct = Verdict::Unknown("this judge does not follow it".into());
        }
        judged
    });
    (kernel.expect("a kernel"), asked.get())
}

/// Where the cheapest is not proved, the next takes its place: of all methods, and of one that was named.
#[test]
fn the_cheapest_that_is_proved() {
    for method in [None, Some("operand-caching"), Some("karatsuba")] {
        let request = request(method, None);
        let cheapest = known::generate(&request, &any(&ATMEGA128)).expect("a kernel");
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
    let cheapest = known::generate(&request, &any(&ATMEGA128)).expect("a kernel");
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
