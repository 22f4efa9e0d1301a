//! Companies' public boards of open roles, in the formats of five vendors. Each format is a pure
//! reader: bytes in, postings out. One posting that cannot be read does not take the others with it.

mod ashby;
mod greenhouse;
mod lever;
mod smartrecruiters;
mod terms;
mod workable;

use crate::{
    record::{Ats, EmploymentType, Location, Salary, WorkplaceType},
    text::Description,
    timestamp::Timestamp,
};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;

/// Characters of a description that are kept.
const MOST_TEXT: usize = 4_000;
const MOST_TITLE: usize = 200;
const MOST_LABEL: usize = 120;
/// Postings on a page, where a board is asked for pages.
const PAGE: usize = 100;

/// One company's board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    pub ats: Ats,
    pub token: String,
    /// Where the vendor's interface is, if not at its usual place: a region of its own, or a rehearsal.
    pub base: Option<Url>,
}

/// An open role as a board lists it, in our terms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Posting {
    pub external_id: String,
    pub title: String,
    pub department: Option<String>,
    pub team: Option<String>,
    pub level: Option<String>,
    pub employment_type: EmploymentType,
    pub workplace_type: WorkplaceType,
    pub locations: Vec<Location>,
    pub description_html: String,
    pub description_text: String,
    pub base_salary: Option<Salary>,
    pub date_posted: Option<Timestamp>,
    pub valid_through: Option<Timestamp>,
    pub apply_url: String,
    pub source_url: String,
}

/// What one answer of a board holds.
#[derive(Debug, Default)]
pub struct Page {
    pub postings: Vec<Posting>,
    /// What could not be read, and why.
    pub faults: Vec<String>,
    /// Entries in the answer, also those that are not for everybody.
    pub entries: usize,
    /// Of all pages, if the board says so.
    pub total: Option<usize>,
}

/// Why an answer is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    #[error("the answer is not the JSON of a board: {0}")]
    Malformed(String),
    #[error("the board is not known there")]
    Unknown,
}

/// What becomes of one entry.
enum Entry {
    Open(Box<Posting>),
    /// It is there, and not for everybody.
    Withheld,
}

impl Board {
    /// The first page.
    pub fn first(&self) -> Option<Url> {
        let token: String = url::form_urlencoded::byte_serialize(self.token.as_bytes()).collect();
        let (base, path) = match self.ats {
            Ats::Greenhouse => (greenhouse::BASE, greenhouse::path(&token)),
            Ats::Lever => (lever::BASE, lever::path(&token)),
            Ats::Ashby => (ashby::BASE, ashby::path(&token)),
            Ats::Smartrecruiters => (smartrecruiters::BASE, smartrecruiters::path(&token)),
            Ats::Workable => (workable::BASE, workable::path(&token)),
        };
        let base = self.base.as_ref().map_or(base, Url::as_str).trim_end_matches('/');
        Url::parse(&format!("{base}{path}")).ok()
    }

    pub fn read(&self, bytes: &[u8]) -> Result<Page, BoardError> {
        match self.ats {
            Ats::Greenhouse => greenhouse::read(bytes),
            Ats::Lever => lever::read(bytes),
            Ats::Ashby => ashby::read(bytes),
            Ats::Smartrecruiters => smartrecruiters::read(bytes),
            Ats::Workable => workable::read(bytes),
        }
    }

    /// The page after this one, of which `before` entries came on earlier pages.
    pub fn next(&self, page: &Page, before: usize) -> Option<Url> {
        let read = before + page.entries;
        let (more, name) = match self.ats {
            Ats::Lever => (page.entries >= PAGE, "skip"),
            Ats::Smartrecruiters => {
                (page.entries > 0 && page.total.is_some_and(|total| read < total), "offset")
            }
            Ats::Greenhouse | Ats::Ashby | Ats::Workable => (false, ""),
        };
        let mut url = self.first().filter(|_| more)?;
        let others: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(key, _)| key != name)
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        url.query_pairs_mut().clear().extend_pairs(others).append_pair(name, &read.to_string());
        Some(url)
    }

    /// Where the rest of a posting is, for boards that list only its beginning.
    pub fn detail(&self, posting: &Posting) -> Option<Url> {
        (self.ats == Ats::Smartrecruiters).then_some(())?;
        let mut url = self.first()?;
        url.set_query(None);
        url.path_segments_mut().ok()?.push(&posting.external_id);
        Some(url)
    }

    /// Completes a posting from its detail.
    pub fn complete(&self, posting: Posting, bytes: &[u8]) -> Result<Posting, BoardError> {
        match self.ats {
            Ats::Smartrecruiters => smartrecruiters::complete(posting, bytes),
            Ats::Greenhouse | Ats::Lever | Ats::Ashby | Ats::Workable => Ok(posting),
        }
    }

    /// Why a board without a single entry may not be what it seems.
    pub fn doubt(&self, page: &Page) -> Option<&'static str> {
        let silent = self.ats == Ats::Smartrecruiters && page.total == Some(0);
        silent.then_some(
            "nothing is listed: this vendor answers so for companies it does not know, too",
        )
    }
}

fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BoardError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| BoardError::Malformed(error.to_string()))
}

/// Reads each entry by itself.
fn page<T: DeserializeOwned>(
    entries: Vec<Value>,
    posting: impl Fn(T) -> Result<Entry, &'static str>,
) -> Page {
    let mut page = Page { entries: entries.len(), ..Page::default() };
    for (position, entry) in entries.into_iter().enumerate() {
        let read = serde_json::from_value(entry).map_err(|error| error.to_string());
        match read.and_then(|entry| posting(entry).map_err(str::to_owned)) {
            Ok(Entry::Open(posting)) => page.postings.push(*posting),
            Ok(Entry::Withheld) => {}
            Err(reason) => page.faults.push(format!("entry {position}: {reason}")),
        }
    }
    page
}

/// What must be there: a name for it, a title, and an address to apply at.
fn opened(mut posting: Posting, description: Description) -> Result<Entry, &'static str> {
    posting.title = crate::text::line(&posting.title, MOST_TITLE);
    posting.description_html = description.html;
    posting.description_text = description.text;
    posting.locations.retain(|location| !location.label.is_empty());
    if let Some(first) = posting.locations.first_mut() {
        first.primary = true;
    }
    if posting.external_id.is_empty() {
        return Err("it has no identifier");
    }
    if posting.title.is_empty() {
        return Err("it has no title");
    }
    if posting.apply_url.is_empty() || posting.source_url.is_empty() {
        return Err("it has no address that can be followed");
    }
    Ok(Entry::Open(Box::new(posting)))
}

/// The first of these that is a plain address.
fn first_link(addresses: &[Option<&str>]) -> String {
    addresses.iter().flatten().find_map(|it| crate::text::link(it)).unwrap_or_default()
}

fn label(text: Option<&str>) -> Option<String> {
    crate::text::some_line(text, MOST_LABEL)
}

fn place(text: &str) -> Location {
    Location { label: crate::text::line(text, MOST_LABEL), ..Location::default() }
}

/// Boards write null where there is nothing.
fn nullable<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A text or a number.
fn identifier(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}
