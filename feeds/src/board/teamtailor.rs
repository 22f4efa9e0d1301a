//! Reads Teamtailor's boards: RSS with the vendor's own elements (`jobs.rss`), or a JSON Feed in which each
//! item has a `JobPosting` (`jobs.json`).

use super::{
    BoardError, MOST_TEXT, Page, Posting, Site, Vendor, address, first_link, job_posting, json,
    label, opened,
};
use crate::{
    entries,
    record::{Location, WorkplaceType},
    text::{description, html_of_escaped},
    xml::{self, Element},
};
use serde::Deserialize;
use serde_json::Value;

pub(super) const VENDOR: Vendor = Vendor {
    base: "https://{token}.teamtailor.com",
    path: "/jobs.rss",
    read,
    skips: None,
    detail: None,
};

#[derive(Deserialize)]
struct Feed {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    id: Option<String>,
    url: Option<String>,
    #[serde(default, rename = "_jobposting")]
    posting: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    content_html: String,
}

fn read(bytes: &[u8], site: &Site<'_>) -> Result<Page, BoardError> {
    if bytes.trim_ascii_start().starts_with(b"{") {
        return read_json(bytes, site);
    }
    let document = xml::parse(bytes).map_err(BoardError::Xml)?;
    let channel = document.root().at(&["channel"]);
    let channel = channel.ok_or_else(|| BoardError::Xml("it has no channel".to_owned()))?;
    let items = channel.named("item").map(|item| {
        let id = item.text_at(&["guid"]).map(str::to_owned);
        (id, posting(item).map_err(str::to_owned))
    });
    let (postings, refused) = entries::sorted(items, "item");
    let entries = channel.named("item").count();
    Ok(Page { postings, refused, entries, ..Page::default() })
}

fn posting(item: Element<'_>) -> Result<Option<Posting>, &'static str> {
    let text = |name: &str| item.text_at(&[name]);
    let url = first_link(&[text("link")]);
    let places = item.named("locations").flat_map(|all| all.named("location"));
    let posting = Posting {
        external_id: text("guid").or_else(|| text("link")).unwrap_or_default().to_owned(),
        title: text("title").unwrap_or_default().to_owned(),
        department: label(text("department")),
        team: label(text("role")),
        workplace_type: match text("remoteStatus") {
            Some("none" | "onsite") => WorkplaceType::OnSite,
            Some("hybrid" | "temporary") => WorkplaceType::Hybrid,
            Some("fully") => WorkplaceType::Remote,
            _ => WorkplaceType::Unspecified,
        },
        locations: places.map(located).collect(),
        date_posted: text("pubDate").and_then(|date| date.parse().ok()),
        apply_url: url.clone(),
        source_url: url,
        ..Posting::default()
    };
    let html = html_of_escaped(text("description").unwrap_or_default());
    opened(posting, description(&html, MOST_TEXT))
}

/// Returns the place without its own name and street.
fn located(place: Element<'_>) -> Location {
    let text = |name: &str| place.text_at(&[name]);
    let name =
        if text("city").is_none() && text("country").is_none() { text("name") } else { None };
    address(name, text("city"), None, text("country"))
}

fn read_json(bytes: &[u8], site: &Site<'_>) -> Result<Page, BoardError> {
    let feed: Feed = json(bytes)?;
    let entries = feed.items.len();
    let items = feed.items.into_iter().map(|item| {
        let read = match &item.posting {
            Value::Object(fields) => {
                let url = item.url.as_deref().and_then(|url| site.page.join(url).ok());
                job_posting::posting(fields, url.as_ref().unwrap_or(site.page))
            }
            _ => Err("it has no JobPosting"),
        };
        let read = read.map(|read| {
            read.map(|posting| match posting.description_text.is_empty() {
                true => {
                    let text = description(&item.content_html, MOST_TEXT);
                    Posting {
                        description_html: text.html.into(),
                        description_text: text.text.into(),
                        ..posting
                    }
                }
                false => posting,
            })
        });
        (item.id, read.map_err(str::to_owned))
    });
    let (postings, refused) = entries::sorted(items, "item");
    Ok(Page { postings, refused, entries, ..Page::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        let url = "https://copperleaf.teamtailor.com/jobs.rss".parse().unwrap();
        read(text.as_bytes(), &Site { base: &url, page: &url }).unwrap()
    }

    #[test]
    fn the_vendors_own_elements_are_read() {
        let page = page(
            r#"<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:tt="https://teamtailor.com/locations"><channel>
            <title>Copperleaf</title><item><title>Verkstadstekniker</title><description>&lt;p&gt;Bygg &amp;amp; kör.&lt;/p&gt;</description>
            <pubDate>Tue, 03 Nov 2026 10:48:06 +0100</pubDate><link>https://copperleaf.teamtailor.com/jobs/81-tekniker</link>
            <remoteStatus>none</remoteStatus><guid>0b1c</guid><tt:locations><tt:location><tt:name>Verkstan</tt:name>
            <tt:address>Gatan 1</tt:address><tt:zip>111 22</tt:zip><tt:city>Umeå</tt:city><tt:country>Sweden</tt:country></tt:location></tt:locations>
            <tt:department>Verkstad</tt:department></item><item><title>No address</title></item></channel></rss>"#,
        );
        assert_eq!((page.postings.len(), page.refused.len()), (1, 1));
        let posting = &page.postings[0];
        assert_eq!(posting.locations[0].label, "Umeå, Sweden");
        assert_eq!(posting.description_text.text(), "Bygg & kör.");
        assert_eq!(posting.workplace_type, WorkplaceType::OnSite);
        assert_eq!(posting.date_posted.unwrap().to_string(), "2026-11-03T09:48:06.000Z");
    }

    #[test]
    fn a_json_feed_with_postings_is_read_too() {
        let page = page(
            r#"{"version":"https://jsonfeed.org/version/1.1","title":"Copperleaf","items":[
            {"id":"0b1d","title":"Tekniker","url":"https://copperleaf.teamtailor.com/jobs/82-tekniker","content_html":"<p>Bygg.</p>",
             "_jobposting":{"@type":"JobPosting","title":"Tekniker","identifier":{"value":82},"datePosted":"2026-11-03T08:33:05+01:00",
             "jobLocation":[{"@type":"Place","address":{"addressLocality":"Umeå","addressCountry":"SE"}}]}},
            {"id":"0b1e","title":"None"}]}"#,
        );
        assert_eq!((page.postings.len(), page.refused.len()), (1, 1));
        let posting = &page.postings[0];
        assert_eq!(
            (posting.external_id.as_str(), posting.description_text.text().as_str()),
            ("82", "Bygg.")
        );
        assert_eq!(posting.source_url, "https://copperleaf.teamtailor.com/jobs/82-tekniker");
    }
}
