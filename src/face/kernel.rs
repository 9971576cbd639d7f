//! A kernel with its verdicts, costs and files.

use std::fmt;

use judge::certificate::Certificate;
use machine::format::{Assembler, ObjectFormat};
use machine::isa::{Cost, Isa};
use num_bigint::BigUint;
use spec::{Alias, Spec};

use crate::face::error::Error;
use crate::face::options::Options;
use crate::face::verdicts::Verdicts;
use crate::face::{claim, made};
use crate::report::{Bytes, Cycles, Report};
use crate::supported::Supported;
use crate::target::Target;
use crate::{emit, kernel, prove};

/// What a run on numbers comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// What the kernel left in `r`; a carry that is returned stands above it.
    pub result: BigUint,
    /// What the run cost.
    pub cost: Cost,
}

/// The files of a kernel, as `lozenge gen` writes them.
#[derive(Clone, Debug)]
pub struct Files {
    /// The report that they carry, and which names them.
    pub report: Report,
    /// Names and contents: assembly, header, object, JSON.
    pub list: Vec<(String, Vec<u8>)>,
}

/// A function that computes what was asked for, with everything that is known of it.
///
/// Its bytes are what is counted, proved and written: assembly and object are views of them.
pub struct Kernel {
    inner: Box<dyn Inner>,
    options: Options,
    target: Target,
    report: Report,
}

/// What a kernel of any instruction set offers.
trait Inner: Send + Sync {
    fn code(&self) -> &[u8];
    fn spec(&self) -> &Spec;
    fn command(&self, target: &Target) -> String;
    fn report(&self, target: &Target, command: String) -> Report;
    fn files(&self, dialect: Assembler, report: &mut Report) -> Result<ListOfFiles, String>;
    fn assembly(&self, dialect: Assembler, report: &Report) -> Result<String, String>;
    fn header(&self, report: &Report) -> String;
    fn object(&self, symbol: &str) -> Result<Vec<u8>, String>;
    fn run(&self, sources: &[BigUint]) -> Result<(BigUint, Cost), String>;
    fn certificate(&self, symbol: &str, target: &Target) -> Result<Certificate, Error>;
}

type ListOfFiles = Vec<(String, Vec<u8>)>;

/// A kernel of one instruction set, with its core.
struct Made<I: Isa> {
    kernel: kernel::Kernel<I>,
    core: I::Core,
    format: ObjectFormat,
}

impl<I: Supported> Inner for Made<I> {
    fn code(&self) -> &[u8] {
        &self.kernel.code
    }

    fn spec(&self) -> &Spec {
        &self.kernel.spec
    }

    fn command(&self, target: &Target) -> String {
        made::command(&self.kernel, target)
    }

    fn report(&self, target: &Target, command: String) -> Report {
        made::report(&self.kernel, target, command)
    }

    fn files(&self, dialect: Assembler, report: &mut Report) -> Result<ListOfFiles, String> {
        made::files(&self.kernel, &self.core, (&self.format, dialect), report)
    }

    fn assembly(&self, dialect: Assembler, report: &Report) -> Result<String, String> {
        emit::assembly(dialect, &self.kernel, &self.core, &self.format, report)
    }

    fn header(&self, report: &Report) -> String {
        emit::header::header(report, &I::dialect(&self.core))
    }

    fn object(&self, symbol: &str) -> Result<Vec<u8>, String> {
        let claims = self.kernel.claims(&self.core);
        emit::elf::object(&self.format, symbol, &self.kernel.code, &claims)
    }

    fn run(&self, sources: &[BigUint]) -> Result<(BigUint, Cost), String> {
        let Made { kernel, core, .. } = self;
        I::runs(&kernel.spec, core, &kernel.code)(sources, Alias::Distinct)
    }

    fn certificate(&self, symbol: &str, target: &Target) -> Result<Certificate, Error> {
        let Made { kernel, core, .. } = self;
        let function = prove::kernel::<I>(core, &kernel.code, &kernel.program.claims);
        let mut claim = claim::claim(symbol, &kernel.spec, target);
        let limb = function.word_bits(I::WORD_BITS);
        claim.extend(["--limb".to_string(), limb.to_string()]);
        if kernel.demands.variable_time {
            claim.push("--variable-time".into());
        }
        claim::certificate::<I>(claim, (&kernel.spec, core, &function), &kernel.aliasing)
    }
}

impl Kernel {
    /// The face of a kernel of one instruction set.
    pub(super) fn of<I: Supported>(
        kernel: kernel::Kernel<I>,
        core: &I::Core,
        format: &ObjectFormat,
        (target, options): (Target, Options),
    ) -> Self {
        let inner: Box<dyn Inner> = Box::new(Made {
            kernel,
            core: core.clone(),
            format: *format,
        });
        let dialect = options.dialect.unwrap_or(target.dialect());
        let report = reported(inner.as_ref(), &target, &options, dialect);
        Self {
            inner,
            options,
            target,
            report,
        }
    }

