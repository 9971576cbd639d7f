//! Does the algebra domain tell the truth? Random programs run in it and on numbers.
//!
//! Every variable is evaluated on numbers: inputs are given, a sum by its definition, a carry as the one number
//! that keeps its sum within the width of a word. Then every variable must be within its bound, every register and
//! every flag must be what it is said to be, and every joint bound, every pair of bits that are "never both 1",
//! every carry that is "never set" and every claim that was shown must be true ([`numbers`], [`compare`]).

mod arm;
mod avr;
mod certificates;
mod compare;
mod factors;
mod goals;
mod kept;
mod lies;
mod machines;
mod mips;
mod msp430;
mod mutants;
mod numbers;
mod plain;
mod programs;
mod residues;
mod riscv;

use lozenge::domain::abstract_memory::Region;
use lozenge::domain::algebra::{Algebra, Value};
use lozenge::domain::concrete::Concrete;
use lozenge::domain::secret::Secret;
use lozenge::domain::{Abstract, Address, Base, Domain};

use self::machines::PLACE;
use self::numbers::{Names, Numbers};
use crate::kit::tier;

/// Words that are stored and loaded.
const REGISTERS: usize = 6;
const LENGTH: usize = 60;
const PROGRAMS: usize = 4000;

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
    let programs = tier::times(PROGRAMS);
    for seed in 0..programs as u64 {
        let mut random = tier::random(seed);
        let big_endian = seed % 2 == 1;
        let steps: Vec<_> = (0..LENGTH)
            .map(|_| {
                let load = random.below(2) == 0;
                let at = [random.below(BYTES), random.below(REGISTERS)];
                (random.below(3) as u32, load, at)
            })
            .collect();
        let mut d = Algebra::default();
        d.environment(Vec::new(), big_endian);
        d.declare(Base::ABSOLUTE, Region::operand("m", BYTES, true, 4));
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
        let told = d.told();
        let names = Names::of(&d, &told);
        for _ in 0..2 {
            let edge = [0, 1, 0x7fff_ffff, 0x8000_0000, 0x00ff_ff00, 0xffff_ffff];
            let inputs: Vec<u64> = (0..REGISTERS)
                .map(|_| match random.below(3) {
                    0 => edge[random.below(edge.len())],
                    _ => (random.below(1 << 16) << 16 | random.below(1 << 16)) as u64,
                })
                .collect();
            let mut n = Numbers::new(&d, &names, 32, PLACE, &inputs);
            n.settle(d.vars.len() as u32).expect("all within bounds");
            assert!(
                told.iter().all(|t| n.holds(t) == Some(true)),
                "{inputs:x?}: {steps:?}"
            );
            let mut c = Concrete::new(BYTES);
            c.big_endian = big_endian;
            let mut numbers: Vec<_> = inputs.iter().map(|x| c.known::<32>(*x)).collect();
            for (at, (step, state)) in steps.iter().zip(&states).enumerate() {
                access_any(&mut c, &mut numbers, *step);
                for (said, is) in state.iter().zip(&numbers) {
                    let said = n.of(*said).expect("every piece of a word is followed");
                    compared += 1;
                    assert_eq!(said, i128::from(is.0), "{inputs:x?}: {:?}", &steps[..=at]);
                }
            }
        }
    }
    println!("{compared} words compared");
    assert!(compared > 250 * programs);
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
        d.declare(base, Region::operand("a", LEN as usize, false, 4));
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
    all::<Algebra, 16>(Algebra::default());
    all::<Algebra, 32>(Algebra::default());
    all::<Secret, 8>(Secret::default());
    all::<Secret, 16>(Secret::default());
    all::<Secret, 32>(Secret::default());
}
