//! Schedules in words on every machine: each computes what it should, and so does what it is
//! lowered to.

use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI_HW2018;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::mips::instructions::Feature;
use lozenge::isa::{Isa, Operands};
use lozenge::method::{self, Params};
use lozenge::prove;
use lozenge::schedule::{Schedule, Words};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors;

/// The schedule of a method for `n` words; `None` if the parameters do not suit the machine.
fn schedule<I: Isa>(name: &str, params: &Params, n: usize, core: &I::Core) -> Option<Schedule> {
    let spec = spec::<I>(n);
    let method = method::find(name).unwrap();
    (method.schedule)(&spec, &I::facts(core), params).ok()
}

fn spec<I: Isa>(n: usize) -> Spec {
    Spec::new(Op::Mul, I::WORD_BITS * n as u32, I::WORD_BITS).unwrap()
}

/// What a schedule is lowered to: the cycles of the cheapest function, and is it proved?
fn lowered<I: Isa>(what: &str, n: usize, core: &I::Core, schedule: &Schedule) -> (u64, bool) {
    schedule.check().unwrap_or_else(|e| panic!("{what}: {e}"));
    let spec = spec::<I>(n);
    let programs = I::lower(schedule, core).unwrap_or_else(|e| panic!("{what}: {e}"));
    let made = programs.iter().map(|program| {
        let code = I::encode(core, &program.insns).unwrap();
        let decoded = I::decode(core, &code).unwrap();
        assert!(decoded.iter().map(|(_, i)| i).eq(&program.insns), "{what}");
        let trials = if n > 40 { 8 } else { 40 };
        let pairs = vectors::pairs(spec.operand_bytes(), trials, u64::from(spec.bits));
        let costs = pairs.iter().map(|pair| {
            let operands = Operands {
                sources: pair,
                source_bytes: spec.operand_bytes(),
                result_bytes: spec.result_bytes(),
                places: &[0, 1, 2],
            };
            let ran = I::call_concrete(core, &code, &operands, 1 << 26);
            let (got, cost) = ran.unwrap_or_else(|(at, fault)| panic!("{what}: {at:#x}: {fault}"));
            assert_eq!(got, spec.op.value(pair), "{what}: {pair:x?}");
            cost.body.max
        });
        (costs.max().unwrap(), code)
    });
    let (cycles, code) = made.min_by_key(|(cycles, _)| *cycles).unwrap();
    let proof = prove::prove::<I>(&spec, core, &code, Alias::Distinct);
    assert!(proof.memory.is_proved() && proof.abi.is_proved(), "{what}: {proof:?}");
    (cycles, proof.correct.is_proved())
}

/// Karatsuba of `n` words, every number of levels to `most`.
fn karatsuba<I: Isa>(sizes: impl Iterator<Item = usize>, most: usize, core: &I::Core) {
    for n in sizes {
        for levels in 1..=(n.ilog2() as usize).min(most) {
            for early in [0, 1] {
                let params = Params::from([("levels", levels), ("early", early)]);
                let what = format!("{}: {n} words, {params:?}", I::core_name(core));
                let schedule = schedule::<I>("karatsuba", &params, n, core).unwrap();
                let (cycles, proved) = lowered::<I>(&what, n, core, &schedule);
                println!("{what}: {cycles}, proved: {proved}");
            }
        }
    }
}

/// Blocks, in words and as they are: the words must be proved, and not much dearer.
fn blocks<I: Isa>(sizes: impl Iterator<Item = usize>, core: &I::Core) {
    for n in sizes {
        for (name, params) in [
            ("product-scanning", Params::new()),
            ("operand-caching", Params::from([("e", 3)])),
            ("operand-scanning", Params::from([("k", 1)])),
        ] {
            let Some(schedule) = schedule::<I>(name, &params, n, core) else {
                continue;
            };
            let Schedule::Blocks(blocks) = &schedule else {
                panic!("{name}: no blocks");
            };
            let words = Schedule::Words(Words::of(Op::Mul, I::WORD_BITS, blocks));
            let what = format!("{}: {n} words, {name}", I::core_name(core));
            let (in_words, proved) = lowered::<I>(&what, n, core, &words);
            let (in_blocks, _) = lowered::<I>(&what, n, core, &schedule);
            println!("{what}: {in_words} in words, {in_blocks} in blocks, proved: {proved}");
        }
    }
}

fn mips(features: &[Feature]) -> MipsCore {
    let core = MipsCore::named("mips-4km-32x16").unwrap();
    features.iter().fold(core, |core, f| core.with(*f))
}

#[test]
fn karatsuba_is_right_on_arm() {
    karatsuba::<ArmIsa>((2..=13).chain([16, 21, 32]), 4, &ARM7TDMI_HW2018);
    karatsuba::<ArmIsa>([64, 128].into_iter(), 3, &ARM7TDMI_HW2018);
}

#[test]
fn karatsuba_is_right_on_mips() {
    for features in [&[][..], &[Feature::WideAcc]] {
        karatsuba::<MipsIsa>((2..=9).chain([11, 16, 21, 32]), 4, &mips(features));
    }
    karatsuba::<MipsIsa>([64, 128].into_iter(), 3, &mips(&[]).big_endian());
}

#[test]
fn blocks_in_words_are_right_on_arm() {
    blocks::<ArmIsa>((1..=9).chain([12, 16, 32]), &ARM7TDMI_HW2018);
}

#[test]
fn blocks_in_words_are_right_on_mips() {
    for features in [&[][..], &[Feature::WideAcc], &[Feature::MaddHl]] {
        blocks::<MipsIsa>((1..=9).chain([12, 16, 32]), &mips(features));
    }
}
