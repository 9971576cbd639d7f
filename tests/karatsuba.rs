//! Karatsuba with every level and parameter, on every machine: proved, and right on numbers.

use lozenge::candidate::Budget;
use lozenge::isa::Isa;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI_HW2018;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::kernel::{self, Request};
use lozenge::method::{self, Params};
use lozenge::spec::{Op, Size, Spec};

/// The cells of one machine that are not proved: `words` of each operand, every set of parameters.
fn unproved<I: Isa>(core: &I::Core, words: impl Iterator<Item = u32>, keep: fn(&Params) -> bool) {
    let method = method::find("karatsuba").expect("a method");
    let (mut proved, mut open) = (0, Vec::new());
    for n in words {
        let bits = n * I::WORD_BITS;
        let spec = Spec::new(Op::Mul, Size { a: bits, b: bits }, I::WORD_BITS).expect("a size");
        for params in (method.defaults)(&spec, &I::facts(core)) {
            if !keep(&params) {
                continue;
            }
            let named = params
                .iter()
                .map(|(name, value)| (name.to_string(), *value));
            let request = Request {
                op: Op::Mul,
                size: spec.size,
                method: Some(method.name.into()),
                params: named.collect(),
                max_regs: None,
                budget: Budget::default(),
                drop: None,
            };
            match kernel::generate::<I>(&request, core) {
                Ok(kernel) if kernel.is_proved() => proved += 1,
                Ok(kernel) => open.push(format!("{n} words {params:?}: {:?}", kernel.proof)),
                Err(error) => open.push(format!("{n} words {params:?}: {error}")),
            }
        }
    }
    println!("{}: {proved} proved", I::core_name(core));
    for text in &open {
        println!("  {text}");
    }
    assert!(
        proved > 0 && open.is_empty(),
        "{} cells are open",
        open.len()
    );
}

/// With a == b differences are 0 and flags known: the status word kept while the stack pointer moves
/// must come back all the same.
#[test]
fn avr_kernels_are_proved() {
    unproved::<AvrIsa>(&ATMEGA128, [2, 5, 7, 8].into_iter(), |p| p["levels"] < 3);
}

#[test]
fn arm_kernels_are_proved() {
    let small = |p: &Params| p["early"] == 0 && p["levels"] == 1 && p["rows"] < 6;
    unproved::<ArmIsa>(&ARM7TDMI_HW2018, [4, 5].into_iter(), small);
}

#[test]
fn mips_kernels_are_proved() {
    let core = MipsCore::named("mips-4km").expect("a core");
    let small = |p: &Params| p["early"] == 0 && p["levels"] == 1 && p["rows"] < 6;
    unproved::<MipsIsa>(&core, [4, 5].into_iter(), small);
}
