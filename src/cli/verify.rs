//! `lozenge verify`, and the certificates that it reads.

use std::path::PathBuf;

use clap::{Args, Parser};
use lozenge::certificate::{self, Certificate};
use lozenge::prove::Verdict;
use lozenge::spec::Alias;
use serde::Serialize;

use crate::cli::arguments::CheckArgs;
use crate::cli::certify::reasons;
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::cli::{check, generate, output};

/// Arguments of `verify`.
#[derive(Args)]
pub struct VerifyArgs {
    /// The certificate
    file: PathBuf,
    /// The object, executable or library that it is about
    object: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// The claim of a certificate, as the command line of `check` reads it.
#[derive(Parser)]
#[command(no_binary_name = true)]
pub(super) struct Claim {
    #[command(flatten)]
    pub args: CheckArgs,
}

/// What a case comes to.
#[derive(Serialize)]
struct Told {
    operands: &'static str,
    correct: Verdict,
    memory: Verdict,
    abi: Verdict,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
}

/// What a certificate comes to.
#[derive(Serialize)]
struct Verified {
    claim: String,
    cases: Vec<Told>,
    /// On the core of the claim: `proved`, or the leak.
    constant_time: String,
    verified: bool,
}

/// Runs the code along a certificate. `Ok(true)` if the checker accepts it.
pub fn run(args: &VerifyArgs) -> Result<bool, Failure> {
    let path = args.file.display();
    let given = std::fs::read_to_string(&args.file)
        .map_err(|e| Failure::file(format!("cannot read {path}: {e}")))?;
    let certificate = Certificate::read(&given).map_err(|e| format!("{path}: {e}"))?;
    let object = args.object.display().to_string();
    let words = std::iter::once(&object).chain(&certificate.claim);
    let claim = Claim::try_parse_from(words).map_err(|e| {
        let text = e.to_string();
        let line = text.lines().next().unwrap_or_default();
        format!("{path}: its claim is no command of check: {line}")
    })?;
    let function = check::function(&claim.args)?;
    let progress = Progress::of(format!("{}: verifying", check::named(&claim.args)?.symbol));
    let mut cases = Vec::new();
    for case in &certificate.cases {
        let proof = function.follow(case);
        let proof = proof.map_err(|e| Failure::from(e).of(&path))?;
        cases.push(Told {
            operands: case.alias.text(),
            reasons: reasons(&proof),
            correct: proof.correct,
            memory: proof.memory,
            abi: proof.abi,
        });
    }
    let timing = function.timing();
    progress.done();
    let leak = timing.leak.as_ref();
    let is_proved = |case: &Told| {
        [&case.correct, &case.memory, &case.abi]
            .iter()
            .all(|v| v.is_proved())
    };
    let together = function.together();
    let passed = |case: &certificate::Case| case.alias == together;
    if !certificate.cases.iter().any(passed) {
        let what = match together {
            Alias::Distinct => "operands that lie apart",
            case => case.text(),
        };
        let text = format!("{path}: it says nothing of {what}: make it again");
        return Err(text.into());
    }
    let verified = Verified {
        claim: certificate.claim.join(" "),
        verified: cases.iter().all(is_proved) && (leak.is_none() || claim.args.variable_time),
        constant_time: leak.map_or("proved".into(), |leak| leak.verdict()),
        cases,
    };
    match args.json {
        true => output::say(&generate::json(&verified)?)?,
        false => output::report(&text(&verified, args), verified.verified)?,
    }
    Ok(verified.verified)
}

fn text(verified: &Verified, args: &VerifyArgs) -> String {
    let mut lines = vec![format!("{}: {}", args.object.display(), verified.claim)];
    for case in &verified.cases {
        let verdicts = [
            ("correct", &case.correct),
            ("memory", &case.memory),
            ("abi", &case.abi),
        ];
        let words: Vec<_> = verdicts
            .iter()
            .map(|(name, verdict)| format!("{name} {}", verdict.word()))
            .collect();
        lines.push(format!("  {:<14} {}", case.operands, words.join(", ")));
        lines.extend(case.reasons.iter().map(|why| format!("  {:<14} {why}", "")));
    }
    lines.push(format!(
        "  {:<14} {}",
        "constant time", verified.constant_time
    ));
    lines.join("\n")
}
