//! Every method in loops on every machine: made, or refused with a reason, and what the refusal says to type works.

use std::collections::BTreeSet;

use lozenge::facts::Style;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::abi::IAR;
use lozenge::isa::avr::cores::{ATMEGA128, ATTINY85};
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::kernel::{self, Request};
use lozenge::lower::Lower;
use lozenge::method::{METHODS, Method, without_loops};
use lozenge::spec::Op;
use lozenge::spec::modulus::{Modular, Reduce};

use crate::kit::{any, ask, known, refused, tier};

fn request(op: Op, bits: u32, method: &Method, style: Style) -> Request {
    let (modulus, reduce) = match (method.name, op) {
        ("folded-karatsuba", _) => ("runtime-folded".to_string(), Reduce::Almost),
        ("karatsuba-modulo", _) => (format!("2^{bits}-2^{}-1", bits / 4), Reduce::Full),
        (_, Op::Modmul | Op::Modsqr | Op::Modtimes) => (format!("2^{bits}-5"), Reduce::Full),
        _ => ("runtime".to_string(), Reduce::Full),
    };
    let modulus = modulus.parse().expect("a modulus");
    Request {
        modular: op.is_modular().then_some(Modular {
            modulus,
            reduce,
            shift: 0,
            times: if op == Op::Modtimes { 121_665 } else { 0 },
        }),
        method: Some(method.name.into()),
        style: Some(style),
        ..ask::in_any_time(op, bits)
    }
}

/// What a refusal says to type: each way with its options.
fn ways(text: &str) -> Vec<Vec<(&str, &str)>> {
    let said = text.rsplit("try ").next().unwrap_or("");
    let ways = said.split(" or ").map(|way| {
        let words: Vec<&str> = way.split([' ', ',']).filter(|w| !w.is_empty()).collect();
        let pairs = words.windows(2).filter(|pair| pair[0].starts_with("--"));
        pairs.map(|pair| (pair[0], pair[1])).collect()
    });
    ways.filter(|way: &Vec<_>| !way.is_empty()).collect()
}

/// The request with the options of a way; none if it is about another convention.
fn typed(request: &Request, way: &[(&str, &str)]) -> Option<Request> {
    let mut typed = request.clone();
    for (option, value) in way {
        match *option {
            "--style" => typed.style = Some(value.parse().expect("a style")),
            "--method" => {
                typed.method = Some((*value).into());
                typed.params.clear();
            }
            "--modulus" => typed.modular.as_mut()?.modulus = value.parse().expect("a modulus"),
            "--reduce" => typed.modular.as_mut()?.reduce = Reduce::Full,
            "--abi" => return None,
            other => panic!("{other}"),
        }
    }
    Some(typed)
}

/// Loops that are made, and refusals whose ways were typed.
fn machine<I: Lower>(core: &I::Core, bits: u32) -> [usize; 2] {
    let (mut made, mut refused) = (0, 0);
    let mut known = BTreeSet::new();
    for method in tier::some(METHODS.iter(), 25) {
        for op in method.ops {
            for style in [Style::Looped, Style::Rolled] {
                let mut asked = request(*op, bits, method, style);
                let unroll = method.parameters.iter().find(|p| p.name == "unroll");
                if let Some(unroll) = unroll.filter(|_| method.parameters.len() == 1) {
                    asked.params.insert(unroll.name.into(), 4);
                }
                let name = format!("{} {op:?} {style:?}", method.name);
                let error = match kernel::choose(&asked, &any(core)) {
                    Ok((_, best)) => {
                        assert_eq!(best.style, style, "{name}");
                        assert_eq!(best.method.name, method.name, "{name}");
                        made += 1;
                        continue;
                    }
                    Err(error) => refused::instead(&error),
                };
                refused += 1;
                let ways = ways(&error);
                let told = ["MUL", "multiplier", "levels"];
                assert!(
                    !ways.is_empty() || told.iter().any(|word| error.contains(word)),
                    "{name}: {error}"
                );
                for way in ways {
                    let Some(typed) = typed(&asked, &way) else {
                        continue;
                    };
                    if !known.insert(format!("{typed:?}")) {
                        continue;
                    }
                    let works = kernel::choose(&typed, &any(core)).err();
                    assert!(works.is_none(), "{name}: {error}\n{way:?}: {works:?}");
                }
            }
        }
    }
    println!("{}: {made} made, {refused} refused", I::core_name(core));
    [made, refused]
}

#[test]
fn avr() {
    let with = machine::<AvrIsa>(&ATMEGA128, 96);
    let without = machine::<AvrIsa>(&ATTINY85, 64);
    let iar = machine::<AvrIsa>(&ATMEGA128.called(&IAR), 64);
    let [most, few, iars] = [40, 30, 35].map(tier::least);
    assert!(with[0] >= most && without[0] >= few && iar[0] >= iars);
}

