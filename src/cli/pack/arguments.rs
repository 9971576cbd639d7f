//! What `lozenge pack` is told, and what all packs answer alike.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lozenge::pack::{Made, bearssl, mbedtls, micro_ecc, p256_m};
use lozenge::{Kernel, Target};
use serde_json::json;

use crate::cli::arguments::TargetArgs;
use crate::cli::pack::package::kind::Package;
use crate::cli::values::bytes;

/// Arguments of `pack`.
#[derive(Args)]
pub struct PackArgs {
    /// The pack: p192, p224, p256, p384, p521, secp160r1, secp256k1, 25519, 448, x25519, rsa-1024 to rsa-4096 or bignum
    pub pack: String,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Bits of the numbers, in place of the pack's own: for bignum
    #[arg(long, value_name = "N")]
    pub bits: Option<u32>,
    /// The library that is to call the kernels: its names and arguments
    #[arg(long = "for", value_enum, value_name = "LIBRARY")]
    pub library: Option<LibraryArg>,
    /// The layout of the folder: as this build tool wants it
    #[arg(long, value_enum, value_name = "TOOL")]
    pub package: Option<Package>,
    /// Bytes of code of all kernels together at most, 8k are 8192: the flash goes where it saves the most cycles
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_flash: Option<usize>,
    /// Accept that time or addresses depend on operands: for numbers that are no secrets
    #[arg(long)]
    pub variable_time: bool,
    /// Folder to write to; made if it does not exist
    #[arg(short, long, default_value = ".")]
    pub output: PathBuf,
    /// Replace files of others in the folder
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Libraries that kernels are made for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LibraryArg {
    /// micro-ecc (uECC), words of 1 byte on AVR and of 4 elsewhere
    MicroEcc,
    /// Mbed TLS, limbs of 4 bytes: Montgomery products of RSA
    Mbedtls,
    /// BearSSL, limbs of 4 bytes but for X25519: curves and RSA
    Bearssl,
    /// p256-m, the driver of Mbed TLS for P-256, limbs of 4 bytes: ECDH, ECDSA and keys
    #[value(name = "p256-m")]
    P256M,
}

impl LibraryArg {
    /// As on the command line.
    fn name(self) -> &'static str {
        match self {
            LibraryArg::MicroEcc => "micro-ecc",
            LibraryArg::Mbedtls => "mbedtls",
            LibraryArg::Bearssl => "bearssl",
            LibraryArg::P256M => "p256-m",
        }
    }

    /// The file that calls the kernels.
    fn file(self) -> &'static str {
        match self {
            LibraryArg::MicroEcc => micro_ecc::NAME,
            LibraryArg::Mbedtls => mbedtls::NAME,
            LibraryArg::Bearssl => bearssl::NAME,
            LibraryArg::P256M => p256_m::NAME,
        }
    }
}

/// The command that gives the same files.
pub(super) fn command(args: &PackArgs, target: &Target) -> String {
    let mut text = format!("lozenge pack {} {}", args.pack, target.arguments());
    if let Some(bits) = args.bits {
        text += &format!(" --bits {bits}");
    }
    if let Some(library) = args.library {
        text += &format!(" --for {}", library.name());
    }
    if let Some(package) = args.package {
        text += &format!(" --package {}", package.name());
    }
    if let Some(most) = args.max_flash {
        text += &format!(" --max-flash {most}");
    }
    if args.variable_time {
        text += " --variable-time";
    }
    text
}

/// The report for programs.
pub(super) fn json(made: &Made<'_>, files: &[(String, Vec<u8>)]) -> serde_json::Value {
    let names: Vec<_> = files.iter().map(|(name, _)| name).collect();
    let kernels: Vec<_> = made.kernels.iter().map(Kernel::report).collect();
    json!({
        "pack": made.name,
        "driver": made.whole.map(|whole| &whole.report),
        "command": made.command,
        "bytes": made.bytes(),
        "stack_bytes": made.stack(),
        "kernels": kernels,
        "files": names,
    })
}

/// What was written, for people.
pub(super) fn wrote(args: &PackArgs, headers: &str) -> String {
    let folder = args.output.display();
    match args.package {
        Some(package) => format!("a package for {} in {folder}", package.name()),
        None => {
            let library = args
                .library
                .map_or(String::new(), |library| format!("{} ", library.file()));
            format!("{headers} {library}selftest.c manifest.json README.md .S .o in {folder}")
        }
    }
}
