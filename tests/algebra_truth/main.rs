//! Does the algebra domain tell the truth? Random programs run in it and on numbers.
//!
//! Every variable is evaluated on numbers: inputs are given, a sum by its definition, a carry
//! as the one number that keeps its sum within the bound. Then every variable must be within
//! its bound, and every register and carry flag must be the variable it is said to be.

mod arm;
mod avr;
mod compare;
mod lies;
mod machines;
mod mips;
mod mutants;
mod numbers;
mod programs;

use std::rc::Rc;

use lozenge::domain::abstract_memory::Region;
use lozenge::domain::algebra::{Algebra, BitValue, Def, Value, VarId};
use lozenge::domain::concrete::Concrete;
use lozenge::domain::public::{Public, PublicBit};
use lozenge::domain::secret::Secret;
use lozenge::domain::{Abstract, Address, Base, Domain, Logic, Shift, Signs};
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
const LENGTH: usize = 60;
const PROGRAMS: u64 = 4000;
/// Inputs for each program.
const INPUTS: usize = 12;

fn program(random: &mut Random) -> Vec<Insn> {
    let mut list = Vec::new();
    let register = |random: &mut Random| match random.below(10) {
        r @ 0..2 => r as u8,
        _ => 16 + random.below(REGISTERS) as u8,
    };
    while list.len() < LENGTH {
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
        // What the joint bounds are for: columns, and their doubling.
        if random.below(8) == 0 {
            let low = 16 + random.below(2) as u8;
            list.extend([
                Insn::rr(Op::MUL, d, r),
                Insn::rr(Op::ADD, low, 0),
                Insn::rr(Op::ADC, low + 1, 1),
                Insn::rr(Op::ADC, low + 2, 2),
            ]);
        }
        if random.below(8) == 0 {
            let doubled = [Op::ADD, Op::ADC, Op::ADC].into_iter().zip(16..);
            list.extend(doubled.map(|(op, r)| Insn::rr(op, r, r)));
        }
        if random.below(16) == 0 {
            list.extend((16..20).map(|r| Insn::rr(Op::EOR, r, r)));
        }
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
        Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => None,
        Value::Var(v) => values[v as usize],
    };
    // A word that was cut may be solved after the words that it was cut into: in a later round.
    const ROUNDS: usize = 3;
    for v in (0..ROUNDS).flat_map(|_| 0..d.vars.len()) {
        if values[v].is_some() {
            continue;
        }
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

/// The carries that are said to be 0 in every run.
fn never_set(d: &Algebra) -> Vec<VarId> {
    let carries = (0..d.vars.len() as VarId).filter(|v| d.vars[*v as usize].def == Def::Carry);
    carries.filter(|v| d.is_never_set(*v)).collect()
}

fn are_zero(carries: &[VarId], values: &[Option<i128>]) {
    for v in carries {
        let value = values[*v as usize].unwrap_or(0);
        assert_eq!(value, 0, "the carry x{v} is never set");
    }
}

#[test]
fn every_variable_is_what_it_is_said_to_be() {
    let (mut compared, mut signs, mut lost) = (0u64, 0u64, 0u64);
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
        let zeros = never_set(&m.d);
        lost += zeros.len() as u64;
        for _ in 0..INPUTS {
            let edge = [0, 1, 2, 127, 128, 129, 254, 255];
            let inputs: Vec<u64> = (0..REGISTERS)
                .map(|_| match random.below(2) {
                    0 => edge[random.below(edge.len())],
                    _ => random.below(256) as u64,
                })
                .collect();
            let values = evaluate(&m.d, &inputs);
            are_zero(&zeros, &values);
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
                        Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => None,
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
    println!("{compared} words and {signs} carries compared, {lost} carries never set");
    assert!(compared > 5_000_000 && signs > 1_000_000);
}

/// One step of a program without flags, on the words `i` and `j`, into `k`.
type Step = (usize, [usize; 3]);

fn plain<D: Domain, const W: u32>(
    d: &mut D,
    up: bool,
    a: &D::Word<W>,
    b: &D::Word<W>,
) -> D::Word<W> {
    let off = d.flag(false);
    match up {
        true => d.add::<W>(a, b, &off).word,
        false => d.sub::<W>(a, b, &off).word,
    }
}

/// `a < b` as a word.
fn less<D: Domain, const W: u32>(d: &mut D, a: &D::Word<W>, b: &D::Word<W>) -> D::Word<W> {
    let (zero, off) = (d.known::<W>(0), d.flag(false));
    let bit = d.sub::<W>(a, b, &off).carry;
    d.with_bit::<W>(&zero, 0, &bit)
}

fn take<D: Domain, const W: u32>(d: &mut D, words: &mut [D::Word<W>], (op, at): Step) {
    let [i, j, k] = at;
    let (a, b, c) = (words[i].clone(), words[j].clone(), words[k].clone());
    let zero = d.known::<W>(0);
    let logic = [Logic::And, Logic::Or, Logic::Xor];
    words[k] = match op {
        0 => plain(d, true, &a, &b),
        1 => plain(d, false, &a, &b),
        2 | 3 => less(d, &a, &b),
        4..7 => d.logic::<W>(logic[op - 4], &a, &b),
        7 => d.shift::<W>(Shift::Left, &a, 1).0,
        8 => d.shift::<W>(Shift::Right, &a, W - 1).0,
        9 => d.shift::<W>(Shift::ArithmeticRight, &a, W - 1).0,
        10 | 11 => plain(d, false, &zero, &a),
        12 => {
            let (lo, hi) = d.mul::<W>(&a, &b, Signs::Unsigned);
            words[i] = lo;
            hi
        }
        // The carry of a + b + c, the borrow of a - b - c in two ways.
        13..16 => {
            let s = plain(d, op == 13, &a, &b);
            let t = plain(d, op == 13, &s, &c);
            let (first, second) = match op {
                13 => (less(d, &s, &b), less(d, &t, &c)),
                _ => (less(d, &a, &b), less(d, &s, &c)),
            };
            words[j] = t;
            match op {
                15 => d.logic::<W>(Logic::Or, &first, &second),
                _ => plain(d, true, &first, &second),
            }
        }
        _ => {
            let t = plain(d, true, &b, &c);
            let first = less(d, &t, &c);
            let second = less(d, &a, &t);
            words[j] = plain(d, false, &a, &t);
            plain(d, true, &first, &second)
        }
    };
}

/// Compares `programs` programs over words of `W` bits; returns how many words were compared, and how
/// many carries are never set.
fn compare_plain<const W: u32>(programs: u64) -> [u64; 2] {
    let (mut compared, mut lost) = (0, 0);
    for seed in 0..programs {
        let mut random = Random::new(seed);
        let mut index = || random.below(REGISTERS);
        let places: Vec<_> = (0..LENGTH).map(|_| [index(), index(), index()]).collect();
        let steps: Vec<Step> = (places.into_iter())
            .map(|at| (random.below(17), at))
            .collect();
        let mut d = Algebra::default();
        let mut words: Vec<Value> = (0..REGISTERS)
            .map(|i| d.unknown::<W>(format!("x{i}")))
            .collect();
        let mut states = Vec::new();
        for step in &steps {
            take::<Algebra, W>(&mut d, &mut words, *step);
            states.push(words.clone());
        }
        let zeros = never_set(&d);
        lost += zeros.len() as u64;
        for _ in 0..INPUTS {
            let full = (1u64 << W) - 1;
            let edge = [0, 1, full / 2, full / 2 + 1, full - 1, full];
            let inputs: Vec<u64> = (0..REGISTERS)
                .map(|_| match random.below(2) {
                    0 => edge[random.below(edge.len())],
                    _ => (random.below(1 << 16) << 16 | random.below(1 << 16)) as u64 & full,
                })
                .collect();
            let values = evaluate(&d, &inputs);
            are_zero(&zeros, &values);
            let mut c = Concrete::new(0);
            let mut numbers: Vec<_> = inputs.iter().map(|x| c.known::<W>(*x)).collect();
            for (at, (step, state)) in steps.iter().zip(&states).enumerate() {
                take::<Concrete, W>(&mut c, &mut numbers, *step);
                for (said, is) in state.iter().zip(&numbers) {
                    let said = match said {
                        Value::Public(Public::Known(k)) => Some(i128::from(*k)),
                        Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => None,
                        Value::Var(v) => values[*v as usize],
                    };
                    if let Some(said) = said {
                        compared += 1;
                        assert_eq!(said, i128::from(is.0), "{inputs:?}: {:?}", &steps[..=at]);
                    }
                }
            }
        }
    }
    [compared, lost]
}

#[test]
fn words_without_flags_are_what_they_are_said_to_be() {
    let ([bytes, a], [words, b]) = (compare_plain::<8>(PROGRAMS), compare_plain::<32>(PROGRAMS));
    println!(
        "{} words compared, {} carries never set",
        bytes + words,
        a + b
    );
    assert!(bytes + words > 10_000_000);
}

/// Bytes of the memory that is written and read in words of all widths.
const BYTES: usize = 12;

/// Writes word `k` at `at`, or reads it there, in words of `W` bits.
fn access<D: Domain, const W: u32>(
    d: &mut D,
    words: &mut [D::Word<32>],
    load: bool,
    [at, k]: [usize; 2],
) {
    let place = Address {
        base: Base::ABSOLUTE,
        offset: (at - at % (W as usize / 8)) as i64,
    };
    if load {
        let word = d.load::<W>(place).expect("lies in the region");
        words[k] = d.extend::<W, 32>(&word, false);
    } else {
        let word = d.slice::<32, W>(&words[k], 0);
        d.store::<W>(place, &word).expect("lies in the region");
    }
}

fn access_any<D: Domain>(
    d: &mut D,
    words: &mut [D::Word<32>],
    (width, load, at): (u32, bool, [usize; 2]),
) {
    match width {
        0 => access::<D, 8>(d, words, load, at),
        1 => access::<D, 16>(d, words, load, at),
        _ => access::<D, 32>(d, words, load, at),
    }
}

/// Words are written and read in other widths, aligned as the machines insist, in both byte orders.
#[test]
fn memory_is_what_it_is_said_to_be() {
    let mut compared = 0;
    for seed in 0..PROGRAMS {
        let mut random = Random::new(seed);
        let big_endian = seed % 2 == 1;
        let steps: Vec<_> = (0..LENGTH)
            .map(|_| {
                let load = random.below(2) == 0;
                let at = [random.below(BYTES), random.below(REGISTERS)];
                (random.below(3) as u32, load, at)
            })
            .collect();
        let mut d = Algebra::default();
        d.environment(Vec::new(), 1, big_endian);
        d.declare(Base::ABSOLUTE, Region::operand("m", BYTES, true));
        let mut words: Vec<Value> = (0..REGISTERS)
            .map(|i| d.unknown::<32>(format!("x{i}")))
            .collect();
        for offset in (0..BYTES as i64).step_by(4) {
            let base = Base::ABSOLUTE;
            d.store::<32>(Address { base, offset }, &Value::ZERO)
                .expect("lies in the region");
        }
        let mut states = Vec::new();
        for step in &steps {
            access_any(&mut d, &mut words, *step);
            states.push(words.clone());
        }
        for _ in 0..2 {
            let edge = [0, 1, 0x7fff_ffff, 0x8000_0000, 0x00ff_ff00, 0xffff_ffff];
            let inputs: Vec<u64> = (0..REGISTERS)
                .map(|_| match random.below(3) {
                    0 => edge[random.below(edge.len())],
                    _ => (random.below(1 << 16) << 16 | random.below(1 << 16)) as u64,
                })
                .collect();
            let values = evaluate(&d, &inputs);
            let mut c = Concrete::new(BYTES);
            c.big_endian = big_endian;
            let mut numbers: Vec<_> = inputs.iter().map(|x| c.known::<32>(*x)).collect();
            for (at, (step, state)) in steps.iter().zip(&states).enumerate() {
                access_any(&mut c, &mut numbers, *step);
                for (said, is) in state.iter().zip(&numbers) {
                    let said = match said {
                        Value::Public(Public::Known(k)) => Some(i128::from(*k)),
                        Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => None,
                        Value::Var(v) => values[*v as usize],
                    };
                    let said = said.expect("every piece of a word is followed");
                    compared += 1;
                    assert_eq!(said, i128::from(is.0), "{inputs:x?}: {:?}", &steps[..=at]);
                }
            }
        }
    }
    println!("{compared} words compared");
    assert!(compared > 1_000_000);
}

/// `base + x < base + y` in parts of `W` bits, as a machine compares them.
fn below<D: Abstract, const W: u32>(d: &mut D, base: Base, [x, y]: [i64; 2]) -> Option<bool> {
    let mut borrow = d.flag(false);
    for part in 0..if W == 8 { 2 } else { 1 } {
        let [x, y] = [x, y].map(|offset| d.pointer::<W>(base, offset, part));
        borrow = d.sub::<W>(&x, &y, &borrow).carry;
    }
    d.decide(&borrow).ok()
}

/// Within an operand and at its end addresses have an order; elsewhere only equal ones.
#[test]
fn addresses_of_an_operand_have_an_order() {
    const LEN: i64 = 300;
    fn all<D: Abstract, const W: u32>(mut d: D) {
        let base = Base(Base::FIRST_OPERAND);
        d.declare(base, Region::operand("a", LEN as usize, false));
        let offsets = [
            -257,
            -256,
            -1,
            0,
            1,
            2,
            255,
            256,
            257,
            LEN - 1,
            LEN,
            LEN + 1,
            512,
        ];
        for x in offsets {
            for y in offsets {
                let inside = [x, y].iter().all(|at| (0..=LEN).contains(at));
                let want = (inside || x == y).then_some(x < y);
                assert_eq!(below::<D, W>(&mut d, base, [x, y]), want, "{x} < {y}");
            }
        }
    }
    all::<Algebra, 8>(Algebra::default());
    all::<Algebra, 32>(Algebra::default());
    all::<Secret, 8>(Secret::default());
    all::<Secret, 32>(Secret::default());
}
