//! The prover under attack: single faults in proved ARM kernels.
//!
//! Every mutant that gives another result, or another register back, on some input must be rejected.
//! What survives is printed, with the reason.

use lozenge::call::Operands;
use lozenge::function::Function;
use lozenge::isa::Isa;
use lozenge::isa::arm::code::Insn;
use lozenge::isa::arm::cores::{ARM7TDMI, ARM7TDMI_HW2018};
use lozenge::isa::arm::instructions::Op;
use lozenge::isa::arm::{ArmIsa, abi, run};
use lozenge::lower::Lower;
use lozenge::method::{self, Params};
use lozenge::prove;
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Alias, Op as Operation, Spec};
use lozenge::vectors::{self, Random};
use num_bigint::BigUint;

use crate::kit::tier;

/// One fault: the index of the instruction, what replaces it, and why that might change nothing.
struct Fault {
    at: usize,
    insn: Insn,
    excuse: &'static str,
}

fn fault(insns: &[Insn], random: &mut Random) -> Option<Fault> {
    let at = random.below(insns.len());
    let mut insn = insns[at];
    let form = insn.form();
    let has = |letter| form.letters().iter().any(|(l, _)| *l == letter);
    let register = random.below(15) as u8;
    let o = &mut insn.ops;
    let excuse = match random.below(12) {
        0 => {
            insn = Insn::reg(Op::MOV, false, 0, 0, 0);
            "deleted: what it computes is not used, or is there already"
        }
        1 if has('d') => {
            o.d = register;
            "another destination: neither is used"
        }
        2 if has('n') => {
            o.n = register;
            "another operand of the same value"
        }
        3 if has('m') => {
            o.m = register;
            "another operand of the same value"
        }
        4 if has('r') => {
            o.r = register;
            "another operand of the same value"
        }
        5 if has('S') => {
            o.s = !o.s;
            "flags that nobody reads, or that are not read before they are set"
        }
        6 if has('#') => {
            let other = [
                Op::ADD,
                Op::ADC,
                Op::SUB,
                Op::SBC,
                Op::RSB,
                Op::ORR,
                Op::MOV,
            ];
            insn.op = other[random.below(7)];
            if insn.op == Op::MOV {
                insn.ops.n = 0;
            }
            "another operation with the same result: a carry that is 0, or adding to 0"
        }
        7 if has('#') || has('@') => {
            o.k ^= 1 << random.below(12);
            "another constant or register of the same effect"
        }
        8 if has('l') => {
            o.k ^= 1 << random.below(15) | 1 << random.below(15);
            "other registers that nobody uses"
        }
        9 if has('W') => {
            match random.below(3) {
                0 => o.w = !o.w,
                1 => o.u = !o.u,
                _ => o.p = !o.p,
            }
            "a pointer that is not used again, or an offset of 0"
        }
        10 => {
            o.cond = random.below(14) as u8;
            "a condition that always holds, or whose failure changes nothing"
        }
        11 => {
            let next = insns.get(at + 1).copied()?;
            insn = next;
            "the next instruction twice: the second has no further effect"
        }
        _ => return None,
    };
    let changed = insn != insns[at] && insn.encode().is_ok();
    changed.then_some(Fault { at, insn, excuse })
}

/// Does the function give the result and the registers back for these operands?
fn behaves(spec: &Spec, code: &[u8], sources: &[BigUint]) -> bool {
    let operands = Operands {
        spec,
        sources,
        alias: Alias::Distinct,
    };
    let ran = ArmIsa::call_concrete(&ARM7TDMI, &Function::kernel(code), &operands, 1_000_000);
    if ran.is_err() || ran.is_ok_and(|(result, _)| !spec.accepts(sources, &result)) {
        return false;
    }
    let places = [0x1000, 0x2000, 0x3000, 0x4000];
    let places = &places[..1 + spec.sources().len()];
    let mut m = abi::enter_concrete(code, places);
    for i in places.len()..13 {
        m.r[i].0 = 0x1234_5600 + i as u64;
    }
    let sp = m.r[13];
    let done = run::Decoded::new(code, &ARM7TDMI).run(&mut m, 1_000_000);
    let kept = (4..12).all(|i| m.r[i].0 == 0x1234_5600 + i as u64);
    done.is_ok() && kept && m.r[13] == sp
}

/// What is attacked: operation, method, its parameters, words, modulus and reduction.
type Case = (
    Operation,
    &'static str,
    &'static [(&'static str, usize)],
    u32,
    Option<(&'static str, Reduce)>,
);

