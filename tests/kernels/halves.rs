//! Karatsuba that calls itself, on machines with words of 32 bits: proved, right on big integers, small; faults are rejected.

use lozenge::facts::Style;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::{ARM7TDMI, ARM7TDMI_HW2018};
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::MIPS_4KM;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::cores::Core as Riscv;
use lozenge::kernel::Request;
use lozenge::spec::Op;
use lozenge::spec::modulus::Reduce;

use super::arm_loops::{check, request};
use crate::kit::book::book;
use crate::kit::{any, ask, mutants, tier};

const CALLS: &str = "karatsuba-calls";

fn ibex() -> Riscv {
    *Riscv::named("ibex-single-cycle").expect("a core")
}

fn halves(op: Op, words: u32, [levels, columns, unroll]: [usize; 3]) -> Request {
    let params = [("levels", levels), ("columns", columns), ("unroll", unroll)];
    Request {
        params: params.map(|(name, value)| (name.into(), value)).into(),
        ..request((op, CALLS), words, Reduce::Full, Style::Rolled, 1)
    }
}

/// Every product at the bottom, every length of the other loops, one level to four.
#[test]
fn products_by_calls_are_proved_and_right() {
    let shapes = [(4, 1), (8, 1), (12, 1), (24, 2), (32, 1), (48, 3), (32, 4)];
    let cores = [any(&ARM7TDMI), any(&MIPS_4KM), any(&ibex())];
    for (words, levels) in tier::some(shapes, 13) {
        for (op, columns, unroll) in [
            (Op::Mul, 0, 1),
            (Op::Mul, 0, 3),
            (Op::Mul, 1, 2),
            (Op::Sqr, 1, 1),
            (Op::Sqr, 1, 2),
        ] {
            let request = halves(op, words, [levels, columns, unroll]);
            // Rows in loops are ARM's alone without an extension.
            let few = if columns == 0 { 1 } else { cores.len() };
            for core in &cores[..few] {
                check(core, &request, 20);
            }
        }
    }
}

/// The fastest in little code.
#[test]
fn small_products_are_those_of_the_book() {
    let book = book();
    let fastest = [(Op::Mul, 32), (Op::Mul, 64), (Op::Sqr, 32), (Op::Sqr, 64)];
    for (op, words) in tier::some(fastest, 14) {
        let mut request = halves(op, words, [2, 0, 1]);
        (request.method, request.budget.flash) = (None, Some(1536));
        request.params.clear();
        let kernel = check(&ARM7TDMI, &request, 4);
        let (cycles, bytes) = (kernel.cost.call.max, kernel.code.len());
        let cells = format!(" {cycles} | {bytes} |\n");
        let line = format!("| {} {} | ", op.name(), 32 * words);
        let mut lines = book.match_indices(&line).map(|(at, _)| &book[at..]);
        let said = |rest: &str| {
            rest.split_inclusive('\n')
                .next()
                .is_some_and(|l| l.ends_with(&cells))
        };
        assert!(lines.any(said), "the book: {line}...{cells}");
    }
}

#[test]
fn the_prover_rejects_faults_in_calls() {
    fn attack<I: mutants::Table>(core: &I::Core, own: u64)
    where
        I::Core: Sync + Clone,
    {
        let case = |op: Op| {
            let params = vec![("levels", 2), ("columns", 1), ("unroll", 1)];
            let spec = ask::spec(op, 8, None, 32);
            (core.clone(), spec, Style::Rolled, CALLS, params)
        };
        let cases = [Op::Mul, Op::Sqr].map(case);
        mutants::attack::<I>(cases.into(), 90, own).hold(180, 8);
    }
    attack::<ArmIsa>(&ARM7TDMI_HW2018, 11);
    attack::<MipsIsa>(&MIPS_4KM, 12);
    attack::<RiscvIsa>(&ibex(), 13);
}
