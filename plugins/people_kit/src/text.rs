//! Checks of texts that people write: no control characters, no contact data.

use crate::contact::has_contact_data;
use portolan_names::NameFault;
use portolan_sdk::prelude::*;

/// Characters that change the direction of text, and so its apparent meaning.
const DIRECTIONS: [std::ops::RangeInclusive<char>; 2] =
    ['\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];

const NO_CONTACT_DATA: &str = "no_contact_data";

/// One fault of a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// A JSON Pointer (RFC 6901) into the body.
    pub pointer: String,
    pub rule: &'static str,
    pub expected: &'static str,
}

/// The conflict `{"kind": "validation", "errors": […]}`, as the host's own.
#[derive(Debug, Serialize)]
pub struct Violations {
    kind: &'static str,
    errors: Vec<Fault>,
}

impl Violations {
    pub fn new(errors: Vec<Fault>) -> Self {
        Self { kind: "validation", errors }
    }
}

/// All faults that were found so far.
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

/// Why a text is refused.
#[derive(Debug, Refusals)]
pub enum TextError {
    /// Contact data is not published: take e-mail addresses, phone numbers and accounts of messengers
    /// out of the text. Both sides disclose them once they are connected.
    #[refusal(
        unprocessable,
        conflict_detail = Violations::new(errors),
        next = Next::call("faq_search").field("query", "contact data in texts")
    )]
    ContactInText { errors: Vec<Fault> },
    #[refusal(transparent)]
    Common(Refusal),
}

impl Faults {
    pub fn add(&mut self, pointer: impl Into<String>, rule: &'static str, expected: &'static str) {
        self.0.push(Fault { pointer: pointer.into(), rule, expected });
    }

    fn add_name_fault(&mut self, pointer: &str, checked: Result<(), NameFault>) {
        let has_fault = self.0.iter().any(|fault| fault.pointer == pointer);
        if let (Err(fault), false) = (checked, has_fault) {
            self.add(pointer, fault.rule(), fault.expected());
        }
    }

    pub fn into_inner(self) -> Vec<Fault> {
        self.0
    }

    /// Refuses with `contact_in_text` if contact data is the only fault, with `validation_failed`
    /// and all faults if there are others, and not at all without faults.
    pub fn check(self) -> Result<(), TextError> {
        let errors = self.0;
        if errors.is_empty() {
            return Ok(());
        }
        if errors.iter().all(|fault| fault.rule == NO_CONTACT_DATA) {
            return Err(TextError::ContactInText { errors });
        }
        let message = "A field of the input is not acceptable.";
        let refusal = Refusal::common(ErrorCode::ValidationFailed, message);
        Err(refusal.conflict(&Violations::new(errors)).into())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    One,
    Many,
}

/// Returns a text for others, without space around it. Contact data is a fault, as is a text that
/// [`plain`] does not accept.
pub fn public(pointer: &str, text: &str, lines: Lines, faults: &mut Faults) -> String {
    if has_contact_data(text) {
        faults.add(
            pointer,
            NO_CONTACT_DATA,
            "a text without e-mail addresses, phone numbers and accounts",
        );
    }
    plain(pointer, text, lines, faults)
}

/// Adds the fault of a name that people read, unless it has another one already.
pub fn check_name(pointer: &str, name: &str, faults: &mut Faults) {
    faults.add_name_fault(pointer, portolan_names::check(name));
}

/// Adds the fault of a title, unless it has another one already.
pub fn check_title(pointer: &str, title: &str, faults: &mut Faults) {
    faults.add_name_fault(pointer, portolan_names::check_visible(title));
}

/// Returns a text without space around it. A blank text and invisible characters are faults.
pub fn plain(pointer: &str, text: &str, lines: Lines, faults: &mut Faults) -> String {
    let text = text.trim();
    let breaks = |letter: char| lines == Lines::Many && ['\n', '\r', '\t'].contains(&letter);
    let unseen = |letter: char| {
        letter.is_control() && !breaks(letter)
            || DIRECTIONS.iter().any(|range| range.contains(&letter))
    };
    if text.is_empty() {
        faults.add(pointer, "not_blank", "a text that is not blank");
    }
    if text.contains(unseen) {
        faults.add(pointer, "no_control_characters", "visible characters");
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let mut faults = Faults::default();
        public("/title", text, Lines::One, &mut faults);
        faults.check().map_or_else(|error| Refusal::from(error).code, |()| String::new())
    }

    #[test]
    fn each_fault_has_its_code() {
        assert_eq!(code("Room in the Mission"), "");
        assert_eq!(code("write to ada@example.com"), "contact_in_text");
        for text in ["one\ntwo", " ", "\u{202e}ada@example.com"] {
            assert_eq!(code(text), "validation_failed", "{text}");
        }
    }

    #[test]
    fn a_name_has_one_fault() {
        let rules = |check: fn(&str, &str, &mut Faults), text: &str| {
            let mut faults = Faults::default();
            public("/name", text, Lines::One, &mut faults);
            check("/name", text, &mut faults);
            faults.into_inner().iter().map(|fault| fault.rule).collect::<Vec<_>>()
        };
        for (text, name, title) in [
            ("Harbour Fund", None, None),
            (" ", Some("not_blank"), Some("not_blank")),
            ("\u{202e}x", Some("no_control_characters"), Some("no_control_characters")),
            ("\u{200b}", Some("no_invisible_characters"), Some("no_invisible_characters")),
            ("...", Some("letters"), Some("letters")),
            ("\u{397}arbour Fund", Some("one_script_per_word"), None),
            ("Portolan Support", Some("no_privileged_words"), None),
            ("Harbour Fund \u{2713}", Some("no_verification_mark"), None),
        ] {
            assert_eq!(rules(check_name, text), Vec::from_iter(name), "{text:?}");
            assert_eq!(rules(check_title, text), Vec::from_iter(title), "{text:?}");
        }
    }
}
