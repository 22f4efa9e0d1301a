//! The parts of a new version that do not fit the documents that the old one has stored.

use crate::problem::{Problem, Problems};
use portolan_vocabulary::{Collection, Descriptor, Index};

/// Returns the problems that keep a new version from serving, or from reading what is stored, each with its
/// fix.
pub fn stored_conflicts(old: &Descriptor, new: &Descriptor) -> Vec<Problem> {
    let mut conflicts = Problems::default();
    for before in &old.collections {
        let at = format!("collections.{}", before.name);
        match new.collections.iter().find(|after| after.name == before.name) {
            None => conflicts.add(
                at,
                "is removed, and its documents stay stored where nothing reads them",
                "keep the collection until its documents are deleted",
            ),
            Some(after) => compare(before, after, &at, &mut conflicts),
        }
    }
    conflicts.0
}

fn compare(old: &Collection, new: &Collection, at: &str, conflicts: &mut Problems) {
    if new.version < old.version {
        let problem =
            format!("has version {}, and documents of {} are stored", new.version, old.version);
        conflicts.add(at, problem, "count versions upwards, and migrate the documents");
    }
    for index in new.indexes.iter().filter(|index| index.unique) {
        let is_same = |before: &&Index| before.unique && before.paths == index.paths;
        if !old.indexes.iter().any(|before| is_same(&before)) {
            conflicts.add(
                format!("{at}.indexes.{}", index.name),
                format!("is unique now: the version is refused if two documents have one value of {}", index.paths.join(", ")),
                "make the values of the stored documents unique first, or leave the index as it was",
            );
        }
    }
    let paths = |collection: &Collection| -> Vec<String> {
        collection.people.iter().flatten().map(|person| person.path.clone()).collect()
    };
    let kept = paths(new);
    for path in paths(old).into_iter().filter(|path| !kept.contains(path)) {
        if new.version == old.version {
            conflicts.add(
                format!("{at}.people.{path}"),
                "is no longer declared: the version is refused if a stored document names a person there",
                "declare the path, or raise the collection's version and migrate the documents",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection(version: u32, unique: bool) -> Collection {
        let paths = vec!["code".to_owned()];
        let index = Index { name: "code".to_owned(), paths, unique };
        Collection {
            name: "books".to_owned(),
            indexes: vec![index],
            text: Vec::new(),
            geo: None,
            version,
            people: None,
        }
    }

    #[test]
    fn a_stricter_index_and_an_older_form_do_not_fit() {
        let conflicts = |old: &Collection, new: &Collection| {
            let mut conflicts = Problems::default();
            compare(old, new, "collections.books", &mut conflicts);
            conflicts.0.into_iter().map(|conflict| conflict.at).collect::<Vec<_>>()
        };
        let (loose, unique, older) =
            (collection(2, false), collection(2, true), collection(1, false));
        assert_eq!(conflicts(&loose, &unique), ["collections.books.indexes.code"]);
        assert_eq!(conflicts(&loose, &older), ["collections.books"]);
        assert_eq!(conflicts(&unique, &loose), [""; 0]);
    }
}
