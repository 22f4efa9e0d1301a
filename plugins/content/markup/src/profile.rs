//! The profiles: one table of what is allowed, for both filters.

use pulldown_cmark::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a text will be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// The description of a listing: no images, no tables, and headings two levels down, under
    /// the listing's own title.
    Listing,
    /// A message from one person to another: no images, no headings, no rules, no tables.
    Message,
    /// A page of its own: everything in CommonMark, tables, and images over https.
    Page,
}

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// An HTML fragment, ready to be put into a page.
    Html,
    /// Plain text without any markup. It is not HTML: escape it before you put it into a page.
    Text,
}

/// The rules of a profile.
#[derive(Debug)]
pub(crate) struct Rules {
    /// The allowed tags, in groups.
    pub(crate) tags: &'static [&'static [&'static str]],
    /// The attributes of each tag; a tag that is not listed has none.
    pub(crate) attributes: &'static [(&'static str, &'static [&'static str])],
    /// The number of levels by which headings are lowered.
    pub(crate) heading_shift: usize,
    /// The enabled extensions of CommonMark.
    pub(crate) extensions: Options,
}

impl Rules {
    pub(crate) fn allows(&self, tag: &str) -> bool {
        self.tags.iter().any(|group| group.contains(&tag))
    }

    pub(crate) fn allows_attribute(&self, tag: &str, attribute: &str) -> bool {
        let found = self.attributes.iter().find(|(name, _)| *name == tag);
        found.is_some_and(|(_, attributes)| attributes.contains(&attribute))
    }
}

/// The tags that every profile allows.
const TEXT: &[&str] =
    &["a", "blockquote", "br", "code", "em", "li", "ol", "p", "pre", "strong", "ul"];

/// A plain message. An image would show its server who reads the message, and when.
const MESSAGE: Rules = Rules {
    tags: &[TEXT],
    attributes: &[("a", &["href"]), ("ol", &["start"])],
    heading_shift: 0,
    extensions: Options::empty(),
};

/// The rules of a message, with structure. Images are not allowed here either: many strangers read
/// a listing, and the checks of listings cannot read text in an image.
const LISTING: Rules =
    Rules { tags: &[TEXT, &["h3", "h4", "h5", "h6", "hr"]], heading_shift: 2, ..MESSAGE };

/// Documentation needs tables, the names of languages, and headings that can be linked to.
const PAGE: Rules = Rules {
    tags: &[
        TEXT,
        &["h1", "h2", "h3", "h4", "h5", "h6", "hr", "img"],
        &["table", "tbody", "td", "th", "thead", "tr"],
    ],
    attributes: &[
        ("a", &["href", "title"]),
        ("code", &["class"]),
        ("h1", &["id"]),
        ("h2", &["id"]),
        ("h3", &["id"]),
        ("h4", &["id"]),
        ("h5", &["id"]),
        ("h6", &["id"]),
        ("img", &["alt", "src", "title"]),
        ("ol", &["start"]),
    ],
    heading_shift: 0,
    extensions: Options::ENABLE_TABLES,
};

impl Profile {
    pub const ALL: [Self; 3] = [Self::Listing, Self::Message, Self::Page];

    pub(crate) fn rules(self) -> &'static Rules {
        match self {
            Self::Listing => &LISTING,
            Self::Message => &MESSAGE,
            Self::Page => &PAGE,
        }
    }
}
