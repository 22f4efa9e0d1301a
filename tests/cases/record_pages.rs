//! The pages about records of the feeds, their sitemap, and what happens to them after an objection.

use crate::harness::{
    Host, Options, command, component,
    feeds::{Answer, PUBLIC_URL, city, edition, publish, with_meta},
    publishing::publish_ok,
};
use portolan_feeds::{
    document::{Documents, INDEX, etag},
    publish::documents,
    record::FEEDS,
};
use reqwest::Method;
use scraper::{Html, Selector};
use serde_json::{Value, json};
use std::{collections::BTreeSet, path::Path, process::Command};
use tempfile::TempDir;

/// The folder of the pages of each feed, its document, the field with its records, and the type in schema.org.
const KINDS: [(&str, &str, &str, &str); 4] = [
    ("companies", "sf-live-targets.json", "features", "Organization"),
    ("roles", "sf-job-roles.json", "items", "JobPosting"),
    ("people", "sf-people.json", "items", "Person"),
    ("events", "sf-events.json", "items", "NewsArticle"),
];
const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
/// The pages about the host, beside those about its capabilities.
const OF_HOST: &str = "/ /status /docs /docs/connect /docs/errors /docs/guides/api /docs/guides/mcp /docs/guides/feeds /docs/guides/map /docs/guides/plugin-guide /docs/guides/operations /docs/guides/glossary";

fn records(file: &str, field: &str) -> Vec<Value> {
    let files = documents(&city().join("feeds")).unwrap();
    let mut document: Value = serde_json::from_slice(&files[file]).unwrap();
    serde_json::from_value(document[field].take()).unwrap()
}

