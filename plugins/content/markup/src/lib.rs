//! Makes CommonMark written by other people safe to show.
//!
//! Text passes two filters, each sufficient alone. The first works on the parser's events: it
//! removes raw HTML, unwraps what the profile does not allow, and rewrites every address to the one
//! that a browser would request. The second parses the resulting HTML and keeps only what an
//! allow-list names.

mod anchor;
mod destination;
mod filter;
mod plain;
mod profile;
mod removed;
mod runs;
mod sanitize;
mod source;

#[cfg(test)]
#[path = "../tests/corpus/costly.rs"]
mod costly;
#[cfg(test)]
#[path = "../tests/corpus/hostile.rs"]
mod hostile;

pub use filter::{Heading, Link};
pub use profile::{Format, Profile};
pub use removed::{Removed, What};

use filter::{Filter, Filtered};
use pulldown_cmark::{Event, Parser, html};
use removed::Tally;

/// A rendered text.
#[derive(Debug)]
pub struct Rendered {
    /// The text in the requested format.
    pub body: String,
    pub links: Vec<Link>,
    pub removed: Vec<Removed>,
    pub headings: Vec<Heading>,
    pub words: usize,
}

/// Renders CommonMark for one profile. The work and the output are at most a multiple of the input.
pub fn render(markdown: &str, profile: Profile, format: Format) -> Rendered {
    let rules = profile.rules();
    let mut removed = Tally::default();
    let source = source::bounded(markdown, &mut removed);
    let events: Vec<Event<'_>> = Parser::new_ext(&source, rules.extensions).collect();
    let Filtered { events, links, headings, removed } = Filter::run(events, rules, removed);
    let text = plain::text(&events);
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    let body = match format {
        Format::Text => text,
        Format::Html => {
            let mut unchecked = String::with_capacity(markdown.len() * 2);
            html::push_html(&mut unchecked, runs::shortened(events).into_iter());
            sanitize::html(&unchecked, rules)
        }
    };
    Rendered { body, links, removed, headings, words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Tag, TagEnd};
    use scraper::{Html, Node};

    fn first_wall(markdown: &str, profile: Profile) -> String {
        let events = Parser::new_ext(markdown, profile.rules().extensions).collect();
        let filtered = Filter::run(events, profile.rules(), Tally::default());
        let mut unchecked = String::new();
        html::push_html(&mut unchecked, runs::shortened(filtered.events).into_iter());
        unchecked
    }

    /// Shows that the first filter is sufficient alone: the second one only adds attributes to
    /// links and images.
    #[test]
    fn the_second_filter_removes_nothing() {
        for markdown in hostile::CORPUS.whole.iter().chain(&hostile::CORPUS.pieces) {
            for profile in Profile::ALL {
                let unchecked = first_wall(markdown, profile).replace("<!---->", "");
                let checked = sanitize::html(&unchecked, profile.rules())
                    .replace(" rel=\"nofollow noopener ugc\"", "")
                    .replace(" referrerpolicy=\"no-referrer\"", "");
                let parsed = |html: &str| Html::parse_fragment(html).root_element().inner_html();
                assert_eq!(parsed(&checked), parsed(&unchecked), "{profile:?} {markdown}");
            }
        }
    }

    /// The second filter's work on a run of text, or on an attribute, grows with the square of its
    /// length.
    #[test]
    fn the_second_filter_gets_no_long_runs() {
        for markdown in costly::pathological(16 * 1024) {
            let unchecked = first_wall(&markdown, Profile::Page);
            let parsed = Html::parse_fragment(&unchecked);
            for node in parsed.tree.values() {
                let (longest, limit) = match node {
                    Node::Text(text) => (text.len(), 512),
                    Node::Element(element) => {
                        (element.attrs().map(|(_, v)| v.len()).max().unwrap_or(0), 1024)
                    }
                    _ => (0, 0),
                };
                assert!(longest <= limit, "{markdown:.40} has {longest}");
            }
        }
    }

    #[test]
    fn long_runs_come_out_whole() {
        let long = "a &amp; é ".repeat(200);
        let code = long.replace('&', "&amp;");
        for (markdown, html) in [
            (long.clone(), format!("<p>{}</p>\n", long.trim_end())),
            (format!("`{long}b`"), format!("<p><code>{code}b</code></p>\n")),
            (format!("    {long}"), format!("<pre><code>{code}</code></pre>\n")),
        ] {
            assert_eq!(render(&markdown, Profile::Message, Format::Html).body, html);
        }
    }

    #[test]
    fn each_profile_shows_what_it_should() {
        let markdown = "# One\n\n![two](https://e.example/i.png) *three*\n\n---\n\n|a|\n|-|\n|b|\n";
        let body = |profile| render(markdown, profile, Format::Html).body;
        assert_eq!(
            body(Profile::Message),
            "<p>One</p>\n<p>two <em>three</em></p>\n<p>|a|\n|-|\n|b|</p>\n"
        );
        assert_eq!(
            body(Profile::Listing),
            "<h3>One</h3>\n<p>two <em>three</em></p>\n<hr>\n<p>|a|\n|-|\n|b|</p>\n"
        );
        assert_eq!(
            body(Profile::Page),
            "<h1 id=\"section-one\">One</h1>\n<p><img src=\"https://e.example/i.png\" alt=\"two\" \
             referrerpolicy=\"no-referrer\"> <em>three</em></p>\n<hr>\n<table><thead><tr><th>a</th></tr>\
             </thead><tbody>\n<tr><td>b</td></tr>\n</tbody></table>\n"
        );
    }

    #[test]
    fn removed_parts_are_counted() {
        let markdown = "<script>a</script>\n\n# b <i>c</i>\n\n[d](javascript:e) [f](/g) ![h](i)\n\n\
            [j](https://e.example \"k\") \u{202e}\n\n```rust\nl\n```\n\n---\n";
        let rendered = render(markdown, Profile::Message, Format::Text);
        let removed = rendered.removed.iter();
        let removed = removed
            .map(|entry| (entry.what, entry.detail.as_deref().unwrap_or_default(), entry.count));
        assert_eq!(
            removed.collect::<Vec<_>>(),
            [
                (What::RawHtml, "i", 2),
                (What::RawHtml, "script", 1),
                (What::Image, "not_here", 1),
                (What::Link, "javascript", 1),
                (What::Link, "relative", 1),
                (What::Attribute, "class", 1),
                (What::Attribute, "title", 1),
                (What::Element, "h1", 1),
                (What::Element, "hr", 1),
                (What::ControlCharacter, "", 1),
            ]
        );
        assert_eq!(rendered.body.trim_end(), "b c\n\nd f h\n\nj\n\nl");
        assert_eq!(rendered.words, 7);
    }

    #[test]
    fn nothing_is_reported_for_plain_text_with_any_line_ends() {
        for profile in Profile::ALL {
            let rendered = render("a  \r\nb\r\n\r\n    c\r\n    d\r\n", profile, Format::Html);
            assert_eq!(rendered.removed, []);
            assert_eq!(rendered.body, "<p>a<br>\nb</p>\n<pre><code>c\nd\n</code></pre>\n");
        }
    }

    #[test]
    fn links_and_headings_are_listed_with_their_text() {
        let markdown = "## A `b` [c *d*](HTTP://e.example)\n\n## A b\n\n<me@e.example>";
        let rendered = render(markdown, Profile::Page, Format::Html);
        let link = |url: &str, text: &str| Link { url: url.into(), text: text.into() };
        let mail = link("mailto:me@e.example", "me@e.example");
        assert_eq!(rendered.links, [link("http://e.example/", "c d"), mail]);
        let heading = |text: &str, anchor: &str| Heading {
            level: 2,
            text: text.into(),
            anchor: Some(anchor.into()),
        };
        let headings = [heading("A b c d", "section-a-b-c-d"), heading("A b", "section-a-b")];
        assert_eq!(rendered.headings, headings);
    }

    /// The parser's work on a line grows with the number of open blocks.
    #[test]
    fn the_parser_gets_no_deep_nesting() {
        for markdown in costly::pathological(64 * 1024) {
            let source = source::bounded(&markdown, &mut Tally::default());
            let (mut open, mut deepest) = (0_usize, 0);
            for event in Parser::new(&source) {
                match event {
                    Event::Start(Tag::BlockQuote(_) | Tag::Item) => open += 1,
                    Event::End(TagEnd::BlockQuote(_) | TagEnd::Item) => open -= 1,
                    _ => {}
                }
                deepest = deepest.max(open);
            }
            assert!(deepest <= 256, "{deepest}: {:.40}", markdown);
        }
    }
}
