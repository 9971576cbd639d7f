//! The matrix operation x method x parameters x size x style x machine: every cell is a kernel that is proved
//! and right on numbers for every aliasing it allows, or has a reason why there is none.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;

use lozenge::candidate::Budget;
use lozenge::facts::Style;
use lozenge::isa::Isa;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI_HW2018;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::{ATMEGA128, ATTINY85};
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::mips::instructions::Feature;
use lozenge::kernel::{self, Error, Request};
use lozenge::method::{METHODS, Method, Params};
use lozenge::spec::{Alias, Op, Size, Spec};
use lozenge::vectors;
use num_bigint::BigUint;

use crate::kit::{tier, work};

/// Words of a and b, and how many sets of parameters of each method are tried.
fn sizes() -> Vec<([u32; 2], usize)> {
    let mut list: Vec<_> = (1..=9).map(|n| ([n, n], 99)).collect();
    list.extend([12, 16, 20, 25, 32].map(|n| ([n, n], 3)));
    for n in [1, 2, 3, 5, 8] {
        list.extend([1, 2, 4, 7].map(|m| ([n, m], 99)));
    }
    list.extend([[32, 8], [8, 32], [40, 1], [1, 40]].map(|size| (size, 99)));
    // The most work first.
    list.sort_by_key(|([n, m], _)| std::cmp::Reverse(n * m));
    list.dedup();
    list
}

/// The same of loops: few, as a proof follows every pass.
fn looped_sizes() -> Vec<([u32; 2], usize)> {
    let mut list: Vec<_> = [9, 8, 5, 4, 3, 2, 1].map(|n| ([n, n], 2)).to_vec();
    list.insert(0, ([16, 16], 4));
    list.push(([5, 3], 2));
    list
}

/// What the operation is, said once more.
fn expected(op: Op, sources: &[BigUint], bits: u32) -> BigUint {
    let modulus = BigUint::from(2u8).pow(bits);
    match op {
        Op::Mul => &sources[0] * &sources[1],
        Op::Sqr => sources[0].pow(2),
        Op::Mullo => &sources[0] * &sources[1] % modulus,
        Op::Mulhi => &sources[0] * &sources[1] / modulus,
        _ => unreachable!("no method makes it, or tests/kernels/modular.rs judges it"),
    }
}

/// Operands that share a place are the same as far as both go.
fn share(sources: &mut [BigUint], alias: Alias, size: Size) {
    if let ([a, b], Alias::AIsB | Alias::All) = (sources, alias) {
        let short = size.a.min(size.b);
        let low = a.clone() % BigUint::from(2u8).pow(short);
        match size.a > size.b {
            true => *b = low,
            false => {
                *b = (b.clone() >> short << short) + &low;
                *a = low;
            }
        }
    }
}

struct Cell {
    style: Style,
    op: Op,
    words: [u32; 2],
    method: &'static Method,
    params: Params,
}

fn cells<I: Isa>(core: &I::Core) -> Vec<Cell> {
    let mut list = Vec::new();
    for style in Style::ALL {
        let sizes = match style {
            Style::Unrolled => sizes(),
            _ => looped_sizes(),
        };
        for (words, sets) in sizes {
            let size = Size {
                a: words[0] * I::WORD_BITS,
                b: words[1] * I::WORD_BITS,
            };
            for op in Op::ALL.into_iter().filter(|op| !op.is_modular()) {
                let Ok(spec) = Spec::new(op, size, I::WORD_BITS) else {
                    continue;
                };
                for method in METHODS.iter().filter(|m| m.computes(op)) {
                    let facts = I::facts(core).styled(style);
                    let choices = (method.defaults)(&spec, &facts);
                    list.extend(choices.into_iter().take(sets).map(|params| Cell {
                        style,
                        op,
                        words,
                        method,
                        params,
                    }));
                }
            }
        }
    }
    list
}

