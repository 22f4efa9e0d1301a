//! The first filter: removes from the parser's events everything that a profile does not allow.

mod admit;

use crate::{
    anchor::Anchors,
    profile::Rules,
    removed::{Removed, Tally, What},
};
use pulldown_cmark::{CowStr, Event, Tag, TagEnd};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use admit::is_language_class;
use admit::tag_name;

/// The maximum number of bytes of an image's alternative text.
const LONGEST_ALT: usize = 500;

/// A link in the filtered text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Link {
    /// The address as a browser will request it: hosts in lower case and punycode, paths
    /// percent-encoded.
    pub url: String,
    /// The text that readers see. It can say anything: compare it with the address before you trust
    /// it.
    pub text: String,
}

/// A heading in the filtered text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The level, 1 to 6.
    pub level: u8,
    pub text: String,
    /// The `id` of the heading in the HTML, if the profile has anchors.
    pub anchor: Option<String>,
}

/// A text after the first filter.
#[derive(Debug)]
pub(crate) struct Filtered<'a> {
    pub(crate) events: Vec<Event<'a>>,
    pub(crate) links: Vec<Link>,
    pub(crate) headings: Vec<Heading>,
    pub(crate) removed: Vec<Removed>,
}

/// An open element, by the output at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Kept(TagEnd),
    /// The element's tags are removed and its content stays; a block still ends its line.
    Unwrapped {
        block: bool,
    },
}

#[derive(Debug)]
pub(crate) struct Filter<'a> {
    rules: &'static Rules,
    events: Vec<Event<'a>>,
    open: Vec<Open>,
    depth: usize,
    elements: usize,
    anchors: Anchors,
    links: Vec<Link>,
    headings: Vec<Heading>,
    removed: Tally,
    /// The index in `events` at which the open heading started.
    heading: Option<usize>,
    link: bool,
    /// Whether an image is open. Its content is its alternative text: characters only.
    image: bool,
    /// The length of the open image's alternative text in bytes.
    alt: usize,
}

impl<'a> Filter<'a> {
    pub(crate) fn run(
        events: Vec<Event<'a>>,
        rules: &'static Rules,
        removed: Tally,
    ) -> Filtered<'a> {
        let mut filter = Self {
            rules,
            events: Vec::with_capacity(events.len()),
            open: Vec::new(),
            depth: 0,
            elements: 0,
            anchors: Anchors::default(),
            links: Vec::new(),
            headings: Vec::new(),
            removed,
            heading: None,
            link: false,
            image: false,
            alt: 0,
        };
        let mut events = events.into_iter();
        while let Some(event) = events.next() {
            filter.event(event, events.as_slice());
        }
        let Self { events, links, headings, removed, .. } = filter;
        Filtered { events, links, headings, removed: removed.into_list() }
    }

    fn event(&mut self, event: Event<'a>, following: &[Event<'a>]) {
        match event {
            Event::Start(tag) => self.start(tag, following),
            Event::End(_) => self.end(),
            Event::Text(text) => {
                let text = self.admit_text(text);
                self.events.extend(text.map(Event::Text));
            }
            Event::Code(text) => {
                let text = self.admit_text(text);
                self.events.extend(text.map(Event::Code));
            }
            Event::SoftBreak | Event::HardBreak => {
                self.note(" ");
                self.events.push(event);
            }
            Event::Rule if self.rules.allows("hr") => {
                self.elements += 1;
                self.events.push(event);
            }
            Event::Rule => self.removed.count(What::Element, "hr"),
            Event::InlineHtml(html) => self.removed.count(What::RawHtml, tag_name(&html)),
            // The HTML was counted at the start of its block.
            Event::Html(_) => {}
            // No profile enables this syntax.
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'a>, following: &[Event<'a>]) {
        let block = is_block(&tag);
        let kept = if self.image { None } else { self.admit(tag, following) };
        let Some(tag) = kept else {
            self.open.push(Open::Unwrapped { block });
            return;
        };
        match &tag {
            Tag::Heading { level, .. } => {
                self.heading = Some(self.events.len());
                let level = *level as u8;
                self.headings.push(Heading { level, text: String::new(), anchor: None });
            }
            Tag::Link { .. } => self.link = true,
            Tag::Image { .. } => {
                self.image = true;
                self.alt = 0;
            }
            _ => {}
        }
        self.depth += 1;
        self.elements += 1;
        self.open.push(Open::Kept(tag.to_end()));
        self.events.push(Event::Start(tag));
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Open::Kept(end)) => {
                self.depth -= 1;
                match end {
                    TagEnd::Heading(_) => self.finish_heading(),
                    TagEnd::Link => self.link = false,
                    TagEnd::Image => self.image = false,
                    _ => {}
                }
                self.events.push(Event::End(end));
            }
            Some(Open::Unwrapped { block: true }) => self.events.push(Event::SoftBreak),
            Some(Open::Unwrapped { block: false }) | None => {}
        }
    }

    /// Returns the allowed text; `None` if it would make an alternative text too long.
    fn admit_text(&mut self, text: CowStr<'a>) -> Option<CowStr<'a>> {
        let text = self.clean(text);
        if self.image {
            self.alt += text.len();
            if self.alt > LONGEST_ALT {
                self.removed.count(What::Attribute, "alt");
                return None;
            }
        }
        self.note(&text);
        Some(text)
    }

    /// Removes carriage returns, and counts and removes invisible characters that change how other
    /// text is shown or read.
    fn clean(&mut self, text: CowStr<'a>) -> CowStr<'a> {
        let found = text.chars().filter(|character| is_control(*character)).count();
        if found == 0 && !text.contains('\r') {
            return text;
        }
        for _ in 0..found {
            self.removed.count(What::ControlCharacter, "");
        }
        text.replace(|character| is_control(character) || character == '\r', "").into()
    }

    /// Adds text to the open link and the open heading.
    fn note(&mut self, text: &str) {
        if self.link
            && let Some(link) = self.links.last_mut()
        {
            link.text.push_str(text);
        }
        if self.heading.is_some()
            && let Some(heading) = self.headings.last_mut()
        {
            heading.text.push_str(text);
        }
    }
}

fn is_block(tag: &Tag<'_>) -> bool {
    !matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. } | Tag::HtmlBlock
    )
}

/// Whether the character is a C0 or C1 control, a mark that reorders the text after it, or an
/// invisible tag character, which people cannot see but language models read.
fn is_control(character: char) -> bool {
    matches!(
        character,
        '\0'..='\x08'
            | '\x0b'
            | '\x0c'
            | '\x0e'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
