//! nginx, which serves the same bytes, and comparisons with it.

use crate::{
    Effort, PATIENCE,
    host::BenchHost,
    load::{Slice, children, slice_of_processes},
    report::{Report, median, spread},
};
use anyhow::{Context as _, Result, ensure};
use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::process::{Child, Command};

/// A figure of a slice: its name, its unit, and the function that reads it.
type Figure = (&'static str, &'static str, fn(&Slice) -> f64);

const CONNECTIONS: usize = 16;

/// The module of Debian's package libnginx-mod-http-brotli-static.
const BROTLI: &str = "/usr/lib/nginx/modules/ngx_http_brotli_static_module.so";

/// nginx on a folder with the bytes that the host serves.
pub(crate) struct Nginx {
    address: String,
    process: Child,
}

impl Nginx {
    /// Starts nginx with the files in this folder. A file that ends with `.gz` or `.br` is a coding of the one without.
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let address = tokio::net::TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        let settings = folder.join("nginx.conf");
        fs::write(&settings, configuration(folder, &address.to_string()))?;
        let process = Command::new("nginx")
            .arg("-c")
            .arg(&settings)
            .stderr(Stdio::null())
            .spawn()
            .context("nginx is needed: install Debian's packages nginx-light and libnginx-mod-http-brotli-static")?;
        let begun = Instant::now();
        while tokio::net::TcpStream::connect(address).await.is_err() {
            ensure!(begun.elapsed() < PATIENCE, "nginx does not answer");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(Self { address: address.to_string(), process })
    }

    /// Returns the ids of the worker processes.
    fn workers(&self) -> Result<Vec<String>> {
        children(self.process.id().context("nginx has ended")?)
    }
}

impl Drop for Nginx {
    /// Asks nginx to stop instead of killing it, so that it ends its workers.
    fn drop(&mut self) {
        if let Some(id) = self.process.id() {
            let asked = std::process::Command::new("kill").arg(id.to_string()).status();
            let _ended = asked.map(|_| ());
        }
    }
}

/// Measures the two servers in turns, with equivalent requests: the first is for the host.
pub(crate) async fn compare(
    host: &BenchHost,
    nginx: &Nginx,
    case: &str,
    requests: [&String; 2],
    effort: &Effort,
    report: &mut Report,
) -> Result<()> {
    let (mut ours, mut theirs): (Vec<Slice>, Vec<Slice>) = (Vec::new(), Vec::new());
    let here = vec!["self".to_owned()];
    // The first round warms up and is not counted.
    for round in 0..=effort.rounds {
        eprintln!("{case}, round {round} of {}", effort.rounds);
        let time = effort.slice_ms;
        let [own, other] = requests;
        let one = slice_of_processes(&here, &host.address, own, CONNECTIONS, time).await?;
        let two =
            slice_of_processes(&nginx.workers()?, &nginx.address, other, CONNECTIONS, time).await?;
        if round > 0 {
            ours.push(one);
            theirs.push(two);
        }
    }
    let parts: [Figure; 4] = [
        ("requests", "/s", |slice| slice.per_second),
        ("processor time of the host", "us", |slice| slice.cpu_us),
        ("p50", "us", |slice| slice.p50_us),
        ("p99", "us", |slice| slice.p99_us),
    ];
    for (name, unit, of) in parts {
        let (own, other): (Vec<f64>, Vec<f64>) =
            (ours.iter().map(of).collect(), theirs.iter().map(of).collect());
        let ratios: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own / other).collect();
        report.add(format!("{case}: {name}"), median(&own), unit);
        report.compare_with("nginx", median(&ratios), Some(spread(&ratios)));
    }
    Ok(())
}

fn configuration(folder: &Path, address: &str) -> String {
    let folder = folder.display();
    let brotli = Path::new(BROTLI).exists();
    let (module, switch) = match brotli {
        true => (format!("load_module {BROTLI};"), "brotli_static on;"),
        false => (String::new(), ""),
    };
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {folder}/{name};"))
        .concat();
    format!(
        "{module} daemon off; worker_processes auto; pid {folder}/pid; error_log stderr crit;
events {{ worker_connections 512; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; open_file_cache max=100;
  default_type application/json; gzip_static on; gzip_vary on; {switch} {temporary}
  server {{
    listen {address}; root {folder};
    add_header Cache-Control \"public, max-age=60\"; add_header Access-Control-Allow-Origin *;
    add_header X-Content-Type-Options nosniff;
  }}
}}"
    )
}
