//! The texts of objects and subjects: `listing:lst_…`, `org:org_…#member`, `*`.

use crate::model::{Kind, Model, Relation, SubjectKind, kind};

/// The maximum number of bytes of an id, so that a tuple's text fits the id of a document.
const ID_BYTES: usize = 40;
pub(crate) const EVERYBODY: &str = "*";

/// An object of a type that the model has.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub(crate) kind: &'static Kind,
    pub(crate) text: String,
}

impl Object {
    pub(crate) fn parse(model: Model, text: &str) -> Option<Self> {
        let (name, id) = text.split_once(':')?;
        let kind = kind(model, name).filter(|_| is_id(id))?;
        Some(Self { kind, text: text.to_owned() })
    }

    pub(crate) fn id(&self) -> &str {
        self.text.split_once(':').map_or("", |(_, id)| id)
    }
}

/// Parses a set: all subjects with the relation to the object. Returns `None` for other texts.
pub(crate) fn parse_set(model: Model, text: &str) -> Option<(Object, &'static Relation)> {
    let (object, name) = text.split_once('#')?;
    let object = Object::parse(model, object)?;
    let relation = object.kind.relation(name)?;
    Some((object, relation))
}

/// Returns the kind of subject of a text; `None` if it cannot be parsed.
pub(crate) fn subject_kind(model: Model, text: &str) -> Option<SubjectKind> {
    if text == EVERYBODY {
        return Some(SubjectKind::All);
    }
    if let Some((object, relation)) = parse_set(model, text) {
        return Some(SubjectKind::Set(object.kind.name, relation.name));
    }
    match text.split_once(':').filter(|(_, id)| is_id(id))? {
        ("owner", _) => Some(SubjectKind::Person),
        ("agent", _) => Some(SubjectKind::Agent),
        (name, _) => kind(model, name).map(|kind| SubjectKind::Object(kind.name)),
    }
}

fn is_id(id: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !id.is_empty() && id.len() <= ID_BYTES && id.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MODEL;

    #[test]
    fn subjects_have_their_kinds() {
        for (text, expected) in [
            ("*", Some(SubjectKind::All)),
            ("owner:own_1", Some(SubjectKind::Person)),
            ("agent:agt_1", Some(SubjectKind::Agent)),
            ("org:org_1", Some(SubjectKind::Object("org"))),
            ("org:org_1#member", Some(SubjectKind::Set("org", "member"))),
            ("org:org_1#boss", None),
            ("agent:agt_1#member", None),
            ("person:x", None),
            ("owner:", None),
            ("owner:a:b", None),
            ("owner:a b", None),
            ("owner", None),
            ("", None),
        ] {
            assert_eq!(subject_kind(MODEL, text), expected, "{text}");
        }
        assert_eq!(subject_kind(MODEL, &format!("owner:{}", "a".repeat(41))), None);
    }

    #[test]
    fn the_longest_tuple_fits_a_documents_id() {
        let longest = |names: &[&str]| names.iter().map(|name| name.len()).max().unwrap();
        let kinds: Vec<_> = MODEL.iter().map(|kind| kind.name).collect();
        let relations: Vec<_> =
            MODEL.iter().flat_map(|kind| kind.relations).map(|relation| relation.name).collect();
        let object = longest(&kinds) + 1 + ID_BYTES;
        let set = "org".len() + 1 + ID_BYTES + "#recruiter".len();
        assert!(object + 1 + longest(&relations) + 1 + set <= 128);
    }
}
