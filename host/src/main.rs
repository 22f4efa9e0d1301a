//! The `portolan` command.

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    portolan::cli::Arguments::parse().run()
}
