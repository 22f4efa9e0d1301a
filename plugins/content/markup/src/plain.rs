//! Renders a document as plain text without markup.

use pulldown_cmark::{Event, Tag, TagEnd};

/// The maximum number of levels of lists that indent their items.
const DEEPEST_INDENT: usize = 8;

pub(crate) fn text(events: &[Event<'_>]) -> String {
    let mut plain = Plain::default();
    for event in events {
        plain.event(event);
    }
    plain.text
}

#[derive(Debug, Default)]
struct Plain {
    text: String,
    /// The number of line breaks due before the next character.
    breaks: usize,
    /// For each open list the number of its next item, if it is numbered.
    lists: Vec<Option<u64>>,
    /// Whether a marker has just been written, and its item's text continues on the same line.
    after_marker: bool,
    /// Whether a row is open whose first cell has been written.
    in_row: bool,
}

impl Plain {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(*end),
            Event::Text(text) | Event::Code(text) => self.write(text),
            Event::SoftBreak | Event::HardBreak => self.part(1),
            Event::Rule => {
                self.part_block();
                self.write("---");
                self.part_block();
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::List(first) => {
                self.part_block();
                self.lists.push(*first);
            }
            Tag::Item => self.item(),
            Tag::TableHead | Tag::TableRow => {
                self.part(1);
                self.in_row = false;
            }
            Tag::TableCell => {
                if self.in_row {
                    self.write(" | ");
                }
                self.in_row = true;
            }
            Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::CodeBlock(_)
            | Tag::BlockQuote(_)
            | Tag::Table(_) => self.part_block(),
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::List(_) => {
                self.lists.pop();
                self.part_block();
            }
            TagEnd::Item | TagEnd::TableHead | TagEnd::TableRow => {
                self.after_marker = false;
                self.part(1);
            }
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::CodeBlock
            | TagEnd::BlockQuote(_)
            | TagEnd::Table => self.part_block(),
            _ => {}
        }
    }

    fn item(&mut self) {
        self.after_marker = false;
        self.part(1);
        let indent = "  ".repeat(self.lists.len().saturating_sub(1).min(DEEPEST_INDENT));
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}.");
                *number += 1;
                marker
            }
            _ => "-".into(),
        };
        self.write(&format!("{indent}{marker} "));
        self.after_marker = true;
    }

    /// Requires an empty line before the next text; within a list, only a line break.
    fn part_block(&mut self) {
        self.part(if self.lists.is_empty() { 2 } else { 1 });
    }

    /// Requires at least this many line breaks before the next text.
    fn part(&mut self, breaks: usize) {
        if !self.after_marker && !self.text.is_empty() {
            self.breaks = self.breaks.max(breaks);
        }
    }

    fn write(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.breaks > 0 {
            self.text.truncate(self.text.trim_end_matches(['\n', ' ']).len());
            self.text.extend(std::iter::repeat_n('\n', self.breaks));
        }
        self.breaks = 0;
        self.after_marker = false;
        self.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Options, Parser};

    fn plain(markdown: &str) -> String {
        let events: Vec<_> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
        text(&events)
    }

    #[test]
    fn blocks_stand_apart() {
        assert_eq!(
            plain("# One\ntwo\nthree\n\n> four *five*\n\n    six\n     seven\n\n---\neight"),
            "One\n\ntwo\nthree\n\nfour five\n\nsix\n seven\n\n---\n\neight"
        );
    }

    #[test]
    fn lists_keep_their_markers() {
        assert_eq!(
            plain("a\n\n- b\n- c\n  1. d\n  2. e\n\n- f\n\n  g\n\nh"),
            "a\n\n- b\n- c\n  1. d\n  2. e\n- f\ng\n\nh"
        );
        assert_eq!(plain("- - a\n- \n- b"), "-\n  - a\n-\n- b");
    }

    #[test]
    fn tables_have_a_line_for_each_row() {
        assert_eq!(plain("|a|b|\n|-|-|\n|c|`d`|\n||e|"), "a | b\nc | d\n | e");
    }
}
