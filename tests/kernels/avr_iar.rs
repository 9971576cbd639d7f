//! IAR's calling convention on AVR: every method, proved, and called on simavr by an oracle that
//! destroys what lies below the stack pointer of data before every instruction, as an interrupt may.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use lozenge::facts::Style;
use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::abi::IAR;
use lozenge::isa::avr::code::Insn;
use lozenge::isa::avr::cores::{ATMEGA128, ATMEGA2560, ATMEGA4809, ATTINY85, ATXMEGA32A4, Core};
use lozenge::isa::avr::instructions::Op;
use lozenge::kernel::{Error, Kernel, Request};
use lozenge::lower::{Lower, LowerError};
use lozenge::method::{METHODS, Params};
use lozenge::prove::Verdict;
use lozenge::spec::modulus::{Modular, Modulus};
use lozenge::spec::{Alias, Op as Operation, Spec};
use lozenge::{prove, vectors};
use num_bigint::BigUint;

use crate::kit::book::book;
use crate::kit::oracle::{self, HINT, SIMAVR};
use crate::kit::{any, ask, known, own, refused, tier};

fn iar(core: &Core) -> Core {
    core.called(&IAR)
}

fn request(op: Operation, bits: u32, method: &str, params: &Params) -> Request {
    let asked = Request {
        method: Some(method.into()),
        ..ask::of(op, bits)
    };
    ask::with(params, asked)
}

/// What the oracle saw in one call.
#[derive(PartialEq, Eq, Debug)]
struct Call {
    cycles: u64,
    data_stack: usize,
    return_stack: usize,
    broken: u32,
    result: BigUint,
}

fn hex(value: &BigUint, bytes: usize) -> String {
    let mut list = value.to_bytes_le();
    list.resize(bytes, 0);
    list.iter().map(|b| format!("{b:02x}")).collect()
}

/// Calls `code` on simavr; what it complains of if it stops.
fn calls(
    mcu: &str,
    spec: &Spec,
    code: &[u8],
    operands: &[Vec<BigUint>],
) -> Result<Vec<Call>, String> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(code).expect("it can be written");
    let lengths = spec.source_bytes();
    let source = |i: usize| lengths.get(i).copied().unwrap_or(0);
    let sizes = [spec.result_bytes(), source(0), source(1), source(2)].map(|n| n.to_string());
    let mut child = Command::new(oracle::built("simavr_iar", SIMAVR))
        .arg(mcu)
        .arg(file.path())
        .args(sizes)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{e}: {HINT}"));
    let mut text = format!("{}\n", operands.len());
    for pair in operands {
        let each = pair.iter().zip(&lengths).map(|(x, n)| hex(x, *n));
        text += &(each.collect::<Vec<_>>().join(" ") + "\n");
    }
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(text.as_bytes())
        .expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8(output.stdout).expect("text");
    let call = |line: &str| {
        let fields: Vec<_> = line.split(' ').collect();
        let bytes = fields[4].as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("hex"), 16);
        let bytes: Vec<u8> = bytes.map(|pair| byte(pair).expect("hex")).collect();
        Call {
            cycles: fields[0].parse().expect("cycles"),
            data_stack: fields[1].parse().expect("bytes"),
            return_stack: fields[2].parse().expect("bytes"),
            broken: u32::from_str_radix(fields[3].trim_start_matches("0x"), 16).expect("a mask"),
            result: BigUint::from_bytes_le(&bytes),
        }
    };
    let list: Vec<_> = text.lines().map(call).collect();
    assert_eq!(list.len(), operands.len());
    Ok(list)
}

/// Result, cycles, stacks and registers on simavr are as the kernel's report says.
fn agrees(core: &Core, kernel: &Kernel, name: &str) {
    let operands = vectors::of(&kernel.spec, 6, 77);
    let seen = calls(core.name, &kernel.spec, &kernel.code, &operands);
    let stack = kernel.proof.stack;
    for (call, pair) in seen
        .unwrap_or_else(|e| panic!("{name}: {e}"))
        .into_iter()
        .zip(&operands)
    {
        let want = Call {
            cycles: kernel.cost.call.max,
            data_stack: stack.bytes,
            return_stack: stack.returns.expect("a stack of its own"),
            broken: 0,
            result: kernel.spec.value(pair),
        };
        assert_eq!(call, want, "{name}: {pair:x?}");
    }
}

