//! The instruction sets that there are kernels for, and all that is done for each of them.
//!
//! Rust compiles a function that is generic over machines again in every crate that calls it. So the library calls the
//! large ones here, once for each machine; command line and tests call the functions of this trait, which are not
//! generic and are compiled with the library.

use judge::certificate::{self, Case};
use judge::prove::Proof;
use judge::timing::Timing;
use judge::trial::Tested;
use judge::verdict::{Judged, Search};
use machine::function::Function;
use machine::isa::Cost;
use machine::isa::arm::ArmIsa;
use machine::isa::avr::AvrIsa;
use machine::isa::mips::MipsIsa;
use machine::isa::riscv::RiscvIsa;
use machine::program::Claim;
use make::candidate::Candidate;
use make::driver::{Assembled, Driver};
use make::error::Error;
use make::lower::Lower;
use make::request::Request;
use spec::modulus::Modular;
use spec::{Alias, Op, Size, Spec};

use crate::audit::{Audit, Contract, ContractError};
use crate::driver::secrecy::{self, Told};
use crate::kernel::{Judge, Kernel, Runs};
use crate::load::Loaded;
use crate::{audit, kernel, prove, smt};

/// Writes the trait with a function for each line of a list, and for each machine what compiles it.
macro_rules! supported {
    ($list:tt for $($isa:ty),*) => {
        supported!(@trait $list);
        $(supported!(@machine $isa, $list);)*
    };
    (@trait {
        $($(#[$doc:meta])* fn $name:ident$(<$life:lifetime>)?($($argument:ident: $type:ty),*) -> $out:ty = $($from:ident)::*;)*
    }) => {
        /// A supported instruction set: [`Lower`], and what the library does with it.
        pub trait Supported: Lower {
            $($(#[$doc])* fn $name$(<$life>)?($($argument: $type),*) -> $out;)*
        }
    };
    (@machine $isa:ty, {
        $($(#[$doc:meta])* fn $name:ident$(<$life:lifetime>)?($($argument:ident: $type:ty),*) -> $out:ty = $($from:ident)::*;)*
    }) => {
        impl Supported for $isa {
            $(fn $name$(<$life>)?($($argument: $type),*) -> $out {
                $($from)::*::<Self>($($argument),*)
            })*
        }
    };
}

supported!({
    /// The cheapest candidate in the call convention, then in bytes, not judged. An error is the first reason why there
    /// is none; that of the named method if one is named.
    fn choose(request: &Request, core: &Self::Core) -> Result<(Spec, Candidate<Self>), Error> = kernel::choose;

    /// A kernel for the request, judged on its bytes: the cheapest of those that are proved. An error is why there is
    /// none, or what comes nearest to the budget.
    fn generate(request: &Request, core: &Self::Core) -> Result<Kernel<Self>, Error> = kernel::generate;

    /// The same, with verdicts on its code from a judge of the caller's own, who answers for them: from one who remembers
    /// what [`Supported::judge`] said of the same code, for whoever makes many kernels.
    fn generate_by(
        request: &Request,
        core: &Self::Core,
        judge: &Judge<'_>
    ) -> Result<Kernel<Self>, Error> = kernel::generate_by;

    /// What runs code on numbers, decoded once; an error is a fault, in words.
    fn runs<'a>(spec: &'a Spec, core: &'a Self::Core, code: &[u8]) -> Runs<'a> = kernel::runs;

    /// Operands on which a function is wrong, among corners and `count` others.
    fn counterexample(
        spec: &Spec,
        core: &Self::Core,
        function: &Function,
        alias: Alias,
        count: usize
    ) -> Option<String> = kernel::counterexample;

    /// All verdicts: for every overlap of operands and every core that runs the code.
    fn judge(spec: &Spec, core: &Self::Core, function: &Function, search: Search) -> Judged = kernel::judge_function;

    /// The proof for distinct operands, with a counterexample where it fails and one is found.
    fn verdict(
        spec: &Spec,
        core: &Self::Core,
        function: &Function,
        search: Search
    ) -> (Proof, Tested) = kernel::verdict;

    /// Equation, memory and calling convention of code, for all inputs.
    fn prove(spec: &Spec, core: &Self::Core, code: &[u8], alias: Alias) -> Proof = prove::prove;

    /// The same with claims about the instructions.
    fn prove_with(
        spec: &Spec,
        core: &Self::Core,
        code: &[u8],
        claims: &[Claim],
        alias: Alias
    ) -> Proof = prove::prove_with;

    /// The same for any function.
    fn prove_function(
        spec: &Spec,
        core: &Self::Core,
        function: &Function,
        alias: Alias
    ) -> Proof = prove::prove_function;

    /// The same, with what the run wrote down if everything is proved.
    fn certify(
        spec: &Spec,
        core: &Self::Core,
        function: &Function,
        alias: Alias
    ) -> (Proof, Option<Case>) = prove::certify;

    /// The proof along what a run wrote down. An error is what is no such record.
    fn verify(
        spec: &Spec,
        core: &Self::Core,
        function: &Function,
        case: &Case
    ) -> Result<Proof, String> = certificate::verify;

    /// What time and addresses tell of the operands of a function, and its cycles.
    fn timing(spec: &Spec, core: &Self::Core, function: &Function) -> Timing = prove::function_timing;

    /// The cost of code if neither time nor addresses tell anything about the operands. An error is what leaks.
    fn leak(spec: &Spec, core: &Self::Core, code: &[u8]) -> Result<Cost, String> = prove::leak;

    /// Bits of the narrowest loads of operands, if the run can be followed.
    fn narrowest_access(spec: &Spec, core: &Self::Core, function: &Function) -> Option<u32> = prove::narrowest_access;

    /// What a function computes under a contract; it is told what it is called with. An error is what does not fit.
    fn prepare(
        what: (Op, Size, Option<Modular>),
        core: &Self::Core,
        function: &mut Function,
        contract: &Contract<'_>
    ) -> Result<Spec, ContractError> = audit::prepare;

    /// Judges a function of a file.
    fn audit(spec: &Spec, core: &Self::Core, loaded: &Loaded) -> Audit = audit::audit;

    /// What a function computes, as a script for SMT solvers. An error is where its run stopped, and why.
    fn script(spec: &Spec, core: &Self::Core, function: &Function) -> Result<String, String> = smt::script;

    /// Shows that a driver's time and addresses depend on no number; on an exponent that is `public` they may. An error
    /// is the first instruction that leaks.
    fn keeps_its_time(
        core: &Self::Core,
        driver: &Driver,
        assembled: &Assembled<Self::Insn>,
        public: bool
    ) -> Result<(), Told> = secrecy::constant_time;
} for AvrIsa, ArmIsa, MipsIsa, RiscvIsa);
