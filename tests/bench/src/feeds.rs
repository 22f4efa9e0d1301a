//! The feeds beside nginx with the same packed files, and what it takes to build them of many boards.

use crate::{
    Effort, PATIENCE,
    host::{BenchHost, Setup},
    load::{Slice, children, slice_of},
    report::{Report, median, spread},
};
use anyhow::{Context as _, Result, ensure};
use portolan::feeds::{Coding, Publication};
use portolan_feeds::{
    Limits, Options, Roads, Sources, Timestamp, build, demo,
    document::{Documents, INDEX, etag},
    identifier::stable,
    publish::{Press, documents},
    record::FEEDS,
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::process::{Child, Command};

const CONNECTIONS: usize = 16;
const TARGETS: &str = "/map/data/sf-live-targets.json";
const ROLES: &str = "/map/data/sf-job-roles.json";
/// The roles are repeated until their document has so many bytes.
const LARGE: usize = 10_000_000;
/// Debian's, of the package libnginx-mod-http-brotli-static.
const BROTLI: &str = "/usr/lib/nginx/modules/ngx_http_brotli_static_module.so";
const CODINGS: [(Coding, &str); 3] =
    [(Coding::Identity, ""), (Coding::Gzip, ".gz"), (Coding::Brotli, ".br")];

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let feeds = folder.path().join("feeds");
    let stages = demo::write(&folder.path().join("raw"), 1, now()?)?;
    demo::rehearse(&stages, &options(&feeds)?, &|_| {}).await?;
    enlarge(&feeds)?;
    let begun = Instant::now();
    let host = BenchHost::of(Setup { feeds: Some(feeds), ..Setup::with(&[]) }).await?;
    report.add("start of a host with 12 MB of feeds", begun.elapsed().as_secs_f64() * 1e3, "ms");
    let publication = host.app.host.feeds.current().context("nothing is published")?;
    let nginx = Nginx::start(&folder.path().join("nginx"), &publication).await?;
    for (name, path) in [("targets, 0.3 MB", TARGETS), ("roles, 10 MB", ROLES)] {
        let document = publication.document(path).context("a document is missing")?;
        for body in document.bodies() {
            let coding = body.coding.name();
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: x\r\naccept-encoding: {coding}\r\n\r\n");
            let case = format!("{name}, {coding}");
            compare(&host, &nginx, &case, [&request, &request], effort, report).await?;
        }
    }
    let known =
        |etag: &str| format!("GET {TARGETS} HTTP/1.1\r\nhost: x\r\nif-none-match: {etag}\r\n\r\n");
    let own = publication.document(TARGETS).context("a document is missing")?;
    // Of its own tags nginx alone knows.
    let (ours, theirs) = (known(&own.plain().etag), known("*"));
    compare(&host, &nginx, "targets, known", [&ours, &theirs], effort, report).await?;
    drop((nginx, host));
    boards(effort, report).await
}

fn options(folder: &Path) -> Result<Options> {
    let url = "https://map.example".to_owned();
    Ok(Options {
        folder: folder.to_owned(),
        roads: Roads { feeds: url.clone(), capabilities: url },
        opened: vec!["127.0.0.0/8".parse()?],
        limits: Limits { pause: Duration::ZERO, ..Limits::default() },
        knowledge: portolan_feeds::Knowledge::default(),
        now: now()?,
    })
}

fn now() -> Result<Timestamp> {
    let millis = portolan::vocabulary::Timestamp::now().as_millis();
    Ok(Timestamp::from_millis(i64::try_from(millis)?))
}

