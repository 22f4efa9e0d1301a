//! Renders an answer: HTML for people, plain text for snippets and for the index.

use pulldown_cmark::{Event, Parser, Tag, TagEnd, html};
use std::ops::Range;

/// An answer in its rendered forms.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) html: String,
    /// The text without markup and code blocks, its blocks joined by a space.
    pub(crate) prose: String,
    /// The ranges of the prose's sentences, in bytes.
    pub(crate) sentences: Vec<Range<usize>>,
    /// The code blocks, which are searched but not shown in snippets.
    pub(crate) code: String,
}

pub(crate) fn render(markdown: &str) -> Answer {
    let events: Vec<Event<'_>> = Parser::new(markdown)
        .filter(|event| !matches!(event, Event::Html(_) | Event::InlineHtml(_)))
        .collect();
    let mut answer = plain(&events);
    html::push_html(&mut answer.html, events.into_iter());
    answer
}

fn plain(events: &[Event<'_>]) -> Answer {
    let (mut answer, mut block, mut in_code) = (Answer::default(), String::new(), false);
    for event in events {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(text) if in_code => answer.code.push_str(text),
            Event::Text(text) | Event::Code(text) => block.push_str(text),
            Event::SoftBreak | Event::HardBreak => block.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item) => {
                close(&mut answer, &mut block);
            }
            _ => {}
        }
    }
    close(&mut answer, &mut block);
    answer
}

/// Appends a finished block and its sentences to the prose.
fn close(answer: &mut Answer, block: &mut String) {
    let text = std::mem::take(block);
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    if !answer.prose.is_empty() {
        answer.prose.push(' ');
    }
    let offset = answer.prose.len();
    answer.prose.push_str(text);
    let sentences = sentences(text).into_iter();
    answer.sentences.extend(sentences.map(|Range { start, end }| start + offset..end + offset));
}

/// Returns the ranges of the sentences. A sentence ends with a full stop, question or exclamation
/// mark after a word and before a space.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let (mut start, mut before) = (0, [' ', ' ']);
    for (at, character) in text.char_indices() {
        let [earlier, last] = before;
        if character == ' ' && matches!(last, '.' | '?' | '!') && earlier != ' ' {
            sentences.push(start..at);
            start = at + 1;
        }
        before = [last, character];
    }
    sentences.push(start..text.len());
    sentences
}
