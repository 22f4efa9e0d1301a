//! Validates documents: by their schemas, and by rules that no schema can express.

use crate::{
    changes::MOST_RECORD,
    descriptions::{self, is_part, stored, unpack},
    document::{Documents, INDEX, etag},
    parts::{Parts, id_of, records_of},
    record::{FEEDS, PartEntry},
    schema::{Violation, violations},
    text::{contact_in, hidden_in, link},
    timestamp::Timestamp,
};
use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::LazyLock,
};

/// How many errors in the head of one document are reported.
const MOST: usize = 50;

/// One error in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub document: String,
    /// The JSON Pointer (RFC 6901) of the wrong value.
    pub pointer: String,
    /// The id of the record that has the error; `None` if the document as a whole has it.
    pub record: Option<String>,
    pub what: String,
}

impl Fault {
    fn of_document(document: &str, pointer: &str, what: String) -> Self {
        let (document, pointer) = (document.to_owned(), pointer.to_owned());
        Self { document, pointer, record: None, what }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}: {}", self.document, self.pointer, self.what)
    }
}

/// How many bytes an identifier has.
const IDENTIFIER_BYTES: usize = 30;
static IDENTIFIER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:tgt|sig|rol|per|evn|soc|qst|hof|src)_[0-9A-HJKMNP-TV-Z]{26}$").ok()
});

/// Fields that hold identifiers and digests; what looks like contact data in them is none.
const MACHINE: [&str; 10] = [
    "id",
    "sha256",
    "etag",
    "cursor",
    "path",
    "part",
    "external_id",
    "board_token",
    "value",
    "pattern",
];
/// Fields with HTML, of which only the text is searched for contact data.
const MARKUP: [&str; 2] = ["description_html", "description"];
/// Fields that refer to records and sources, besides those whose names end in `_id` and `_ids`. Elsewhere a text
/// is a source's, whatever it looks like.
const REFERENCES: [&str; 3] = ["id", "filing_ref", "answers"];
/// The field whose own fields are named after records.
const BY_RECORD: &str = "by_target";
/// Fields with dates that must not be in the future.
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

/// Returns the errors in these documents: of each record its first one, and at most `MOST` in the head
/// of each document.
pub fn faults(documents: &Documents) -> Vec<Fault> {
    faults_of_new(documents, &|_, _| false)
}

/// Says whether the part with this name and these bytes was checked before.
pub type IsChecked<'a> = &'a dyn Fn(&str, &[u8]) -> bool;

/// Returns the same, without checking parts again that were checked before.
pub fn faults_of_new(documents: &Documents, is_checked: IsChecked<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut parsed = Vec::new();
    for file in FEEDS.iter().map(|feed| feed.file).chain([INDEX]) {
        match documents.get(file).map(|bytes| Parts::of(file, bytes)) {
            Some(Ok(parts)) => {
                let broken = violations(file, &parts, MOST).into_iter();
                faults.extend(broken.map(|Violation { record, pointer, what }| Fault {
                    document: file.to_owned(),
                    pointer,
                    record: record.and_then(|at| parts.records.get(at)).map(|raw| id_of(raw)),
                    what,
                }));
                faults.extend(parts.records.iter().enumerate().filter_map(too_large(file)));
                parsed.push((file, parts));
            }
            Some(Err(error)) => faults.push(Fault::of_document(file, "", error.to_string())),
            None => faults.push(Fault::of_document(file, "", "it is missing".to_owned())),
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
        let generated = generated.and_then(|text| text.parse().ok()).unwrap_or_default();
        for piece in pieces(file, parts) {
            let (record, most) = match piece.path.is_empty() {
                true => (None, MOST),
                false => (piece.id(), 1),
            };
            let before = faults.len();
            piece.walk(&mut |place| {
                if faults.len() - before < most
                    && let Some(what) = wrong(place, &known, generated)
                {
                    let (document, pointer) = ((*file).to_owned(), place.pointer());
                    faults.push(Fault { document, pointer, record: record.clone(), what });
                }
            });
        }
        check_count(file, parts, &mut faults);
        match *file {
            INDEX => {
                check_index(parts, documents, &mut faults);
                check_parts(parts, (documents, is_checked), &known, &mut faults);
            }
            "live-signal-feed.json" => check_maturity(parts, &mut faults),
            _ => {}
        }
    }
    faults
}

/// Returns what finds records that the log of changes does not carry.
fn too_large(file: &str) -> impl Fn((usize, &&RawValue)) -> Option<Fault> {
    move |(at, record)| {
        let bytes = record.get().len();
        (bytes > MOST_RECORD).then(|| Fault {
            document: file.to_owned(),
            pointer: format!("/{}/{at}", records_of(file)),
            record: Some(id_of(record)),
            what: format!("it has {bytes} bytes, more than {MOST_RECORD}"),
        })
    }
}

/// The head of a document, or one record, and its path.
struct Piece {
    path: Vec<String>,
    value: Value,
}

/// Returns the head of a document, and each of its records. Records that cannot be parsed are left out:
/// the schema check has reported them.
fn pieces<'a>(file: &str, parts: &'a Parts<'_>) -> impl Iterator<Item = Piece> + 'a {
    let name = records_of(file);
    let records = records(parts).map(move |(at, value)| {
        let path = vec![name.to_owned(), at.to_string()];
        Piece { path, value }
    });
    std::iter::once(Piece { path: Vec::new(), value: parts.head.clone() }).chain(records)
}

/// Parses the records one after the other, each with its position.
fn records<'a>(parts: &'a Parts<'_>) -> impl Iterator<Item = (usize, Value)> + 'a {
    let all = parts.records.iter().enumerate();
    all.filter_map(|(at, record)| Some((at, serde_json::from_str(record.get()).ok()?)))
}

/// A value, and its path.
struct Place<'a> {
    path: &'a [String],
    value: &'a Value,
}

