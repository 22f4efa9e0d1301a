//! `portolan --version`.

use crate::config::publisher_key;
use clap::Args;
use portolan_vocabulary::Publisher;
use serde_json::{Map, Value};
use std::process::ExitCode;

/// The flags about the version.
#[derive(Debug, Args)]
pub(super) struct Version {
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    /// With --version: print also what this binary was built from and with
    #[arg(long, requires = "version")]
    verbose: bool,
    /// With --version --verbose: print JSON
    #[arg(long, requires = "verbose")]
    json: bool,
}

impl Version {
    pub(super) fn run(self) -> ExitCode {
        match (self.verbose, self.json) {
            (false, _) => line!("portolan {}", env!("CARGO_PKG_VERSION")),
            (true, false) => {
                line!("portolan {}", env!("CARGO_PKG_VERSION"));
                facts().into_iter().for_each(|(name, fact)| line!("{name}: {fact}"));
            }
            (true, true) => {
                let version = ("version", env!("CARGO_PKG_VERSION").to_owned());
                let facts = std::iter::once(version).chain(facts());
                let facts = facts.map(|(name, fact)| (name.to_owned(), Value::String(fact)));
                line!("{:#}", Value::Object(facts.collect::<Map<_, _>>()));
            }
        }
        ExitCode::SUCCESS
    }
}

/// Returns the commit, date, target, compiler, features and publisher key of the build, and the versions of
/// the libraries and the contract in the binary.
fn facts() -> [(&'static str, String); 9] {
    let publisher = publisher_key().map(|key| Publisher::Key(key).to_string());
    [
        ("commit", env!("PORTOLAN_BUILD_COMMIT").to_owned()),
        ("built", env!("PORTOLAN_BUILD_DATE").to_owned()),
        ("target", env!("PORTOLAN_BUILD_TARGET").to_owned()),
        ("rustc", env!("PORTOLAN_BUILD_RUSTC").trim_start_matches("rustc ").to_owned()),
        ("wasmtime", env!("PORTOLAN_BUILD_WASMTIME").to_owned()),
        ("sqlite", portolan_store::sqlite_version().to_owned()),
        ("contract", portolan_sandbox::CONTRACT.to_owned()),
        ("publisher", publisher.unwrap_or_else(|| "none".to_owned())),
        ("features", env!("PORTOLAN_BUILD_FEATURES").to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use crate::cli::Arguments;
    use clap::{CommandFactory as _, Parser as _, error::ErrorKind};

    fn error(arguments: &[&str]) -> Option<ErrorKind> {
        let arguments = ["portolan"].iter().chain(arguments);
        Arguments::try_parse_from(arguments).err().map(|error| error.kind())
    }

    #[test]
    fn the_flags_of_the_version_belong_together() {
        Arguments::command().debug_assert();
        assert_eq!(error(&["--version"]), None);
        assert_eq!(error(&["-V", "--verbose", "--json"]), None);
        assert_eq!(error(&["--verbose"]), Some(ErrorKind::MissingRequiredArgument));
        assert_eq!(error(&["--version", "--json"]), Some(ErrorKind::MissingRequiredArgument));
        assert_eq!(error(&["--version", "serve"]), Some(ErrorKind::ArgumentConflict));
        let help = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
        assert_eq!(error(&[]), Some(help));
    }

    #[test]
    fn every_fact_has_a_value() {
        for (name, fact) in super::facts() {
            assert!(!fact.is_empty() && !fact.contains('\n'), "{name}: {fact}");
        }
    }
}
