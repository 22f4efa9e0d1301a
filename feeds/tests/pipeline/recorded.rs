//! Answers in the formats of real sources, with their oddities: each is read as its entry in the index says,
//! and a publication with all of them is built. Answers that are damaged at random stop no build.

use crate::support::{Answer, City, Theatre, ok};
use portolan_feeds::{Report, Sources, build, check};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

#[derive(Deserialize)]
struct Index {
    recording: Vec<Recording>,
}

#[derive(Deserialize)]
struct Recording {
    file: String,
    kind: String,
    content_type: String,
    records: usize,
    #[serde(default)]
    refused: usize,
    #[serde(default)]
    finds: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    #[serde(default)]
    details: BTreeMap<String, String>,
}

const FEEDS: [&str; 5] = ["press", "company_site", "social", "filing", "charset"];
const REGISTRY: &str = r#"{"organisations":[
  {"slug":"copperleaf","name":"Copperleaf Robotics","kind":"startup","lat":37.77,"lng":-122.42,"website":"https://copperleaf.example/","url":"https://register.example/copperleaf"},
  {"slug":"orchard","name":"Orchard","kind":"startup","lat":37.771,"lng":-122.421,"website":"https://orchard.example/","url":"https://register.example/orchard"},
  {"slug":"company-5","name":"Company 5","kind":"startup","lat":37.78,"lng":-122.41,"website":"https://company-5.example/","url":"https://register.example/5"}]}"#;
const HEAD: &str = r#"
    license = "CC0-1.0"
    opt_out_url = "https://map.example/opt-out"
    city = { id = "sf", name = "San Francisco", country = "US", time_zone = "America/Los_Angeles", center = [-122.4, 37.8], bbox = [-122.52, 37.7, -122.35, 37.84] }
    [[registry]]
    id = "registry"
    publisher = "Register"
    url = "{origin}/registry.json"
"#;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

fn index() -> Vec<Recording> {
    let text = std::fs::read_to_string(folder().join("index.toml")).unwrap();
    toml::from_str::<Index>(&text).unwrap().recording
}

fn bytes(file: &str, origin: &str) -> Vec<u8> {
    let bytes = std::fs::read(folder().join("answers").join(file)).unwrap();
    // Each byte is a character here, whatever the charset of the file is.
    let text: String = bytes.into_iter().map(char::from).collect();
    let text = text.replace("{origin}", origin);
    text.chars().map(|character| u8::try_from(character).unwrap()).collect()
}

impl Recording {
    /// The token of a board, and the id of any other source.
    fn name(&self) -> String {
        self.file.replace(['/', '.'], "-")
    }

    fn id(&self) -> String {
        match self.is_board() {
            true => format!("board/{}/{}", self.kind, self.name()),
            false => self.name(),
        }
    }

    fn is_board(&self) -> bool {
        self.kind != "directory" && !FEEDS.contains(&self.kind.as_str())
    }

    /// The lines about this source in the file of sources.
    fn source(&self) -> String {
        let (name, kind, file) = (self.name(), &self.kind, &self.file);
        let url = format!("{{origin}}/{file}");
        match kind.as_str() {
            "directory" => {
                format!("[[directory]]\nid = \"{name}\"\nname = \"Harbour\"\nurl = \"{url}\"\n")
            }
            "social" => format!(
                "[[syndication]]\nid = \"{name}\"\ntype = \"social\"\nplatform = \"mastodon\"\nauthor_kind = \"company\"\npublisher = \"P\"\nurl = \"{url}\"\ntarget = \"orchard\"\n"
            ),
            _ if !self.is_board() => {
                let kind = if kind == "charset" { "press" } else { kind };
                format!(
                    "[[syndication]]\nid = \"{name}\"\ntype = \"{kind}\"\npublisher = \"P\"\nurl = \"{url}\"\n"
                )
            }
            _ => format!(
                "[[board]]\ntarget = \"copperleaf\"\nats = \"{kind}\"\ntoken = \"{name}\"\nbase = \"{url}\"\n"
            ),
        }
    }

    /// The path of an answer that belongs to this one.
    fn detail(&self, end: &str) -> String {
        let (file, name) = (&self.file, self.name());
        match self.kind.as_str() {
            _ if end.starts_with('/') => end.to_owned(),
            "smartrecruiters" => format!("/{file}/v1/companies/{name}/postings/{end}"),
            "bamboohr" => format!("/{file}/careers/{end}/detail"),
            "career_page" => format!("/career_page/list.html/{end}"),
            _ => format!("/{file}/{end}"),
        }
    }
}

fn answer(content_type: &str, body: &[u8]) -> [Answer; 1] {
    [ok(&format!("content-type: {content_type}\r\n"), body)]
}

/// Makes a server answer with all recordings, each changed by this function.
fn play(theatre: &Theatre, all: &[Recording], mut change: impl FnMut(Vec<u8>) -> Vec<u8>) {
    let origin = theatre.origin();
    theatre.plays("/registry.json", answer("application/json", REGISTRY.as_bytes()));
    for recording in all {
        let body = change(bytes(&recording.file, &origin));
        theatre.plays(&format!("/{}", recording.file), answer(&recording.content_type, &body));
        for (end, file) in &recording.details {
            let body = change(bytes(file, &origin));
            theatre.plays(&recording.detail(end), answer(&recording.content_type, &body));
        }
    }
}

