//! The demonstration, called rehearsal in code: the raw documents of invented organisations are served on
//! this machine, and the real readers and the real pipeline build feeds from them. It has several stages,
//! each of which is the city on one day. The same seed makes the same feeds.

mod boards;
mod chance;
mod server;
mod stories;
mod town;
mod words;

pub use server::{Server, Stage, Statement, serve};

use crate::{
    build::{BuildError, Options, Report, build},
    gather::Progress,
    identifier::stable,
    join::{Evidence, EvidenceKind, Knowledge},
    publish::{Press, Published},
    record::{Listing, Signal, SignalKind},
    sources::{Faults, Sources},
    timestamp::{Timestamp, days},
};
use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};
use stories::{DISPUTED, RETRACTED, Story};
use town::Organisation;

const STAGES: &str = "stages.json";
/// How many days before the last stage each stage is. The intervals are long enough for leads to expire,
/// for roles to be missing twice, and for hiring signals to be closed.
const DAYS: [u64; 6] = [60, 20, 19, 18, 1, 0];
/// The stages at which people object to signals, and at which an objection is reviewed.
const OBJECTION: usize = 4;
const REVIEW: usize = 5;

/// Why a rehearsal failed.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    #[error("the folder cannot be used: {0}")]
    Folder(#[from] io::Error),
    #[error("the folder {} has other feeds, or an unfinished demonstration; choose another folder with --folder", .0.display())]
    Taken(PathBuf),
    #[error("its sources are not valid:\n{0}")]
    Sources(#[from] Faults),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("a document cannot be read: {0}")]
    Document(#[from] serde_json::Error),
}

/// Writes the raw documents of all stages into a folder; the last stage is `now`.
pub fn write(folder: &Path, seed: u64, now: Timestamp) -> Result<Vec<Stage>, RehearsalError> {
    let all = town::organisations(seed);
    let stories = stories::stories(&all, seed, now);
    let mut stages = Vec::new();
    for (number, ago) in DAYS.into_iter().enumerate() {
        let stage = Stage {
            now: now.before(days(ago)),
            folder: folder.join(number.to_string()),
            statements: statements(&all, number),
        };
        documents(&stage, number, &all, &stories, seed, now)?;
        stages.push(stage);
    }
    fs::write(folder.join(STAGES), serde_json::to_vec_pretty(&stages)?)?;
    Ok(stages)
}

/// Reads the stages that were written into a folder.
pub fn stages(folder: &Path) -> Result<Vec<Stage>, RehearsalError> {
    Ok(serde_json::from_slice(&fs::read(folder.join(STAGES))?)?)
}

/// Serves and builds one stage after the other, each with the stage's own time. If the folder
/// already has the whole rehearsal, only the last stage is built again. The stages' statements are
/// added to the knowledge in `options`. Returns the report of the last build; `None` if there are
/// no stages.
pub async fn rehearse(
    stages: &[Stage],
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Option<Report>, RehearsalError> {
    let Published { documents, state, .. } = Press::open(&options.folder)?.published()?;
    let known = state.knowledge;
    let begin = match (was_given(stages, &known), documents.is_empty()) {
        (true, _) => stages.len().saturating_sub(1),
        (false, true) => 0,
        (false, false) => return Err(RehearsalError::Taken(options.folder.clone())),
    };
    let known = options.knowledge.clone().unwrap_or(known);
    let (mut said, mut last) = (Knowledge::default(), None);
    for (number, stage) in stages.iter().enumerate() {
        for statement in &stage.statements {
            let target_id = stable("tgt", &[&statement.slug]);
            if let Some(signal_id) = signal_of(&target_id, &options.folder)? {
                said.evidence.push(evidence(statement, number, signal_id, stage.now));
                said.verified_owners.insert(target_id);
            }
        }
        if number < begin {
            continue;
        }
        let server = serve(&stage.folder).await?;
        let sources = Sources::read(&stage.folder.join("sources.toml"), Some(&server.origin()))?;
        let knowledge = Some(joined(known.clone(), &said));
        let mut options = Options { now: stage.now, knowledge, ..options.clone() };
        options.opened.push(ipnet::IpNet::from(std::net::IpAddr::from([127, 0, 0, 1])));
        last = Some(build(&sources, &options, progress).await?);
    }
    Ok(last)
}

/// Returns whether the last stage's statements are already known, which means that the whole
/// rehearsal was built before.
fn was_given(stages: &[Stage], known: &Knowledge) -> bool {
    let said = |number: usize, statement: &Statement| {
        let id = evidence_id(statement, number);
        known.evidence.iter().any(|evidence| evidence.id == id)
    };
    let last = stages.iter().enumerate().next_back();
    last.is_some_and(|(number, stage)| {
        stage.statements.iter().all(|statement| said(number, statement))
    })
}

fn joined(mut known: Knowledge, said: &Knowledge) -> Knowledge {
    known.verified_owners.extend(said.verified_owners.iter().cloned());
    known.evidence.retain(|evidence| said.evidence.iter().all(|own| own.id != evidence.id));
    known.evidence.extend(said.evidence.iter().cloned());
    known
}

/// Returns the identifier of the published signal about a target's hiring; `None` if there is none.
fn signal_of(target_id: &str, folder: &Path) -> Result<Option<String>, RehearsalError> {
    let Published { documents, .. } = Press::open(folder)?.published()?;
    let Some(bytes) = documents.get("live-signal-feed.json") else { return Ok(None) };
    let signals: Listing<Signal> = serde_json::from_slice(bytes)?;
    let about =
        |signal: &Signal| signal.kind == SignalKind::Hiring && signal.target_id == target_id;
    Ok(signals.items.into_iter().find(about).map(|signal| signal.id))
}

fn evidence(statement: &Statement, stage: usize, signal_id: String, at: Timestamp) -> Evidence {
    let Statement { slug, kind } = statement;
    Evidence {
        id: evidence_id(statement, stage),
        signal_id,
        kind: *kind,
        at,
        publisher: slug.clone(),
        url: format!("https://{slug}.example/statements/{stage}"),
        answers: None,
    }
}

/// Returns a statement's identifier, the same in every rehearsal.
fn evidence_id(statement: &Statement, stage: usize) -> String {
    format!("rehearsal/{}/{stage}", statement.slug)
}

fn statements(all: &[Organisation], stage: usize) -> Vec<Statement> {
    let of = |companies: std::ops::Range<usize>, kind: EvidenceKind| {
        let slugs =
            all.get(companies).unwrap_or_default().iter().map(|company| company.slug.clone());
        slugs.map(|slug| Statement { slug, kind }).collect::<Vec<_>>()
    };
    match stage {
        OBJECTION => of(RETRACTED, EvidenceKind::SourceRetracted),
        REVIEW => {
            [of(RETRACTED, EvidenceKind::ObjectionUpheld), of(DISPUTED, EvidenceKind::OwnerObjects)]
                .concat()
        }
        _ => Vec::new(),
    }
}

fn documents(
    stage: &Stage,
    number: usize,
    all: &[Organisation],
    stories: &[Story],
    seed: u64,
    now: Timestamp,
) -> Result<(), RehearsalError> {
    let site = stage.folder.join("site");
    let put = |path: &str, text: String| -> io::Result<()> {
        let file = site.join(path);
        fs::create_dir_all(file.parent().unwrap_or(&site))?;
        fs::write(file, text)
    };
    put("registry.json", town::registry(all, seed, now).to_string())?;
    let [first, second] = town::directory(all, seed);
    put("directory/companies.json", first.to_string())?;
    put("directory/companies-2.json", second.to_string())?;
    let posted_before = now.before(days(DAYS.get(1).copied().unwrap_or(0)));
    let mut sources = HEAD.to_owned();
    for (position, company) in all.iter().enumerate().take(stories::CLOSED.end) {
        let vendor =
            boards::VENDORS.get(position % boards::VENDORS.len()).copied().unwrap_or_default();
        let open = stories::has_roles(position, number);
        for (path, document) in boards::documents(vendor, company, seed, open, posted_before) {
            put(&format!("{path}.json"), document.to_string())?;
        }
        let slug = &company.slug;
        let _infallible = write!(
            sources,
            "\n[[board]]\ntarget = \"{slug}\"\nats = \"{vendor}\"\ntoken = \"{slug}\"\nbase = \"{{origin}}/{vendor}\"\n"
        );
    }
    for story in stories {
        put(&format!("feeds/{}", story.id), story.written(stage.now))?;
        let Story { id, source, .. } = story;
        let _infallible = write!(
            sources,
            "\n[[syndication]]\nid = \"{id}\"\nurl = \"{{origin}}/feeds/{id}\"\n{source}\n"
        );
    }
    fs::write(stage.folder.join("sources.toml"), sources)?;
    Ok(())
}

const HEAD: &str = r#"# Invented sources, for a rehearsal.
synthetic = true
license = "CC0-1.0"
attribution = ["Invented by Portolan's generator; occupation codes from O*NET (CC BY 4.0)."]

[city]
id = "sf"
name = "San Francisco"
country = "US"
time_zone = "America/Los_Angeles"
center = [-122.41942, 37.77493]
bbox = [-122.52, 37.70, -122.35, 37.84]

[[registry]]
id = "registry"
publisher = "Register of the Map"
url = "{origin}/registry.json"

[[directory]]
id = "harbourlight"
name = "Harbourlight Accelerator"
url = "{origin}/directory/companies"
"#;
