//! The subcommands of the command line. Exit codes: 0 proved, 1 not proved, 2 usage.

mod advice;
mod arguments;
mod assemble;
mod bench;
mod case;
mod certify;
mod check;
mod compare;
mod drive;
mod driver_plan;
mod failure;
mod generate;
mod instead;
mod list;
mod output;
mod parallel;
mod pareto;
mod repro;
mod run;
mod schema;
mod values;
mod verify;
mod words;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::cli::arguments::{CheckArgs, CompareArgs, GenArgs, ListArgs, RunArgs};
use crate::cli::failure::Failure;
use crate::cli::values::GenOp;

/// Multi-precision arithmetic kernels for small processors, proved on the bytes that ship.
#[derive(Parser)]
#[command(
    version,
    about,
    after_help = "Example:\n  lozenge gen mul 160 --mcu atmega128 -o out"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
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
                      lozenge compare mul 160 --mcu atmega128 --csv\n  \
                      lozenge compare mul 256 --mcu atmega328p --pareto"
    )]
    Compare(CompareArgs),
    /// Audit a function of an ELF file: the four verdicts and the costs of anybody's kernel
    #[command(
        after_help = "Example:\n  lozenge check out/mul160.o --symbol mul160 --op mul --bits 160 --mcu atmega128"
    )]
    Check(CheckArgs),
    /// Follow a certificate through the code it is about: neither generator nor prover is asked
    #[command(
        after_help = "Example:\n  lozenge gen mul 160 --mcu atmega128 -o out --certificate out/mul160.proof\n  \
                      lozenge verify out/mul160.proof out/mul160.o"
    )]
    Verify(verify::VerifyArgs),
    /// Published tables cell by cell beside ours: reproduced, beaten, worse or not comparable
    #[command(
        after_help = "Examples:\n  lozenge repro hutter-wenger-2018 --table 3\n  \
                      lozenge repro groszschaedl-kamendje-2003 --table 5.2 --csv\n  \
                      lozenge repro seo-kim-2014 --table 3 --json"
    )]
    Repro(repro::ReproArgs),
    /// What there is: methods, cores, mcus or ops
    #[command(after_help = "Example:\n  lozenge list methods")]
    List(ListArgs),
    /// The JSON schema of what --json prints
    #[command(after_help = "Example:\n  lozenge schema")]
    Schema,
    /// How fast the tool itself is: generation with proof, and simulation
    #[command(after_help = "Example:\n  lozenge bench --bits 160")]
    Bench(bench::BenchArgs),
}

/// Runs the command line and returns the exit code.
pub fn main() -> ExitCode {
    // Whoever cannot be understood may have asked for JSON all the same.
    let json = std::env::args().any(|argument| argument == "--json");
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout with success; anything else is one line of usage.
            if !error.use_stderr() {
                print!("{error}");
                return ExitCode::SUCCESS;
            }
            let text = error.render().to_string();
            let line = match error.kind() {
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                    "error: say what to do: try `lozenge --help`".to_string()
                }
                // The first paragraph: what is wrong, and the names or values it is about.
                _ => {
                    let lines = text.lines().take_while(|l| !l.trim().is_empty());
                    lines.map(str::trim).collect::<Vec<_>>().join(" ")
                }
            };
            let tip = text.lines().find(|l| l.trim_start().starts_with("tip:"));
            let tip = match tip {
                Some(tip) => format!(" ({})", tip.trim()),
                None if line.contains("try ") => String::new(),
                None => " (try `lozenge --help`)".to_string(),
            };
            Failure::from(format!("{line}{tip}")).told(json);
            return ExitCode::from(2);
        }
    };
    let outcome = match cli.command {
        Command::Gen(args) => match args.op {
            GenOp::Kernel(op) => generate::run(&args, op),
            GenOp::Driver(op) => drive::run(&args, op),
        },
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Repro(args) => repro::run(&args),
        Command::List(args) => list::run(&args).map_err(Failure::from),
        Command::Bench(args) => bench::run(&args).map_err(Failure::from),
        Command::Schema => schema::run().map_err(Failure::from),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            failure.told(json);
            ExitCode::from(2)
        }
    }
}
