//! `cargo xtask fuzz`: runs the fuzz targets of `tests/fuzz` with libFuzzer.
//!
//! The stable compiler can insert the counters of coverage that libFuzzer needs. Only sanitizers need a
//! nightly one, and safe Rust gains little from them.

use crate::run::{cargo_command, print_progress, run, target_folder, workspace};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The manifest of the workspace of the targets.
pub(crate) const MANIFEST: &str = "tests/fuzz/Cargo.toml";
const PROJECT: &str = "tests/fuzz";
/// The flags that `cargo fuzz` passes to the compiler, without a sanitizer.
const FLAGS: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];
/// An input that takes longer is a finding.
const INPUT_SECONDS: u32 = 10;
/// A process that takes more memory is a finding.
const MEMORY_MIB: u32 = 2_048;

/// Arguments of `cargo xtask fuzz`.
#[derive(Debug, Args)]
pub(crate) struct Fuzz {
    /// Run only this target: the name of a file in tests/fuzz/fuzz_targets
    target: Option<String>,
    /// The time for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

impl Fuzz {
    pub(crate) fn run(self) -> Result<()> {
        let known = targets()?;
        let chosen = match self.target {
            Some(target) if known.contains(&target) => vec![target],
            Some(target) => {
                bail!("there is no target {target}; choose one of {}", known.join(", "))
            }
            None => known,
        };
        run_targets(&chosen, self.seconds)
    }
}

/// Runs every target for this time.
pub(crate) fn run_all(seconds: u32) -> Result<()> {
    run_targets(&targets()?, seconds)
}

/// Returns the names of all targets in their order.
fn targets() -> Result<Vec<String>> {
    let folder = workspace().join(PROJECT).join("fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
        let name = entry?.path().file_stem().map(|name| name.to_string_lossy().into_owned());
        names.extend(name);
    }
    names.sort_unstable();
    Ok(names)
}

/// Builds the targets and runs one after the other, the next one also after a finding.
fn run_targets(targets: &[String], seconds: u32) -> Result<()> {
    let folder = target_folder()?.join("fuzz");
    let built = build(targets, &folder)?;
    let mut findings = Vec::new();
    for target in targets {
        print_progress(&format!("fuzzing {target} for {seconds} s"));
        let mut command = fuzzer(target, seconds, &built, &folder)?;
        if run(&mut command).is_err() {
            findings.push(target.as_str());
        }
    }
    if !findings.is_empty() {
        let artifacts = folder.join("artifacts");
        bail!("findings in {}: see {}", findings.join(", "), artifacts.display());
    }
    Ok(())
}

/// Builds the targets, and returns the folder of their programs.
fn build(targets: &[String], folder: &Path) -> Result<PathBuf> {
    use_same_versions()?;
    print_progress("building the fuzz targets; the first time takes several minutes");
    let host = host()?;
    let mut command = cargo_command(&["build", "--release", "--manifest-path", MANIFEST]);
    // With a target, the flags are not passed to build scripts and macros.
    command.args(["--target", &host]).arg("--target-dir").arg(folder);
    targets.iter().for_each(|target| _ = command.args(["--bin", target]));
    command.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f")).env_remove("RUSTFLAGS");
    run(&mut command)?;
    Ok(folder.join(host).join("release"))
}

/// Copies the project's lockfile if it has changed, so that the targets run the same versions. Cargo
/// adds libFuzzer to the copy.
fn use_same_versions() -> Result<()> {
    let own = workspace().join("Cargo.lock");
    let copy = workspace().join(PROJECT).join("Cargo.lock");
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified());
    if changed(&copy).is_err() || changed(&copy)? < changed(&own)? {
        fs::copy(own, copy)?;
    }
    Ok(())
}

/// Returns the name of this machine's compile target.
fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").current_dir(workspace()).output()?;
    let printed = String::from_utf8(output.stdout)?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

/// Returns the command that runs a target. Its findings are kept in the target folder; the
/// committed seeds are not changed.
fn fuzzer(target: &str, seconds: u32, built: &Path, folder: &Path) -> Result<Command> {
    let corpus = folder.join("corpus").join(target);
    let artifacts = folder.join("artifacts").join(target);
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    let mut command = Command::new(built.join(target));
    command.arg(corpus).arg(workspace().join(PROJECT).join("seeds").join(target));
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-timeout={INPUT_SECONDS}"));
    command.arg(format!("-rss_limit_mb={MEMORY_MIB}"));
    command.arg("-print_final_stats=1");
    let dictionary = workspace().join(PROJECT).join(format!("dictionaries/{target}.dict"));
    if dictionary.exists() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_declared_and_has_small_seeds() {
        let manifest = fs::read_to_string(workspace().join(MANIFEST)).unwrap();
        let manifest: toml::Table = toml::from_str(&manifest).unwrap();
        let declared: Vec<_> = manifest["bin"].as_array().unwrap().iter().collect();
        let declared: Vec<_> = declared.iter().map(|bin| bin["name"].as_str().unwrap()).collect();
        assert_eq!(targets().unwrap(), declared);
        for target in declared {
            let folder = workspace().join(PROJECT).join("seeds").join(target);
            let seeds: Vec<_> = fs::read_dir(folder).unwrap().collect();
            assert!(!seeds.is_empty(), "{target}");
            for seed in seeds {
                assert!(seed.unwrap().metadata().unwrap().len() <= 4096, "{target}");
            }
        }
    }

    #[test]
    fn an_unknown_target_is_refused_with_the_known_ones() {
        let fuzz = Fuzz { target: Some("nothing".to_owned()), seconds: 1 };
        let error = fuzz.run().unwrap_err().to_string();
        assert!(error.contains("nothing; choose one of addresses, "), "{error}");
    }
}
