//! The refusal of a call of a page, in words for the person who made it.

use super::things::label;
use portolan_catalog::Snapshot;
use portolan_vocabulary::Failure;
use serde_json::Value;

/// The maximum number of characters of a component's text, and of faults that are named.
const CHARACTERS: usize = 600;
const FAULTS: usize = 10;
/// The time from which a wait is told in minutes, and in hours.
const MINUTES_FROM_S: u64 = 120;
const HOURS_FROM_S: u64 = 7_200;

/// The rule that an input violates, by the keyword of the schema.
const RULES: [(&str, &str); 11] = [
    ("required", "is missing"),
    ("type", "is not of the right kind"),
    ("pattern", "does not have the right form"),
    ("format", "does not have the right form"),
    ("enum", "is none of the choices"),
    ("minLength", "is too short"),
    ("maxLength", "is too long"),
    ("minimum", "is too small"),
    ("maximum", "is too large"),
    ("minItems", "has too few choices"),
    ("maxItems", "has too many choices"),
];

/// A refusal as a page tells it.
pub(super) struct Refused {
    pub(super) message: String,
    /// The faults of the form's values, each with the path of its field.
    pub(super) faults: Vec<Fault>,
    /// The advice, in words.
    pub(super) advice: Option<String>,
    /// The page where the step can be taken that helps.
    pub(super) link: Option<String>,
}

/// A fault of one field.
pub(super) struct Fault {
    pub(super) path: String,
    pub(super) label: String,
    pub(super) text: &'static str,
}

impl Refused {
    pub(super) fn of(failure: &Failure, snapshot: &Snapshot) -> Self {
        let next = failure.next.as_deref();
        let member = |name: &str| next.and_then(|next| next.get(name)).and_then(Value::as_str);
        let wait = next.and_then(|next| next.get("after_s")).and_then(Value::as_u64);
        let capability = member("capability").and_then(|id| snapshot.capabilities.get(id));
        let action = next.and_then(|next| next.pointer("/input/action")).and_then(Value::as_str);
        let step = capability.zip(action).and_then(|(capability, name)| {
            let action = capability.callable().find(|action| action.descriptor.name == name)?;
            Some((capability, &action.descriptor))
        });
        let advice = match (member("ask_user"), step, wait) {
            (Some(question), _, _) => Some(excerpt(question)),
            (None, Some((capability, action)), _) => {
                let (title, of) = (&action.title, &capability.descriptor.title);
                Some(excerpt(&format!("What helps: “{title}” of “{of}”.")))
            }
            (None, None, Some(seconds)) => Some(format!("Try again in {}.", duration(seconds))),
            (None, None, None) => None,
        };
        let has_page = |action: &str| {
            capability.filter(|capability| {
                capability.person_pages.iter().any(|page| page.action == action)
            })
        };
        let link =
            action.and_then(has_page).map(|capability| format!("/account/{}", capability.id));
        Self { message: excerpt(&failure.message), faults: faults(failure), advice, link }
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(CHARACTERS).collect()
}

/// Returns a time for people to read.
fn duration(seconds: u64) -> String {
    match seconds {
        0 | 1 => "one second".to_owned(),
        2..MINUTES_FROM_S => format!("{seconds} seconds"),
        MINUTES_FROM_S..HOURS_FROM_S => format!("{} minutes", seconds.div_ceil(60)),
        HOURS_FROM_S.. => format!("{} hours", seconds.div_ceil(3600)),
    }
}

/// Returns the faults that a failed validation names.
fn faults(failure: &Failure) -> Vec<Fault> {
    let conflict = failure.conflict.as_deref();
    let errors = conflict.and_then(|conflict| conflict.get("errors")).and_then(Value::as_array);
    let fault = |error: &Value| {
        let pointer = error.get("pointer").and_then(Value::as_str)?;
        let path = pointer.trim_start_matches('/').replace('/', ".");
        let rule = error.get("rule").and_then(Value::as_str).unwrap_or_default();
        let text = RULES.iter().find(|(name, _)| *name == rule);
        let text = text.map_or("is not right", |(_, text)| *text);
        (!path.is_empty()).then(|| Fault { label: label(&path), path, text })
    };
    errors.into_iter().flatten().filter_map(fault).take(FAULTS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_vocabulary::ErrorCode;
    use serde_json::json;

    #[test]
    fn faults_and_waits_are_told_in_words() {
        let failure = Failure::new(ErrorCode::ValidationFailed).conflict(json!({ "errors": [
            { "pointer": "/quiet_hours/from", "rule": "pattern" }, { "pointer": "", "rule": "type" },
        ] }));
        let told = faults(&failure);
        assert_eq!(told.len(), 1);
        assert_eq!((&*told[0].path, &*told[0].label), ("quiet_hours.from", "Quiet hours: from"));
        assert_eq!(told[0].text, "does not have the right form");
        let told = [1, 90, 600, 86_400].map(duration);
        assert_eq!(told, ["one second", "90 seconds", "10 minutes", "24 hours"]);
    }
}
