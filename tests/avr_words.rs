//! Karatsuba on an AVR: every candidate of the lowering, on structured operands.

use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel;
use lozenge::method;
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors;

/// Runs every program of every plan for these sizes; counts them.
fn every_candidate(words: &[usize]) -> usize {
    let method = method::find("karatsuba").expect("method");
    let core = &ATMEGA128;
    let facts = AvrIsa::facts(core);
    let mut count = 0;
    for &n in words {
        let spec = Spec::new(Op::Mul, 8 * n as u32, 8).expect("a size");
        for params in (method.defaults)(&spec, &facts) {
            let cell = format!("{params:?} n={n}");
            let schedule = (method.schedule)(&spec, &facts, &params).expect("a schedule");
            schedule.check().unwrap_or_else(|e| panic!("{cell}: {e}"));
            let programs = AvrIsa::lower(&schedule, core).unwrap_or_else(|e| panic!("{cell}: {e}"));
            for (i, program) in programs.iter().enumerate() {
                let code = AvrIsa::encode(core, &program.insns).expect("encodes");
                let wrong =
                    kernel::counterexample::<AvrIsa>(&spec, core, &code, Alias::Distinct, 60);
                assert_eq!(wrong, None, "{cell}, candidate {i}");
                count += 1;
            }
            let _ = vectors::pairs(1, 1, 1);
        }
    }
    count
}

#[test]
fn small_karatsuba() {
    let all: Vec<_> = (2..=40).collect();
    println!("{} programs", every_candidate(&all));
}

/// Runs items on numbers and compares every value with the schedule's.
fn trace(n: usize, levels: usize, early: usize, choices: lozenge::isa::avr::words::Choices) {
    use lozenge::isa::avr::instructions::Op as O;
    use lozenge::isa::avr::pointers::{Array, Item};
    use lozenge::isa::avr::words::Lowering;
    use lozenge::schedule::Schedule;
    let method = method::find("karatsuba").expect("method");
    let spec = Spec::new(Op::Mul, 8 * n as u32, 8).expect("a size");
    let params = method::Params::from([("levels", levels), ("early", early)]);
    let Schedule::Words(words) =
        (method.schedule)(&spec, &AvrIsa::facts(&ATMEGA128), &params).expect("s")
    else {
        panic!()
    };
    let mut order: Vec<_> = lozenge::isa::avr::columns::ORDER
        .iter()
        .map(|r| (*r, 0))
        .collect();
    order.extend([(26, 40), (27, 40), (30, 50), (31, 50)]);
    let l = Lowering::of(&words, &order, choices).expect("l");
    for [a, b] in vectors::pairs(n, 60, 5) {
        let cut = |x: &num_bigint::BigUint| {
            let mut v = x.to_bytes_le();
            v.resize(n, 0);
            v.iter().map(|x| *x as u64).collect::<Vec<_>>()
        };
        let ops = vec![cut(&a), cut(&b)];
        let values = words.evaluate(&ops);
        let mut r = [0xa5u64; 32];
        let mut mem = std::collections::HashMap::new();
        let mut c = 0u64;
        let mut at: std::collections::HashMap<usize, Vec<(usize, u8)>> = Default::default();
        for (w, x) in l.written.iter().enumerate() {
            if let Some((i, reg)) = x {
                at.entry(*i).or_default().push((w, *reg));
            }
        }
        for (i, item) in l.items.iter().enumerate() {
            match item {
                Item::Load { array, offset, reg } => {
                    r[*reg as usize] = match array {
                        Array::A => ops[0][*offset],
                        Array::B => ops[1][*offset],
                        _ => mem[&(format!("{array:?}"), *offset)],
                    }
                }
                Item::Store { array, offset, reg } => {
                    mem.insert((format!("{array:?}"), *offset), r[*reg as usize]);
                }
                Item::Insn(insn) => {
                    let (d, s) = (insn.ops.d as usize, insn.ops.r as usize);
                    match insn.op {
                        O::ADD => {
                            let t = r[d] + r[s];
                            r[d] = t & 255;
                            c = t >> 8;
                        }
                        O::ADC => {
                            let t = r[d] + r[s] + c;
                            r[d] = t & 255;
                            c = t >> 8;
                        }
                        O::SUB => {
                            let t = r[d].wrapping_sub(r[s]);
                            r[d] = t & 255;
                            c = t >> 8 & 1;
                        }
                        O::SBC => {
                            let t = r[d].wrapping_sub(r[s]).wrapping_sub(c);
                            r[d] = t & 255;
                            c = t >> 8 & 1;
                        }
                        O::AND => r[d] &= r[s],
                        O::EOR => r[d] ^= r[s],
                        O::MOV => r[d] = r[s],
                        O::MOVW => {
                            r[d] = r[s];
                            r[d + 1] = r[s + 1];
                        }
                        O::MUL => {
                            let t = r[d] * r[s];
                            r[0] = t & 255;
                            r[1] = t >> 8;
                            c = t >> 15;
                        }
                        _ => panic!("{insn:?}"),
                    }
                }
            }
            for (w, reg) in at.get(&i).into_iter().flatten() {
                assert_eq!(
                    r[*reg as usize],
                    values[*w],
                    "value {w} at item {i} in r{reg}: {:?}\n{:?}",
                    item,
                    &l.items[i.saturating_sub(14)..=i]
                );
            }
        }
    }
}

#[test]
fn traces() {
    trace(
        6,
        2,
        0,
        lozenge::isa::avr::words::Choices {
            clear_pairs: true,
            weight: 4,
            pair: 20,
            reserve: 0,
            seed: 0,
        },
    );
}
#[test]
fn dump() {
    let method = method::find("karatsuba").expect("method");
    let spec = Spec::new(Op::Mul, 48, 8).expect("a size");
    let params = method::Params::from([("levels", 2), ("early", 0)]);
    let schedule = (method.schedule)(&spec, &AvrIsa::facts(&ATMEGA128), &params).expect("s");
    let programs = AvrIsa::lower(&schedule, &ATMEGA128).expect("p");
    for (at, insn) in programs[4].insns.iter().enumerate() {
        println!("{at} {}", AvrIsa::text(insn));
    }
}
