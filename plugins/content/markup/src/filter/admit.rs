//! Decides which elements are allowed, and in which form.

use super::{Filter, Link, Open};
use crate::{destination, removed::What};
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Tag, TagEnd,
};

/// The deepest nesting of elements. Lists and their items count as two.
const DEEPEST: usize = 32;

/// The maximum number of elements in one text. An ordinary text of the largest size has fewer. A
/// hostile text makes an element of every two bytes, or hundreds of a short row of a table, because
/// the parser fills the row with cells.
const MOST_ELEMENTS: usize = 8_000;

/// The maximum number of bytes of a title. The title of a definition is repeated wherever the
/// definition is used.
const LONGEST_TITLE: usize = 200;

impl<'a> Filter<'a> {
    /// Returns the tag in its allowed form; `None` if only its content is allowed.
    pub(super) fn admit(&mut self, tag: Tag<'a>, following: &[Event<'a>]) -> Option<Tag<'a>> {
        match tag {
            // The parts of a table are allowed with the table.
            Tag::TableHead | Tag::TableRow | Tag::TableCell => {
                return self.whole_is_kept().then_some(tag);
            }
            Tag::Item if !self.whole_is_kept() => return None,
            Tag::Item if self.elements < MOST_ELEMENTS => return Some(tag),
            Tag::HtmlBlock => {
                let name = match following.first() {
                    Some(Event::Html(html)) => tag_name(html),
                    _ => "",
                };
                self.removed.count(What::RawHtml, name);
                return None;
            }
            _ if self.elements >= MOST_ELEMENTS => {
                self.removed.count(What::Element, "too_many");
                return None;
            }
            _ if self.depth >= DEEPEST => {
                self.removed.count(What::Nesting, "");
                return None;
            }
            _ => {}
        }
        match tag {
            Tag::Heading { level, .. } => Some(self.admit_heading(level)),
            Tag::Table(alignments) => self.admit_table(&alignments, following),
            Tag::CodeBlock(kind) => Some(Tag::CodeBlock(self.admit_language(kind))),
            Tag::Link { link_type, dest_url, title, .. } => {
                self.admit_link(link_type, &dest_url, title)
            }
            Tag::Image { dest_url, title, .. } => self.admit_image(&dest_url, title),
            Tag::Paragraph | Tag::BlockQuote(_) | Tag::List(_) | Tag::Emphasis | Tag::Strong => {
                Some(tag)
            }
            // No profile enables this syntax.
            _ => None,
        }
    }

    fn whole_is_kept(&self) -> bool {
        matches!(self.open.last(), Some(Open::Kept(_)))
    }

    fn admit_heading(&mut self, level: HeadingLevel) -> Tag<'a> {
        let shifted = (level as usize + self.rules.heading_shift).min(6);
        match shifted.try_into() {
            Ok(level) if self.rules.allows(&format!("{level}")) => {
                Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() }
            }
            _ => {
                self.removed.count(What::Element, &format!("{level}"));
                Tag::Paragraph
            }
        }
    }

    /// Gives the heading that ends here its anchor, because its text is known now.
    pub(super) fn finish_heading(&mut self) {
        let (Some(start), Some(noted)) = (self.heading.take(), self.headings.last_mut()) else {
            return;
        };
        let Some(Event::Start(Tag::Heading { level, id, .. })) = self.events.get_mut(start) else {
            return;
        };
        if self.rules.allows_attribute(&format!("{level}"), "id") {
            noted.anchor = self.anchors.give(&noted.text);
            *id = noted.anchor.clone().map(CowStr::from);
        }
    }

    fn admit_table(
        &mut self,
        alignments: &[Alignment],
        following: &[Event<'a>],
    ) -> Option<Tag<'a>> {
        let parts = following
            .iter()
            .take_while(|event| !matches!(event, Event::End(TagEnd::Table)))
            .filter(|event| matches!(event, Event::Start(_)))
            .count();
        if self.elements + parts > MOST_ELEMENTS {
            self.removed.count(What::Element, "table");
            return None;
        }
        if alignments.iter().any(|alignment| *alignment != Alignment::None) {
            // The alignment of a column would be an inline style.
            self.removed.count(What::Attribute, "style");
        }
        Some(Tag::Table(vec![Alignment::None; alignments.len()]))
    }

    fn admit_language(&mut self, kind: CodeBlockKind<'a>) -> CodeBlockKind<'a> {
        let CodeBlockKind::Fenced(info) = &kind else {
            return kind;
        };
        let language = info.split_whitespace().next().unwrap_or_default();
        if language.is_empty() {
            return CodeBlockKind::Indented;
        }
        if self.rules.allows_attribute("code", "class") && is_language(language) {
            return CodeBlockKind::Fenced(CowStr::from(language.to_owned()));
        }
        self.removed.count(What::Attribute, "class");
        CodeBlockKind::Indented
    }

    fn admit_link(
        &mut self,
        link_type: LinkType,
        dest_url: &str,
        title: CowStr<'a>,
    ) -> Option<Tag<'a>> {
        let address = match link_type {
            LinkType::Email => destination::of_link(&format!("mailto:{dest_url}")),
            _ => destination::of_link(dest_url),
        };
        let url = address.map_err(|reason| self.removed.count(What::Link, &reason)).ok()?;
        self.links.push(Link { url: url.clone(), text: String::new() });
        let title = self.admit_title("a", title);
        let (link_type, id) = (LinkType::Inline, CowStr::Borrowed(""));
        Some(Tag::Link { link_type, dest_url: url.into(), title, id })
    }

    fn admit_image(&mut self, dest_url: &str, title: CowStr<'a>) -> Option<Tag<'a>> {
        if !self.rules.allows("img") {
            self.removed.count(What::Image, "not_here");
            return None;
        }
        let address = destination::of_image(dest_url);
        let url = address.map_err(|reason| self.removed.count(What::Image, &reason)).ok()?;
        let title = self.admit_title("img", title);
        let (link_type, id) = (LinkType::Inline, CowStr::Borrowed(""));
        Some(Tag::Image { link_type, dest_url: url.into(), title, id })
    }

    fn admit_title(&mut self, tag: &str, title: CowStr<'a>) -> CowStr<'a> {
        let fits = title.len() <= LONGEST_TITLE && self.rules.allows_attribute(tag, "title");
        if title.is_empty() || fits {
            return self.clean(title);
        }
        self.removed.count(What::Attribute, "title");
        CowStr::Borrowed("")
    }
}

fn is_language(name: &str) -> bool {
    name.len() <= 20 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-+_#".contains(&b))
}

/// Whether this has the form of the class of a code block with a language.
pub(crate) fn is_language_class(class: &str) -> bool {
    class.strip_prefix("language-").is_some_and(is_language)
}

/// Returns the name in an HTML tag; empty for a comment and the like.
pub(super) fn tag_name(html: &str) -> &str {
    let name = html.trim_start().trim_start_matches('<').trim_start_matches('/');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
    name.get(..end).unwrap_or_default()
}
