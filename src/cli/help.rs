//! Help, shell completions and manual pages: views of one description of the command line.

use clap::{Arg, ArgAction, Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::arguments::{CompletionsArgs, ManArgs};
use crate::cli::commands::Cli;
use crate::cli::output;

/// Behind the examples of every command.
const EXIT_CODES: &str = "Exit codes: 0 proved, 1 not proved, 2 usage";

/// The command line. `--help` is as short as `-h`: an option a line.
pub fn command() -> Command {
    let short = |command: Command| {
        let help = Arg::new("help").short('h').long("help");
        let help = help.action(ArgAction::HelpShort).help("Print help");
        let examples = command.get_after_help().map(ToString::to_string);
        let after = examples.map_or(EXIT_CODES.into(), |text| format!("{text}\n\n{EXIT_CODES}"));
        command.disable_help_flag(true).arg(help).after_help(after)
    };
    short(Cli::command())
        .disable_help_subcommand(true)
        .mut_subcommands(short)
}

/// Prints what a shell sources.
pub fn completions(args: &CompletionsArgs) -> Result<bool, String> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "lozenge", &mut text);
    printed(text)
}

/// Prints a manual page.
pub fn man(args: &ManArgs) -> Result<bool, String> {
    let mut all = command();
    all.build();
    let page = match &args.command {
        None => all,
        Some(name) => {
            let found = all.find_subcommand(name).cloned();
            let names: Vec<_> = all.get_subcommands().map(Command::get_name).collect();
            let names = names.join(", ");
            found.ok_or_else(|| format!("there is no command {name}: try {names}"))?
        }
    };
    let mut text = Vec::new();
    let render = Man::new(page).render(&mut text);
    render.map_err(|e| format!("cannot write the page: {e}"))?;
    printed(text)
}

fn printed(text: Vec<u8>) -> Result<bool, String> {
    let text = String::from_utf8(text).map_err(|e| format!("cannot print: {e}"))?;
    output::say(text.trim_end())?;
    Ok(true)
}
