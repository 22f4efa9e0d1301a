//! `cargo deny`: the rules of `deny.toml`, and known vulnerabilities of dependencies.
//!
//! It is not needed: installing it compiles 167 crates, and the advisories need a network. The tests in `dependencies`
//! check the rules about licences, sources and wildcards on every machine.

use crate::{
    debian::is_installed,
    run::{cargo, cargo_command, print_progress},
};
use anyhow::Result;

/// Checks what can be checked on this machine, and says what is skipped.
pub(crate) fn check() -> Result<()> {
    if !is_installed("cargo-deny") {
        print_progress("checking the dependencies: skipped, cargo-deny is not installed");
        return Ok(());
    }
    print_progress("checking the dependencies");
    let fetched = cargo_command(&["deny", "fetch", "db"]).status()?;
    if !fetched.success() {
        print_progress("checking the advisories: skipped, their database cannot be fetched");
    }
    cargo(checks(fetched.success()))
}

/// Returns the arguments for cargo.
fn checks(has_advisories: bool) -> &'static [&'static str] {
    match has_advisories {
        true => &["deny", "check"],
        false => &["deny", "check", "bans", "licenses", "sources"],
    }
}

#[cfg(test)]
mod tests {
    use super::checks;

    /// Without names, `cargo deny check` checks everything.
    #[test]
    fn every_section_but_the_advisories_is_checked_without_their_database() {
        let rules = std::fs::read_to_string(crate::run::workspace().join("deny.toml")).unwrap();
        let rules: toml::Table = toml::from_str(&rules).unwrap();
        let mut sections: Vec<&str> = rules.keys().map(String::as_str).collect();
        sections.retain(|section| !["advisories", "graph"].contains(section));
        sections.sort_unstable();
        assert_eq!(checks(false)[2..], sections);
        assert_eq!(checks(true), ["deny", "check"]);
    }
}
