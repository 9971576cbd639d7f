//! The matrix operation x modulus x method x parameters x size x style x machine: every cell is a kernel that is proved
//! and right on numbers for every aliasing it allows, or has a reason why there is none. What it comes to stands in the
//! ledger, a file for each machine.

use std::sync::atomic::{AtomicUsize, Ordering};

use lozenge::call::Operands;
use lozenge::facts::Style;
use lozenge::function::Function;
use lozenge::isa::Span;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::cores::{ATMEGA128, ATTINY85};
use lozenge::isa::core::Core;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::mips::instructions::Feature;
use lozenge::isa::msp430::cores::Core as Msp430Core;
use lozenge::isa::riscv::cores::Core as RiscvCore;
use lozenge::kernel::{self, Error, Kernel, Request};
use lozenge::method::{METHODS, Method, Params};
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Alias, Op, Size, Spec};
use lozenge::{lower, vectors};
use num_bigint::BigUint;

use crate::kernels::small_operations::SMALL;
use crate::kit::tier::{self, Tier};
use crate::kit::{any, ask, known, work};
use crate::ledger::{self, Line, Sheet};

/// The columns of a machine's file, and how many of them are figures.
pub const COLUMNS: &str = "op,size,modulus,method,params,style,body,call,bytes,stack,known";
pub const FIGURES: usize = 4;
/// Cells of a machine that are made where a sample does.
const SAMPLED: usize = 25;
/// Of so many cells in a row one is made, of machines that have much with another in common; and of the others.
const PARTS: usize = 8;
const HALF: usize = 2;
/// All parameters that a method tries.
const ALL: usize = 99;

/// Words of a and b, and how many sets of parameters of each method are tried.
fn sizes(night: bool, word_bits: u32) -> Vec<([u32; 2], usize)> {
    let mut list: Vec<_> = (1..=9).map(|n| ([n, n], ALL)).collect();
    // The fourth makes the fastest squares of words of 16 bits.
    let sets = match word_bits {
        _ if night => ALL,
        16 => 4,
        _ => 3,
    };
    list.extend([12, 16, 20, 25, 32].map(|n| ([n, n], sets)));
    if night {
        list.extend([24, 28, 48, 64].map(|n| ([n, n], 3)));
    }
    for n in [1, 2, 3, 5, 8] {
        list.extend([1, 2, 4, 7].map(|m| ([n, m], ALL)));
    }
    list.extend([[32, 8], [8, 32], [40, 1], [1, 40]].map(|size| (size, ALL)));
    list
}

/// The same of loops: few, as a proof follows every pass.
fn looped_sizes(night: bool) -> Vec<([u32; 2], usize)> {
    let sets = if night { ALL } else { 2 };
    let mut list: Vec<_> = [9, 8, 5, 4, 3, 2, 1].map(|n| ([n, n], sets)).to_vec();
    list.extend([([16, 16], 4), ([5, 3], 2)]);
    if night {
        list.extend([20, 24, 32].map(|n| ([n, n], 2)));
    }
    list
}

/// Moduli of modular operations: what is typed, how far it is reduced, how many words operands have; 0 for what the
/// modulus itself has.
fn moduli(night: bool) -> Vec<(&'static str, Reduce, u32)> {
    let mut list = Vec::new();
    for words in [1, 2, 3, 4, 5, 6, 8] {
        list.push(("runtime", Reduce::Full, words));
        list.push(("runtime", Reduce::Almost, words));
    }
    list.push(("runtime-bare", Reduce::Full, 4));
    list.push(("runtime-folded", Reduce::Almost, 8));
    for name in ["opf160", "secp160r1", "p192", "25519"] {
        list.push((name, Reduce::Full, 0));
    }
    if night {
        list.extend([16, 20].map(|words| ("runtime", Reduce::Full, words)));
        for name in [
            "p192",
            "p224",
            "p256",
            "25519",
            "secp256k1",
            "p256-order",
            "p384",
        ] {
            list.push((name, Reduce::Almost, 0));
        }
        list.extend(["p224", "p256", "secp256k1", "p256-order"].map(|m| (m, Reduce::Full, 0)));
    }
    list
}

