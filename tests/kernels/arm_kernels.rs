//! ARM kernels: proved over a matrix of sizes, right on numbers, as cheap as hw2018's, and
//! the prover rejects faults put into them.

use std::process::Command;

use lozenge::call::Operands;
use lozenge::facts::Style;
use lozenge::function::Function;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::code::{Insn, forms};
use lozenge::isa::arm::cores::{ARM7TDMI, ARM7TDMI_HW2018, Core};
use lozenge::isa::arm::instructions::Timing;
use lozenge::isa::{Cost, Isa};
use lozenge::lower::Lower;
use lozenge::make::target::arm::lower;
use lozenge::method::{self, Params};
use lozenge::prove::Proof;
use lozenge::spec::modulus::Modular;
use lozenge::spec::{Alias, Op as SpecOp, Spec};
use lozenge::{kernel, prove, vectors};
use num_bigint::BigUint;

use crate::kit::oracle::{self, MGBA};
use crate::kit::{any, ask, known, own, tier, work};

/// A kernel: product scanning for `e = 0`, else operand caching.
struct Kernel {
    spec: Spec,
    insns: Vec<Insn>,
    code: Vec<u8>,
}

fn kernel(words: usize, e: usize, core: &Core) -> Kernel {
    let spec = Spec::new(SpecOp::Mul, 32 * words as u32, 32).unwrap();
    let (name, params) = match e {
        0 => ("product-scanning", Params::new()),
        _ => ("operand-caching", Params::from([("e", e)])),
    };
    let method = method::find(name).unwrap();
    let schedule = (method.schedule)(&spec, &lower::FACTS, &params).unwrap();
    schedule.check().unwrap();
    let program = ArmIsa::lower(&schedule, core).unwrap().remove(0);
    let code = ArmIsa::encode(core, &program.insns).unwrap();
    Kernel {
        spec,
        insns: program.insns,
        code,
    }
}

/// Two nested loops, `unroll` products in a pass.
fn rolled(words: usize, unroll: usize) -> Kernel {
    let spec = Spec::new(SpecOp::Mul, 32 * words as u32, 32).unwrap();
    let method = method::find("product-scanning").unwrap();
    let facts = lower::FACTS.styled(Style::Rolled);
    let schedule = (method.schedule)(&spec, &facts, &Params::from([("unroll", unroll)])).unwrap();
    schedule.check().unwrap();
    let insns = ArmIsa::lower(&schedule, &ARM7TDMI).unwrap().remove(0).insns;
    let code = ArmIsa::encode(&ARM7TDMI, &insns).unwrap();
    Kernel { spec, insns, code }
}

fn multiply(kernel: &Kernel, core: &Core, a: &BigUint, b: &BigUint) -> Option<(BigUint, Cost)> {
    let sources = [a.clone(), b.clone()];
    let operands = Operands::of(&kernel.spec, &sources, Alias::Distinct);
    ArmIsa::calls(core, Function::kernel(&kernel.code))(&operands, 1_000_000).ok()
}

fn proof(kernel: &Kernel, alias: Alias) -> Proof {
    prove::prove(&kernel.spec, &any(&ARM7TDMI), &kernel.code, alias)
}

fn accepted(p: &Proof) -> bool {
    p.correct.is_proved() && p.memory.is_proved() && p.abi.is_proved()
}

fn sizes() -> impl Iterator<Item = usize> {
    (1..=16).chain([24, 32, 64])
}

/// The parameters e that fit: 0 stands for product scanning.
fn parameters(words: usize) -> impl Iterator<Item = usize> {
    0..=(lower::FACTS.operand_registers() / 2).min(words)
}

fn check(words: usize, e: usize) {
    let mut random = tier::random((words << 8 | e) as u64);
    let kernel = kernel(words, e, &ARM7TDMI_HW2018);
    for alias in [Alias::Distinct, Alias::AIsB] {
        let p = proof(&kernel, alias);
        assert!(accepted(&p), "{words} words, e = {e}, {alias:?}: {p:?}");
    }
    let time = prove::leak(&kernel.spec, &any(&ARM7TDMI_HW2018), &kernel.code);
    let time = time.unwrap();
    assert_eq!(time.call.min, time.call.max);
    for _ in 0..if words > 16 { 4 } else { 40 } {
        let bytes = kernel.spec.source_bytes()[0];
        let (a, b) = (random.structured(bytes), random.structured(bytes));
        let (r, cost) = multiply(&kernel, &ARM7TDMI_HW2018, &a, &b).unwrap();
        assert_eq!(r, &a * &b, "{words} words, e = {e}: {a:x} * {b:x}");
        assert_eq!(cost.call, time.call);
        let (_, cost) = multiply(&kernel, &ARM7TDMI, &a, &b).unwrap();
        assert_eq!(cost.call.min, cost.call.max);
    }
}

#[test]
fn odd_sizes_are_proved_and_right() {
    let cells = sizes().filter(|n| n % 2 == 1);
    let cells = cells.flat_map(|words| parameters(words).map(move |e| (words, e)));
    work::each(&tier::some(cells, 5), |(words, e)| check(*words, *e));
}

