//! `cargo xtask lighthouse`: the scores of Lighthouse for every public page, as a slow phone and as a desktop.

use crate::{
    demo_host::DemoHost,
    packages,
    run::{self, print_progress},
};
use anyhow::Result;
use std::{fs, process::Command};

/// The least score of a page in each category.
const LEAST_SCORE: &str = "95";

/// Prints the scores of each page. Fails if one is below the least, a page has too many scripts, or its first paint on
/// the phone is late.
pub(crate) fn audit() -> Result<()> {
    packages::install("Lighthouse", "tests/lighthouse", "lighthouse")?;
    let folder = run::target_folder()?.join("lighthouse");
    let host = folder.join("host");
    if host.exists() {
        fs::remove_dir_all(&host)?;
    }
    let host = DemoHost::start(host)?;
    // Beside the installed packages, where it finds them.
    let (program, tests) = (folder.join("audit.mjs"), run::workspace().join("tests"));
    fs::copy(tests.join("lighthouse/audit.mjs"), &program)?;
    print_progress("auditing the pages");
    let mut audit = Command::new("node");
    audit.arg(program).arg(&host.url).arg(tests.join("clients/pages.json")).arg(LEAST_SCORE);
    run::run(&mut audit)?;
    host.end()
}
