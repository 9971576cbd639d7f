//! The prover under attack: single faults in proved MIPS32 kernels.
//!
//! Every mutant that gives another result on some input must be rejected. What survives is
//! printed, with the reason.

use std::collections::BTreeMap;

use lozenge::call::Operands;
use lozenge::facts::Style;
use lozenge::function::Function;
use lozenge::isa::Isa;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::code::Insn;
use lozenge::isa::mips::cores::{Core, Features};
use lozenge::isa::mips::instructions::{Feature, Op, Timing};
use lozenge::lower::Lower;
use lozenge::method::{self, Params};
use lozenge::prove;
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Alias, Op as Operation, Spec};
use lozenge::vectors::{self, Random};

use crate::kit::tier;

/// A single fault in `insns`; `None` if this kind does not apply there.
fn mutate(insns: &[Insn], kind: usize, at: usize, random: &mut Random) -> Option<Vec<Insn>> {
    let mut out = insns.to_vec();
    let insn = out[at];
    let nop = Insn::three(Op::SLL, 0, 0, 0);
    match kind {
        0 => out[at] = nop,
        1 => {
            let registers = insn.form().ranges();
            let letters: Vec<_> = registers
                .iter()
                .filter(|(l, ..)| "std".contains(*l))
                .collect();
            let (letter, ..) = **letters.get(random.below(letters.len()))?;
            let r = random.below(32) as u8;
            let ops = &mut out[at].ops;
            match letter {
                's' => ops.s = r,
                't' => ops.t = r,
                _ => ops.d = r,
            }
        }
        2 => {
            out[at].op = match insn.op {
                Op::MADDU => [Op::MULTU, Op::MADD, Op::MSUBU, Op::M2ADDU][random.below(4)],
                Op::MULTU => [Op::MADDU, Op::MULT][random.below(2)],
                Op::ADDU => [Op::SUBU, Op::OR, Op::XOR][random.below(3)],
                Op::SLTU => [Op::SLT, Op::ADDU, Op::SUBU][random.below(3)],
                Op::MFHI => Op::MFLO,
                Op::MFLO => Op::MFHI,
                Op::MTHI => Op::MTLO,
                Op::MTLO => Op::MTHI,
                Op::MADDL => Op::MADDH,
                Op::MADDH => Op::MADDL,
                Op::LW => Op::SW,
                Op::SW => Op::LW,
                _ => return None,
            };
        }
        3 => match insn.form().timing {
            Timing::Load | Timing::Store => {
                out[at].ops.k += [4, -4, 8, -8, 2, 64][random.below(6)];
            }
            _ if insn.op == Op::ADDIU => out[at].ops.k += 1,
            _ => return None,
        },
        4 => {
            let next = *out.get(at + 1)?;
            // Independent instructions may change places.
            let depends =
                insn.writes() & (next.reads() | next.writes()) | insn.reads() & next.writes();
            if depends == 0 {
                return None;
            }
            (out[at], out[at + 1]) = (next, insn);
        }
        5 => {
            let bit = 1 << random.below(32);
            let features = Features::ALL;
            out[at] = Insn::decode(insn.encode().ok()? ^ bit, features)?;
        }
        _ => {
            let other = insns[random.below(insns.len())];
            out[at] = other;
        }
    }
    (out != insns).then_some(out)
}

const KINDS: [&str; 7] = [
    "drop",
    "register",
    "operation",
    "constant",
    "exchange",
    "bit",
    "replace",
];

/// What is attacked: operation, method, its parameters, the extension, words, modulus and reduction.
type Case = (
    Operation,
    &'static str,
    &'static [(&'static str, usize)],
    &'static [Feature],
    u32,
    Option<(&'static str, Reduce)>,
);

