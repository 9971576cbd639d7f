//! `lozenge pack`: the kernels of a pack, made in parallel, as the files of one folder.

mod arguments;
mod package;
mod whole;

use lozenge::facts::Style;
use lozenge::nearest::nearest;
use lozenge::pack::{
    Library, Made, Packs, Wanted, bearssl, budget, folder, mbedtls, micro_ecc, p256_m, points,
};
use lozenge::{Error, Kernel, Target};

pub use crate::cli::pack::arguments::PackArgs;

use crate::cli::failure::Failure;
use crate::cli::pack::arguments::{LibraryArg, command, json, wrote};
use crate::cli::{output, parallel, words};

/// The packs there are.
const PACKS: &str = include_str!("../../pack/packs.toml");

/// Makes, proves, writes, prints. `Ok(false)` if a kernel is not proved: then nothing is written.
pub fn run(args: &PackArgs) -> Result<bool, Failure> {
    let packs: Packs = toml::from_str(PACKS).map_err(|e| e.to_string())?;
    let Some(pack) = packs.find(&args.pack) else {
        return Err(unknown(&args.pack, &packs).into());
    };
    if pack.whole {
        return whole::run(args, &pack.title);
    }
    let target = args.target.resolve()?;
    package::refuse(args.package, args.library.is_some(), &target)?;
    let wanted = packs.wanted(&args.pack, args.bits, target.word_bits())?;
    let library = library(args, &wanted, &target)?;
    let kernels = match kernels(args, &wanted, &target)? {
        Ok(kernels) => kernels,
        Err(unproved) => {
            unproved.told(args.json);
            return Ok(false);
        }
    };
    if let Some(library) = &library {
        library.takes(&kernels)?;
    }
    let (command, file) = (command(args, &target), file(&wanted));
    let made = Made {
        name: &args.pack,
        file: &file,
        title: &pack.title,
        command: &command,
        version: env!("CARGO_PKG_VERSION"),
        target: &target,
        kernels: &kernels,
        whole: None,
    };
    let files = folder::files(&made, library.as_ref())?;
    let files = package::files(args.package, &made, files)?;
    output::write_all(&args.output, &files, args.force).map_err(Failure::file)?;
    match args.json {
        true => output::say(&json(&made, &files).to_string())?,
        false => output::report(&text(&made, args), true)?,
    }
    let room = kernels.iter().map(Kernel::stack).max().unwrap_or(0);
    for warning in target.warnings(made.bytes(), room) {
        output::tell(&format!("warning: {warning}"));
    }
    Ok(true)
}

/// The library that `--for` names, and what it takes of the pack.
fn library(args: &PackArgs, wanted: &[Wanted], target: &Target) -> Result<Option<Library>, String> {
    const RSA: &str = "rsa-1024, rsa-2048, rsa-3072 or rsa-4096";
    let pack = &args.pack;
    let limbs = |library: &str, limb: u32| match target.word_bits() {
        bits if bits == limb => Ok(()),
        bits => Err(format!(
            "{library} has limbs of {limb} bits, and kernels for this part have words of {bits}: try --core rv32im, arm7tdmi or mips-4km",
        )),
    };
    match args.library {
        None => Ok(None),
        Some(LibraryArg::MicroEcc) => {
            let curve = micro_ecc::curve(pack).map_err(|known| {
                let known = known.join(", ");
                format!("micro-ecc has no curve of pack {pack}: try {known}")
            })?;
            Ok(Some(Library::MicroEcc(curve)))
        }
        Some(LibraryArg::Mbedtls) if mbedtls::takes(wanted) => {
            limbs("Mbed TLS", mbedtls::LIMB)?;
            Ok(Some(Library::MbedTls))
        }
        Some(LibraryArg::Mbedtls) => Err(format!(
            "Mbed TLS takes Montgomery products modulo any number, and pack {pack} has none: try {RSA}"
        )),
        Some(LibraryArg::Bearssl) => {
            let called = bearssl::called(pack, wanted).map_err(|known| {
                format!(
                    "BearSSL calls whole operations, and pack {pack} has none: try {known}, {RSA}"
                )
            })?;
            limbs("the file for BearSSL", points::LIMB)?;
            Ok(Some(Library::BearSsl(called)))
        }
        Some(LibraryArg::P256M) => {
            let curve = points::CURVES
                .iter()
                .find(|curve| curve.pack == p256_m::PACK);
            let curve = curve.filter(|curve| curve.pack == pack);
            let curve = curve.ok_or_else(|| {
                format!(
                    "p256-m has one curve, and it is not that of pack {pack}: try {}",
                    p256_m::PACK
                )
            })?;
            limbs("the file for p256-m", points::LIMB)?;
            Ok(Some(Library::P256m(curve)))
        }
    }
}

