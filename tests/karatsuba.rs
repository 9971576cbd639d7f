//! Karatsuba's multiplication and squaring at the sizes below, with the sets of parameters that
//! each test says, on every machine: proved, and right on numbers. What is right but not proved is
//! counted, and may not become more.

use lozenge::facts::Facts;
use lozenge::isa::Isa;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI_HW2018;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::kernel::{self, Request};
use lozenge::method::{self, Params};
use lozenge::prove::Verdict;
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors;

/// What is tried on a machine: an operation by a method, words of each operand, sets of parameters.
struct Cells<'a> {
    op: Op,
    method: &'a str,
    words: &'a [u32],
    keep: fn(&Params) -> bool,
}

impl Cells<'_> {
    /// Cells that are proved, and those that are not. Every kernel is right on numbers.
    fn judge<I: Isa>(&self, core: &I::Core) -> (usize, usize) {
        let method = method::find(self.method).expect("a method");
        let (mut proved, mut open) = (0, Vec::new());
        for n in self.words {
            let bits = n * I::WORD_BITS;
            let spec = Spec::new(self.op, bits, I::WORD_BITS).expect("a size");
            for params in (method.defaults)(&spec, &I::facts(core)) {
                if !(self.keep)(&params) {
                    continue;
                }
                let cell = format!("{} {n} words {params:?}", method.name);
                let named = params
                    .iter()
                    .map(|(name, value)| (name.to_string(), *value));
                let request = Request {
                    op: self.op,
                    size: spec.size,
                    method: Some(method.name.into()),
                    params: named.collect(),
                    max_regs: None,
                    drop: None,
                };
                let kernel = kernel::generate::<I>(&request, core);
                let kernel = kernel.unwrap_or_else(|e| panic!("{cell}: {e}"));
                for sources in vectors::operands(&spec.source_bytes(), 20, u64::from(*n)) {
                    let ran =
                        kernel::run::<I>(&spec, core, &kernel.code, &sources, Alias::Distinct);
                    let (got, _) = ran.unwrap_or_else(|e| panic!("{cell}: {e}"));
                    let [x, y] = [&sources[0], sources.last().expect("an operand")];
                    assert_eq!(got, x * y, "{cell}: {sources:x?}");
                }
                match (kernel.is_proved(), &kernel.proof.correct) {
                    (true, _) => proved += 1,
                    (false, Verdict::Unknown(text)) => open.push(format!("{cell}: {text}")),
                    _ => panic!("{cell}: {:?}", kernel.proof),
                }
            }
        }
        println!("{} {}: {proved} proved", I::core_name(core), self.method);
        for text in &open {
            println!("  {text}");
        }
        (proved, open.len())
    }
}

/// Multiplications with some sets of parameters.
fn products(words: &[u32], keep: fn(&Params) -> bool) -> Cells<'_> {
    let (op, method) = (Op::Mul, "karatsuba");
    Cells {
        op,
        method,
        words,
        keep,
    }
}

/// Squarings with all sets of parameters.
fn squares(words: &[u32]) -> Cells<'_> {
    let (op, method) = (Op::Sqr, "karatsuba-squaring");
    Cells {
        op,
        method,
        words,
        keep: |_| true,
    }
}

/// One level, by columns or short rows, differences late.
fn small(p: &Params) -> bool {
    p["early"] == 0 && p["levels"] == 1 && p["rows"] < 6
}

/// With a == b differences are 0 and flags known: the status word kept while the stack pointer moves
/// must come back all the same.
#[test]
fn avr_products_are_proved() {
    let (proved, open) = products(&[2, 5, 7, 8], |p| p["levels"] < 3).judge::<AvrIsa>(&ATMEGA128);
    assert!(proved > 0 && open == 0, "{proved}, {open}");
}

#[test]
fn arm_products_are_proved() {
    let (proved, open) = products(&[4, 5], small).judge::<ArmIsa>(&ARM7TDMI_HW2018);
    assert!(proved > 0 && open == 0, "{proved}, {open}");
}

#[test]
fn mips_products_are_proved() {
    let core = MipsCore::named("mips-4km").expect("a core");
    let (proved, open) = products(&[4, 5], small).judge::<MipsIsa>(&core);
    assert!(proved > 0 && open == 0, "{proved}, {open}");
}

#[test]
fn avr_squares_are_proved() {
    let (proved, open) = squares(&[8, 11, 16, 24, 32]).judge::<AvrIsa>(&ATMEGA128);
    assert!(proved >= 9 && open == 0, "{proved}, {open}");
}

#[test]
fn arm_squares_are_proved() {
    let (proved, open) = squares(&[8, 16]).judge::<ArmIsa>(&ARM7TDMI_HW2018);
    assert!(proved >= 3 && open == 0, "{proved}, {open}");
}

#[test]
fn mips_squares_are_proved() {
    let core = MipsCore::named("mips-4km").expect("a core");
    let (proved, open) = squares(&[8, 16]).judge::<MipsIsa>(&core);
    assert!(proved >= 3 && open == 0, "{proved}, {open}");
}

/// A level takes the products of three squares, of `ceil(n/2)`, `floor(n/2)` and `ceil(n/2)` words.
#[test]
fn a_level_takes_three_squares() {
    fn expected(n: usize, levels: usize) -> usize {
        match (levels, n) {
            (0, _) | (_, 1) => n * (n + 1) / 2,
            _ => 2 * expected(n.div_ceil(2), levels - 1) + expected(n / 2, levels - 1),
        }
    }
    let method = method::find("karatsuba-squaring").expect("a method");
    for word_bits in [8, 32] {
        let facts = Facts {
            word_bits,
            ..AvrIsa::facts(&ATMEGA128)
        };
        for n in 2..=40usize {
            let spec = Spec::new(Op::Sqr, n as u32 * word_bits, word_bits).expect("a size");
            for levels in 1..=n.ilog2() as usize {
                for c in [0, 1, 2, 4] {
                    let params = Params::from([("levels", levels), ("c", c)]);
                    let schedule = (method.schedule)(&spec, &facts, &params).expect("a schedule");
                    let counts = schedule.check().expect("right on numbers");
                    assert_eq!(counts.products, expected(n, levels), "n={n} {params:?}");
                }
            }
        }
    }
}
