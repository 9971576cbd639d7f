//! What the command line and every test binary make of generic functions, made once.
//!
//! Up to level 1 of optimisation rustc gives what a library has made of a generic function to whatever is linked with
//! it (`share_generics`). So in a build for development the library makes the kernels' functions for every machine, and
//! a test binary does not make them again. In a release it would only add to the work: there nothing is shared.

use machine::isa::arm::ArmIsa;
use machine::isa::avr::AvrIsa;
use machine::isa::mips::MipsIsa;
use machine::isa::riscv::RiscvIsa;
use make::lower::Lower;

use crate::{audit, kernel, prove, smt};

/// The addresses of what is shared: naming a function is what makes it.
pub fn addresses() -> Vec<usize> {
    [
        of::<AvrIsa>(),
        of::<ArmIsa>(),
        of::<MipsIsa>(),
        of::<RiscvIsa>(),
    ]
    .concat()
}

fn of<I: Lower>() -> Vec<usize> {
    vec![
        kernel::generate::<I> as *const () as usize,
        kernel::choose::<I> as *const () as usize,
        kernel::run::<I> as *const () as usize,
        kernel::run_function::<I> as *const () as usize,
        kernel::counterexample::<I> as *const () as usize,
        kernel::verdict::<I> as *const () as usize,
        kernel::judge_function::<I> as *const () as usize,
        prove::prove::<I> as *const () as usize,
        prove::prove_with::<I> as *const () as usize,
        prove::prove_function::<I> as *const () as usize,
        prove::timing::<I> as *const () as usize,
        prove::function_timing::<I> as *const () as usize,
        prove::leak::<I> as *const () as usize,
        audit::prepare::<I> as *const () as usize,
        audit::audit::<I> as *const () as usize,
        smt::script::<I> as *const () as usize,
    ]
}
