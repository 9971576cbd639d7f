//! `lozenge check --manifest`: all functions of a pack, proved again where they are linked.

use std::path::{Path, PathBuf};

use clap::Parser;
use lozenge::pack::manifest::{Entry, Manifest};
use lozenge::spec::Alias;
use serde::Serialize;

use crate::cli::arguments::CheckArgs;
use crate::cli::failure::Failure;
use crate::cli::verify::Claim;
use crate::cli::{check, generate, output, parallel, words};

/// What a function comes to.
#[derive(Serialize)]
struct Told {
    symbol: String,
    file: String,
    proved: bool,
    /// What is not proved, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    cycles: Option<u64>,
}

/// Checks every function of the manifest, a line for each. `Ok(true)` if all are proved.
pub fn run(path: &Path, args: &CheckArgs) -> Result<bool, Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::file(format!("cannot read {place}: {e}")))?;
    let manifest: Manifest = serde_json::from_str(&text)
        .map_err(|e| Failure::file(format!("{place} is no manifest of a pack: {e}")))?;
    if manifest.kernels.is_empty() {
        return Err(Failure::file(format!("{place} names no function")));
    }
    let beside = path.parent().unwrap_or(Path::new("."));
    let file = |entry: &Entry| match &args.file {
        Some(file) => file.clone(),
        None => beside.join(&entry.object),
    };
    let told = parallel::each(&manifest.kernels, "functions checked", |entry| {
        told(entry, file(entry))
    });
    let told = told.into_iter().collect::<Result<Vec<_>, _>>()?;
    let all = told.iter().all(|one| one.proved);
    match args.json {
        true => output::say(&generate::json(&told)?)?,
        false => output::report(&lines(&told), all)?,
    }
    Ok(all)
}

/// Checks one function.
fn told(entry: &Entry, file: PathBuf) -> Result<Told, Failure> {
    let file = file.display().to_string();
    let words = std::iter::once(&file).chain(&entry.check);
    let claim = Claim::try_parse_from(words).map_err(|e| {
        let text = e.to_string();
        let line = text.lines().next().unwrap_or_default();
        format!(
            "{}: what the manifest says is no command of check: {line}",
            entry.symbol
        )
    })?;
    if check::named(&claim.args)?.symbol != entry.symbol {
        let text = format!("{}: the manifest checks another function", entry.symbol);
        return Err(text.into());
    }
    let told = |reason: Option<String>, cycles| Told {
        symbol: entry.symbol.clone(),
        proved: reason.is_none(),
        file: file.clone(),
        reason,
        cycles,
    };
    let function = match check::function(&claim.args) {
        Ok(function) => function,
        // One that is not there, or cannot be read, is not proved; the others are still checked.
        Err(failure) => return Ok(told(Some(failure.message().into()), None)),
    };
    let audit = function.audit();
    let report = audit.report();
    let allowed = |text: &String| {
        let alias = Alias::ALL.into_iter().find(|a| a.argument() == text);
        alias.is_some_and(|alias| report.may_coincide(alias.text()))
    };
    let lost = entry.aliases.iter().find(|text| !allowed(text));
    let reason = match (report.is_proved(), lost) {
        (true, None) => None,
        (true, Some(alias)) => Some(format!("{alias} is not proved")),
        (false, _) => Some(words::open(report)),
    };
    Ok(told(reason, Some(report.cycles.call.max)))
}

/// A line for each function.
fn lines(told: &[Told]) -> String {
    let line = |one: &Told| match (&one.reason, one.cycles) {
        (None, Some(cycles)) => format!("{:<24} proved, {cycles} cycles", one.symbol),
        (None, None) => format!("{:<24} proved", one.symbol),
        (Some(reason), _) => format!("{:<24} NOT PROVED: {reason}", one.symbol),
    };
    let lines: Vec<_> = told.iter().map(line).collect();
    lines.join("\n")
}
