//! Judges documents as a reader would: by their schemas, and by what no schema can say.

use crate::{
    document::{Documents, INDEX, etag},
    parts::{Parts, records_of},
    record::FEEDS,
    schema::violations,
    text::{find, plain},
    timestamp::Timestamp,
};
use regex::Regex;
use serde_json::Value;
use std::{collections::BTreeSet, fmt, sync::LazyLock};

/// Of one document and one kind.
const MOST: usize = 50;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub document: String,
    /// JSON Pointer.
    pub pointer: String,
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}: {}", self.document, self.pointer, self.what)
    }
}

static IDENTIFIER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:tgt|sig|rol|per|evn|soc|qst|hof|src)_[0-9A-HJKMNP-TV-Z]{26}$").ok()
});

/// Fields that hold names and digests made by machines, in which digits mean nothing.
const MACHINE: [&str; 7] =
    ["id", "sha256", "etag", "external_id", "board_token", "value", "pattern"];
/// Fields with HTML, of which only the text is for people.
const MARKUP: [&str; 2] = ["description_html", "description"];
/// Dates of what has happened.
const PAST: [&str; 9] = [
    "published_at",
    "retrieved_at",
    "occurred_at",
    "detected_at",
    "posted_at",
    "date_published",
    "date_posted",
    "updated_at",
    "first_seen_at",
];

/// Everything that is wrong with these documents.
pub fn faults(documents: &Documents) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut parsed = Vec::new();
    for file in FEEDS.iter().map(|feed| feed.file).chain([INDEX]) {
        let fault =
            |pointer: String, what: String| Fault { document: file.to_owned(), pointer, what };
        match documents.get(file).map(|bytes| Parts::of(file, bytes)) {
            Some(Ok(parts)) => {
                let broken = violations(file, &parts, MOST);
                faults.extend(broken.into_iter().map(|(pointer, what)| fault(pointer, what)));
                parsed.push((file, parts));
            }
            Some(Err(error)) => faults.push(fault(String::new(), error.to_string())),
            None => faults.push(fault(String::new(), "it is missing".to_owned())),
        }
    }
    let mut known = BTreeSet::new();
    for (file, parts) in &parsed {
        for piece in pieces(file, parts) {
            piece.walk(&mut |place| collect(place, file, &mut known, &mut faults));
        }
    }
    for (file, parts) in &parsed {
        let generated = parts.head.pointer("/_meta/generated_at").and_then(Value::as_str);
        let generated = generated.and_then(|it| it.parse().ok()).unwrap_or_default();
        let before = faults.len();
        for piece in pieces(file, parts) {
            piece.walk(&mut |place| {
                if faults.len() - before < MOST
                    && let Some(what) = wrong(place, &known, generated)
                {
                    let (document, pointer) = ((*file).to_owned(), place.pointer());
                    faults.push(Fault { document, pointer, what });
                }
            });
        }
        counted(file, parts, &mut faults);
        match *file {
            INDEX => indexed(parts, documents, &mut faults),
            "live-signal-feed.json" => sure(parts, &mut faults),
            _ => {}
        }
    }
    faults
}

/// A part of a document, and the way to it.
struct Piece {
    way: Vec<String>,
    value: Value,
}

/// What a document says of itself, and each of its records. What cannot be read has been told of.
fn pieces<'a>(file: &str, parts: &'a Parts<'_>) -> impl Iterator<Item = Piece> + 'a {
    let name = records_of(file);
    let records = records(parts).map(move |(at, value)| {
        let way = vec![name.to_owned(), at.to_string()];
        Piece { way, value }
    });
    std::iter::once(Piece { way: Vec::new(), value: parts.head.clone() }).chain(records)
}

/// One after the other, with where they stand.
fn records<'a>(parts: &'a Parts<'_>) -> impl Iterator<Item = (usize, Value)> + 'a {
    let all = parts.records.iter().enumerate();
    all.filter_map(|(at, record)| Some((at, serde_json::from_str(record.get()).ok()?)))
}

/// A value, and the way to it.
struct Place<'a> {
    way: &'a [String],
    value: &'a Value,
}

impl Place<'_> {
    fn pointer(&self) -> String {
        self.way
            .iter()
            .map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1")))
            .collect()
    }

    /// The name of the field, also of what stands in a list in it.
    fn field(&self) -> &str {
        let is_name = |part: &&String| !part.bytes().all(|byte| byte.is_ascii_digit());
        self.way.iter().rev().find(is_name).map_or("", String::as_str)
    }
}

