//! Proofs: the judge, with the finder that looks for them.

use finder::algebra::Algebra;
use judge::certificate::Case;
pub use judge::prove::{Proof, Verdict, bases, declare, kernel, placed, words};
pub use judge::timing::{Leak, Timing, Ways};
pub(crate) use judge::timing::{function_timing, leak, narrowest_access};
use machine::function::Function;
use machine::isa::Isa;
use machine::program::Claim;
use spec::{Alias, Spec};

/// Runs `code` for all inputs and shows equation, memory and calling convention.
pub(crate) fn prove<I: Isa>(spec: &Spec, core: &I::Core, code: &[u8], alias: Alias) -> Proof {
    judge::prove::prove::<I, Algebra>(spec, core, code, alias)
}

/// The same with claims about the instructions.
pub(crate) fn prove_with<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    code: &[u8],
    claims: &[Claim],
    alias: Alias,
) -> Proof {
    judge::prove::prove_with::<I, Algebra>(spec, core, code, claims, alias)
}

/// The same for any function.
pub(crate) fn prove_function<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    alias: Alias,
) -> Proof {
    judge::prove::prove_function::<I, Algebra>(spec, core, function, alias)
}

/// The proof for a certificate: what the run wrote down, if everything is proved.
pub(crate) fn certify<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    alias: Alias,
) -> (Proof, Option<Case>) {
    judge::prove::certify::<I, Algebra>(spec, core, function, alias)
}
