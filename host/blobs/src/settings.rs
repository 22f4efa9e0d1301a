//! The operator's settings of files.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The place where the contents of files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// A folder: that of the data, or one that all nodes of a database share.
    File,
    /// A bucket of a store that is compatible with S3.
    S3,
}

/// The table `[media.s3]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketSettings {
    pub bucket: String,
    /// The prefix of the keys of all objects, if several hosts share the bucket.
    pub prefix: Option<String>,
    #[serde(default = "default_region")]
    pub region: String,
    /// The address of the store; without one, that of AWS.
    pub endpoint: Option<String>,
    pub access_key: String,
    /// The file with the secret key.
    pub secret_file: PathBuf,
}

fn default_region() -> String {
    "us-east-1".to_owned()
}

/// The maximum of `upload_bytes` with a bucket, whose client has whole contents in memory.
const BUCKET_UPLOAD_BYTES: u64 = 16 << 20;

/// The table `[media]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MediaSettings {
    pub store: StoreKind,
    /// The folder of the contents, and of what arrives; `media` in the data folder if it is not set. Several nodes on
    /// one database need the same folder, or a bucket.
    pub folder: Option<PathBuf>,
    /// The bucket, if `store` is `s3`.
    pub s3: Option<BucketSettings>,
    pub upload_bytes: u64,
    pub files_per_person: u64,
    pub bytes_per_person: u64,
    pub uploads_at_once: u64,
    pub upload_minutes: u64,
}

impl Default for MediaSettings {
    fn default() -> Self {
        Self {
            store: StoreKind::File,
            folder: None,
            s3: None,
            upload_bytes: 10 << 20,
            files_per_person: 400,
            bytes_per_person: 200 << 20,
            uploads_at_once: 32,
            upload_minutes: 15,
        }
    }
}

impl MediaSettings {
    /// Returns whether contents are where only one node finds them, unless the data folder is shared.
    pub fn is_of_one_node(&self) -> bool {
        self.store == StoreKind::File && self.folder.is_none()
    }

    /// Returns every fault of the settings, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let upload_bytes = match self.store {
            StoreKind::File => 64 << 20,
            StoreKind::S3 => BUCKET_UPLOAD_BYTES,
        };
        let rows = [
            ("upload_bytes", self.upload_bytes, 1, upload_bytes),
            ("files_per_person", self.files_per_person, 1, 1_000_000),
            ("bytes_per_person", self.bytes_per_person, 1, 1 << 50),
            ("uploads_at_once", self.uploads_at_once, 1, 10_000),
            ("upload_minutes", self.upload_minutes, 1, 24 * 60),
        ];
        let wrong =
            rows.into_iter().filter(|(_, value, least, most)| value < least || value > most);
        let mut faults: Vec<String> = wrong
            .map(|(name, value, least, most)| {
                format!("media.{name} is {value}: it must be {least} to {most}")
            })
            .collect();
        if (self.store == StoreKind::S3) != self.s3.is_some() {
            faults.push(
                "media.store and [media.s3] do not fit: write store = \"s3\" with the table, or neither"
                    .to_owned(),
            );
        }
        let prefix = self.s3.as_ref().and_then(|s3| s3.prefix.as_deref()).unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if !prefix.chars().all(is_plain) || prefix.contains("..") || prefix.contains("//") {
            faults.push(format!(
                "media.s3.prefix is {prefix:?}: it must have letters, digits, \"-\", \"_\", \".\" and single \"/\" only"
            ));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_bounds() {
        assert_eq!(MediaSettings::default().faults(), Vec::<String>::new());
        let wrong = MediaSettings {
            upload_bytes: 0,
            files_per_person: 0,
            bytes_per_person: 0,
            uploads_at_once: 0,
            upload_minutes: 0,
            ..MediaSettings::default()
        };
        assert_eq!(wrong.faults().len(), 5);
        let s3 = MediaSettings { store: StoreKind::S3, ..MediaSettings::default() };
        assert_eq!(s3.faults().len(), 1);
        let larger = MediaSettings { upload_bytes: 17 << 20, ..s3 };
        assert_eq!(larger.faults().len(), 2);
    }
}