/// Publishes the same with more roles than anybody has.
fn enlarge(feeds: &Path) -> Result<()> {
    let mut files: Documents = documents(feeds)?;
    let file = ROLES.rsplit('/').next().unwrap_or_default();
    let bytes = files.get(file).context("there are no roles")?;
    let mut document: Value = serde_json::from_slice(bytes)?;
    let copies = LARGE / bytes.len();
    let items = document.get_mut("items").and_then(Value::as_array_mut).context("no items")?;
    let originals = items.clone();
    for copy in 1..=copies {
        items.extend(originals.iter().cloned().map(|mut role| {
            let id = role.get("id").and_then(Value::as_str).unwrap_or_default();
            let id = stable("rol", &[id, &copy.to_string()]);
            if let Some(fields) = role.as_object_mut() {
                fields.insert("id".to_owned(), id.into());
            }
            role
        }));
    }
    let count = items.len();
    set(&mut document, "/_meta/count", count.into());
    files.insert(file.to_owned(), serde_json::to_vec(&document)?);
    let bytes = files.get(INDEX).context("there is no index")?;
    let mut index: Value = serde_json::from_slice(bytes)?;
    for (at, feed) in FEEDS.iter().enumerate() {
        let bytes = files.get(feed.file).context("a document is missing")?;
        set(&mut index, &format!("/items/{at}/etag"), etag(bytes).into());
        set(&mut index, &format!("/items/{at}/bytes"), bytes.len().into());
    }
    files.insert(INDEX.to_owned(), serde_json::to_vec(&index)?);
    let press = Press::open(feeds)?;
    let state = press.published()?.state;
    press.publish(&files, &state, now()?)?;
    Ok(())
}

fn set(document: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = document.pointer_mut(pointer) {
        *place = value;
    }
}

/// nginx on a folder with the bytes that the host serves, packed as the host has packed them.
struct Nginx {
    address: String,
    process: Child,
}

