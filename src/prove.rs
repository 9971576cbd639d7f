//! Proofs: the judge, with the finder that looks for them.

use finder::algebra::Algebra;
use judge::certificate::Case;
pub use judge::prove::{Proof, Verdict, bases, declare, kernel, placed, words};
pub use judge::timing::{Leak, Timing, Ways, function_timing, leak, narrowest_access};
use machine::function::Function;
use machine::isa::core::Core;
use machine::program::Claim;
use spec::{Alias, Spec};

/// Runs `code` for all inputs and shows equation, memory and calling convention.
pub fn prove(spec: &Spec, core: &Core, code: &[u8], alias: Alias) -> Proof {
    judge::prove::prove::<Algebra>(spec, core, code, alias)
}

/// The same with claims about the instructions.
pub fn prove_with(spec: &Spec, core: &Core, code: &[u8], claims: &[Claim], alias: Alias) -> Proof {
    judge::prove::prove_with::<Algebra>(spec, core, code, claims, alias)
}

/// The same for any function.
pub fn prove_function(spec: &Spec, core: &Core, function: &Function, alias: Alias) -> Proof {
    judge::prove::prove_function::<Algebra>(spec, core, function, alias)
}

/// The proof for a certificate: what the run wrote down, if everything is proved.
pub fn certify(
    spec: &Spec,
    core: &Core,
    function: &Function,
    alias: Alias,
) -> (Proof, Option<Case>) {
    judge::prove::certify::<Algebra>(spec, core, function, alias)
}
