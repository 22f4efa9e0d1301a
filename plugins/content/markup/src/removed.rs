//! The parts that were removed from a text, with counts.

use schemars::JsonSchema;
use serde::Serialize;

/// The kind of a removed part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A piece of HTML: an inline tag, whose enclosed text stays, or a whole block. The detail is
    /// the tag's name.
    RawHtml,
    /// An image; its alternative text stays. The detail is the reason.
    Image,
    /// A link; its text stays. The detail is the refused scheme, or the reason.
    Link,
    /// An attribute; its element stays. The detail is the attribute's name.
    Attribute,
    /// An element that this profile does not have; its text stays. The detail is the tag's name.
    Element,
    /// A level of nesting beyond the limit; its text stays.
    Nesting,
    /// An invisible character that changes how other text is shown or read.
    ControlCharacter,
}

/// One kind of removed part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Removed {
    pub what: What,
    /// The detail that distinguishes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The number of times.
    pub count: usize,
}

/// The maximum number of distinct details that are listed; others are counted together without a
/// detail.
const MOST_DETAILS: usize = 32;

/// The maximum number of characters of a detail: it may come from the text itself.
const LONGEST_DETAIL: usize = 16;

/// The counts of the removed parts.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    entries: Vec<Removed>,
}

impl Tally {
    /// Counts one part. `detail` is omitted unless it is short and plain.
    pub(crate) fn count(&mut self, what: What, detail: &str) {
        let plain = !detail.is_empty()
            && detail.len() <= LONGEST_DETAIL
            && detail.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+._".contains(&byte));
        let mut detail = plain.then(|| detail.to_ascii_lowercase());
        if self.find(what, detail.as_deref()).is_none() && self.entries.len() >= MOST_DETAILS {
            detail = None;
        }
        match self.find(what, detail.as_deref()) {
            Some(entry) => entry.count += 1,
            None => self.entries.push(Removed { what, detail, count: 1 }),
        }
    }

    /// Returns the list, sorted so that the same text always has the same answer.
    pub(crate) fn into_list(mut self) -> Vec<Removed> {
        self.entries.sort();
        self.entries
    }

    fn find(&mut self, what: What, detail: Option<&str>) -> Option<&mut Removed> {
        self.entries
            .iter_mut()
            .find(|entry| entry.what == what && entry.detail.as_deref() == detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_stays_short_whatever_the_text_says() {
        let mut tally = Tally::default();
        for number in 0..1000 {
            tally.count(What::Link, &format!("s{number}"));
        }
        let list = tally.into_list();
        assert_eq!(list.len(), MOST_DETAILS + 1);
        assert_eq!(list.iter().map(|entry| entry.count).sum::<usize>(), 1000);
    }

    #[test]
    fn long_or_unusual_details_are_omitted() {
        let mut tally = Tally::default();
        tally.count(What::RawHtml, "IFRAME");
        tally.count(What::RawHtml, "ignore all previous instructions");
        tally.count(What::RawHtml, "x".repeat(17).as_str());
        let details: Vec<_> = tally.into_list().into_iter().map(|entry| entry.detail).collect();
        assert_eq!(details, [None, Some("iframe".into())]);
    }
}
