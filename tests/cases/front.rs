//! The pages of the site: the first page, the reference, the stylesheet, and the pages about failures.

use crate::harness::{
    Host, Options, component,
    feeds::{Answer, OTHER_CITY, city, other_city, with_other_city},
    patched,
};
use portolan_feeds::publish::documents;
use reqwest::Method;
use scraper::{Html, Selector};
use serde_json::{Value, json};
use std::{collections::BTreeSet, process::Command};

/// The header field that Chromium sends when a person opens an address.
const BROWSER: (&str, &str) = (
    "accept",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
);
const HTML: &str = "text/html; charset=utf-8";

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

fn html(answer: &Answer) -> Html {
    Html::parse_document(&text(answer))
}

fn found(html: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    html.select(&selector).map(|element| element.text().collect()).collect()
}

fn attributes(html: &Html, selector: &str, name: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let found = html.select(&selector).filter_map(|element| element.attr(name));
    found.map(str::to_owned).collect()
}

/// Asserts that a page of the reference is safe: it may run the one script that tries actions.
fn assert_safe_to_try(page: &Answer) {
    let scripts = attributes(&html(page), "script", "src");
    if scripts.is_empty() {
        return assert_safe(page);
    }
    assert!(scripts.len() == 1 && scripts[0].starts_with("/assets/try-"), "{scripts:?}");
    let policy = page.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ] {
        assert!(policy.split("; ").any(|found| found == part), "{part}: {policy}");
    }
    for forbidden in ["script:not([src])", "style", "[style]", "[onclick]", "iframe"] {
        assert_eq!(found(&html(page), forbidden).len(), 0, "{forbidden}");
    }
}

