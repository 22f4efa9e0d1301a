//! The compile cache of an author's commands: the machine code of single functions, so that a component of
//! which little has changed is compiled in a fraction of the time.
//!
//! The cache is one file, which is read as a whole. The entries that a compilation adds are appended; if the
//! file would become too large or is damaged, it is replaced by one with fewer entries. An entry is the
//! compiler's key of a function, a length, a checksum and the code. Only the process that compiles reads and
//! writes the file; a host that serves has none.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fs::OpenOptions,
    io::Write as _,
    ops::Range,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};
use wasmtime::CacheStore;

/// The maximum number of bytes of the file: every compilation reads all of it. A component in Python takes 27
/// MiB, one in JavaScript 6 MiB, one in Rust 2 MiB.
const MAX_BYTES: usize = 64 << 20;
/// The end of the file's name. It follows the name of the engine's code generation.
const SUFFIX: &str = ".functions";
/// The bits of a file's mode that let other users write to it.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The compiler's key of a function: a SHA-256 hash of the function and of the settings.
type Key = [u8; 32];

/// The cache, opened for one compilation.
#[derive(Debug)]
pub(super) struct FunctionCache {
    file: PathBuf,
    bytes: Vec<u8>,
    entries: BTreeMap<Key, Range<usize>>,
    accesses: Mutex<Accesses>,
}

/// The entries that the compilation has used, and those that it has added.
#[derive(Debug, Default)]
struct Accesses {
    used: BTreeSet<Key>,
    added: BTreeMap<Key, Vec<u8>>,
}

/// Creates the folder for this user alone, and returns the path of the cache file in it for the engine with
/// this code generation.
pub(super) fn file(folder: &Path, compatibility: &str) -> std::io::Result<PathBuf> {
    create_private(folder)?;
    Ok(folder.join(format!("{compatibility}{SUFFIX}")))
}

/// Removes the cache files of other engines from the folder of `file`.
pub(super) fn remove_others(file: &Path) {
    let folder = file.parent().map(std::fs::read_dir).into_iter().flatten();
    for entry in folder.flatten().flatten() {
        let path = entry.path();
        if path != file && entry.file_name().to_string_lossy().ends_with(SUFFIX) {
            // Another process may have removed it.
            let _removed = std::fs::remove_file(path);
        }
    }
}

