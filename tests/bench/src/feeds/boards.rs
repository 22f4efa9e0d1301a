//! The cost of a build with many boards.

use crate::{
    Effort,
    feeds::{now, options},
    report::Report,
};
use anyhow::{Context as _, Result, ensure};
use portolan_feeds::{Sources, build, demo};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};
use tokio::process::Command;

/// Builds feeds of many boards in a process of its own. This process serves the boards.
pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
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

/// Copies boards with their companies until `wanted` of them exist.
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
            let slug = block.split("target = \"").nth(1).and_then(|text| text.split('"').next());
            let slug = slug.context("a board has no target")?;
            let other = format!("{slug}-{copy}");
            let named = |text: &str| text.replace(slug, &other);
            sources.push_str(&format!("\n[[{}", named(block)));
            let has_slug = |company: &&Value| company.get("slug").is_some_and(|own| own == slug);
            let company = known.iter().find(has_slug);
            let company = named(&company.context("a board has no company")?.to_string());
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

/// Returns the files of a board: those named after it, or in a folder that is.
fn files(folder: &Path, slug: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let own = path.file_stem().is_some_and(|stem| stem == slug);
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

/// Runs the building process: `build-feeds SOURCES ORIGIN FOLDER`.
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
    let failing =
        report.sources.iter().filter_map(|source| Some((&source.id, source.failing.as_ref()?)));
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