impl Piece {
    fn walk(mut self, visit: &mut impl FnMut(&Place<'_>)) {
        fn step(way: &mut Vec<String>, value: &Value, visit: &mut impl FnMut(&Place<'_>)) {
            visit(&Place { way, value });
            let mut inner = |name: String, value: &Value| {
                way.push(name);
                step(way, value, visit);
                way.pop();
            };
            match value {
                Value::Object(fields) => {
                    fields.iter().for_each(|(name, it)| inner(name.clone(), it));
                }
                Value::Array(items) => {
                    items.iter().enumerate().for_each(|(at, it)| inner(at.to_string(), it));
                }
                _ => {}
            }
        }
        step(&mut self.way, &self.value, visit);
    }
}

fn is_identifier(text: &str) -> bool {
    IDENTIFIER.as_ref().is_some_and(|it| it.is_match(text))
}

/// Identifiers of records, each of which is there once, and of sources, which many records share.
fn collect(place: &Place<'_>, file: &str, known: &mut BTreeSet<String>, faults: &mut Vec<Fault>) {
    let Some(id) = place.value.get("id").and_then(Value::as_str).filter(|id| is_identifier(id))
    else {
        return;
    };
    let record = place.way.len() == 2;
    let source = id.starts_with("src_") && place.value.get("publisher").is_some();
    let anew = (record || source) && known.insert(id.to_owned());
    if record && !anew {
        let what = format!("{id} is there twice");
        faults.push(Fault { document: file.to_owned(), pointer: place.pointer(), what });
    }
}

fn wrong(place: &Place<'_>, known: &BTreeSet<String>, generated: Timestamp) -> Option<String> {
    if let Value::Object(fields) = place.value {
        let unknown = |name: &&String| is_identifier(name) && !known.contains(*name);
        return fields.keys().find(unknown).map(|name| format!("{name} is not there"));
    }
    let text = place.value.as_str()?;
    let field = place.field();
    if is_identifier(text) {
        return (!known.contains(text)).then(|| format!("{text} is not there"));
    }
    if PAST.contains(&field) {
        let at: Timestamp = text.parse().ok()?;
        return (at > generated).then(|| format!("{text} is after the document was made"));
    }
    if text.starts_with("https://") || text.starts_with("http://") {
        return text.contains(['@', '\\']).then(|| "an address with a name in it".to_owned());
    }
    let found = match MARKUP.contains(&field) && text.contains('<') {
        true => find(&plain(text)).map(|(kind, found)| (kind, found.to_owned())),
        false => find(text).map(|(kind, found)| (kind, found.to_owned())),
    };
    let machine = MACHINE.contains(&field) || text.parse::<Timestamp>().is_ok();
    let (kind, found) = found.filter(|_| !machine)?;
    Some(format!("{kind:?} in it: {found}"))
}

fn counted(file: &str, parts: &Parts<'_>, faults: &mut Vec<Fault>) {
    let there = u64::try_from(parts.records.len()).ok();
    let told = parts.head.pointer("/_meta/count").and_then(Value::as_u64);
    if there != told {
        let what = format!("{told:?} records are told, {there:?} are there");
        faults.push(Fault { document: file.to_owned(), pointer: "/_meta/count".to_owned(), what });
    }
}

/// The index tells the truth about the other documents.
fn indexed(index: &Parts<'_>, documents: &Documents, faults: &mut Vec<Fault>) {
    let entries: Vec<Value> = records(index).map(|(_, entry)| entry).collect();
    for (at, feed) in FEEDS.iter().enumerate() {
        let told = entries.get(at).and_then(|it| it.get("etag")).and_then(Value::as_str);
        if told != documents.get(feed.file).map(|bytes| etag(bytes)).as_deref() {
            let pointer = format!("/items/{at}/etag");
            let what = format!("it is not the one of {}", feed.file);
            faults.push(Fault { document: INDEX.to_owned(), pointer, what });
        }
    }
}

/// Nothing is called surer than what it rests on.
fn sure(signals: &Parts<'_>, faults: &mut Vec<Fault>) {
    for (at, signal) in records(signals) {
        let text =
            |pointer: &str| signal.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let many = |pointer: &str| {
            signal.pointer(pointer).and_then(Value::as_array).is_some_and(|it| !it.is_empty())
        };
        let last =
            signal.pointer("/maturity_history").and_then(Value::as_array).and_then(|it| it.last());
        let told = last.and_then(|step| step.get("to")).and_then(Value::as_str);
        let what = match (text("/kind"), text("/maturity")) {
            (_, maturity) if told != Some(maturity) => "its history ends otherwise",
            ("funding", "source_backed" | "confirmed") if !many("/sources") => "it has no source",
            ("hiring", "verified")
                if !many("/hiring/role_ids") && text("/hiring/evidence") != "owner" =>
            {
                "it is verified without an open role or its owner"
            }
            _ => continue,
        };
        let pointer = format!("/items/{at}");
        let document = "live-signal-feed.json".to_owned();
        faults.push(Fault { document, pointer, what: what.to_owned() });
    }
}
