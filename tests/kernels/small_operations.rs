//! Sums, shifts, rows, selections and comparisons: each proved on every machine, in place where that is asked for, right by a
//! second definition on numbers, and faults in them rejected.

use lozenge::call::Operands;
use lozenge::facts::Style;
use lozenge::function::Function;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::{ATMEGA128, ATTINY85};
use lozenge::isa::core::Core;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::cores::Core as Msp430Core;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::cores::Core as RiscvCore;
use lozenge::kernel::{self, Error, Request};
use lozenge::lower::Lower;
use lozenge::spec::{Alias, Op, Size, Spec};
use lozenge::{prove, vectors};
use num_bigint::BigUint;
use num_traits::{One, Zero};

use crate::kit::{any, ask, mutants, tier, work};

/// Operations that have one method each.
pub const SMALL: [Op; 15] = [
    Op::Add,
    Op::Sub,
    Op::Shl,
    Op::Shr,
    Op::Addmul,
    Op::Submul,
    Op::Mulword,
    Op::Addc,
    Op::Subb,
    Op::Addif,
    Op::Subif,
    Op::Select,
    Op::Swap,
    Op::Iszero,
    Op::Equal,
];

/// Words of the operands.
const SIZES: [u32; 6] = [1, 2, 3, 5, 8, 24];

fn cores() -> Vec<Core> {
    let mips = MipsCore::named("mips-4km").expect("a core");
    let riscv = RiscvCore::named("rv32imc").expect("a core");
    let msp430 = Msp430Core::named("msp430-mpy16").expect("a core");
    vec![
        any(&ATMEGA128),
        any(&ATTINY85),
        any(&ARM7TDMI),
        any(&mips),
        any(riscv),
        any(msp430),
    ]
}

/// Operations that are rows of products.
fn multiplies(op: Op) -> bool {
    matches!(op, Op::Addmul | Op::Submul | Op::Mulword)
}

/// Is `got` right? By the definition, said once more; what is returned stands above `n` bits.
fn right(op: Op, n: u32, sources: &[BigUint], got: &BigUint) -> bool {
    let power = BigUint::one() << n;
    let [r, returned] = [got % &power, got >> n];
    let a = &sources[0];
    let is = |yes: bool| *got == BigUint::from(u8::from(yes));
    match op {
        Op::Add => r + returned * power == a + &sources[1],
        Op::Sub => returned <= BigUint::one() && r + &sources[1] == a + returned * power,
        Op::Shl => r + returned * power == a * 2u8,
        Op::Shr => *got == a / 2u8,
        Op::Addmul => r + returned * power == a + &sources[1] * &sources[2],
        Op::Addif => r + returned * power == a + &sources[1] * &sources[2],
        Op::Subif => r + &sources[1] * &sources[2] == a + returned * power,
        Op::Submul => r + &sources[1] * &sources[2] == a + returned * power,
        Op::Mulword => r + returned * power == a * &sources[1],
        Op::Addc => r + returned * power == a + &sources[1] + &sources[2],
        Op::Subb => r + &sources[1] + &sources[2] == a + returned * power,
        Op::Select => *got == if sources[2].is_zero() { a } else { &sources[1] }.clone(),
        Op::Swap => {
            let [low, high] = [a % &power, a / &power];
            let (low, high) = if sources[1].is_zero() {
                (low, high)
            } else {
                (high, low)
            };
            r == low && returned == high
        }
        Op::Iszero => is(a.is_zero()),
        Op::Equal => is(*a == sources[1]),
        other => unreachable!("{other:?} is none of these"),
    }
}

