//! The `portolan` command with the fixtures of the MCP conformance suite. A wrapper around the MCP server
//! handles the suite's tools, prompts and documents, and passes everything else to the host.

mod elicitation;
mod documents;
mod fixture;
mod server;
mod tools;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let changes = server::Changes::default();
    portolan_command::Arguments::parse()
        .run_wrapped(move |server| server::Fixtures::wrap(server, changes.clone()))
}
