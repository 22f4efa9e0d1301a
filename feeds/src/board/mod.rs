//! Reads companies' public boards of open roles, in the formats of five vendors. Each reader is a pure
//! function from bytes to postings. A posting that cannot be read does not affect the others.

mod ashby;
mod greenhouse;
mod lever;
mod smartrecruiters;
mod terms;
mod workable;

use crate::{
    entries::{self, Refused},
    record::{Ats, EmploymentType, Location, Salary, WorkplaceType},
    text::Description,
    timestamp::Timestamp,
};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;

/// How many characters of a description are kept.
const MOST_TEXT: usize = 4_000;
const MOST_TITLE: usize = 200;
const MOST_LABEL: usize = 120;
/// How many postings a request asks for, where the vendor has pages.
const PAGE: usize = 100;

/// One company's board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    pub ats: Ats,
    pub token: String,
    /// The address of the vendor's API, if it is not the usual one: another region, or a demonstration.
    pub base: Option<Url>,
}

/// An open role on a board, in this project's terms.
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

/// The content of one answer of a board.
#[derive(Debug, Default)]
pub struct Page {
    pub postings: Vec<Posting>,
    pub refused: Vec<Refused>,
    /// The number of entries in the answer, also of those that are not public.
    pub entries: usize,
    /// The number of entries on all pages, if the board states it.
    pub total: Option<usize>,
}

/// Why an answer could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    #[error("the answer is not the JSON of a board: {0}")]
    Malformed(String),
    #[error("the board is not known there")]
    Unknown,
}

impl Board {
    /// Returns the URL of the first page; `None` if `base` cannot be extended to a valid URL.
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

    /// Returns the URL of the page after this one; `None` if this is the last. `before` is the
    /// number of entries on earlier pages.
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

    /// Returns the URL of a posting's details; `None` for vendors whose lists already have them.
    pub fn detail(&self, posting: &Posting) -> Option<Url> {
        (self.ats == Ats::Smartrecruiters).then_some(())?;
        let mut url = self.first()?;
        url.set_query(None);
        url.path_segments_mut().ok()?.push(&posting.external_id);
        Some(url)
    }

    /// Completes a posting from its details.
    pub fn complete(&self, posting: Posting, bytes: &[u8]) -> Result<Posting, BoardError> {
        match self.ats {
            Ats::Smartrecruiters => smartrecruiters::complete(posting, bytes),
            Ats::Greenhouse | Ats::Lever | Ats::Ashby | Ats::Workable => Ok(posting),
        }
    }

    /// Returns a warning if an empty board may be an unknown company.
    pub fn doubt(&self, page: &Page) -> Option<&'static str> {
        let silent = self.ats == Ats::Smartrecruiters && page.total == Some(0);
        silent.then_some("nothing is listed: this vendor also answers so for unknown companies")
    }
}

fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BoardError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| BoardError::Malformed(error.to_string()))
}

/// Reads the entries of an answer. `posting` returns `None` for an entry that is not public.
fn page<T: DeserializeOwned>(
    entries: Vec<Value>,
    posting: impl Fn(T) -> Result<Option<Posting>, &'static str>,
) -> Page {
    let count = entries.len();
    let (postings, refused) = entries::each(entries, "entry", posting);
    Page { postings, refused, entries: count, total: None }
}

/// Completes a posting. The error says which is missing: the identifier, the title, or a valid URL.
fn opened(mut posting: Posting, description: Description) -> Result<Option<Posting>, &'static str> {
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
        return Err("it has no http or https address");
    }
    Ok(Some(posting))
}

/// Returns the first of these addresses that is a valid link, or an empty text.
fn first_link(addresses: &[Option<&str>]) -> String {
    addresses.iter().flatten().find_map(|address| crate::text::link(address)).unwrap_or_default()
}

fn label(text: Option<&str>) -> Option<String> {
    crate::text::some_line(text, MOST_LABEL)
}

fn place(text: &str) -> Location {
    Location { label: crate::text::line(text, MOST_LABEL), ..Location::default() }
}

/// Reads null as the default value: boards write null for absent values.
fn nullable<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads an identifier, which is a text or a number; any other value becomes an empty text.
fn identifier(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}
