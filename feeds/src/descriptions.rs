//! The descriptions of roles, in parts of bounded size beside the document of roles. A role's part is
//! given by the hash in its id, so that a part changes only with the descriptions in it.

use crate::{
    board::Posting,
    identifier,
    parts::{Documents, etag},
    record::{Description, Descriptions, PartEntry, Roads, Role},
};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read as _, Write as _},
};

/// The folder of the parts, in a publication and under `data/` below the city's path.
pub const FOLDER: &str = "parts";
/// The file name of the parts' schema.
pub const SCHEMA: &str = "descriptions.json";
/// The end of the name of a part in a publication: parts are stored compressed.
const PACKED: &str = ".gz";
/// The id of the feed whose texts are here.
const FEED: &str = "roles";
/// A part with more bytes than this is divided, if it has more than one description.
const MOST_BYTES: usize = 512 << 10;
/// The part of all roles, if it is the only one.
const ALL: &str = "all";
/// How many bits of an id's hash are used at most.
const DEEPEST: usize = 20;
/// The bytes of a description besides its texts.
const FRAME: usize = 100;
/// How many bytes of a part are read at most. A part has one description or at most `MOST_BYTES`.
const MOST_UNPACKED: u64 = 16 << 20;

/// Reads the part with this file name from the current publication, if it is there. Parts that are published
/// already are not held in memory.
pub type PublishedPart<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// Roles with descriptions, divided into parts.
#[derive(Debug)]
pub struct Division<'a> {
    /// The roles of each part, in the order of their ids, by the name of the part.
    parts: BTreeMap<String, Vec<Entry<'a>>>,
}

#[derive(Debug, Clone)]
struct Entry<'a> {
    id: String,
    bits: String,
    posting: &'a Posting,
}

impl Entry<'_> {
    fn bytes(&self) -> usize {
        FRAME + self.posting.description_html.len() + self.posting.description_text.len()
    }
}

impl<'a> Division<'a> {
    /// Divides the roles. `former`: the names of the parts that are published now; a part that was divided
    /// stays so until it has become much smaller.
    pub fn new(
        roles: &[Role],
        postings: &BTreeMap<String, &'a Posting>,
        former: &BTreeSet<String>,
    ) -> Self {
        let mut entries: Vec<_> = roles
            .iter()
            .filter_map(|role| {
                let posting = *postings.get(&role.id)?;
                Some(Entry { id: role.id.clone(), bits: bits(&role.id), posting })
            })
            .collect();
        entries.sort_by(|one, other| (&one.bits, &one.id).cmp(&(&other.bits, &other.id)));
        let mut parts = BTreeMap::new();
        divide(&entries, "", former, &mut parts);
        Self { parts }
    }

    /// Writes into the roles where their descriptions are.
    pub fn refer(&self, roles: &mut [Role], roads: &Roads) {
        let of_each = |(name, entries): (&String, &Vec<Entry<'_>>)| {
            let url = roads.document(&file(name));
            entries.iter().map(move |entry| (entry.id.clone(), url.clone())).collect::<Vec<_>>()
        };
        let urls: BTreeMap<String, String> = self.parts.iter().flat_map(of_each).collect();
        for role in roles {
            let url = urls.get(&role.id).cloned();
            role.description_url = format!("{}#{}", url.unwrap_or_default(), role.id);
        }
    }

    /// Makes the parts, and their entries in the index. A part that has not changed is not compressed again.
    pub fn parts(
        &self,
        roads: &Roads,
        former: &BTreeMap<String, PartEntry>,
        published: PublishedPart<'_>,
    ) -> io::Result<(Vec<PartEntry>, Documents)> {
        let (mut entries, mut parts) = (Vec::new(), Documents::new());
        for (name, roles) in &self.parts {
            let bytes = part(name, roles)?;
            let file = file(name);
            let entry = PartEntry {
                path: roads.path(&file),
                url: roads.document(&file),
                schema_url: roads.schema(SCHEMA),
                record_count: roles.len(),
                etag: etag(&bytes),
                bytes: bytes.len(),
            };
            let stored = format!("{file}{PACKED}");
            let is_same = former.get(name).is_some_and(|before| before.etag == entry.etag);
            let packed = match is_same.then(|| published(&stored)).flatten() {
                Some(packed) => packed,
                None => pack(&bytes)?,
            };
            parts.insert(stored, packed);
            entries.push(entry);
        }
        Ok((entries, parts))
    }
}

/// Returns the name of a part's file, as it is served.
fn file(name: &str) -> String {
    format!("{FOLDER}/{FEED}-{name}.json")
}

/// Returns the name of a part by the path at which it is served.
pub fn name_of(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or_default();
    let name = file.strip_suffix(".json").unwrap_or(file);
    name.strip_prefix(FEED).and_then(|name| name.strip_prefix('-')).unwrap_or(name)
}

/// Returns the file name in a publication of the part that is served at this path.
pub fn stored(path: &str) -> String {
    format!("{}{PACKED}", file(name_of(path)))
}

/// Returns whether the file with this name in a publication is a part.
pub fn is_part(name: &str) -> bool {
    name.starts_with(FOLDER) && name.ends_with(PACKED)
}

