//! `lozenge gen` of a driver: an exponentiation with its kernels.

use lozenge::driver::build::Built;
use lozenge::driver::secrecy::Told;
use lozenge::emit::Assembler;
use lozenge::emit::driver::{DriverReport, Title};
use lozenge::face::made::{command, files, report};
use lozenge::isa::Cost;
use lozenge::request::Room;
use lozenge::spec::modulus::Modulus;
use lozenge::target::Target;
use machine::isa::core::Core;
use machine::isa::energy::Currents;

use crate::cli::arguments::GenArgs;
use crate::cli::case::{Case, Given};
use crate::cli::driver_plan::Asked;
use crate::cli::failure::Failure;
use crate::cli::values::{DriverOp, LanguageArg, SecrecyArg};
use crate::cli::{generate, output};

/// Runs on numbers and compares with big integers.
///
/// # Errors
/// A fault, or another result.
pub fn execute(
    built: &Built,
    core: &Core,
    case: &Case,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Cost, String> {
    let (outputs, cost) = built.image.run(core, &built.driver, &case.inputs, watch)?;
    match outputs.as_slice() {
        [(_, result)] if *result == case.want => Ok(cost),
        wrong => Err(format!(
            "the result {wrong:x?} is wrong (a defect of this tool)"
        )),
    }
}

/// Makes, proves and tries a driver, and writes it with its kernels.
pub fn run(args: &GenArgs, op: DriverOp) -> Result<bool, Failure> {
    refuse(args)?;
    let target = args.target.resolve()?;
    let (params, chosen) = generate::split(&args.param);
    let bits = generate::size(args.size, &args.modular, op.name())?.a;
    let mut plan = Asked {
        op,
        bits: match op {
            DriverOp::Modinv => bits.next_multiple_of(target.word_bits()),
            DriverOp::Modexp | DriverOp::Rsa | DriverOp::RsaPublic => bits,
        },
        args: &args.driver,
        method: args.method.as_deref(),
        params: &params,
        plan: chosen.as_ref(),
        style: args.style,
        modulus: args.modular.modulus.as_ref().unwrap_or(&Modulus::Runtime),
        max_flash: args.max_flash,
        wipe: args.wipe,
    };
    let core = target.to_core();
    let (built, case) = made(args, &mut plan, &core, &target)?;
    let plan = &plan;
    let cost = execute(&built, &core, &case, &mut |_, _| {})?;
    if op == DriverOp::Modinv && args.exponent.is_some() {
        return Err(Failure::from(
            "modinv has no exponent: leave out --exponent".to_string(),
        ));
    }
    let exponent = args.exponent.unwrap_or(SecrecyArg::Secret);
    let constant_time = built.constant_time(&core, exponent == SecrecyArg::Public);
    let leaks = leaks(&constant_time, &target.core_name());
    let title = title(args, plan, &target, exponent, leaks)?;
    let given = args.energy.as_deref().map(generate::currents).transpose()?;
    let mut told = DriverReport::new(title, &built, &cost, &constant_time, &args.prefix)
        .drawing(given.or_else(|| core.currents()));
    told.warnings = target.warnings(told.flash.total, told.ram.total);
    let proved = told.keeps_its_time();
    let wrote = match proved {
        true => {
            let all = written(&mut told, &built, &core, &target, &args.prefix)?;
            output::write_all(&args.output, &all, args.force).map_err(Failure::file)?;
            let (files, folder) = (told.files.join(" "), args.output.display());
            format!("{files} in {folder}")
        }
        false => format!("nothing: {}", TIME_MATTERS),
    };
    match args.json {
        true => output::say(&serde_json::to_string_pretty(&told).map_err(|e| e.to_string())?)?,
        false => output::report(&format!("{}  wrote          {wrote}", told.text()), proved)?,
    }
    for warning in &told.warnings {
        output::tell(&format!("warning: {warning}"));
    }
    Ok(proved)
}

/// What its files say of a driver.
fn title(
    args: &GenArgs,
    plan: &Asked<'_>,
    target: &Target,
    exponent: SecrecyArg,
    leaks: bool,
) -> Result<Title, String> {
    let word_bits = target.word_bits();
    Ok(Title {
        symbol: format!("{}{}", args.prefix, plan.symbol()),
        equation: plan.equation(),
        bits: plan.bits,
        exponentiation: plan.how(word_bits as usize / 8)?,
        exponent: match (plan.op, exponent) {
            (DriverOp::Modinv, _) => "",
            (DriverOp::RsaPublic, _) | (_, SecrecyArg::Public) => "public",
            (_, SecrecyArg::Secret) => "secret",
        },
        driver: match args.language.unwrap_or(LanguageArg::Asm) {
            LanguageArg::Asm => "asm",
            LanguageArg::C => "c",
        },
        core: target.core_name(),
        mcu: target.part_name().map(String::from),
        variable_time: leaks && args.variable_time,
        beware: beware(plan),
        command: typed(args, plan, target, word_bits, leaks)?,
    })
}

/// What to do where time depends on the numbers.
pub const TIME_MATTERS: &str = "time or addresses are not shown to be the same for all numbers: --variable-time accepts \
     that, for numbers that are no secrets; --exponent public does where only the exponent decides";

/// What the driver does not do, and its caller must.
fn beware(plan: &Asked) -> Vec<&'static str> {
    const RAW: &str = "no padding: this is the bare operation; PSS or OAEP (RFC 8017) before and behind it are the caller's";
    const FAULTS: &str = "no blinding, and no check of the result: a fault in one half of the computation gives the key away; \
         raise the result to the public exponent and compare before it leaves the device";
    const LEFT: &str = "secrets stay in the struct (work and state, too; --wipe clears these), and in the stack below the \
         caller's: clear both";
    const WIPED: &str = "work and state are cleared at the end; inputs stay in the struct, and secrets in the stack below \
         the caller's: clear both";
    let left = if plan.wipe { WIPED } else { LEFT };
    match plan.op {
        DriverOp::Rsa => vec![RAW, FAULTS, left],
        DriverOp::RsaPublic => vec![RAW],
        DriverOp::Modexp | DriverOp::Modinv => vec![left],
    }
}

