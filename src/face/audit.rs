//! Anybody's function, judged under a contract.

use judge::certificate::{self, Case, Certificate};
use judge::prove::Proof;
use judge::timing::{self, Timing};
use judge::verdict::Aliasing;
use machine::isa::core::Core;
use machine::told;
use make::method::Params;
use make::request::Demands;
use spec::{Alias, Spec};

use crate::audit::{self, Contract as Promises};
use crate::face::claim;
use crate::face::contract::Contract;
use crate::face::error::Error;
use crate::face::verdicts::Verdicts;
use crate::listing::Listing;
use crate::load::{self, Loaded};
use crate::report::{Assumes, Cycles, Report, Subject};
use crate::smt;
use crate::target::Target;

/// How the operands of a function lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operands {
    /// Bits of the words that they are arrays of.
    pub word_bits: u32,
    /// Their addresses are multiples of so many bytes.
    pub align: u32,
}

/// A function that is judged.
#[derive(Debug)]
pub struct Audit {
    report: Report,
    aliasing: Vec<Aliasing>,
    operands: Operands,
}

/// A function of a file, and what is said of it.
pub struct Function {
    spec: Spec,
    core: Core,
    loaded: Loaded,
    symbol: String,
    contract: Contract,
    target: Target,
}

/// The same verdicts for anybody's code: the function `symbol` of an ELF object, program or static library.
///
/// ```
/// use lozenge::{Contract, Request, Target, audit};
/// use lozenge::spec::Op;
///
/// let chip = Target::mcu("atmega328p")?;
/// let object = Request::mul(64).generate(&chip)?.object()?;
/// let audit = audit(&object, "mul64", &Contract::new(Op::Mul, 64), &chip)?;
/// assert!(audit.verdicts().all_proved());
/// # Ok::<(), lozenge::Error>(())
/// ```
///
/// # Errors
/// When there is no such function in the file, or the contract does not fit it.
pub fn audit(
    object: &[u8],
    symbol: &str,
    contract: &Contract,
    target: &Target,
) -> Result<Audit, Error> {
    Ok(Function::load(object, symbol, contract, target)?.audit())
}

impl Function {
    /// The function `symbol` of an ELF object, program or static library.
    ///
    /// # Errors
    /// When there is none in the file, or the contract does not fit it.
    pub fn load(
        object: &[u8],
        symbol: &str,
        contract: &Contract,
        target: &Target,
    ) -> Result<Self, Error> {
        let core = target.to_core();
        let mut loaded = load::load(object, symbol, &core.object_format())?;
        let promises = Promises {
            arguments: contract.arguments.as_deref(),
            scratch: contract.scratch.as_deref(),
            limb_bits: contract.limb_bits,
            align: contract.align,
            limit: contract.limit,
        };
        let asked = audit::Asked {
            op: contract.op,
            size: contract.size,
            modular: contract.modular()?,
        };
        let spec = audit::prepare(asked, &core, &mut loaded.function, &promises)?;
        Ok(Self {
            spec,
            core,
            loaded,
            symbol: symbol.into(),
            contract: contract.clone(),
            target: target.clone(),
        })
    }

    /// What it is said to compute.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Operands that its callers pass as one pointer.
    pub fn together(&self) -> Alias {
        self.loaded.function.together
    }

    /// How its operands lie in memory.
    pub fn operands(&self) -> Operands {
        let function = &self.loaded.function;
        let word_bits = function.word_bits(self.core.word_bits());
        Operands {
            word_bits,
            align: (word_bits / 8).max(function.align as u32),
        }
    }

    /// Judges it.
    pub fn audit(&self) -> Audit {
        let demands = Demands {
            variable_time: self.contract.variable_time,
            ..Demands::default()
        };
        let command = format!("lozenge check FILE {}", self.claim().join(" "));
        let audit = audit::audit(&self.spec, &self.core, &self.loaded);
        let judged = audit.judged;
        let function = &self.loaded.function;
        let areas: Vec<_> = function.areas.iter().map(|a| a.bytes).collect();
        let ram = self.spec.source_bytes().iter().sum::<usize>()
            + self.spec.result_bytes()
            + areas.iter().sum::<usize>()
            + judged.proof.stack.total();
        let subject = Subject {
            spec: &self.spec,
            symbol: &self.symbol,
            word_bits: function.word_bits(self.core.word_bits()),
            method: "given",
            params: &Params::new(),
            style: "as it is",
            bytes: audit.bytes,
            cost: &judged.cost,
            proof: &judged.proof,
            aliasing: &judged.aliasing,
            constant_time: &judged.constant_time,
            measured: judged.measured,
            demands: &demands,
        };
        let target = &self.target;
        let mut report = Report::of(
            &subject,
            target.core_name(),
            target.part_name().map(String::from),
            self.core.abi(),
            target.warnings(audit.bytes.call, ram),
            command,
        );
        let currents = self.contract.currents.clone();
        report = report.drawing(currents.or_else(|| self.core.currents()));
        report.scratch = areas;
        let Operands { word_bits, align } = self.operands();
        let together = function.together;
        let together = (together != Alias::Distinct).then(|| together.text());
        report.assumes = Some(Assumes::of(word_bits, align, together, function));
        report.counterexamples = judged.counterexamples;
        Audit {
            report,
            aliasing: judged.aliasing,
            operands: self.operands(),
        }
    }

    /// What it does, line by line, in a run on numbers.
    ///
    /// # Errors
    /// When that run does not return.
    pub fn listing(&self) -> Result<Listing, Error> {
        let function = &self.loaded.function;
        let listing = Listing::of(&self.core, &self.spec, function, None);
        listing.map_err(|stopped| Error::Stopped(told::describe(&self.core, function, &stopped)))
    }

    /// What is claimed of it: the arguments of `lozenge check` behind the file.
    pub fn claim(&self) -> Vec<String> {
        let mut claim = claim::claim(&self.symbol, self.spec(), &self.target);
        claim.extend(self.contract.words());
        claim
    }

    /// What the proof concluded, and why, once it is judged.
    ///
    /// # Errors
    /// When it is not proved.
    pub fn certificate(&self, audit: &Audit) -> Result<Certificate, Error> {
        let (spec, core, function) = (&self.spec, &self.core, &self.loaded.function);
        claim::certificate(self.claim(), spec, core, function, &audit.aliasing)
    }

    /// Runs it along a case of a certificate: neither generator nor prover is asked.
    ///
    /// # Errors
    /// What is wrong with the case itself.
    pub fn follow(&self, case: &Case) -> Result<Proof, Error> {
        let followed = certificate::verify(&self.spec, &self.core, &self.loaded.function, case);
        followed.map_err(Error::Certificate)
    }

    /// What time tells on the target.
    pub fn timing(&self) -> Timing {
        timing::function_timing(&self.spec, &self.core, &self.loaded.function)
    }

    /// The question whether it is right, as a script for solvers (SMT-LIB 2).
    ///
    /// # Errors
    /// When it cannot be put to them.
    pub fn script(&self) -> Result<String, Error> {
        smt::script(&self.spec, &self.core, &self.loaded.function).map_err(Error::Export)
    }
}

impl Audit {
    /// The four verdicts.
    pub fn verdicts(&self) -> Verdicts<'_> {
        Verdicts(&self.report)
    }

    /// Fewest and most cycles, of the body and of a call.
    pub fn cycles(&self) -> &Cycles {
        &self.report.cycles
    }

    /// How the operands lie in memory.
    pub fn operands(&self) -> Operands {
        self.operands
    }

    /// Everything that is known of it, for serde.
    pub fn report(&self) -> &Report {
        &self.report
    }
}
