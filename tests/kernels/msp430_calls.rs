//! Calling conventions of the MSP430 beside the EABI's small model: kernels proved, run on operands, and called in
//! simulators that we did not write.

use lozenge::call::Operands;
use lozenge::facts::Style;
use lozenge::function::Function;
use lozenge::isa::Isa;
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::code::{Dest, Insn, Source};
use lozenge::isa::msp430::convention::{Abi, GCC, IAR, LARGE, MSPGCC};
use lozenge::isa::msp430::cores::Core;
use lozenge::isa::msp430::instructions::{Op, Ops};
use lozenge::kernel::{Kernel, RUN_LIMIT, Request};
use lozenge::prove::{self, Verdict};
use lozenge::spec::modulus::Reduce;
use lozenge::spec::{Alias, Op as Operation, Spec};
use lozenge::vectors;

use crate::kit::icicle::{self, Job};
use crate::kit::mspdebug::{self, Places};
use crate::kit::{any, ask, known, mutants, tier};

/// Operation, bits, modulus and style.
type Cell = (
    Operation,
    u32,
    Option<(&'static str, Reduce)>,
    Option<Style>,
);

#[rustfmt::skip]
const CELLS: [Cell; 9] = {
    use Operation::{Modadd, Modmul, Montmul, Mul, Mulhi, Sqr};
    [
        (Mul, 16, None, None),
        (Mul, 160, None, None),
        (Mul, 256, None, Some(Style::Rolled)),
        (Sqr, 192, None, None),
        (Mulhi, 64, None, None),
        (Modadd, 256, Some(("p256", Reduce::Full)), None),
        (Modmul, 160, Some(("secp160r1", Reduce::Full)), None),
        (Montmul, 128, Some(("runtime", Reduce::Full)), None),
        (Montmul, 256, Some(("runtime", Reduce::Full)), Some(Style::Rolled)),
    ]
};

fn core(name: &str) -> Core {
    *Core::named(name).expect("a core")
}

fn made((op, bits, modulus, style): Cell, core: &Core) -> Kernel {
    let asked = Request {
        modular: modulus.map(|(modulus, reduce)| ask::modular(modulus, reduce)),
        style,
        ..ask::of(op, bits)
    };
    let name = format!("{} {bits} on {} by {}", op.name(), core.name, core.abi.name);
    let kernel = known::generate(&asked, &any(core)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
    kernel
}

/// A kernel of each kind in each convention; cycles of the body are those of the EABI, but where R11 must be saved.
#[test]
fn kernels_are_proved_and_right_in_each_convention() {
    let conventions: [(&str, &'static Abi); 5] = [
        ("msp430-mpy16", &MSPGCC),
        ("msp430-mpy16", &IAR),
        ("msp430x-mpy32", &MSPGCC),
        ("msp430x-mpy32", &LARGE),
        ("msp430x-mpy16", &LARGE),
    ];
    let pairs = conventions
        .iter()
        .flat_map(|c| CELLS.map(|cell| (*c, cell)));
    for ((name, abi), cell) in tier::some(pairs, 31) {
        let core = core(name).called(abi);
        let kernel = made(cell, &core);
        let usual = made(cell, &core.called(&GCC));
        let (body, least) = (kernel.cost.body.max, usual.cost.body.max);
        match abi.large {
            true => assert_eq!(body, least, "{name} {cell:?}"),
            false => assert!(body >= least && body < least + least / 8, "{name} {cell:?}"),
        }
        let core = any(&core);
        let call = core.calls(Function::kernel(&kernel.code));
        for sources in vectors::of(&kernel.spec, tier::of_each(30), 3) {
            let operands = Operands::of(&kernel.spec, &sources, Alias::Distinct);
            let (got, _) = call(&operands, RUN_LIMIT).unwrap_or_else(|e| panic!("{e:?}"));
            assert!(kernel.spec.accepts(&sources, &got), "{name}: {sources:x?}");
        }
    }
}

/// A kernel in one convention does not keep another, and says why.
#[test]
fn conventions_are_told_apart() {
    let (plain, wide) = (core("msp430-mpy16"), core("msp430x-mpy32"));
    let spec = |bits| Spec::new(Operation::Mul, bits, 16).expect("a product");
    let judged = |bits: u32, made: &Core, by: &Core| {
        let kernel = self::made((Operation::Mul, bits, None, None), made);
        let proof = prove::prove(&spec(bits), &any(by), &kernel.code, Alias::Distinct);
        let told = [&proof.correct, &proof.memory, &proof.abi].map(Verdict::reason);
        told.into_iter()
            .flatten()
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let [old, iar] = [&MSPGCC, &IAR].map(|abi| plain.called(abi));
    let large = wide.called(&LARGE);
    assert_eq!(judged(160, &iar, &plain), Vec::<String>::new());
    for (bits, made, by, why) in [
        (160, &plain, &iar, "r11 is not restored"),
        (160, &plain, &old, ""),
        (160, &old, &plain, ""),
        (160, &wide, &large, "code of the large model may lie above"),
        (160, &large, &wide, "reta"),
    ] {
        let told = judged(bits, made, by);
        assert!(
            told.iter().any(|text| text.contains(why)),
            "{why}: {told:?}"
        );
    }
    // The large model with the wrong half of a register saved, or with none.
    let kernel = self::made((Operation::Mul, 160, None, None), &large);
    let insns = Msp430Isa::decode(&large, &kernel.code).expect("code");
    let changed = |change: &dyn Fn(Insn) -> Option<Insn>| {
        let insns: Vec<Insn> = insns.iter().filter_map(|(_, insn)| change(*insn)).collect();
        let code = Msp430Isa::encode(&large, &insns).expect("code");
        let proof = prove::prove(&spec(160), &any(&large), &code, Alias::Distinct);
        proof.abi.reason().unwrap_or_default().to_string()
    };
    assert_eq!(changed(&Some), "");
    let of_words = changed(&|insn| {
        let op = match insn.op {
            Op::PUSHMA => Op::PUSHM,
            Op::POPMA => Op::POPM,
            op => op,
        };
        Some(Insn::new(op, insn.ops))
    });
    assert!(of_words.contains("bits 19 to 16 of r"), "{of_words}");
    let unsaved = changed(&|insn| (![Op::PUSHMA, Op::POPMA].contains(&insn.op)).then_some(insn));
    assert!(unsaved.contains("is not restored"), "{unsaved}");
}

/// A pointer whose bits 19 to 16 nobody knows is no address.
#[test]
fn a_pointer_of_20_bits_is_refused() {
    let core = core("msp430x").called(&LARGE);
    let spec = Spec::new(Operation::Mul, 16, 16).expect("a product");
    // Restored from where a caller's register was saved.
    let code = [
        Insn::several(Op::PUSHMA, 10, 10),
        Insn::two(Op::MOV, Source::Indirect(10), Dest::Register(15)),
        Insn::several(Op::POPMA, 10, 10),
        Insn::reta(),
    ];
    let code = Msp430Isa::encode(&core, &code).expect("code");
    let proof = prove::prove(&spec, &any(&core), &code, Alias::Distinct);
    let why = proof.memory.reason().unwrap_or_default().to_string();
    assert!(why.contains("its bits 19 to 16 may be set"), "{why}");
}

/// Faults in kernels of the other conventions, saves and returns among them.
#[test]
fn the_prover_rejects_faults() {
    let (large, old) = (
        core("msp430x-mpy16").called(&LARGE),
        core("msp430-mpy16").called(&MSPGCC),
    );
    let cases = [large, old].map(|core| {
        (
            core,
            ask::spec(Operation::Mul, 4, None, 16),
            Style::Unrolled,
            "product-scanning",
            Vec::new(),
        )
    });
    mutants::attack::<Msp430Isa>(cases.into(), 300, 15).hold(450, 5);
}

const PLACES: Places = Places {
    seen: 0x0200,
    code: 0x4400,
    data: 0x1000,
};
/// Registers that mspgcc's caller finds again, with SP.
const KEPT: [u8; 9] = [1, 4, 5, 6, 7, 8, 9, 10, 11];
const STACK: u16 = 0x4000;

/// Words that a caller leaves.
fn held(r: u8) -> u16 {
    match r {
        1 => STACK,
        r => 0x1111 * u16::from(r),
    }
}

/// Calls in the order of mspgcc, in mspdebug: R15 first, R4 to R11 come back, cycles are as reported.
#[test]
fn mspgccs_calls_are_right_in_mspdebug() {
    let core = core("msp430-mpy16").called(&MSPGCC);
    let cells = [CELLS[1], CELLS[2], CELLS[5], CELLS[7]];
    for (i, cell) in cells.into_iter().enumerate() {
        let kernel = made(cell, &core);
        let (spec, result) = (&kernel.spec, kernel.spec.result_bytes());
        let mut next = PLACES.data + result as u16;
        let mut pointers = vec![PLACES.data];
        for bytes in spec.source_bytes() {
            pointers.push(next);
            next += bytes as u16;
        }
        let set = |k: u16, r: u8| Insn::two(Op::MOV, Source::Constant(k), Dest::Register(r));
        let mut start: Vec<Insn> = KEPT.iter().map(|r| set(held(*r), *r)).collect();
        let registers = (12..16).rev();
        start.extend(pointers.iter().zip(registers).map(|(at, r)| set(*at, r)));
        let tell = |r: &u8| {
            let to = Dest::Absolute(PLACES.seen + 2 * u16::from(*r));
            Insn::two(Op::MOV, Source::Register(*r), to)
        };
        let behind: Vec<Insn> = KEPT.iter().map(tell).collect();
        let bytes = |list: &[Insn]| list.iter().map(Insn::bytes).sum::<usize>();
        // The kernel lies in front of the end, which a jump goes to.
        let over = 2 + kernel.code.len();
        let at = PLACES.code as usize + bytes(&start) + 4 + bytes(&behind) + 4;
        start.push(Insn::one(Op::CALL, Source::Constant(at as u16)));
        start.extend(behind);
        let end = Source::Constant((at + over - 2) as u16);
        start.push(Insn::two(Op::MOV, end, Dest::Register(0)));
        let mut code = Msp430Isa::encode(&core, &start).expect("code");
        code.extend(&kernel.code);
        let operands = vectors::of(spec, tier::of_each(12), 9);
        let job = |sources: &Vec<_>| {
            let mut data = vec![0xee; result];
            for (source, bytes) in sources.iter().zip(spec.source_bytes()) {
                let mut list = num_bigint::BigUint::to_bytes_le(source);
                list.resize(bytes, 0);
                data.extend(list);
            }
            (code.clone(), data)
        };
        let jobs: Vec<_> = operands.iter().map(job).collect();
        let seen = mspdebug::runs(&format!("msp430_mspgcc{i}"), PLACES, &jobs);
        for ((memory, _), sources) in seen.iter().zip(&operands) {
            let from = usize::from(PLACES.data - PLACES.seen);
            let got = num_bigint::BigUint::from_bytes_le(&memory[from..from + result]);
            assert!(spec.accepts(sources, &got), "{cell:?}: {sources:x?}");
            for r in KEPT {
                let at = 2 * usize::from(r);
                let left = u16::from_le_bytes([memory[at], memory[at + 1]]);
                assert_eq!(left, held(r), "{cell:?}: r{r}");
            }
        }
    }
}

/// Kernels of the large model above 64 KB, called by CALLA in icicle-emu: all 20 bits of R4 to R10 come back. It has no
/// multiplier, and its SUBC of 0xffff loses the carry, so these are products by additions.
#[test]
fn the_large_model_is_right_above_64_kb() {
    const HIGH: u32 = 0x1_4000;
    const DATA: u32 = 0x2000;
    let core = core("msp430x").called(&LARGE);
    let cells = [
        (Operation::Mul, 80, None, None),
        (Operation::Mul, 256, None, None),
        (Operation::Sqr, 64, None, None),
    ];
    for cell in cells {
        let kernel = made(cell, &core);
        let (spec, result) = (&kernel.spec, kernel.spec.result_bytes());
        let mut pointers = vec![DATA];
        for bytes in spec.source_bytes() {
            let last = pointers[pointers.len() - 1];
            let before = if pointers.len() == 1 { result } else { bytes };
            pointers.push(last + before as u32);
        }
        // The call is behind the kernel, at the end.
        let call = Ops {
            k: (HIGH >> 16) as i16,
            x: HIGH as u16,
            ..Ops::default()
        };
        let call = Msp430Isa::encode(&core, &[Insn::new(Op::CALLA, call)]).expect("code");
        let first = HIGH + kernel.code.len() as u32;
        let code = [&kernel.code[..], &call].concat();
        let mut random = tier::random(10);
        let operands = vectors::of(spec, tier::of_each(8), 11);
        let jobs: Vec<Job> = operands
            .iter()
            .map(|sources| {
                let mut data = vec![0xee; result];
                for (source, bytes) in sources.iter().zip(spec.source_bytes()) {
                    let mut list = source.to_bytes_le();
                    list.resize(bytes, 0);
                    data.extend(list);
                }
                let mut registers = [0; 16].map(|_: u32| random.below(1 << 20) as u32);
                (registers[0], registers[1]) = (first, u32::from(STACK));
                for (at, r) in pointers.iter().zip(12..) {
                    registers[r] = *at;
                }
                Job {
                    registers,
                    code: (HIGH, code.clone()),
                    data: (DATA, data),
                }
            })
            .collect();
        for ((registers, data), (job, sources)) in icicle::runs(&jobs)
            .into_iter()
            .zip(jobs.iter().zip(&operands))
        {
            let got = num_bigint::BigUint::from_bytes_le(&data[..result]);
            assert!(spec.accepts(sources, &got), "{cell:?}: {sources:x?}");
            for r in [1, 4, 5, 6, 7, 8, 9, 10] {
                assert_eq!(registers[r], job.registers[r], "{cell:?}: r{r}");
            }
        }
    }
}
