//! Texts of authors with code between backticks, as parts that templates escape. No other markup is read.

use std::borrow::Cow;

/// A text with code between backticks.
pub(super) struct Marked<'a>(pub(super) Cow<'a, str>);

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    pub(super) is_code: bool,
}

/// A paragraph, or a list whose items are the lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    pub(super) is_list: bool,
    pub(super) lines: Vec<Vec<Part<'a>>>,
}

impl<'a> Marked<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    pub(super) fn parts(&self) -> Vec<Part<'_>> {
        parts(&self.0)
    }

    /// Returns the paragraphs and lists, which empty lines separate.
    pub(super) fn blocks(&self) -> Vec<Block<'_>> {
        let blocks = self.0.split("\n\n").filter(|block| !block.trim().is_empty());
        blocks
            .map(|block| {
                let items: Option<Vec<&str>> =
                    block.trim().lines().map(|line| line.trim().strip_prefix("- ")).collect();
                match items {
                    Some(items) => {
                        Block { is_list: true, lines: items.into_iter().map(parts).collect() }
                    }
                    None => Block { is_list: false, lines: vec![parts(block.trim())] },
                }
            })
            .collect()
    }
}

/// Returns the parts of a text. A backtick without a second one is a part of the text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`')
        && let Some((code, after)) = after.split_once('`')
    {
        parts.push(Part { text: before, is_code: false });
        parts.push(Part { text: code, is_code: true });
        rest = after;
    }
    parts.push(Part { text: rest, is_code: false });
    parts.retain(|part| !part.text.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(&str, bool)> {
        parts(text).into_iter().map(|part| (part.text, part.is_code)).collect()
    }

    #[test]
    fn code_is_between_two_backticks() {
        assert_eq!(told("a `b` c"), [("a ", false), ("b", true), (" c", false)]);
        assert_eq!(told("`b`, `c`"), [("b", true), (", ", false), ("c", true)]);
        assert_eq!(told("a ` b"), [("a ` b", false)]);
        assert_eq!(told("`a` ` b"), [("a", true), (" ` b", false)]);
        assert_eq!(told(""), []);
    }

    #[test]
    fn empty_lines_separate_paragraphs_and_lists() {
        let marked = Marked::of("One\ntwo\n\n- a\n- `b`\n\n\n");
        let blocks = marked.blocks();
        assert_eq!(blocks.iter().map(|block| block.is_list).collect::<Vec<_>>(), [false, true]);
        assert_eq!(blocks[0].lines.len(), 1);
        assert_eq!(blocks[1].lines[1], [Part { text: "b", is_code: true }]);
    }
}
