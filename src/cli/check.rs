//! `lozenge check`.

use std::path::Path;

use lozenge::report::Assumes;
use lozenge::spec::Size;
use lozenge::{Contract, Error, Function, Target, load};

use crate::cli::arguments::CheckArgs;
use crate::cli::assemble::assemble;
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::cli::values::OpArg;
use crate::cli::{certify, generate, output, words};

/// One function, as the arguments name it.
pub(super) struct Named<'a> {
    file: &'a Path,
    /// The function.
    pub symbol: &'a str,
    op: OpArg,
    bits: Size,
}

/// What the arguments name.
///
/// # Errors
/// When a part is missing.
pub(super) fn named(args: &CheckArgs) -> Result<Named<'_>, Failure> {
    let missing =
        || "say what is checked: try check out/mul160.o --symbol mul160 --op mul --bits 160";
    Ok(Named {
        file: args.file.as_deref().ok_or_else(missing)?,
        symbol: args.symbol.as_deref().ok_or_else(missing)?,
        op: args.op.ok_or_else(missing)?,
        bits: args.bits.ok_or_else(missing)?,
    })
}

/// The function that the arguments name, with what they claim of it.
///
/// # Errors
/// What is wrong with the arguments, or with the file.
pub fn function(args: &CheckArgs) -> Result<Function, Failure> {
    let target = args.target.resolve()?;
    let named = named(args)?;
    let data = data(named.file, named.symbol, &target)?;
    let function = Function::load(&data, named.symbol, &contract(args, &named)?, &target);
    function.map_err(|error| match error {
        Error::Load(_) => Failure::from(error).of(named.file.display()),
        error => error.into(),
    })
}

/// The bytes of an ELF file with `symbol`; of assembly the object that it becomes.
///
/// # Errors
/// When it cannot be read, or assembled.
pub(super) fn data(file: &Path, symbol: &str, target: &Target) -> Result<Vec<u8>, Failure> {
    let is_source = file.extension().is_some_and(|e| e == "S" || e == "s");
    match is_source {
        true => Ok(assemble(file, target)?),
        false => read(file, symbol).map_err(Failure::file),
    }
}

/// What the arguments say of the function.
fn contract(args: &CheckArgs, named: &Named<'_>) -> Result<Contract, Failure> {
    let mut contract = Contract::new(named.op.into(), named.bits);
    if let Some(modular) = args.modular.modular()? {
        contract = contract
            .modulus(modular.modulus)
            .reduce(modular.reduce)
            .shift(modular.shift)
            .times(modular.times);
    }
    if let Some(text) = &args.args {
        contract = contract.arguments(text);
    }
    if let Some(text) = &args.scratch {
        contract = contract.scratch(text);
    }
    if let Some(bits) = args.limb.as_ref().and_then(|bits| bits.parse().ok()) {
        contract = contract.limb_bits(bits);
    }
    if let Some(bytes) = args.align.as_ref().and_then(|bytes| bytes.parse().ok()) {
        contract = contract.align(bytes);
    }
    if let Some(path) = &args.energy {
        contract = contract.currents(generate::currents(path)?);
    }
    if let Some(steps) = args.steps {
        contract = contract.limit(steps);
    }
    Ok(match args.variable_time {
        true => contract.variable_time(),
        false => contract,
    })
}

/// Loads, judges, prints. `Ok(true)` if everything is proved.
pub fn run(args: &CheckArgs) -> Result<bool, Failure> {
    let function = function(args)?;
    let named = named(args)?;
    if args.export.is_some() {
        output::say(function.script()?.trim_end())?;
        return Ok(true);
    }
    let progress = Progress::of(format!("{}: proving and testing", named.symbol));
    let audit = function.audit();
    progress.done();
    let mut report = audit.report().clone();
    let file = named.file.display();
    report.command = format!("lozenge check {file} {}", function.claim().join(" "));
    match args.json {
        true => output::say(&generate::json(&report)?)?,
        false => {
            let mut text = generate::text(&report).trim_end().to_string();
            for (what, assumed) in report.assumes.iter().flat_map(Assumes::lines) {
                text += &format!("\n  {what:<14} {assumed}");
            }
            if report.is_sound() && !report.is_proved() {
                text += &format!("\n  {:<14} {}", "exit code 1", words::open(&report));
            }
            output::report(&text, report.is_proved())?;
        }
    }
    if let (Some(path), true) = (&args.certificate, report.is_proved()) {
        certify::write(path, &function.certificate(&audit)?)?;
    }
    for warning in &report.warnings {
        output::tell(&format!("warning: {warning}"));
    }
    Ok(report.is_proved())
}

/// The bytes of a file, or of a member of a static library that has `symbol`: `lib.a(member.o)`.
fn read(path: &Path, symbol: &str) -> Result<Vec<u8>, String> {
    let text = path.to_string_lossy();
    let parts = text.strip_suffix(')').and_then(|text| text.split_once('('));
    let cannot = |path: &str, e: std::io::Error| format!("cannot read {path}: {e}");
    match parts.filter(|_| !path.exists()) {
        Some((library, member)) => {
            let bytes = std::fs::read(library).map_err(|e| cannot(library, e))?;
            let found =
                load::member(&bytes, member, symbol).map_err(|e| format!("{library}: {e}"))?;
            Ok(found.to_vec())
        }
        None => std::fs::read(path).map_err(|e| cannot(&text, e)),
    }
}
