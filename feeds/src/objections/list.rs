//! The list of objections, as the operator and `portolan feeds object` write it.

use super::names::{domain, folded, is_page};
use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    path::Path,
};

/// The name of the list in the folder of the feeds.
pub const LIST: &str = "objections.toml";
/// The file that one writer of the list locks.
const LOCK: &str = "objections.lock";
/// How many objections a list may have.
const MOST: usize = 5_000;
/// How many bytes a list may have.
const MOST_BYTES: u64 = 4 << 20;
/// How many characters a match and a reason may have.
const MOST_MATCH: usize = 300;
const MOST_REASON: usize = 1_000;
const HEAD: &str =
    "# Who and what is not published, although the sources have it. Delete an entry to end it.\n";

/// One objection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objection {
    pub kind: ObjectionKind,
    /// What is not published. A person: the full name, the address of a profile, or the record's id. A
    /// company: the domain of its website, its name, or the record's id. A record: its id.
    #[serde(rename = "match")]
    pub matched: String,
    pub reason: String,
    pub date: Timestamp,
}

/// What an objection is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectionKind {
    /// The person is not listed. If the match is a name, it is also removed from all other texts.
    Person,
    /// The company is not listed, nor are its roles, people, signals, posts and events.
    Company,
    Record,
}

/// The list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objections {
    #[serde(default)]
    pub objection: Vec<Objection>,
}

