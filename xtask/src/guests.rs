//! Builds guests: Rust packages that become components.

use crate::run::{cargo, ensure_target, metadata, print_progress, target_folder, workspace};
use anyhow::{Context as _, Result};
use portolan_componentize::componentize;
use portolan_signing::{SigningKey, Succession, sign, user_key};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The target of components that import nothing but the contract.
const BARE_TARGET: &str = "wasm32-unknown-unknown";
/// The target of components that import WASI 0.2; the compiler itself makes the component.
pub(crate) const WASI_TARGET: &str = "wasm32-wasip2";

/// Builds every package below plugins/ into catalog/.
pub(crate) fn build_plugins() -> Result<()> {
    let packages = packages_below("plugins")?;
    print_progress(&format!("building {} capabilities into catalog/", packages.len()));
    build(&packages, BARE_TARGET, &workspace().join("catalog"), Some(&user_key()?))
}

/// Builds the components that tests and benchmarks use: plugins, examples and fixture guests.
pub(crate) fn build_fixtures() -> Result<()> {
    let target = target_folder()?;
    let (plugins, examples) = (packages_below("plugins")?, packages_below("examples")?);
    let guests = packages_below("tests/guests")?;
    let wasi: Vec<_> = packages_below("tests/wasi-guests")?;
    let count = plugins.len() + examples.len() + guests.len() + wasi.len();
    print_progress(&format!("building {count} components for the tests"));
    build(&plugins, BARE_TARGET, &target.join("guests/plugins"), Some(&user_key()?))?;
    build(&[examples, guests].concat(), BARE_TARGET, &target.join("guests/fixtures"), None)?;
    build(&wasi, WASI_TARGET, &target.join("guests/fixtures"), None)
}

/// Returns the names of the packages below a folder that are built as components.
fn packages_below(folder: &str) -> Result<Vec<String>> {
    let folder = workspace().join(folder);
    let metadata = metadata()?;
    let is_guest = |package: &&Value| {
        let manifest = package.get("manifest_path").and_then(Value::as_str).unwrap_or_default();
        let mut kinds = package
            .get("targets")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|target| target.get("crate_types")?.as_array())
            .flatten();
        Path::new(manifest).starts_with(&folder) && kinds.any(|kind| kind == "cdylib")
    };
    let packages = metadata.get("packages").and_then(Value::as_array).into_iter().flatten();
    let names = packages.filter(is_guest).filter_map(|package| package.get("name")?.as_str());
    Ok(names.map(str::to_owned).collect())
}

/// Builds packages as components, signed if there is a key.
fn build(packages: &[String], target: &str, into: &Path, key: Option<&SigningKey>) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    ensure_target(target)?;
    let mut arguments = vec!["build", "--profile", "guest", "--target", target];
    packages.iter().for_each(|package| arguments.extend(["--package", package]));
    cargo(&arguments)?;
    fs::create_dir_all(into)?;
    let built = target_folder()?.join(target).join("guest");
    for package in packages {
        let name = format!("{}.wasm", package.replace('-', "_"));
        let module =
            fs::read(built.join(&name)).with_context(|| format!("{package} built no {name}"))?;
        let component = match target {
            WASI_TARGET => module,
            _ => componentize(&module)
                .with_context(|| format!("{package} cannot be made a component"))?,
        };
        let component = match key {
            Some(key) => sign(&component, key, &Succession::default())?,
            None => component,
        };
        write_component(&component, &into.join(&name))?;
    }
    Ok(())
}

/// Writes a component by a rename, so that a host that watches the folder sees whole files. A file with
/// the same content is not touched.
fn write_component(component: &[u8], path: &PathBuf) -> Result<()> {
    if fs::read(path).is_ok_and(|present| present == component) {
        return Ok(());
    }
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, component)?;
    Ok(fs::rename(unfinished, path)?)
}
