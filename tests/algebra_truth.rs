//! Does the algebra domain tell the truth? Random programs run in it and on numbers.
//!
//! Every variable is evaluated on numbers: inputs are given, a sum by its definition, a carry
//! as the one number that keeps its sum within the bound. Then every variable must be within
//! its bound, and every register and carry flag must be the variable it is said to be.

use std::rc::Rc;

use lozenge::domain::Abstract;
use lozenge::domain::algebra::{Algebra, BitValue, Def, Value, VarId};
use lozenge::domain::concrete::Concrete;
use lozenge::domain::public::{Public, PublicBit};
use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::code::Insn;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::avr::instructions::Op;
use lozenge::isa::avr::machine::Avr;
use lozenge::isa::avr::run::Decoded;
use lozenge::vectors::Random;

/// Registers the programs use: r16 and up.
const REGISTERS: usize = 6;
const LENGTH: usize = 40;
const PROGRAMS: u64 = 4000;
/// Inputs for each program.
const INPUTS: usize = 12;

fn program(random: &mut Random) -> Vec<Insn> {
    let mut list = Vec::new();
    let register = |random: &mut Random| 16 + random.below(REGISTERS) as u8;
    for _ in 0..LENGTH {
        let (d, r) = (register(random), register(random));
        let two = [
            Op::ADD,
            Op::ADC,
            Op::SUB,
            Op::SBC,
            Op::AND,
            Op::OR,
            Op::EOR,
            Op::MOV,
            Op::CP,
            Op::CPC,
        ];
        let one = [
            Op::COM,
            Op::NEG,
            Op::LSR,
            Op::ROR,
            Op::ASR,
            Op::INC,
            Op::DEC,
        ];
        list.push(match random.below(20) {
            // Masks, doublings, carries into words: what signs are made of.
            0..4 => Insn::rr(Op::SBC, d, d),
            4..6 => Insn::rr([Op::ADD, Op::ADC][random.below(2)], d, d),
            6..9 => Insn::rr([Op::ADC, Op::SBC][random.below(2)], d, 2),
            9..11 => Insn::rr(one[random.below(one.len())], d, 0),
            11 => Insn::rr(Op::MUL, d, r),
            12 => Insn::rr(Op::EOR, d, d),
            _ => Insn::rr(two[random.below(two.len())], d, r),
        });
    }
    list
}

/// The value of each variable; `None` where it follows from nothing that is known.
fn evaluate(d: &Algebra, inputs: &[u64]) -> Vec<Option<i128>> {
    let mut values: Vec<Option<i128>> = vec![None; d.vars.len()];
    for (value, input) in values.iter_mut().zip(inputs) {
        *value = Some(i128::from(*input));
    }
    let number = |values: &[Option<i128>], x: Value| match x {
        Value::Public(Public::Known(k)) => Some(i128::from(k)),
        Value::Public(Public::Pointer { .. }) => None,
        Value::Var(v) => values[v as usize],
    };
    for v in 0..d.vars.len() {
        let bound = i128::from(d.vars[v].bound);
        match d.vars[v].def {
            Def::Free | Def::Carry => {}
            Def::Product { a, b } => {
                let product = (values[a as usize], values[b as usize]);
                values[v] = product.0.zip(product.1).map(|(a, b)| a * b);
            }
            Def::Low { a, b, hi, w } => {
                let product = number(&values, a).zip(number(&values, b));
                values[hi as usize] = product.map(|(a, b)| (a * b) >> w);
                values[v] = product.map(|(a, b)| (a * b) & ((1 << w) - 1));
            }
            Def::Linear {
                start,
                len,
                constant,
            } => {
                let terms = &d.terms[start as usize..][..usize::from(len)];
                let is_open =
                    |x: VarId| values[x as usize].is_none() && d.vars[x as usize].def == Def::Carry;
                let (open, given): (Vec<_>, Vec<_>) = terms.iter().partition(|(x, _)| is_open(*x));
                let sum = given.iter().try_fold(i128::from(constant), |sum, (x, k)| {
                    Some(sum + values[*x as usize]? * i128::from(*k))
                });
                let Some(sum) = sum else { continue };
                match open.as_slice() {
                    [] => values[v] = Some(sum),
                    // sum + k c in 0 ..= bound < |k|.
                    [(c, k)] if bound < i128::from(k.abs()) => {
                        let k = i128::from(*k);
                        let word = sum.rem_euclid(k.abs());
                        values[*c as usize] = Some((word - sum) / k);
                        values[v] = Some(word);
                    }
                    _ => {}
                }
            }
        }
    }
    for (v, value) in values.iter().enumerate() {
        if let Some(value) = value {
            let bound = i128::from(d.vars[v].bound);
            assert!((0..=bound).contains(value), "x{v} = {value}, bound {bound}");
        }
    }
    values
}

#[test]
fn every_variable_is_what_it_is_said_to_be() {
    let (mut compared, mut signs) = (0u64, 0u64);
    for seed in 0..PROGRAMS {
        let mut random = Random::new(seed);
        let list = program(&mut random);
        let code = AvrIsa::encode(&ATMEGA128, &list).expect("encodes");
        let mut m: Avr<Algebra> = Avr::new(Algebra::default(), 2, Rc::from(code.as_slice()));
        for i in 0..REGISTERS {
            m.r[16 + i] = m.d.unknown::<8>(format!("r{}", 16 + i));
        }
        m.r[2] = Value::ZERO;
        let decoded = Decoded::<Algebra>::new(&code, &ATMEGA128);
        let mut states = Vec::new();
        for _ in &list {
            decoded.step(&mut m).expect("runs");
            states.push((m.r, m.get_flag(0)));
        }
        for _ in 0..INPUTS {
            let edge = [0, 1, 2, 127, 128, 129, 254, 255];
            let inputs: Vec<u64> = (0..REGISTERS)
                .map(|_| match random.below(2) {
                    0 => edge[random.below(edge.len())],
                    _ => random.below(256) as u64,
                })
                .collect();
            let values = evaluate(&m.d, &inputs);
            let mut c: Avr<Concrete> = Avr::new(Concrete::new(0), 2, Rc::from(code.as_slice()));
            for (i, input) in inputs.iter().enumerate() {
                c.r[16 + i].0 = *input;
            }
            let decoded = Decoded::<Concrete>::new(&code, &ATMEGA128);
            for (at, (registers, carry)) in states.iter().enumerate() {
                decoded.step(&mut c).expect("runs");
                let line = || list[..=at].iter().map(Insn::text).collect::<Vec<_>>();
                for r in (0..2).chain(16..16 + REGISTERS) {
                    let said = match registers[r] {
                        Value::Public(Public::Known(k)) => Some(i128::from(k)),
                        Value::Public(Public::Pointer { .. }) => None,
                        Value::Var(v) => values[v as usize],
                    };
                    if let Some(said) = said {
                        compared += 1;
                        let is = i128::from(c.r[r].0);
                        assert_eq!(said, is, "r{r}, {inputs:?}: {:?}", line());
                    }
                }
                let said = match carry {
                    BitValue::Public(PublicBit::Known(b)) => Some(i128::from(*b)),
                    BitValue::Var(v) => values[*v as usize],
                    _ => None,
                };
                if let Some(said) = said {
                    signs += 1;
                    let is = i128::from(c.get_flag(0));
                    assert_eq!(said, is, "carry, {inputs:?}: {:?}", line());
                }
            }
        }
    }
    println!("{compared} words and {signs} carries compared");
    assert!(compared > 5_000_000 && signs > 1_000_000);
}
