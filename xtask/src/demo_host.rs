//! A host with invented people and an invented city, for commands that look at its pages.

use crate::{
    clients, guests,
    run::{self, cargo, print_progress},
};
use anyhow::{Context as _, Result};
use std::{
    fs,
    io::{BufRead as _, BufReader, Lines},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

/// The address of the host is chosen by the system, and rate limits would stop the demonstration.
const CONFIGURATION: &str = "listen = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\ntest_mode = \"on\"\nrate_limits = \"off\"\nfeeds_dir = \"feeds\"\n";

/// A running host, which ends with this value.
pub(crate) struct DemoHost {
    process: Child,
    pub(crate) folder: PathBuf,
    pub(crate) url: String,
    pub(crate) operator_url: String,
}

impl DemoHost {
    /// Builds and starts the host in a new folder, and fills it.
    pub(crate) fn start(folder: PathBuf) -> Result<Self> {
        guests::build_fixtures()?;
        clients::install()?;
        print_progress("building the host");
        cargo(&["build", "--workspace", "--bin", "portolan"])?;
        let target = run::target_folder()?;
        let binary = target.join("debug/portolan");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("portolan.toml"), CONFIGURATION)?;
        symlink(target.join("guests/plugins"), folder.join("catalog"))?;

        print_progress("starting a host with an invented city and invented people");
        let process = command(&binary, &folder, &["serve"]).stdout(Stdio::piped()).spawn()?;
        let (url, operator_url) = Default::default();
        let mut host = Self { process, folder, url, operator_url };
        let output = host.process.stdout.take().context("the host has no output")?;
        let mut lines = BufReader::new(output).lines();
        host.url = address(&mut lines, "agents:")?;
        host.operator_url = address(&mut lines, "operator:")?;
        // The rest of the output has to be read, or the host would block on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let (folder, url) = (&host.folder, &host.url);
        let city = ["feeds", "demo", "--folder", "feeds", "--public-url", url];
        ensure(&mut command(&binary, folder, &city))?;
        ensure(&mut command(&binary, folder, &["demo", "--pairs", "2", "--url", url]))?;
        for incident in incidents() {
            ensure(command(&binary, folder, &["incidents", "open"]).args(incident))?;
        }
        Ok(host)
    }

    /// Ends the host, and removes its folder.
    pub(crate) fn end(self) -> Result<()> {
        let folder = self.folder.clone();
        drop(self);
        Ok(fs::remove_dir_all(folder)?)
    }
}

impl Drop for DemoHost {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

/// Returns the arguments of `portolan incidents open` for what the status page shows.
fn incidents() -> [Vec<&'static str>; 2] {
    [
        vec!["Searches are slow", "--text", "Some searches take several seconds. We look into it."],
        vec![
            "New disks",
            "--text",
            "Calls may pause for a minute while the database moves.",
            "--state",
            "planned",
            "--from",
            "2031-05-01T22:00:00Z",
            "--until",
            "2031-05-01T23:00:00Z",
        ],
    ]
}

fn command(binary: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(folder).args(arguments);
    command
}

/// Runs a command in its own folder.
fn ensure(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status()?;
    anyhow::ensure!(status.success(), "{} failed: {status}", command.get_program().display());
    Ok(())
}

/// Reads an address from what the host prints.
fn address(lines: &mut Lines<BufReader<ChildStdout>>, name: &str) -> Result<String> {
    for line in lines {
        if let Some(url) = line?.trim().strip_prefix(name) {
            return Ok(url.trim().to_owned());
        }
    }
    anyhow::bail!("the host ended before it was ready")
}
