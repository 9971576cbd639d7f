//! `lozenge pack x25519`: a whole computation, its kernels, the driver that calls them, and a C function of bytes.

use lozenge::driver::Driver;
use lozenge::driver::build::{self, Built};
use lozenge::driver::x25519::{self, Kernels};
use lozenge::emit::driver::{DriverReport, Title};
use lozenge::isa::core::Core;
use lozenge::pack::bearssl::Called;
use lozenge::pack::{Library, Made, Whole, folder};
use lozenge::request::Demands;
use lozenge::{Kernel, Target};

use crate::cli::failure::Failure;
use crate::cli::pack::arguments::{LibraryArg, PackArgs, command, json, wrote};
use crate::cli::pack::package;
use crate::cli::progress::Progress;
use crate::cli::{drive, output};

/// Makes, proves, runs, judges, writes, prints. `Ok(false)` if time is not shown to be the same: then nothing is written.
pub fn run(args: &PackArgs, title: &str) -> Result<bool, Failure> {
    let library = library(args)?;
    let target = args.target.resolve()?;
    package::refuse(args.package, args.library.is_some(), &target)?;
    let core = target.to_core();
    let command = command(args, &target);
    let progress = Progress::of(format!("{} for {}", args.pack, core.name()));
    let built = made(args, &target, &core, &progress)?;
    progress.say("a run on numbers, then one that follows secrets".into());
    let report = reported(args, &built, &target, &core, &command)?;
    progress.done();
    let (area, keeps_its_time) = (report.ram.total, report.keeps_its_time());
    let whole = Whole::new(report, &built, &core)?;
    let kernels = built.kernels.into_iter().map(|kernel| {
        let name = format!("{}{}", Whole::PREFIX, kernel.spec.symbol());
        Kernel::called(kernel, &target, name)
    });
    let kernels: Vec<_> = kernels.collect();
    let made = Made {
        name: &args.pack,
        file: "x25519_kernels",
        title,
        command: &command,
        version: env!("CARGO_PKG_VERSION"),
        target: &target,
        kernels: &kernels,
        whole: Some(&whole),
    };
    let files = folder::files(&made, library.as_ref())?;
    let files = package::files(args.package, &made, files)?;
    let wrote = match keeps_its_time {
        true => {
            output::write_all(&args.output, &files, args.force).map_err(Failure::file)?;
            wrote(args, "x25519.h x25519.c x25519_kernels.h")
        }
        false => format!("nothing: {}", drive::TIME_MATTERS),
    };
    match args.json {
        true => output::say(&json(&made, &files).to_string())?,
        false => output::report(
            &format!("{}  wrote          {wrote}", whole.report.text()),
            keeps_its_time,
        )?,
    }
    for warning in target.warnings(made.bytes(), area) {
        output::tell(&format!("warning: {warning}"));
    }
    Ok(keeps_its_time)
}

/// The library that `--for` names.
///
/// # Errors
/// What makes no sense here.
fn library(args: &PackArgs) -> Result<Option<Library>, String> {
    if args.bits.is_some() {
        return Err("x25519 has 256 bits: leave out --bits".into());
    }
    match args.library {
        None => Ok(None),
        Some(LibraryArg::Bearssl) => Ok(Some(Library::BearSsl(Called::X25519))),
        Some(LibraryArg::MicroEcc | LibraryArg::Mbedtls | LibraryArg::P256M) => Err(
            "x25519 is a whole computation, which of these libraries BearSSL calls: leave out --for, or try --for bearssl or pack p256".into(),
        ),
    }
}

/// The driver with its kernels: all of them, or where there is no room the few that it cannot do without.
fn made(
    args: &PackArgs,
    target: &Target,
    core: &Core,
    progress: &Progress,
) -> Result<Built, Failure> {
    let told = |kernel: &str| progress.say(format!("{kernel}: counting and proving"));
    let driver = |kernels: Kernels| -> Result<Driver, String> {
        let mut driver = x25519::driver(core.word_bits() as usize / 8, kernels)?;
        if args.variable_time {
            for kernel in &mut driver.kernels {
                kernel.demands = Demands::variable_time();
            }
        }
        Ok(driver)
    };
    let Some(most) = args.max_flash.or(target.room().map(|room| room.flash)) else {
        return Ok(Built::new(driver(Kernels::All)?, core, told)?);
    };
    match Built::within(driver(Kernels::All)?, core, most, told) {
        Err(build::Error::Flash { .. }) => {
            Ok(Built::within(driver(Kernels::Few)?, core, most, told)?)
        }
        built => Ok(built?),
    }
}

/// What is known of it, from a run on numbers and one in which all of them are secret.
fn reported(
    args: &PackArgs,
    built: &Built,
    target: &Target,
    core: &Core,
    command: &str,
) -> Result<DriverReport, Failure> {
    let (inputs, want) = Whole::case();
    let (outputs, cost) = built
        .image
        .run(core, &built.driver, &inputs, &mut |_, _| {})?;
    if outputs != [("result", want)] {
        return Err(Failure::from(format!(
            "the result {outputs:x?} is wrong (a defect of this tool)"
        )));
    }
    let mut times = built.constant_time(core, false);
    // Here every instruction is followed, those of kernels, too.
    if let Some((_, verdict)) = times
        .iter_mut()
        .find(|(name, _)| *name == target.core_name())
    {
        *verdict = verdict
            .clone()
            .and_then(|()| built.whole_constant_time(core));
    }
    let leaks = drive::leaks(&times, &target.core_name());
    let title = Title {
        symbol: Whole::DRIVER.into(),
        equation: "result = u(scalar P), P of Curve25519".into(),
        bits: 255,
        exponentiation: "Montgomery's ladder".into(),
        exponent: "",
        driver: "asm",
        core: target.core_name(),
        mcu: target.part_name().map(String::from),
        variable_time: leaks && args.variable_time,
        beware: vec![
            "scalar and result stay in the struct, and secrets in the stack below the caller's: x25519() clears the former",
        ],
        command: command.into(),
    };
    Ok(DriverReport::new(
        title,
        built,
        &cost,
        &times,
        Whole::PREFIX,
    ))
}
