//! The catalog: time to load and memory held, by how many components there are. Measured on the
//! real program, `portolan serve`, which is built beside this one.

use crate::{Effort, host::guest, report::Report};
use anyhow::{Context as _, Result, bail};
use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};
use tempfile::TempDir;

const ID: &[u8] = b"template_000";

pub(crate) fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let template = guest("template")?;
    for count in effort.catalog_sizes {
        eprintln!("catalog of {count} components");
        let folder = TempDir::new()?;
        let catalog = folder.path().join("catalog");
        std::fs::create_dir(&catalog)?;
        for number in 0..*count {
            let id = format!("template_{number:03}");
            std::fs::write(catalog.join(format!("{id}.wasm")), renamed(&template, id.as_bytes()))?;
        }
        let (cold, _) = start(folder.path())?;
        let (warm, memory) = start(folder.path())?;
        let name = |what: &str| format!("catalog of {count}: {what}");
        report.add(name("first start, compiling"), cold, "ms");
        report.add(name("start, nothing to compile"), warm, "ms");
        report.add(name("resident memory"), memory, "MiB");
    }
    Ok(())
}

/// The same component under another id of the same length.
fn renamed(component: &[u8], id: &[u8]) -> Vec<u8> {
    let mut bytes = component.to_vec();
    let places: Vec<usize> = bytes
        .windows(ID.len())
        .enumerate()
        .filter(|(_, part)| *part == ID)
        .map(|(place, _)| place)
        .collect();
    for place in places {
        if let Some(part) = bytes.get_mut(place..place + ID.len()) {
            part.copy_from_slice(id);
        }
    }
    bytes
}

/// Starts a host, waits until it is ready, and ends it: milliseconds and MiB.
fn start(folder: &Path) -> Result<(f64, f64)> {
    let program = std::env::current_exe()?.with_file_name("portolan");
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .current_dir(folder)
        .env("RUST_LOG", "error")
        .stdout(Stdio::piped())
        .spawn()?;
    let figures = watch(&mut child, started);
    child.kill()?;
    child.wait()?;
    figures
}

fn watch(child: &mut Child, started: Instant) -> Result<(f64, f64)> {
    let output = child.stdout.take().context("no output")?;
    for line in BufReader::new(output).lines() {
        if line?.contains("operator:") {
            let elapsed = started.elapsed().as_secs_f64() * 1000.0;
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()))?;
            let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let kib: f64 = memory
                .and_then(|text| text.split_whitespace().next())
                .context("no VmRSS")?
                .parse()?;
            return Ok((elapsed, kib / 1024.0));
        }
    }
    bail!("the host ended before it was ready")
}