/// Operands of which some are 0 and some are equal, beside the usual ones.
fn operands(spec: &Spec, own: u64) -> Vec<Vec<BigUint>> {
    let mut list = vectors::of(spec, tier::of_each(40), own);
    let mut more = list.clone();
    for (i, sources) in more.iter_mut().enumerate() {
        let bit = BigUint::one() << (i as u32 % spec.size.a);
        match (spec.op, i % 3) {
            (Op::Equal, 0) => sources[1] = sources[0].clone(),
            (Op::Equal, 1) => sources[1] = &sources[0] ^ bit,
            (Op::Iszero, 0) => sources[0] = BigUint::zero(),
            (Op::Iszero, 1) => sources[0] = bit,
            // The carry goes through all words.
            (Op::Addc | Op::Subb, k @ 0..2) => {
                let [a, b] = [spec.size.a, spec.size.b].map(|n| (BigUint::one() << n) - 1u8);
                let whole = [(Op::Addc, 0), (Op::Subb, 1)].contains(&(spec.op, k));
                let zero = BigUint::zero;
                sources[0] = if whole { a } else { zero() };
                sources[1] = if whole && k == 1 { b } else { zero() };
                sources[2] = BigUint::one();
            }
            (Op::Submul, 0) => {
                sources[0] = BigUint::zero();
                sources[1] = (BigUint::one() << spec.size.a) - 1u8;
                sources[2] = (BigUint::one() << spec.word_bits) - 1u8;
            }
            (Op::Addif | Op::Subif | Op::Select | Op::Swap, k) => {
                *sources.last_mut().expect("s") = BigUint::from(k % 2)
            }
            (..) => {}
        }
    }
    list.extend(more);
    list
}

/// Can the result lie where an operand is? Not a word that is written once all operands are read.
fn in_place(op: Op) -> bool {
    !matches!(op, Op::Iszero | Op::Equal)
}

#[test]
fn small_operations_are_proved_and_right() {
    let mut cases = Vec::new();
    for core in cores() {
        for op in SMALL {
            cases.extend(SIZES.map(|words| (core.clone(), op, [words; 2])));
            let shorter = [[2, 1], [5, 2]].into_iter().filter(|_| op.is_sum());
            cases.extend(shorter.map(|words| (core.clone(), op, words)));
        }
    }
    work::each(&tier::some(cases, 51), |(core, op, words)| {
        let [a, b] = words.map(|words| words * core.word_bits());
        let (n, size) = (a, Size { a, b });
        // The products of an ARM7TDMI stop early.
        let leaks = multiplies(*op) && core.name() == "arm7tdmi";
        let mut request: Request = match leaks {
            true => ask::in_any_time(*op, size),
            false => ask::of(*op, size),
        };
        request.demands.aliases = Vec::from_iter(in_place(*op).then_some(Alias::RIsA));
        let name = format!("{} {size} on {}", op.name(), core.name());
        let kernel = match kernel::generate(&request, core) {
            Ok(kernel) => kernel,
            // Its products are sums.
            Err(Error::Lower { .. }) if multiplies(*op) && core.name() == "attiny85" => return,
            Err(error) => panic!("{name}: {error}"),
        };
        assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
        assert!(
            kernel.leaks() == leaks,
            "{name}: {:?}",
            kernel.constant_time
        );
        let allows = |alias| {
            kernel
                .aliasing
                .iter()
                .any(|a| a.alias == alias && a.allowed)
        };
        assert!(
            !in_place(*op) || allows(Alias::RIsA),
            "{name}: {:?}",
            kernel.aliasing
        );
        let spec = &kernel.spec;
        let call = core.calls(Function::kernel(&kernel.code).returning(spec));
        let aliases = [Alias::Distinct, Alias::RIsA].into_iter();
        for alias in aliases.filter(|alias| *alias == Alias::Distinct || allows(*alias)) {
            for sources in operands(spec, u64::from(n)) {
                let got = call(&Operands::of(spec, &sources, alias), kernel::RUN_LIMIT);
                let (got, _) = got.unwrap_or_else(|e| panic!("{name}: {e:?}"));
                assert!(
                    right(*op, n, &sources, &got),
                    "{name}: {sources:x?} give {got:x}"
                );
            }
        }
    });
}

