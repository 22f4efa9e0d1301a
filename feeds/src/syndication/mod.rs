//! News, filings and posts, as RSS, Atom or JSON Feed, or as EDGAR, Mastodon and Bluesky list them. The
//! format is told by the answer itself.

mod filings;
mod item;
mod posts;

pub use filings::{data_of, offering};
pub use item::{Item, Offering};

use crate::{
    claims,
    entries::Refused,
    text::{description, line, link, some_line},
    timestamp::Timestamp,
};
use feed_rs::model::Entry;
use serde::{Deserialize, de::IgnoredAny};
use std::borrow::Cow;

/// How many tags of an entry are kept.
const MOST_TAGS: usize = 20;
/// How many entries of one feed are kept, the newest first.
const MOST: usize = 500;
/// The outermost element of RSS without a version, and within how many bytes it is looked for.
const RSS: &[u8] = b"<rss>";
const MOST_HEAD: usize = 2_048;

/// The fields by which lists in JSON are told from a JSON Feed.
#[derive(Deserialize)]
struct Head {
    /// Bluesky's.
    feed: Option<IgnoredAny>,
    /// EDGAR's.
    filings: Option<IgnoredAny>,
}

/// What was read of a feed.
#[derive(Debug)]
pub struct Answer {
    pub items: Vec<Item>,
    pub refused: Vec<Refused>,
    pub reach: Reach,
}

/// How far back an answer reaches: what is newer and not in it is not there any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Unknown,
    Since(Timestamp),
    /// There are no entries, or none that may be shown.
    Nothing,
}

/// Returns the entries of a feed, and those that could not be read.
pub fn read(bytes: &[u8], url: &str) -> Result<Answer, String> {
    let whole = |(items, refused): (Vec<Item>, Vec<Refused>)| {
        let oldest = items.iter().filter_map(|item| item.published_at).min();
        let reach = match items.is_empty() && refused.is_empty() {
            true => Reach::Nothing,
            false => oldest.map_or(Reach::Unknown, Reach::Since),
        };
        Answer { items, refused, reach }
    };
    let mut answer = match bytes.trim_ascii_start().first() {
        Some(b'[') => posts::mastodon(bytes)?,
        Some(b'{') => match serde_json::from_slice(bytes) {
            Ok(Head { feed: Some(_), .. }) => posts::bluesky(bytes)?,
            Ok(Head { filings: Some(_), .. }) => whole(filings::submissions(bytes)?),
            Ok(Head { feed: None, filings: None }) | Err(_) => whole(feed(bytes, url)?),
        },
        _ if filings::is_feed(bytes) => whole(filings::feed(bytes)?),
        _ => whole(feed(bytes, url)?),
    };
    let items = &mut answer.items;
    items.sort_by_key(|item: &Item| std::cmp::Reverse(item.published_at));
    items.truncate(MOST);
    Ok(answer)
}

fn feed(bytes: &[u8], url: &str) -> Result<(Vec<Item>, Vec<Refused>), String> {
    let parser = feed_rs::parser::Builder::new().base_uri(Some(url)).build();
    let bytes = with_version(bytes);
    let feed = parser.parse(&*bytes).map_err(|error| error.to_string())?;
    let (mut items, mut refused) = (Vec::new(), Vec::new());
    for (position, entry) in feed.entries.into_iter().enumerate() {
        match item(entry) {
            Some(item) => items.push(item),
            None => {
                let reason = "it has neither a title nor a text";
                refused.push(Refused::new(format!("entry {position}"), None, reason));
            }
        }
    }
    Ok((items, refused))
}

