//! The matrix of Montgomery's arithmetic: operation x method x modulus x reduction x machine. Every cell is a
//! kernel that is proved and right on numbers, or has a reason why there is none.

use std::collections::BTreeMap;

use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::kernel;
use lozenge::kernel::{Error, Request};
use lozenge::lower::Lower;
use lozenge::method::catalogue::in_one_time;
use lozenge::method::{METHODS, Method, Params, separated};
use lozenge::spec::modulus::{Modular, Modulus, Reduce};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors::{self, Random};
use num_bigint::BigUint;

use crate::kit::{any, ask, known, tier};

/// Words of the modulus: of every method, where one that goes on from another's product meets moduli of three
/// shapes; and of those that have a product of their own.
const ALL: u32 = 8;
const OWN: u32 = 3;
const SHAPES: [usize; 3] = [1, 3, 5];

struct Cell {
    op: Op,
    bits: u32,
    modular: Modular,
    method: &'static Method,
    params: Params,
}

/// Moduli of `n` words of `w` bits: dense, with m' = 1, with m' = -1 and words of 0 (an optimal prime field), a
/// random one, one that leaves two bits, and those that only the caller knows, with `m'` or with what folds.
fn moduli(n: u32, w: u32) -> Vec<Modulus> {
    let bits = n * w;
    let number = |value: BigUint| Modulus::Fixed {
        text: format!("{value:#x}"),
        value,
    };
    let one = BigUint::from(1u8);
    let mut random = Random::new(u64::from(bits));
    let mut drawn = random.uniform(bits as usize / 8);
    drawn.set_bit(0, true);
    let mut small = random.uniform(bits as usize / 8) >> 2u8;
    small.set_bit(0, true);
    vec![
        number((&one << bits) - 0x35u8),
        number((&one << bits) - (&one << (bits - 3)) - 1u8),
        number((BigUint::from(0xcd3eu32) << (bits - 16)) + 1u8),
        number(drawn),
        number(small),
        Modulus::Runtime,
        Modulus::RuntimeFolded,
    ]
}

fn cells<I: Lower>(core: &I::Core) -> Vec<Cell> {
    let mut list = Vec::new();
    for n in [ALL, OWN] {
        let bits = n * I::WORD_BITS;
        for (shape, modulus, reduce) in moduli(n, I::WORD_BITS)
            .into_iter()
            .enumerate()
            .flat_map(|(i, m)| Reduce::ALL.map(|reduce| (i, m.clone(), reduce)))
        {
            let all = n == ALL && SHAPES.contains(&shape) && reduce != Reduce::Lazy;
            for op in Op::ALL.into_iter().filter(|op| op.is_montgomery()) {
                let modular = Modular {
                    modulus: modulus.clone(),
                    reduce,
                    shift: 0,
                    times: 0,
                };
                let spec = Spec::with(op, bits, Some(modular.clone()), I::WORD_BITS);
                // Lazy reduction wants two bits.
                let Ok(spec) = spec else { continue };
                let able = METHODS.iter().filter(|m| m.computes(op));
                for method in able.filter(|m| all || !m.name.contains('+')) {
                    let sets = (method.defaults)(&spec, &I::facts(core)).into_iter();
                    // It is only made where it is named.
                    let named = in_one_time(op) == Some(method.name);
                    let sets = sets.chain(named.then(Params::new));
                    list.extend(sets.take(1).map(|params| Cell {
                        op,
                        bits,
                        modular: modular.clone(),
                        method,
                        params,
                    }));
                }
            }
        }
    }
    list
}

