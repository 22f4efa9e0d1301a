//! nginx, which serves the same bytes.

use crate::{PATIENCE, load::children};
use anyhow::{Context as _, Result, ensure};
use portolan_publication::{Coding, Publication};
use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::process::{Child, Command};

/// The module of Debian's package libnginx-mod-http-brotli-static.
const BROTLI: &str = "/usr/lib/nginx/modules/ngx_http_brotli_static_module.so";
const CODINGS: [(Coding, &str); 3] =
    [(Coding::Identity, ""), (Coding::Gzip, ".gz"), (Coding::Brotli, ".br")];

/// nginx on a folder with the bytes that the host serves, in the same codings.
pub(super) struct Nginx {
    pub(super) address: String,
    process: Child,
}

impl Nginx {
    pub(super) async fn start(folder: &Path, publication: &Publication) -> Result<Self> {
        for document in publication.documents() {
            let file = folder.join(document.entry.path.trim_start_matches('/'));
            fs::create_dir_all(file.parent().unwrap_or(folder))?;
            for body in document.bodies() {
                let ending = CODINGS.iter().find(|(coding, _)| *coding == body.coding);
                let ending = ending.map(|(_, ending)| *ending).unwrap_or_default();
                fs::write(format!("{}{ending}", file.display()), &body.bytes)?;
            }
        }
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
    pub(super) fn workers(&self) -> Result<Vec<String>> {
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
