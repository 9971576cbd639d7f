//! The prover under attack: single-instruction faults in proved kernels.
//!
//! Every mutant that gives another result on some input must be rejected. A mutant that is
//! proved is run on many structured inputs; if it is right on all of them it is printed
//! with what differs from the original on the way: nothing, or words that are dead there.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Mutex;

use lozenge::domain::concrete::Concrete;
use lozenge::isa::Isa;
use lozenge::isa::avr::code::{Insn, forms};
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::avr::instructions::Op;
use lozenge::isa::avr::machine::Avr;
use lozenge::isa::avr::run::Decoded;
use lozenge::isa::avr::{AvrIsa, abi};
use lozenge::kernel;
use lozenge::lower::Lower;
use lozenge::method::{self, Params};
use lozenge::program::Program;
use lozenge::prove;
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Alias, Op as Operation, Size, Spec};
use lozenge::vectors::{self, Random};

use crate::kit::{tier, work};

/// Faults in each kernel: of a product, and of the other operations.
const FAULTS_PER_PRODUCT: usize = 500;
const FAULTS_PER_KERNEL: usize = 250;

/// Names of the faults, for the table.
const KINDS: [&str; 7] = [
    "drop",
    "bit",
    "register",
    "operation",
    "constant",
    "exchange",
    "replace",
];

/// One fault in `program`, as code; `None` if this kind does not apply there.
fn mutate(program: &[Insn], kind: usize, at: usize, random: &mut Random) -> Option<Vec<u8>> {
    let mut out = program.to_vec();
    let insn = out[at];
    match kind {
        0 => {
            out.remove(at);
        }
        1 => {
            let mut code = AvrIsa::encode(&ATMEGA128, program).expect("encodes");
            let before = AvrIsa::encode(&ATMEGA128, &program[..at]).expect("encodes");
            code[before.len() + random.below(2)] ^= 1 << random.below(8);
            return Some(code);
        }
        2 => {
            let ranges = insn.form().ranges();
            let registers: Vec<_> = ranges
                .iter()
                .filter(|(letter, ..)| "drDR".contains(*letter))
                .collect();
            let (letter, low, high, step) = **registers.get(random.below(registers.len()))?;
            let value = low + step * random.below(((high - low) / step + 1) as usize) as i64;
            match letter {
                'd' | 'D' => out[at].ops.d = value as u8,
                _ => out[at].ops.r = value as u8,
            }
        }
        3 => {
            let others = match insn.op {
                Op::ADC => [Op::ADD, Op::SBC],
                Op::ADD => [Op::ADC, Op::SUB],
                Op::EOR => [Op::MOV, Op::OR],
                Op::MOV => [Op::ADD, Op::EOR],
                Op::MUL => [Op::MOV, Op::ADD],
                Op::SUBI => [Op::SBCI, Op::ORI],
                Op::SBCI => [Op::SUBI, Op::ANDI],
                Op::LDX_INC => [Op::LDX, Op::LDX_DEC],
                Op::LDX => [Op::LDX_INC, Op::LDX_DEC],
                Op::LDY_INC | Op::LDDY => [Op::LDY_DEC, Op::LDZ_INC],
                Op::STZ_INC | Op::STDZ => [Op::STZ_DEC, Op::STY_INC],
                Op::STX_INC => [Op::STX, Op::STX_DEC],
                Op::ADIW => [Op::SBIW, Op::SBIW],
                Op::SBIW => [Op::ADIW, Op::ADIW],
                _ => return None,
            };
            out[at].op = others[random.below(2)];
            if !matches!(
                out[at].op,
                Op::LDDY | Op::STDZ | Op::SUBI | Op::SBCI | Op::ORI
            ) && !matches!(out[at].op, Op::ANDI | Op::ADIW | Op::SBIW)
            {
                out[at].ops.k = 0;
            }
        }
        4 => {
            let ranges = insn.form().ranges();
            let (_, low, high, _) = ranges.iter().find(|(letter, ..)| "Kq".contains(*letter))?;
            let by = [-1, 1, 2][random.below(3)];
            let value = i64::from(insn.ops.k) + by;
            if !(*low..=*high).contains(&value) {
                return None;
            }
            out[at].ops.k = value as i32;
        }
        5 => {
            if at + 1 == out.len() {
                return None;
            }
            out.swap(at, at + 1);
        }
        _ => out[at] = Insn::rr(Op::NOP, 0, 0),
    }
    if out == program {
        return None;
    }
    AvrIsa::encode(&ATMEGA128, &out).ok()
}

