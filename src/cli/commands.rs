//! The commands, as clap reads them.

use clap::{Parser, Subcommand};

use crate::cli::arguments::{
    CheckArgs, CompareArgs, CompletionsArgs, DrawArgs, GenArgs, ListArgs, ManArgs, ReferenceArgs,
    ReportArgs, RunArgs, ShowArgs,
};
use crate::cli::bench::BenchArgs;
use crate::cli::pack::PackArgs;
use crate::cli::repro::ReproArgs;
use crate::cli::tune::TuneArgs;
use crate::cli::verify::VerifyArgs;

/// Multi-precision arithmetic kernels for small processors, proved on the bytes that ship.
#[derive(Parser)]
#[command(
    version = concat!(env!("CARGO_PKG_VERSION"), env!("LOZENGE_BUILD")),
    about,
    after_help = "Example:\n  lozenge gen mul 160 --mcu atmega128 -o out"
)]
pub struct Cli {
    /// Say nothing where all is well: no progress, and a report only of what is not proved
    #[arg(short, long, global = true)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Generate a kernel, prove it, and write .S, .h, .o and .json
    #[command(
        after_help = "Examples:\n  lozenge gen mul 160 --mcu atmega128 -o out\n  \
                      lozenge gen mul 256 --core atmega128 --method operand-caching -p e=8 --json -o out\n  \
                      lozenge gen mul 256x64 --mcu atmega328p -o out\n  \
                      lozenge gen mul 160 --mcu atmega328p --max-flash 3000 --max-stack 30 -o out/small\n  \
                      lozenge gen sqr 160 --mcu atmega328p -o out\n  \
                      lozenge gen modexp 64 --mcu atmega328p --method fips -o out"
    )]
    Gen(GenArgs),
    /// Generate the kernels of a curve, of RSA or of numbers, proved, with one header, a manifest and a self-test
    #[command(
        after_help = "Examples:\n  lozenge pack bignum --bits 64 --mcu atmega328p -o big\n  \
                      lozenge pack bignum --bits 64 --mcu atmega328p --max-flash 4k -o small"
    )]
    Pack(PackArgs),
    /// Execute a whole exponentiation on a simulated chip
    #[command(
        after_help = "Examples:\n  lozenge run modexp 64 --mcu atmega328p --method fips --seed 1\n  \
                      lozenge run modexp 64 --mcu atmega328p --base 2 --exponent 0x1f --modulus 1000003\n  \
                      lozenge run rsa 128 --mcu atmega328p"
    )]
    Run(RunArgs),
    /// Run every method with its sensible parameters and compare
    #[command(
        after_help = "Examples:\n  lozenge compare mul 160 --mcu atmega128\n  \
                      lozenge compare mul 64 --mcu atmega128 --csv\n  \
                      lozenge compare mul 128 --mcu atmega328p --pareto"
    )]
    Compare(CompareArgs),
    /// Search for cheaper kernels, prove the best, and write them to a file that `gen --tuned` takes
    #[command(
        after_help = "Examples:\n  lozenge tune mul 64 --mcu atmega128 --seconds 5 -o mul64.toml\n  \
                      lozenge gen mul 64 --mcu atmega128 --tuned mul64.toml -o out\n  \
                      lozenge tune sqr 64 --mcu atmega328p --objective bytes --rounds 2 -o small.toml\n  \
                      lozenge tune mul 64 --mcu atmega128 --tasks -o next.toml\n\n\
                      Processes elsewhere: --tasks prints lines, each of which a `lozenge tune --worker` turns into a line, \
                      and --results takes those. scripts/tune.py does so by any executor of Python's concurrent.futures."
    )]
    Tune(TuneArgs),
    /// Draw a method: the rhombus of partial products in their order, as SVG, text, TikZ or a page that plays it
    #[command(
        after_help = "Examples:\n  lozenge draw mul 160 --mcu atmega128 --method operand-caching -o mul160.svg\n  \
                      lozenge draw sqr 128 --mcu atmega128 --ansi\n  \
                      lozenge draw montmul 256 --core arm7tdmi --modulus p256 --method fips --animate -o montmul.html"
    )]
    Draw(DrawArgs),
    /// Show a function line by line (bytes, cycles, what each instruction does, live registers), or a plan as a tree
    #[command(after_help = "Examples:\n  lozenge show mul 64 --mcu atmega128\n  \
                      lozenge gen mul 64 --mcu atmega128 -o out\n  \
                      lozenge show out/mul64.o 64 --symbol mul64 --op mul --mcu atmega128 --live\n  \
                      lozenge show plan k160-a")]
    Show(ShowArgs),
    /// Write one page about an operation: methods, charts, pictures, listing, sources, commands
    #[command(after_help = "Example:\n  lozenge report mul 64 --core rv32im -o report.html")]
    Report(ReportArgs),
    /// Audit a function of an ELF file: the four verdicts and the costs of anybody's kernel
    #[command(
        after_help = "Examples:\n  lozenge gen mul 160 --mcu atmega128 -o out\n  lozenge check out/mul160.o --symbol mul160 --op mul --bits 160 --mcu atmega128\n  \
                      lozenge pack bignum --bits 64 --mcu atmega328p -o big\n  \
                      lozenge check --manifest big/manifest.json"
    )]
    Check(CheckArgs),
    /// Follow a certificate through the code it is about: neither generator nor prover is asked
    #[command(
        after_help = "Example:\n  lozenge gen mul 160 --mcu atmega128 -o out --certificate out/mul160.proof\n  \
                      lozenge verify out/mul160.proof out/mul160.o"
    )]
    Verify(VerifyArgs),
    /// Published tables cell by cell beside ours: reproduced, beaten, worse or not comparable
    #[command(
        after_help = "Examples:\n  lozenge repro hutter-wenger-2018 --table 3\n  \
                      lozenge repro groszschaedl-kamendje-2003 --table 5.2 --csv\n  \
                      lozenge repro seo-kim-2014 --table 3 --json"
    )]
    Repro(ReproArgs),
    /// What there is: methods, cores, parts, operations, plans or moduli
    #[command(after_help = "Examples:\n  lozenge list methods\n  lozenge list methods karatsuba")]
    List(ListArgs),
    /// The JSON schema of what --json prints
    #[command(after_help = "Example:\n  lozenge schema")]
    Schema,
    /// How fast the tool itself is: generation with proof, and simulation
    #[command(after_help = "Example:\n  lozenge bench --bits 160")]
    Bench(BenchArgs),
    /// The reference of the book, with its pictures
    #[command(after_help = "Example:\n  lozenge reference -o reference")]
    Reference(ReferenceArgs),
    /// Completions for a shell, to be sourced or put where it looks for them
    #[command(after_help = "Example:\n  lozenge completions bash > lozenge.bash")]
    Completions(CompletionsArgs),
    /// A manual page: of the tool, or of one of its commands
    #[command(after_help = "Example:\n  lozenge man gen > lozenge-gen.1")]
    Man(ManArgs),
}