/// A kernel of one operation is none of another.
#[test]
fn kernels_of_other_operations_are_refused() {
    let pairs = [
        (Op::Add, Op::Sub),
        (Op::Shl, Op::Shr),
        (Op::Iszero, Op::Shr),
        (Op::Select, Op::Addmul),
        (Op::Equal, Op::Select),
        (Op::Submul, Op::Addmul),
        (Op::Mulword, Op::Shl),
        (Op::Addc, Op::Add),
        (Op::Subb, Op::Sub),
        (Op::Addif, Op::Addc),
        (Op::Subif, Op::Sub),
    ];
    for core in cores().into_iter().filter(|core| core.name() != "attiny85") {
        for (made, asked) in pairs.into_iter().flat_map(|(x, y)| [(x, y), (y, x)]) {
            let kernel = kernel::generate(&ask::of(made, 2 * core.word_bits()), &core);
            let kernel = kernel.expect("a kernel");
            let other = Spec::new(asked, 2 * core.word_bits(), core.word_bits()).expect("a size");
            let proof = prove::prove(&other, &core, &kernel.code, Alias::Distinct);
            assert!(
                !proof.holds(),
                "{} as {} on {}",
                made.name(),
                asked.name(),
                core.name()
            );
        }
    }
}

fn cases<I: Lower>(core: I::Core) -> Vec<mutants::Case<I>> {
    let of = |(op, method): (Op, &'static str)| {
        let bits = I::facts(&core).word_bits;
        let spec = Spec::new(op, 3 * bits, bits).expect("a size");
        (core.clone(), spec, Style::Unrolled, method, Vec::new())
    };
    [
        (Op::Add, "ripple-carry"),
        (Op::Sub, "ripple-carry"),
        (Op::Shl, "ripple-carry"),
        (Op::Shr, "shifted-words"),
        (Op::Addmul, "word-row"),
        (Op::Submul, "word-row"),
        (Op::Mulword, "word-row"),
        (Op::Addc, "ripple-carry"),
        (Op::Subb, "ripple-carry"),
        (Op::Addif, "ripple-carry"),
        (Op::Subif, "ripple-carry"),
        (Op::Select, "masked-words"),
        (Op::Swap, "masked-words"),
        (Op::Iszero, "zero-test"),
        (Op::Equal, "zero-test"),
    ]
    .map(of)
    .into()
}

#[test]
fn faults_in_small_operations_are_rejected() {
    let mips = MipsCore::named("mips-4km").expect("a core");
    let riscv = *RiscvCore::named("rv32im").expect("a core");
    mutants::attack::<AvrIsa>(cases::<AvrIsa>(ATMEGA128.clone()), 120, 91).hold(1000, 5);
    mutants::attack::<ArmIsa>(cases::<ArmIsa>(ARM7TDMI.clone()), 120, 92).hold(1000, 5);
    mutants::attack::<MipsIsa>(cases::<MipsIsa>(mips), 120, 93).hold(1000, 5);
    mutants::attack::<RiscvIsa>(cases::<RiscvIsa>(riscv), 120, 94).hold(1000, 5);
    let msp430 = *Msp430Core::named("msp430-mpy16").expect("a core");
    mutants::attack::<Msp430Isa>(cases::<Msp430Isa>(msp430), 120, 95).hold(1000, 5);
}

/// Where there is no multiplier, rows of products are refused, and the reason is given.
#[test]
fn rows_need_a_multiplier() {
    let msp430 = Msp430Core::named("msp430").expect("a core");
    for core in [any(&ATTINY85), any(msp430)] {
        for op in [Op::Addmul, Op::Submul, Op::Mulword] {
            let refused = kernel::choose(&ask::of(op, 4 * core.word_bits()), &core);
            let Err(error @ Error::Lower { .. }) = refused else {
                panic!("{} on {}", op.name(), core.name());
            };
            let text = error.to_string();
            let says = ["MUL is not an instruction", "has no multiplier"];
            assert!(says.iter().any(|said| text.contains(said)), "{text}");
        }
    }
}
