//! The ids of people in a text.

const PREFIXES: [&str; 2] = ["own_", "agt_"];
/// The length of an id of a person: a prefix and a ULID.
const ID_LENGTH: usize = 4 + 26;
/// The part after the prefix in the id that replaces an erased person's id.
const NOBODY: &str = "00000000000000000000000000";

/// The letters that stand for a control character after a backslash in a text of JSON.
const ESCAPES: [char; 5] = ['n', 'r', 't', 'b', 'f'];
/// The length of a control character that is written as its number: `\u` and four digits.
const NUMBER_LENGTH: usize = 6;

/// Returns the ids of owners and agents that are whole words of a text, except that of nobody. The text may be
/// serialized JSON, in which an id can follow a control character that is written with letters, such as `\n`.
pub fn person_ids(text: &str) -> impl Iterator<Item = &str> {
    let starts = PREFIXES.iter().flat_map(move |prefix| text.match_indices(prefix));
    starts.filter_map(move |(start, _)| {
        let id = text.get(start..start + ID_LENGTH)?;
        let is_whole = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric());
        let is_id = id.get(4..).is_some_and(|ulid| {
            ulid != NOBODY && ulid.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
        });
        let (before, after) = (text.get(..start)?, text.get(start + ID_LENGTH..)?);
        let begins = is_whole(before.chars().next_back()) || ends_with_escape(before);
        (is_id && begins && is_whole(after.chars().next())).then_some(id)
    })
}

/// Returns whether a text ends with a control character as JSON writes it.
fn ends_with_escape(text: &str) -> bool {
    let has_letter = text.strip_suffix(ESCAPES).is_some_and(|before| before.ends_with('\\'));
    let number = text.len().checked_sub(NUMBER_LENGTH).and_then(|start| text.get(start..));
    has_letter || number.is_some_and(|number| number.starts_with("\\u"))
}

/// Replaces the ids of these people in a text with that of nobody.
pub fn redact_ids(text: &str, people: &[String]) -> String {
    people.iter().fold(text.to_owned(), |text, person| match person.get(..4) {
        Some(prefix) => text.replace(person, &format!("{prefix}{NOBODY}")),
        None => text,
    })
}