fn bits(id: &str) -> String {
    let digits = id.split('_').nth(1).unwrap_or_default().bytes();
    let values = digits.filter_map(identifier::value_of);
    values
        .flat_map(|value| (0..5).rev().map(move |at| value >> at & 1))
        .take(DEEPEST)
        .map(|bit| if bit == 1 { '1' } else { '0' })
        .collect()
}

/// Divides sorted roles whose hashes begin with `prefix`. It calls itself at most `DEEPEST` times.
fn divide<'a>(
    entries: &[Entry<'a>],
    prefix: &str,
    former: &BTreeSet<String>,
    parts: &mut BTreeMap<String, Vec<Entry<'a>>>,
) {
    if entries.is_empty() {
        return;
    }
    let bytes: usize = entries.iter().map(Entry::bytes).sum();
    let was_divided = || {
        former
            .iter()
            .any(|name| name.len() > prefix.len() && name.starts_with(prefix) && name != ALL)
    };
    let is_large = bytes > MOST_BYTES || (bytes > MOST_BYTES / 2 && was_divided());
    if !is_large || entries.len() == 1 || prefix.len() >= DEEPEST {
        let name = if prefix.is_empty() { ALL } else { prefix };
        parts.insert(name.to_owned(), entries.to_vec());
        return;
    }
    let (zero, one) = (format!("{prefix}0"), format!("{prefix}1"));
    let middle = entries.partition_point(|entry| entry.bits.starts_with(&zero));
    if let Some((first, second)) = entries.split_at_checked(middle) {
        divide(first, &zero, former, parts);
        divide(second, &one, former, parts);
    }
}

fn part(name: &str, roles: &[Entry<'_>]) -> serde_json::Result<Vec<u8>> {
    let describe = |entry: &Entry<'_>| Description {
        id: entry.id.clone(),
        description_text: entry.posting.description_text.text(),
        description_html: entry.posting.description_html.text(),
    };
    let items = roles.iter().map(describe).collect();
    let part = Descriptions { feed: FEED.to_owned(), part: name.to_owned(), items };
    let mut bytes = serde_json::to_vec(&part)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Returns the bytes of a part as they are served without compression.
pub fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).take(MOST_UNPACKED + 1).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= MOST_UNPACKED => Ok(bytes),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identifier::stable;

    fn postings(count: usize, length: usize) -> Vec<(String, Posting)> {
        let posting = |at: usize| Posting {
            description_html: "x".repeat(length + at % 7).into(),
            ..Posting::default()
        };
        (0..count).map(|at| (stable("rol", &[&at.to_string()]), posting(at))).collect()
    }

    fn divided(
        all: &[(String, Posting)],
        former: &BTreeSet<String>,
    ) -> BTreeMap<String, Vec<String>> {
        let mut entries: Vec<_> = all
            .iter()
            .map(|(id, posting)| Entry { id: id.clone(), bits: bits(id), posting })
            .collect();
        entries.sort_by(|one, other| one.bits.cmp(&other.bits));
        let mut parts = BTreeMap::new();
        divide(&entries, "", former, &mut parts);
        let ids = |entries: Vec<Entry<'_>>| entries.into_iter().map(|entry| entry.id).collect();
        parts.into_iter().map(|(name, entries)| (name, ids(entries))).collect()
    }

    #[test]
    fn parts_are_bounded_and_have_every_role_once() {
        let all = postings(2_000, 8_000);
        let parts = divided(&all, &BTreeSet::new());
        assert_eq!(parts.values().map(Vec::len).sum::<usize>(), all.len());
        assert!((32..128).contains(&parts.len()), "{}", parts.len());
        for (name, ids) in &parts {
            assert!(ids.len() * 8_000 <= MOST_BYTES, "{name}: {}", ids.len());
            assert!(ids.iter().all(|id| bits(id).starts_with(name.as_str())), "{name}");
        }
    }

    #[test]
    fn one_more_role_changes_one_part_and_a_divided_part_is_not_joined_at_once() {
        let all = postings(1_000, 8_000);
        let (fewer, before) = (&all[..999], BTreeSet::new());
        let first = divided(fewer, &before);
        let names: BTreeSet<String> = first.keys().cloned().collect();
        let second = divided(&all, &names);
        let changed = second.iter().filter(|(name, ids)| first.get(*name) != Some(*ids)).count();
        assert!((1..=2).contains(&changed), "{changed}");
        let small = postings(40, 8_000);
        let divided_before: BTreeSet<String> = ["0".to_owned(), "1".to_owned()].into();
        assert_eq!(divided(&small, &divided_before).len(), 2);
        assert_eq!(divided(&small, &before).len(), 1);
        assert_eq!(divided(&postings(20, 8_000), &divided_before).len(), 1);
    }

    #[test]
    fn a_description_of_any_size_has_a_part() {
        let parts = divided(&postings(3, 2_000_000), &BTreeSet::new());
        assert_eq!(parts.len(), 3);
    }

    #[test]
    fn what_is_packed_is_unpacked_and_a_bomb_is_refused() {
        assert_eq!(unpack(&pack(b"abc").unwrap()).unwrap(), b"abc");
        let bomb = pack(&vec![0; 17 << 20]).unwrap();
        assert!(unpack(&bomb).is_err());
        assert!(unpack(b"abc").is_err());
        assert_eq!(name_of("/map/data/parts/roles-0110.json"), "0110");
        assert_eq!(stored("/map/data/parts/roles-0110.json"), "parts/roles-0110.json.gz");
    }
}