#[rustfmt::skip]
const CASES: [Case; 40] = {
    use Operation::{
        Modadd, Modmul, Modneg, Modsqr, Modsub, Montmul, Montsqr, Mul, Redc, Sqr,
    };
    use Reduce::{Almost, Full, Lazy};
    const WIDE: &[Feature] = &[Feature::WideAcc];
    [
        (Mul, "product-scanning", &[], &[], 3, None),
        (Mul, "product-scanning", &[], WIDE, 4, None),
        (Mul, "operand-caching", &[("e", 2)], &[], 5, None),
        (Mul, "operand-caching", &[("e", 2)], WIDE, 5, None),
        (Mul, "operand-scanning", &[("k", 1)], &[Feature::MaddHl], 3, None),
        (Mul, "operand-scanning", &[("k", 0)], &[], 2, None),
        (Mul, "hybrid", &[("carry", 1), ("d", 3)], &[], 4, None),
        (Mul, "karatsuba", &[("first", 1), ("levels", 1)], &[], 4, None),
        (Mul, "karatsuba-comba", &[("levels", 1)], &[], 4, None),
        (Mul, "karatsuba-comba", &[("levels", 2)], &[], 5, None),
        (Sqr, "square-product-scanning", &[], &[], 4, None),
        (Sqr, "square-carry-catcher", &[("d", 2)], &[], 4, None),
        (Sqr, "lazy-doubling", &[("d", 2)], &[], 4, None),
        (Sqr, "lazy-doubling", &[("d", 4)], WIDE, 5, None),
        (Sqr, "sliding-block-doubling", &[("c", 4), ("e", 4)], &[], 5, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 2)], &[], 5, None),
        (Sqr, "karatsuba-squaring", &[("levels", 1), ("c", 0), ("joined", 1)], &[], 4, None),
        // Two nested loops.
        (Montmul, "fips", &[("unroll", 1)], WIDE, 4, Some(("runtime", Full))),
        (Montmul, "fips", &[("unroll", 2)], &[], 5, Some(("runtime", Full))),
        (Montsqr, "fips", &[("unroll", 1)], WIDE, 6, Some(("runtime", Full))),
        (Montmul, "fios", &[("unroll", 1)], &[Feature::MaddHl], 4, Some(("runtime", Full))),
        (Sqr, "square-product-scanning", &[("unroll", 1)], WIDE, 6, None),
        (Modmul, "product-scanning+fold", &[("unroll", 1)], &[], 4, Some(("2^128-159", Full))),
        (Modmul, "product-scanning+fold", &[], &[], 3, Some(("2^96-17", Full))),
        (Modmul, "product-scanning+fold", &[], &[], 3, Some(("2^95-39", Almost))),
        (Modmul, "product-scanning+fold", &[], WIDE, 4, Some(("2^128-2^64+2^32-1", Full))),
        (Modsqr, "square-product-scanning+fold", &[], &[], 4, Some(("2^128-2^64-1", Almost))),
        (Modmul, "karatsuba-modulo", &[], &[], 4, Some(("2^128-2^32-1", Almost))),
        (Modadd, "carry-chain", &[], &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Modadd, "carry-chain", &[], &[], 3, Some(("0x3f9e3779b1c0ffee1234567b", Almost))),
        (Modsub, "carry-chain", &[], &[], 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Modneg, "carry-chain", &[], &[], 3, Some(("runtime", Full))),
        (Modadd, "carry-chain", &[], &[], 3, Some(("runtime", Almost))),
        (Modsub, "carry-chain", &[], &[], 3, Some(("runtime", Almost))),
        (Montmul, "fips", &[], &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
        (Montmul, "product-scanning+sps", &[], WIDE, 3, Some(("0xcd3e*2^80+1", Full))),
        (Montmul, "hsps", &[("d", 2)], &[], 4, Some(("runtime", Full))),
        (Montmul, "product-scanning+sos", &[], &[], 3, Some(("0x1f9e3779b1c0ffee1234567b", Lazy))),
        (Montsqr, "cios", &[], &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Almost))),
        (Redc, "fips", &[], &[], 3, Some(("0xff9e3779b1c0ffee1234567b", Full))),
    ]
};