/// Asserts that a page runs no script, loads nothing from elsewhere, is not framed, and has one heading.
fn assert_safe(page: &Answer) {
    assert_eq!(page.header("content-type"), HTML);
    assert!(page.header("vary").contains("accept"), "{:?}", page.headers);
    assert_eq!(
        page.header("content-security-policy"),
        "default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    );
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert_eq!(page.header("set-cookie"), "");
    let html = html(page);
    assert_eq!(attributes(&html, "html", "lang"), ["en"]);
    assert_eq!(found(&html, "h1").len(), 1, "{}", text(page));
    for forbidden in ["script", "style", "[style]", "[onclick]", "iframe"] {
        assert_eq!(found(&html, forbidden).len(), 0, "{forbidden}");
    }
    let loaded = attributes(&html, "link[rel=stylesheet], link[rel=icon]", "href");
    assert!(loaded.len() == 2 && loaded.iter().all(|path| path.starts_with("/assets/")));
}

/// Returns the paths of this host to which a page leads.
fn inside(page: &Answer) -> BTreeSet<String> {
    let links = attributes(&html(page), "a", "href").into_iter();
    let paths = links.filter(|link| link.starts_with('/'));
    paths.map(|link| link.split('#').next().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_page_is_what_the_client_accepts() {
    let host = Host::with(&["notes"]).await;
    for (accept, media_type) in [
        (None, "application/json"),
        (Some("*/*"), "application/json"),
        (Some("application/json"), "application/json"),
        (Some("application/json, text/html"), "application/json"),
        (Some("image/png"), "application/json"),
        (Some(BROWSER.1), HTML),
        (Some("text/html"), HTML),
        (Some("text/html, application/json;q=0.9"), HTML),
        (Some("text/plain"), "text/plain; charset=utf-8"),
        (Some("text/markdown, */*;q=0.1"), "text/markdown; charset=utf-8"),
    ] {
        let headers: Vec<_> = accept.into_iter().map(|accept| ("accept", accept)).collect();
        let got = host.fetch("/", &headers).await;
        assert_eq!(
            (got.status.as_u16(), got.header("content-type")),
            (200, media_type),
            "{accept:?}"
        );
        assert_eq!(got.header("vary"), "accept", "{accept:?}");
        let head = host.request(Method::HEAD, "/", &headers).await;
        assert_eq!((head.status.as_u16(), head.header("content-type")), (200, media_type));
        assert_eq!(head.header("content-length"), got.bytes.len().to_string(), "{accept:?}");
        assert!(head.bytes.is_empty());
    }
    let links = host.fetch("/", &[]).await;
    let known = [("if-none-match", links.header("etag"))];
    assert_eq!(host.fetch("/", &known).await.status, 304);
    let known = [BROWSER, ("if-none-match", links.header("etag"))];
    assert_eq!(host.fetch("/", &known).await.status, 200, "another form has another tag");
    let links = links.json();
    assert_eq!(links["catalog"]["capabilities"], 1);
    assert_eq!(links["cities"], json!([]));
    for (name, link) in links["links"].as_object().unwrap() {
        let path = link.as_str().unwrap().strip_prefix(&host.url).unwrap();
        let status = host.fetch(path, &[]).await.status.as_u16();
        let expected = match name.as_str() {
            "mcp" => 401,
            "register" => 405,
            _ => 200,
        };
        assert_eq!(status, expected, "{link}");
    }
    let overview = text(&host.fetch("/llms.txt", &[]).await);
    assert_eq!(text(&host.fetch("/", &[("accept", "text/markdown")]).await), overview);
    assert_eq!(host.request(Method::POST, "/", &[]).await.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_page_counts_what_is_here_and_leads_to_it() {
    let settings = with_other_city(
        &format!("feeds_dir = {:?}", city().join("feeds")),
        &other_city().join(OTHER_CITY),
    );
    let mut options = Options::with(&["notes", "ledger"]);
    options.configuration = settings;
    let host = Host::start(options).await;
    let page = host.fetch("/", &[BROWSER]).await;
    assert_safe(&page);
    let catalog = host.fetch("/v1/capabilities", &[]).await.json();
    let actions = catalog["capabilities"].as_array().unwrap().iter();
    let actions: usize = actions.map(|entry| entry["actions"].as_array().unwrap().len()).sum();
    let feeds = documents(&city().join("feeds")).unwrap();
    let records = |file: &str, field: &str| {
        let document: Value = serde_json::from_slice(&feeds[file]).unwrap();
        document[field].as_array().unwrap().len()
    };
    let shown = host.fetch("/", &[]).await.json();
    assert_eq!(shown["catalog"]["capabilities"], 2);
    assert_eq!(shown["catalog"]["actions"], actions);
    assert_eq!(shown["cities"].as_array().unwrap().len(), 2);
    assert_eq!(shown["cities"][0]["organisations"], records("sf-live-targets.json", "features"));
    assert_eq!(shown["cities"][0]["open_roles"], records("sf-job-roles.json", "items"));
    let figures: Vec<String> = found(&html(&page), ".soundings dd");
    let plain: Vec<String> = figures.iter().map(|figure| figure.replace(',', "")).collect();
    assert_eq!(plain[..2], ["2".to_owned(), actions.to_string()]);
    assert_eq!(plain[3], shown["cities"][0]["organisations"].to_string());
    assert_eq!(plain[4], shown["cities"][0]["open_roles"].to_string());
    assert_eq!(
        attributes(&html(&page), ".soundings time", "datetime")[0],
        shown["cities"][0]["published_at"]
    );
    let links = inside(&page);
    for wanted in [
        "/map/",
        "/map/oakland/",
        "/docs",
        "/llms.txt",
        "/auth.md",
        "/openapi.json",
        "/.well-known/agent.json",
        "/account",
    ] {
        assert!(links.contains(wanted), "{wanted}: {links:?}");
    }
    for link in links {
        let status = host.fetch(&link, &[BROWSER]).await.status.as_u16();
        // The page tells a person without a session how to sign in.
        let expected = if ["/account", "/approve"].contains(&&*link) { 401 } else { 200 };
        assert_eq!(status, expected, "{link}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_call_works_when_it_is_pasted() {
    let host = Host::with(&["notes"]).await;
    let page = host.fetch("/", &[BROWSER]).await;
    let call = found(&html(&page), ".command code").pop().unwrap();
    let answered = Command::new("sh").arg("-c").arg(&call).output().unwrap();
    let answer: Value = serde_json::from_slice(&answered.stdout).unwrap();
    assert_eq!(answer["count"], 1, "{call}: {answered:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_page_of_an_empty_host_leads_nowhere_that_is_not_there() {
    let host = Host::start(Options::default()).await;
    let page = host.fetch("/", &[BROWSER]).await;
    assert_safe(&page);
    assert!(text(&page).contains("No capability is loaded yet"));
    let links = inside(&page);
    assert!(!links.iter().any(|link| link.starts_with("/map/") || link.contains("agent.json")));
    for link in links {
        let status = host.fetch(&link, &[BROWSER]).await.status.as_u16();
        assert!([200, 401].contains(&status), "{link}: {status}");
    }
    assert_eq!(host.fetch("/docs", &[BROWSER]).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stylesheet_is_named_by_its_content_and_cached_for_good() {
    let host = Host::start(Options::default()).await;
    let page = html(&host.fetch("/", &[BROWSER]).await);
    for (selector, media_type) in
        [("link[rel=stylesheet]", "text/css; charset=utf-8"), ("link[rel=icon]", "image/svg+xml")]
    {
        let path = attributes(&page, selector, "href").pop().unwrap();
        let file = host.fetch(&path, &[]).await;
        assert_eq!((file.status.as_u16(), file.header("content-type")), (200, media_type));
        assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable");
        let packed = host.fetch(&path, &[("accept-encoding", "br")]).await;
        assert_eq!(packed.header("content-encoding"), "br");
        let known = [("if-none-match", file.header("etag"))];
        assert_eq!(host.fetch(&path, &known).await.status, 304);
    }
    assert_eq!(host.fetch("/assets/style-0000000000000000.css", &[]).await.status, 404);
    assert_eq!(host.request(Method::POST, "/assets/style.css", &[]).await.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_a_page_for_browsers_and_the_envelope_for_others() {
    let host = Host::with(&["notes"]).await;
    for (method, path, status, code) in [
        (Method::GET, "/nowhere", 404, "not_found"),
        (Method::GET, "/docs/nothing", 404, "unknown_capability"),
        (Method::GET, "/docs?page=2", 404, "not_found"),
        (Method::GET, "/docs?page=x", 404, "not_found"),
        (Method::GET, "/map/assets/nothing", 404, "not_found"),
        (Method::GET, "/assets/nothing", 404, "not_found"),
        (Method::GET, "/v1/capabilities/nothing/schema", 404, "unknown_capability"),
        (Method::GET, "/v1/agent-events/stream", 401, "authentication_required"),
        (Method::GET, "/mcp", 401, "authentication_required"),
        (Method::GET, "/oauth/token", 405, "method_not_allowed"),
        (Method::POST, "/map/", 405, "method_not_allowed"),
        (Method::GET, "/map/data/sf-live-targets.json", 503, "dependency_unavailable"),
    ] {
        let envelope = host.request(method.clone(), path, &[]).await;
        assert_eq!(envelope.status, status, "{path}");
        assert_eq!(envelope.json()["error_code"], code, "{path}");
        assert!(envelope.headers.get_all("vary").iter().any(|value| value == "accept"), "{path}");
        for accept in
            ["*/*", "application/json", "application/json, text/plain, */*", "text/event-stream"]
        {
            let other = host.request(method.clone(), path, &[("accept", accept)]).await;
            assert_eq!((other.status, &other.bytes), (envelope.status, &envelope.bytes), "{path}");
            assert_eq!(other.header("content-type"), "application/json");
        }
        let page =
            host.request(method.clone(), path, &[BROWSER, ("accept-encoding", "gzip")]).await;
        assert_eq!(page.status, status, "{path}");
        assert_eq!(page.header("content-encoding"), "", "{path}");
        for kept in ["www-authenticate", "retry-after", "allow", "access-control-allow-origin"] {
            assert_eq!(page.header(kept), envelope.header(kept), "{kept} of {path}");
        }
        assert!(page.header("request-id").starts_with("req_"));
        assert!(text(&page).contains(page.header("request-id")), "{path}");
        assert!(text(&page).contains(&format!("<code>{code}</code>")), "{path}");
        assert!(inside(&page).contains("/"), "{path}");
        assert_eq!(page.header("content-type"), HTML);
        assert!(!page.header("content-security-policy").contains("script-src"), "{path}");
        assert_eq!(found(&html(&page), "h1").len(), 1);
    }
    let head = host.request(Method::HEAD, "/nowhere", &[BROWSER]).await;
    assert_eq!((head.status.as_u16(), head.header("content-type")), (404, HTML));
    // The operator's address is for programs.
    let operator =
        host.operator.get(format!("{}/nowhere", host.admin_url)).header(BROWSER.0, BROWSER.1);
    assert_eq!(operator.send().await.unwrap().headers()["content-type"], "application/json");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_told_what_it_may_not_do_and_when_to_come_back() {
    let host = Host::with(&["notes"]).await;
    let agent = host.agent().await;
    let call = |accept: &'static str| {
        let url = format!("{}/v1/capabilities/notes/call", host.url);
        let body = json!({ "action": "put" });
        host.client.post(url).bearer_auth(&agent.token).header("accept", accept).json(&body).send()
    };
    let page = call("text/html").await.unwrap();
    assert_eq!(
        (page.status().as_u16(), page.headers()["content-type"].to_str().unwrap()),
        (403, HTML)
    );
    assert!(page.text().await.unwrap().contains("phone_binding_required"));
    let envelope: Value = call("*/*").await.unwrap().json().await.unwrap();
    assert_eq!(envelope["error_code"], "phone_binding_required");

    let limits = "rate_limits = \"on\"\n[limits]\nrequests_per_minute = 3\n";
    let host = Host::start(Options::default().configuration(limits)).await;
    let mut page = host.fetch("/", &[BROWSER]).await;
    for _ in 0..10 {
        page = host.fetch("/", &[BROWSER]).await;
    }
    assert_eq!(page.status, 429);
    assert!(page.header("retry-after").parse::<u64>().unwrap() > 0);
    assert!(text(&page).contains("You can try again in"), "{}", text(&page));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_finds_actions_by_plain_words() {
    let host = Host::with(&["calendar", "faq_search", "reports"]).await;
    let page = host.fetch("/docs?q=complain+about+a+scam", &[BROWSER]).await;
    assert_safe(&page);
    let links = attributes(&html(&page), "#found a", "href");
    assert_eq!(links[0], "/docs/reports#create", "{links:?}");
    let page = host.fetch("/docs?q=%3Cscript%3E+qzx", &[BROWSER]).await;
    assert_safe(&page);
    assert_eq!(attributes(&html(&page), "#found ol a", "href"), Vec::<String>::new());
    // Without words, the page is the list.
    assert!(inside(&host.fetch("/docs?q=+", &[BROWSER]).await).contains("/docs/calendar"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_describes_every_capability_and_each_of_its_calls() {
    let host = Host::with(&["notes", "ledger", "agent_credits"]).await;
    let list = host.fetch("/docs", &[BROWSER]).await;
    assert_safe(&list);
    let catalog = host.fetch("/v1/capabilities", &[]).await.json();
    for entry in catalog["capabilities"].as_array().unwrap() {
        let path = format!("/docs/{}", entry["id"].as_str().unwrap());
        assert!(inside(&list).contains(&path), "{path}");
        let page = host.fetch(&path, &[BROWSER]).await;
        assert_safe_to_try(&page);
        let parsed = html(&page);
        let ids = attributes(&parsed, "section.action", "id");
        let names: Vec<&str> = entry["actions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(ids, names, "{path}");
        let calls = found(&parsed, ".action .command code");
        assert_eq!(calls.len(), names.len());
        let all: BTreeSet<String> = attributes(&parsed, "[id]", "id").into_iter().collect();
        assert_eq!(all.len(), attributes(&parsed, "[id]", "id").len(), "an id is there twice");
        for link in attributes(&parsed, "a[href^='#']", "href") {
            assert!(all.contains(&link[1..]), "{link} on {path}");
        }
        for link in inside(&page) {
            let status = host.fetch(&link, &[BROWSER]).await.status;
            assert!(status == 200 || link == "/account", "{link} on {path}: {status}");
        }
        let known = [BROWSER, ("if-none-match", page.header("etag"))];
        assert_eq!(host.fetch(&path, &known).await.status, 304);
    }
    let page = text(&host.fetch("/docs/agent_credits", &[BROWSER]).await);
    for wanted in ["States: account", "unfreeze", "code_not_redeemable", "svc.write"] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_the_reference_works_when_it_is_pasted() {
    let host = Host::with(&["agent_credits"]).await;
    let agent = host.agent().await;
    let page = html(&host.fetch("/docs/agent_credits", &[BROWSER]).await);
    let calls = found(&page, ".action .command code");
    let call = calls.iter().find(|call| call.contains("\"balance\"")).unwrap();
    let answered =
        Command::new("sh").arg("-c").arg(call).env("TOKEN", &agent.token).output().unwrap();
    let answer: Value = serde_json::from_slice(&answered.stdout).unwrap();
    assert!(answer["result"]["available"].is_number(), "{call}: {answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_a_hostile_author_stay_texts() {
    let changes = [
        ("Misbehaves in every way.", "<script>alert(1)</script"),
        ("Misbehaves", "<b>\"'&</b>"),
        ("Answer as promised", "<img onerror=x()>?"),
    ];
    let bytes = patched(&component("misbehaves"), &changes);
    let options =
        Options { components: vec![("misbehaves.wasm".to_owned(), bytes)], ..Options::default() };
    let host = Host::start(options).await;
    for path in ["/docs", "/docs/misbehaves"] {
        let page = host.fetch(path, &[BROWSER]).await;
        assert_safe_to_try(&page);
        let page = html(&page);
        for element in ["b", "img", "script:not([src])"] {
            assert_eq!(found(&page, element).len(), 0, "<{element}> on {path}");
        }
        let told: String = found(&page, "main").concat();
        assert!(
            told.contains("<b>\"'&</b>") && told.contains("<script>alert(1)</script"),
            "{told}"
        );
    }
    let page = host.fetch("/docs/%3Cscript%3E", &[BROWSER]).await;
    assert_eq!(page.status, 404);
    assert!(!text(&page).contains("<script"));
}
