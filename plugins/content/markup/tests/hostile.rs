//! Only allowed tags, attributes and schemes remain in the output of hostile texts.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use markup::{Format, Profile, render};
use scraper::{Html, Node, node::Element};
use std::collections::BTreeSet;

#[path = "corpus/hostile.rs"]
mod hostile;

use hostile::CORPUS;

const BASIC: &[&str] =
    &["a", "blockquote", "br", "code", "em", "li", "ol", "p", "pre", "strong", "ul"];
const LISTING: &[&str] = &["h3", "h4", "h5", "h6", "hr"];
const PAGE: &[&str] =
    &["h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "table", "tbody", "td", "th", "thead", "tr"];

/// The rules, written again here so that a mistake in the profiles is noticed.
fn allowed(profile: Profile, tag: &str) -> bool {
    let more = match profile {
        Profile::Message => &[][..],
        Profile::Listing => LISTING,
        Profile::Page => PAGE,
    };
    BASIC.contains(&tag) || more.contains(&tag)
}

fn check_attribute(profile: Profile, tag: &str, name: &str, value: &str) -> Result<(), String> {
    let page = profile == Profile::Page;
    let fine = match (tag, name) {
        ("a", "href") => ["http://", "https://", "mailto:"].iter().any(|s| value.starts_with(s)),
        ("a", "rel") => value == "nofollow noopener ugc",
        ("a", "title") | ("img", "alt" | "title") => page,
        ("img", "src") => page && value.starts_with("https://"),
        ("img", "referrerpolicy") => value == "no-referrer",
        ("ol", "start") => value.bytes().all(|b| b.is_ascii_digit()),
        ("code", "class") => page && value.starts_with("language-") && !value.contains(' '),
        ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", "id") => page && value.starts_with("section-"),
        _ => false,
    };
    if fine { Ok(()) } else { Err(format!("attribute {name}={value:?} on <{tag}>")) }
}

fn check_element(profile: Profile, element: &Element) -> Result<(), String> {
    let tag = element.name();
    if &*element.name.ns != "http://www.w3.org/1999/xhtml" {
        return Err(format!("<{tag}> is foreign"));
    }
    if !allowed(profile, tag) {
        return Err(format!("<{tag}> is not allowed"));
    }
    if tag == "a" && (element.attr("href").is_none() || element.attr("rel").is_none()) {
        return Err("a link without href or rel".into());
    }
    element.attrs().try_for_each(|(name, value)| check_attribute(profile, tag, name, value))
}

/// Checks everything that a browser would parse in the fragment, and returns its addresses.
fn check(profile: Profile, body: &str) -> Result<BTreeSet<String>, String> {
    let parsed = Html::parse_fragment(body);
    let mut addresses = BTreeSet::new();
    // The parser itself puts an `<html>` around every fragment.
    for node in parsed.root_element().descendants().skip(1) {
        match node.value() {
            Node::Text(_) => {}
            Node::Element(element) => {
                check_element(profile, element)?;
                addresses.extend(element.attr("href").map(str::to_owned));
            }
            other => return Err(format!("{other:?}")),
        }
    }
    Ok(addresses)
}

fn assert_safe(markdown: &str) {
    for profile in Profile::ALL {
        let rendered = render(markdown, profile, Format::Html);
        let listed = rendered.links.iter().map(|link| link.url.clone()).collect();
        let found = check(profile, &rendered.body);
        assert_eq!(found, Ok(listed), "{profile:?}\n{markdown}\n{}", rendered.body);
    }
}

#[test]
fn the_output_of_every_hostile_text_is_harmless() {
    assert!(CORPUS.whole.len() >= 40);
    for markdown in &CORPUS.whole {
        assert_safe(markdown);
    }
}

#[test]
fn they_are_harmless_in_every_context() {
    for markdown in &CORPUS.whole {
        let quoted = markdown.replace('\n', "\n> ");
        let indented = markdown.replace('\n', "\n  ");
        for surrounded in [
            format!("> {quoted}"),
            format!("- {indented}"),
            format!("# {markdown}"),
            format!("a *b {markdown} c* d"),
            format!("[a {markdown} b](https://e.example)"),
            format!("![a {markdown} b](https://e.example/i.png)"),
            format!("|a|b|\n|:-|-:|\n|{markdown}|c|"),
            format!("```{markdown}\n```\n"),
            format!("<div>\n\n{markdown}\n\n</div>"),
            format!("\u{feff}{markdown}\r\n{markdown}"),
        ] {
            assert_safe(&surrounded);
        }
    }
}

/// Texts composed of pieces of hostile ones, the same in every run.
#[test]
fn they_are_harmless_in_any_mixture() {
    let mut state = 0x5eed_u64;
    let mut below = |limit: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit
    };
    for _ in 0..3000 {
        let mut markdown = String::new();
        for _ in 0..=below(8) {
            let pieces = if below(2) == 0 { &CORPUS.whole } else { &CORPUS.pieces };
            let piece = pieces.get(below(pieces.len())).unwrap();
            let mut end = below(piece.len() + 1);
            while !piece.is_char_boundary(end) {
                end -= 1;
            }
            markdown.push_str(piece.get(..end).unwrap());
        }
        assert_safe(&markdown);
    }
}

/// The checks above refuse what they should.
#[test]
fn the_checks_refuse_what_they_should() {
    for (body, profile, reason) in [
        ("<script>alert(1)</script>", Profile::Page, "<script> is not allowed"),
        ("<p onclick=\"alert(1)\">a</p>", Profile::Page, "attribute onclick"),
        (
            "<a href=\"javascript:a\" rel=\"nofollow noopener ugc\">a</a>",
            Profile::Page,
            "attribute href",
        ),
        ("<a href=\"https://e.example/\">a</a>", Profile::Page, "without href or rel"),
        ("<img src=\"https://e.example/a.png\">", Profile::Message, "<img> is not allowed"),
        ("<img src=\"https://e.example/a.png\">", Profile::Listing, "<img> is not allowed"),
        ("<img src=\"http://e.example/a.png\">", Profile::Page, "attribute src"),
        ("<svg></svg>", Profile::Page, "<svg> is foreign"),
        ("<h1>a</h1>", Profile::Listing, "<h1> is not allowed"),
        ("<table></table>", Profile::Listing, "<table> is not allowed"),
        ("<h2 id=\"cookie\">a</h2>", Profile::Page, "attribute id"),
        ("<p style=\"a\">a</p>", Profile::Page, "attribute style"),
        ("<!-- a -->", Profile::Page, "Comment"),
    ] {
        let found = check(profile, body).expect_err(body);
        assert!(found.contains(reason), "{found}");
    }
}
