//! `portolan feeds`.

use crate::{
    cli::{client::block_on, statements::Statements},
    config::{Config, Flags},
};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use portolan_feeds::{
    Limits, Options, Progress, Report, Roads, Sources, Timestamp, build, check, demo,
};
use portolan_vocabulary::{self as vocabulary};
use std::{path::PathBuf, process::ExitCode, time::Duration};

/// Arguments of `portolan feeds`.
#[derive(Debug, Args)]
pub(super) struct Feeds {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read all sources, and publish the feeds
    ///
    /// A source that fails is named, and its last records are kept. If the new publication has a fault,
    /// the earlier one stays.
    #[command(alias = "refresh")]
    Build {
        /// The sources: a city, a registry of organisations, directories, boards, feeds
        #[arg(value_name = "SOURCES.toml")]
        sources: PathBuf,
        #[command(flatten)]
        publication: Publication,
        #[command(flatten)]
        statements: Statements,
    },
    /// Check the feeds in a folder: schemas, identifiers, dates, contact data
    Check { folder: PathBuf },
    /// Make feeds of an invented city, through the same pipeline from raw documents on
    ///
    /// Feeds that were made there before are brought up to date.
    Demo {
        /// The same seed makes the same city
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[command(flatten)]
        publication: Publication,
        #[command(flatten)]
        statements: Statements,
    },
}

/// Where the feeds are published, and for whom: found as `serve` finds it.
#[derive(Debug, Args)]
struct Publication {
    /// Where the feeds are published: the documents are in `current` there [default: feeds in the
    /// data folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Public URL of the host that will serve the feeds
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
}

impl Publication {
    fn options(self, limits: Limits) -> anyhow::Result<Options> {
        let flags =
            Flags { feeds_dir: self.folder, public_url: self.public_url, ..Flags::default() };
        let config = Config::load(&flags)?;
        let url = config.public_url.unwrap_or_else(|| format!("http://{}", config.listen));
        Ok(Options {
            folder: config.feeds_dir,
            roads: Roads { feeds: url.clone(), capabilities: url },
            opened: Vec::new(),
            limits,
            knowledge: None,
            now: now(),
        })
    }
}

fn now() -> Timestamp {
    let millis = vocabulary::Timestamp::now().as_millis();
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

impl Feeds {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Build { sources, publication, statements } => {
                let sources = Sources::read(&sources, None)?;
                let options = publication.options(Limits::default())?;
                block_on(with(&statements, options, async |options| {
                    Ok(Some(build(&sources, options, &show).await?))
                }))
            }
            Command::Check { folder } => {
                let faults =
                    check(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
                for fault in &faults {
                    line!("{fault}");
                }
                if !faults.is_empty() {
                    return Ok(ExitCode::FAILURE);
                }
                line!("the feeds in {} are sound", folder.display());
                Ok(ExitCode::SUCCESS)
            }
            Command::Demo { seed, publication, statements } => {
                let raw = tempfile::tempdir()?;
                let stages = demo::write(raw.path(), seed, now())?;
                // It asks nobody but this machine.
                let options =
                    publication.options(Limits { pause: Duration::ZERO, ..Limits::default() })?;
                block_on(with(&statements, options, async |options| {
                    Ok(demo::rehearse(&stages, options, &show).await?)
                }))
            }
        }
    }
}

/// Builds with what people have said, and tells them what came of it.
async fn with(
    statements: &Statements,
    mut options: Options,
    build: impl AsyncFnOnce(&Options) -> anyhow::Result<Option<Report>>,
) -> anyhow::Result<ExitCode> {
    options.knowledge = statements.hear().await;
    let Some(report) = build(&options).await? else { return Ok(ExitCode::FAILURE) };
    if let Some(knowledge) = &options.knowledge {
        statements.announce(&report.moved, knowledge).await;
    }
    Ok(tell(&report))
}

fn show(progress: Progress) {
    match progress {
        Progress::Begun { sources } => eprintln!("{sources} sources are asked"),
        Progress::Read { source, records, faults: 0, left } => {
            eprintln!("  {source}: {records} records ({left} to go)");
        }
        Progress::Read { source, records, faults, left } => {
            eprintln!("  {source}: {records} records, {faults} not to be read ({left} to go)");
        }
        Progress::Failed { source, reason, kept, left } => {
            eprintln!("  {source}: {reason}; {kept} earlier records stay ({left} to go)");
        }
        Progress::Joined { records } => eprintln!("{records} records are joined"),
        Progress::Published { folder } => eprintln!("published in {}", folder.display()),
    }
}

/// What came of it; a failure if a source does not answer.
fn tell(report: &Report) -> ExitCode {
    let failing = || report.sources.iter().filter_map(|it| Some((it, it.failing.as_ref()?)));
    for (source, failing) in failing() {
        line!("{} fails since {}: {}", source.id, failing.since, failing.reason);
    }
    for source in report.sources.iter().filter(|it| !it.faults.is_empty()) {
        for fault in &source.faults {
            line!("{}: {fault}", source.id);
        }
    }
    match report.changed.as_slice() {
        [] => line!("nothing has changed"),
        changed => line!("changed: {}", changed.join(", ")),
    }
    match failing().count() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}