/// The state after each instruction of a run: registers, flags, result.
fn trace(code: &[u8], sources: &[num_bigint::BigUint], spec: &Spec) -> Vec<Vec<u8>> {
    let addresses = [0x200, 0x400, 0x600, 0x800];
    let mut m: Avr<Concrete> = abi::enter_concrete(&ATMEGA128, Rc::from(code), &addresses);
    for i in 2..18 {
        m.r[i].0 = 0xa0 + i as u64;
    }
    for ((value, at), n) in sources.iter().zip(&addresses[1..]).zip(spec.source_bytes()) {
        let mut bytes = value.to_bytes_le();
        bytes.resize(n, 0);
        m.d.memory[*at..*at + n].copy_from_slice(&bytes);
    }
    let decoded = Decoded::<Concrete>::new(code, &ATMEGA128);
    let stop = abi::caller(&m);
    let mut states = Vec::new();
    while m.pc != stop && decoded.step(&mut m).is_ok() {
        let mut state: Vec<u8> = m.r.iter().map(|r| r.0 as u8).collect();
        state.extend((0..6).map(|s| u8::from(m.get_flag(s))));
        state.extend(&m.d.memory[0x200..0x200 + spec.result_bytes()]);
        states.push(state);
    }
    states
}

/// What differs between the original and an equivalent mutant with a fault at instruction `at`.
fn reason(spec: &Spec, original: &[u8], mutant: &[u8], at: usize) -> String {
    let mut differ = vec![false; 38 + spec.result_bytes()];
    for sources in vectors::of(spec, 8, 99) {
        let a = trace(original, &sources, spec);
        let b = trace(mutant, &sources, spec);
        // Aligned from the start up to the fault, and from the end behind it.
        let before = a.iter().zip(&b).take(at);
        let behind = (a.iter().rev().zip(b.iter().rev())).take(a.len().min(b.len()) - at);
        for (x, y) in before.chain(behind) {
            for (i, d) in differ.iter_mut().enumerate() {
                *d |= x[i] != y[i];
            }
        }
    }
    let name = |i: usize| match i {
        0..32 => format!("r{i}"),
        32..38 => "flags".into(),
        _ => format!("r[{}]", i - 38),
    };
    let mut names: Vec<_> = (0..differ.len()).filter(|i| differ[*i]).map(name).collect();
    names.dedup();
    match names.as_slice() {
        [] => "the same state after every instruction".into(),
        [flags] if flags == "flags" => "only flags differ, and nothing reads them".into(),
        list => format!("only {} differ, and are not read", list.join(", ")),
    }
}

fn wrong(spec: &Spec, code: &[u8]) -> bool {
    let inputs = vectors::of(spec, 600, 5);
    inputs.iter().any(|sources| {
        let runs = kernel::run::<AvrIsa>(spec, &ATMEGA128, code, sources, Alias::Distinct);
        runs.map_or(true, |(got, _)| !spec.accepts(sources, &got))
    })
}

