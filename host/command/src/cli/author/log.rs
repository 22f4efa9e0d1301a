//! The log of a host that runs for an author.

use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// The default filter of the log: it shows what the capability logs, and why it trapped. The catalog and the
/// store are off, because what they log when the temporary host ends does not concern the capability.
const DEFAULT_FILTER: &str =
    "warn,portolan_sandbox=info,portolan_catalog=off,portolan_store=off,rmcp=off";

/// Writes the log to standard error. Standard output has the results.
pub(super) fn write_log() {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .init();
}