/// Returns the first records of each kind with the paths of their pages.
fn some_pages() -> Vec<(String, Value, &'static str)> {
    let each = KINDS.iter().flat_map(|(folder, file, field, kind)| {
        let some = records(file, field).into_iter().take(3);
        some.map(move |record| {
            (format!("/map/{folder}/{}", record["id"].as_str().unwrap()), record, *kind)
        })
    });
    each.collect()
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

fn attributes(html: &Html, selector: &str, name: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let found = html.select(&selector).filter_map(|element| element.attr(name));
    found.map(str::to_owned).collect()
}

fn json_ld(html: &Html) -> Value {
    let scripts: Vec<String> = html
        .select(&Selector::parse("script:not([src])").unwrap())
        .map(|script| script.inner_html())
        .collect();
    assert_eq!(scripts.len(), 1, "{scripts:?}");
    serde_json::from_str(&scripts[0]).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_record_has_a_page_that_describes_itself() {
    let host = Host::with_city().await;
    for (path, record, kind) in some_pages() {
        let page = host.fetch(&path, &[BROWSER]).await;
        assert_eq!(page.status, 200, "{path}");
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("cache-control", "public, max-age=60"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(page.header(name), value, "{name} of {path}");
        }
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("script-src 'self'"),
            "{policy}"
        );
        let html = Html::parse_document(&text(&page));
        assert_eq!(
            attributes(&html, "link[rel=canonical]", "href"),
            [format!("{PUBLIC_URL}{path}")]
        );
        assert_eq!(attributes(&html, "html", "lang"), ["en"]);
        assert_eq!(html.select(&Selector::parse("h1").unwrap()).count(), 1, "{path}");
        assert!(!attributes(&html, "meta[name=description]", "content")[0].is_empty(), "{path}");
        assert_eq!(attributes(&html, "meta[property='og:url']", "content").len(), 1);
        // The city is invented, so search engines should not list it.
        assert_eq!(attributes(&html, "meta[name=robots]", "content"), ["noindex"]);
        let described = json_ld(&html);
        assert_eq!(
            (&described["@context"], &described["@type"]),
            (&json!("https://schema.org"), &json!(kind))
        );

        // A link within the site leads to a page.
        let inside: BTreeSet<String> = attributes(&html, "a", "href")
            .into_iter()
            .filter(|link| link.starts_with('/') && !link.starts_with("/map/handoffs/"))
            .collect();
        assert!(inside.contains("/map/"), "{inside:?}");
        for link in inside {
            let link = link.split('#').next().unwrap();
            assert_eq!(host.fetch(link, &[BROWSER]).await.status, 200, "{link} on {path}");
        }

        // An agent gets the record.
        for (path, accept) in [(path.clone(), "application/json"), (format!("{path}.json"), "*/*")]
        {
            let got = host.fetch(&path, &[("accept", accept)]).await;
            assert_eq!(
                (got.status.as_u16(), got.header("content-type")),
                (200, "application/json")
            );
            let mut got = got.json();
            // A role has its whole description too, which the feed has in a part.
            let described = got.as_object_mut().unwrap().remove("description_text");
            assert_eq!(described.is_some(), path.starts_with("/map/roles/"), "{path}");
            assert_eq!(got, record, "{path}");
        }
        let known = [BROWSER, ("if-none-match", page.header("etag"))];
        let again = host.fetch(&path, &known).await;
        assert_eq!((again.status.as_u16(), again.bytes.len()), (304, 0), "{path}");
        let head = host.request(Method::HEAD, &path, &[BROWSER]).await;
        assert_eq!((head.status.as_u16(), head.header("etag")), (200, page.header("etag")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_says_where_the_page_of_a_record_is() {
    let host = Host::with_city().await;
    let index = host.fetch("/map/data/agent-index.json", &[]).await.json();
    let mut pages = 0;
    for entry in index["items"].as_array().unwrap() {
        let Some(template) = entry["page_template"].as_str() else { continue };
        let feed = FEEDS.iter().find(|feed| feed.id == entry["id"]).unwrap();
        let record = &records(feed.file, feed.records)[0];
        let field = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        let page =
            template.replace("{id}", &field("id")).replace("{target_id}", &field("target_id"));
        let (path, anchor) = page.split_once('#').unwrap_or((&page, ""));
        let got = host.fetch(path.strip_prefix(PUBLIC_URL).unwrap(), &[BROWSER]).await;
        assert_eq!(got.status, 200, "{page}");
        assert!(anchor.is_empty() || text(&got).contains(&format!("id=\"{anchor}\"")), "{page}");
        pages += 1;
    }
    assert_eq!(pages, 5);
}

fn locations(xml: &str) -> Vec<&str> {
    xml.split("<loc>").skip(1).map(|part| part.split("</loc>").next().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_feeds_the_sitemap_lists_the_pages_of_the_host() {
    let public_url = format!("public_url = \"{PUBLIC_URL}\"\n");
    let host = Host::start(Options::with(&["ledger"]).configuration(&public_url)).await;
    let site = text(&host.fetch("/sitemap.xml?part=site", &[]).await).replace(PUBLIC_URL, "");
    assert_eq!(locations(&site).join(" "), format!("{OF_HOST} /docs/ledger"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sitemap_lists_every_page_once() {
    let host = Host::with_city().await;
    let robots = text(&host.fetch("/robots.txt", &[]).await);
    let sitemap = format!("Sitemap: {PUBLIC_URL}/sitemap.xml\n");
    assert!(robots.contains(&sitemap) && !robots.contains("Disallow: /map\n"), "{robots}");
    let index = host.fetch("/sitemap.xml", &[]).await;
    assert_eq!(index.header("content-type"), "application/xml; charset=utf-8");
    let mut listed = BTreeSet::new();
    for part in locations(&text(&index)) {
        let part = host.fetch(part.strip_prefix(PUBLIC_URL).unwrap(), &[]).await;
        assert_eq!(part.status, 200);
        for page in locations(&text(&part)) {
            assert!(listed.insert(page.to_owned()), "{page} is listed twice");
        }
    }
    let pages = format!("{OF_HOST} /map/ /map/objection");
    let mut expected: BTreeSet<_> = pages.split(' ').map(str::to_owned).collect();
    for (folder, file, field, _) in KINDS {
        let ids = records(file, field);
        expected
            .extend(ids.iter().map(|one| format!("/map/{folder}/{}", one["id"].as_str().unwrap())));
    }
    let expected: BTreeSet<String> =
        expected.into_iter().map(|path| format!("{PUBLIC_URL}{path}")).collect();
    assert_eq!(listed, expected);
    assert_eq!(host.fetch("/sitemap.xml?part=roles-99", &[]).await.status, 404);
    let known = [("if-none-match", index.header("etag"))];
    assert_eq!(host.fetch("/sitemap.xml", &known).await.status, 304);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_a_page_begins_a_handoff() {
    let configuration = format!("feeds_dir = {:?}", city().join("feeds"));
    let capabilities = ["handoff_resolve", "applications", "reports", "agent_listings"];
    let host = Host::start(Options::with(&capabilities).configuration(&configuration)).await;
    let role = &records("sf-job-roles.json", "items")[0];
    let page =
        host.fetch(&format!("/map/roles/{}", role["id"].as_str().unwrap()), &[BROWSER]).await;
    let html = Html::parse_document(&text(&page));
    let links = attributes(&html, "a[href^='/map/handoffs/']", "href");
    assert_eq!(links.len(), role["handoff_ids"].as_array().unwrap().len());
    // Both follow the redirect: an agent to the draft, a person to the page that shows it.
    let draft = host.fetch(&links[0], &[("accept", "application/json")]).await;
    assert_eq!(draft.status, 200, "{}", text(&draft));
    assert_eq!(draft.json()["draft"]["input"]["role_id"], role["id"]);
    assert!(text(&host.fetch(&links[0], &[BROWSER]).await).contains("What happens next"));
    let unfit = host.fetch(&links[0].replace("rol_", "tgt_"), &[BROWSER]).await;
    assert_eq!(unfit.status, 404);
    let refused = host.fetch("/map/handoffs/hof_1/rol_1", &[("accept", "application/json")]).await;
    assert_eq!(refused.json()["error_code"], "handoff_unknown");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_has_links_of_handoffs_as_soon_as_they_can_be_resolved() {
    let host = Host::with_city().await;
    let role = &records("sf-job-roles.json", "items")[0];
    let path = format!("/map/roles/{}", role["id"].as_str().unwrap());
    let links = async || {
        let html = Html::parse_document(&text(&host.fetch(&path, &[BROWSER]).await));
        attributes(&html, "a[href^='/map/handoffs/']", "href").len()
    };
    assert_eq!(links().await, 0);
    publish_ok(&host, "handoff_resolve.wasm", component("handoff_resolve")).await;
    assert_eq!(links().await, role["handoff_ids"].as_array().unwrap().len());
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_sent_to_a_contact_that_is_not_there() {
    let start = async |configuration: &str| {
        let host = Host::start(Host::serving(configuration)).await;
        // Invented people do not object.
        publish(&host.folder.path().join("data/feeds"), &with_meta("synthetic", &json!(false)), 1);
        host.wait_for_feeds("publication", |status| !status["in_force"].is_null()).await;
        host
    };
    let host = start("").await;
    assert_eq!(host.feeds_status().await["in_force"]["contact_missing"], true);
    assert!(host.log().contains("provider.contact"), "{}", host.log());
    let page = text(&host.fetch("/map/objection", &[BROWSER]).await);
    assert!(!page.contains("llms.txt") && page.contains("has not named"), "{page}");
    let catalog = host.fetch("/map/data/catalog.jsonld", &[]).await.json();
    assert_eq!(catalog["dcat:dataset"][0]["dcat:contactPoint"]["vcard:hasURL"], Value::Null);
    let description = host.fetch("/map/data/openapi.json", &[]).await.json();
    assert_eq!(description["info"]["contact"]["url"], Value::Null);

    let provider = "[provider]\ncontact = \"https://example.org/contact\"\n";
    let host = start(provider).await;
    assert_eq!(host.feeds_status().await["in_force"]["contact_missing"], Value::Null);
    let page = text(&host.fetch("/map/objection", &[BROWSER]).await);
    assert!(page.contains("href=\"https://example.org/contact\""), "{page}");
    let catalog = host.fetch("/map/data/catalog.jsonld", &[]).await.json();
    let contact = &catalog["dcat:dataset"][0]["dcat:contactPoint"]["vcard:hasURL"]["@id"];
    assert_eq!(contact, "https://example.org/contact");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_is_not_there_is_answered_with_a_way_to_the_map() {
    let empty = Host::start(Options::default()).await;
    assert_eq!(empty.fetch("/map/companies/tgt_1", &[BROWSER]).await.status, 503);
    assert_eq!(empty.fetch("/map/objection", &[BROWSER]).await.status, 200);
    let host = Host::with_city().await;
    for path in [
        "/map/companies/tgt_0000000000000000000000000A",
        "/map/people/tgt_0000000000000000000000000A",
        "/map/roles/%2e%2e%2fjobs",
        "/map/events/%ff",
    ] {
        let page = host.fetch(path, &[BROWSER]).await;
        assert_eq!(page.status, 404, "{path}");
        assert!(text(&page).contains("<a href=\"/map/\">"), "{path}");
    }
    host.get("/map/roles/rol_1.json").await.assert_refused(404, "not_found");
}

/// Copies the published feeds of the city, so that they can be changed.
fn copied_city() -> TempDir {
    let folder = TempDir::new().unwrap();
    let status = Command::new("cp")
        .arg("-a")
        .args([city().join("feeds"), folder.path().to_owned()])
        .status()
        .unwrap();
    assert!(status.success());
    folder
}

fn object(folder: &Path, arguments: &[&str]) {
    let status = command(folder)
        .args(["feeds", "object", "--folder", "feeds", "--reason", "asked by letter"])
        .args(arguments)
        .status()
        .unwrap();
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    assert!(status.success(), "{log}");
}

/// Returns the path of a snapshot of the people that has this name, and the cursor of its publication.
async fn a_snapshot_with(host: &Host, name: &str) -> (String, String) {
    let list = host.fetch("/map/data/snapshots.json", &[]).await.json();
    let day = list["items"][0]["path"].as_str().unwrap().to_owned();
    let people = format!("{day}sf-people.json");
    assert!(text(&host.fetch(&people, &[]).await).contains(name), "{list}");
    let index = host.fetch(&format!("{day}{INDEX}"), &[]).await.json();
    (people, index["changes"]["cursor"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_objection_acts_at_once_on_feeds_pages_search_and_sitemap() {
    let folder = copied_city();
    let configuration = format!("feeds_dir = {:?}", folder.path().join("feeds"));
    let capabilities = ["map_search"];
    let serving = Options::with(&capabilities)
        .configuration(&format!("public_url = \"{PUBLIC_URL}\"\n{configuration}"));
    let host = Host::start(serving).await;
    let person = records("sf-people.json", "items").remove(0);
    let (name, id) = (person["full_name"].as_str().unwrap(), person["id"].as_str().unwrap());
    let company = records("sf-live-targets.json", "features").remove(0);
    let website = company["properties"]["website"].as_str().unwrap();
    let paths = [
        format!("/map/people/{id}"),
        format!("/map/companies/{}", company["id"].as_str().unwrap()),
    ];
    for path in &paths {
        assert_eq!(host.fetch(path, &[BROWSER]).await.status, 200);
    }
    let objection = format!("/map/objection?record={id}");
    let asked = text(&host.fetch(&objection, &[BROWSER]).await);
    assert!(asked.contains("personal_data") && asked.contains(name), "{asked}");
    // The surfaces that have the person, and in which the person is looked for afterwards.
    let agent = host.agent().await;
    let search = json!({ "q": name, "types": ["person"] });
    let found = agent.result("map_search", search.clone()).await;
    assert!(found["items"].to_string().contains(name), "{found:#}");
    let (snapshot, cursor) = a_snapshot_with(&host, name).await;
    let since = format!("/map/data/changes.json?since={cursor}");
    let history = format!("/map/data/changes.json?id={id}");
    for (path, wanted) in [
        ("/map/data/sf-people.json", name),
        ("/map/data/sf-people.csv", name),
        ("/map/data/sf-people.ndjson", name),
        ("/sitemap.xml?part=people-1", id),
        (&snapshot, name),
    ] {
        let got = host.fetch(path, &[]).await;
        assert_eq!(got.status, 200, "{path}");
        assert!(text(&got).contains(wanted), "{path}");
    }
    for path in [&since, &history] {
        assert_eq!(host.fetch(path, &[]).await.status, 200, "{path}");
    }

    object(folder.path(), &["--person", &name.to_uppercase()]);
    object(folder.path(), &["--company", website]);
    let started = std::time::Instant::now();
    while host.fetch(&paths[1], &[BROWSER]).await.status != 410 {
        assert!(started.elapsed() < crate::harness::PATIENCE);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let gone = host.fetch(&paths[0], &[BROWSER]).await;
    assert_eq!(gone.status, 410);
    assert!(!text(&gone).contains(name) && text(&gone).contains("<a href=\"/map/\">"));
    host.get(&format!("{}.json", paths[1])).await.assert_refused(410, "resource_gone");
    for feed in FEEDS {
        let file = feed.file.trim_end_matches(".json");
        for form in ["json", "csv", "ndjson"] {
            let document = host.fetch(&format!("/map/data/{file}.{form}"), &[]).await;
            assert_eq!(document.status, 200, "{}", feed.file);
            assert!(!text(&document).contains(name), "{}", feed.file);
            assert!(!text(&document).contains(company["id"].as_str().unwrap()), "{}", feed.file);
        }
    }
    let found = agent.result("map_search", search).await;
    let found = found["items"].as_array().unwrap();
    assert!(found.iter().all(|item| !item.to_string().contains(name)), "{found:#?}");
    let sitemap = host.fetch("/sitemap.xml?part=people-1", &[]).await;
    assert_eq!(sitemap.status, 200);
    assert!(!text(&sitemap).contains(id));
    // Earlier days, and earlier changes, are gone. Only the removal of the id is left of the person.
    assert_eq!(host.fetch(&snapshot, &[]).await.status, 404);
    assert_eq!(host.fetch(&since, &[]).await.status, 410);
    let changes = host.fetch(&history, &[]).await;
    assert_eq!(changes.status, 200);
    let changes = changes.json()["changes"].take();
    let ops: Vec<&Value> = changes.as_array().unwrap().iter().map(|change| &change["op"]).collect();
    assert!(!changes.to_string().contains(name));
    assert!(ops.iter().all(|op| *op == "removed"), "{changes:#}");
    // The publication before the objection is deleted.
    assert_eq!(std::fs::read_dir(folder.path().join("feeds/versions")).unwrap().count(), 1);
}

/// Puts a text into the first target, in place of its name.
fn with_name(name: &str) -> Documents {
    let mut files = edition("CC0-1.0");
    let mut targets: Value = serde_json::from_slice(&files["sf-live-targets.json"]).unwrap();
    targets["features"][0]["properties"]["name"] = name.into();
    files.insert("sf-live-targets.json".to_owned(), targets.to_string().into_bytes());
    let mut index: Value = serde_json::from_slice(&files[INDEX]).unwrap();
    index["items"][0]["etag"] = etag(&files["sf-live-targets.json"]).into();
    files.insert(INDEX.to_owned(), index.to_string().into_bytes());
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_name_stays_text() {
    let name = "</script></title><script>alert(1)</script>\u{2028}\" onload=\"x";
    let host = Host::start(Host::serving("")).await;
    let files = with_name(name);
    let targets: Value = serde_json::from_slice(&files["sf-live-targets.json"]).unwrap();
    publish(&host.folder.path().join("data/feeds"), &files, 1);
    host.wait_for_feeds("publication", |status| !status["in_force"].is_null()).await;
    let path = format!("/map/companies/{}", targets["features"][0]["id"].as_str().unwrap());
    let page = text(&host.fetch(&path, &[BROWSER]).await);
    let html = Html::parse_document(&page);
    assert_eq!(json_ld(&html)["name"], name);
    assert!(html.select(&Selector::parse("[onload]").unwrap()).next().is_none());
    let title = html.select(&Selector::parse("h1").unwrap()).next().unwrap();
    assert_eq!(title.text().collect::<String>(), name);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_of_data_names_every_feed_with_its_licence() {
    let host = Host::with_city().await;
    let got = host.fetch("/map/data/catalog.jsonld", &[]).await;
    assert_eq!(got.header("content-type"), "application/ld+json");
    let catalog = got.json();
    assert_eq!(catalog["@type"], "dcat:Catalog");
    let datasets = catalog["dcat:dataset"].as_array().unwrap();
    assert_eq!(datasets.len(), FEEDS.len());
    for dataset in datasets {
        for field in
            ["dct:title", "dct:description", "dct:publisher", "dct:license", "dcat:contactPoint"]
        {
            assert!(dataset[field].is_object(), "{field} of {dataset:#}");
        }
        let distribution = &dataset["dcat:distribution"][0];
        let url = distribution["dcat:downloadURL"]["@id"].as_str().unwrap();
        let feed = host.fetch(url.strip_prefix(PUBLIC_URL).unwrap(), &[]).await;
        assert_eq!(distribution["dcat:byteSize"]["@value"], feed.bytes.len().to_string());
    }
    let manifest = host.fetch("/.well-known/agent.json", &[]).await.json();
    assert_eq!(manifest["data_catalog_url"], format!("{PUBLIC_URL}/map/data/catalog.jsonld"));
}
