//! Anybody's function, judged under a contract.

use judge::certificate::{Case, Certificate};
use judge::prove::Proof;
use judge::timing::Timing;
use judge::verdict::Aliasing;
use machine::format::ObjectFormat;
use machine::isa::Isa;
use make::method::Params;
use make::request::Demands;
use spec::Spec;

use crate::audit::Contract as Promises;
use crate::face::claim;
use crate::face::contract::Contract;
use crate::face::error::Error;
use crate::face::verdicts::Verdicts;
use crate::load::{self, Loaded};
use crate::report::{Cycles, Report, Subject};
use crate::supported::Supported;
use crate::target::{OnIsa, Target};

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
    inner: Box<dyn Inner>,
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

/// What is done with a function of any instruction set.
trait Inner {
    fn spec(&self) -> &Spec;
    fn operands(&self) -> Operands;
    fn audit(&self, symbol: &str, target: &Target, demands: &Demands, command: String) -> Audit;
    fn certificate(&self, claim: Vec<String>, aliasing: &[Aliasing]) -> Result<Certificate, Error>;
    fn follow(&self, case: &Case) -> Result<Proof, String>;
    fn timing(&self) -> Timing;
    fn script(&self) -> Result<String, String>;
}

/// A function of one instruction set.
struct Held<I: Isa> {
    spec: Spec,
    core: I::Core,
    loaded: Loaded,
}

impl<I: Supported> Inner for Held<I> {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn operands(&self) -> Operands {
        let function = &self.loaded.function;
        let word_bits = function.word_bits(I::WORD_BITS);
        Operands {
            word_bits,
            align: (word_bits / 8).max(function.align as u32),
        }
    }

    fn audit(&self, symbol: &str, target: &Target, demands: &Demands, command: String) -> Audit {
        let Held { spec, core, loaded } = self;
        let audit = I::audit(spec, core, loaded);
        let judged = audit.judged;
        let areas: Vec<_> = loaded.function.areas.iter().map(|a| a.bytes).collect();
        let ram = spec.source_bytes().iter().sum::<usize>()
            + spec.result_bytes()
            + areas.iter().sum::<usize>()
            + judged.proof.stack.total();
        let subject = Subject {
            spec,
            symbol,
            word_bits: loaded.function.word_bits(I::WORD_BITS),
            method: "given",
            params: &Params::new(),
            style: "as it is",
            bytes: audit.bytes,
            cost: &judged.cost,
            proof: &judged.proof,
            aliasing: &judged.aliasing,
            constant_time: &judged.constant_time,
            measured: judged.measured,
            demands,
        };
        let mut report = Report::of(
            &subject,
            (target.core_name(), target.part_name().map(String::from)),
            I::abi(core),
            target.warnings(audit.bytes.call, ram),
            command,
        );
        report.scratch = areas;
        Audit {
            report,
            aliasing: judged.aliasing,
            operands: self.operands(),
        }
    }

    fn certificate(&self, claim: Vec<String>, aliasing: &[Aliasing]) -> Result<Certificate, Error> {
        let Held { spec, core, loaded } = self;
        claim::certificate::<I>(claim, (spec, core, &loaded.function), aliasing)
    }

    fn follow(&self, case: &Case) -> Result<Proof, String> {
        let Held { spec, core, loaded } = self;
        I::verify(spec, core, &loaded.function, case)
    }

    fn timing(&self) -> Timing {
        let Held { spec, core, loaded } = self;
        I::timing(spec, core, &loaded.function)
    }

    fn script(&self) -> Result<String, String> {
        let Held { spec, core, loaded } = self;
        I::script(spec, core, &loaded.function)
    }
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
        let inner = target.on(Load {
            object,
            symbol,
            contract,
        })?;
        Ok(Self {
            inner,
            symbol: symbol.into(),
            contract: contract.clone(),
            target: target.clone(),
        })
    }

    /// What it is said to compute.
    pub fn spec(&self) -> &Spec {
        self.inner.spec()
    }

    /// How its operands lie in memory.
    pub fn operands(&self) -> Operands {
        self.inner.operands()
    }

    /// Judges it.
    pub fn audit(&self) -> Audit {
        let demands = Demands {
            variable_time: self.contract.variable_time,
            aliases: Vec::new(),
        };
        let command = format!("lozenge check FILE {}", self.claim().join(" "));
        self.inner
            .audit(&self.symbol, &self.target, &demands, command)
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
        self.inner.certificate(self.claim(), &audit.aliasing)
    }

    /// Runs it along a case of a certificate: neither generator nor prover is asked.
    ///
    /// # Errors
    /// What is wrong with the case itself.
    pub fn follow(&self, case: &Case) -> Result<Proof, Error> {
        self.inner.follow(case).map_err(Error::Certificate)
    }

    /// What time tells on the target.
    pub fn timing(&self) -> Timing {
        self.inner.timing()
    }

    /// The question whether it is right, as a script for solvers (SMT-LIB 2).
    ///
    /// # Errors
    /// When it cannot be put to them.
    pub fn script(&self) -> Result<String, Error> {
        self.inner.script().map_err(Error::Export)
    }
}

struct Load<'a> {
    object: &'a [u8],
    symbol: &'a str,
    contract: &'a Contract,
}

impl OnIsa for Load<'_> {
    type Output = Result<Box<dyn Inner>, Error>;

    fn call<I: Supported>(self, core: &I::Core, format: &ObjectFormat) -> Self::Output {
        let Load {
            object,
            symbol,
            contract,
        } = self;
        let mut loaded = load::load(object, symbol, format)?;
        let promises = Promises {
            arguments: contract.arguments.as_deref(),
            scratch: contract.scratch.as_deref(),
            limb_bits: contract.limb_bits,
            align: contract.align,
            limit: contract.limit,
        };
        let what = (contract.op, contract.size, contract.modular()?);
        let spec = I::prepare(what, core, &mut loaded.function, &promises)?;
        Ok(Box::new(Held::<I> {
            spec,
            core: core.clone(),
            loaded,
        }))
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