fn sources(all: &[Recording], origin: &str) -> Sources {
    let text: String = all.iter().map(Recording::source).collect();
    Sources::parse(&format!("{HEAD}{text}"), Some(origin)).unwrap()
}

async fn built(city: &City, all: &[Recording]) -> Report {
    let report = build(&sources(all, &city.board.origin()), &city.options, &|_| {}).await.unwrap();
    assert_eq!(check(city.folder.path()).unwrap(), []);
    report
}

#[tokio::test]
async fn every_recording_is_read_and_published() {
    let all = index();
    assert!(all.len() >= 60, "{}", all.len());
    let city = City::open().await;
    play(&city.board, &all, |body| body);
    let report = built(&city, &all).await;
    assert_eq!(report.quarantined, []);
    let state = std::fs::read(city.folder.path().join("current/state.json")).unwrap();
    let state: serde_json::Value = serde_json::from_slice(&state).unwrap();
    let mut faults = Vec::new();
    for recording in &all {
        let source = report.sources.iter().find(|source| source.id == recording.id()).unwrap();
        let told = (source.records, source.refused.len(), source.failing.is_some());
        if told != (recording.records, recording.refused, false) {
            faults.push(format!("{}: {source:?}", recording.file));
        }
        let records = state["sources"][recording.id()]["records"].to_string();
        let lacking = recording.finds.iter().filter(|text| !records.contains(*text));
        faults.extend(
            lacking.map(|text| format!("{}: {text:?} is not in {records}", recording.file)),
        );
        let found = recording.lacks.iter().filter(|text| records.contains(*text));
        faults.extend(found.map(|text| format!("{}: {text:?} is in {records}", recording.file)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A sequence of numbers that is the same in every run (xorshift64*).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % most.max(1)
    }
}

/// What is put into answers: data of people, instructions, markup, and what readers trip over.
const HOSTILE: [&str; 24] = [
    "null",
    "[]",
    "{}",
    "-1",
    "1e999",
    "\"\"",
    "true",
    "[[[[[[[[]]]]]]]]",
    "\"jo@copperleaf.example\"",
    "\"+1 415 555 0142\"",
    "\"12 Main Street, Apt 4\"",
    "\"\\u202egnikrow\\u0000\"",
    "\"<script>x()</script>\"",
    "\"Ignore all previous instructions\"",
    "\"javascript:x()\"",
    "\"tgt_00000000000000000000000000\"",
    "\"9999-12-31T23:59:59Z\"",
    "\"0000-00-00\"",
    "\"https://jo@evil.example/\"",
    "\"&amp;lt;img src=x onerror=x()&amp;gt;\"",
    "\"\u{feff}\u{200b}\"",
    "\"https://a.example/?to=jo%40b.example\"",
    "99999999999999999999",
    "\"~\"",
];

/// Damages an answer: values are replaced, doubled and swapped, or bytes are.
fn damaged(body: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    let mut body = body;
    let text = String::from_utf8(body.clone()).unwrap_or_default();
    let scalars: Vec<(usize, usize)> =
        regex::Regex::new(r#"(?::\s*)("(?:[^"\\]|\\.)*"|null|true|false|-?[0-9.]+)|>([^<]+)<"#)
            .unwrap()
            .captures_iter(&text)
            .filter_map(|found| found.get(1).or_else(|| found.get(2)))
            .map(|found| (found.start(), found.end()))
            .collect();
    let mut changes: Vec<(usize, usize)> = (0..=chance.below(6))
        .filter_map(|_| scalars.get(chance.below(scalars.len())).copied())
        .collect();
    changes.sort_unstable_by(|one, other| other.cmp(one));
    changes.dedup();
    for (start, end) in changes {
        let value = HOSTILE[chance.below(HOSTILE.len())];
        let long = format!("\"{}{}\"", "long ".repeat(3_000), "jo@copperleaf.example");
        let value = if value == "\"~\"" { &long } else { value };
        let value = if body[start] == b'"' { value } else { value.trim_matches('"') };
        body.splice(start..end, value.bytes());
    }
    // Now and then the answer is cut, or has other bytes.
    match chance.below(12) {
        0 => body.truncate(chance.below(body.len())),
        1 => {
            let at = chance.below(body.len());
            body[at] = u8::try_from(chance.below(256)).unwrap();
        }
        _ => {}
    }
    body
}

#[tokio::test]
async fn no_damaged_answer_stops_a_build() {
    let is_full = std::env::var_os("PORTOLAN_TEST_FULL").is_some();
    let least = if is_full { 100_000 } else { 2_000 };
    let all = index();
    let city = City::open().await;
    let (mut chance, mut records, mut day) = (Chance(0x5eed), 0, 0);
    let mut options = city.options.clone();
    while records < least {
        play(&city.board, &all, |body| damaged(body, &mut chance));
        options.now = crate::support::at(day / 24);
        day += 1;
        let sources = sources(&all, &city.board.origin());
        let report = match build(&sources, &options, &|_| {}).await {
            Ok(report) => report,
            Err(error) => panic!("build {day}: {error}"),
        };
        records += report.sources.iter().map(|one| one.records + one.refused.len()).sum::<usize>();
        if day % 5 == 1 {
            assert_eq!(check(city.folder.path()).unwrap(), [], "build {day}");
        }
    }
}
