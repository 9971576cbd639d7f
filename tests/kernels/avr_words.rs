//! Karatsuba on an AVR: every program the lowering offers, for every plan, on structured operands.

use lozenge::candidate::Plan;
use lozenge::function::Function;
use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel;
use lozenge::lower::{Limits, Lower};
use lozenge::method::{self, METHODS, Params};
use lozenge::spec::{Alias, Op, Spec};

use crate::kit::{any, tier};

/// Plans beyond those that are tried by default, so that no combination is wrong.
fn plans(levels: usize) -> Vec<Params> {
    let mut list = Vec::new();
    for (rows, columns) in [(0, 0), (3, 0), (8, 1), (8, 2), (8, 3)] {
        for (early, late) in [(0, 0), (0, 1), (1, 1), (1, 2), (0, 4)] {
            list.push(Params::from([
                ("levels", levels),
                ("rows", rows),
                ("columns", columns),
                ("early", early),
                ("late", late),
            ]));
        }
    }
    // A choice for each product, the whole first, then what is in L, in Z and in M.
    for (apart, turn) in [(0, 1), (1, 0), (2323, 1)] {
        for (swap, early, late) in [(5, 2, 3), (2, 3, 2), (1246, 1023, 4120), (7, 3301, 1431)] {
            for rows in [0, 8] {
                list.push(Params::from([
                    ("levels", levels),
                    ("rows", rows),
                    ("columns", 1024),
                    ("swap", swap),
                    ("early", early),
                    ("late", late),
                    ("apart", apart),
                    ("turn", turn),
                    ("whole", if rows > 0 { apart } else { 0 }),
                ]));
            }
        }
    }
    list
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
