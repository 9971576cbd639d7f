//! `lozenge gen`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lozenge::candidate::Budget;
use lozenge::emit::{self, Assembler, ObjectFormat, elf, header};
use lozenge::facts::Style;
use lozenge::isa::Isa;
use lozenge::kernel::{self, Demands, Kernel, Request};
use lozenge::lower::Lower;
use lozenge::prove;
use lozenge::report::{Files, Report};
use lozenge::spec;
use lozenge::spec::modulus::Reduce;
use lozenge::target::{Names, OnIsa, Target};

use crate::cli::arguments::GenArgs;
use crate::cli::failure::Failure;
use crate::cli::values::OpArg;
use crate::cli::values::aliases;
use crate::cli::{certify, output};

/// Generates, proves, writes, prints. `Ok(true)` if everything is proved.
pub fn run(args: &GenArgs, op: OpArg) -> Result<bool, Failure> {
    let driver = &args.driver;
    if driver.exponentiation.is_some()
        || driver.exponent_bits.is_some()
        || args.exponent.is_some()
        || args.language.is_some()
    {
        let name = spec::Op::from(op).name();
        return Err(format!("{name} has no exponent: try gen modexp {}", args.size).into());
    }
    if args.wipe {
        return Err("a kernel has no numbers of its own to wipe: leave out --wipe".into());
    }
    let names = Names {
        mcu: args.mcu.as_deref(),
        core: args.core.as_deref(),
        extensions: &args.isa_ext,
        big_endian: args.big_endian,
        abi: args.abi.as_deref(),
    };
    let target = Target::resolve(&names)?;
    target.on(Generate {
        args,
        op,
        target: &target,
    })
}

struct Generate<'a> {
    args: &'a GenArgs,
    op: OpArg,
    target: &'a Target,
}

impl OnIsa for Generate<'_> {
    type Output = Result<bool, Failure>;

    fn call<I: Lower>(self, core: &I::Core, format: &ObjectFormat) -> Self::Output {
        generate::<I>((self.args, self.op), self.target, core, format)
    }
}

fn generate<I: Lower>(
    (args, op): (&GenArgs, OpArg),
    target: &Target,
    core: &I::Core,
    format: &ObjectFormat,
) -> Result<bool, Failure> {
    let mut params = BTreeMap::new();
    for (name, value) in &args.param {
        if params.insert(name.clone(), *value).is_some() {
            return Err(format!("-p {name} is given twice").into());
        }
    }
    let request = Request {
        op: op.into(),
        size: args.size,
        modular: args.modular.modular()?,
        method: args.method.clone(),
        params,
        max_regs: args.max_regs,
        style: args.style,
        budget: Budget {
            flash: args.max_flash,
            stack: args.max_stack,
        },
        room: target.room(),
        demands: Demands {
            variable_time: args.variable_time,
            aliases: aliases(&args.alias, op.into()),
        },
        drop: args.drop,
    };
    let usual = match target.is_iar() {
        true => Assembler::Iar,
        false => Assembler::Gnu,
    };
    let assembler = args.dialect.map_or(usual, Assembler::from);
    emit::known_to::<I>(assembler, &target.core_name())?;
    let bar = progress(format!(
        "{}{} for {}: counting and proving",
        request.op.name(),
        args.size,
        target.core_name()
    ));
    let result = kernel::generate::<I>(&request, core);
    bar.finish_and_clear();
    let kernel = result?;
    let mut command = command(&kernel, target);
    if let Some(most) = args.max_regs {
        command += &format!(" --max-regs {most}");
    }
    for alias in &kernel.demands.aliases {
        command += &format!(" --alias {}", alias.argument());
    }
    if request.budget.is_set() {
        command += &format!(" {}", request.budget);
    }
    if let Some(index) = args.drop {
        command += &format!(" --drop {index}");
    }
    if args.unproved {
        command += " --unproved";
    }
    if assembler != usual {
        command += &format!(" --dialect {}", assembler.name());
    }
    if !args.prefix.is_empty() {
        command += &format!(" --prefix {}", args.prefix);
    }
    let mut report = report(&kernel, target, command);
    report.spec.symbol.insert_str(0, &args.prefix);
    let proved = report.is_proved();
    if proved || args.unproved {
        write(&kernel, core, (format, assembler), &mut report, args)?;
        if let (true, Some(path)) = (proved, &args.certificate) {
            certify(&kernel, core, &report.spec.symbol, target, path)?;
        }
    }
    if args.json {
        output::say(&json(&report)?)?;
    } else {
        let wrote = if let Some(asm) = &report.files.asm {
            let symbol = &report.spec.symbol;
            let folder = args.output.display();
            format!("{asm} {symbol}.h {symbol}.o {symbol}.json in {folder}")
        } else {
            format!("nothing: {}", report.open().join("; "))
        };
        output::say(&format!("{}  wrote          {wrote}", text(&report)))?;
    }
    if assembler == Assembler::Iar && kernel.abi == "avr-gcc" {
        output::tell("warning: IAR's compiler does not call as avr-gcc does: try --abi iar");
    }
    for warning in &report.warnings {
        output::tell(&format!("warning: {warning}"));
    }
    Ok(proved)
}