#[test]
fn even_sizes_are_proved_and_right() {
    let cells = sizes().filter(|n| n % 2 == 0);
    let cells = cells.flat_map(|words| parameters(words).map(move |e| (words, e)));
    work::each(&tier::some(cells, 6), |(words, e)| check(*words, *e));
}

#[test]
fn the_largest_size_is_proved() {
    // At every save a quarter of it.
    let words = tier::of([32, 128, 128]);
    work::each(&tier::some([0, 3], 7), |e| check(words, *e));
}

/// Worst-case body cycles on the paper's model, and on the manual's.
fn cycles(words: usize, e: usize) -> [u64; 2] {
    [&ARM7TDMI_HW2018, &ARM7TDMI].map(|core| {
        let kernel = kernel(words, e, core);
        let ones = (BigUint::from(1u8) << (32 * words)) - 1u8;
        let (r, cost) = multiply(&kernel, core, &ones, &ones).unwrap();
        assert_eq!(r, &ones * &ones);
        cost.body.max
    })
}

#[test]
fn no_slower_than_table_7_of_hw2018() {
    for (words, scanning, caching) in [(5, 357, 281), (6, 506, 392), (8, 882, 700)] {
        let [ps, ps_manual] = cycles(words, 0);
        let all = (1..=3).map(|e| (cycles(words, e), e));
        let ([oc, oc_manual], e) = all.min().unwrap();
        println!(
            "{} bits: product scanning {ps} (paper {scanning}; manual {ps_manual}), \
             operand caching e={e} {oc} (paper {caching}; manual {oc_manual})",
            32 * words
        );
        assert!(ps <= scanning && oc <= caching);
    }
}

#[test]
fn early_termination_is_refused_and_reported() {
    let kernel = kernel(5, 0, &ARM7TDMI);
    let leak = prove::leak(&kernel.spec, &any(&ARM7TDMI), &kernel.code).unwrap_err();
    assert!(
        leak.contains("takes 3 to 6 cycles depending on the secret"),
        "{leak}"
    );
    assert!(leak.contains("fixed time"), "{leak}");
    // The interval of an abstract run holds what runs on numbers take.
    let small = BigUint::from(3u8);
    let ones = (BigUint::from(1u8) << 160) - 1u8;
    let (_, least) = multiply(&kernel, &ARM7TDMI, &small, &small).unwrap();
    let (_, most) = multiply(&kernel, &ARM7TDMI, &ones, &ones).unwrap();
    assert!(least.body.max < most.body.max);
}

/// A condition that depends on a secret: registers are selected, memory accesses refused.
#[test]
fn conditions_on_secrets() {
    let assemble =
        |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let spec = Spec::new(SpecOp::Mul, 32, 32).unwrap();
    // ldr r3,[r1]; cmp r3,#0; moveq r3,#1; str r3,[r0]; str r3,[r0,#4]; bx lr
    let select = [
        0xe5913000, 0xe3530000, 0x03a03001, 0xe5803000, 0xe5803004, 0xe12fff1e,
    ];
    assert!(prove::leak(&spec, &any(&ARM7TDMI), &assemble(&select)).is_ok());
    // The same with ldreq r3,[r2]: an access under a secret condition.
    let mut access = select;
    access[2] = 0x05923000;
    let leak = prove::leak(&spec, &any(&ARM7TDMI), &assemble(&access)).unwrap_err();
    assert!(leak.contains("depends on the secret"), "{leak}");
    // A multiplication takes longer when it is executed.
    let mut slow = select;
    slow[1] = 0xe1b0_c003; // movs r12, r3
    slow[2] = 0x0003_0492; // muleq r3, r2, r4
    let leak = prove::leak(&spec, &any(&ARM7TDMI_HW2018), &assemble(&slow)).unwrap_err();
    assert!(leak.contains("condition"), "{leak}");
}

/// A word kept below the stack pointer may be overwritten by an interrupt.
#[test]
fn nothing_lies_below_the_stack_pointer() {
    let spec = Spec::new(SpecOp::Mul, 32, 32).unwrap();
    // str r4,[sp,#-4]; ldr r4,[sp,#-4]; bx lr
    let words = [0xe50d_4004u32, 0xe51d_4004, 0xe12f_ff1e];
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let p = prove::prove(&spec, &any(&ARM7TDMI), &code, Alias::Distinct);
    let reason = p.memory.reason().unwrap();
    assert!(reason.contains("below the stack pointer"), "{reason}");
}

