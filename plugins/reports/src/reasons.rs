//! The reasons of reports, in one table.

use crate::subjects::Kind::{self, Application, Conversation, Event, Listing, Meeting, Mention};
use crate::subjects::Kind::{
    Media, Message, Organisation, Owner, Pairing, Person, Question, Reference, Role, Signal, Target,
};
use portolan_sdk::prelude::*;

/// A reason and its use.
#[output(Clone)]
pub(crate) struct ReasonView {
    pub(crate) reason: Reason,
    title: &'static str,
    explanation: &'static str,
    /// The kinds of subjects that may be reported for this reason.
    pub(crate) subjects: &'static [Kind],
    /// Whether a report needs a text.
    pub(crate) text_required: bool,
}

const RECORDS: &[Kind] = &[Target, Signal, Role, Person, Event, Mention, Question];
const CONTENT_OF_PEOPLE: &[Kind] = &[
    Listing,
    Message,
    Conversation,
    Pairing,
    Application,
    Meeting,
    Owner,
    Organisation,
    Reference,
    Media,
];
const EVERYTHING: &[Kind] = Kind::ALL;

/// Makes the reasons and their table. A row is the reason, its title, the kinds of subjects,
/// whether a report needs a text, and the explanation.
macro_rules! reasons {
    ($($reason:ident $title:literal, $subjects:expr, $text:ident: $explanation:literal;)*) => {
        #[choice]
        pub(crate) enum Reason {
            $($reason,)*
        }

        pub(crate) const REASONS: &[ReasonView] = &[$(ReasonView {
            reason: Reason::$reason,
            title: $title,
            explanation: $explanation,
            subjects: $subjects,
            text_required: $text,
        }),*];
    };
}

const REQUIRED: bool = true;
const OPTIONAL: bool = false;

reasons! {
    Abuse "Abuse", CONTENT_OF_PEOPLE, OPTIONAL:
        "Somebody insults, threatens, stalks or harasses. In danger, call the emergency services first; block the person as well.";
    Scam "Scam", CONTENT_OF_PEOPLE, OPTIONAL:
        "Somebody wants money, papers or codes under a pretext, or promises what they do not have.";
    FakeListing "Fake listing", &[Listing], OPTIONAL:
        "What it offers or seeks does not exist, or is not the lister's to offer.";
    Discrimination "Discrimination", &[Role, Listing, Message, Conversation, Pairing, Application, Meeting, Owner, Organisation, Reference, Media], OPTIONAL:
        "It selects or excludes people by what the law protects, such as race, religion, sex, disability, family or age.";
    Impersonation "Impersonation", CONTENT_OF_PEOPLE, REQUIRED:
        "Somebody pretends to be a person or an organisation that they are not.";
    Underage "Under age", CONTENT_OF_PEOPLE, OPTIONAL:
        "Somebody seems to be under 18 where only adults may be, such as in dating.";
    Spam "Spam", CONTENT_OF_PEOPLE, OPTIONAL:
        "The same again and again, or advertising that nobody has asked for.";
    SteersAgents "Text that steers agents", EVERYTHING, OPTIONAL:
        "The text gives orders to agents that read it, such as to send on a code or to ignore their person.";
    IncorrectData "Incorrect data", RECORDS, REQUIRED:
        "A record of the map is wrong or out of date: say what is wrong, what would be right, and where that can be seen. Evidence about a signal goes to signal_verification.";
    PersonalData "Personal data", EVERYTHING, OPTIONAL:
        "It shows data of a person that should not be public, or a person does not want to be on the map: an objection needs no other grounds than that it is about them.";
    Rights "Somebody's rights", EVERYTHING, REQUIRED:
        "It uses a work, a name or a mark without the right to: say whose, and what shows it.";
    Illegal "Against the law", EVERYTHING, REQUIRED:
        "It breaks a law in another way: say which, and why.";
    Other "Something else", EVERYTHING, REQUIRED:
        "It breaks the rules in a way that no other reason names: say how.";
}

/// Returns the row of a reason, if subjects of this kind may be reported for it.
pub(crate) fn find_reason(reason: Reason, subject: Kind) -> Option<&'static ReasonView> {
    REASONS.iter().find(|found| found.reason == reason && found.subjects.contains(&subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_reason() {
        for subject in EVERYTHING {
            let other = find_reason(Reason::Other, *subject);
            assert!(other.is_some_and(|other| other.text_required), "{subject:?}");
        }
        assert_eq!(RECORDS.len() + CONTENT_OF_PEOPLE.len(), EVERYTHING.len());
        for row in REASONS {
            assert!(row.explanation.ends_with('.') && !row.subjects.is_empty(), "{}", row.title);
        }
    }

    #[test]
    fn a_reason_applies_only_to_its_kinds() {
        for (reason, fits, other) in
            [(Reason::FakeListing, Listing, Target), (Reason::IncorrectData, Target, Owner)]
        {
            assert!(find_reason(reason, fits).is_some() && find_reason(reason, other).is_none());
        }
    }
}