#[derive(Default)]
struct Tally {
    /// By style and method.
    proved: BTreeMap<(Style, &'static str), usize>,
    runs: usize,
    /// Why there is no kernel.
    unsupported: BTreeMap<String, usize>,
    /// Right on numbers, but not proved.
    unknown: Vec<String>,
    /// Neither a kernel nor a reason.
    missing: Vec<String>,
}

fn judge<I: Isa>(core: &I::Core, cell: &Cell, shared: &Mutex<Tally>) {
    let Cell { op, method, .. } = cell;
    let [a, b] = cell.words.map(|n| n * I::WORD_BITS);
    let size = Size { a, b };
    let name = format!(
        "{} {size} {} {:?}, {}",
        op.name(),
        method.name,
        cell.params,
        cell.style.name()
    );
    let named = |(name, value): (&&str, &usize)| (name.to_string(), *value);
    let request = Request {
        op: *op,
        size,
        modular: None,
        method: Some(method.name.into()),
        params: cell.params.iter().map(named).collect(),
        max_regs: None,
        style: Some(cell.style).filter(|style| *style != Style::Unrolled),
        budget: Budget::default(),
        drop: None,
    };
    let kernel = kernel::generate::<I>(&request, core);
    let mut tally = shared.lock().expect("no thread panicked");
    let kernel = match kernel {
        Ok(kernel) if kernel.is_proved() => kernel,
        Ok(kernel) => return tally.unknown.push(format!("{name}: {:?}", kernel.proof)),
        Err(error @ (Error::Lower { .. } | Error::Method(_) | Error::Style { .. })) => {
            *tally.unsupported.entry(error.to_string()).or_default() += 1;
            return;
        }
        Err(error) => return tally.missing.push(format!("{name}: {error}")),
    };
    *tally.proved.entry((cell.style, method.name)).or_default() += 1;
    drop(tally);
    let mut runs = 0;
    let others = kernel.aliasing.iter().filter(|case| case.allowed);
    let aliases = std::iter::once(Alias::Distinct).chain(others.map(|case| case.alias));
    for alias in aliases {
        let lengths = kernel.spec.source_bytes();
        for mut sources in vectors::operands(&lengths, tier::of_each(10), u64::from(cell.words[0]))
        {
            share(&mut sources, alias, size);
            let got = kernel::run::<I>(&kernel.spec, core, &kernel.code, &sources, alias);
            let (got, _) = got.unwrap_or_else(|e| panic!("{name}, {alias:?}: {e}"));
            let want = expected(*op, &sources, a);
            assert_eq!(got, want, "{name}, {alias:?}: {sources:x?}");
            runs += 1;
        }
    }
    shared.lock().expect("no thread panicked").runs += runs;
}

/// Judges all cells of a machine and prints them. `least`: how many are proved at least, by method, and how many
/// looped and rolled ones.
fn machine<I: Isa>(core: &I::Core, least: Least, loops: [usize; 2])
where
    I::Core: Sync,
{
    let cells = tier::some(cells::<I>(core), I::WORD_BITS.into());
    let tally = Mutex::new(Tally::default());
    work::each(&cells, |cell| judge::<I>(core, cell, &tally));
    let tally = tally.into_inner().expect("no thread panicked");
    let proved: usize = tally.proved.values().sum();
    let unsupported: usize = tally.unsupported.values().sum();
    let mut text = format!(
        "{}: {proved} proved, {unsupported} unsupported, {} unknown, {} missing, {} runs\n",
        I::core_name(core),
        tally.unknown.len(),
        tally.missing.len(),
        tally.runs,
    );
    for ((style, method), count) in &tally.proved {
        let _ = writeln!(text, "  {method}, {}: {count}", style.name());
    }
    for (reason, count) in &tally.unsupported {
        let _ = writeln!(text, "  {count} x {reason}");
    }
    for cell in tally.unknown.iter().chain(&tally.missing) {
        let _ = writeln!(text, "  OPEN: {cell}");
    }
    println!("{text}");
    assert!(tally.unknown.is_empty() && tally.missing.is_empty());
    for (method, count) in METHODS.iter().map(|m| m.name).zip(least) {
        let proved = tally.proved.get(&(Style::Unrolled, method)).copied();
        let proved = proved.unwrap_or(0);
        let count = tier::least(count);
        assert!(proved >= count, "{method}: {proved} of {count}");
    }
    for (style, count) in [Style::Looped, Style::Rolled].into_iter().zip(loops) {
        let of_style = tally.proved.iter().filter(|((s, _), _)| *s == style);
        let proved: usize = of_style.map(|(_, count)| count).sum();
        let count = tier::least(count);
        assert!(proved >= count, "{}: {proved} of {count}", style.name());
    }
}

/// Cells that are proved, in the order of [`METHODS`]:
/// operand caching, consecutive operand caching, hybrid, product scanning, operand scanning;
/// Karatsuba, Karatsuba-Comba, Karatsuba joined, Karatsuba-schoolbook, Karatsuba squaring;
/// squares by product scanning, operand scanning, carry catcher, lazy and sliding block doubling;
/// shift-and-add; short products.
type Least = [usize; 17];

const AVR: Least = [
    115, 62, 147, 67, 72, 99, 32, 10, 32, 24, 55, 15, 52, 56, 70, 0, 54,
];
const AVR_NO_MUL: Least = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 347, 0];
const ARM: Least = [
    45, 41, 72, 67, 62, 51, 32, 11, 32, 24, 55, 15, 52, 56, 70, 0, 32,
];
const MIPS: Least = [
    105, 62, 147, 67, 72, 99, 32, 10, 32, 24, 55, 15, 52, 56, 70, 0, 0,
];
const MIPS_WIDE: Least = [
    115, 62, 147, 67, 72, 99, 32, 10, 32, 24, 55, 15, 52, 56, 70, 0, 0,
];

#[test]
fn avr() {
    machine::<AvrIsa>(&ATMEGA128, AVR, [43, 32]);
}

#[test]
fn avr_without_a_multiplier() {
    machine::<AvrIsa>(&ATTINY85, AVR_NO_MUL, [29, 0]);
}

#[test]
fn arm() {
    machine::<ArmIsa>(&ARM7TDMI_HW2018, ARM, [21, 24]);
}

fn mips(features: &[Feature]) -> MipsCore {
    let core = MipsCore::named("mips-4km").expect("a core");
    features.iter().fold(core, |core, f| core.with(*f))
}

#[test]
fn mips_plain() {
    machine::<MipsIsa>(&mips(&[]), MIPS, [21, 21]);
}

#[test]
fn mips_with_a_wide_accumulator() {
    machine::<MipsIsa>(&mips(&[Feature::WideAcc]), MIPS_WIDE, [21, 21]);
}

#[test]
fn mips_with_row_steps() {
    machine::<MipsIsa>(&mips(&[Feature::MaddHl]), MIPS, [21, 21]);
}