/// What is asked for, in one style.
struct Cell {
    style: Style,
    op: Op,
    size: Size,
    modular: Option<Modular>,
    method: &'static Method,
    params: Params,
}

/// Is `got` what the operation makes of `sources`? By its definition, said once more.
fn right(spec: &Spec, sources: &[BigUint], got: &BigUint) -> bool {
    let n = spec.size.a;
    let power = BigUint::from(1u8) << n;
    let a = &sources[0];
    // A factor that comes second; a square's is the first again.
    let b = match spec.op.factors() {
        2 => &sources[1],
        _ => a,
    };
    let Some(m) = spec.modulus(sources) else {
        return *got
            == match spec.op {
                Op::Mul => a * b,
                Op::Sqr => a.pow(2),
                Op::Mullo => a * b % power,
                Op::Mulhi => a * b / power,
                other => unreachable!("no method makes {other:?}"),
            };
    };
    // Both sides of the congruence, without a division.
    let (left, made) = match spec.op {
        Op::Montmul | Op::Montsqr => (got << n, a * b),
        Op::Redc | Op::Frommont => (got << n, a.clone()),
        Op::Tomont => (got.clone(), a << n),
        Op::Modmul | Op::Modsqr => (got.clone(), a * b),
        Op::Modadd => (got.clone(), a + b),
        Op::Modsub => (got + b, a.clone()),
        Op::Modneg => (got + a, BigUint::ZERO),
        Op::Modhalf => (got << 1, a.clone()),
        other => unreachable!("{other:?} has no modulus"),
    };
    let reduce = spec.modular.as_ref().map(|modular| modular.reduce);
    let bound = reduce.unwrap_or_default().bound(&m, n);
    left % &m == made % &m && *got < bound
}

