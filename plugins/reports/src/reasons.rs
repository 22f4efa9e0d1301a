//! For which reasons something is reported, as one table.

use crate::subjects::Kind::{
    self, Conversation, Event, Listing, Meeting, Mention, Message, Organisation, Owner, Pairing,
    Person, Question, Role, Signal, Target,
};
use portolan_sdk::prelude::*;

#[choice]
pub(crate) enum Reason {
    Abuse,
    Scam,
    FakeListing,
    Discrimination,
    Impersonation,
    Underage,
    Spam,
    SteersAgents,
    IncorrectData,
    PersonalData,
    Rights,
    Illegal,
    Other,
}

/// A reason with what it is for.
#[output(Clone)]
pub(crate) struct ReasonView {
    pub(crate) reason: Reason,
    title: &'static str,
    explanation: &'static str,
    /// What may be reported for it.
    pub(crate) subjects: &'static [Kind],
    /// Whether a report needs a text that says what is wrong.
    pub(crate) text_required: bool,
}

const RECORDS: &[Kind] = &[Target, Signal, Role, Person, Event, Mention, Question];
const PEOPLES: &[Kind] = &[Listing, Message, Conversation, Pairing, Meeting, Owner, Organisation];
const EVERYTHING: &[Kind] = &[
    Target,
    Signal,
    Role,
    Person,
    Event,
    Mention,
    Question,
    Listing,
    Message,
    Conversation,
    Pairing,
    Meeting,
    Owner,
    Organisation,
];

pub(crate) const REASONS: [ReasonView; 13] = [
    ReasonView {
        reason: Reason::Abuse,
        title: "Abuse",
        explanation: "Somebody insults, threatens, stalks or harasses. In danger, call the emergency services first; block the person as well.",
        subjects: PEOPLES,
        text_required: false,
    },
    ReasonView {
        reason: Reason::Scam,
        title: "Scam",
        explanation: "Somebody wants money, papers or codes under a pretext, or promises what they do not have.",
        subjects: PEOPLES,
        text_required: false,
    },
    ReasonView {
        reason: Reason::FakeListing,
        title: "Fake listing",
        explanation: "What it offers or seeks does not exist, or is not the lister's to offer.",
        subjects: &[Listing],
        text_required: false,
    },
    ReasonView {
        reason: Reason::Discrimination,
        title: "Discrimination",
        explanation: "It selects or excludes people by what the law protects, such as race, religion, sex, disability, family or age.",
        subjects: &[Role, Listing, Message, Conversation, Pairing, Meeting, Owner, Organisation],
        text_required: false,
    },
    ReasonView {
        reason: Reason::Impersonation,
        title: "Impersonation",
        explanation: "Somebody gives themselves out for a person or an organisation that they are not.",
        subjects: PEOPLES,
        text_required: true,
    },
    ReasonView {
        reason: Reason::Underage,
        title: "Under age",
        explanation: "Somebody seems to be under 18 where only adults may be, such as in dating.",
        subjects: PEOPLES,
        text_required: false,
    },
    ReasonView {
        reason: Reason::Spam,
        title: "Spam",
        explanation: "The same again and again, or advertising that nobody has asked for.",
        subjects: PEOPLES,
        text_required: false,
    },
    ReasonView {
        reason: Reason::SteersAgents,
        title: "Text that steers agents",
        explanation: "The text gives orders to agents that read it, such as to send on a code or to ignore their person.",
        subjects: EVERYTHING,
        text_required: false,
    },
    ReasonView {
        reason: Reason::IncorrectData,
        title: "Incorrect data",
        explanation: "A record of the map is wrong or out of date: say what is wrong, what would be right, and where that can be seen. Evidence about a signal goes to signal_verification.",
        subjects: RECORDS,
        text_required: true,
    },
    ReasonView {
        reason: Reason::PersonalData,
        title: "Personal data",
        explanation: "It shows data of a person that should not be public, or a person does not want to be on the map: an objection needs no other grounds than that it is about them.",
        subjects: EVERYTHING,
        text_required: false,
    },
    ReasonView {
        reason: Reason::Rights,
        title: "Somebody's rights",
        explanation: "It uses a work, a name or a mark without the right to: say whose, and what shows it.",
        subjects: EVERYTHING,
        text_required: true,
    },
    ReasonView {
        reason: Reason::Illegal,
        title: "Against the law",
        explanation: "It breaks a law in another way: say which, and why.",
        subjects: EVERYTHING,
        text_required: true,
    },
    ReasonView {
        reason: Reason::Other,
        title: "Something else",
        explanation: "It breaks the rules in a way that no other reason names: say how.",
        subjects: EVERYTHING,
        text_required: true,
    },
];

/// The row of a reason, if things of this kind are reported for it.
pub(crate) fn fitting(reason: Reason, subject: Kind) -> Option<&'static ReasonView> {
    REASONS.iter().find(|it| it.reason == reason && it.subjects.contains(&subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_something_for_everything() {
        for subject in EVERYTHING {
            let other = fitting(Reason::Other, *subject);
            assert!(other.is_some_and(|it| it.text_required), "{subject:?}");
        }
        assert_eq!(RECORDS.len() + PEOPLES.len(), EVERYTHING.len());
    }

    #[test]
    fn each_reason_stands_once_and_says_what_it_is_for() {
        for (number, row) in REASONS.iter().enumerate() {
            assert_eq!(REASONS.iter().position(|it| it.reason == row.reason), Some(number));
            assert!(row.explanation.ends_with('.') && !row.subjects.is_empty(), "{}", row.title);
        }
    }

    #[test]
    fn a_reason_is_for_what_it_can_be_about() {
        assert!(fitting(Reason::FakeListing, Listing).is_some());
        assert!(fitting(Reason::FakeListing, Target).is_none());
        assert!(fitting(Reason::IncorrectData, Target).is_some());
        assert!(fitting(Reason::IncorrectData, Owner).is_none());
    }
}