    /// The name of the function: `mul256`.
    pub fn name(&self) -> &str {
        &self.report.spec.symbol
    }

    /// What it computes.
    pub fn spec(&self) -> &Spec {
        self.inner.spec()
    }

    /// What it was made for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The four verdicts.
    pub fn verdicts(&self) -> Verdicts<'_> {
        Verdicts(&self.report)
    }

    /// Fewest and most cycles, of the body and of a call.
    pub fn cycles(&self) -> &Cycles {
        &self.report.cycles
    }

    /// The machine code.
    pub fn code(&self) -> &[u8] {
        self.inner.code()
    }

    /// Bytes of code, of the body and of all.
    pub fn bytes(&self) -> Bytes {
        self.report.bytes
    }

    /// Bytes of stack below the return address, of all stacks.
    pub fn stack(&self) -> usize {
        self.report.stack_bytes + self.report.return_stack_bytes.unwrap_or(0)
    }

    /// Everything that is known of it, for serde: what `lozenge gen --json` prints.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The assembly file for an assembler.
    ///
    /// # Errors
    /// When there is no such assembler for the target.
    pub fn assembly(&self, dialect: Assembler) -> Result<String, Error> {
        self.target.has_dialect(dialect)?;
        let report = self.reported(dialect);
        let text = self.inner.assembly(dialect, &report);
        text.map_err(Error::Defect)
    }

    /// The header for C and C++.
    pub fn header(&self) -> String {
        self.inner.header(&self.report)
    }

    /// The linkable object, in ELF.
    ///
    /// # Errors
    /// When it cannot be written (a defect of this tool).
    pub fn object(&self) -> Result<Vec<u8>, Error> {
        self.inner.object(self.name()).map_err(Error::Defect)
    }

    /// All its files, with names.
    ///
    /// # Errors
    /// When one cannot be written (a defect of this tool).
    pub fn files(&self) -> Result<Files, Error> {
        let mut report = self.report.clone();
        let dialect = self.options.dialect.unwrap_or(self.target.dialect());
        let list = self.inner.files(dialect, &mut report);
        Ok(Files {
            list: list.map_err(Error::Defect)?,
            report,
        })
    }

    /// Runs it on numbers: the sources of its [`spec`](Kernel::spec), in their order.
    ///
    /// # Errors
    /// When there are more or fewer, or one is larger than the contract allows.
    pub fn run(&self, sources: &[BigUint]) -> Result<Run, Error> {
        let spec = self.spec();
        let wanted = spec.sources();
        if sources.len() != wanted.len() {
            let names: Vec<_> = wanted.iter().map(|source| source.name).collect();
            let (count, names) = (sources.len(), names.join(", "));
            let text = format!(
                "{} reads {names}, and there are {count} numbers",
                self.name()
            );
            return Err(Error::Numbers(text));
        }
        for (value, source) in sources.iter().zip(&wanted) {
            if value.bits() > u64::from(source.bits) {
                let (name, bits, most) = (source.name, value.bits(), source.bits);
                let text = format!("{name} has {bits} bits, and there is room for {most}");
                return Err(Error::Numbers(text));
            }
        }
        let limit = spec.limit(sources);
        let factors = sources.iter().zip(&wanted).take(spec.op.factors());
        for (value, source) in factors {
            if let Some(limit) = limit.as_ref().filter(|limit| value >= *limit) {
                let text = format!("{} is not below {limit:#x}", source.name);
                return Err(Error::Numbers(text));
            }
        }
        let run = self.inner.run(sources).map_err(Error::Stopped)?;
        let (result, cost) = run;
        Ok(Run { result, cost })
    }

    /// What the proof concluded, and why: for whoever believes neither generator nor prover.
    ///
    /// # Errors
    /// When it is not proved.
    pub fn certificate(&self) -> Result<Certificate, Error> {
        self.inner.certificate(self.name(), &self.target)
    }

    fn reported(&self, dialect: Assembler) -> Report {
        reported(self.inner.as_ref(), &self.target, &self.options, dialect)
    }
}

/// The report, with the command that gives the same files.
fn reported(inner: &dyn Inner, target: &Target, options: &Options, dialect: Assembler) -> Report {
    let mut command = inner.command(target);
    if let Some(most) = options.max_regs {
        command += &format!(" --max-regs {most}");
    }
    for alias in &options.aliases {
        command += &format!(" --alias {}", alias.argument());
    }
    if options.budget.is_set() {
        command += &format!(" {}", options.budget);
    }
    if let Some(index) = options.drop {
        command += &format!(" --drop {index}");
    }
    if options.unproved {
        command += " --unproved";
    }
    if dialect != target.dialect() {
        command += &format!(" --dialect {}", dialect.name());
    }
    if !options.prefix.is_empty() {
        command += &format!(" --prefix {}", options.prefix);
    }
    let mut report = inner.report(target, command);
    report.spec.symbol.insert_str(0, &options.prefix);
    report
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
