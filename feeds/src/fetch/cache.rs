//! Answers that are kept, so that a server only has to say that nothing has changed.

use crate::{identifier::sha256, timestamp::Timestamp};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tempfile::NamedTempFile;

/// An answer that nobody has asked for in this time belongs to a source that is gone.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// One answer: how to ask whether it still holds, and its body after decompression.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) validators: Validators,
    pub(super) body: Vec<u8>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Validators {
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_modified: Option<String>,
}

/// A folder with a file for each address: a line of JSON, and the body.
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
            let asked_for = entry.metadata()?.modified()?;
            if now.duration_since(asked_for).is_ok_and(|age| age > KEPT) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(Self { folder: folder.to_owned(), now })
    }

    fn file(&self, url: &str) -> PathBuf {
        self.folder.join(sha256(url.as_bytes()))
    }

    /// Nothing, also if the file is damaged: then it is fetched as if for the first time.
    pub(super) fn find(&self, url: &str) -> Option<Kept> {
        let bytes = fs::read(self.file(url)).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let validators: Validators = serde_json::from_slice(bytes.get(..end)?).ok()?;
        let body = bytes.get(end + 1..)?.to_vec();
        // One that cannot be marked as asked for is fetched anew one day, no more.
        let _marked = File::options()
            .append(true)
            .open(self.file(url))
            .and_then(|file| file.set_modified(self.now));
        (validators.url == url).then_some(Kept { validators, body })
    }

    pub(super) fn keep(
        &self,
        url: &str,
        etag: Option<String>,
        last_modified: Option<String>,
        body: &[u8],
    ) -> io::Result<()> {
        let validators = Validators { url: url.to_owned(), etag, last_modified };
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
    fn what_nobody_asks_for_any_more_is_not_kept() {
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
