//! Reads companies' public boards of open roles, in the formats of nine vendors, and the roles that a
//! company's own pages describe for search engines. Each reader is a pure function from bytes to postings.
//! A posting that cannot be read does not affect the others.

mod ashby;
mod bamboohr;
mod career_page;
mod greenhouse;
mod job_posting;
mod lever;
mod personio;
mod recruitee;
mod renamed;
mod smartrecruiters;
mod teamtailor;
mod terms;
mod workable;

pub use renamed::Renamed;

use crate::{
    entries::{self, Refused},
    record::{Ats, EmploymentType, Location, Salary, WorkplaceType},
    text::{Description, Packed},
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use url::Url;

/// How many characters of a description are kept.
const MOST_TEXT: usize = 4_000;
const MOST_TITLE: usize = 200;
const MOST_LABEL: usize = 120;
/// A text can name many places.
const MOST_PLACE: usize = 400;
/// How many bytes an identifier may have.
const MOST_IDENTIFIER: usize = 200;
/// How many places of a posting are kept.
const MOST_LOCATIONS: usize = 50;
/// How many postings a request asks for, where the vendor has pages. The paths of the vendors have it.
const PAGE: usize = 100;
/// In addresses: stand for the company's name at the vendor, and for a posting's identifier.
const TOKEN: &str = "{token}";
const ID: &str = "{id}";

/// How the path of a `base` ends that is the board's document itself.
const FILES: [&str; 4] = [".json", ".rss", ".xml", ".html"];

/// How the boards of one vendor are read.
struct Vendor {
    /// The usual address of the vendor's API.
    base: &'static str,
    /// The path and the query of the first page.
    path: &'static str,
    read: fn(&[u8], &Site<'_>) -> Result<Page, BoardError>,
    /// The parameter of the query that says how many entries to skip, where the vendor has pages.
    skips: Option<&'static str>,
    detail: Option<Detail>,
}

/// For a vendor whose list does not have everything: where the details of one posting are.
struct Detail {
    path: &'static str,
    complete: fn(Posting, &[u8]) -> Result<Posting, BoardError>,
}

/// Where a page was read.
struct Site<'a> {
    /// The address of the board, without its path.
    base: &'a Url,
    /// The address of the page.
    page: &'a Url,
}

/// One company's board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    pub ats: Ats,
    pub token: String,
    /// The address of the vendor's API, if it is not the usual one: another region, the company's own
    /// domain, or a demonstration. Of a career page: its address.
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
    pub description_html: Packed,
    pub description_text: Packed,
    pub base_salary: Option<Salary>,
    pub date_posted: Option<Timestamp>,
    pub valid_through: Option<Timestamp>,
    pub apply_url: String,
    pub source_url: String,
    /// The address of the page on which it was read, if a board has several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub page: String,
    /// When its details were read; `None` if they were not, or stand in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed: Option<Detailed>,
}

/// The reading of a posting's details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detailed {
    pub at: Timestamp,
    /// The digest of the posting as it stood in the list.
    pub listed: String,
}

impl Posting {
    /// Adds the places that it does not have yet.
    pub fn add_locations(&mut self, locations: Vec<Location>) {
        for location in locations {
            let is_new = !self.locations.iter().any(|known| known.label == location.label);
            if is_new && self.locations.len() < MOST_LOCATIONS {
                let primary = self.locations.is_empty();
                self.locations.push(Location { primary, ..location });
            }
        }
    }
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
    /// The pages of this site that may describe roles; only a career page has them.
    pub links: Vec<Url>,
}

/// Why an answer could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    #[error("the answer is not the JSON of a board: {0}")]
    Malformed(String),
    #[error("the answer is not the XML of a board: {0}")]
    Xml(String),
    #[error("the answer is not a page with roles: {0}")]
    Page(&'static str),
    #[error("the board is not known there")]
    Unknown,
}

