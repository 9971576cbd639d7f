//! The Rust crate: assembly that the compiler takes (`global_asm!`, on ARM and RISC-V), or a static library of the objects,
//! and a safe function over arrays for each kernel.
//!
//! A function is safe if memory and calling convention hold for all operands, those that break the contract, too. That is so
//! where a run in which all operands are secret has one path and its addresses: where time is proved constant on some core.

use lozenge::emit::gnu;
use lozenge::pack::{Made, Whole};
use lozenge::report::Report;
use lozenge::{Kernel, Target};
use machine::isa::riscv::operands::Features;
use minijinja::{Value, context};

use crate::cli::failure::Failure;
use crate::cli::pack::package::archive;
use crate::cli::pack::package::template::{File, filled, name};

const BUILD: &str = include_str!("templates/build.jinja");

/// How Rust calls the machine, and may its compiler be given assembly there?
fn architecture(target: &Target) -> (&'static str, bool) {
    match target {
        Target::Avr { .. } => ("avr", false),
        Target::Arm(_) => ("arm", true),
        Target::Mips(_) => ("mips", false),
        Target::Riscv { .. } => ("riscv32", true),
        Target::Msp430 { .. } => ("msp430", false),
    }
}

/// The files that are not filled templates: assembly, or library and build script.
pub(super) fn files(made: &Made<'_>, pack: &[File]) -> Result<Vec<File>, Failure> {
    if architecture(made.target).1 {
        let assembly = pack.iter().filter_map(|(name, contents)| {
            let stem = name.strip_suffix(".S")?;
            let text = plain(&String::from_utf8_lossy(contents));
            let text = match made.target {
                Target::Riscv { core, .. } => with_extensions(&core.features, &text),
                Target::Avr { .. } | Target::Arm(_) | Target::Mips(_) | Target::Msp430 { .. } => {
                    text
                }
            };
            Some((format!("src/{stem}.s"), text.into_bytes()))
        });
        return Ok(assembly.collect());
    }
    let objects = pack
        .iter()
        .filter_map(|(name, contents)| Some((name.strip_suffix(".o")?, contents.as_slice())));
    let library = archive::archive(&objects.collect::<Vec<_>>());
    let name = name(made);
    let build = filled(BUILD, &context! { name, command => made.command })?;
    Ok(vec![
        (format!("lib/lib{name}.a"), library),
        ("build.rs".into(), build.into_bytes()),
    ])
}

/// Assembly without what only the preprocessor reads, and without the name of a core, which is for the compiler to say.
fn plain(text: &str) -> String {
    let mut of_linux = false;
    let lines = text.lines().filter(|line| {
        of_linux = line.starts_with("#ifdef __linux__") || of_linux && *line != "#endif";
        let of_core = ["\t.cpu ", "\t.eabi_attribute "];
        !of_linux && !line.starts_with('#') && !of_core.iter().any(|start| line.starts_with(start))
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// LLVM assembles for the processor without extensions, whatever the target has; `lib.rs` refuses targets without them.
fn with_extensions(features: &Features, text: &str) -> String {
    let multiply = match features.multiply {
        true => "\t.option arch, +m\n",
        false => "",
    };
    let text = gnu::exact(text);
    format!("\t.option push\n{multiply}{text}\t.option pop\n")
}

/// What the template says of the crate.
///
/// # Errors
/// A kernel whose function would not be safe.
pub(super) fn values(made: &Made<'_>, assembly: &[&str]) -> Result<Value, String> {
    let (architecture, in_assembly) = architecture(made.target);
    let stems = assembly.iter().filter_map(|name| name.strip_suffix(".S"));
    let features = match made.target {
        Target::Riscv { core, .. } => {
            let multiply = core.features.multiply.then_some("m");
            let compressed = core.features.compressed.then_some("c");
            [multiply, compressed].into_iter().flatten().collect()
        }
        Target::Avr { .. } | Target::Arm(_) | Target::Mips(_) | Target::Msp430 { .. } => Vec::new(),
    };
    let functions = made.kernels.iter().map(|kernel| function(made, kernel));
    let functions = functions.collect::<Result<Vec<_>, _>>()?;
    let whole = made.whole.map(|whole| {
        let step = made.target.word_bits() as usize / 8;
        let report = &whole.report;
        let fields = report.fields.iter();
        let fields = fields.map(|f| context! { name => f.name, words => f.bytes / step });
        context! {
            driver => Whole::DRIVER,
            state => report.fields.first().map_or(0, |f| f.at) / step,
            fields => fields.collect::<Vec<_>>(),
            cycles => report.cycles,
            stack => report.ram.total,
            words => 32 / step,
        }
    });
    Ok(context! {
        architecture,
        big_endian => matches!(made.target, Target::Mips(core) if core.big_endian),
        features,
        word => format!("u{}", made.target.word_bits()),
        assembly => if in_assembly { stems.collect() } else { Vec::new() },
        functions => if whole.is_some() { Vec::new() } else { functions },
        whole,
    })
}

/// A kernel as a function of arrays.
fn function(made: &Made<'_>, kernel: &Kernel) -> Result<Value, String> {
    let report = kernel.report();
    let mut times = report.verdict.constant_time.values();
    if !times.any(|verdict| *verdict == "proved") {
        return Err(format!(
            "{}: its addresses are not shown to be the same for all operands, so no function of Rust over it is safe: try --package cmake",
            kernel.name()
        ));
    }
    let spec = &report.spec;
    let step = spec.word_bits as usize / 8;
    let sources = spec.sources.iter();
    let sources: Vec<_> = sources
        .map(|s| context! { name => s.name, words => s.bytes / step })
        .collect();
    let short = kernel.name().strip_prefix(made.file);
    let short = short.and_then(|name| name.strip_prefix('_'));
    let modular = spec.modular.as_ref();
    Ok(context! {
        symbol => kernel.name(),
        name => short.unwrap_or(kernel.name()),
        equation => spec.equation,
        modulus => modular.map(|m| &m.modulus),
        contract => modular.map(|m| &m.contract),
        shorter => spec.shorter,
        time => report.time(&report.core),
        cycles => kernel.cycles().call.max,
        stack => kernel.stack(),
        result => spec.result_bytes / step,
        sources,
        in_place => in_place(report),
        returns => spec.returns,
    })
}

/// May the result take the first operand's place, and has it as many bytes?
fn in_place(report: &Report) -> bool {
    let first = report.spec.sources.first();
    report.may_coincide("r == a") && first.is_some_and(|a| a.bytes == report.spec.result_bytes)
}
