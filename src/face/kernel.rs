//! A kernel with its verdicts, costs and files.

use std::fmt;

use judge::certificate::Certificate;
use machine::format::Assembler;
use machine::function::Function;
use machine::isa::Cost;
use machine::told;
use num_bigint::BigUint;
use spec::{Alias, Size, Spec};

use crate::face::error::Error;
use crate::face::options::Options;
use crate::face::verdicts::Verdicts;
use crate::face::{claim, made};
use crate::gnu::Gnu;
use crate::listing::Listing;
use crate::report::{Bytes, Cycles, Report};
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
    made: kernel::Kernel,
    options: Options,
    target: Target,
    report: Report,
}

impl Kernel {
    /// The face of a kernel.
    pub(super) fn of(made: kernel::Kernel, target: Target, options: Options) -> Self {
        let dialect = options.dialect.unwrap_or(target.dialect());
        let report = reported(&made, &target, &options, dialect);
        Self {
            made,
            options,
            target,
            report,
        }
    }

    /// The face of a kernel that a driver calls by this name.
    pub fn called(made: kernel::Kernel, target: &Target, name: String) -> Self {
        let options = Options {
            name: Some(name),
            ..Options::default()
        };
        Self::of(made, target.clone(), options)
    }

    /// The name of the function: `mul256`.
    pub fn name(&self) -> &str {
        &self.report.spec.symbol
    }

    /// What it computes.
    pub fn spec(&self) -> &Spec {
        &self.made.spec
    }

    /// What it was made for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The four verdicts.
    pub fn verdicts(&self) -> Verdicts<'_> {
        Verdicts(&self.report)
    }

    /// Cycles, instructions and stack, over all inputs.
    pub fn cost(&self) -> &Cost {
        &self.made.cost
    }

    /// Fewest and most cycles, of the body and of a call.
    pub fn cycles(&self) -> &Cycles {
        &self.report.cycles
    }

    /// The machine code.
    pub fn code(&self) -> &[u8] {
        &self.made.code
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
        let text = emit::assembly(dialect, &self.made, &report);
        text.map_err(Error::Defect)
    }

    /// The header for C and C++.
    pub fn header(&self) -> String {
        emit::header::header(&self.report, &self.made.core.dialect())
    }

    /// The linkable object, in ELF.
    ///
    /// # Errors
    /// When it cannot be written (a defect of this tool).
    pub fn object(&self) -> Result<Vec<u8>, Error> {
        let (code, claims) = (&self.made.code, self.made.claims());
        let object = emit::elf::object(&self.made.core.object_format(), self.name(), code, &claims);
        object.map_err(Error::Defect)
    }

    /// All its files, with names.
    ///
    /// # Errors
    /// When one cannot be written (a defect of this tool).
    pub fn files(&self) -> Result<Files, Error> {
        let mut report = self.report.clone();
        let dialect = self.options.dialect.unwrap_or(self.target.dialect());
        let list = made::files(&self.made, dialect, &mut report);
        Ok(Files {
            list: list.map_err(Error::Defect)?,
            report,
        })
    }

    /// What it does, line by line, in a run on numbers.
    ///
    /// # Errors
    /// When that run does not return.
    pub fn listing(&self) -> Result<Listing, Error> {
        let (made, core) = (&self.made, &self.made.core);
        let function = Function::kernel(&made.code).returning(&made.spec);
        let listing = Listing::of(core, &made.spec, &function, Some(&made.program.notes));
        listing.map_err(|stopped| Error::Stopped(told::describe(core, &function, &stopped)))
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
        let run = kernel::runs(&self.made.spec, &self.made.core, &self.made.code);
        let (result, cost) = run(sources, Alias::Distinct).map_err(Error::Stopped)?;
        Ok(Run { result, cost })
    }

    /// What the proof concluded, and why: for whoever believes neither generator nor prover.
    ///
    /// # Errors
    /// When it is not proved.
    pub fn certificate(&self) -> Result<Certificate, Error> {
        let (made, core) = (&self.made, &self.made.core);
        let function = prove::kernel(core, &made.code, &made.program.claims).returning(&made.spec);
        let mut claim = claim::claim(self.name(), &made.spec, &self.target);
        let limb = function.word_bits(core.word_bits());
        claim.extend(["--limb".to_string(), limb.to_string()]);
        if made.demands.variable_time {
            claim.push("--variable-time".into());
        }
        claim::certificate(claim, &made.spec, core, &function, &made.aliasing)
    }

    /// What is claimed of it, as `lozenge check` takes it behind the file: `--symbol mul160 --op mul ...`.
    pub fn claim(&self) -> Vec<String> {
        let mut claim = claim::claim(self.name(), &self.made.spec, &self.target);
        if self.made.demands.variable_time {
            claim.push("--variable-time".into());
        }
        claim
    }

    fn reported(&self, dialect: Assembler) -> Report {
        reported(&self.made, &self.target, &self.options, dialect)
    }
}

/// The rule for operands of `asked` bits in words that hold more.
fn shorter(asked: Size, spec: &Spec) -> Option<String> {
    let sizes = [("a", asked.a, spec.size.a), ("b", asked.b, spec.size.b)];
    let whole = |name: &str, bits: u32, room: u32| {
        let (bytes, zeros) = (room / 8, room - bits);
        let zeros = match zeros {
            1 => "bit is".to_string(),
            _ => format!("{zeros} bits are"),
        };
        format!("{name} {bits} bits in {bytes} bytes, of which the top {zeros} zero")
    };
    let one = asked.a == asked.b;
    let told = sizes.into_iter().filter(|(_, bits, room)| bits != room);
    let told = told.take(if one { 1 } else { 2 });
    let told = told.map(|(name, bits, room)| match one {
        true => whole("operands of", bits, room),
        false => whole(&format!("{name} of"), bits, room),
    });
    told.reduce(|all, more| format!("{all}; {more}"))
}

/// The report, with the command that gives the same files.
fn reported(
    kernel: &kernel::Kernel,
    target: &Target,
    options: &Options,
    dialect: Assembler,
) -> Report {
    let size = options.shorter.unwrap_or(kernel.spec.size);
    let mut command = made::command(kernel, target, size, options.tuned.as_deref());
    if let (Some(most), None) = (options.max_regs, &options.tuned) {
        command += &format!(" --max-regs {most}");
    }
    for alias in &kernel.demands.aliases {
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
    if let Some(name) = &options.name {
        command += &format!(" --name {name}");
    }
    if !options.prefix.is_empty() {
        command += &format!(" --prefix {}", options.prefix);
    }
    let mut report = made::report(kernel, target, options.currents.clone(), command);
    if let Some(name) = &options.name {
        report.spec.symbol.clone_from(name);
    }
    report.spec.symbol.insert_str(0, &options.prefix);
    report.one_time = options.one_time.clone();
    report.tuned = options.tuned.clone();
    let file = format!("{}.S", report.spec.symbol);
    report.link = (dialect == Assembler::Gnu).then(|| Gnu::of(target).link(&file));
    report.spec.shorter = options
        .shorter
        .and_then(|asked| shorter(asked, &kernel.spec));
    report
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
