//! `cargo xtask screenshots`: pictures of every page of a host with invented people and an invented city.

use crate::{
    demo_host::DemoHost,
    run::{self, print_progress},
};
use anyhow::Result;
use std::{fs, os::unix::fs::symlink, process::Command};

/// Writes the pictures into `target/screenshots`, and prints their names.
pub(crate) fn take() -> Result<()> {
    let target = run::target_folder()?;
    let pictures = target.join("screenshots");
    if pictures.exists() {
        fs::remove_dir_all(&pictures)?;
    }
    let host = DemoHost::start(pictures.join("host"))?;
    let programs = run::workspace().join("tests/clients");
    let clients = host.folder.join("clients");
    fs::create_dir(&clients)?;
    symlink(target.join("clients/node_modules"), clients.join("node_modules"))?;
    for file in fs::read_dir(programs)? {
        let file = file?;
        fs::copy(file.path(), clients.join(file.file_name()))?;
    }
    print_progress("taking the pictures");
    let outbox = host.folder.join("data/sms-outbox.jsonl");
    let mut program = Command::new("node");
    program.arg(clients.join("screenshots.mjs")).arg(&host.url).arg(outbox).arg(&pictures);
    program.arg(&host.operator_url).arg(host.folder.join("data/operator.token"));
    run::run(&mut program)?;
    host.end()
}