/// Operands that share a place are the same as far as both go.
fn share(spec: &Spec, sources: &mut [BigUint], alias: Alias) {
    let size = spec.size;
    let factors = &mut sources[..spec.op.factors()];
    if let ([a, b], Alias::AIsB | Alias::All) = (factors, alias) {
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

/// The cells of one style: numbers of any sizes, then modulo numbers.
fn of_style(core: &Core, style: Style, night: bool, list: &mut Vec<Cell>) {
    let facts = lower::facts(core).styled(style);
    let mut of = |op: Op, size: Size, modular: Option<Modular>, sets: usize| {
        let Ok(spec) = Spec::with(op, size, modular.clone(), core.word_bits()) else {
            return;
        };
        for method in METHODS.iter().filter(|m| m.computes(op)) {
            let choices = (method.defaults)(&spec, &facts);
            list.extend(choices.into_iter().take(sets).map(|params| Cell {
                style,
                op,
                size,
                modular: modular.clone(),
                method,
                params,
            }));
        }
    };
    let sizes = match style {
        Style::Unrolled => sizes(night, core.word_bits()),
        Style::Looped | Style::Rolled => looped_sizes(night),
    };
    let (modular, others): (Vec<Op>, Vec<Op>) = Op::ALL.into_iter().partition(|op| op.is_modular());
    // The others that have one method each are in `small_operations`.
    let plain: Vec<Op> = others
        .into_iter()
        .filter(|op| !SMALL.contains(op))
        .collect();
    for ([a, b], sets) in sizes {
        let [a, b] = [a, b].map(|words| words * core.word_bits());
        plain
            .iter()
            .for_each(|op| of(*op, Size { a, b }, None, sets));
    }
    for (name, reduce, words) in moduli(night) {
        let full = Modular::full(name.parse().expect("a modulus"));
        let bits = match full.fixed() {
            Some(m) => (m.bits() as u32).next_multiple_of(core.word_bits()),
            None => words * core.word_bits(),
        };
        let sets = if night && bits < 192 { 3 } else { 1 };
        // What is folded is a number.
        let folds = |op: &&Op| matches!(**op, Op::Modmul | Op::Modsqr);
        let fixed = full.fixed().is_some();
        // Products by a number in the code have one method, too: they are in `special`.
        let modular = modular.iter().filter(|op| **op != Op::Modtimes);
        for op in modular.filter(|op| fixed || !folds(op)) {
            let modular = Modular {
                reduce,
                ..full.clone()
            };
            of(*op, bits.into(), Some(modular), sets);
        }
    }
}

/// All cells, the most work first; those of the night are not those of the day.
fn cells(core: &Core, night: bool) -> Vec<Cell> {
    let all = |night: bool| {
        let mut list = Vec::new();
        let styles = Style::ALL.into_iter();
        styles.for_each(|style| of_style(core, style, night, &mut list));
        list
    };
    let mut list = all(night);
    let mut known: std::collections::BTreeSet<_> = match night {
        true => all(false).iter().map(Cell::key).collect(),
        false => Default::default(),
    };
    list.retain(|cell| known.insert(cell.key()));
    list.sort_by_key(|cell| std::cmp::Reverse(u64::from(cell.size.a) * u64::from(cell.size.b)));
    list
}

impl Cell {
    fn key(&self) -> String {
        let modular = self.modular.as_ref().map_or(String::new(), |modular| {
            format!("{} {}", modular.modulus, modular.reduce.name())
        });
        let params = self.params.texts();
        let params = params.map(|(name, value)| format!("{name}={value}"));
        let params = params.collect::<Vec<_>>().join(" ");
        let [op, method, style] = [self.op.name(), self.method.name, self.style.name()];
        format!("{op},{},{modular},{method},{params},{style}", self.size)
    }

    fn request(&self) -> Request {
        let asked = Request {
            modular: self.modular.clone(),
            method: Some(self.method.name.into()),
            style: Some(self.style).filter(|style| *style != Style::Unrolled),
            ..ask::in_any_time(self.op, self.size)
        };
        ask::with(&self.params, asked)
    }
}

/// What a kernel comes to.
pub fn line(key: String, kernel: &Kernel) -> Line {
    let span = |span: Span| match span.min == span.max {
        true => span.max.to_string(),
        false => format!("{}..{}", span.min, span.max),
    };
    let mut known = vec![match kernel.is_proved() {
        true => "proved".to_string(),
        false => "open".to_string(),
    }];
    let allowed = kernel.aliasing.iter().filter(|case| case.allowed);
    known.extend(allowed.map(|case| case.alias.text().to_string()));
    let timing = kernel.constant_time.iter();
    let leaks = timing.filter_map(|(core, timing)| Some((core, timing.leak.as_ref()?)));
    known.extend(leaks.map(|(core, leak)| format!("{} on {core}", leak.word())));
    Line {
        key,
        figures: vec![
            span(kernel.cost.body),
            span(kernel.cost.call),
            kernel.code.len().to_string(),
            kernel.cost.stack.total().to_string(),
        ],
        known: known.join("; "),
    }
}

/// The line of a cell that cannot be, for a reason in short words.
pub fn none(key: String, reason: &str) -> Line {
    Line {
        key,
        figures: vec![String::new(); FIGURES],
        known: format!("none: {reason}"),
    }
}

/// Short words for a variant of an error: `NoMultiplier("attiny85")` is `no multiplier`.
fn short(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    let name = text.chars().take_while(|c| c.is_alphanumeric());
    let mut words = String::new();
    for c in name {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// Why there is no kernel, in short words; none if that says nothing.
pub fn reason(error: &Error) -> Option<String> {
    match error {
        Error::Lower { error, .. } => Some(short(error)),
        Error::Method(error) => Some(short(error)),
        Error::Style { made, .. } => Some(format!("only {}", made.name())),
        _ => None,
    }
}

/// Makes a cell and runs it; its line, or what is wrong with it.
fn judge(core: &Core, cell: &Cell, runs: &AtomicUsize) -> Result<Line, String> {
    let key = cell.key();
    let kernel = match known::generate(&cell.request(), core) {
        Ok(kernel) => kernel,
        Err(error) => {
            let told = reason(&error).ok_or_else(|| format!("{key}: {error}"))?;
            return Ok(none(key, &told));
        }
    };
    let others = kernel.aliasing.iter().filter(|case| case.allowed);
    let aliases = std::iter::once(Alias::Distinct).chain(others.map(|case| case.alias));
    let spec = &kernel.spec;
    let call = core.calls(Function::kernel(&kernel.code));
    for alias in aliases {
        for mut sources in vectors::of(spec, tier::of_each(10), u64::from(cell.size.a)) {
            share(spec, &mut sources, alias);
            let got = call(&Operands::of(spec, &sources, alias), kernel::RUN_LIMIT);
            let (got, _) = got.map_err(|e| format!("{key}, {alias:?}: {e:?}"))?;
            if !right(spec, &sources, &got) {
                return Err(format!("{key}, {alias:?}: {sources:x?} gave {got:x}"));
            }
            runs.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(line(key, &kernel))
}

/// Makes every `step`th cell of a machine and holds it against the machine's file; at night, and where the file is written, all.
fn machine(core: &Core, file: &str, step: usize) {
    made(core, file, step, false);
    if tier::tier() == Tier::Night {
        made(core, &format!("night/{file}"), 1, true);
    }
}

fn made(core: &Core, file: &str, step: usize, night: bool) {
    let tier = tier::tier();
    let step = if ledger::writes() { 1 } else { step };
    let mut cells = tier::sample(file, cells(core, night), SAMPLED);
    if tier == Tier::Full && step > 1 {
        cells = tier::part(cells, step, 61);
    }
    let whole = tier == Tier::Night || tier == Tier::Full && step == 1;
    let runs = AtomicUsize::new(0);
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for made in work::each(&cells, |cell| judge(core, cell, &runs)) {
        match made {
            Ok(line) => lines.push(line),
            Err(text) => wrong.push(text),
        }
    }
    let count = |start: &str| lines.iter().filter(|l| l.known.starts_with(start)).count();
    println!(
        "{file}: {} proved, {} open, {} cannot be, {} wrong, {} runs",
        count("proved"),
        count("open"),
        count("none"),
        wrong.len(),
        runs.into_inner(),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let sheet = Sheet {
        name: file.into(),
        columns: COLUMNS,
        figures: FIGURES,
    };
    sheet.hold(lines, whole);
}

#[test]
fn avr() {
    machine(&any(&ATMEGA128), "atmega128", HALF);
}

#[test]
fn avr_without_a_multiplier() {
    machine(&any(&ATTINY85), "attiny85", HALF);
}

#[test]
fn arm() {
    machine(&any(&ARM7TDMI), "arm7tdmi", HALF);
}

fn mips(features: &[Feature]) -> MipsCore {
    let core = MipsCore::named("mips-4km").expect("a core");
    features.iter().fold(core, |core, f| core.with(*f))
}

#[test]
fn mips_plain() {
    machine(&any(&mips(&[])), "mips-4km", HALF);
}

#[test]
fn mips_with_a_wide_accumulator() {
    machine(&any(&mips(&[Feature::WideAcc])), "mips-4km-wide-acc", PARTS);
}

#[test]
fn mips_with_row_steps() {
    machine(&any(&mips(&[Feature::MaddHl])), "mips-4km-maddhl", PARTS);
}

#[test]
fn riscv() {
    let core = RiscvCore::named("rv32im").expect("a core");
    machine(&any(core), "rv32im", HALF);
}

#[test]
fn msp430() {
    let core = Msp430Core::named("msp430-mpy16").expect("a core");
    machine(&any(core), "msp430-mpy16", HALF);
}

#[test]
fn msp430x_with_products_of_32_bits() {
    let core = Msp430Core::named("msp430x-mpy32").expect("a core");
    machine(&any(core), "msp430x-mpy32", PARTS);
}

#[test]
fn msp430_without_a_multiplier() {
    let core = Msp430Core::named("msp430").expect("a core");
    machine(&any(core), "msp430", PARTS);
}

#[test]
fn errors_are_short_words() {
    let error = lozenge::lower::LowerError::NoMultiplier("x");
    assert_eq!(short(&error), "no multiplier");
    assert_eq!(short(&lozenge::lower::LowerError::Registers), "registers");
}