/// A name that is no pack's.
fn unknown(name: &str, packs: &Packs) -> String {
    let names: Vec<_> = packs.names().collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("{name} is no pack: try {near}"),
        None => format!("{name} is no pack: try one of {}", names.join(", ")),
    }
}

/// What all functions of the pack begin with, which its header is called by: `p256`.
fn file(wanted: &[Wanted]) -> String {
    let first = wanted.first().map_or("", |w| w.symbol.as_str());
    let prefix = first.split_once('_').map_or(first, |(prefix, _)| prefix);
    let all = wanted.iter().map(|w| w.symbol.as_str());
    let common = all.fold(first.len(), |length, symbol| {
        let same = symbol
            .bytes()
            .zip(first.bytes())
            .take_while(|(x, y)| x == y);
        same.count().min(length)
    });
    match first[..common].rfind('_') {
        Some(end) => first[..end].to_string(),
        None => prefix.to_string(),
    }
}

/// All kernels of a pack, or the one that is not proved.
type Proved = Result<Vec<Kernel>, Failure>;

/// The kernels, in their order, each proved.
fn kernels(args: &PackArgs, wanted: &[Wanted], target: &Target) -> Result<Proved, Failure> {
    let of = |wanted: &Wanted| wanted.request(args.variable_time);
    let named = |wanted: &Wanted, error: Error| Failure::from(error).of(&wanted.symbol);
    let mut requests: Vec<_> = wanted.iter().map(of).collect();
    if let Some(most) = args.max_flash {
        let sizes = parallel::each(&requests, "kernels counted", |request| {
            budget::sizes(request, target)
        });
        let mut kernels = Vec::new();
        for (wanted, sizes) in wanted.iter().zip(sizes) {
            kernels.push((wanted.calls, sizes.map_err(|error| named(wanted, error))?));
        }
        let chosen = budget::share(&kernels, most).map_err(|least| {
            format!("the kernels do not fit {most} bytes: try --max-flash {least}")
        })?;
        for ((request, (_, sizes)), size) in requests.iter_mut().zip(&kernels).zip(chosen) {
            *request = request.clone().max_flash(sizes[size].bytes);
        }
    }
    let is_small = |wanted: &Wanted| wanted.small && args.max_flash.is_none();
    let small = wanted.iter().map(is_small);
    let each: Vec<_> = requests.into_iter().zip(small).collect();
    let made = parallel::each(&each, "kernels proved", |(request, small)| {
        let loops = request.clone().style(Style::Rolled);
        let made = match small.then(|| loops.generate(target)) {
            Some(Ok(kernel)) => Ok(kernel),
            // There are no loops, or none was asked for.
            Some(Err(_)) | None => request.generate(target),
        };
        match made {
            // Products in one time on a multiplier that stops early are not made in place.
            Err(Error::Unproved(_)) if !args.variable_time => {
                request.clone().apart().generate(target)
            }
            made => made,
        }
    });
    let mut kernels = Vec::with_capacity(made.len());
    for (wanted, made) in wanted.iter().zip(made) {
        match made {
            Ok(kernel) => kernels.push(kernel),
            Err(Error::Unproved(report)) => {
                let open = words::open(&report);
                return Ok(Err(Failure::from(open).of(&wanted.symbol)));
            }
            Err(error) => return Err(named(wanted, error)),
        }
    }
    Ok(Ok(kernels))
}

/// The report for people: a line for each kernel.
fn text(made: &Made<'_>, args: &PackArgs) -> String {
    let mut text = format!("{}: {}\n", made.name, made.title);
    for kernel in made.kernels {
        let report = kernel.report();
        text += &format!(
            "  {:<20} {:>8} cycles {:>6} bytes {:>5} stack  proved  {}\n",
            kernel.name(),
            kernel.cycles().call.max,
            kernel.bytes().call,
            kernel.stack(),
            report.spec.equation,
        );
    }
    text += &format!(
        "  {} functions, {} bytes of code, {} bytes of stack at most\n  wrote          {}",
        made.kernels.len(),
        made.bytes(),
        made.stack(),
        wrote(args, &format!("{}.h", made.file))
    );
    text
}