#[test]
fn wrong_mutants_are_rejected() {
    assert!(forms().len() > 80);
    let caching = |e: usize| ("operand-caching", Params::from([("e", e)]));
    let scanning = || ("product-scanning", Params::new());
    let of = |op, size, method| (Spec::new(op, size, 8).expect("a size"), method);
    let mul = |n: u32, method| of(Operation::Mul, Size::from(8 * n), method);
    let sqr = |n: u32, name, params| of(Operation::Sqr, Size::from(8 * n), (name, params));
    let modular = |op, bits: u32, modulus: &str, reduce| {
        let modular = Modular {
            modulus: modulus.parse().expect("a modulus"),
            reduce,
            shift: 0,
        };
        let spec = Spec::with(op, bits, Some(modular), 8).expect("a size");
        let method = match op {
            Operation::Modmul => "product-scanning+fold",
            Operation::Modsqr => "square-product-scanning+fold",
            op if op.is_montgomery() => "fips",
            _ => "carry-chain",
        };
        (spec, (method, Params::new()))
    };
    let montgomery = |(spec, _), name| (spec, (name, Params::new()));
    let kernels = [
        modular(Operation::Montmul, 24, "0xfffffb", Reduce::Full),
        modular(Operation::Montmul, 32, "0x9e3779b1", Reduce::Almost),
        modular(Operation::Montmul, 24, "0x2fb3a1", Reduce::Lazy),
        modular(Operation::Montmul, 32, "0xcd3e*2^16+1", Reduce::Full),
        modular(Operation::Montmul, 24, "runtime", Reduce::Full),
        modular(Operation::Montmul, 32, "runtime", Reduce::Almost),
        modular(Operation::Montsqr, 32, "2^32-2^15-1", Reduce::Full),
        modular(Operation::Redc, 32, "0xffffff1d", Reduce::Full),
        modular(Operation::Montmul, 16, "runtime-bare", Reduce::Full),
        {
            let (spec, _) = modular(Operation::Redc, 32, "runtime-folded", Reduce::Almost);
            (spec, ("folded-karatsuba", Params::from([("levels", 1)])))
        },
        modular(Operation::Tomont, 24, "0xfffffb", Reduce::Full),
        modular(Operation::Tomont, 16, "runtime", Reduce::Full),
        modular(Operation::Frommont, 32, "0xffffff1d", Reduce::Full),
        modular(Operation::Frommont, 24, "runtime", Reduce::Almost),
        montgomery(
            modular(Operation::Montmul, 24, "0xfffffb", Reduce::Almost),
            "cios",
        ),
        montgomery(
            modular(Operation::Montsqr, 24, "0xcd3e*2^8+1", Reduce::Full),
            "cios",
        ),
        montgomery(
            modular(Operation::Montmul, 24, "runtime", Reduce::Full),
            "cihs",
        ),
        {
            let (spec, _) = modular(Operation::Montmul, 32, "0x7fb3a1c5", Reduce::Full);
            (spec, ("hfips", Params::from([("d", 2)])))
        },
        montgomery(
            modular(Operation::Montmul, 24, "2^24-2^11-1", Reduce::Full),
            "sos",
        ),
        montgomery(
            modular(Operation::Montmul, 24, "0x2fb3a1", Reduce::Lazy),
            "product-scanning+sps",
        ),
        montgomery(
            modular(Operation::Montsqr, 32, "0xcd3e*2^16+1", Reduce::Full),
            "square-product-scanning+sos",
        ),
        {
            let (spec, _) = modular(Operation::Montmul, 32, "runtime", Reduce::Almost);
            (spec, ("hsps", Params::from([("d", 2)])))
        },
        {
            let (mut spec, _) = modular(Operation::Modmul, 32, "2^32-2^8-1", Reduce::Full);
            spec.modular.as_mut().expect("a modulus").shift = 16;
            (spec, ("range-shifted", Params::from([("plan", 0)])))
        },
        {
            let (mut spec, _) = modular(Operation::Modsqr, 32, "2^32-2^8-1", Reduce::Full);
            spec.modular.as_mut().expect("a modulus").shift = 16;
            let params = Params::from([("levels", 0), ("c", 0)]);
            (spec, ("range-shifted-squaring", params))
        },
        modular(Operation::Modadd, 40, "0xff9e3779b1", Reduce::Full),
        modular(Operation::Modadd, 40, "0x3f9e3779b1", Reduce::Almost),
        modular(Operation::Modsub, 40, "0xff9e3779b1", Reduce::Full),
        modular(Operation::Modsub, 40, "0x1f9e3779b1", Reduce::Lazy),
        modular(Operation::Modneg, 32, "runtime", Reduce::Full),
        modular(Operation::Modadd, 32, "runtime", Reduce::Almost),
        modular(Operation::Modsub, 24, "runtime", Reduce::Almost),
        modular(Operation::Modhalf, 40, "0xff9e3779b1", Reduce::Full),
        modular(Operation::Modhalf, 32, "0x7f9e3779", Reduce::Full),
        modular(Operation::Modhalf, 32, "runtime", Reduce::Almost),
        modular(Operation::Modmul, 40, "2^40-5", Reduce::Full),
        modular(Operation::Modmul, 40, "2^39-7", Reduce::Almost),
        modular(Operation::Modmul, 40, "2^40-2^24+2^8-1", Reduce::Full),
        modular(Operation::Modsqr, 40, "2^40-2^24+1", Reduce::Almost),
        montgomery(
            modular(Operation::Modmul, 32, "2^32-2^8-1", Reduce::Full),
            "karatsuba-modulo",
        ),
        mul(3, scanning()),
        mul(9, scanning()),
        mul(5, caching(2)),
        mul(7, caching(3)),
        mul(10, caching(10)),
        mul(20, caching(10)),
        mul(6, ("operand-scanning", Params::from([("k", 3)]))),
        mul(5, ("karatsuba", Params::from([("levels", 1), ("rows", 6)]))),
        mul(
            6,
            (
                "karatsuba",
                Params::from([("levels", 1), ("late", 4), ("apart", 3)]),
            ),
        ),
        mul(
            4,
            ("karatsuba", Params::from([("levels", 2), ("first", 2)])),
        ),
        mul(7, ("karatsuba-comba", Params::from([("levels", 2)]))),
        mul(
            6,
            (
                "karatsuba-joined",
                Params::from([("levels", 1), ("plan", 0)]),
            ),
        ),
        mul(
            8,
            (
                "karatsuba-joined",
                Params::from([("levels", 2), ("plan", 2)]),
            ),
        ),
        of(Operation::Mul, Size { a: 48, b: 24 }, scanning()),
        of(Operation::Mullo, 56.into(), scanning()),
        of(
            Operation::Mullo,
            56.into(),
            (
                "short-product",
                Params::from([("levels", 2), ("plan", 3535)]),
            ),
        ),
        of(
            Operation::Mulhi,
            48.into(),
            ("short-product", Params::from([("levels", 1), ("plan", 8)])),
        ),
        of(Operation::Mulhi, 24.into(), scanning()),
        of(Operation::Mulhi, 56.into(), scanning()),
        sqr(7, "square-product-scanning", Params::new()),
        sqr(5, "square-operand-scanning", Params::new()),
        sqr(5, "square-carry-catcher", Params::from([("d", 2)])),
        sqr(7, "lazy-doubling", Params::from([("d", 2)])),
        sqr(
            7,
            "sliding-block-doubling",
            Params::from([("e", 3), ("c", 2)]),
        ),
        sqr(
            7,
            "karatsuba-squaring",
            Params::from([("levels", 1), ("c", 0)]),
        ),
        sqr(
            8,
            "karatsuba-squaring",
            Params::from([("levels", 2), ("c", 1)]),
        ),
        sqr(
            8,
            "karatsuba-squaring",
            Params::from([("levels", 2), ("c", 0), ("joined", 2)]),
        ),
    ];
    let log = Mutex::new((0, 0, Vec::new(), BTreeMap::<&str, (usize, usize)>::new()));
    let kernels = tier::some(kernels, 63);
    work::each(&kernels, |(spec, (name, params))| {
        attack(spec, name, params, &log);
    });
    let (total, rejected, survivors, kinds) = log.into_inner().expect("no thread panicked");
    println!(
        "{total} faults, {rejected} rejected ({:.1} %)",
        100.0 * rejected as f64 / total as f64
    );
    for (kind, (all, killed)) in &kinds {
        println!("  {kind:<10} {killed} of {all}");
    }
    for line in &survivors {
        println!("  equivalent: {line}");
    }
    assert!(total >= tier::least(2000), "only {total} faults");
    assert_eq!(kinds.len(), KINDS.len(), "every kind of fault was tried");
}