/// `2^n r = a b (mod m)`, and `r` below its bound: what nothing in the tool computes that way.
fn is_right(spec: &Spec, sources: &[BigUint], got: &BigUint) -> bool {
    let n = spec.size.a;
    let modular = spec.modular.as_ref().expect("a modulus");
    let m = match &modular.modulus {
        Modulus::Fixed { value, .. } => value.clone(),
        _ => &sources[spec.op.factors()] % (BigUint::from(1u8) << n),
    };
    let product = match spec.op {
        Op::Tomont => &sources[0] << (2 * n),
        Op::Montsqr => &sources[0] * &sources[0],
        Op::Montmul => &sources[0] * &sources[1],
        _ => sources[0].clone(),
    };
    let bound = match modular.reduce {
        Reduce::Full => m.clone(),
        Reduce::Almost => BigUint::from(1u8) << n,
        Reduce::Lazy => &m << 1,
    };
    (got << n) % &m == product % &m && *got < bound
}

fn machine<I: Lower>(core: &I::Core, least: usize) {
    let mut proved = BTreeMap::<&str, usize>::new();
    let mut refused = BTreeMap::<String, usize>::new();
    for cell in tier::some(cells::<I>(core), I::WORD_BITS.into()) {
        let Cell {
            op, bits, method, ..
        } = cell;
        let modulus = &cell.modular.modulus;
        let reduce = cell.modular.reduce;
        let name = format!(
            "{} {bits} {modulus} {reduce:?} {} {:?}",
            op.name(),
            method.name,
            cell.params
        );
        let asked = Request {
            modular: Some(cell.modular.clone()),
            method: Some(method.name.into()),
            ..ask::in_any_time(op, bits)
        };
        let request = ask::with(&cell.params, asked);
        let kernel = match known::generate(&request, &any(core)) {
            Ok(kernel) => kernel,
            Err(error @ (Error::Lower { .. } | Error::Method(_))) => {
                *refused.entry(error.to_string()).or_default() += 1;
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
        *proved.entry(method.name).or_default() += 1;
        for case in &kernel.aliasing {
            if case.alias.is_required() {
                assert!(case.allowed, "{name}: {:?}", case.alias);
            }
        }
        let on = any(core);
        let run = kernel::runs(&kernel.spec, &on, &kernel.code);
        let allowed = kernel.aliasing.iter().filter(|case| case.allowed);
        for alias in std::iter::once(Alias::Distinct).chain(allowed.map(|case| case.alias)) {
            let places = alias.of(&kernel.spec);
            let sources = vectors::of(&kernel.spec, 4, u64::from(bits)).into_iter();
            let step = if alias == Alias::Distinct { 2 } else { 9 };
            for mut sources in sources.step_by(step) {
                if op.factors() == 2 && places[1] == places[2] {
                    sources[1] = sources[0].clone();
                }
                let ran = run(&sources, alias);
                let (got, _) = ran.unwrap_or_else(|e| panic!("{name}, {alias:?}: {e}"));
                let right = is_right(&kernel.spec, &sources, &got);
                assert!(right, "{name}, {alias:?}: {sources:x?} gave {got:x}");
            }
        }
    }
    let total: usize = proved.values().sum();
    println!("{}: {total} proved: {proved:?}", I::core_name(core));
    for (reason, count) in &refused {
        println!("  {count} x {reason}");
    }
    // What is only made in loops is in the tests of loops.
    let in_loops = |name: &str| separated::LOOPS.iter().any(|m| m.name == name);
    let one_time = I::facts(core).one_time;
    let is_made = |m: &Method| !in_loops(m.name) && (one_time || m.name != separated::STEADY.name);
    let all = METHODS
        .iter()
        .filter(|m| m.ops.iter().any(|op| op.is_montgomery()) && is_made(m));
    for method in all {
        let count = proved.get(method.name).copied().unwrap_or(0);
        assert!(count >= tier::least(1), "{} never", method.name);
    }
    let least = tier::least(least);
    assert!(total >= least, "{total} of {least}");
}

#[test]
fn avr() {
    machine::<AvrIsa>(&ATMEGA128, 454);
}

#[test]
fn arm() {
    machine::<ArmIsa>(&ARM7TDMI, 453);
}

#[test]
fn mips() {
    let core = MipsCore::named("mips-4km").expect("a core");
    machine::<MipsIsa>(&core, 453);
}
