//! `lozenge gen`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use lozenge::gnu::Gnu;
use lozenge::isa::energy::Currents;
use lozenge::plans::Plan;
use lozenge::report::Report;
use lozenge::{Dialect, Error, Request, spec};

use crate::cli::arguments::{GenArgs, ModularArgs};
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
pub(super) use crate::cli::size::size;
use crate::cli::tuned::tuned;
use crate::cli::values::{Given, OpArg, aliases};
use crate::cli::{certify, output, words};

/// Options of drivers are none of kernels.
fn refuse(args: &GenArgs, op: OpArg) -> Result<(), Failure> {
    let driver = &args.driver;
    if driver.exponentiation.is_some()
        || driver.exponent_bits.is_some()
        || args.exponent.is_some()
        || args.language.is_some()
    {
        let name = spec::Op::from(op).name();
        let bits = args.size.map_or(1024, |size| size.a);
        return Err(format!("{name} has no exponent: try gen modexp {bits}").into());
    }
    match args.wipe {
        true => Err("a kernel has no numbers of its own to wipe: leave out --wipe".into()),
        false => Ok(()),
    }
}

/// Generates, proves, writes, prints. `Ok(true)` if everything is proved.
pub fn run(args: &GenArgs, op: OpArg) -> Result<bool, Failure> {
    refuse(args, op)?;
    let target = args.target.resolve()?;
    let request = tuned(request(args, op)?, args, op, &target)?;
    let dialect = args.dialect.map_or(target.dialect(), Dialect::from);
    target.has_dialect(dialect)?;
    let (name, core) = (spec::Op::from(op).name(), target.core_name());
    let size = size(args.size, &args.modular, args.op.name())?;
    let progress = Progress::of(format!("{name}{size} for {core}"));
    let made = request.watched(progress.watch()).generate(&target);
    progress.done();
    let (report, wrote) = match made {
        Ok(kernel) => {
            let files = kernel.files()?;
            output::write_all(&args.output, &files.list, args.force).map_err(Failure::file)?;
            if let (true, Some(path)) = (kernel.verdicts().all_proved(), &args.certificate) {
                let progress = Progress::of(format!("{}: certifying", kernel.name()));
                let certificate = kernel.certificate();
                progress.done();
                certify::write(path, &certificate?)?;
            }
            let (symbol, folder) = (kernel.name(), args.output.display());
            let asm = files.report.files.asm.clone().unwrap_or_default();
            let link = Gnu::of(&target).link(
                &args
                    .output
                    .join(format!("{symbol}.o"))
                    .display()
                    .to_string(),
            );
            let wrote = format!(
                "{asm} {symbol}.h {symbol}.o {symbol}.json in {folder}\n  link           {link}"
            );
            (files.report, wrote)
        }
        Err(Error::Unproved(report)) => {
            let wrote = format!("nothing: {}", words::open(&report));
            (*report, wrote)
        }
        Err(error) => return Err(error.into()),
    };
    match args.json {
        true => output::say(&json(&report)?)?,
        false => {
            let told = format!("{}  wrote          {wrote}", text(&report));
            output::report(&told, report.is_proved())?;
        }
    }
    let gnu = match report.abi {
        "avr-gcc" => Some("avr-gcc"),
        abi if abi.starts_with("msp430 eabi") => Some("msp430-elf-gcc"),
        _ => None,
    };
    if let (Dialect::Iar, Some(gnu)) = (dialect, gnu) {
        output::tell(&format!(
            "warning: IAR's compiler does not call as {gnu} does: try --abi iar"
        ));
    }
    for warning in &report.warnings {
        output::tell(&format!("warning: {warning}"));
    }
    Ok(report.is_proved())
}

/// The currents in a file.
///
/// # Errors
/// When it cannot be read, or is not such a file.
pub(super) fn currents(path: &Path) -> Result<Currents, Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::file(format!("{place} cannot be read: {e}")))?;
    let currents: Currents = toml::from_str(&text).map_err(|e| {
        let wrong = e.message().to_string();
        format!("{place}: {wrong}; a file of currents holds\n{EXAMPLE}")
    })?;
    let wrong = |name| format!("{place}: {name} is no positive number");
    currents.check().map_err(wrong)?;
    Ok(currents)
}

/// A file of currents.
const EXAMPLE: &str = "source = \"measured\"\nvolts = 1.8\nmegahertz = 16.0\n# amperes\nalu = 0.010\nmul = 0.011\n\
                       load = 0.012\nstore = 0.012\nother = 0.010";

/// What the arguments ask for.
pub(super) fn request(args: &GenArgs, op: OpArg) -> Result<Request, Failure> {
    let size = size(args.size, &args.modular, args.op.name())?;
    let mut request = modular(Request::new(op.into(), size), &args.modular)?;
    request = parameters(request, &args.param)?;
    if args.constant_time {
        request = request.constant_time();
    }
    if let Some(path) = &args.energy {
        request = request.currents(currents(path)?);
    }
    if let Some(name) = &args.method {
        request = request.method(name);
    }
    if let Some(count) = args.max_regs {
        request = request.max_registers(count);
    }
    if let Some(style) = args.style {
        request = request.style(style);
    }
    if let Some(bytes) = args.max_flash {
        request = request.max_flash(bytes);
    }
    if let Some(bytes) = args.max_stack {
        request = request.max_stack(bytes);
    }
    if let Some(dialect) = args.dialect {
        request = request.dialect(dialect.into());
    }
    for alias in aliases(&args.alias, op.into()) {
        request = request.alias(alias);
    }
    if let Some(index) = args.drop {
        request = request.without_instruction(index);
    }
    if args.variable_time {
        request = request.variable_time();
    }
    if args.search {
        request = request.searched();
    }
    if args.unproved {
        request = request.unproved();
    }
    if let Some(name) = &args.name {
        request = request.named(name);
    }
    Ok(request.prefix(&args.prefix))
}

