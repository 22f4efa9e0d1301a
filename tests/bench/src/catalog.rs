//! The catalog: the load time and the memory by the number of components, measured on `portolan serve`.

use crate::{Effort, host::guest, report::Report};
use anyhow::{Context as _, Result, bail};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

const ID: &[u8] = b"template_000";

pub(crate) fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    drop_in(report)?;
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

/// Measures the time from a copied file to a served capability, and from its removal to its end.
fn drop_in(report: &mut Report) -> Result<()> {
    for (name, id) in [("template", "template_000"), ("listing_taxonomy", "listing_taxonomy")] {
        let component = guest(name)?;
        let folder = TempDir::new()?;
        let mut host = Serve::start(folder.path())?;
        let file = folder.path().join("catalog").join(format!("{name}.wasm"));
        let started = Instant::now();
        std::fs::write(&file, &component)?;
        host.wait_for(id, "200")?;
        let loaded = started.elapsed().as_secs_f64() * 1000.0;
        let started = Instant::now();
        std::fs::remove_file(&file)?;
        host.wait_for(id, "404")?;
        let removed = started.elapsed().as_secs_f64() * 1000.0;
        host.child.kill()?;
        host.child.wait()?;
        let kib = component.len() / 1024;
        report.add(format!("dropped {name} ({kib} KiB): callable after"), loaded, "ms");
        report.add(format!("removed {name}: gone after"), removed, "ms");
    }
    Ok(())
}

/// Returns the component under another id of the same length.
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

/// Starts a host until it is ready, and returns the milliseconds and its memory in MiB.
fn start(folder: &Path) -> Result<(f64, f64)> {
    let started = Instant::now();
    let mut host = Serve::start(folder)?;
    let elapsed = started.elapsed().as_secs_f64() * 1000.0;
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.child.id()))?;
    host.child.kill()?;
    host.child.wait()?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = memory.and_then(|text| text.split_whitespace().next()).context("no VmRSS")?;
    Ok((elapsed, kib.parse::<f64>()? / 1024.0))
}

/// `portolan serve` in a folder.
struct Serve {
    child: Child,
    /// The address for agents.
    address: String,
}

impl Serve {
    /// Starts `portolan serve` and waits until it is ready.
    fn start(folder: &Path) -> Result<Self> {
        let program = std::env::current_exe()?.with_file_name("portolan");
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
            .current_dir(folder)
            .env("RUST_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("no output")?;
        for line in BufReader::new(output).lines() {
            if let Some(url) = line?.trim().strip_prefix("agents:") {
                let address = url.trim().trim_start_matches("http://").to_owned();
                return Ok(Self { child, address });
            }
        }
        bail!("the host ended before it was ready")
    }

    /// Waits until the schema of a capability is answered with this status.
    fn wait_for(&self, id: &str, status: &str) -> Result<()> {
        let request = format!(
            "GET /v1/capabilities/{id}/schema HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        );
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(60) {
            let mut stream = TcpStream::connect(&self.address)?;
            stream.write_all(request.as_bytes())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            if answer.starts_with(&format!("HTTP/1.1 {status}")) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bail!("no status {status} for {id}")
    }
}
