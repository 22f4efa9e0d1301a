//! `cargo xtask package`: the command as packages for pip, npm and Debian, and as the folder of an image, in `dist/`.
//!
//! - `wheel`: the package for pip
//! - `npm`: the package for npm
//! - `deb`: the package for Debian, with the service
//! - `image`: the folder of the image
//!
//! With `--check`, they are tried as far as this system can (`check`). Publishing them is not automated.

mod check;
mod deb;
mod image;
mod npm;
#[cfg(test)]
mod service_tests;
#[cfg(test)]
mod tests;
mod wheel;

use crate::{
    guests, packages,
    run::{DIST, cargo_command, ensure_target, print_progress, run, target_folder, workspace},
};
use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

const NAME: &str = "portolan";
const SUMMARY: &str = "Creates, builds, tests and serves WebAssembly capabilities for agents";
const LICENSE: &str = "Apache-2.0";
/// The oldest version of the GNU C library that the command runs with.
const GLIBC: &str = "2.28";

/// The folder for the packages, below the workspace.
const INTO: &str = "dist";

/// Arguments of `cargo xtask package`.
#[derive(Debug, Args)]
pub(crate) struct Package {
    /// The machines that the packages are for
    #[arg(long, value_enum, default_value_t = Machine::X86_64)]
    machine: Machine,
    /// Pack this program instead of building the command
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The folder of the shipped components, which are built if the command is
    #[arg(long, value_name = "FOLDER", default_value = "catalog")]
    catalog: PathBuf,
    /// The folder for the packages
    #[arg(long, value_name = "FOLDER", default_value = INTO)]
    into: PathBuf,
    /// Try the packages for authors and for Debian, the image and the chart, where this system can
    #[arg(long)]
    check: bool,
}

/// A kind of machine that runs Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Machine {
    #[value(name = "x86_64")]
    X86_64,
    Aarch64,
}

impl Machine {
    /// Returns the name that Rust and pip have for the machine.
    fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Returns the name that Debian has for the machine.
    fn debian_name(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// Returns the name that npm has for the machine.
    fn npm_name(self) -> &'static str {
        match self {
            Self::X86_64 => "x64",
            Self::Aarch64 => "arm64",
        }
    }
}

/// The contents of the packages.
struct Contents<'a> {
    binary: &'a Path,
    /// The folder of the shipped components, for the packages that run the service.
    catalog: &'a Path,
    version: &'a str,
    machine: Machine,
    readme: &'a Path,
    license: &'a Path,
}

impl Contents<'_> {
    /// Returns the files of the shipped components, in a fixed order.
    fn components(&self) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(self.catalog)
            .with_context(|| format!("cannot read {}", self.catalog.display()))?;
        let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let is_component = |path: &PathBuf| path.extension().is_some_and(|end| end == "wasm");
        let mut components: Vec<_> = paths.into_iter().filter(is_component).collect();
        components.sort();
        Ok(components)
    }
}

/// The places of the packages.
struct Packages {
    wheel: PathBuf,
    npm: PathBuf,
    deb: PathBuf,
    /// The folder of the image.
    image: PathBuf,
}

impl Package {
    pub(crate) fn run(self) -> Result<()> {
        let binary = match self.binary {
            Some(binary) => binary,
            None => {
                guests::build_plugins()?;
                build(self.machine)?
            }
        };
        let into = workspace().join(&self.into);
        fs::create_dir_all(&into)?;
        print_progress(&size_of(&binary)?);
        let contents = Contents {
            binary: &binary,
            catalog: &workspace().join(&self.catalog),
            version: env!("CARGO_PKG_VERSION"),
            machine: self.machine,
            readme: &workspace().join("xtask/packaging/README.md"),
            license: &workspace().join("LICENSE"),
        };
        let (wheel, npm) = (wheel::write(&contents, &into)?, npm::write(&contents, &into)?);
        print_progress(&format!("pip install {}", wheel.display()));
        print_progress(&format!("npm install -g {}", npm.display()));
        let (deb, image) = (deb::write(&contents, &into)?, image::write(&contents, &into)?);
        print_progress(&format!("apt install {}", deb.display()));
        print_progress(&format!(
            "docker build --tag portolan --file Containerfile {}",
            image.display()
        ));
        if self.check { check::check(&Packages { wheel, npm, deb, image }) } else { Ok(()) }
    }
}

/// Tries the packages that `cargo xtask package` has made into its own folder.
pub(crate) fn check_made() -> Result<()> {
    let (into, version, machine) =
        (workspace().join(INTO), env!("CARGO_PKG_VERSION"), Machine::X86_64);
    check::check(&Packages {
        wheel: wheel::file(&into, version, machine),
        npm: npm::file(&into, version),
        deb: deb::file(&into, version, machine),
        image: image::folder(&into),
    })
}

/// Returns a line with the size of the program.
fn size_of(binary: &Path) -> Result<String> {
    let metadata = fs::metadata(binary);
    let bytes = metadata.with_context(|| format!("cannot read {}", binary.display()))?.len();
    // In tenths of a megabyte, of 1,000,000 bytes.
    let tenths = bytes.div_ceil(100_000);
    Ok(format!("the program has {bytes} bytes ({}.{} MB)", tenths / 10, tenths % 10))
}

/// Builds the command with the profile for packages, for machines with the C library `GLIBC` or a newer one, and
/// returns its file.
fn build(machine: Machine) -> Result<PathBuf> {
    packages::install("the linker for older systems", "xtask/packaging", "packaging")?;
    let target = format!("{}-unknown-linux-gnu", machine.name());
    ensure_target(&target)?;
    print_progress("building the command; this takes about 15 minutes on two cores");
    let folder = target_folder()?;
    let programs = folder.join("packaging/python");
    let searched = env::var_os("PATH").unwrap_or_default();
    let path = [programs.join("bin")].into_iter().chain(env::split_paths(&searched));
    let versioned = format!("{target}.{GLIBC}");
    let arguments = ["zigbuild", "--profile", DIST, "--locked", "--package", NAME, "--bin", NAME];
    let mut cargo = cargo_command(&arguments);
    cargo.args(["--target", &versioned]).env("PATH", env::join_paths(path)?);
    cargo.env("CARGO_ZIGBUILD_ZIG_PATH", programs.join("ziglang/zig"));
    run(&mut cargo)?;
    let binary = folder.join(target).join(DIST).join(NAME);
    fs::metadata(&binary).with_context(|| format!("{} was not built", binary.display()))?;
    Ok(binary)
}

/// Copies a program so that it can be run.
fn copy_program(from: &Path, to: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("cannot read {}", from.display()))?;
    Ok(fs::set_permissions(to, fs::Permissions::from_mode(0o755))?)
}
