//! Karatsuba on an AVR: every program the lowering offers, for every plan, on structured operands.

use lozenge::candidate::Plan;
use lozenge::function::Function;
use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel;
use lozenge::lower::{Limits, Lower};
use lozenge::make::tune::neighbours::neighbour;
use lozenge::make::tune::point::Point;
use lozenge::method::{self, METHODS, Params};
use lozenge::plans::tree::Tree;
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors::Random;

use crate::kit::{any, ask, tier};

/// Plans that a search meets, so that no combination of choices is wrong.
fn plans(levels: usize) -> Vec<Params> {
    let mut random = Random::new(levels as u64);
    let mut point = Point {
        method: method::find("karatsuba").expect("method"),
        params: ask::planned(Params::new(), Tree::default()),
        style: None,
    };
    let mut next = || {
        for _ in 0..8 {
            point = neighbour(&point, &[], &mut random);
        }
        let mut params = point.params.clone();
        params.insert("levels", levels);
        params
    };
    (0..49).map(|_| next()).collect()
}

#[test]
fn every_program_is_right() {
    let method = method::find("karatsuba").expect("method");
    let core = &ATMEGA128;
    let facts = AvrIsa::facts(core);
    let (mut plans_met, mut taken, mut count) = (0, 0, 0);
    let mut turns = tier::Turns::default();
    for n in (2..=8).chain([19]) {
        let spec = Spec::new(Op::Mul, 8 * n as u32, 8).expect("a size");
        for params in (1..=3).filter(|l| n >> l > 0).flat_map(plans) {
            plans_met += 1;
            if turns.skips() {
                continue;
            }
            taken += 1;
            let cell = format!("{params:?} n={n}");
            let schedule = (method.schedule)(&spec, &facts, &params).expect("a schedule");
            schedule.check().unwrap_or_else(|e| panic!("{cell}: {e}"));
            let programs = AvrIsa::lower(&schedule, core);
            for (i, program) in programs.expect("programs").iter().enumerate() {
                count += 1;
                let code = AvrIsa::encode(core, &program.insns).expect("encodes");
                let function = Function::kernel(&code);
                let wrong =
                    kernel::counterexample(&spec, &any(core), &function, Alias::Distinct, 20);
                assert_eq!(wrong, None, "{cell}, candidate {i}");
            }
        }
    }
    println!("{count} programs");
    assert_eq!(plans_met, 784);
    assert_eq!(count, taken, "one program for each plan");
}

/// What a plan takes at least is known before it is lowered; the cheapest is found by it.
#[test]
fn nothing_takes_less_than_its_least() {
    let core = &ATMEGA128;
    let facts = AvrIsa::facts(core);
    let (mut count, mut tightest) = (0, f64::MAX);
    for (op, bits) in [
        (Op::Mul, 80),
        (Op::Mul, 96),
        (Op::Sqr, 112),
        (Op::Mulhi, 64),
    ] {
        let spec = Spec::new(op, bits, 8).expect("a size");
        for method in METHODS.iter().filter(|m| m.computes(op)) {
            for params in (method.defaults)(&spec, &facts) {
                let cell = format!("{} {bits} {} {params:?}", op.name(), method.name);
                let plan = Plan::of(&spec, &any(core), method, params, &facts, None);
                // Some plans have no form of this size; the cheapest is looked for in the others.
                let Ok(plan) = plan else { continue };
                let limits = Limits {
                    registers: facts.free_registers,
                    cycles: u64::MAX,
                    overlap: false,
                };
                for made in plan
                    .candidates(&spec, &any(core), limits)
                    .into_iter()
                    .flatten()
                {
                    assert!(plan.least <= made.cycles(), "{cell}");
                    tightest = f64::min(tightest, made.cycles() as f64 / plan.least as f64);
                    count += 1;
                }
            }
        }
    }
    println!("{count} programs, the tightest {tightest:.3} of its least");
    assert!(count > 60, "{count} programs");
    assert!(tightest < 1.2, "{tightest}");
}
