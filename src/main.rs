//! The `lozenge` command: parse, one library call per subcommand, print.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
