//! What is beside the tables of hw2018: other parameters, fewer registers, the ARM7TDMI's own timing.

use lozenge::function::Function;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel::Request;
use lozenge::prove::function_timing;
use lozenge::spec::Op;
use lozenge::{isa, kernel};
use toml::Value;

use crate::figures::repro::recorded_row;
use crate::kit::paper::numbers;
use crate::kit::{ask, tier};

fn table() -> Value {
    toml::from_str(include_str!("../paper/hw2018.toml")).expect("the file is TOML")
}

/// Body cycles of the cheapest kernel of a method with these parameters, in so many free registers, for each size.
fn bodies(
    core: &isa::core::Core,
    (method, params): (&str, &[(&str, usize)]),
    most: Option<usize>,
    bits: &[u64],
) -> Vec<u64> {
    let cycles = |bits: &u64| {
        let params = params
            .iter()
            .map(|(name, value)| (name.to_string(), *value));
        let request = Request {
            method: Some(method.into()),
            params: params.collect(),
            max_regs: most,
            ..ask::in_any_time(Op::Mul, *bits as u32)
        };
        let (spec, best) = kernel::choose(&request, core).expect("a kernel");
        let timing = function_timing(&spec, core, &Function::kernel(&best.code));
        timing.cost.expect("it returns").body.max
    };
    bits.iter().map(cycles).collect()
}

/// The same on an ATmega128, for as many sizes as the tier says, beside what the file says.
fn assert_made(name: &str, said: &Value, plan: (&str, &[(&str, usize)]), most: Option<usize>) {
    let mut bits = numbers(&table()["bits"]);
    let said = numbers(said);
    // The longest take minutes in all.
    bits.truncate(tier::of([3, usize::MAX, usize::MAX]).min(said.len()));
    let made = bodies(&ATMEGA128.clone().into(), plan, most, &bits);
    assert_eq!(made, said[..made.len()], "{name}: tests/paper/hw2018.toml");
}

#[test]
fn operand_scanning_keeps_words() {
    let table = &table()["operand-scanning"];
    let plan = ("operand-scanning", &[("k", 19)][..]);
    assert_made("k = 19", &table["kept"], plan, None);
}

#[test]
fn carries_of_the_hybrid_method() {
    let table = &table()["hybrid"];
    for (carry, ours) in [(1, "movw"), (0, "running")] {
        let plan = ("hybrid", &[("d", 4), ("carry", carry)][..]);
        assert_made(ours, &table[ours], plan, None);
    }
}

#[test]
fn consecutive_operand_caching() {
    let table = &table()["consecutive-operand-caching"];
    let plan = ("consecutive-operand-caching", &[][..]);
    assert_made("consecutive", &table["ours"], plan, None);
    let (theirs, ours) = (numbers(&table["theirs"]), numbers(&table["ours"]));
    assert!(ours.iter().zip(theirs).all(|(ours, theirs)| *ours < theirs));
}

/// Table 5 again, in no more registers than each `e` needs: `2e`, the accumulator and a zero. Never above the paper's.
#[test]
fn operand_caching_within_its_registers() {
    let table = &table()["within"];
    for e in [2, 4, 8, 10] {
        let ours = &table[format!("e{e}").as_str()];
        let plan = ("operand-caching", &[("e", e)][..]);
        assert_made(&format!("e = {e}"), ours, plan, Some(2 * e + 4));
        let (theirs, _) = recorded_row("hutter-wenger-2018", "5", &format!("e = {e}"));
        let within = numbers(ours).into_iter().zip(theirs);
        assert!(
            within.into_iter().all(|(ours, theirs)| ours <= theirs),
            "e = {e}"
        );
    }
}

/// The manual's timing, most cycles: another model, so beside theirs, not against it.
#[test]
fn table_7_by_the_manual() {
    for (method, said) in table()["manual"].as_table().expect("a table") {
        let made = bodies(
            &ARM7TDMI.clone().into(),
            (method, &[]),
            None,
            &[160, 192, 256],
        );
        assert_eq!(made, numbers(said), "{method}");
    }
}