/// Differences that stand behind a modulus are read as what they are: loads from beside them are faults.
#[test]
fn differences_read_from_elsewhere_are_rejected() {
    let core = &ATMEGA128;
    let modular = Modular {
        modulus: "runtime-folded".parse().expect("a modulus"),
        reduce: Reduce::Almost,
        shift: 0,
    };
    let spec = Spec::with(Operation::Redc, 256, Some(modular), 8).expect("a size");
    let whole = lowered(&spec, "folded-karatsuba", &Params::from([("levels", 1)]));
    let program = &whole.insns;
    let original = AvrIsa::encode(core, program).expect("encodes");
    let proves = |code: &[u8]| {
        let claims = &whole.claims;
        prove::prove_with::<AvrIsa>(&spec, core, code, claims, Alias::Distinct).holds()
    };
    assert!(proves(&original));
    let mut random = tier::random(7);
    let is_load = |at: &usize| matches!(program[*at].op, Op::LDDY | Op::LDDZ);
    let loads: Vec<_> = (0..program.len()).filter(is_load).collect();
    let mut rejected = 0;
    for _ in 0..100 {
        let at = loads[random.below(loads.len())];
        let Some(code) = mutate(program, 4, at, &mut random) else {
            continue;
        };
        let proved = proves(&code);
        assert!(
            !(proved && wrong(&spec, &code)),
            "proved, and wrong at {at}"
        );
        rejected += usize::from(!proved);
    }
    assert!(rejected >= 80, "only {rejected}");
}