impl Nginx {
    async fn start(folder: &Path, publication: &Publication) -> Result<Self> {
        for document in publication.documents() {
            let file = folder.join(document.place.path.trim_start_matches('/'));
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
            .kill_on_drop(true)
            .spawn()
            .context("nginx is needed: install Debian's packages nginx-light and libnginx-mod-http-brotli-static")?;
        let begun = Instant::now();
        while tokio::net::TcpStream::connect(address).await.is_err() {
            ensure!(begun.elapsed() < PATIENCE, "nginx does not answer");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(Self { address: address.to_string(), process })
    }

    /// The processes that serve.
    fn workers(&self) -> Result<Vec<String>> {
        children(self.process.id().context("nginx has ended")?)
    }
}

impl Drop for Nginx {
    /// It ends its workers itself if it is asked to.
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

/// The same request, or two that mean the same, in turns.
async fn compare(
    host: &BenchHost,
    nginx: &Nginx,
    case: &str,
    requests: [&String; 2],
    effort: &Effort,
    report: &mut Report,
) -> Result<()> {
    let (mut ours, mut theirs): (Vec<Slice>, Vec<Slice>) = (Vec::new(), Vec::new());
    let here = vec!["self".to_owned()];
    // The first round only warms up.
    for round in 0..=effort.rounds {
        eprintln!("feeds, {case}, round {round} of {}", effort.rounds);
        let time = effort.slice_ms;
        let [own, other] = requests;
        let one = slice_of(&here, &host.address, own, CONNECTIONS, time).await?;
        let two = slice_of(&nginx.workers()?, &nginx.address, other, CONNECTIONS, time).await?;
        if round > 0 {
            ours.push(one);
            theirs.push(two);
        }
    }
    let parts: [(&str, &str, fn(&Slice) -> f64); 4] = [
        ("requests", "/s", |slice| slice.per_second),
        ("processor time of the host", "us", |slice| slice.cpu_us),
        ("p50", "us", |slice| slice.p50_us),
        ("p99", "us", |slice| slice.p99_us),
    ];
    for (name, unit, of) in parts {
        let (own, other): (Vec<f64>, Vec<f64>) =
            (ours.iter().map(of).collect(), theirs.iter().map(of).collect());
        let ratios: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own / other).collect();
        report.add(format!("feeds, {case}: {name}"), median(&own), unit);
        report.against("nginx", median(&ratios), Some(spread(&ratios)));
    }
    Ok(())
}

/// Builds feeds of many boards, which this process serves, in a process of its own.
async fn boards(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let stages = demo::write(&folder.path().join("raw"), 1, now()?)?;
    let stage = stages.last().context("there are no stages")?;
    let count = multiply(&stage.folder, effort.boards)?;
    let server = demo::serve(&stage.folder).await?;
    let feeds = folder.path().join("feeds");
    for name in ["first build", "build with nothing new"] {
        let output = Command::new(std::env::current_exe()?)
            .arg("build-feeds")
            .arg(stage.folder.join("sources.toml"))
            .arg(server.origin())
            .arg(&feeds)
            .output()
            .await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let figures: Value = serde_json::from_slice(&output.stdout)?;
        let figure = |name: &str| figures.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let case = format!("feeds of {count} boards, {name}");
        report.add(format!("{case}: time"), figure("seconds"), "s");
        report.add(format!("{case}: most memory"), figure("megabytes"), "MB");
        report.add(format!("{case}: roles"), figure("roles"), "");
    }
    Ok(())
}

/// Copies the boards, and the companies whose they are, until there are so many.
fn multiply(stage: &Path, wanted: usize) -> Result<usize> {
    let file = stage.join("sources.toml");
    let text = fs::read_to_string(&file)?;
    let is_board = |block: &&str| block.starts_with("board]]");
    let blocks: Vec<&str> = text.split("\n[[").filter(is_board).collect();
    let registry = stage.join("site/registry.json");
    let mut register: Value = serde_json::from_slice(&fs::read(&registry)?)?;
    let listed = register.get_mut("organisations").and_then(Value::as_array_mut);
    let listed = listed.context("the registry has no organisations")?;
    let known = listed.clone();
    let mut sources = text.clone();
    let mut count = blocks.len();
    for copy in 1.. {
        for block in &blocks {
            if count >= wanted {
                fs::write(&file, sources)?;
                fs::write(&registry, serde_json::to_vec(&register)?)?;
                return Ok(count);
            }
            let slug = block.split("target = \"").nth(1).and_then(|it| it.split('"').next());
            let slug = slug.context("a board has no target")?;
            let other = format!("{slug}-{copy}");
            let named = |text: &str| text.replace(slug, &other);
            sources.push_str(&format!("\n[[{}", named(block)));
            let company = known.iter().find(|it| it.get("slug").is_some_and(|it| it == slug));
            let company = named(&company.context("a board is nobody's")?.to_string());
            listed.push(serde_json::from_str(&company)?);
            for path in files(&stage.join("site"), slug)? {
                let copied = PathBuf::from(named(&path.display().to_string()));
                fs::create_dir_all(copied.parent().context("a file is in no folder")?)?;
                fs::write(copied, named(&fs::read_to_string(path)?))?;
            }
            count += 1;
        }
    }
    Ok(count)
}

/// The files of a board: in their way is a folder or a file of this name.
fn files(folder: &Path, slug: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let own = path.file_stem().is_some_and(|it| it == slug);
        match (path.is_dir(), own) {
            (true, true) => found.extend(all(&path)?),
            (true, false) => found.extend(files(&path, slug)?),
            (false, true) => found.push(path),
            (false, false) => {}
        }
    }
    Ok(found)
}

fn all(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(all(&path)?),
            false => found.push(path),
        }
    }
    Ok(found)
}

/// The other process: `build-feeds SOURCES ORIGIN FOLDER`.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let [sources, origin, folder] = arguments else {
        anyhow::bail!("build-feeds SOURCES ORIGIN FOLDER");
    };
    let sources = Sources::read(Path::new(sources), Some(origin))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let begun = Instant::now();
    let options = options(Path::new(folder))?;
    let report = runtime.block_on(build(&sources, &options, &|_| {}))?;
    let seconds = begun.elapsed().as_secs_f64();
    let failing = report.sources.iter().filter_map(|it| Some((&it.id, it.failing.as_ref()?)));
    let failing: Vec<_> = failing.map(|(id, why)| format!("{id}: {}", why.reason)).collect();
    ensure!(failing.is_empty(), "{}", failing.join("\n"));
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kib: f64 = peak.trim().trim_end_matches(" kB").parse()?;
    let roles = fs::read(report.folder.join("sf-job-roles.json"))?;
    let roles: Value = serde_json::from_slice(&roles)?;
    let figures = json!({
        "seconds": seconds,
        "megabytes": kib / 1024.0,
        "roles": roles.pointer("/_meta/count"),
    });
    println!("{figures}");
    Ok(())
}