/// Is it not shown that time and addresses are the same for all numbers, on `core`?
pub fn leaks(constant_time: &[(String, Result<(), Told>)], core: &str) -> bool {
    let own = constant_time.iter().find(|(name, _)| name == core);
    own.is_none_or(|(_, verdict)| verdict.is_err())
}

/// What makes no sense of a driver.
fn refuse(args: &GenArgs) -> Result<(), String> {
    if let Some(size) = args.size.filter(|size| size.a != size.b) {
        let bits = size.a;
        return Err(format!("{size}: the numbers have one size: try {bits}"));
    }
    if args.modular.reduce.is_some() {
        return Err("a driver's results are below the modulus: leave out --reduce".into());
    }
    if args.drop.is_some() || args.unproved || args.search || args.tuned.is_some() {
        return Err(
            "--drop, --search, --tuned and --unproved are for single kernels: try gen montmul"
                .into(),
        );
    }
    if !args.alias.is_empty() {
        return Err("the numbers of a driver lie in one struct: leave out --alias".into());
    }
    if args.max_stack.is_some() || args.max_regs.is_some() {
        return Err("--max-stack and --max-regs are for single kernels: try --max-flash".into());
    }
    if args
        .dialect
        .is_some_and(|d| Assembler::from(d) != Assembler::Gnu)
    {
        return Err("drivers are written for the GNU assembler: leave out --dialect".into());
    }
    Ok(())
}

/// The driver with its kernels, and numbers to try it on. Numbers are refused before kernels are made, and so is what the
/// part has no memory for; where the fastest is too large for its flash, `plan` is limited to it.
fn made(
    args: &GenArgs,
    plan: &mut Asked<'_>,
    core: &Core,
    target: &Target,
) -> Result<(Built, Case), Failure> {
    let mut driver = plan.driver(core.word_bits() as usize / 8)?;
    let room = target.room().filter(|_| args.max_flash.is_none());
    if let Some(Room { part, ram, .. }) = room.filter(|room| driver.bytes > room.ram) {
        let bytes = driver.bytes;
        return Err(format!(
            "the numbers take {bytes} bytes, and {part} has {ram} of RAM: try fewer bits, or a larger part \
             (lozenge list mcus)"
        )
        .into());
    }
    let mut built = None;
    if let Some(room) = room {
        let whole = plan.build(driver.clone(), core)?;
        match whole.image.code.len() <= room.flash {
            true => built = Some(whole),
            false => {
                plan.max_flash = Some(room.flash);
                driver = plan.driver(core.word_bits() as usize / 8)?;
            }
        }
    }
    let given: Given = match plan.modulus {
        Modulus::Fixed { value, .. } => vec![("modulus", Some(value.clone()))],
        _ => Vec::new(),
    };
    let case = Case::new(plan, &driver, &given, 1)?;
    let built = match built {
        Some(built) => built,
        None => plan.build(driver, core)?,
    };
    Ok((built, case))
}

/// The command that makes the same.
fn typed(
    args: &GenArgs,
    plan: &Asked<'_>,
    target: &Target,
    word_bits: u32,
    leaks: bool,
) -> Result<String, String> {
    let [arguments, of] = [plan.arguments(word_bits)?, target.arguments()];
    let mut text = format!("lozenge gen {arguments} {of}");
    if args.exponent == Some(SecrecyArg::Public) {
        text += " --exponent public";
    }
    if leaks && args.variable_time {
        text += " --variable-time";
    }
    if args.language == Some(LanguageArg::C) {
        text += " --driver c";
    }
    if !args.prefix.is_empty() {
        text += &format!(" --prefix {}", args.prefix);
    }
    Ok(text)
}

/// The files of the kernels and of the driver, which its report then names.
fn written(
    told: &mut DriverReport,
    built: &Built,
    core: &Core,
    target: &Target,
    prefix: &str,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut all = Vec::new();
    for kernel in &built.kernels {
        let mut line = command(kernel, target, kernel.spec.size, None);
        if !prefix.is_empty() {
            line += &format!(" --prefix {prefix}");
        }
        let mut report = report(kernel, target, currents(told), line);
        report.spec.symbol.insert_str(0, prefix);
        all.extend(files(kernel, Assembler::Gnu, &mut report)?);
    }
    let symbol = told.symbol.clone();
    let in_c = told.driver == "c";
    let extensions: &[&str] = match in_c {
        true => &["c", "h", "json"],
        false => &["S", "o", "h", "json"],
    };
    let names: Vec<_> = extensions.iter().map(|e| format!("{symbol}.{e}")).collect();
    let kernels = all.iter().map(|(name, _)| name.clone());
    told.files = kernels.chain(names.clone()).collect();
    let json = serde_json::to_string_pretty(told).map_err(|e| e.to_string())? + "\n";
    let mut contents = match in_c {
        true => vec![told.c(built).into_bytes()],
        false => vec![
            told.assembly(built, core).into_bytes(),
            told.object(built, core, &core.object_format())?,
        ],
    };
    contents.extend([told.header().into_bytes(), json.into_bytes()]);
    all.extend(names.into_iter().zip(contents));
    Ok(all)
}

/// What a driver was counted with.
fn currents(told: &DriverReport) -> Option<Currents> {
    told.energy.as_ref().map(|energy| energy.currents.clone())
}