impl Board {
    fn vendor(&self) -> &'static Vendor {
        match self.ats {
            Ats::Greenhouse => &greenhouse::VENDOR,
            Ats::Lever => &lever::VENDOR,
            Ats::Ashby => &ashby::VENDOR,
            Ats::Smartrecruiters => &smartrecruiters::VENDOR,
            Ats::Workable => &workable::VENDOR,
            Ats::Recruitee => &recruitee::VENDOR,
            Ats::Personio => &personio::VENDOR,
            Ats::Teamtailor => &teamtailor::VENDOR,
            Ats::Bamboohr => &bamboohr::VENDOR,
            Ats::CareerPage => &career_page::VENDOR,
        }
    }

    fn with_token(&self, template: &str) -> String {
        let token: String = url::form_urlencoded::byte_serialize(self.token.as_bytes()).collect();
        template.replace(TOKEN, &token)
    }

    fn origin(&self) -> Option<Url> {
        match &self.base {
            Some(base) => Some(base.clone()),
            None => self.usual(),
        }
    }

    fn is_file(&self) -> bool {
        self.base.as_ref().is_some_and(|base| base.scheme() == "file")
    }

    fn usual(&self) -> Option<Url> {
        Url::parse(&self.with_token(self.vendor().base)).ok()
    }

    /// Returns the URL of the first page; `None` if `base` cannot be extended to a valid URL.
    pub fn first(&self) -> Option<Url> {
        let origin = self.origin()?;
        let path = self.with_token(self.vendor().path);
        let is_document = FILES.iter().any(|end| origin.path().ends_with(end));
        match path.is_empty() || is_document {
            true => Some(origin),
            false => Url::parse(&format!("{}{path}", origin.as_str().trim_end_matches('/'))).ok(),
        }
    }

    /// Reads the answer that this page has given.
    pub fn read(&self, bytes: &[u8], page: &Url) -> Result<Page, BoardError> {
        // The postings of a board that was saved to a file still are where the vendor has them.
        let base = self.origin().filter(|base| base.scheme() != "file").or_else(|| self.usual());
        let site = Site { base: base.as_ref().unwrap_or(page), page };
        (self.vendor().read)(bytes, &site)
    }

    /// Returns the URL of the page after this one; `None` if this is the last. `before` is the
    /// number of entries on earlier pages.
    pub fn next(&self, page: &Page, before: usize) -> Option<Url> {
        let name = self.vendor().skips.filter(|_| !self.is_file())?;
        let read = before + page.entries;
        let more = match page.total {
            Some(total) => page.entries > 0 && read < total,
            None => page.entries >= PAGE,
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

    /// Returns whether the board's postings have details besides the list.
    pub fn has_details(&self) -> bool {
        self.vendor().detail.is_some() && !self.is_file()
    }

    /// Returns the URL of a posting's details; `None` for vendors whose lists already have them.
    pub fn detail(&self, posting: &Posting) -> Option<Url> {
        let path = self.with_token(self.vendor().detail.as_ref()?.path);
        let mut url = self.origin().filter(|_| !self.is_file())?;
        let segments = path.split('/').filter(|segment| !segment.is_empty());
        let filled =
            segments.map(|segment| if segment == ID { &posting.external_id } else { segment });
        url.path_segments_mut().ok()?.pop_if_empty().extend(filled);
        Some(url)
    }

    /// Completes a posting from its details.
    pub fn complete(&self, posting: Posting, bytes: &[u8]) -> Result<Posting, BoardError> {
        match &self.vendor().detail {
            Some(detail) => (detail.complete)(posting, bytes),
            None => Ok(posting),
        }
    }

    /// Returns a warning if an empty board may be an unknown company.
    pub fn doubt(&self, page: &Page) -> Option<&'static str> {
        let silent = self.ats == Ats::Smartrecruiters && page.total == Some(0);
        silent.then_some("nothing is listed: this vendor also answers so for unknown companies")
    }
}

fn json<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, BoardError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| BoardError::Malformed(error.to_string()))
}

/// Reads the entries of an answer. `posting` returns `None` for an entry that is not public.
fn page<T: DeserializeOwned>(
    entries: Vec<&RawValue>,
    posting: impl Fn(T) -> Result<Option<Posting>, &'static str>,
) -> Page {
    let count = entries.len();
    let (postings, refused) = entries::each(entries, ("entry", &entries::BY_ID), posting);
    Page { postings, refused, entries: count, ..Page::default() }
}

/// Completes a posting. The error says which is missing: the identifier, the title, or a valid URL.
fn opened(mut posting: Posting, description: Description) -> Result<Option<Posting>, &'static str> {
    posting.title = crate::text::line(&posting.title, MOST_TITLE);
    posting.description_html = description.html.into();
    posting.description_text = description.text.into();
    posting.locations.retain(|location| !location.label.is_empty());
    posting.locations.truncate(MOST_LOCATIONS);
    if let Some(first) = posting.locations.first_mut() {
        first.primary = true;
    }
    if posting.external_id.is_empty() {
        return Err("it has no identifier");
    }
    if posting.external_id.len() > MOST_IDENTIFIER || posting.external_id.contains(char::is_control)
    {
        return Err("its identifier is too long or has control characters");
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

/// Joins the parts of an address that are there.
fn joined(parts: &[Option<&str>]) -> String {
    let parts = parts.iter().flatten().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns the place with these parts; its label is `name`, or else the parts.
fn address(
    name: Option<&str>,
    city: Option<&str>,
    region: Option<&str>,
    country: Option<&str>,
) -> Location {
    let name = name.filter(|name| !name.trim().is_empty()).map(str::to_owned);
    Location {
        city: label(city),
        region: label(region),
        country: label(country),
        ..place(&name.unwrap_or_else(|| joined(&[city, region, country])))
    }
}

/// Returns sections of a description as one text in HTML, each with its heading.
fn sections<'a>(sections: impl Iterator<Item = (Option<&'a str>, &'a str)>) -> String {
    let section = |(heading, html): (Option<&str>, &str)| match crate::text::some_line(heading, 200)
    {
        Some(heading) => format!("<h3>{heading}</h3>{html}"),
        None => html.to_owned(),
    };
    sections.map(section).collect()
}

/// Returns the address of a posting's page below a board's address.
fn page_of(base: &Url, segments: &[&str]) -> String {
    let mut url = base.clone();
    url.set_query(None);
    match url.path_segments_mut() {
        Ok(mut path) => path.pop_if_empty().extend(segments),
        Err(()) => return String::new(),
    };
    first_link(&[Some(url.as_str())])
}

fn place(text: &str) -> Location {
    Location { label: crate::text::line(text, MOST_PLACE), ..Location::default() }
}

/// Reads an identifier, which is a text or a number; any other value becomes an empty text.
fn identifier(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}