/// The first program that a method makes.
fn lowered(spec: &Spec, name: &str, params: &Params) -> Program<Insn> {
    let core = &ATMEGA128;
    let method = method::find(name).expect("a method");
    let schedule = (method.schedule)(spec, &AvrIsa::facts(core), params).expect("a schedule");
    let made = AvrIsa::lower(&schedule, core).expect("lowers").pop();
    made.expect("a program")
}

type Log = Mutex<(
    usize,
    usize,
    Vec<String>,
    BTreeMap<&'static str, (usize, usize)>,
)>;

fn attack(spec: &Spec, name: &str, params: &Params, log: &Log) {
    let core = &ATMEGA128;
    let whole = lowered(spec, name, params);
    let program = &whole.insns;
    let original = AvrIsa::encode(core, program).expect("encodes");
    let mut random = tier::random(u64::from(spec.size.a / 8));
    let mut tried = 0;
    let product = spec.op == Operation::Mul && spec.size.a == spec.size.b;
    let faults = match product {
        true => FAULTS_PER_PRODUCT,
        false => FAULTS_PER_KERNEL,
    };
    while tried < tier::of_each(faults) {
        let (kind, at) = (random.below(KINDS.len()), random.below(program.len()));
        let Some(code) = mutate(program, kind, at, &mut random) else {
            continue;
        };
        tried += 1;
        // Claims stay behind the instructions that they speak of.
        let mut faulty = whole.clone();
        if KINDS[kind] == "drop" {
            faulty.remove(at);
        }
        let claims = &faulty.claims;
        let proof = prove::prove_with::<AvrIsa>(spec, core, &code, claims, Alias::Distinct);
        let proved = proof.holds();
        let insns = AvrIsa::decode(core, &code).unwrap_or_default();
        let what = format!(
            "{name} {params:?} {}: {} at {at}: {} -> {}",
            spec.symbol(),
            KINDS[kind],
            program[at].text(),
            insns.get(at).map_or(String::new(), |(_, insn)| insn.text())
        );
        assert!(!(proved && wrong(spec, &code)), "PROVED BUT WRONG: {what}");
        let why = proved.then(|| reason(spec, &original, &code, at));
        let mut log = log.lock().expect("no thread panicked");
        log.0 += 1;
        let entry = log.3.entry(KINDS[kind]).or_default();
        entry.0 += 1;
        match why {
            None => {
                log.1 += 1;
                log.3.entry(KINDS[kind]).or_default().1 += 1;
            }
            Some(why) => log.2.push(format!("{what}: {why}")),
        }
    }
}
