//! `portolan feeds`.

use crate::{
    cli::{client::block_on, statements::Statements},
    config::{Config, FILE, Flags},
};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use portolan_feeds::{
    LeftOut, Limits, Objected, Objection, ObjectionKind, Objections, Options, Progress,
    Quarantined, Report, Roads, Sources, Timestamp, build, check, demo, not_published, republish,
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
        /// Also read files and servers of this machine (`url = "file:registry.json"`), to try sources
        #[arg(long)]
        allow_local: bool,
        #[command(flatten)]
        publication: Publication,
        #[command(flatten)]
        statements: Statements,
    },
    /// Check the feeds in a folder: schemas, identifiers, dates, contact data
    Check { folder: PathBuf },
    /// Stop publishing a person, a company or a record, at once and in every later build
    ///
    /// The objection is added to `objections.toml` in the folder of the feeds. The feeds are then published
    /// again from what was last read, without asking a source and without waiting for a build that asks some.
    /// The exit status is 2 if nothing that is or was published matches the objection.
    Object {
        #[command(flatten)]
        objector: Objector,
        /// Why, such as the date and the number of a report
        #[arg(long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        place: Place,
    },
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

/// The person, the company or the record that is not published any more.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Objector {
    /// A person: the full name, which is then removed from all texts too, the address of a profile that
    /// the feeds link to, or the record's id
    #[arg(long, value_name = "NAME|URL|ID")]
    person: Option<String>,
    /// A company with all its records: the domain of its website, its name, or the record's id
    #[arg(long, value_name = "DOMAIN|NAME|ID")]
    company: Option<String>,
    /// One record: its id
    #[arg(long, value_name = "ID")]
    record: Option<String>,
}

impl Objector {
    fn objection(self, reason: String) -> Option<Objection> {
        let Self { person, company, record } = self;
        let named = [
            (ObjectionKind::Person, person),
            (ObjectionKind::Company, company),
            (ObjectionKind::Record, record),
        ];
        let (kind, matched) =
            named.into_iter().find_map(|(kind, matched)| Some((kind, matched?)))?;
        Some(Objection { kind, matched, reason, date: now() })
    }
}

/// The city and its folder, with the same defaults as for `serve`.
#[derive(Debug, Args)]
struct Place {
    /// Folder in which the feeds are published, as `current` [default: that of the city in the configuration;
    /// for the first city, feeds in the data folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// City of `[[feeds.cities]]` in the configuration, by its slug [default: the first city]
    #[arg(long, value_name = "SLUG")]
    city: Option<String>,
}

impl Place {
    /// Returns the configuration with the folder of the city as that of the feeds.
    fn config(&self, public_url: Option<String>) -> anyhow::Result<Config> {
        let folder = self.folder.clone();
        let Some(slug) = &self.city else {
            let flags = Flags { feeds_dir: folder, public_url, ..Flags::default() };
            return Ok(Config::load(Path::new(FILE), &flags)?);
        };
        let flags = Flags { public_url, ..Flags::default() };
        let config = Config::load(Path::new(FILE), &flags)?;
        let city = config.feeds.cities.iter().find(|city| city.slug == *slug);
        let city = city.with_context(|| {
            format!("no city has the slug {slug:?}: add it to [[feeds.cities]] in {FILE}")
        })?;
        Ok(Config { feeds_dir: folder.unwrap_or_else(|| city.path.clone()), ..config })
    }
}

/// The place of the feeds and the public URL.
#[derive(Debug, Args)]
struct Publication {
    #[command(flatten)]
    place: Place,
    /// Public URL of the host that will serve the feeds
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
}

impl Publication {
    fn config(&self) -> anyhow::Result<Config> {
        self.place.config(self.public_url.clone())
    }

    fn options(&self, config: Config, limits: Limits) -> Options {
        let url = config.public_url.unwrap_or_else(|| format!("http://{}", config.listen));
        Options {
            folder: config.feeds_dir,
            roads: Roads::of_host(&url, self.place.city.as_deref()),
            opened: Vec::new(),
            allow_local: false,
            limits,
            knowledge: None,
            confirmed: BTreeSet::new(),
            now: now(),
        }
    }
}

/// Warns if people whom the feeds name will find no address at which to object.
fn warn_without_contact(config: &Config) {
    if config.provider.contact.is_none() && config.provider.url.is_none() {
        eprintln!(
            "people whom the feeds name find no address to object at: set provider.contact in {FILE}"
        );
    }
}

