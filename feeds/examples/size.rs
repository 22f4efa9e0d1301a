//! Measures a build of many roles with descriptions of the usual size, which are invented:
//! `cargo run -p portolan-feeds --example size -- [ROLES] [BOARDS]`. Each build runs in a process of its own,
//! and this one serves the boards. Prints the time, the peak memory, and what changed.

use portolan_feeds::{Limits, Options, Progress, Roads, Sources, Timestamp, build, demo};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    error::Error,
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const NOW: &str = "2026-11-21T18:30:00Z";
/// Builds are this number of milliseconds apart.
const HOUR: i64 = 3_600_000;
/// The shortest and the longest description, in characters without markup.
const SHORTEST: u64 = 6_000;
const LONGEST: u64 = 10_000;
const SYLLABLES: [&str; 24] = [
    "ba", "cor", "den", "el", "fi", "gra", "hel", "in", "jo", "kar", "lum", "mi", "nor", "ol",
    "per", "qui", "ras", "sto", "tra", "ul", "ven", "wi", "xen", "yor",
];
const HEAD: &str = r#"
license = "CC0-1.0"
synthetic = true
opt_out_url = "https://map.example/opt-out"
[city]
id = "sf"
name = "San Francisco"
country = "US"
time_zone = "America/Los_Angeles"
center = [-122.41942, 37.77493]
bbox = [-122.52, 37.7, -122.35, 37.84]
[[registry]]
id = "registry"
publisher = "Register"
url = "{origin}/registry.json"
"#;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match arguments.as_slice() {
        ["build", sources, origin, folder, hours] => {
            runtime.block_on(built(Path::new(sources), origin, Path::new(folder), hours.parse()?))
        }
        rest => {
            let count = |at: usize, usual: usize| rest.get(at).map_or(Ok(usual), |n| n.parse());
            measure(count(0, 10_200)?, count(1, 40)?)
        }
    }
}

fn measure(roles: usize, boards: usize) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let (raw, feeds) = (folder.path().join("raw"), folder.path().join("feeds"));
    write(&raw, roles, boards, 0)?;
    let server = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let serving = server.block_on(demo::serve(&raw))?;
    for (hours, name) in [(0, "first"), (1, "nothing new"), (2, "one role of each board changed")] {
        if hours == 2 {
            write(&raw, roles, boards, 1)?;
        }
        let output = Command::new(std::env::current_exe()?)
            .arg("build")
            .arg(raw.join("sources.toml"))
            .arg(serving.origin())
            .arg(&feeds)
            .arg(hours.to_string())
            .output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        println!("{name}: {}", String::from_utf8_lossy(&output.stdout).trim());
    }
    Ok(())
}

async fn built(sources: &Path, origin: &str, folder: &Path, hours: i64) -> Outcome<()> {
    let sources = Sources::read(sources, Some(origin))?;
    let first: Timestamp = NOW.parse()?;
    let options = Options {
        folder: folder.to_owned(),
        roads: Roads::of_host("https://map.example", None),
        allow_local: false,
        opened: vec!["127.0.0.0/8".parse()?],
        limits: Limits { pause: Duration::ZERO, ..Limits::default() },
        knowledge: None,
        confirmed: BTreeSet::new(),
        now: Timestamp::from_millis(first.as_millis() + hours * HOUR),
    };
    let begun = Instant::now();
    let steps = |progress: Progress| {
        let step = match progress {
            Progress::Read { left: 0, .. } => "read",
            Progress::Joined { .. } => "joined",
            Progress::Published { .. } => "published",
            _ => return,
        };
        print!("{step} after {:.1} s with {:.0} MB; ", begun.elapsed().as_secs_f64(), peak());
    };
    let report = build(&sources, &options, &steps).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let failing: Vec<_> = report.sources.iter().filter_map(|one| one.failing.as_ref()).collect();
    let roles = fs::read(report.folder.join("sf-job-roles.json"))?;
    let parsed: Value = serde_json::from_slice(&roles)?;
    println!(
        "{seconds:.1} s, {:.0} MB at most; {} roles in {:.1} MB; {} documents changed; {} failing, {} quarantined",
        peak(),
        parsed.pointer("/_meta/count").unwrap_or(&Value::Null),
        f64::from(u32::try_from(roles.len())?) / 1e6,
        report.changed.len(),
        failing.len(),
        report.quarantined.len(),
    );
    Ok(())
}

/// Returns the peak memory of this process in MB.
fn peak() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    peak.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / 1024.0
}

/// Writes the registry and the boards. In another `edition`, the first role of each board differs.
fn write(raw: &Path, roles: usize, boards: usize, edition: u64) -> Outcome<()> {
    let site = raw.join("site");
    let mut sources = HEAD.to_owned();
    let mut organisations = Vec::new();
    for board in 0..boards {
        let slug = format!("company-{board}");
        organisations.push(json!({
            "slug": slug, "name": format!("{} Works {board}", word(board as u64)), "kind": "startup",
            "lat": 37.77, "lng": -122.42, "website": format!("https://{slug}.example/"),
            "url": format!("https://register.example/{slug}"),
        }));
        sources.push_str(&format!(
            "[[board]]\ntarget = \"{slug}\"\nats = \"greenhouse\"\ntoken = \"{slug}\"\nbase = \"{{origin}}\"\n"
        ));
        let count = roles / boards + usize::from(board < roles % boards);
        let jobs: Vec<Value> = (0..count)
            .map(|at| {
                let number = (board * 1_000_000 + at) as u64;
                job(number, if at == 0 { edition } else { 0 }, &slug)
            })
            .collect();
        let file = site.join(format!("v1/boards/{slug}/jobs.json"));
        fs::create_dir_all(file.parent().unwrap_or(&site))?;
        fs::write(file, json!({ "jobs": jobs }).to_string())?;
    }
    fs::write(site.join("registry.json"), json!({ "organisations": organisations }).to_string())?;
    fs::write(raw.join("sources.toml"), sources)?;
    Ok(())
}

fn job(number: u64, edition: u64, slug: &str) -> Value {
    let mut chance = number.wrapping_mul(31).wrapping_add(edition).wrapping_add(7);
    let mut next = |most: u64| {
        chance =
            chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) % most
    };
    let length = SHORTEST + next(LONGEST - SHORTEST);
    let mut content = String::from("<h2>About the role</h2><p>");
    let mut written = 0;
    while written < length {
        let piece = word(next(1_500));
        written += piece.len() as u64 + 1;
        content.push_str(&piece);
        match next(90) {
            0 => content.push_str(".</p><p>"),
            1 => content.push_str(".</p><ul><li>Work well.</li></ul><p>"),
            2..9 => content.push_str(". "),
            _ => content.push(' '),
        }
    }
    content.push_str("</p>");
    let escaped = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    json!({
        "id": number, "internal_job_id": number, "title": format!("Engineer {}", word(number)),
        "location": { "name": "San Francisco, CA" }, "absolute_url": format!("https://{slug}.example/jobs/{number}"),
        "departments": [{ "name": "Engineering" }], "content": escaped,
        "updated_at": "2026-11-01T10:00:00Z", "first_published": "2026-10-01T10:00:00Z",
    })
}

/// Returns an invented word; the same number makes the same word.
fn word(number: u64) -> String {
    let mut rest = number + 24;
    let mut word = String::new();
    while rest > 0 {
        let at = usize::try_from(rest % 24).unwrap_or(0);
        word.push_str(SYLLABLES.get(at).copied().unwrap_or_default());
        rest /= 24;
    }
    word
}