/// Creates a folder for this user alone: what is in it is run as native code, so no other user may put
/// anything there.
pub(super) fn create_private(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

impl FunctionCache {
    /// Reads the file. The cache is empty if the file cannot be read, or could have been written by another
    /// user.
    pub(super) fn open(file: PathBuf) -> Self {
        let bytes = match is_private_file(&file) {
            true => std::fs::read(&file).unwrap_or_default(),
            false => Vec::new(),
        };
        let entries = entries(&bytes);
        Self { file, bytes, entries, accesses: Mutex::default() }
    }

    /// Writes the added entries to the file.
    pub(super) fn write(&self) -> std::io::Result<()> {
        self.write_with_limit(MAX_BYTES)
    }

    fn write_with_limit(&self, max_bytes: usize) -> std::io::Result<()> {
        let accesses = self.accesses();
        let added: Vec<u8> = accesses
            .added
            .iter()
            .flat_map(|(key, code)| [header(key, code), code.clone()])
            .flatten()
            .collect();
        if added.is_empty() {
            return Ok(());
        }
        let intact = self.entries.values().map(|range| range.end).max().unwrap_or(0);
        let is_intact = intact == self.bytes.len() && is_private_file(&self.file);
        if is_intact && intact + added.len() <= max_bytes {
            return OpenOptions::new().append(true).open(&self.file)?.write_all(&added);
        }
        self.replace(&accesses, added, max_bytes)
    }

    /// Writes the file anew, with the used and the added entries. Unused entries are kept only while the old
    /// entries take at most three quarters of `max_bytes`, so that the next compilations can append.
    fn replace(
        &self,
        accesses: &Accesses,
        added: Vec<u8>,
        max_bytes: usize,
    ) -> std::io::Result<()> {
        let (used, unused): (Vec<_>, Vec<_>) =
            self.entries.iter().partition(|(key, _)| accesses.used.contains(*key));
        let mut kept = Vec::new();
        let mut keep = |entries: &[(&Key, &Range<usize>)], max_bytes: usize| {
            for (key, range) in entries {
                let Some(code) = self.bytes.get((*range).clone()) else { continue };
                let header = header(key, code);
                if kept.len() + header.len() + code.len() > max_bytes {
                    break;
                }
                kept.extend(header);
                kept.extend_from_slice(code);
            }
        };
        let remaining = max_bytes.saturating_sub(added.len());
        keep(&used, remaining);
        keep(&unused, remaining.min(max_bytes / 4 * 3));
        if added.len() <= max_bytes {
            kept.extend(added);
        }
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
        file.write_all(&kept)?;
        file.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }

    fn accesses(&self) -> MutexGuard<'_, Accesses> {
        self.accesses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheStore for FunctionCache {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        let key = Key::try_from(key).ok()?;
        let code = self.bytes.get(self.entries.get(&key)?.clone())?;
        self.accesses().used.insert(key);
        Some(Cow::Borrowed(code))
    }

    fn insert(&self, key: &[u8], code: Vec<u8>) -> bool {
        let Ok(key) = Key::try_from(key) else { return false };
        self.accesses().added.insert(key, code);
        true
    }
}

/// Returns whether this is a regular file, not a link, that this user owns and no other user can write to.
fn is_private_file(file: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(file).is_ok_and(|found| {
        found.is_file() && found.uid() == own && found.mode() & WRITABLE_BY_OTHERS == 0
    })
}

/// Returns the part of an entry that precedes its code.
fn header(key: &Key, code: &[u8]) -> Vec<u8> {
    let length = u32::try_from(code.len()).unwrap_or(u32::MAX);
    [key.as_slice(), &length.to_le_bytes(), &checksum(key, code).to_le_bytes()].concat()
}

fn checksum(key: &Key, code: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(code);
    hasher.finalize()
}

/// Returns where the code of each entry is, up to the first damaged entry: it is unknown where the entries
/// after that one begin.
fn entries(bytes: &[u8]) -> BTreeMap<Key, Range<usize>> {
    let mut found = BTreeMap::new();
    let mut rest = bytes;
    while let Some((key, code, after)) = first_entry(rest) {
        let start = bytes.len() - after.len() - code.len();
        found.insert(*key, start..start + code.len());
        rest = after;
    }
    found
}

fn first_entry(bytes: &[u8]) -> Option<(&Key, &[u8], &[u8])> {
    let (key, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let (code, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    (checksum(key, code) == u32::from_le_bytes(*sum)).then_some((key, code, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Key = [1; 32];
    const TWO: Key = [2; 32];
    const THREE: Key = [3; 32];

    fn cache() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder.path().join("cache"), "engine").unwrap();
        let first = FunctionCache::open(file.clone());
        assert!(first.get(&ONE).is_none());
        first.insert(&ONE, b"first".to_vec());
        first.insert(&TWO, b"second".to_vec());
        first.write().unwrap();
        (folder, file)
    }

    fn code(cache: &FunctionCache, key: &Key) -> Option<String> {
        cache.get(key).map(|code| String::from_utf8_lossy(&code).into_owned())
    }

    #[test]
    fn a_compilation_finds_the_entries_of_the_previous_one() {
        let (_folder, file) = cache();
        let second = FunctionCache::open(file.clone());
        assert_eq!(code(&second, &TWO).as_deref(), Some("second"));
        second.insert(&THREE, b"third".to_vec());
        second.write().unwrap();
        let third = FunctionCache::open(file);
        let found = [ONE, TWO, THREE].map(|key| code(&third, &key));
        assert_eq!(found, ["first", "second", "third"].map(|code| Some(code.to_owned())));
    }

    #[test]
    fn additions_are_appended_while_there_is_room_and_the_file_is_intact() {
        use std::io::Read as _;
        let (_folder, file) = cache();
        let mut open = std::fs::File::open(&file).unwrap();
        let add = |key: Key, text: &str| {
            let cache = FunctionCache::open(file.clone());
            cache.insert(&key, text.as_bytes().to_vec());
            cache.write().unwrap();
        };
        add(THREE, "third");
        let mut bytes = Vec::new();
        open.read_to_end(&mut bytes).unwrap();
        assert_eq!(entries(&bytes).len(), 3, "the same file has grown");

        // Entries appended behind a torn one would not be found, so the file is replaced.
        std::fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
        add([4; 32], "fourth");
        let last = FunctionCache::open(file.clone());
        let found = [ONE, TWO, THREE, [4; 32]].map(|key| code(&last, &key));
        assert_eq!(
            found,
            [Some("first"), Some("second"), None, Some("fourth")]
                .map(|text| text.map(str::to_owned))
        );
    }

    #[test]
    fn unused_entries_are_dropped_first() {
        let (_folder, file) = cache();
        let second = FunctionCache::open(file.clone());
        second.get(&TWO).unwrap();
        second.insert(&THREE, b"third".to_vec());
        let header = header(&ONE, b"").len();
        second.write_with_limit(2 * header + "second".len() + "third".len()).unwrap();
        let third = FunctionCache::open(file);
        assert_eq!(third.entries.keys().collect::<Vec<_>>(), [&TWO, &THREE]);
    }

    #[test]
    fn a_damaged_entry_and_those_after_it_are_not_used() {
        let (_folder, file) = cache();
        let written = std::fs::read(&file).unwrap();
        for bit in 0..written.len() * 8 {
            let mut damaged = written.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&file, &damaged).unwrap();
            let cache = FunctionCache::open(file.clone());
            let first = bit / 8 < written.len() - header(&TWO, b"second").len() - "second".len();
            assert_eq!(code(&cache, &ONE).is_some(), !first, "bit {bit}");
            assert_eq!(code(&cache, &TWO), None, "bit {bit}");
        }
        std::fs::write(&file, &written[..written.len() - 1]).unwrap();
        assert_eq!(FunctionCache::open(file).entries.len(), 1);
    }

    #[test]
    fn a_file_that_others_can_write_is_not_read() {
        let (folder, file) = cache();
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode));
        mode(0o620).unwrap();
        assert!(FunctionCache::open(file.clone()).entries.is_empty());
        mode(0o600).unwrap();
        assert_eq!(FunctionCache::open(file.clone()).entries.len(), 2);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(FunctionCache::open(link).entries.is_empty());
        let mode = std::fs::metadata(file.parent().unwrap()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn the_files_of_other_engines_are_removed() {
        let (folder, first) = cache();
        let second = file(&folder.path().join("cache"), "newer").unwrap();
        std::fs::write(&second, b"").unwrap();
        remove_others(&second);
        assert!(!first.exists() && second.exists());
    }
}
