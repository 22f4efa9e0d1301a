//! News, filings and posts, and the plan of what happens to each company's hiring and funding signals.

use super::{
    boards::VENDORS,
    chance::Chance,
    town::Organisation,
    words::{NEWS, POSTS, ROUNDS},
};
use crate::timestamp::{Timestamp, days};
use serde_json::json;
use std::fmt::Write as _;

/// The first 40 companies have a board. These ranges of positions say what happens to their hiring
/// signals; the companies before position 26 keep their open roles.
pub(super) const BACK: std::ops::Range<usize> = 26..28;
pub(super) const DISPUTED: std::ops::Range<usize> = 28..30;
pub(super) const STALE: std::ops::Range<usize> = 30..35;
pub(super) const CLOSED: std::ops::Range<usize> = 35..40;
/// Companies without a board, whose hiring is known only from posts and news.
const LEADS: std::ops::Range<usize> = 40..48;
const CORROBORATED: std::ops::Range<usize> = 48..54;
const EXPIRED: std::ops::Range<usize> = 54..59;
pub(super) const RETRACTED: std::ops::Range<usize> = 59..60;
/// Companies that raised money.
const FUNDED: std::ops::Range<usize> = 60..90;
const UNSOURCED: std::ops::Range<usize> = 60..63;
const FILED: std::ops::Range<usize> = 63..69;
const BOTH_SIDES: std::ops::Range<usize> = 69..73;
const FUNDS: usize = 130;
/// How many events and posts the feeds shall have.
pub(super) const EVENTS: usize = 250;
pub(super) const POSTED: usize = 140;

/// Returns whether a company's board has roles at a stage. At stage 0 all boards are still empty.
pub(super) fn has_roles(company: usize, stage: usize) -> bool {
    match stage {
        0 => false,
        1 => true,
        2 | 3 => !BACK.contains(&company) && !CLOSED.contains(&company),
        _ => !STALE.contains(&company) && !CLOSED.contains(&company),
    }
}

/// One entry of a feed.
struct Entry {
    key: String,
    at: Timestamp,
    title: String,
    text: String,
    url: Option<String>,
}

/// One syndication feed: its id in the file of sources, its format and its entries.
pub(super) struct Story {
    pub(super) id: String,
    /// `rss`, `atom` or `json`.
    pub(super) format: &'static str,
    /// The other lines of the feed's entry in the file of sources.
    pub(super) source: String,
    entries: Vec<Entry>,
}

impl Story {
    fn new(id: &str, format: &'static str, source: &str) -> Self {
        Self { id: id.to_owned(), format, source: source.to_owned(), entries: Vec::new() }
    }

    fn tell(&mut self, host: &str, at: Timestamp, title: String, text: String) {
        let key = format!("{}-{}", self.id, self.entries.len() + 1);
        let url = Some(format!("https://{host}.example/{key}"));
        self.entries.push(Entry { key, at, title, text, url });
    }

    /// Returns the feed's document at this time.
    pub(super) fn written(&self, now: Timestamp) -> String {
        let entries: Vec<&Entry> = self.entries.iter().filter(|entry| entry.at <= now).collect();
        match self.format {
            "json" => json_feed(&self.id, &entries),
            "atom" => atom(&self.id, &entries),
            _ => rss(&self.id, &entries),
        }
    }
}

