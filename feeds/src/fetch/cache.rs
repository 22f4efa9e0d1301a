//! The cache of answers, so that a server can answer that nothing has changed (304).

use crate::{identifier::sha256, timestamp::Timestamp};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tempfile::NamedTempFile;

/// An answer that was not used for this long is removed: its source is no longer read.
const KEPT: Duration = Duration::from_hours(30 * 24);

const VERSION: u32 = 3;

/// One answer: its validators for a conditional request, and its body after decompression.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) validators: Validators,
    pub(super) body: Vec<u8>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Validators {
    url: String,
    /// How the body is kept: since 2 it is UTF-8, whatever the server sent, and since 3 it has a digest.
    #[serde(default)]
    version: u32,
    /// The digest of the body: after a loss of power a part of it may be missing.
    #[serde(default)]
    sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_modified: Option<String>,
}

/// A folder with a file for each URL: a line of JSON, and the body.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: PathBuf,
    now: SystemTime,
}

impl Cache {
    pub(super) fn new(folder: &Path, now: Timestamp) -> io::Result<Self> {
        let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or(0));
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let last_used = entry.metadata()?.modified()?;
            if now.duration_since(last_used).is_ok_and(|age| age > KEPT) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(Self { folder: folder.to_owned(), now })
    }

    fn file(&self, url: &str) -> PathBuf {
        self.folder.join(sha256(url.as_bytes()))
    }

    /// Returns the cached answer. A file that is damaged counts as absent.
    pub(super) fn find(&self, url: &str) -> Option<Kept> {
        let bytes = fs::read(self.file(url)).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let validators: Validators = serde_json::from_slice(bytes.get(..end)?).ok()?;
        let body = bytes.get(end + 1..)?.to_vec();
        // If the time of use cannot be written, the answer is only evicted too early.
        let _marked = File::options()
            .append(true)
            .open(self.file(url))
            .and_then(|file| file.set_modified(self.now));
        let is_whole = validators.sha256 == sha256(&body);
        (validators.url == url && validators.version == VERSION && is_whole)
            .then_some(Kept { validators, body })
    }

    pub(super) fn keep(
        &self,
        url: &str,
        etag: Option<String>,
        last_modified: Option<String>,
        body: &[u8],
    ) -> io::Result<()> {
        let (url_of, sha256) = (url.to_owned(), sha256(body));
        let validators = Validators { url: url_of, version: VERSION, sha256, etag, last_modified };
        let mut file = NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer(&mut file, &validators)?;
        file.write_all(b"\n")?;
        file.write_all(body)?;
        file.persist(self.file(url))?;
        Ok(())
    }

    pub(super) fn forget(&self, url: &str) {
        let _gone = fs::remove_file(self.file(url));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_damaged_counts_as_absent() {
        let (folder, url) = (tempfile::tempdir().unwrap(), "https://asked.example/");
        let cache = Cache::new(folder.path(), Timestamp::from_millis(0)).unwrap();
        let body = b"name,website\nCopperleaf,x\nHarbour,y\n";
        cache.keep(url, None, None, body).unwrap();
        assert_eq!(cache.find(url).unwrap().body, body);
        let whole = fs::read(cache.file(url)).unwrap();
        let last = whole.len() - 1;
        let mut changed = whole.clone();
        changed[last] = b'z';
        for damaged in [&changed[..], &whole[..last], &whole[..last - 10], &whole[..5], b""] {
            fs::write(cache.file(url), damaged).unwrap();
            assert_eq!(cache.find(url), None);
        }
    }

    #[test]
    fn answers_that_are_no_longer_used_are_evicted() {
        let folder = tempfile::tempdir().unwrap();
        let at = |months: i64| {
            Timestamp::from_millis(months * i64::try_from(KEPT.as_millis()).unwrap() + 1000)
        };
        let cache = Cache::new(folder.path(), at(600)).unwrap();
        for url in ["https://asked.example/", "https://gone.example/"] {
            cache.keep(url, None, None, b"{}").unwrap();
            assert!(cache.find(url).is_some());
        }
        let cache = Cache::new(folder.path(), at(601)).unwrap();
        assert!(cache.find("https://asked.example/").is_some());
        let cache = Cache::new(folder.path(), at(602)).unwrap();
        assert!(cache.find("https://asked.example/").is_some());
        assert!(cache.find("https://gone.example/").is_none());
    }
}
