//! `lozenge check`.

use std::path::Path;

use lozenge::audit::{self, Contract};
use lozenge::emit::ObjectFormat;
use lozenge::isa::Isa;
use lozenge::kernel::Demands;
use lozenge::load::{self, Loaded};
use lozenge::lower::Lower;
use lozenge::method::Params;
use lozenge::report::{Report, Subject};
use lozenge::smt;
use lozenge::spec::Spec;
use lozenge::target::{Names, OnIsa, Target};

use crate::cli::arguments::CheckArgs;
use crate::cli::assemble::assemble;
use crate::cli::failure::Failure;
use crate::cli::{certify, generate, output};

/// A function that is loaded, and what is claimed of it.
pub struct Checked<'a, I: Isa> {
    pub args: &'a CheckArgs,
    pub target: &'a Target,
    pub spec: Spec,
    pub core: &'a I::Core,
    pub loaded: Loaded,
}

/// What is done with it. `Ok(true)` if everything is proved.
pub trait Then {
    /// # Errors
    /// What is wrong with the arguments, in words for a person.
    fn then<I: Isa>(self, checked: Checked<'_, I>) -> Result<bool, Failure>;
}

/// Loads, judges, prints. `Ok(true)` if everything is proved.
pub fn run(args: &CheckArgs) -> Result<bool, Failure> {
    with(args, Judge)
}

/// Loads the function that the arguments name, and goes on with it.
///
/// # Errors
/// What is wrong with the arguments.
pub fn with(args: &CheckArgs, then: impl Then) -> Result<bool, Failure> {
    let names = Names {
        mcu: args.mcu.as_deref(),
        core: args.core.as_deref(),
        extensions: &args.isa_ext,
        big_endian: args.big_endian,
        abi: args.abi.as_deref(),
    };
    let target = Target::resolve(&names)?;
    target.on(Check {
        args,
        target: &target,
        then,
    })
}

struct Check<'a, T> {
    args: &'a CheckArgs,
    target: &'a Target,
    then: T,
}

impl<T: Then> OnIsa for Check<'_, T> {
    type Output = Result<bool, Failure>;

    fn call<I: Lower>(self, core: &I::Core, format: &ObjectFormat) -> Self::Output {
        let Check { args, target, then } = self;
        let path = args.file.display();
        let is_source = args.file.extension().is_some_and(|e| e == "S" || e == "s");
        let data = match is_source {
            true => assemble(&args.file, target)?,
            false => read(&args.file, &args.symbol).map_err(Failure::file)?,
        };
        let mut loaded = load::load(&data, &args.symbol, format)
            .map_err(|e| Failure::file(format!("{path}: {e}")))?;
        let function = &mut loaded.function;
        let contract = Contract {
            arguments: args.args.as_deref(),
            scratch: args.scratch.as_deref(),
            limb_bits: args.limb.as_ref().and_then(|bits| bits.parse().ok()),
            align: args.align.as_ref().and_then(|bytes| bytes.parse().ok()),
            limit: args.steps,
        };
        let what = (args.op.into(), args.bits, args.modular.modular()?);
        let spec = audit::prepare::<I>(what, core, function, &contract);
        let spec = spec.map_err(|e| e.to_string())?;
        then.then::<I>(Checked {
            args,
            target,
            spec,
            core,
            loaded,
        })
    }
}

/// The four verdicts and the costs.
struct Judge;

impl Then for Judge {
    fn then<I: Isa>(self, checked: Checked<'_, I>) -> Result<bool, Failure> {
        let Checked {
            args,
            target,
            spec,
            core,
            loaded,
        } = checked;
        let function = &loaded.function;
        let word_bits = function.word_bits(I::WORD_BITS);
        if args.export.is_some() {
            output::say(smt::script::<I>(&spec, core, function)?.trim_end())?;
            return Ok(true);
        }
        let bar = generate::progress(format!("{}: proving and testing", args.symbol));
        let audit = audit::audit::<I>(&spec, core, &loaded);
        bar.finish_and_clear();
        let judged = &audit.judged;
        let ram = spec.source_bytes().iter().sum::<usize>()
            + spec.result_bytes()
            + loaded.function.areas.iter().map(|a| a.bytes).sum::<usize>()
            + judged.proof.stack.total();
        let subject = Subject {
            spec: &spec,
            symbol: &args.symbol,
            word_bits,
            method: "given",
            params: &Params::new(),
            style: "as it is",
            bytes: audit.bytes,
            cost: &judged.cost,
            proof: &judged.proof,
            aliasing: &judged.aliasing,
            constant_time: &judged.constant_time,
            measured: judged.measured,
            demands: &Demands {
                variable_time: args.variable_time,
                aliases: Vec::new(),
            },
        };
        let mut report = Report::of(
            &subject,
            (target.core_name(), target.mcu().map(String::from)),
            I::abi(core),
            target.warnings(audit.bytes.call, ram),
            command(args, target),
        );
        report.scratch = loaded.function.areas.iter().map(|a| a.bytes).collect();
        match args.json {
            true => output::say(&generate::json(&report)?)?,
            false => {
                // Where --limb does not say it, this is how the function reads them.
                let bytes = (word_bits / 8).max(loaded.function.align as u32);
                let lies = format!(
                    "  {:<14} arrays of {word_bits}-bit words, at multiples of {bytes} bytes",
                    "operands"
                );
                let mut text = format!("{}\n{lies}", generate::text(&report).trim_end());
                if report.is_sound() && !report.is_proved() {
                    text += &format!("\n  {:<14} {}", "exit code 1", report.open().join("; "));
                }
                output::say(&text)?;
            }
        }
        if let (Some(path), true) = (&args.certificate, report.is_proved()) {
            let what = (&spec, core, function);
            certify::write::<I>(path, claim(args, target), what, &judged.aliasing)?;
        }
        for warning in &report.warnings {
            output::tell(&format!("warning: {warning}"));
        }
        Ok(report.is_proved())
    }
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

/// The command that gives the same report.
fn command(args: &CheckArgs, target: &Target) -> String {
    let file = args.file.display();
    format!("lozenge check {file} {}", claim(args, target).join(" "))
}

/// What is claimed of the function: the arguments of the command behind its file.
fn claim(args: &CheckArgs, target: &Target) -> Vec<String> {
    let mut list = certify::claim(
        (&args.symbol, lozenge::spec::Op::from(args.op)),
        (&args.bits, args.modular.modular().ok().flatten().as_ref()),
        target,
    );
    let steps = args.steps.map(|steps| steps.to_string());
    if args.variable_time {
        list.push("--variable-time".into());
    }
    let options = [
        ("--args", &args.args),
        ("--scratch", &args.scratch),
        ("--limb", &args.limb),
        ("--align", &args.align),
        ("--steps", &steps),
    ];
    for (option, value) in options {
        if let Some(value) = value {
            list.extend([option.to_string(), value.clone()]);
        }
    }
    list
}