/// Adds the version to RSS without one, which the parser would not know as RSS.
fn with_version(bytes: &[u8]) -> Cow<'_, [u8]> {
    let head = bytes.get(..MOST_HEAD).unwrap_or(bytes);
    match head.windows(RSS.len()).position(|part| part == RSS) {
        Some(at) => {
            let (before, rest) = bytes.split_at(at);
            let rest = rest.get(RSS.len()..).unwrap_or_default();
            Cow::Owned([before, br#"<rss version="2.0">"#, rest].concat())
        }
        None => Cow::Borrowed(bytes),
    }
}

fn item(entry: Entry) -> Option<Item> {
    let body = entry.content.and_then(|content| content.body);
    let html = body.or_else(|| entry.summary.map(|summary| summary.content)).unwrap_or_default();
    let text = description(&html, 2_000).text;
    // A post often has no title.
    let filed = entry.title.as_ref().and_then(|title| claims::head(&title.content));
    let form = entry.categories.iter().find(|category| {
        category.label.as_deref().is_some_and(|label| label.eq_ignore_ascii_case("form type"))
    });
    let form = filed
        .as_ref()
        .map(|head| head.form.clone())
        .or_else(|| form.and_then(|form| some_line(Some(&form.term), 20)));
    let title =
        entry.title.map(|title| line(&title.content, 300)).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| line(&text, 120));
    let instant = entry.published.or(entry.updated);
    let item = Item {
        key: entry.id,
        url: entry.links.iter().find_map(|address| link(&address.href)),
        published_at: instant.map(|instant| Timestamp::from_millis(instant.timestamp_millis())),
        author: entry.authors.first().and_then(|author| some_line(Some(&author.name), 120)),
        tags: entry
            .categories
            .iter()
            .take(MOST_TAGS)
            .filter_map(|category| some_line(Some(&category.term), 60))
            .collect(),
        form,
        cik: filed.map(|head| head.cik),
        title,
        text,
        ..Item::default()
    };
    (!item.title.is_empty()).then_some(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_formats_are_read_alike() {
        let rss = r#"<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>Press</title><link>https://press.example</link><description>d</description>
          <item><title>Copperleaf raises $12 million</title><link>https://press.example/1</link><guid>1</guid><category>funding</category>
          <pubDate>Sat, 21 Nov 2026 18:30:00 GMT</pubDate><description>&lt;p&gt;Led by Harbour.&lt;/p&gt;&lt;script&gt;x()&lt;/script&gt;</description></item></channel></rss>"#;
        let atom = r#"<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Press</title><id>f</id><updated>2026-11-21T18:30:00Z</updated>
          <entry><id>1</id><title>Copperleaf raises $12 million</title><link href="https://press.example/1"/><category term="funding"/>
          <published>2026-11-21T18:30:00Z</published><updated>2026-11-21T18:30:00Z</updated><content type="html">&lt;p&gt;Led by Harbour.&lt;/p&gt;</content></entry></feed>"#;
        let json = r#"{"version":"https://jsonfeed.org/version/1.1","title":"Press","home_page_url":"https://press.example","items":[
          {"id":"1","url":"https://press.example/1","title":"Copperleaf raises $12 million","content_html":"<p>Led by Harbour.</p>",
           "date_published":"2026-11-21T18:30:00Z","tags":["funding"]}]}"#;
        for text in [rss, atom, json] {
            let Answer { items, refused, .. } =
                read(text.as_bytes(), "https://press.example/feed").unwrap();
            assert_eq!((items.len(), refused.len()), (1, 0), "{text}");
            let item = &items[0];
            assert_eq!(item.title, "Copperleaf raises $12 million");
            assert_eq!(item.text, "Led by Harbour.");
            assert_eq!(item.url.as_deref(), Some("https://press.example/1"));
            assert_eq!(item.published_at.unwrap().to_string(), "2026-11-21T18:30:00.000Z");
            assert_eq!(item.tags, ["funding"]);
        }
    }

    #[test]
    fn the_encoding_a_feed_declares_is_followed() {
        let mut bytes = br#"<?xml version="1.0" encoding="ISO-8859-1"?><rss version="2.0"><channel><title>Press</title><link>https://press.example</link><description>d</description><item><guid>1</guid><title>Caf"#.to_vec();
        bytes.push(0xe9);
        bytes.extend_from_slice(b" opens</title></item></channel></rss>");
        let Answer { items, .. } = read(&bytes, "https://press.example/feed").unwrap();
        assert_eq!(items[0].title, "Café opens");
        assert_eq!(items[0].url, None);
    }

    #[test]
    fn text_that_is_no_feed_is_refused() {
        for text in [
            "",
            "<html><body>Sign in</body></html>",
            "{}",
            "<rss><channel><item>",
            "<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>",
        ] {
            let read = read(text.as_bytes(), "https://press.example/feed");
            assert!(read.is_err() || read.is_ok_and(|answer| answer.items.is_empty()), "{text}");
        }
    }

    #[test]
    fn a_list_says_how_far_back_it_reaches_and_whether_it_shows_anything() {
        let status = |id: u32, day: u32, hidden: bool| {
            format!(
                r#"{{"id":"{id}","created_at":"2026-11-{day}T10:00:00Z","visibility":"public","content":"<p>Words</p>","account":{{"noindex":{hidden}}}}}"#
            )
        };
        let reach = |text: String| {
            let answer = read(text.as_bytes(), "https://social.example/").unwrap();
            (answer.items.len(), answer.reach)
        };
        let since = Reach::Since("2026-11-11T10:00:00Z".parse().unwrap());
        assert_eq!(
            reach(format!("[{},{}]", status(2, 12, false), status(1, 11, false))),
            (2, since)
        );
        assert_eq!(
            reach(format!("[{},{}]", status(2, 12, true), status(1, 11, true))),
            (0, Reach::Nothing)
        );
        assert_eq!(reach("[]".to_owned()), (0, Reach::Nothing));
        assert_eq!(reach("[{\"id\":[]}]".to_owned()).0, 0);
        let post = |label: &str| {
            format!(
                r#"{{"feed":[{{"post":{{"uri":"at://did:plc:abc/app.bsky.feed.post/3a","author":{{"did":"did:plc:abc","handle":"a.example","labels":[{{"val":"{label}"}}]}},
                "record":{{"createdAt":"2026-11-11T10:00:00Z","text":"Words"}}}}}}]}}"#
            )
        };
        assert_eq!(reach(post("other")), (1, since));
        assert_eq!(reach(post("!no-unauthenticated")), (0, Reach::Nothing));
    }
}
