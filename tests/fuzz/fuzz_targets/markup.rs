//! CommonMark that strangers write and other people see as HTML.
#![no_main]

use libfuzzer_sys::fuzz_target;
use markup::{Format, Profile, render};
use scraper::Html;

/// The elements of the most generous profile.
const ELEMENTS: [&str; 25] = [
    "a",
    "blockquote",
    "br",
    "code",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];
const ATTRIBUTES: [&str; 9] =
    ["alt", "class", "href", "id", "referrerpolicy", "rel", "src", "start", "title"];

fuzz_target!(|data: &[u8]| {
    let Ok(markdown) = std::str::from_utf8(data) else { return };
    for profile in Profile::ALL {
        let html = render(markdown, profile, Format::Html).body;
        let parsed = Html::parse_fragment(&html);
        // The parser's own root is the element `html`.
        let elements = parsed.tree.nodes().filter_map(|node| node.value().as_element()).skip(1);
        for element in elements {
            assert!(ELEMENTS.contains(&element.name()), "{} in {html}", element.name());
            for (name, value) in element.attrs() {
                assert!(ATTRIBUTES.contains(&name), "{name} in {html}");
                let is_address = ["href", "src"].contains(&name);
                let schemes = ["http://", "https://", "mailto:"];
                let is_safe = schemes.iter().any(|scheme| value.starts_with(scheme));
                assert!(!is_address || is_safe, "{value} in {html}");
            }
        }
        render(markdown, profile, Format::Text);
    }
});