#[rustfmt::skip]
const CASES: [Case; 38] = {
    use Operation::{
        Modadd, Modmul, Modneg, Modsqr, Modsub, Montmul, Montsqr, Mul, Redc, Sqr,
    };
    use Reduce::{Almost, Full, Lazy};
    [
        (Mul, "product-scanning", &[], 2, None),
        (Mul, "product-scanning", &[], 3, None),
        (Mul, "product-scanning", &[], 4, None),
        (Mul, "product-scanning", &[], 5, None),
        (Mul, "operand-caching", &[("e", 3)], 5, None),
        (Mul, "operand-caching", &[("e", 2)], 5, None),
        (Mul, "operand-caching", &[("e", 3)], 6, None),
        (Mul, "operand-caching", &[("e", 1)], 4, None),
        (Mul, "operand-caching", &[("e", 3)], 8, None),
        (Mul, "hybrid", &[("carry", 1), ("d", 2)], 4, None),
        (Mul, "karatsuba", &[("first", 1), ("levels", 1)], 4, None),
        (Mul, "karatsuba-comba", &[("levels", 1)], 4, None),
        (Mul, "karatsuba-comba", &[("levels", 2)], 5, None),
        (Sqr, "square-product-scanning", &[], 4, None),
        (Sqr, "square-carry-catcher", &[("d", 2)], 4, None),
        (Sqr, "lazy-doubling", &[("d", 2)], 5, None),
        (Sqr, "sliding-block-doubling", &[("c", 2), ("e", 3)], 5, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 2)], 5, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 1)], 9, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 0), ("joined", 1)], 4, None),
        (Modmul, "product-scanning+fold", &[], 3, Some(("2^96-17", Full))),
        (Modmul, "product-scanning+fold", &[], 3, Some(("2^95-39", Almost))),
        (Modmul, "product-scanning+fold", &[], 4, Some(("2^128-2^64+2^32-1", Full))),
        (Modsqr, "square-product-scanning+fold", &[], 4, Some(("2^128-2^64-1", Almost))),
        (Modmul, "karatsuba-modulo", &[], 4, Some(("2^128-2^32-1", Full))),
        (Modadd, "carry-chain", &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Modadd, "carry-chain", &[], 3, Some(("0x3f9e3779b1c0ffee1234567b", Almost))),
        (Modsub, "carry-chain", &[], 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Modneg, "carry-chain", &[], 3, Some(("runtime", Full))),
        (Modadd, "carry-chain", &[], 3, Some(("runtime", Almost))),
        (Modsub, "carry-chain", &[], 3, Some(("runtime", Almost))),
        (Montmul, "fips", &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Montmul, "fips", &[], 3, Some(("runtime", Almost))),
        (Montmul, "product-scanning+sps", &[], 3, Some(("0xcd3e*2^80+1", Full))),
        (Montmul, "hsps", &[("d", 2)], 4, Some(("runtime", Full))),
        (Montmul, "product-scanning+sos", &[], 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Montsqr, "cios", &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Almost))),
        (Redc, "fips", &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
    ]
};

#[test]
fn the_prover_rejects_faults() {
    let mut random = tier::random(8);
    let (mut tried, mut differ, mut equivalent) = (0, 0, Vec::new());
    let mut rejected_alike = 0;
    for (op, name, params, words, modulus) in tier::some(CASES, 8) {
        let params: Params = params.iter().copied().collect();
        let modular = modulus.map(|(text, reduce)| Modular {
            modulus: text.parse().unwrap(),
            reduce,
            shift: 0,
        });
        let spec = Spec::with(op, 32 * words, modular, 32).unwrap();
        let core = &ARM7TDMI_HW2018;
        let method = method::find(name).unwrap();
        let schedule = (method.schedule)(&spec, &ArmIsa::facts(core), &params).unwrap();
        let program = ArmIsa::lower(&schedule, core).unwrap().remove(0);
        let prove = |code: &[u8]| {
            prove::prove_with::<ArmIsa>(&spec, &ARM7TDMI, code, &program.claims, Alias::Distinct)
        };
        let title = format!("{words} words, {name} {params:?} {}", spec.symbol());
        let code = ArmIsa::encode(core, &program.insns).unwrap();
        assert!(prove(&code).holds(), "{title}: {:?}", prove(&code));
        let inputs = vectors::of(&spec, if modulus.is_some() { 400 } else { 60 }, 8);
        let mut count = 0;
        while count < tier::of_each(100) {
            let Some(fault) = fault(&program.insns, &mut random) else {
                continue;
            };
            count += 1;
            let mut insns = program.insns.clone();
            insns[fault.at] = fault.insn;
            let code = ArmIsa::encode(&ARM7TDMI, &insns).unwrap();
            tried += 1;
            let proved = prove(&code).holds();
            let same = inputs.iter().all(|sources| behaves(&spec, &code, sources));
            let text = format!(
                "{title}, {}: {} for {}",
                4 * fault.at,
                fault.insn.text(),
                program.insns[fault.at].text()
            );
            assert!(same || !proved, "proved, but wrong: {text}");
            match (same, proved) {
                (false, _) => differ += 1,
                (true, false) => rejected_alike += 1,
                (true, true) => equivalent.push(format!("{text} ({})", fault.excuse)),
            }
        }
    }
    println!(
        "{tried} faults: {differ} change a result or a saved register, all rejected; \
         {rejected_alike} more rejected that changed nothing on the inputs tried; \
         {} proved, and equivalent:",
        equivalent.len()
    );
    for text in &equivalent {
        println!("  {text}");
    }
    assert!(tried >= tier::least(1500) && differ * 2 > tried);
}
