//! Products on MSP430 without a multiplier: every height of a tile proved, and run.

use lozenge::isa::msp430::cores::Core;
use lozenge::kernel::{self, Request};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors;

use crate::kit::{any, ask, known, refused, tier};

fn request(op: Op, bits: u32, e: usize) -> Request {
    Request {
        method: Some("shift-and-add".into()),
        params: [("e".to_string(), e)].into(),
        ..ask::of(op, bits)
    }
}

/// Proved, in constant time, and right on random and structured operands?
fn judge(op: Op, bits: u32, e: usize, core: &Core) {
    let what = format!("{} {bits} bits, e={e} on {}", op.name(), core.name);
    let kernel = known::generate(&request(op, bits, e), &any(core));
    let kernel = kernel.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(kernel.is_proved(), "{what}: {:?}", kernel.proof);
    let leaks = kernel.constant_time.iter();
    let leaks: Vec<_> = leaks.filter(|(_, timing)| timing.leak.is_some()).collect();
    assert!(leaks.is_empty(), "{what}: {leaks:?}");
    let spec = Spec::new(op, bits, 16).expect("a size");
    let on = any(core);
    let run = kernel::runs(&spec, &on, &kernel.code);
    for [a, b] in vectors::pairs(bits as usize / 8, tier::of_each(20), bits.into()) {
        let b = if op == Op::Sqr { a.clone() } else { b };
        let sources = [a, b];
        let (got, cost) = run(&sources, Alias::Distinct).expect("runs");
        assert_eq!(got, &sources[0] * &sources[1], "{what}");
        assert_eq!(cost.call, kernel.cost.call, "{what}");
    }
}

#[test]
fn every_height_is_proved_and_right() {
    let cores = ["msp430", "msp430x"].map(|name| Core::named(name).expect("a core"));
    let sizes = (1..=9).flat_map(|words| (1..=4).map(move |e| (words, e)));
    let cells = sizes.flat_map(|(words, e)| [(Op::Mul, words, e), (Op::Sqr, words, e)]);
    for (i, (op, words, e)) in tier::some(cells, 12).into_iter().enumerate() {
        judge(op, 16 * words, e, cores[i % cores.len()]);
    }
}

/// No fifth word fits, and of B a tile has all words.
#[test]
fn what_does_not_fit_is_refused() {
    let core = any(Core::named("msp430").expect("a core"));
    let said = |request: Request| {
        let error = kernel::choose(&request, &core).err().expect("refused");
        refused::instead(&error)
    };
    let high = said(request(Op::Mul, 128, 5));
    assert!(high.contains("e=5") && high.contains('4'), "{high}");
    let mut part = request(Op::Mul, 128, 2);
    part.params.insert("f".into(), 3);
    let part = said(part);
    assert!(part.contains("f=3") && part.contains('8'), "{part}");
    let other = said(Request {
        method: Some("product-scanning".into()),
        ..ask::of(Op::Mul, 128)
    });
    assert!(other.contains("msp430 has no multiplier"), "{other}");
    assert!(other.contains("--method shift-and-add"), "{other}");
}
