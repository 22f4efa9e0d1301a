//! Markdown of this project as HTML: headings get ids, links lead to pages of this host, and markup within the
//! text stays text.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use std::collections::HashMap;

/// A rendered document.
pub(super) struct Rendered {
    pub(super) title: String,
    /// The headings of the second level.
    pub(super) sections: Vec<Section>,
    pub(super) html: String,
}

pub(super) struct Section {
    pub(super) id: String,
    pub(super) title: String,
}

/// Renders a document without its title, which pages have before it. `resolve` returns where a link leads, or `None` for what is not on this host, which
/// becomes text.
pub(super) fn render(text: &str, resolve: impl Fn(&str) -> Option<String>) -> Rendered {
    let events: Vec<_> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let mut headings = headings(&events).into_iter();
    let (mut title, mut sections) = (String::new(), Vec::new());
    let (mut are_kept, mut is_title) = (Vec::new(), false);
    let mut shown = Vec::with_capacity(events.len());
    for event in events {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => {
                title = headings.next().unwrap_or_default().text;
                is_title = true;
            }
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => is_title = false,
            _ if is_title => {}
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let Heading { id, text } = headings.next().unwrap_or_default();
                if level == HeadingLevel::H2 {
                    sections.push(Section { id: id.clone(), title: text });
                }
                let id = Some(CowStr::from(id));
                shown.push(Event::Start(Tag::Heading { level, id, classes, attrs }));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let target = resolve(&dest_url);
                are_kept.push(target.is_some());
                if let Some(target) = target {
                    let dest_url = CowStr::from(target);
                    shown.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
            }
            Event::End(TagEnd::Link) => {
                if are_kept.pop() == Some(true) {
                    shown.push(event);
                }
            }
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => {}
            Event::Html(text) | Event::InlineHtml(text) => shown.push(Event::Text(text)),
            other => shown.push(other),
        }
    }
    let mut rendered = String::new();
    html::push_html(&mut rendered, shown.into_iter());
    // People who hear the table need an ordinary cell in place of a header without a text.
    let rendered = rendered.replace("<th></th>", "<td></td>");
    Rendered { title, sections, html: rendered }
}

#[derive(Default)]
struct Heading {
    id: String,
    text: String,
}

/// Returns the headings with the ids that GitHub gives them, so that links within the documents work in both
/// places.
fn headings(events: &[Event<'_>]) -> Vec<Heading> {
    let (mut headings, mut seen) = (Vec::new(), HashMap::<String, usize>::new());
    let mut open: Option<String> = None;
    for event in events {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { .. }), _) => open = Some(String::new()),
            (Event::Text(part) | Event::Code(part), Some(text)) => text.push_str(part),
            (Event::End(TagEnd::Heading(_)), _) => {
                let text = open.take().unwrap_or_default();
                let id = anchor(&text);
                let count = seen.entry(id.clone()).or_default();
                let id = if *count == 0 { id } else { format!("{id}-{count}") };
                *count += 1;
                headings.push(Heading { id, text });
            }
            _ => {}
        }
    }
    headings
}

fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || ['-', '_', ' '].contains(letter);
    let letters = heading.trim().chars().filter(kept).flat_map(char::to_lowercase);
    letters.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        render(text, |link| link.strip_prefix("to:").map(str::to_owned)).html
    }

    #[test]
    fn headings_have_the_ids_of_github() {
        let rendered = render("# A `b`, c's\n## Twice\n## Twice\n### `portolan dev`", |_| None);
        assert_eq!(rendered.title, "A b, c's");
        let ids: Vec<_> = rendered.sections.iter().map(|section| section.id.as_str()).collect();
        assert_eq!(ids, ["twice", "twice-1"]);
        for id in ["twice", "twice-1", "portolan-dev"] {
            assert!(rendered.html.contains(&format!("id=\"{id}\"")), "{}", rendered.html);
        }
    }

    #[test]
    fn links_lead_to_this_host_or_are_text() {
        assert_eq!(shown("[a](to:/b) [c](d)"), "<p><a href=\"/b\">a</a> c</p>\n");
    }

    #[test]
    fn markup_stays_text() {
        let html = shown("a <b onclick=x>c</b>\n\n<script>alert(1)</script>\n\n![d](e)");
        assert!(
            !html.contains("<b") && !html.contains("<script") && !html.contains("<img"),
            "{html}"
        );
    }
}
