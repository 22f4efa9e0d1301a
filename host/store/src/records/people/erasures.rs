//! The list of erased people, as digests of their ids: the ids would be a record of the people who were to be
//! erased. The list is kept in the database, and in a file with which a restored database is compared.

use crate::{
    connection::{lock_recordings, read, transact_alone},
    error::{DbError, StateError},
    integers::signed,
    store::Store,
};
use portolan_vocabulary::{Digest, HOST, Timestamp};
use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

impl Store {
    /// Uses this file for the list, and merges it with the list in the database. Erases again all listed
    /// people who are still in the database, because a backup was restored or an erasure was interrupted, and
    /// returns their number. To be called after the collections are declared and before the host serves.
    /// Every later erasure is added to the file.
    pub async fn use_erasure_list(&self, file: &Path, now: Timestamp) -> Result<u64, StateError> {
        let listed = read_list(file)?;
        let recorded = self.recorded_erasures().await?;
        let missing: Vec<&String> = recorded.difference(&listed).collect();
        add_to_list(file, &missing)?;
        // This fails only on a second call, which names the same file.
        let _set = self.inner.erasure_list.set(file.to_owned());
        let mut erased = 0;
        if !(listed.is_empty() && recorded.is_empty()) {
            for owner_id in self.owner_ids().await? {
                let digest = digest(&owner_id);
                if listed.contains(&digest) || recorded.contains(&digest) {
                    self.erase_person(&self.person_ids(&owner_id).await?, now).await?;
                    erased += 1;
                }
            }
        }
        if erased > 0 {
            self.scrub().await?;
        }
        for digest in listed.difference(&recorded) {
            self.put_erasure(digest, now).await?;
        }
        Ok(erased)
    }

    /// Records the erasure of a person, or of an agent of theirs, in the file first.
    pub(super) async fn record_erasure(&self, id: &str, now: Timestamp) -> Result<(), DbError> {
        let digest = digest(id);
        if let Some(file) = self.inner.erasure_list.get()
            && !read_list(file)?.contains(&digest)
        {
            add_to_list(file, &[&digest])?;
        }
        self.put_erasure(&digest, now).await
    }

    /// Records the erasure while nothing is committed and no recording is added, so that what follows finds all that
    /// was written about the person without knowing of it.
    async fn put_erasure(&self, digest: &str, now: Timestamp) -> Result<(), DbError> {
        transact_alone!(self.inner.backend, |transaction| {
            lock_recordings!(self.inner.backend, transaction);
            sqlx::query(
                "INSERT INTO erasures (owner_digest, erased_at) VALUES ($1, $2)
                 ON CONFLICT (owner_digest) DO NOTHING",
            )
            .bind(digest)
            .bind(signed(now.as_millis()))
            .execute(&mut *transaction)
            .await?
            .rows_affected()
        });
        Ok(())
    }

    /// Returns the digests of the ids of all who were erased.
    pub(in crate::records) async fn recorded_erasures(&self) -> Result<BTreeSet<String>, DbError> {
        let rows: Vec<(String,)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT owner_digest FROM erasures").fetch_all(pool).await?
        });
        Ok(rows.into_iter().map(|(digest,)| digest).collect())
    }

    async fn owner_ids(&self) -> Result<Vec<String>, DbError> {
        let rows: Vec<(String,)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT d.id FROM documents d JOIN collections c ON c.id = d.collection
                 WHERE c.capability = $1 AND c.name = 'owners' AND d.body IS NOT NULL",
            )
            .bind(HOST)
            .fetch_all(pool)
            .await?
        });
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }
}

fn digest(id: &str) -> String {
    Digest::of(id.as_bytes()).hex()
}

/// Returns the digests in the file; an empty set if there is no file.
fn read_list(file: &Path) -> Result<BTreeSet<String>, DbError> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(DbError::Unreadable { path: file.to_owned(), error }),
    }
}

/// Adds digests to the file, and syncs it.
fn add_to_list(file: &Path, digests: &[&String]) -> Result<(), DbError> {
    if digests.is_empty() {
        return Ok(());
    }
    let lines: String = digests.iter().map(|digest| format!("{digest}\n")).collect();
    let append = || {
        let mut list = OpenOptions::new().create(true).append(true).mode(0o600).open(file)?;
        list.write_all(lines.as_bytes())?;
        list.sync_all()?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    };
    append().map_err(|error| DbError::File { path: PathBuf::from(file), error })
}
