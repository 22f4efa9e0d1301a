//! Anchors of headings, so that links can lead to them.

/// The maximum number of headings with anchors. Later headings have none.
const MOST: usize = 256;

const LONGEST: usize = 60;

/// The prefix of anchors. Its hyphen prevents an anchor from being the name of a variable in a
/// page's script.
const PREFIX: &str = "section-";

/// Whether the id has the form of the anchors that [`Anchors::give`] returns.
pub(crate) fn is_anchor(id: &str) -> bool {
    id.strip_prefix(PREFIX).is_some_and(|rest| {
        !rest.is_empty()
            && rest.len() <= LONGEST + 8
            && rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    })
}

/// The anchors of one text so far.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    given: Vec<String>,
}

impl Anchors {
    /// Returns an anchor that no other heading has; `None` if there are too many.
    pub(crate) fn give(&mut self, heading: &str) -> Option<String> {
        if self.given.len() >= MOST {
            return None;
        }
        let stem = format!("{PREFIX}{}", slug(heading));
        let mut anchor = stem.clone();
        let mut number = 1;
        while self.given.contains(&anchor) {
            number += 1;
            anchor = format!("{stem}-{number}");
        }
        self.given.push(anchor.clone());
        Some(anchor)
    }
}

/// Returns the ASCII letters and digits of a heading in lower case, with a hyphen for all
/// characters between them; `heading` if there are none.
fn slug(heading: &str) -> String {
    let mut slug = String::new();
    for character in heading.chars() {
        if slug.len() >= LONGEST {
            break;
        }
        match character {
            'a'..='z' | '0'..='9' => slug.push(character),
            'A'..='Z' => slug.push(character.to_ascii_lowercase()),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "heading".into() } else { slug.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_plain_and_distinct() {
        let mut anchors = Anchors::default();
        assert_eq!(anchors.give("Your first call!").as_deref(), Some("section-your-first-call"));
        assert_eq!(anchors.give("Your  first call").as_deref(), Some("section-your-first-call-2"));
        assert_eq!(anchors.give("日本").as_deref(), Some("section-heading"));
        assert_eq!(anchors.give("\"><script>").as_deref(), Some("section-script"));
    }

    #[test]
    fn their_number_and_length_are_bounded() {
        let mut anchors = Anchors::default();
        let given: Vec<_> = (0..1000).filter_map(|_| anchors.give(&"x".repeat(500))).collect();
        assert_eq!(given.len(), MOST);
        assert!(given.iter().all(|anchor| is_anchor(anchor)));
    }

    #[test]
    fn other_ids_are_not_anchors() {
        for id in ["", "section-", "cookie", "section-A", "section-a b", "Section-a"] {
            assert!(!is_anchor(id), "{id}");
        }
    }
}