/// Returns all feeds. `now` is the time of the last stage.
pub(super) fn stories(all: &[Organisation], seed: u64, now: Timestamp) -> Vec<Story> {
    let mut press = ["harbour-press", "bay-ledger", "tide-gazette"]
        .into_iter()
        .zip(["rss", "atom", "json"])
        .map(|(id, format)| {
            Story::new(id, format, &format!("type = \"press\"\npublisher = \"{}\"", title_case(id)))
        })
        .collect::<Vec<_>>();
    let social = |id, format, platform, author| {
        let source = format!(
            "type = \"social\"\npublisher = \"{platform}\"\nplatform = \"{platform}\"\nauthor_kind = \"{author}\""
        );
        Story::new(id, format, &source)
    };
    let mut posts = vec![
        social("square", "rss", "mastodon", "company"),
        social("sky", "json", "bluesky", "founder"),
        social("quay", "atom", "forum", "community"),
    ];
    let mut filings =
        Story::new("filings", "atom", "type = \"filing\"\npublisher = \"Register of Notices\"");
    let mut own: Vec<Story> = Vec::new();
    let mut chance = Chance::new(seed, "stories");

    for (position, company) in
        all.iter().enumerate().filter(|(position, _)| FUNDED.contains(position))
    {
        let at = now.before(days(3 + chance.below(50)));
        let (round, base) = ROUNDS.get(position % ROUNDS.len()).copied().unwrap_or_default();
        let amount = base + chance.below(base);
        let investor = all.get(FUNDS + position % 20).map_or("", |fund| fund.name.as_str());
        let title = format!("{} raises ${amount} million {round}", company.name);
        let text =
            format!("The round was led by {investor}, with participation from Gullhaven Angels.");
        if let Some(paper) = press.get_mut(position % 3) {
            paper.tell("press", at, title.clone(), text.clone());
            if UNSOURCED.contains(&position)
                && let Some(entry) = paper.entries.last_mut()
            {
                entry.url = None;
            }
        }
        if FILED.contains(&position) {
            let title = format!("Notice of exempt offering: {} Inc.", company.name);
            filings.tell(
                "notices.register",
                at.after(days(1)),
                title,
                format!("Total offering amount ${amount},000,000"),
            );
        }
        if BOTH_SIDES.contains(&position) {
            for (who, host, target) in [
                ("we", company.slug.as_str(), company.slug.as_str()),
                (
                    "they",
                    all.get(FUNDS + position % 20).map_or("", |fund| fund.slug.as_str()),
                    all.get(FUNDS + position % 20).map_or("", |fund| fund.slug.as_str()),
                ),
            ] {
                let mut story = Story::new(
                    &format!("own-{who}-{}", company.slug),
                    "rss",
                    &format!(
                        "type = \"company_site\"\npublisher = \"{target}\"\ntarget = \"{target}\""
                    ),
                );
                story.tell(host, at.after(days(1)), title.clone(), text.clone());
                own.push(story);
            }
        }
    }

    let hiring = |company: &Organisation| {
        (
            format!("{} is hiring", company.name),
            format!(
                "{} is hiring. Write to jobs@{}.example, or come by.",
                company.name, company.slug
            ),
        )
    };
    let told = |story: &mut Story, host: &str, position: usize, at: Timestamp| {
        if let Some((title, text)) = all.get(position).map(hiring) {
            story.tell(host, at, title, text);
        }
    };
    for position in LEADS {
        let at = now.before(days(2 + u64::try_from(position).unwrap_or(0) % 9));
        match (position % 2, posts.get_mut(position % 3), press.get_mut(position % 3)) {
            (0, Some(story), _) => told(story, "posts", position, at),
            (_, _, Some(story)) => told(story, "press", position, at),
            _ => {}
        }
    }
    for position in CORROBORATED {
        if let (Some(post), Some(paper)) =
            (posts.get_mut(position % 3), press.get_mut(position % 3))
        {
            told(post, "posts", position, now.before(days(12)));
            told(paper, "press", position, now.before(days(9)));
        }
    }
    for position in EXPIRED {
        if let Some(story) = posts.get_mut(position % 3) {
            told(story, "posts", position, now.before(days(61)));
        }
    }
    for position in RETRACTED.chain(0..10) {
        if let Some(story) = posts.get_mut(position % 3) {
            told(story, "posts", position, now.before(days(21)));
        }
    }

    let boards = VENDORS.len() * 8;
    let news =
        press.iter().chain(&own).chain([&filings]).map(|story| story.entries.len()).sum::<usize>();
    for number in 0..EVENTS.saturating_sub(boards + news) {
        let (title, text) = NEWS.get(number % NEWS.len()).copied().unwrap_or_default();
        let at = now.before(days(1 + chance.below(80)));
        if let (Some(company), Some(paper)) =
            (all.get((number * 7) % FUNDS), press.get_mut(number % 3))
        {
            paper.tell("press", at, title.replace("{name}", &company.name), text.to_owned());
        }
    }
    let posted = posts.iter().map(|story| story.entries.len()).sum::<usize>();
    for number in 0..POSTED.saturating_sub(posted) {
        let text = POSTS.get(number % POSTS.len()).copied().unwrap_or_default();
        let at = now.before(days(1 + chance.below(60)));
        if let (Some(company), Some(story)) =
            (all.get((number * 11) % FUNDS), posts.get_mut(number % 3))
        {
            let text = text.replace("{name}", &company.name);
            story.tell("posts", at, text.clone(), format!("{text} <script>taken()</script>"));
        }
    }
    press.into_iter().chain(posts).chain([filings]).chain(own).collect()
}

fn title_case(slug: &str) -> String {
    let words = slug.split('-').map(|word| {
        let (first, rest) = word.split_at(1);
        format!("{}{rest}", first.to_uppercase())
    });
    words.collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn rss(id: &str, entries: &[&Entry]) -> String {
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel><title>{id}</title><link>https://{id}.example/</link><description>Invented</description>\n"
    );
    for entry in entries {
        let link = entry.url.as_ref().map(|url| format!("<link>{url}</link>")).unwrap_or_default();
        let seconds =
            std::time::Duration::from_millis(u64::try_from(entry.at.as_millis()).unwrap_or(0));
        let date = httpdate::fmt_http_date(std::time::UNIX_EPOCH + seconds);
        let _infallible = writeln!(
            xml,
            "<item><title>{}</title>{link}<guid isPermaLink=\"false\">{}</guid><pubDate>{date}</pubDate><description>{}</description></item>",
            escaped(&entry.title),
            entry.key,
            escaped(&entry.text)
        );
    }
    xml.push_str("</channel></rss>\n");
    xml
}

fn atom(id: &str, entries: &[&Entry]) -> String {
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>{id}</title><id>urn:invented:{id}</id><updated>2026-01-01T00:00:00Z</updated>\n"
    );
    for entry in entries {
        let link =
            entry.url.as_ref().map(|url| format!("<link href=\"{url}\"/>")).unwrap_or_default();
        let _infallible = writeln!(
            xml,
            "<entry><title>{}</title>{link}<id>urn:invented:{}</id><published>{}</published><updated>{}</updated><content type=\"html\">{}</content></entry>",
            escaped(&entry.title),
            entry.key,
            entry.at,
            entry.at,
            escaped(&entry.text)
        );
    }
    xml.push_str("</feed>\n");
    xml
}

fn json_feed(id: &str, entries: &[&Entry]) -> String {
    let items = entries.iter().map(|entry| {
        let mut item = json!({ "id": entry.key, "title": entry.title, "content_html": entry.text, "date_published": entry.at });
        if let (Some(url), Some(fields)) = (&entry.url, item.as_object_mut()) {
            fields.insert("url".to_owned(), url.as_str().into());
        }
        item
    });
    let feed = json!({
        "version": "https://jsonfeed.org/version/1.1", "title": id, "home_page_url": format!("https://{id}.example/"),
        "items": items.collect::<Vec<_>>(),
    });
    format!("{feed}\n")
}
