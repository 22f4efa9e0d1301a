//! Keeps runs of text short between the two filters.
//!
//! For every `&` in a run of text, the second filter's serializer searches for the next `<` in the
//! rest of that run, so its work grows with the square of a run's length. A comment ends a run, and
//! the second filter removes comments without joining the runs around them.

use pulldown_cmark::{CowStr, Event, Tag, TagEnd};

/// The maximum number of bytes in a run.
const LONGEST: usize = 256;

const COMMENT: Event<'_> = Event::InlineHtml(CowStr::Borrowed("<!---->"));

pub(crate) fn shortened<'a>(events: Vec<Event<'a>>) -> Vec<Event<'a>> {
    let mut runs = Runs { events: Vec::with_capacity(events.len()), length: 0 };
    let mut image = false;
    for event in events {
        match &event {
            Event::Start(Tag::Image { .. }) => image = true,
            Event::End(TagEnd::Image) => image = false,
            // The alternative text is an attribute, and the first filter has limited it.
            _ if image => {}
            Event::Text(text) => {
                runs.text(text);
                continue;
            }
            Event::Code(text) if text.len() > LONGEST => {
                runs.tag("<code>");
                runs.text(text);
                runs.tag("</code>");
                continue;
            }
            Event::SoftBreak => {
                runs.text("\n");
                continue;
            }
            _ => runs.length = 0,
        }
        runs.events.push(event);
    }
    runs.events
}

struct Runs<'a> {
    events: Vec<Event<'a>>,
    /// The length of the current run.
    length: usize,
}

impl<'a> Runs<'a> {
    fn text(&mut self, mut text: &str) {
        while !text.is_empty() {
            if self.length + text.len() > LONGEST {
                self.events.push(COMMENT);
                self.length = 0;
            }
            let (run, rest) = text.split_at(text.floor_char_boundary(LONGEST));
            self.length += run.len();
            self.events.push(Event::Text(run.to_owned().into()));
            text = rest;
        }
    }

    fn tag(&mut self, tag: &'static str) {
        self.events.push(Event::InlineHtml(CowStr::Borrowed(tag)));
        self.length = 0;
    }
}