#[test]
fn arm_and_mips() {
    let arm = machine::<ArmIsa>(&ARM7TDMI, 256);
    let mips = MipsCore::named("mips-4km").expect("a core");
    let mips = machine::<MipsIsa>(&mips, 256);
    let least = tier::least(30);
    assert!(arm[0] >= least && mips[0] >= least);
}

/// What the refusals of rows say: in loops columns are faster, on each machine.
#[test]
fn rows_cost_what_is_said() {
    let told = without_loops::reason("cios").expect("a reason");
    assert!(told.contains("in loops columns are faster"), "{told}");
    let cycles = |name: &str| {
        let method = lozenge::method::find(name).expect("a method");
        let asked = request(Op::Mul, 1024, method, Style::Rolled);
        let mips = MipsCore::named("mips-4km").expect("a core");
        let avr = kernel::choose(&asked, &any(&ATMEGA128)).expect("a kernel");
        let arm = kernel::choose(&asked, &any(&ARM7TDMI)).expect("a kernel");
        let mips = kernel::choose(&asked, &any(&mips)).expect("a kernel");
        [avr.1.cost, arm.1.cost, mips.1.cost].map(|cost| cost.expect("it returns").body.max)
    };
    let rows = cycles("operand-scanning").into_iter();
    for (rows, columns) in rows.zip(cycles("product-scanning")) {
        assert!(columns < rows, "{columns}, {rows}");
    }
}

/// Operands that are too short for its plans: it names parameters that make it.
fn names_levels<I: Lower>(core: &I::Core, bits: u32, said: &[(&str, usize)]) {
    let method = lozenge::method::find("karatsuba-calls").expect("a method");
    let mut asked = request(Op::Mul, bits, method, Style::Rolled);
    let error = kernel::choose(&asked, &any(core)).err().expect("refused");
    let error = refused::instead(&error);
    for (name, value) in said {
        assert!(error.contains(&format!("-p {name}={value}")), "{error}");
        asked.params.insert((*name).into(), *value);
    }
    assert!(kernel::choose(&asked, &any(core)).is_ok(), "{error}");
}

#[test]
fn short_operands_are_told_their_levels() {
    names_levels::<AvrIsa>(&ATMEGA128, 64, &[("levels", 1), ("d", 4)]);
    names_levels::<ArmIsa>(&ARM7TDMI, 256, &[("levels", 1), ("columns", 1)]);
}

/// Operand caching in loops of what lengths it may: none is written out under that name, and loops are what it takes
/// fewer bytes for.
#[test]
fn looped_operand_caching_has_loops() {
    let method = lozenge::method::find("operand-caching").expect("a method");
    let made = |bits, style| {
        let asked = request(Op::Mul, bits, method, style);
        let made = known::generate(&asked, &any(&ATMEGA128)).expect("a kernel");
        assert!(made.is_proved(), "{bits}: {:?}", made.proof);
        (
            made.code.len(),
            made.cost.executed > made.program.insns.len() as u64,
        )
    };
    for bits in [160, 192, 256] {
        let (looped, unrolled) = (made(bits, Style::Looped), made(bits, Style::Unrolled));
        assert!(looped.1 && !unrolled.1, "{bits}");
        assert!(looped.0 < unrolled.0, "{bits}: {looped:?}, {unrolled:?}");
    }
    let mut asked = request(Op::Mul, 160, method, Style::Looped);
    asked.params = [("e", 9), ("unroll", 2)]
        .map(|(name, value)| (name.into(), value))
        .into();
    let real = known::generate(&asked, &any(&ATMEGA128)).expect("a kernel");
    assert_eq!((real.cost.body.max, real.code.len()), (2530, 2666));
}

/// Bands that are short from the start have no loop that one may take columns from: another one is made, or none.
#[test]
fn short_bands_are_no_shrinking_loops() {
    let method = lozenge::method::find("square-reverse-hybrid").expect("a method");
    let made = |bits, d, style| {
        let mut asked = request(Op::Sqr, bits, method, style);
        asked.params.insert("d".into(), d);
        let made = known::generate(&asked, &any(&ATMEGA128))?;
        assert!(made.is_proved(), "{bits}: {:?}", made.proof);
        Ok::<_, kernel::Error>(())
    };
    assert!(made(64, 2, Style::Rolled).is_ok());
    let text = refused::instead(&made(32, 1, Style::Rolled).expect_err("refused"));
    assert!(text.contains("try --style looped"), "{text}");
    assert!(made(32, 1, Style::Looped).is_ok());
}
