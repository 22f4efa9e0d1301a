//! Labelled sets of items: see `tests/corpora/signals/main/README.md`.

use portolan_feeds::{
    claims::{Companies, Company, Reading, head},
    record::SourceType,
    text::{description, line},
};
use serde_json::{Value, json};

/// The kind, the company and the status of a signal.
pub(super) type Signal = (String, String, String);

pub(super) struct Set {
    pub(super) slugs: Vec<String>,
    pub(super) companies: Companies,
    pub(super) items: Vec<Value>,
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Returns the set in a folder.
pub(super) fn set(folder: &str) -> Set {
    let listed: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(format!("{folder}/companies.json")).unwrap())
            .unwrap();
    let company = |listed: &Value| Company {
        names: (text(&listed["name"]).into_iter())
            .chain(listed["aliases"].as_array().into_iter().flatten().filter_map(text))
            .collect(),
        domain: text(&listed["domain"]),
        cik: text(&listed["cik"]),
        invests: listed["kind"] != "startup",
    };
    let items = std::fs::read_to_string(format!("{folder}/items.jsonl")).unwrap();
    Set {
        slugs: listed.iter().filter_map(|listed| text(&listed["slug"])).collect(),
        companies: Companies::new(listed.iter().map(company).collect()),
        items: items.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    }
}

/// Returns the path of a set of the repository.
pub(super) fn folder(name: &str) -> String {
    format!("{}/../tests/corpora/signals/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Reads an item with this function.
pub(super) fn with<T>(item: &Value, set: &Set, read: impl FnOnce(&Reading<'_>) -> T) -> T {
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    let kind = match text("source") {
        "news" => SourceType::Press,
        "filing" => SourceType::Filing,
        "social_post" => SourceType::Social,
        "job_board" => SourceType::AtsBoard,
        _ => SourceType::CompanySite,
    };
    let body = description(text("text"), 2_000).text;
    // A post often has no title.
    let title = if text("title").is_empty() { line(&body, 120) } else { line(text("title"), 300) };
    let feed = item["feed_company"].as_str();
    let filed = head(text("title"));
    read(&Reading {
        title: &title,
        text: &body,
        kind,
        own: feed.and_then(|slug| set.slugs.iter().position(|known| known == slug)),
        is_insider: false,
        url: item["url"].as_str(),
        form: filed.as_ref().map(|head| head.form.as_str()),
        cik: filed.as_ref().map(|head| head.cik.as_str()),
        sold: None,
        is_fund: false,
        year: text("published_at")[..4].parse().unwrap(),
    })
}

/// Returns the signal that the label names.
pub(super) fn wanted(item: &Value) -> Option<Signal> {
    let signal = item["signal"].as_object()?;
    let text = |name: &str| signal[name].as_str().unwrap().to_owned();
    Some((text("kind"), text("slug"), text("status")))
}

/// Returns the headlines of `tests/headlines.tsv` as items, which are about the companies of `main`.
pub(super) fn headlines() -> Vec<Value> {
    let lines = include_str!("../headlines.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(headline).collect()
}

fn headline(line: &str) -> Value {
    let parts: Vec<&str> = line.split('\t').collect();
    let (wanted, source, title) = (parts[0], parts[1], parts[2]);
    let (source, own) =
        source.split_once('@').map_or((source, None), |(source, own)| (source, Some(own)));
    let signal = wanted.split_once(':').map(|(kind, slug)| {
        let status = if slug.ends_with('?') { "lead" } else { "source_backed" };
        json!({"kind": kind, "slug": slug.trim_end_matches('?'), "status": status})
    });
    json!({
        "source": source, "feed_company": own, "title": title,
        "text": parts.get(3).copied().unwrap_or_default(),
        "url": "https://press.example/1", "published_at": "2026-05-04T09:00:00Z", "signal": signal,
    })
}
