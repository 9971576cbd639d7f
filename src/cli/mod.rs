//! The subcommands of the command line. Exit codes: 0 proved, 1 not proved, 2 usage.

mod advice;
mod arguments;
mod assemble;
mod bench;
mod case;
mod certify;
mod check;
mod commands;
mod compare;
mod draw;
mod drive;
mod driver_plan;
mod failure;
mod generate;
mod help;
mod instead;
mod list;
mod manifest;
mod output;
mod pack;
mod page;
mod parallel;
mod pareto;
mod progress;
mod reference;
mod repro;
mod run;
mod schema;
mod show;
mod show_plan;
mod size;
mod tune;
mod tuned;
mod values;
mod verify;
mod words;

use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use crate::cli::commands::{Cli, Command};
use crate::cli::failure::Failure;
use crate::cli::values::GenOp;

/// Runs the command line and returns the exit code.
pub fn main() -> ExitCode {
    // Whoever cannot be understood may have asked for JSON all the same.
    let json = std::env::args().any(|argument| argument == "--json");
    let parsed = help::command().try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return not_understood(&error, json),
    };
    output::be_quiet(cli.quiet);
    match outcome(cli.command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            failure.told(json);
            ExitCode::from(2)
        }
    }
}

/// Help and version go to stdout with success; anything else is one line of usage.
fn not_understood(error: &clap::Error, json: bool) -> ExitCode {
    if !error.use_stderr() {
        return match output::say(error.to_string().trim_end()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => {
                Failure::file(message).told(json);
                ExitCode::from(2)
            }
        };
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
    let tip = match text.lines().find(|l| l.trim_start().starts_with("tip:")) {
        Some(tip) => format!(" ({})", tip.trim()),
        None if line.contains("try ") => String::new(),
        None => format!(" (try `{}`)", help_of(std::env::args().nth(1))),
    };
    Failure::from(format!("{line}{tip}")).told(json);
    ExitCode::from(2)
}

/// What prints the help of a command, or of all.
fn help_of(name: Option<String>) -> String {
    match name {
        Some(name) if help::command().find_subcommand(&name).is_some() => {
            format!("lozenge {name} --help")
        }
        _ => "lozenge --help".to_string(),
    }
}

/// What a command answers: that all it made is proved, or not.
fn outcome(command: Command) -> Result<bool, Failure> {
    match command {
        Command::Gen(args) => match args.op {
            GenOp::Kernel(op) => generate::run(&args, op),
            GenOp::Driver(op) => drive::run(&args, op),
        },
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Draw(args) => draw::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Report(args) => page::run(&args),
        Command::Pack(args) => pack::run(&args),
        Command::Check(args) => match &args.manifest {
            Some(path) => manifest::run(path, &args),
            None => check::run(&args),
        },
        Command::Verify(args) => verify::run(&args),
        Command::Repro(args) => repro::run(&args),
        Command::List(args) => list::run(&args).map_err(Failure::from),
        Command::Bench(args) => bench::run(&args).map_err(Failure::from),
        Command::Schema => schema::run().map_err(Failure::from),
        Command::Reference(args) => reference::run(&args),
        Command::Completions(args) => help::completions(&args).map_err(Failure::from),
        Command::Man(args) => help::man(&args).map_err(Failure::from),
    }
}