/// What libmgba says of calls, each code, a and b: cycles and result.
fn on_libmgba(cases: &[(&Kernel, BigUint, BigUint)]) -> Vec<(u64, BigUint)> {
    let mut input = Vec::new();
    for (kernel, a, b) in cases {
        let words = kernel.spec.source_bytes()[0] / 4;
        for count in [kernel.insns.len(), words] {
            input.extend((count as u32).to_le_bytes());
        }
        input.extend(&kernel.code);
        for operand in [a, b] {
            let mut bytes = operand.to_bytes_le();
            bytes.resize(4 * words, 0);
            input.extend(bytes);
        }
    }
    let mut mgba = Command::new(oracle::built("arm_mgba", MGBA));
    let out = oracle::answer(mgba.arg("kernel"), &input);
    let mut rest = &out[..];
    let answers = cases.iter().map(|(kernel, ..)| {
        let (cycles, after) = rest.split_at(4);
        // The program gives back twice an operand.
        let (result, after) = after.split_at(2 * kernel.spec.source_bytes()[0]);
        rest = after;
        let result = &result[..kernel.spec.result_bytes()];
        let cycles = u32::from_le_bytes(cycles.try_into().unwrap());
        (u64::from(cycles), BigUint::from_bytes_le(result))
    });
    answers.collect()
}

#[test]
fn kernels_agree_with_libmgba_in_result_and_cycles() {
    let mut random = tier::random(9);
    let kernels: Vec<_> = [1, 2, 3, 5, 6, 8, 13, 16]
        .into_iter()
        .flat_map(|words| parameters(words).map(move |e| kernel(words, e, &ARM7TDMI)))
        .chain([(6, 1), (9, 2), (13, 3), (16, 6)].map(|(words, unroll)| rolled(words, unroll)))
        .collect();
    let mut cases = Vec::new();
    for kernel in &kernels {
        let bytes = kernel.spec.source_bytes()[0];
        for _ in 0..20 {
            cases.push((kernel, random.structured(bytes), random.structured(bytes)));
        }
    }
    for ((kernel, a, b), (cycles, result)) in cases.iter().zip(on_libmgba(&cases)) {
        let (_, cost) = multiply(kernel, &ARM7TDMI, a, b).unwrap();
        assert_eq!(result, a * b, "{}: {a:x} * {b:x}", kernel.spec.symbol());
        assert_eq!(
            cycles, cost.call.max,
            "{} bits: {a:x} * {b:x}",
            kernel.spec.size
        );
    }
}

/// Modulo primes of both special forms, a random one and one for Montgomery.
#[test]
fn modular_kernels_agree_with_libmgba() {
    use SpecOp::{Modadd, Modmul, Modneg, Modsqr, Modsub, Montmul, Montsqr};
    let cells = [
        (Modmul, 256, "p256", "product-scanning+fold"),
        (Modmul, 192, "p192", "product-scanning+fold"),
        (Modsqr, 256, "25519", "square-product-scanning+fold"),
        (Modadd, 160, "secp160r1", "carry-chain"),
        (
            Modsub,
            128,
            "0xfb7d3c6e2a9156f084d3c2b1a0f9e8d7",
            "carry-chain",
        ),
        (Modneg, 256, "p256", "carry-chain"),
        (Montmul, 256, "p256-order", "fips"),
        (Montsqr, 160, "opf160", "fips"),
    ];
    let kernels: Vec<_> = (cells.into_iter())
        .map(|(op, bits, modulus, method)| {
            let request = kernel::Request {
                modular: Some(Modular::full(modulus.parse().unwrap())),
                method: Some(method.into()),
                ..ask::in_any_time(op, bits)
            };
            let made = known::generate(&request, &any(&ARM7TDMI)).unwrap();
            assert!(made.is_proved());
            Kernel {
                spec: made.spec,
                insns: own(&made.program.insns),
                code: made.code,
            }
        })
        .collect();
    let sources = kernels.iter().flat_map(|kernel| {
        let sources = vectors::of(&kernel.spec, 20, 4).into_iter();
        sources.map(move |sources| (kernel, sources))
    });
    let sources: Vec<_> = sources.collect();
    let pair = |(kernel, sources): &(_, Vec<BigUint>)| {
        let second = sources.get(1).cloned().unwrap_or_default();
        (*kernel, sources[0].clone(), second)
    };
    let cases: Vec<_> = sources.iter().map(pair).collect();
    for ((kernel, sources), (cycles, result)) in sources.iter().zip(on_libmgba(&cases)) {
        let operands = Operands::of(&kernel.spec, sources, Alias::Distinct);
        let code = Function::kernel(&kernel.code);
        let (_, cost) = ArmIsa::calls(&ARM7TDMI, code)(&operands, 1_000_000).unwrap();
        let context = format!("{}: {sources:x?}: {result:x}", kernel.spec.symbol());
        assert!(kernel.spec.accepts(sources, &result), "{context}");
        assert_eq!(cycles, cost.call.max, "{context}");
    }
}

/// The table's timing classes are all charged.
#[test]
fn every_row_has_a_cost() {
    for core in lozenge::isa::arm::cores::CORES {
        for form in forms() {
            let effects = Default::default();
            let span = (core.cycles)(form.timing, &effects);
            assert!(span.min >= 1 && span.min <= span.max, "{}", form.name);
            let fixed = span.min == span.max;
            let multiplies = matches!(form.timing, Timing::Multiply(..));
            let early = core.name != ARM7TDMI_HW2018.name;
            assert!(fixed || multiplies && early, "{}", form.name);
        }
    }
}