/// Cells of each operation proved and refused.
#[test]
fn every_method_in_iars_convention() {
    let cores = [&ATMEGA128, &ATMEGA2560];
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut proved: BTreeMap<&str, usize> = BTreeMap::new();
    let mut turns = tier::Turns::default();
    for op in [
        Operation::Mul,
        Operation::Sqr,
        Operation::Mullo,
        Operation::Mulhi,
    ] {
        for (i, bits) in [8, 24, 64, 96].into_iter().enumerate() {
            let core = iar(cores[i % 2]);
            let spec = Spec::new(op, bits, 8).expect("a spec");
            for method in METHODS.iter().filter(|m| m.computes(op)) {
                let sets = (method.defaults)(&spec, &AvrIsa::facts(&core));
                let count = sets.len().max(1);
                // The first, the middle and the last.
                for params in sets.iter().step_by(count.div_ceil(3)) {
                    if turns.skips() {
                        continue;
                    }
                    let name = format!(
                        "{} {bits} {} {params:?} on {}",
                        op.name(),
                        method.name,
                        core.name
                    );
                    match known::generate(&request(op, bits, method.name, params), &any(&core)) {
                        Ok(kernel) => {
                            assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
                            assert_eq!(kernel.proof.stack.returns, Some(0), "{name}");
                            agrees(&core, &kernel, &name);
                            *proved.entry(method.name).or_default() += 1;
                        }
                        Err(error @ (Error::Lower { .. } | Error::Method(_))) => {
                            *refused.entry(error.to_string()).or_default() += 1;
                        }
                        Err(error) => panic!("{name}: {error}"),
                    }
                }
            }
        }
    }
    let cells: usize = proved.values().sum();
    println!("{cells} proved: {proved:?}\nrefused: {refused:#?}");
    assert!(
        cells >= tier::least(100) && proved.len() >= tier::least(12),
        "{cells} cells, {} methods",
        proved.len()
    );
}