fn now() -> Timestamp {
    let millis = vocabulary::Timestamp::now().as_millis();
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

impl Feeds {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Build { sources, confirm, allow_local, publication, statements } => {
                let sources = Sources::read(&sources, None)?;
                let confirmed = sources.known(confirm)?;
                let config = publication.config()?;
                warn_without_contact(&config);
                let options = publication.options(config, Limits::default());
                let options = Options { confirmed, allow_local, ..options };
                block_on(build_with_statements(&statements, options, async |options| {
                    Ok(Some(build(&sources, options, &print_progress).await?))
                }))
            }
            Command::Check { folder } => {
                let faults =
                    check(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
                not_published(&folder)?.quarantined.iter().for_each(print_quarantined);
                for fault in &faults {
                    line!("{fault}");
                }
                if !faults.is_empty() {
                    return Ok(ExitCode::FAILURE);
                }
                line!("the feeds in {} are valid", folder.display());
                Ok(ExitCode::SUCCESS)
            }
            Command::Object { objector, reason, place } => {
                let folder = place.config(None)?.feeds_dir;
                let objection = objector.objection(reason).context("name who objects")?;
                object(&folder, &objection)
            }
            Command::Demo { seed, publication, statements } => {
                let raw = tempfile::tempdir()?;
                let stages = demo::write(raw.path(), seed, now())?;
                // All sources are on this machine, so no pauses between requests are needed.
                let limits = Limits { pause: Duration::ZERO, ..Limits::default() };
                let options = publication.options(publication.config()?, limits);
                block_on(build_with_statements(&statements, options, async |options| {
                    Ok(demo::rehearse(&stages, options, &print_progress).await?)
                }))
            }
        }
    }
}

/// Adds an objection to the list, and publishes the feeds again. The exit status is 2 if nothing matches it.
fn object(folder: &Path, objection: &Objection) -> anyhow::Result<ExitCode> {
    match Objections::add(folder, objection)? {
        true => line!("the objection is on the list, and every build respects it"),
        false => line!("the objection was on the list already"),
    }
    let report = republish(folder, now(), &print_progress)
        .context("the feeds could not be published again: the next build removes the records")?;
    print_objected(&report);
    print_changed(&report);
    if report.objected.is_some_and(|objected| objected.is_nothing()) {
        line!(
            "nothing that is published matches; if it is misspelt, delete it from objections.toml"
        );
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what a change of the list of objections has removed.
fn print_objected(report: &Report) {
    let Some(objected) = report.objected.as_ref().filter(|objected| !objected.is_nothing()) else {
        return;
    };
    let Objected { records, texts, .. } = objected;
    let records = records.iter().map(|(feed, count)| format!("{count} of {feed}, "));
    line!("removed: {}names from {texts} texts", records.collect::<String>());
    line!("earlier publications, snapshots and changes are deleted");
}

/// Builds the feeds with people's statements about signals, then tells the host which signals have
/// changed. The statements are about signals of the first city, the only one that capabilities read.
async fn build_with_statements(
    statements: &Statements,
    mut options: Options,
    build: impl AsyncFnOnce(&Options) -> anyhow::Result<Option<Report>>,
) -> anyhow::Result<ExitCode> {
    if options.roads.city().is_none() {
        options.knowledge = statements.load().await;
    }
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
        Progress::NoSnapshot { reason } => {
            eprintln!(
                "warning: the publication of the day before is not kept as a snapshot: {reason}"
            );
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

/// Prints how many roles are not for the city, and which places are not known.
fn print_left_out(left_out: &LeftOut) {
    let LeftOut { elsewhere, remote, unknown, texts } = left_out;
    if elsewhere + remote + unknown > 0 {
        line!(
            "roles left out: {elsewhere} elsewhere, {remote} remote by the rule, {unknown} at places that are not known"
        );
    }
    for text in texts {
        line!("not known: {text:?} (the file of `places` can say what it means)");
    }
}

fn print_changed(report: &Report) {
    match report.changed.as_slice() {
        [] => line!("nothing has changed"),
        changed => line!("changed: {}", changed.join(", ")),
    }
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
    print_left_out(&report.left_out);
    print_objected(report);
    print_changed(report);
    match failing_sources().count() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}