pub(super) fn progress(message: String) -> ProgressBar {
    // Draws on a terminal only; quiet in a pipe.
    let bar = ProgressBar::new_spinner().with_message(message);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// The report of a kernel made by `command`.
pub fn report<I: Isa>(kernel: &Kernel<I>, target: &Target, command: String) -> Report {
    let spec = &kernel.spec;
    let sources: usize = spec.source_bytes().iter().sum();
    let ram = sources + spec.result_bytes() + kernel.proof.stack.total();
    let warnings = target.warnings(kernel.code.len(), ram);
    let mcu = target.mcu().map(String::from);
    Report::new(kernel, target.core_name(), mcu, warnings, command)
}

/// The command that gives the same bytes.
pub fn command<I: Isa>(kernel: &Kernel<I>, target: &Target) -> String {
    let mut text = format!(
        "lozenge gen {} {} {} --method {}",
        kernel.spec.op.name(),
        kernel.spec.size,
        target.arguments(),
        kernel.method.name
    );
    for (name, value) in &kernel.params {
        text.push_str(&format!(" -p {name}={value}"));
    }
    if kernel.style != Style::Unrolled {
        text.push_str(&format!(" --style {}", kernel.style.name()));
    }
    if kernel.leaks() && kernel.demands.variable_time {
        text.push_str(" --variable-time");
    }
    if let Some(modular) = &kernel.spec.modular {
        text.push_str(&format!(" --modulus {}", modular.modulus));
        if modular.reduce != Reduce::Full {
            text.push_str(&format!(" --reduce {}", modular.reduce.name()));
        }
        if modular.shift > 0 {
            text.push_str(&format!(" --shift {}", modular.shift));
        }
    }
    text
}

fn write<I: Isa>(
    kernel: &Kernel<I>,
    core: &I::Core,
    formats: (&ObjectFormat, Assembler),
    report: &mut Report,
    args: &GenArgs,
) -> Result<(), Failure> {
    let files = files(kernel, core, formats, report)?;
    output::write_all(&args.output, &files, args.force).map_err(Failure::file)
}

/// Writes the certificate of a kernel.
fn certify<I: Isa>(
    kernel: &Kernel<I>,
    core: &I::Core,
    symbol: &str,
    target: &Target,
    path: &Path,
) -> Result<(), String> {
    let spec = &kernel.spec;
    let function = prove::kernel::<I>(core, &kernel.code, &kernel.program.claims);
    let mut claim = certify::claim(
        (symbol, spec.op),
        (&spec.size, spec.modular.as_ref()),
        target,
    );
    let limb = function.word_bits(I::WORD_BITS);
    claim.extend(["--limb".to_string(), limb.to_string()]);
    if kernel.demands.variable_time {
        claim.push("--variable-time".into());
    }
    let bar = progress(format!("{symbol}: certifying"));
    let written = certify::write::<I>(path, claim, (spec, core, &function), &kernel.aliasing);
    bar.finish_and_clear();
    written
}

/// The files of a kernel, which its report then names.
pub(super) fn files<I: Isa>(
    kernel: &Kernel<I>,
    core: &I::Core,
    (format, assembler): (&ObjectFormat, Assembler),
    report: &mut Report,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let symbol = report.spec.symbol.clone();
    let extensions = [assembler.extension(format), "h", "o", "json"];
    let [asm, head, object, data] = extensions.map(|e| format!("{symbol}.{e}"));
    report.files = Files {
        asm: Some(asm.clone()),
        header: Some(head.clone()),
        object: Some(object.clone()),
    };
    let text = emit::assembly(assembler, kernel, core, format, report)?;
    Ok(vec![
        (asm, text.into_bytes()),
        (head, header::header(report, &I::dialect(core)).into_bytes()),
        (
            object,
            elf::object(format, &symbol, &kernel.code, &kernel.claims(core))?,
        ),
        (data, (json(report)? + "\n").into_bytes()),
    ])
}

pub(super) fn json(report: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(report).map_err(|e| e.to_string())
}

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let spec = &report.spec;
    let counts = &report.instructions;
    let verdict = &report.verdict;
    let line = |name: &str, value: String| format!("  {name:<14} {value}\n");
    let state = |word: &str, key: &str, extra: &str| match report.reasons.get(key) {
        Some(reason) => format!("{word}: {reason}"),
        None => format!("{word}{extra}"),
    };
    let sources: Vec<_> = spec.sources.iter().map(|s| s.name).collect();
    let mut text = format!(
        "{}: {}, {} bits, {}, {}\n",
        spec.symbol,
        spec.equation,
        spec.size,
        report.method_text(),
        report.style
    );
    if let Some(modular) = &spec.modular {
        text += &line("modulus", format!("m = {}", modular.modulus));
        text += &line("contract", modular.contract.clone());
    }
    text += &line(
        "CORRECT",
        state(verdict.correct.word(), "correct", " for all inputs"),
    );
    let scratch: usize = report.scratch.iter().sum();
    let writes = match scratch {
        0 => "r and its own stack frame".to_string(),
        _ => format!("r, {scratch} bytes of scratch and its own stack frame"),
    };
    let touched = format!(
        ": reads {}, writes {writes}, wherever they lie",
        sources.join(", ")
    );
    text += &line("MEMORY", state(verdict.memory.word(), "memory", &touched));
    text += &line(
        "ABI",
        state(verdict.abi.word(), "abi", &format!(": {}", report.abi)),
    );
    text += &line("CONSTANT TIME", report.time_text());
    text += &line("aliasing", report.aliasing_text());
    text += &line("cycles", report.cycles_text());
    // Where one run says all of them, there is nothing to measure.
    if let (Some(measured), true) = (&report.measured, report.leaks.contains_key(&report.core)) {
        let (body, call) = (
            Report::span_text(&measured.body),
            Report::span_text(&measured.call),
        );
        let runs = measured.runs;
        text += &line(
            "measured",
            format!("{body} body, {call} call in {runs} runs on numbers"),
        );
    }
    if let Some(others) = report.others_text() {
        text += &line("other cores", others);
    }
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
    text
}
