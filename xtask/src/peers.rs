//! Installs the peers of `cargo xtask bench peers`: servers by other authors that run the same tool.

use crate::{
    guests::WASI_TARGET,
    packages,
    run::{cargo, ensure_target, print_progress, target_folder, workspace},
};
use anyhow::Result;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The part of the benchmarks for which they are installed.
pub(crate) const PART: &str = "peers";
/// The manifest of the component for ACT, in a workspace of its own.
pub(crate) const MANIFEST: &str = "tests/bench/peers/act/Cargo.toml";
const SOURCES: &str = "tests/bench/peers";

struct Peer {
    name: &'static str,
    /// Its folder, in that of the sources and in the target folder.
    folder: &'static str,
    /// The file in the target folder that the benchmark starts. A peer without it is not measured.
    program: &'static str,
    /// Returns the path of the file that becomes the program.
    build: fn() -> Result<PathBuf>,
}

const PEERS: [Peer; 3] = [
    Peer { name: "ACT", folder: "act", program: "order.wasm", build: build_component },
    Peer {
        name: "FastMCP",
        folder: "fastmcp",
        program: "order.py",
        build: || Ok(workspace().join(SOURCES).join("fastmcp/order.py")),
    },
    Peer {
        name: "the TypeScript SDK of MCP",
        folder: "typescript",
        program: "order.mjs",
        build: || Ok(workspace().join(SOURCES).join("typescript/order.mjs")),
    },
];

/// Installs each peer into a folder of the target folder. One that cannot be had is skipped.
pub(crate) fn install() -> Result<()> {
    let peers = target_folder()?.join(PART);
    for peer in PEERS {
        let program = peers.join(peer.folder).join(peer.program);
        // A peer that an earlier run installed is not measured if it cannot be had now.
        if program.exists() {
            fs::remove_file(&program)?;
        }
        if let Err(error) = peer.install(&program) {
            print_progress(&format!("{} is skipped: {error:#}", peer.name));
        }
    }
    Ok(())
}

impl Peer {
    fn install(&self, program: &Path) -> Result<()> {
        let Self { name, folder, .. } = self;
        let (sources, into) = (format!("{SOURCES}/{folder}"), format!("{PART}/{folder}"));
        packages::install(name, &sources, &into)?;
        fs::copy((self.build)()?, program)?;
        Ok(())
    }
}

/// Builds the component for ACT, which is compiled like the components of the project.
fn build_component() -> Result<PathBuf> {
    print_progress("building a component for ACT");
    ensure_target(WASI_TARGET)?;
    let target = target_folder()?.join(PART).join("component");
    let folder = target.display().to_string();
    let arguments = ["build", "--release", "--locked", "--manifest-path", MANIFEST];
    cargo(&[&arguments[..], &["--target", WASI_TARGET, "--target-dir", &folder]].concat())?;
    Ok(target.join(WASI_TARGET).join("release/order.wasm"))
}
