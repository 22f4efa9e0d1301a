//! Texts with hostile markup, in previews and in listings.

use crate::harness::{
    Agent, Host,
    listings::{self, LISTINGS, Lister},
};
use scraper::{Html, Node};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const CORPUS: &str = include_str!("../corpus/xss.txt");

/// The elements that every profile allows, and those that some allow.
const PLAIN: &str = "a blockquote br code em li ol p pre strong ul";
const LISTING: &str = "h3 h4 h5 h6 hr";
const PAGE: &str = "h1 h2 h3 h4 h5 h6 hr img table tbody td th thead tr";

/// Returns the family and the text of each entry of the corpus.
fn corpus() -> Vec<(&'static str, String)> {
    let blocks = CORPUS.split("%% ").filter(|block| !block.is_empty());
    blocks
        .map(|block| {
            let (family, text) = block.split_once('\n').unwrap();
            (family, decode_escapes(text.trim_end_matches('\n')))
        })
        .collect()
}

/// Replaces `{U+0000}` and the like by that character.
fn decode_escapes(text: &str) -> String {
    let mut parts = text.split("{U+");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('}').unwrap();
        plain.push(char::from_u32(u32::from_str_radix(number, 16).unwrap()).unwrap());
        plain.push_str(rest);
    }
    plain
}

/// Asserts that the parsed HTML has only elements and attributes that are allowed.
fn assert_harmless(html: &str, profile: &str, text: &str) {
    let more = match profile {
        "listing" => LISTING,
        "page" => PAGE,
        _ => "",
    };
    let allowed: Vec<&str> = PLAIN.split(' ').chain(more.split(' ')).collect();
    let is_page = profile == "page";
    let parsed = Html::parse_fragment(html);
    for node in parsed.root_element().descendants().skip(1) {
        let element = match node.value() {
            Node::Text(_) => continue,
            Node::Element(element) => element,
            other => panic!("{other:?} of {text} in {html}"),
        };
        let name = element.name();
        assert_eq!(&*element.name.ns, "http://www.w3.org/1999/xhtml", "{text}: {html}");
        assert!(allowed.contains(&name), "<{name}> of {text} in {html}");
        for (attribute, value) in element.attrs() {
            let fine = match (name, attribute) {
                ("a", "href") => is_address(value),
                ("a", "rel") => value == "nofollow noopener ugc",
                ("a", "title") | ("img", "alt" | "title") => is_page,
                ("img", "src") => is_page && value.starts_with("https://"),
                ("img", "referrerpolicy") => value == "no-referrer",
                ("ol", "start") => value.bytes().all(|byte| byte.is_ascii_digit()),
                ("code", "class") => is_page && value.starts_with("language-"),
                (_, "id") => is_page && value.starts_with("section-"),
                _ => false,
            };
            assert!(fine, "{attribute}={value:?} of {text} in {html}");
        }
        if name == "a" {
            assert!(element.attr("rel").is_some(), "a link without rel of {text} in {html}");
        }
    }
}

fn is_address(value: &str) -> bool {
    let scheme = url::Url::parse(value).map(|url| url.scheme().to_owned()).unwrap_or_default();
    ["http", "https", "mailto"].contains(&scheme.as_str())
}

async fn render(agent: &Agent<'_>, text: &str, profile: &str, format: &str) -> Value {
    let render = json!({ "markdown": text, "profile": profile, "format": format });
    let rendered = agent.result("content_render", render).await;
    for link in rendered["links"].as_array().unwrap() {
        assert!(is_address(link["url"].as_str().unwrap()), "{text}: {rendered:#}");
    }
    rendered
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_is_harmless_in_every_profile() {
    let host = Host::with(&["content_render"]).await;
    let agent = host.agent().await;
    let corpus = corpus();
    let families: BTreeSet<_> = corpus.iter().map(|(family, _)| *family).collect();
    assert!(corpus.len() >= 150 && families.len() >= 14, "{} {}", corpus.len(), families.len());
    for (_, text) in &corpus {
        for profile in ["listing", "message", "page"] {
            let html = render(&agent, text, profile, "html").await;
            assert_harmless(html["html"].as_str().unwrap(), profile, text);
            let plain = render(&agent, text, profile, "text").await;
            assert!(plain["text"].is_string() && plain.get("html").is_none(), "{text}: {plain:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_is_rendered_as_plain_text() {
    let host = listings::host().await;
    let ada = Lister::new(&host).await;
    let draft = json!({ "publish": false });
    let id = ada.create_listing(draft).await;
    let mut shown = 0;
    for (_, text) in corpus() {
        let tag: String = text.chars().take(60).collect();
        let patch =
            json!({ "description": text, "attributes": { "available_from": "2027-01-01" } });
        let reply = ada.call("update", json!({ "listing_id": id, "patch": patch })).await;
        if reply.status != 200 {
            // Contact data and invisible characters are refused before the text is rendered.
            let code = reply.body["error_code"].as_str().unwrap();
            assert!(["contact_in_text", "validation_failed"].contains(&code), "{}", reply.text);
            continue;
        }
        let title = json!({ "listing_id": id, "patch": { "title": tag } });
        ada.call("update", title).await;
        let listing =
            ada.agent().result(LISTINGS, json!({ "action": "get", "listing_id": id })).await;
        assert_harmless(listing["description_html"].as_str().unwrap(), "listing", &text);
        assert_eq!(listing["trust"], "untrusted_user_content");
        shown += 1;
    }
    assert!(shown > 100, "{shown}");
}
