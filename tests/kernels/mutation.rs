//! The prover under attack: single-instruction faults in proved kernels.

use lozenge::facts::Style;
use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::code::forms;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::avr::instructions::Op;
use lozenge::lower::Lower;
use lozenge::method::{self, Params};
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Alias, Op as Operation, Size, Spec};
use lozenge::{kernel, prove, vectors};

use crate::kit::{any, mutants, tier};

/// Faults in each kernel: of a product, and of the other operations.
const FAULTS_PER_PRODUCT: usize = 500;
const FAULTS_PER_KERNEL: usize = 250;
/// Faults in all of them.
const LEAST: usize = 19_000;

/// Is it wrong on some operands?
fn wrong(spec: &Spec, code: &[u8]) -> bool {
    let inputs = vectors::of(spec, 600, 5);
    let on = any(&ATMEGA128);
    let run = kernel::runs(spec, &on, code);
    inputs.iter().any(|sources| {
        run(sources, Alias::Distinct).map_or(true, |(got, _)| !spec.accepts(sources, &got))
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
            times: 0,
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
    let times = |modulus: &str, bits, times| {
        let (mut spec, _) = modular(Operation::Modsqr, bits, modulus, Reduce::Almost);
        spec.op = Operation::Modtimes;
        spec.modular.as_mut().expect("a modulus").times = times;
        (spec, ("number-row", Params::new()))
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
            (spec, ("range-shifted plan=join12", Params::new()))
        },
        {
            let (mut spec, _) = modular(Operation::Modsqr, 32, "2^32-2^8-1", Reduce::Full);
            spec.modular.as_mut().expect("a modulus").shift = 16;
            let params = Params::from([("levels", 0), ("c", 0)]);
            (spec, ("range-shifted-squaring", params))
        },
        times("2^71-25", 72, 0x1_db41),
        times("2^40-5", 40, 300),
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
        mul(5, ("karatsuba plan=k192-b", Params::from([("levels", 1)]))),
        mul(6, ("karatsuba plan=k-f", Params::from([("levels", 1)]))),
        mul(4, ("karatsuba plan=k-m", Params::from([("levels", 2)]))),
        mul(7, ("karatsuba-comba", Params::from([("levels", 2)]))),
        mul(
            6,
            (
                "karatsuba-joined plan=join12",
                Params::from([("levels", 1)]),
            ),
        ),
        mul(
            8,
            (
                "karatsuba-joined plan=join16b",
                Params::from([("levels", 2)]),
            ),
        ),
        of(Operation::Mul, Size { a: 48, b: 24 }, scanning()),
        of(Operation::Mullo, 56.into(), scanning()),
        of(
            Operation::Mullo,
            56.into(),
            ("short-product plan=short-a", Params::from([("levels", 2)])),
        ),
        of(
            Operation::Mulhi,
            48.into(),
            ("short-product plan=k-f", Params::from([("levels", 1)])),
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
    let cases = kernels.into_iter().map(|(spec, (method, params))| {
        let params = params.iter().map(|(name, n)| (*name, *n)).collect();
        (ATMEGA128.clone(), spec, Style::Unrolled, method, params)
    });
    let is_product = |case: &mutants::Case<AvrIsa>| {
        let Spec { op, size, .. } = &case.1;
        *op == Operation::Mul && size.a == size.b
    };
    let (products, others) = cases.partition(is_product);
    let mut found = mutants::attack::<AvrIsa>(products, FAULTS_PER_PRODUCT, 63);
    found.add(mutants::attack::<AvrIsa>(others, FAULTS_PER_KERNEL, 64));
    found.hold(LEAST, 8);
}

/// Differences that stand behind a modulus are read as what they are: loads from beside them are faults.
#[test]
fn differences_read_from_elsewhere_are_rejected() {
    let core = &ATMEGA128;
    let modular = Modular {
        modulus: "runtime-folded".parse().expect("a modulus"),
        reduce: Reduce::Almost,
        shift: 0,
        times: 0,
    };
    let spec = Spec::with(Operation::Redc, 256, Some(modular), 8).expect("a size");
    let method = method::find("folded-karatsuba").expect("a method");
    let params = Params::from([("levels", 1)]);
    let schedule = (method.schedule)(&spec, &AvrIsa::facts(core), &params).expect("a schedule");
    let made = AvrIsa::lower(&schedule, core).expect("lowers").pop();
    let whole = made.expect("a program");
    let program = &whole.insns;
    let original = AvrIsa::encode(core, program).expect("encodes");
    let proves = |code: &[u8]| {
        let claims = &whole.claims;
        prove::prove_with(&spec, &any(core), code, claims, Alias::Distinct).holds()
    };
    assert!(proves(&original));
    let mut random = tier::random(7);
    let is_load = |at: &usize| matches!(program[*at].op, Op::LDDY | Op::LDDZ);
    let loads: Vec<_> = (0..program.len()).filter(is_load).collect();
    let mut rejected = 0;
    for _ in 0..100 {
        let at = loads[random.below(loads.len())];
        let mut mutant = program.clone();
        mutant[at].ops.k += [-1, 1, 2][random.below(3)];
        // Beyond what a displacement holds.
        let Ok(code) = AvrIsa::encode(core, &mutant) else {
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
