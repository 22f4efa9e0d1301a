//! Passes what `portolan --version --verbose` says of the build to the compiler.

use std::{
    collections::BTreeSet,
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use toml::{Table, Value};

const UNKNOWN: &str = "unknown";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Sets a variable of the compiler for each fact. A fact that cannot be known is `unknown`.
pub(super) fn pass() -> Result<()> {
    let package = env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets CARGO_MANIFEST_DIR")?;
    let lockfile = PathBuf::from(package).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lockfile.display());
    // Only in release builds, because everything that depends on this crate is compiled again when they
    // change.
    let recorded = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let (commit, built) = if recorded { (commit(), Some(build_date()?)) } else { (None, None) };
    let rustc = env::var_os("RUSTC").ok_or("cargo sets RUSTC")?;
    for (name, fact) in [
        ("COMMIT", commit),
        ("DATE", built),
        ("TARGET", env::var("TARGET").ok()),
        ("RUSTC", output(Command::new(rustc).arg("--version"))),
        ("WASMTIME", locked_version(&lockfile, "wasmtime")?),
        ("FEATURES", Some(features())),
    ] {
        let fact = fact.unwrap_or_else(|| UNKNOWN.to_owned());
        println!("cargo::rustc-env=PORTOLAN_BUILD_{name}={fact}");
    }
    Ok(())
}

/// Returns what a program prints; `None` if it cannot be run, fails, or prints nothing.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the commit that is checked out, and has this script run again when it changes.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| output(Command::new("git").args(arguments));
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--path-format=absolute", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "HEAD"])
}

/// Returns the day of the build: of `SOURCE_DATE_EPOCH`, if it is set, so that builds can be reproduced.
fn build_date() -> Result<String> {
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let time = match env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => jiff::Timestamp::from_second(seconds.trim().parse()?)?,
        Err(_) => jiff::Timestamp::now(),
    };
    Ok(time.strftime("%Y-%m-%d").to_string())
}

/// Returns the version of a package in the lockfile.
fn locked_version(lockfile: &Path, name: &str) -> Result<Option<String>> {
    let Ok(text) = fs::read_to_string(lockfile) else { return Ok(None) };
    let lockfile: Table = toml::from_str(&text)?;
    let packages = lockfile.get("package").and_then(Value::as_array).into_iter().flatten();
    let mut named =
        packages.filter(|package| package.get("name").and_then(Value::as_str) == Some(name));
    let version = named.next().and_then(|package| package.get("version")?.as_str());
    Ok(version.map(str::to_owned))
}

/// Returns the enabled features of this crate, separated by spaces.
fn features() -> String {
    let names = env::vars().filter_map(|(name, _)| {
        let feature = name.strip_prefix("CARGO_FEATURE_")?;
        Some(feature.to_ascii_lowercase().replace('_', "-"))
    });
    let names: BTreeSet<String> = names.collect();
    if names.is_empty() { "none".to_owned() } else { Vec::from_iter(names).join(" ") }
}
