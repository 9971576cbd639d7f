//! Karatsuba on an AVR: every program the lowering offers, for every plan, on structured operands.

use lozenge::function::Function;
use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel;
use lozenge::method::{self, Params};
use lozenge::spec::{Alias, Op, Spec};

/// Plans beyond those that are tried by default, so that no combination is wrong.
fn plans(levels: usize) -> Vec<Params> {
    let mut list = Vec::new();
    for (rows, columns) in [(0, 0), (3, 0), (8, 1), (8, 2), (8, 3)] {
        for (early, late) in [(0, 0), (0, 1), (1, 1), (1, 2)] {
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
    for (apart, turn) in [(0, 1), (1, 0), (2, 1)] {
        for (swap, early, late) in [(5, 2, 3), (2, 3, 2), (1246, 1023, 3120), (7, 3301, 1231)] {
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
    let mut count = 0;
    for n in (2..=8).chain([19]) {
        let spec = Spec::new(Op::Mul, 8 * n as u32, 8).expect("a size");
        for params in (1..=3).filter(|l| n >> l > 0).flat_map(plans) {
            let cell = format!("{params:?} n={n}");
            let schedule = (method.schedule)(&spec, &facts, &params).expect("a schedule");
            schedule.check().unwrap_or_else(|e| panic!("{cell}: {e}"));
            let programs = AvrIsa::lower(&schedule, core);
            for (i, program) in programs.expect("programs").iter().enumerate() {
                let code = AvrIsa::encode(core, &program.insns).expect("encodes");
                let function = Function::kernel(&code);
                let wrong =
                    kernel::counterexample::<AvrIsa>(&spec, core, &function, Alias::Distinct, 20);
                assert_eq!(wrong, None, "{cell}, candidate {i}");
                count += 1;
            }
        }
    }
    println!("{count} programs");
    assert_eq!(count, 704, "one program for each plan");
}
