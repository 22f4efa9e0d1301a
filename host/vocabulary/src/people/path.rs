//! The paths at which documents name people.

use serde_json::Value;

const MAX_PATH_LENGTH: usize = 128;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Name(String),
    /// Each element of a list.
    Elements,
    /// Each entry of an object.
    Entries,
}

impl Step {
    /// Returns whether it leads to several values.
    pub(super) fn is_repeated(&self) -> bool {
        !matches!(self, Self::Name(_))
    }

    /// Returns the name to which it leads, or `None` if it leads to several values.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Self::Name(name) => Some(name.clone()),
            Self::Elements | Self::Entries => None,
        }
    }
}

/// Parses a path. The error is a sentence that says how to write a path.
pub(super) fn parse_path(path: &str) -> Result<Vec<Step>, String> {
    let invalid = || {
        let shown: String = path.chars().take(MAX_PATH_LENGTH).collect();
        format!(
            "{shown:?} is not a path: use names joined by dots, [] for the elements of a list, \
             {{}} for the entries of an object"
        )
    };
    let mut steps = Vec::new();
    for part in path.split('.') {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, mut rest) = part.split_at(part.find(|c| !is_name(c)).unwrap_or(part.len()));
        if name.is_empty() || path.len() > MAX_PATH_LENGTH {
            return Err(invalid());
        }
        steps.push(Step::Name(name.to_owned()));
        while !rest.is_empty() {
            let (step, after) = match (rest.strip_prefix("[]"), rest.strip_prefix("{}")) {
                (Some(after), _) => (Step::Elements, after),
                (_, Some(after)) => (Step::Entries, after),
                _ => return Err(invalid()),
            };
            steps.push(step);
            rest = after;
        }
    }
    Ok(steps)
}

/// Changes each value at a path.
pub(super) fn for_each_at(value: &mut Value, path: &[Step], change: &mut dyn FnMut(&mut Value)) {
    let Some((step, rest)) = path.split_first() else { return change(value) };
    match (step, value) {
        (Step::Name(name), Value::Object(entries)) => {
            if let Some(child) = entries.get_mut(name) {
                for_each_at(child, rest, change);
            }
        }
        (Step::Elements, Value::Array(elements)) => {
            elements.iter_mut().for_each(|element| for_each_at(element, rest, change));
        }
        (Step::Entries, Value::Object(entries)) => {
            entries.values_mut().for_each(|child| for_each_at(child, rest, change));
        }
        _ => {}
    }
}
