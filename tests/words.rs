//! Schedules in words on every machine: each computes what it should, and what is lowered from it too.

use lozenge::facts::Facts;
use lozenge::isa::arm::cores::ARM7TDMI_HW2018;
use lozenge::isa::arm::{self, ArmIsa};
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::mips::instructions::Feature;
use lozenge::isa::{Cost, Isa, LowerError, Operands};
use lozenge::method::{self, Params};
use lozenge::schedule::{Schedule, Words};
use lozenge::spec::{Op, Spec};
use lozenge::vectors;

/// The schedule of a method, read as words.
fn in_words(name: &str, params: &Params, spec: &Spec, facts: &Facts) -> Option<Words> {
    let method = method::find(name).unwrap();
    match (method.schedule)(spec, facts, params).ok()? {
        Schedule::Words(words) => Some(words),
        Schedule::Blocks(blocks) => Some(Words::of(spec.op, facts.word_bits, &blocks)),
    }
}

/// Lowers `schedule` and runs every function it becomes: the cheapest cost.
fn run<I: Isa>(what: &str, spec: &Spec, core: &I::Core, schedule: &Schedule) -> Cost {
    let programs = I::lower(schedule, core).unwrap_or_else(|e| panic!("{what}: {e}"));
    let costs = programs.iter().map(|program| {
        let code = I::encode(core, &program.insns).unwrap();
        let decoded = I::decode(core, &code).unwrap();
        assert!(decoded.iter().map(|(_, i)| i).eq(&program.insns), "{what}");
        let mut cost = Cost::default();
        for pair in vectors::pairs(spec.operand_bytes(), 24, u64::from(spec.bits)) {
            let operands = Operands {
                sources: &pair,
                source_bytes: spec.operand_bytes(),
                result_bytes: spec.result_bytes(),
                places: &[0, 1, 2],
            };
            let (got, spent) = I::call_concrete(core, &code, &operands, 1 << 26).unwrap();
            let want = spec.op.value(&pair);
            assert_eq!(got, want, "{what}: {pair:x?}");
            cost = spent;
        }
        cost
    });
    costs.min_by_key(|cost| cost.body.max).unwrap()
}

fn karatsuba(levels: usize, early: usize) -> Params {
    Params::from([("levels", levels), ("early", early)])
}

#[test]
fn karatsuba_is_right_on_arm() {
    let core = &ARM7TDMI_HW2018;
    for n in (2..=13).chain([16, 21, 32, 64, 128]) {
        let spec = Spec::new(Op::Mul, 32 * n, 32).unwrap();
        for levels in 1..=(n.ilog2() as usize).min(4) {
            for early in [0, 1] {
                let what = format!("{n} words, levels {levels}, early {early}");
                let words = in_words(
                    "karatsuba",
                    &karatsuba(levels, early),
                    &spec,
                    &arm::lower::FACTS,
                );
                let words = words.unwrap();
                words.check().unwrap();
                let cost = run::<ArmIsa>(&what, &spec, core, &Schedule::Words(words));
                println!("{what}: {}", cost.body.max);
            }
        }
    }
}

#[test]
fn blocks_read_as_words_on_arm() {
    let core = &ARM7TDMI_HW2018;
    for n in (1..=8).chain([12, 16, 32]) {
        let spec = Spec::new(Op::Mul, 32 * n, 32).unwrap();
        for (name, params) in [
            ("product-scanning", Params::new()),
            ("operand-caching", Params::from([("e", 3)])),
            ("operand-scanning", Params::from([("k", 0)])),
        ] {
            let facts = &arm::lower::FACTS;
            let Some(words) = in_words(name, &params, &spec, facts) else {
                continue;
            };
            words.check().unwrap();
            let what = format!("{n} words, {name}");
            let cost = run::<ArmIsa>(&what, &spec, core, &Schedule::Words(words));
            let method = method::find(name).unwrap();
            let blocks = (method.schedule)(&spec, facts, &params).unwrap();
            let direct = run::<ArmIsa>(&what, &spec, core, &blocks);
            println!(
                "{what}: {} in words, {} in blocks",
                cost.body.max, direct.body.max
            );
        }
    }
}