/// The reason why a list cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ObjectionError {
    #[error("{LIST}: {0}")]
    Io(#[from] io::Error),
    #[error("{LIST}: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("{LIST}: {0}")]
    Write(#[from] toml::ser::Error),
    #[error("{LIST}: {0}")]
    Faulty(String),
}

impl Objections {
    /// Reads the list in a folder of feeds; without a file it is empty.
    pub fn read(folder: &Path) -> Result<Self, ObjectionError> {
        Self::parse(&text(folder)?)
    }

    fn parse(text: &str) -> Result<Self, ObjectionError> {
        let list: Self = toml::from_str(text)?;
        let mut faults: Vec<String> = (list.objection.iter().enumerate())
            .filter_map(|(at, objection)| {
                Some(format!("objection {}: {}", at + 1, objection.fault()?))
            })
            .collect();
        if list.objection.len() > MOST {
            faults.push(format!("there are more than {MOST} objections"));
        }
        match faults.is_empty() {
            true => Ok(list),
            false => Err(ObjectionError::Faulty(faults.join("; "))),
        }
    }

    /// Adds an objection to the list in a folder, and returns whether it is new. What else is in the file
    /// stays as it is.
    pub fn add(folder: &Path, objection: &Objection) -> Result<bool, ObjectionError> {
        /// The file, as far as it is written.
        #[derive(Serialize)]
        struct Entry<'a> {
            objection: [&'a Objection; 1],
        }
        fs::create_dir_all(folder)?;
        let lock = File::create(folder.join(LOCK))?;
        lock.lock()?;
        let before = text(folder)?;
        let same = |known: &Objection| {
            known.kind == objection.kind && folded(&known.matched) == folded(&objection.matched)
        };
        if Self::parse(&before)?.objection.iter().any(same) {
            return Ok(false);
        }
        let entry = toml::to_string(&Entry { objection: [objection] })?;
        let begin = if before.is_empty() { HEAD } else { before.trim_end() };
        let after = format!("{begin}\n{entry}");
        Self::parse(&after)?;
        // Only its owner can read a temporary file, and so the list.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(after.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(folder.join(LIST)).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()?;
        Ok(true)
    }
}

fn text(folder: &Path) -> io::Result<String> {
    let file = folder.join(LIST);
    match fs::metadata(&file) {
        Ok(found) if found.len() > MOST_BYTES => {
            Err(io::Error::new(ErrorKind::InvalidData, "it is too large"))
        }
        Ok(_) => fs::read_to_string(&file),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

impl Objection {
    /// Returns what is wrong with it.
    fn fault(&self) -> Option<&'static str> {
        let matched = self.matched.trim();
        let is_id = is_record(matched);
        if folded(matched).is_empty() {
            return Some("match is empty");
        }
        if matched.chars().count() > MOST_MATCH || self.reason.chars().count() > MOST_REASON {
            return Some("match or reason is too long");
        }
        match self.kind {
            ObjectionKind::Record if !is_id => {
                Some("match of a record is its id, such as rol_ and 26 characters")
            }
            ObjectionKind::Person if is_id && !matched.starts_with("per_") => {
                Some("match is the id of another record than a person: use kind = \"record\"")
            }
            ObjectionKind::Company if is_id && !matched.starts_with("tgt_") => {
                Some("match is the id of another record than a company: use kind = \"record\"")
            }
            ObjectionKind::Company if matched.contains("://") && domain(matched).is_none() => {
                Some("match is an address without the domain of a company")
            }
            // All companies of a site such as a network would be removed.
            ObjectionKind::Company if is_page(matched) => Some(
                "match is a page of a site: name the company's own domain, its name or its tgt_ id",
            ),
            _ => None,
        }
    }
}

/// Returns whether a text is the id of a record to which somebody can object.
pub(super) fn is_record(text: &str) -> bool {
    let kinds = ["tgt_", "sig_", "rol_", "per_", "evn_", "soc_"];
    let digits = kinds.iter().find_map(|kind| text.strip_prefix(kind));
    digits.is_some_and(|digits| {
        digits.len() == 26 && digits.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn objection(kind: ObjectionKind, matched: &str) -> Objection {
        let date = Timestamp::from_millis(0);
        Objection { kind, matched: matched.to_owned(), reason: "asked \"so\"\n".to_owned(), date }
    }

    #[test]
    fn an_objection_is_added_once_and_the_rest_of_the_file_stays() {
        let folder = TempDir::new().unwrap();
        assert_eq!(Objections::read(folder.path()).unwrap(), Objections::default());
        let list = folder.path().join(LIST);
        fs::write(&list, "# by hand\n[[objection]]\nkind = \"company\"\nmatch = \"a.example\"\nreason = \"letter\"\ndate = \"2026-11-01\"\n").unwrap();
        let person = objection(ObjectionKind::Person, "Jo \"]]\n[[ Maren");
        assert!(Objections::add(folder.path(), &person).unwrap());
        assert!(!Objections::add(folder.path(), &person).unwrap());
        let read = Objections::read(folder.path()).unwrap();
        assert_eq!(read.objection.len(), 2);
        assert_eq!(read.objection.last(), Some(&person));
        assert!(fs::read_to_string(list).unwrap().starts_with("# by hand\n"));
    }

    #[test]
    fn a_company_is_named_by_its_domain_or_its_name() {
        for matched in
            ["copperleaf.example", "https://www.copperleaf.example/", "AC/DC Labs", "A/B"]
        {
            assert_eq!(objection(ObjectionKind::Company, matched).fault(), None, "{matched}");
        }
    }

    #[test]
    fn what_cannot_be_applied_is_refused_and_not_written() {
        let folder = TempDir::new().unwrap();
        let id = "rol_0000000000000000000000000A";
        for (kind, matched) in [
            (ObjectionKind::Record, "Jo Maren"),
            (ObjectionKind::Person, " \u{200b} "),
            (ObjectionKind::Person, id),
            (ObjectionKind::Company, id),
            (ObjectionKind::Company, "https://com/"),
            (ObjectionKind::Company, "https://www.linkedin.example/company/acme"),
            (ObjectionKind::Company, "network.example/acme"),
            (ObjectionKind::Company, "https://sites.example/?c=acme"),
            (ObjectionKind::Person, &"x".repeat(301)),
        ] {
            let refused = Objections::add(folder.path(), &objection(kind, matched));
            assert!(matches!(refused, Err(ObjectionError::Faulty(_))), "{matched}");
        }
        assert!(!folder.path().join(LIST).exists());
        fs::write(folder.path().join(LIST), "[[objection]]\nkind = \"person\"").unwrap();
        assert!(Objections::read(folder.path()).is_err());
    }
}
