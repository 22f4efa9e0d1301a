//! `portolan feeds`.

use crate::{
    cli::{client::block_on, statements::Statements},
    config::{Config, FILE, Flags},
};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use portolan_feeds::{
    Limits, Options, Progress, Quarantined, Report, Roads, Sources, Timestamp, build, check, demo,
    quarantined,
};
use portolan_vocabulary::{self as vocabulary};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

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
        /// Believe this source at once, although it has lost many of its records (can be repeated)
        #[arg(long, value_name = "SOURCE")]
        confirm: Vec<String>,
        #[command(flatten)]
        publication: Publication,
        #[command(flatten)]
        statements: Statements,
    },
    /// Check the feeds in a folder: schemas, identifiers, dates, contact data
    Check { folder: PathBuf },
    /// Make feeds of an invented city, from raw documents and by the same steps as `build`
    ///
    /// Feeds that an earlier run published in the folder are updated.
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

/// The folder of the feeds and the public URL, with the same defaults as for `serve`.
#[derive(Debug, Args)]
struct Publication {
    /// Folder in which the feeds are published, as `current` [default: feeds in the data folder]
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
        let config = Config::load(Path::new(FILE), &flags)?;
        let url = config.public_url.unwrap_or_else(|| format!("http://{}", config.listen));
        Ok(Options {
            folder: config.feeds_dir,
            roads: Roads { feeds: url.clone(), capabilities: url },
            opened: Vec::new(),
            limits,
            knowledge: None,
            confirmed: BTreeSet::new(),
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
            Command::Build { sources, confirm, publication, statements } => {
                let sources = Sources::read(&sources, None)?;
                let confirmed = sources.known(confirm)?;
                let options = Options { confirmed, ..publication.options(Limits::default())? };
                block_on(build_with_statements(&statements, options, async |options| {
                    Ok(Some(build(&sources, options, &print_progress).await?))
                }))
            }
            Command::Check { folder } => {
                let faults =
                    check(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
                quarantined(&folder)?.iter().for_each(print_quarantined);
                for fault in &faults {
                    line!("{fault}");
                }
                if !faults.is_empty() {
                    return Ok(ExitCode::FAILURE);
                }
                line!("the feeds in {} are valid", folder.display());
                Ok(ExitCode::SUCCESS)
            }
            Command::Demo { seed, publication, statements } => {
                let raw = tempfile::tempdir()?;
                let stages = demo::write(raw.path(), seed, now())?;
                // All sources are on this machine, so no pauses between requests are needed.
                let options =
                    publication.options(Limits { pause: Duration::ZERO, ..Limits::default() })?;
                block_on(build_with_statements(&statements, options, async |options| {
                    Ok(demo::rehearse(&stages, options, &print_progress).await?)
                }))
            }
        }
    }
}

/// Builds the feeds with people's statements about signals, then tells the host which signals have
/// changed.
async fn build_with_statements(
    statements: &Statements,
    mut options: Options,
    build: impl AsyncFnOnce(&Options) -> anyhow::Result<Option<Report>>,
) -> anyhow::Result<ExitCode> {
    options.knowledge = statements.load().await;
    let Some(report) = build(&options).await? else { return Ok(ExitCode::FAILURE) };
    if let Some(knowledge) = &options.knowledge {
        statements.announce(&report.moved, knowledge).await;
    }
    Ok(print_report(&report))
}

fn print_progress(progress: Progress) {
    match progress {
        Progress::Begun { sources } => eprintln!("reading {sources} sources"),
        Progress::Read { source, records, refused: 0, left } => {
            eprintln!("  {source}: {records} records ({left} sources left)");
        }
        Progress::Read { source, records, refused, left } => {
            eprintln!(
                "  {source}: {records} records, {refused} entries refused ({left} sources left)"
            );
        }
        Progress::Failed { source, reason, kept, left } => {
            eprintln!("  {source}: {reason}; {kept} earlier records stay ({left} sources left)");
        }
        Progress::Joined { records } => eprintln!("{records} records joined"),
        Progress::Published { folder } => eprintln!("published in {}", folder.display()),
    }
}

fn print_quarantined(record: &Quarantined) {
    let Quarantined { document, id, reason, source } = record;
    let source = source.as_ref().map_or_else(String::new, |url| format!(" (from {url})"));
    line!("quarantined: {document} {id}: {reason}{source}");
}

/// Prints the outcome of a build. The exit status is 2 if a source has failed.
fn print_report(report: &Report) -> ExitCode {
    let failing_sources =
        || report.sources.iter().filter_map(|source| Some((source, source.failing.as_ref()?)));
    for (source, failure) in failing_sources() {
        line!("{} fails since {}: {}", source.id, failure.since, failure.reason);
    }
    for source in &report.sources {
        for refused in &source.refused {
            line!("{}: {refused}", source.id);
        }
    }
    report.quarantined.iter().for_each(print_quarantined);
    match report.changed.as_slice() {
        [] => line!("nothing has changed"),
        changed => line!("changed: {}", changed.join(", ")),
    }
    match failing_sources().count() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}