/// The same with parameters of its method.
pub(super) fn parameters(mut request: Request, given: &[Given]) -> Result<Request, Failure> {
    let mut named = BTreeSet::new();
    if let Some(twice) = given.iter().find(|given| !named.insert(given.name())) {
        return Err(format!("-p {} is given twice", twice.name()).into());
    }
    let (numbers, plan) = split(given);
    for (name, value) in numbers {
        request = request.param(name, value);
    }
    Ok(match plan {
        Some(plan) => request.planned(&plan),
        None => request,
    })
}

/// The numbers by name, and the plan.
pub(super) fn split(given: &[Given]) -> (Vec<(String, usize)>, Option<Arc<Plan>>) {
    let (mut numbers, mut plan) = (Vec::new(), None);
    for given in given {
        match given {
            Given::Number(name, value) => numbers.push((name.clone(), *value)),
            Given::Plan(named) => plan = Some(named.clone()),
        }
    }
    (numbers, plan)
}

/// The same modulo what the arguments say.
pub(super) fn modular(request: Request, args: &ModularArgs) -> Result<Request, Failure> {
    Ok(match args.modular()? {
        Some(modular) => request
            .modulus(modular.modulus)
            .reduce(modular.reduce)
            .shift(modular.shift)
            .times(modular.times),
        None => request,
    })
}

pub(super) fn json(report: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(report).map_err(|e| e.to_string())
}

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let spec = &report.spec;
    let mut text = format!(
        "{}: {}, {} bits, {}, {}\n",
        spec.symbol,
        spec.equation,
        spec.size,
        report.method_text(),
        report.style
    );
    if let Some(shorter) = &spec.shorter {
        text += &line("size", shorter.clone());
    }
    if let Some(modular) = &spec.modular {
        text += &line("modulus", format!("m = {}", modular.modulus));
        text += &line("contract", modular.contract.clone());
    }
    text += &verdicts(report);
    text += &costs(report);
    if let Some(file) = &report.tuned {
        text += &line("found", format!("by `lozenge tune`, in {file}"));
    } else if report.on_record {
        let which = match report.style {
            "unrolled" => "the cheapest plan on record",
            _ => {
                "the cheapest loops on record, as the plan that is written out does not fit the part"
            }
        };
        text += &line(
            "found",
            format!("{which}; --search tries all of them again"),
        );
    }
    text
}

fn line(name: &str, value: String) -> String {
    format!("  {name:<14} {value}\n")
}

/// What is proved.
fn verdicts(report: &Report) -> String {
    let verdict = &report.verdict;
    let state = |word: &str, key: &str, extra: &str| match report.reasons.get(key) {
        Some(reason) => format!("{word}: {reason}"),
        None => format!("{word}{extra}"),
    };
    let sources: Vec<_> = report.spec.sources.iter().map(|s| s.name).collect();
    let scratch: usize = report.scratch.iter().sum();
    let writes = match scratch {
        0 => "r and its own stack frame".to_string(),
        _ => format!("r, {scratch} bytes of scratch and its own stack frame"),
    };
    let touched = format!(
        ": reads {}, writes {writes}, wherever they lie",
        sources.join(", ")
    );
    let correct = state(verdict.correct.word(), "correct", " for all inputs");
    let memory = state(verdict.memory.word(), "memory", &touched);
    let abi = state(verdict.abi.word(), "abi", &format!(": {}", report.abi));
    let one_time = report.one_time.as_ref();
    let one_time = one_time.map(|time| line("one time", time.text(&report.cycles.body)));
    [
        line("CORRECT", correct),
        line("MEMORY", memory),
        line("ABI", abi),
        line("CONSTANT TIME", report.time_text()),
        one_time.unwrap_or_default(),
        line("aliasing", report.aliasing_text()),
    ]
    .concat()
}

/// What it takes.
fn costs(report: &Report) -> String {
    let mut text = line("cycles", report.cycles_text());
    // Where one run says all of them, there is nothing to measure.
    if let (Some(measured), true) = (&report.measured, report.leaks.contains_key(&report.core)) {
        let [body, call] = [&measured.body, &measured.call].map(Report::span_text);
        let runs = measured.runs;
        text += &line(
            "measured",
            format!("{body} body, {call} call in {runs} runs on numbers"),
        );
    }
    text += &line("energy", report.energy_text());
    if let Some(others) = report.others_text() {
        text += &line("other cores", others);
    }
    let counts = &report.instructions;
    text += &line(
        "instructions",
        format!(
            "{} body: {} load, {} store, {} mul, {} add, {} move, {} other",
            counts.total,
            counts.load,
            counts.store,
            counts.mul,
            counts.add,
            counts.moves,
            counts.other
        ),
    );
    text += &line(
        "flash, stack",
        format!(
            "{} bytes ({} body), {}",
            report.bytes.call,
            report.bytes.body,
            report.stack_text()
        ),
    );
    if let Some(masked) = report.masked_text() {
        text += &line("interrupts", masked);
    }
    text
}
