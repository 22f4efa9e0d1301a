//! Ids that are derived from the two people, so that there is at most one relationship of a kind.

use crate::types::Kind;

pub(crate) fn id(kind: Kind, subject: &str, object: &str) -> String {
    let (name, subject, object) = match kind {
        Kind::Follow => ("follow", subject, object),
        // The id is the same from both sides.
        Kind::Connect => ("connect", subject.min(object), subject.max(object)),
        Kind::Block => ("block", subject, object),
        Kind::Mute => ("mute", subject, object),
    };
    format!("rel_{name}_{subject}_{object}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_connection_is_the_same_from_both_sides() {
        for kind in [Kind::Follow, Kind::Connect, Kind::Block, Kind::Mute] {
            let same = id(kind, "own_a", "own_b") == id(kind, "own_b", "own_a");
            assert_eq!(same, kind == Kind::Connect, "{kind:?}");
        }
    }
}
