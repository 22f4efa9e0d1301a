//! Tries the packages for authors and for Debian, the image and the chart with the scripts of `packaging/`, where this
//! system has what they need, and says what was left out.

use super::Packages;
use crate::{
    debian::is_installed,
    run::{print_progress, run, workspace},
};
use anyhow::{Context as _, Result};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// A script that tries something.
struct Trial {
    /// What it tries.
    name: &'static str,
    command: Command,
    /// What this system does not have for it; the trial is left out if there is something.
    missing: Vec<String>,
}

impl Trial {
    fn new(name: &'static str, program: &str, script: &str) -> Self {
        let mut command = Command::new(program);
        command.arg(workspace().join("packaging").join(script));
        Self { name, command, missing: Vec::new() }
    }

    fn of_file(mut self, file: &Path) -> Self {
        self.command.arg(file);
        let is_there = file.exists();
        self.needs(is_there, || format!("{}, which `cargo xtask package` makes", file.display()))
    }

    fn with_programs(self, programs: &[&str]) -> Self {
        programs.iter().fold(self, |trial, program| {
            trial.needs(is_installed(program), || format!("the program {program}"))
        })
    }

    fn needs(mut self, is_met: bool, what: impl FnOnce() -> String) -> Self {
        if !is_met {
            self.missing.push(what());
        }
        self
    }
}

/// Tries the packages and the chart. An error if a trial fails; one that this system cannot make is named and left
/// out.
pub(super) fn check(packages: &Packages) -> Result<()> {
    let mounts = can_mount();
    let mounting = || "root's right to mount, which most containers do not have".to_owned();
    let modules = || "the Python modules helm-python-sdk and pyyaml".to_owned();
    let environments = || "the Python modules venv and ensurepip".to_owned();
    let trials = [
        Trial::new("the packages for authors", "sh", "try-author.sh")
            .of_file(&packages.wheel)
            .of_file(&packages.npm)
            .needs(has_modules(&["venv", "ensurepip"]), environments)
            .with_programs(&["curl"]),
        Trial::new("the package for Debian", "sh", "try-deb.sh")
            .of_file(&packages.deb)
            .needs(mounts, mounting)
            .with_programs(&["systemd-nspawn", "curl"]),
        Trial::new("the image", "sh", "try-image.sh")
            .of_file(&packages.image)
            .needs(mounts, mounting)
            .with_programs(&["unshare", "curl"]),
        Trial::new("the chart for Helm", "python3", "helm/check.py")
            .needs(has_modules(&["helm_python", "yaml"]), modules),
    ];
    let all = trials.len();
    let names = trials.each_ref().map(|trial| trial.name).join(", ");
    let mut tried = 0;
    for mut trial in trials {
        if trial.missing.is_empty() {
            print_progress(&format!("trying {}", trial.name));
            run(&mut trial.command).with_context(|| format!("{} does not work", trial.name))?;
            tried += 1;
        } else {
            let missing = trial.missing.join(", ");
            print_progress(&format!("NOT tried: {}; it needs {missing}", trial.name));
        }
    }
    print_progress(&format!("tried {tried} of {all}: {names}"));
    Ok(())
}

/// Returns whether this process may mount in a namespace of its own, as the scripts do.
fn can_mount() -> bool {
    succeeds(Command::new("unshare").args(["--mount", "true"]))
}

fn has_modules(names: &[&str]) -> bool {
    succeeds(Command::new("python3").arg("-c").arg(format!("import {}", names.join(", "))))
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_names_what_this_system_does_not_have_for_it() {
        let trial = Trial::new("it", "sh", "try-deb.sh")
            .of_file(Path::new("/nowhere/portolan.deb"))
            .needs(true, || "nothing".to_owned())
            .with_programs(&["sh", "no-such-program"]);
        let missing = [
            "/nowhere/portolan.deb, which `cargo xtask package` makes",
            "the program no-such-program",
        ];
        assert_eq!(trial.missing, missing);
        assert!(has_modules(&["sys"]) && !has_modules(&["sys", "no_such_module"]));
    }

    #[test]
    fn the_scripts_are_in_their_place() {
        for script in ["try-author.sh", "try-deb.sh", "try-image.sh", "helm/check.py"] {
            let trial = Trial::new("it", "sh", script);
            let path = trial.command.get_args().next().unwrap();
            assert!(Path::new(path).is_file(), "{script}");
        }
    }

    #[test]
    fn the_script_for_authors_passes_shellcheck() {
        let script = workspace().join("packaging/try-author.sh");
        let checked = Command::new("shellcheck").arg(script).output().unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    }
}