impl Place<'_> {
    fn pointer(&self) -> String {
        self.path
            .iter()
            .map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1")))
            .collect()
    }

    /// Returns the name of the field that holds the value, also if the value is in a list.
    fn field(&self) -> &str {
        let is_name = |part: &&String| !part.bytes().all(|byte| byte.is_ascii_digit());
        self.path.iter().rev().find(is_name).map_or("", String::as_str)
    }
}

impl Piece {
    fn id(&self) -> Option<String> {
        self.value.get("id").and_then(Value::as_str).map(str::to_owned)
    }

    fn walk(mut self, visit: &mut impl FnMut(&Place<'_>)) {
        fn step(path: &mut Vec<String>, value: &Value, visit: &mut impl FnMut(&Place<'_>)) {
            visit(&Place { path, value });
            let mut inner = |name: String, value: &Value| {
                path.push(name);
                step(path, value, visit);
                path.pop();
            };
            match value {
                Value::Object(fields) => {
                    fields.iter().for_each(|(name, field)| inner(name.clone(), field));
                }
                Value::Array(items) => {
                    items.iter().enumerate().for_each(|(at, item)| inner(at.to_string(), item));
                }
                _ => {}
            }
        }
        step(&mut self.path, &self.value, visit);
    }
}

fn is_identifier(text: &str) -> bool {
    text.len() == IDENTIFIER_BYTES
        && IDENTIFIER.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Collects the identifiers of records, each of which must be unique, and of sources, which records share.
fn collect(place: &Place<'_>, file: &str, known: &mut BTreeSet<String>, faults: &mut Vec<Fault>) {
    let Some(id) = place.value.get("id").and_then(Value::as_str).filter(|id| is_identifier(id))
    else {
        return;
    };
    let record = place.path.len() == 2;
    let source = id.starts_with("src_") && place.value.get("publisher").is_some();
    let is_new = (record || source) && known.insert(id.to_owned());
    if record && !is_new {
        let what = format!("two records have the id {id}");
        faults.push(Fault::of_document(file, &place.pointer(), what));
    }
}

/// Returns whether a field refers to records or sources.
fn refers(field: &str) -> bool {
    let is_named = field.ends_with("_id") || field.ends_with("_ids");
    // The fields of `by_target` are named after records.
    (is_named && field != "external_id") || REFERENCES.contains(&field) || is_identifier(field)
}

fn wrong(place: &Place<'_>, known: &BTreeSet<String>, generated: Timestamp) -> Option<String> {
    let field = place.field();
    if let Value::Object(fields) = place.value {
        let unknown = |name: &&String| is_identifier(name) && !known.contains(*name);
        let unknown = fields.keys().find(unknown).filter(|_| field == BY_RECORD);
        return unknown.map(|name| format!("no record has the id {name}"));
    }
    let text = place.value.as_str()?;
    if refers(field) && is_identifier(text) {
        return (!known.contains(text)).then(|| format!("no record or source has the id {text}"));
    }
    if let Some(hidden) = hidden_in(text) {
        return Some(format!("it has the invisible character {}", hidden.escape_unicode()));
    }
    if PAST.contains(&field) {
        let at: Timestamp = text.parse().ok()?;
        return (at > generated).then(|| format!("{text} is after the document was made"));
    }
    let is_url = text.starts_with("https://") || text.starts_with("http://");
    if is_url && !text.contains(char::is_whitespace) {
        return link(text).is_none().then(|| "the URL may not be in a feed".to_owned());
    }
    let (kind, found) = contact_in(text, MARKUP.contains(&field))?;
    let is_machine = MACHINE.contains(&field) || text.parse::<Timestamp>().is_ok();
    (!is_machine).then(|| format!("it contains contact data ({kind:?}): {found}"))
}

fn check_count(file: &str, parts: &Parts<'_>, faults: &mut Vec<Fault>) {
    let actual = u64::try_from(parts.records.len()).ok();
    let stated = parts.head.pointer("/_meta/count").and_then(Value::as_u64);
    if actual != stated {
        let what = format!("it is {stated:?}, but the number of records is {actual:?}");
        faults.push(Fault::of_document(file, "/_meta/count", what));
    }
}

/// Checks that the index has the ETags of the other documents.
fn check_index(index: &Parts<'_>, documents: &Documents, faults: &mut Vec<Fault>) {
    let entries: Vec<Value> = records(index).map(|(_, entry)| entry).collect();
    for (at, feed) in FEEDS.iter().enumerate() {
        let stated = entries.get(at).and_then(|entry| entry.get("etag")).and_then(Value::as_str);
        if stated != documents.get(feed.file).map(|bytes| etag(bytes)).as_deref() {
            let what = format!("it is not the ETag of {}", feed.file);
            faults.push(Fault::of_document(INDEX, &format!("/items/{at}/etag"), what));
        }
    }
}

/// Checks the parts that the index lists, and that there are no others.
fn check_parts(
    index: &Parts<'_>,
    (documents, is_checked): (&Documents, IsChecked<'_>),
    known: &BTreeSet<String>,
    faults: &mut Vec<Fault>,
) {
    #[derive(Default, Deserialize)]
    struct Divided {
        #[serde(default)]
        parts: Vec<PartEntry>,
    }
    let listed = index
        .records
        .iter()
        .flat_map(|entry| serde_json::from_str::<Divided>(entry.get()).unwrap_or_default().parts);
    let listed: BTreeMap<String, PartEntry> =
        listed.map(|entry| (stored(&entry.path), entry)).collect();
    for name in documents.keys().filter(|name| is_part(name) && !listed.contains_key(*name)) {
        faults.push(Fault::of_document(name, "", "it is not in the index".to_owned()));
    }
    for (name, entry) in &listed {
        let Some(packed) = documents.get(name) else {
            faults.push(Fault::of_document(name, "", "it is missing".to_owned()));
            continue;
        };
        if is_checked(name, packed) {
            continue;
        }
        match unpack(packed) {
            Ok(bytes) => check_part(name, &bytes, entry, known, faults),
            Err(error) => faults.push(Fault::of_document(name, "", error.to_string())),
        }
    }
}

fn check_part(
    name: &str,
    bytes: &[u8],
    entry: &PartEntry,
    known: &BTreeSet<String>,
    faults: &mut Vec<Fault>,
) {
    if entry.etag != etag(bytes) {
        faults.push(Fault::of_document(name, "", "the index has another ETag".to_owned()));
    }
    let parts = match Parts::of(descriptions::FOLDER, bytes) {
        Ok(parts) => parts,
        Err(error) => return faults.push(Fault::of_document(name, "", error.to_string())),
    };
    let broken = violations(descriptions::FOLDER, &parts, MOST).into_iter();
    faults.extend(broken.map(|Violation { record, pointer, what }| Fault {
        document: name.to_owned(),
        pointer,
        record: record.and_then(|at| parts.records.get(at)).map(|raw| id_of(raw)),
        what,
    }));
    for piece in pieces(descriptions::FOLDER, &parts) {
        let (record, before) = (piece.id(), faults.len());
        piece.walk(&mut |place| {
            if faults.len() == before
                && let Some(what) = wrong(place, known, Timestamp::default())
            {
                let (document, pointer) = (name.to_owned(), place.pointer());
                faults.push(Fault { document, pointer, record: record.clone(), what });
            }
        });
    }
}

/// Checks that each signal has the evidence that its maturity requires.
fn check_maturity(signals: &Parts<'_>, faults: &mut Vec<Fault>) {
    for (at, signal) in records(signals) {
        let text =
            |pointer: &str| signal.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let many = |pointer: &str| {
            signal.pointer(pointer).and_then(Value::as_array).is_some_and(|items| !items.is_empty())
        };
        let last = signal
            .pointer("/maturity_history")
            .and_then(Value::as_array)
            .and_then(|steps| steps.last());
        let stated = last.and_then(|step| step.get("to")).and_then(Value::as_str);
        let what = match (text("/kind"), text("/maturity")) {
            (_, maturity) if stated != Some(maturity) => "its history ends in another maturity",
            ("funding", "source_backed" | "confirmed") if !many("/sources") => "it has no source",
            ("hiring", "verified")
                if !many("/hiring/role_ids") && text("/hiring/evidence") != "owner" =>
            {
                "it is verified without an open role or its owner's confirmation"
            }
            _ => continue,
        };
        faults.push(Fault {
            document: "live-signal-feed.json".to_owned(),
            pointer: format!("/items/{at}"),
            record: Some(text("/id").to_owned()),
            what: what.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_the_log_of_changes_does_not_carry_is_a_fault() {
        let file = "sf-people.json";
        let of = |most: usize| {
            let record = format!("{{\"id\":\"per_1\",\"bio\":\"{}\"}}", "x".repeat(most - 23));
            let document = format!("{{\"_meta\":{{}},\"items\":[{record}]}}\n");
            let faults = faults(&[(file.to_owned(), document.into_bytes())].into());
            faults.into_iter().filter(|fault| fault.what.contains(" bytes")).collect::<Vec<_>>()
        };
        assert_eq!(of(MOST_RECORD), []);
        let [fault] = &of(MOST_RECORD + 1)[..] else { panic!("one fault") };
        assert_eq!((fault.record.as_deref(), &*fault.pointer), (Some("per_1"), "/items/0"));
    }
}