/// Large kernels, and cores whose cycles simavr does not count.
#[test]
fn sizes_that_are_used() {
    let set = |list: &[(&'static str, usize)]| list.iter().copied().collect::<Params>();
    let cells = [
        (
            &ATMEGA128,
            Operation::Mul,
            160,
            "operand-caching",
            set(&[("e", 9)]),
        ),
        (
            &ATMEGA2560,
            Operation::Mul,
            192,
            "product-scanning",
            set(&[]),
        ),
        (
            &ATMEGA128,
            Operation::Mul,
            256,
            "consecutive-operand-caching",
            set(&[("e", 8)]),
        ),
        (
            &ATMEGA128,
            Operation::Mul,
            256,
            "karatsuba",
            set(&[("levels", 1)]),
        ),
        (
            &ATMEGA2560,
            Operation::Sqr,
            256,
            "sliding-block-doubling",
            set(&[("e", 8), ("c", 4)]),
        ),
        (
            &ATMEGA128,
            Operation::Mul,
            512,
            "karatsuba",
            set(&[("levels", 2)]),
        ),
        (
            &ATMEGA4809,
            Operation::Mul,
            128,
            "operand-caching",
            set(&[("e", 8)]),
        ),
        (
            &ATXMEGA32A4,
            Operation::Mul,
            128,
            "karatsuba",
            set(&[("levels", 1)]),
        ),
    ];
    for (core, op, bits, method, params) in tier::some(cells, 1) {
        let name = format!("{} {bits} {method} on {}", op.name(), core.name);
        let kernel = known::generate(&request(op, bits, method, &params), &any(&iar(core)));
        let kernel = kernel.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
        assert_eq!(kernel.abi, "IAR AVR, data stack in Y");
        if ["atmega128", "atmega2560"].contains(&core.name) {
            agrees(core, &kernel, &name);
        }
    }
}

/// The book's figure.
#[test]
fn what_the_stack_pointer_costs() {
    let params = Params::from([("levels", 2)]).with(ask::plan("k160-a"));
    let request = request(Operation::Mul, 160, "karatsuba", &params);
    let kernel = known::generate(&request, &any(&iar(&ATMEGA128))).expect("a kernel");
    assert!(kernel.is_proved());
    let told = format!("Karatsuba takes {} cycles", kernel.cost.body.max);
    assert!(book().contains(&told), "{told}");
}

/// Loops of bands take two pointers: that of A waits in a pair.
#[test]
fn bands_in_loops() {
    let (mul, sqr) = ("reverse-hybrid", "square-reverse-hybrid");
    for (op, method, style, d, unroll, words) in [
        (
            Operation::Mul,
            mul,
            Style::Rolled,
            4,
            4,
            &[3, 4, 8, 21, 32][..],
        ),
        (Operation::Mul, mul, Style::Rolled, 7, 2, &[7, 16, 64]),
        (Operation::Mul, mul, Style::Looped, 5, 1, &[5, 12, 20]),
        (Operation::Sqr, sqr, Style::Rolled, 4, 4, &[1, 4, 9, 21, 32]),
        (Operation::Sqr, sqr, Style::Rolled, 6, 3, &[6, 20, 64]),
        (Operation::Sqr, sqr, Style::Looped, 5, 5, &[5, 16, 23]),
    ] {
        for (i, n) in words.iter().enumerate() {
            let core = [&ATMEGA128, &ATMEGA2560][i % 2];
            let name = format!("{op:?} of {n} words, {method} d={d} unroll={unroll}, {style:?}");
            let params = [("d", d), ("unroll", unroll)].into();
            let styled = Request {
                style: Some(style),
                ..request(op, 8 * n, method, &params)
            };
            let kernel = known::generate(&styled, &any(&iar(core)));
            let kernel = kernel.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
            assert_eq!(kernel.style, style, "{name}");
            agrees(core, &kernel, &name);
        }
    }
    // Where both operands slide, or a frame is walked through, two pointers are not enough.
    for (method, style) in [
        ("operand-caching", Style::Looped),
        ("karatsuba-calls", Style::Rolled),
    ] {
        let styled = Request {
            style: Some(style),
            ..request(Operation::Mul, 256, method, &Params::new())
        };
        let error = known::generate(&styled, &any(&iar(&ATMEGA128))).err();
        let error = error.expect("refused");
        let Error::Lower { error, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(*error, LowerError::ThreePointers);
    }
}

fn code(insns: &[Insn]) -> Vec<u8> {
    AvrIsa::encode(&ATMEGA128, insns).expect("they can be encoded")
}

/// Code that is right on numbers and borrows Y, or moves it otherwise than in one step, is refused
/// with the reason; what uses it as a stack pointer is not.
#[test]
fn y_is_never_borrowed() {
    let core = iar(&ATMEGA128);
    let spec = Spec::new(Operation::Mul, 8, 8).expect("a spec");
    let rr = Insn::rr;
    // r = a * b through X and Z.
    let body = [
        rr(Op::MOVW, 30, 18),
        Insn::dk(Op::LDDZ, 22, 0),
        rr(Op::MOVW, 30, 20),
        Insn::dk(Op::LDDZ, 23, 0),
        rr(Op::MUL, 22, 23),
        rr(Op::MOVW, 30, 16),
        Insn::rk(Op::STDZ, 0, 0),
        Insn::rk(Op::STDZ, 1, 1),
    ];
    let around = |before: &[Insn], after: &[Insn]| {
        let ret = [rr(Op::RET, 0, 0)];
        let code = code(&[before, &body, after, &ret].concat());
        prove::prove(&spec, &any(&core), &code, Alias::Distinct)
    };
    let (push, pop) = (|r| rr(Op::PUSH, 0, r), |r| rr(Op::POP, r, 0));
    let allowed: [(&[Insn], &[Insn]); 4] = [
        (&[], &[]),
        (
            &[Insn::rk(Op::STY_DEC, 5, 0)],
            &[Insn::dk(Op::LDY_INC, 5, 0)],
        ),
        (&[Insn::dk(Op::SBIW, 28, 63)], &[Insn::dk(Op::ADIW, 28, 63)]),
        (
            &[Insn::dk(Op::SBIW, 28, 2), Insn::rk(Op::STDY, 16, 1)],
            &[Insn::dk(Op::LDDY, 16, 1), Insn::dk(Op::ADIW, 28, 2)],
        ),
    ];
    for (before, after) in allowed {
        let proof = around(before, after);
        assert!(proof.holds(), "{before:?}: {proof:?}");
    }
    let subtract = |low: i32| [Insn::dk(Op::SUBI, 28, low), Insn::dk(Op::SBCI, 29, 0)];
    let add = |low: i32| {
        [
            Insn::dk(Op::SUBI, 28, -low & 0xff),
            Insn::dk(Op::SBCI, 29, 0xff),
        ]
    };
    let forbidden: Vec<(&str, Vec<Insn>, Vec<Insn>)> = vec![
        (
            "saved, borrowed for an operand, restored",
            vec![push(28), push(29), rr(Op::MOVW, 28, 18)],
            vec![pop(29), pop(28)],
        ),
        (
            "moved in two steps",
            subtract(70).to_vec(),
            add(70).to_vec(),
        ),
        (
            "above what the caller has",
            vec![Insn::dk(Op::ADIW, 28, 1)],
            vec![Insn::dk(Op::SBIW, 28, 1)],
        ),
        (
            "a number",
            vec![push(28), Insn::dk(Op::LDI, 28, 7)],
            vec![pop(28)],
        ),
        (
            "the other stack",
            vec![push(28), push(29), Insn::dk(Op::IN, 28, 0x3d)],
            vec![pop(29), pop(28)],
        ),
        ("not restored", vec![Insn::rk(Op::STY_DEC, 5, 0)], vec![]),
        (
            "below the pointer",
            vec![
                Insn::rk(Op::STY_DEC, 16, 0),
                Insn::dk(Op::LDY_INC, 16, 0),
                Insn::dk(Op::SBIW, 28, 1),
            ],
            vec![
                Insn::dk(Op::ADIW, 28, 1),
                Insn::dk(Op::LDDY, 16, 0),
                Insn::rk(Op::STDY, 16, 0),
            ],
        ),
        (
            "r1 is 0 for nobody, r4 is not restored",
            vec![rr(Op::EOR, 4, 4)],
            vec![],
        ),
        ("X is not restored", vec![rr(Op::MOVW, 26, 18)], vec![]),
    ];
    for (what, before, after) in forbidden {
        let proof = around(&before, &after);
        let refused = matches!(proof.abi, Verdict::Disproved(_))
            || matches!(proof.memory, Verdict::Disproved(_));
        assert!(refused, "{what}: {proof:?}");
    }
    // What avr-gcc may call is not what IAR may call, and the other way round.
    for (made, judge) in [
        (ATMEGA128.clone(), core.clone()),
        (core.clone(), ATMEGA128.clone()),
    ] {
        let wanted = request(
            Operation::Mul,
            64,
            "operand-caching",
            &[("e", 10)].into_iter().collect(),
        );
        let kernel = known::generate(&wanted, &any(&made)).expect("a kernel");
        assert!(kernel.is_proved());
        let proof = prove::prove(&kernel.spec, &any(&judge), &kernel.code, Alias::Distinct);
        assert!(!proof.holds(), "{proof:?}");
    }
}

/// Single-instruction faults: all that are still proved pass the oracle.
#[test]
fn mutants_are_rejected() {
    let core = iar(&ATMEGA128);
    let (mut tried, mut kept) = (0, 0);
    for (op, bits, method) in [
        (Operation::Mul, 32, "operand-caching"),
        (Operation::Mul, 64, "karatsuba"),
        (Operation::Sqr, 48, "sliding-block-doubling"),
    ] {
        let kernel = known::generate(&request(op, bits, method, &Params::new()), &any(&core));
        let kernel = kernel.expect("a kernel");
        let operands = vectors::operands(&kernel.spec.source_bytes(), 24, 5);
        let insns: &Vec<Insn> = &own(&kernel.program.insns);
        for at in 0..insns.len() {
            let mut list = Vec::new();
            let mut without = insns.clone();
            without.remove(at);
            list.push(without);
            let other = match insns[at].op {
                Op::STY_DEC => Some(Op::STY_INC),
                Op::LDY_INC => Some(Op::LDY_DEC),
                Op::SBIW => Some(Op::ADIW),
                Op::ADIW => Some(Op::SBIW),
                Op::LDDY => Some(Op::LDDZ),
                Op::STDY => Some(Op::STDZ),
                Op::ADC => Some(Op::ADD),
                Op::MUL => Some(Op::MOV),
                _ => None,
            };
            if let Some(op) = other {
                let mut changed = insns.clone();
                changed[at].op = op;
                list.push(changed);
            }
            if at + 1 < insns.len() && at % 2 == 0 {
                let mut swapped = insns.clone();
                swapped.swap(at, at + 1);
                list.push(swapped);
            }
            for mutant in list.iter().filter(|m| *m != insns) {
                let code = code(mutant);
                tried += 1;
                if !prove::prove(&kernel.spec, &any(&core), &code, Alias::Distinct).holds() {
                    continue;
                }
                kept += 1;
                let seen = calls("atmega128", &kernel.spec, &code, &operands);
                let seen = seen.unwrap_or_else(|e| panic!("{method}: proved, but {e} at {at}"));
                for (call, pair) in seen.iter().zip(&operands) {
                    let right = call.broken == 0 && call.result == kernel.spec.value(pair);
                    assert!(right, "{method}: proved, but instruction {at}: {call:x?}");
                }
            }
        }
    }
    println!("{tried} mutants, {kept} equivalent");
    assert!(
        tried > 700 && kept < tried / 4,
        "{kept} of {tried} are proved"
    );
}

/// Two nested loops and loops of sums do with X and Z, with a multiplier and without one, and the frame is on Y's stack.
#[test]
fn columns_in_loops() {
    let square = "square-product-scanning";
    for core in [&ATMEGA128, &ATMEGA2560, &ATTINY85] {
        for (op, bits, method, params) in [
            (Operation::Mul, 72, "hybrid", &[("d", 3)][..]),
            (Operation::Mul, 56, "operand-scanning", &[("unroll", 2)]),
            (Operation::Sqr, 80, square, &[("unroll", 4)]),
            (Operation::Montsqr, 64, "hfips", &[("d", 4)]),
            (Operation::Modadd, 104, "carry-chain", &[]),
            (Operation::Modsub, 64, "carry-chain", &[]),
            (Operation::Modneg, 72, "carry-chain", &[]),
        ] {
            let name = format!("{op:?} {bits} {method} on {}", core.name);
            let params = params.iter().copied().collect();
            let modular = Modular::full(Modulus::Runtime);
            let request = Request {
                style: Some(Style::Rolled),
                modular: op.is_modular().then_some(modular),
                ..request(op, bits, method, &params)
            };
            let kernel = known::generate(&request, &any(&iar(core))).expect("a kernel");
            assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
            // An ATtiny85 has no room for the oracle's stacks.
            let chip = if core.multiplies() { core } else { &ATMEGA128 };
            agrees(chip, &kernel, &name);
        }
    }
}

/// On a part without a multiplier a method in this convention is loops or additions, or says why not.
#[test]
fn parts_without_a_multiplier() {
    let core = iar(&ATTINY85);
    let spec = Spec::new(Operation::Mul, 64, 8).expect("a spec");
    let mut made = Vec::new();
    for method in METHODS.iter().filter(|m| m.computes(Operation::Mul)) {
        let sets = (method.defaults)(&spec, &AvrIsa::facts(&core));
        let params = sets.last().cloned().unwrap_or_default();
        match known::generate(
            &request(Operation::Mul, 64, method.name, &params),
            &any(&core),
        ) {
            Ok(kernel) => {
                agrees(&ATMEGA128, &kernel, method.name);
                made.extend(kernel.is_proved().then_some(method.name));
            }
            Err(error) => {
                let why = refused::instead(&error);
                let names = [
                    "MUL is not an instruction",
                    "three pointers",
                    "--style rolled",
                    "a multiplier that one factor stops early",
                ];
                assert!(names.iter().any(|text| why.contains(text)), "{why}");
            }
        }
    }
    let scanning = ["hybrid", "product-scanning", "operand-scanning"];
    assert_eq!(made, [&scanning[..], &["shift-and-add"]].concat());
}
