//! What to type instead, for each reason why a size, a method, a machine or an argument is refused.

use lozenge::audit::{ArgumentError, ContractError};
use lozenge::lower::LowerError;
use lozenge::method::MethodError;
use lozenge::method::signature::PLAN;
use lozenge::spec::SpecError;

/// Instead of a size, a modulus or a bound.
pub fn spec(error: &SpecError) -> Option<String> {
    Some(match error {
        SpecError::Zero(_, bits) | SpecError::Quarters(_, bits) => bits.to_string(),
        SpecError::NotWhole(_, _, bits) => bits.clone(),
        SpecError::TwoSizes(op, _, bits) => format!("{op} {bits}"),
        SpecError::NoModulus(_, or) => format!("--modulus p256, --modulus 2^255-19 or {or}"),
        SpecError::NotModular(_) => "montmul, or leave out --modulus and --reduce".into(),
        SpecError::LargeModulus(_, _, _, bits) => format!("{bits} bits"),
        SpecError::NotLazy(..) | SpecError::FoldedReduce(_) => "--reduce almost".into(),
        SpecError::Folded(_) => "--modulus runtime, or redc behind mul or sqr".into(),
        SpecError::Shift(_, _, most) => format!("--shift {most}"),
        SpecError::ShiftedRuntime => "--modulus p192, or montmul for 2^-n".into(),
        SpecError::Shifted(_) => "leave out --shift (modmul and modsqr take it)".into(),
        SpecError::NoTimes(_) => "--times 121665".into(),
        SpecError::Times(_) => "modtimes, or leave out --times".into(),
        SpecError::TimesRuntime => "--modulus 25519".into(),
        SpecError::LargeTimes(..) => "modmul".into(),
        SpecError::TooLarge(_) | SpecError::Even(..) | SpecError::SmallModulus(_) => return None,
    })
}

/// Instead of a method, its parameters or its style.
pub fn method(error: &MethodError) -> Option<String> {
    Some(match error {
        MethodError::Registers {
            parameter, largest, ..
        } => format!("-p {parameter}={largest}"),
        MethodError::TwoSizes { .. } => "--method product-scanning".into(),
        MethodError::Halves { .. } => "another size, or leave out --method".into(),
        MethodError::Levels {
            parameter,
            value,
            most,
            ..
        } => format!(
            "-p levels=1 -p {parameter}={value} (levels up to {most}), or leave out --method"
        ),
        MethodError::NoModulus => "--modulus p256".into(),
        MethodError::NotSpecial => "montmul".into(),
        MethodError::NoSumOfWords(_) => "--method karatsuba+fold".into(),
        MethodError::NotHalf => "--shift 0, or montmul".into(),
        MethodError::NotShifted { instead, .. } => {
            format!("--method {instead}, in loops with --style rolled")
        }
        MethodError::Shifted(_) => "leave out --shift, or try --method range-shifted".into(),
        MethodError::Unfolded(_) => {
            "--modulus runtime-folded --reduce almost, or leave out --method".into()
        }
        MethodError::Folded | MethodError::NotFixed(_) | MethodError::InOneTime(_) => {
            "leave out --method".into()
        }
        MethodError::Multiplies(_) => "leave out --method, or --max-regs".into(),
        MethodError::OnlyLoops(_) => "--style looped or --style rolled".into(),
        MethodError::NoLoops(_) => "--modulus runtime, or --style unrolled".into(),
        MethodError::TopBits(_) => "--style rolled, or leave out --method".into(),
        MethodError::LazyFold => "--reduce almost".into(),
        MethodError::NoLoopsOfHalves | MethodError::Straight(_) => "--style unrolled".into(),
        MethodError::WantsMul(_) => "--style rolled --method hfips".into(),
        MethodError::NoLoopsOfSums => "--modulus runtime --reduce full, or --style unrolled".into(),
        MethodError::Missing {
            parameter: PLAN, ..
        }
        | MethodError::NoPart { .. }
        | MethodError::NoTree { .. } => {
            "-p plan=NAME, of those that `lozenge list plans` names".into()
        }
        MethodError::Missing { parameter, .. } => format!("more registers, or -p {parameter}=1"),
        MethodError::TooSmall { .. } | MethodError::TooLarge { .. } => return None,
    })
}

/// A method that makes the same in loops, as it is typed.
pub fn in_loops(name: &str) -> String {
    format!("--style rolled --method {name}")
}

/// Instead of a method that a machine does not make so; `others` makes the same in loops.
pub fn lowering(error: &LowerError, others: Option<&str>) -> Option<String> {
    Some(match error {
        LowerError::ThreePointers => {
            let loops = others.map_or(String::new(), |name| in_loops(name) + ", or ");
            format!("{loops}--abi gcc")
        }
        LowerError::Loops
        | LowerError::RowsOfQuotients
        | LowerError::WideRows
        | LowerError::Blocks => others.map_or("leave out --method".into(), in_loops),
        LowerError::Column(_) => "larger ones, --method hfips or hybrid -p d=4".into(),
        LowerError::Registers => "a larger --max-regs, or leave it out".into(),
        LowerError::Stack { .. } => "fewer levels or another method".into(),
        LowerError::Tiles => "a method for machines with a multiplier".into(),
        LowerError::Scans => "--style unrolled".into(),
        LowerError::Block(_) => "-p unroll=16".into(),
        LowerError::LazyAdditions => "--reduce almost".into(),
        LowerError::Looped => "--style rolled".into(),
        LowerError::Passes(most) => format!("-p unroll={most}"),
        LowerError::PowerOfTwo(unroll) => {
            format!("-p unroll={}", unroll.next_power_of_two())
        }
        LowerError::FewColumns => "--style looped, or another d".into(),
        LowerError::Halves(_) => "another method".into(),
        LowerError::Lowest(names) => (*names).into(),
        LowerError::Mixed
        | LowerError::Nested
        | LowerError::NoMultiplier(_)
        | LowerError::NoProducts(_)
        | LowerError::ByAdditions(_)
        | LowerError::NotYet(_)
        | LowerError::Driver(_)
        | LowerError::Area(_)
        | LowerError::Side { .. }
        | LowerError::Displacements(_)
        | LowerError::Displacement
        | LowerError::Reach
        | LowerError::Addressing => return None,
    })
}

/// Instead of a list of arguments, or of what the contract says besides.
pub fn contract(error: &ContractError) -> Option<String> {
    match error {
        ContractError::Spec(error) => spec(error),
        ContractError::Arguments(error) | ContractError::Scratch(error) => argument(error),
    }
}

fn argument(error: &ArgumentError) -> Option<String> {
    Some(match error {
        ArgumentError::Unknown(_) => {
            "r, a, b, r=a, a number, n8, n16, n32, =s, =inverse, scratch:BYTES or _".into()
        }
        ArgumentError::Place(_, place) => format!("{place}, or sp+4"),
        ArgumentError::Word(item, _) => item.split(':').next().unwrap_or_default().into(),
        ArgumentError::Together(..) => "r=a=b".into(),
        ArgumentError::Size(name, _) => format!("{name}:4"),
        ArgumentError::Missing(_, list) => list.clone(),
        ArgumentError::Register(_) | ArgumentError::Areas(_) | ArgumentError::Words(..) => {
            return None;
        }
    })
}