#[test]
fn the_prover_rejects_faults() {
    let mut random = tier::random(11);
    let (mut tried, mut rejected, mut wrong) = (0, 0, 0);
    let mut table: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (op, name, params, features, words, modulus) in tier::some(CASES, 11) {
        let params: Params = params.iter().copied().collect();
        let core = features
            .iter()
            .fold(Core::named("mips-4km").unwrap(), |core, f| core.with(*f));
        let method = method::find(name).unwrap();
        let modular = modulus.map(|(text, reduce)| Modular {
            modulus: text.parse().unwrap(),
            reduce,
            shift: 0,
        });
        let style = match params.contains_key("unroll") {
            true => Style::Rolled,
            false => Style::Unrolled,
        };
        let spec = Spec::with(op, 32 * words, modular, 32).unwrap();
        let facts = MipsIsa::facts(&core).styled(style);
        let schedule = (method.schedule)(&spec, &facts, &params).unwrap();
        assert_eq!(schedule.style(), style);
        let program = MipsIsa::lower(&schedule, &core).unwrap().remove(0);
        let (original, claims) = (program.insns, program.claims);
        let prove = |code: &[u8]| {
            let mut function = prove::kernel::<MipsIsa>(&core, code, &claims);
            // A fault may make a loop endless.
            function.limit = 10_000;
            prove::prove_function::<MipsIsa>(&spec, &core, &function, Alias::Distinct)
        };
        let title = format!("{}, {}, {name} {params:?}", core.full_name(), spec.symbol());
        let code = MipsIsa::encode(&core, &original).unwrap();
        assert!(prove(&code).holds(), "{title}: {:?}", prove(&code));
        let inputs = vectors::of(&spec, 400, 13);
        let mut done = 0;
        while done < tier::of_each(200) {
            let kind = random.below(KINDS.len());
            let at = random.below(original.len());
            let Some(insns) = mutate(&original, kind, at, &mut random) else {
                continue;
            };
            let Ok(code) = MipsIsa::encode(&core, &insns) else {
                continue;
            };
            done += 1;
            let row = table.entry(KINDS[kind]).or_default();
            row[0] += 1;
            if !prove(&code).holds() {
                row[1] += 1;
                rejected += 1;
                continue;
            }
            // Proved: then it must be right on every input, and keep the convention.
            for sources in &inputs {
                let operands = Operands {
                    spec: &spec,
                    sources,
                    alias: Alias::Distinct,
                };
                let (result, _) =
                    MipsIsa::call_concrete(&core, &Function::kernel(&code), &operands, 1 << 24)
                        .unwrap();
                wrong += usize::from(!spec.accepts(sources, &result));
            }
            let (was, is) = (original[at], insns[at]);
            println!(
                "survives: {} at {at}: {} -> {}: {}",
                title,
                was.text(),
                is.text(),
                why(&was, &is)
            );
        }
        tried += done;
    }
    for (kind, [tried, rejected]) in &table {
        println!("{kind:<10} {rejected:>4} of {tried} rejected");
    }
    println!("{rejected} of {tried} faults rejected");
    assert!(tried >= tier::least(3000));
    assert_eq!(wrong, 0, "a wrong kernel was proved");
    assert!(
        10 * rejected > tier::of([6, 8, 8]) * tried,
        "only {rejected} of {tried}"
    );
}

/// Why a fault changes no product.
fn why(was: &Insn, is: &Insn) -> &'static str {
    let same_flow = (was.reads() | was.writes()) & (is.reads() | is.writes()) == 0;
    let commutes = was.op == is.op && was.ops.s == is.ops.t && was.ops.t == is.ops.s;
    match (was.op, is.op) {
        (Op::SLL, _) | (_, Op::SLL) => {
            "a NOP that waited, or a register that is dead or has that word already"
        }
        (Op::MULTU, Op::MADDU) | (Op::MADDU, Op::MULTU) => "the accumulator is zero there",
        _ if commutes => "a product in the other order",
        _ if same_flow => "independent instructions",
        _ => "the register or the order does not matter there",
    }
}
