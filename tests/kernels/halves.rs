//! Karatsuba that calls itself, on machines with words of 32 bits: proved, right on big integers, small; faults are rejected.

use lozenge::facts::Style;
use lozenge::function::Function;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::{ARM7TDMI, ARM7TDMI_HW2018};
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::MIPS_4KM;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::cores::Core as Riscv;
use lozenge::kernel::{self, Request};
use lozenge::prove::function_timing;
use lozenge::spec::Op;
use lozenge::spec::modulus::Reduce;
use toml::Value;

use super::arm_loops::{check, request};
use crate::kit::paper::numbers;
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

/// The fastest in little code, and the cheapest without loops, as `tests/paper/calls.toml` says.
#[test]
fn small_products_are_those_on_record() {
    let table: Value = toml::from_str(include_str!("../paper/calls.toml")).expect("TOML");
    let rows = table["kernel"].as_array().expect("rows").iter();
    let rows = rows.filter(|row| row["core"].as_str() == Some("arm7tdmi"));
    for row in tier::some(rows, 14) {
        let op = Op::ALL
            .into_iter()
            .find(|op| row["op"].as_str() == Some(op.name()));
        let op = op.expect("an operation");
        let bits = row["bits"].as_integer().expect("bits") as u32;
        let mut request = halves(op, bits / 32, [2, 0, 1]);
        (request.method, request.budget.flash) = (None, Some(1536));
        request.params.clear();
        let kernel = check(&ARM7TDMI, &request, 4);
        let small = [kernel.cost.call.max, kernel.code.len() as u64];
        assert_eq!(numbers(&row["small"]), small, "{row}");
        let asked = ask::by(
            row["plan"].as_str().expect("a plan"),
            ask::in_any_time(op, bits),
        );
        let (spec, best) = kernel::choose(&asked, &any(&ARM7TDMI)).expect("a kernel");
        let timing = function_timing(&spec, &any(&ARM7TDMI), &Function::kernel(&best.code));
        let cycles = timing.cost.expect("it returns").call.max;
        let unrolled = [cycles, best.code.len() as u64];
        assert_eq!(numbers(&row["unrolled"]), unrolled, "{row}");
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
