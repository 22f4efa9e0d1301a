//! The ids of people in a text.

const PREFIXES: [&str; 2] = ["own_", "agt_"];
/// The length of an id of a person: a prefix and a ULID.
const ID_LENGTH: usize = 4 + 26;
/// The part after the prefix in the id that replaces an erased person's id.
const NOBODY: &str = "00000000000000000000000000";

/// Returns the ids of owners and agents that are whole words of a text, except that of nobody.
pub fn person_ids(text: &str) -> impl Iterator<Item = &str> {
    let starts = PREFIXES.iter().flat_map(move |prefix| text.match_indices(prefix));
    starts.filter_map(move |(start, _)| {
        let id = text.get(start..start + ID_LENGTH)?;
        let is_whole = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric());
        let is_id = id.get(4..).is_some_and(|ulid| {
            ulid != NOBODY && ulid.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
        });
        let (before, after) = (text.get(..start)?, text.get(start + ID_LENGTH..)?);
        (is_id && is_whole(before.chars().next_back()) && is_whole(after.chars().next()))
            .then_some(id)
    })
}

/// Replaces the ids of these people in a text with that of nobody.
pub fn redact_ids(text: &str, people: &[String]) -> String {
    people.iter().fold(text.to_owned(), |text, person| match person.get(..4) {
        Some(prefix) => text.replace(person, &format!("{prefix}{NOBODY}")),
        None => text,
    })
}
