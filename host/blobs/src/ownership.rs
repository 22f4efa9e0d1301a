//! Which database the place of the contents belongs to: only for it are files removed that no document names.
//!
//! The place has a file `owner` with the id of the database and a number. Each sweep raises the number, first in the
//! database and then in the place. So a place with another id belongs to another database, such as that of a host with
//! a copy of the settings, and a place with a larger number has files that are younger than the database, which was
//! restored.

use crate::{
    blobs::Blobs,
    error::BlobError,
    records::{commit, read, write},
};
use portolan_store::{Expectation, StateError};
use portolan_vocabulary::new_identifier;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// The id of the document about the place.
const PLACE: &str = "place";
/// The maximum number of times that the number is raised again after a conflict.
const ATTEMPTS: usize = 8;
/// The longest time in which the place must answer.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// A database and how far it is, in the database itself and in the place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    database: String,
    number: u64,
}

/// The relation of the place of the contents to this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// It belongs to the database, or to none yet.
    Own,
    /// It belongs to another database, or to a newer state of this one.
    Foreign,
    Unreachable(String),
}

impl Blobs {
    /// Returns what the place of the contents is now.
    pub async fn place(&self) -> Place {
        match tokio::time::timeout(ANSWER_TIME, self.is_own_place()).await {
            Ok(Ok(true)) => Place::Own,
            Ok(Ok(false)) => Place::Foreign,
            Ok(Err(error)) => Place::Unreachable(error.to_string()),
            Err(_) => Place::Unreachable(format!("no answer in {} s", ANSWER_TIME.as_secs())),
        }
    }

    /// Gives the place to this database, whatever it belonged to. What no document of the database names is then
    /// removed by the next sweeps.
    pub async fn adopt_place(&self) -> Result<(), BlobError> {
        self.hold_place(true).await.map(drop)
    }

    async fn is_own_place(&self) -> Result<bool, BlobError> {
        let written = self.contents.owner().await?;
        let known = read::<Owner>(&mut self.unit(), &self.records.places, PLACE).await?;
        Ok(is_own(written.as_deref(), known.as_ref().map(|(known, _)| known)))
    }

    /// Raises the number of the database and of the place, and returns whether the place is the database's. If it is
    /// not, nothing is changed unless `adopts`.
    pub(crate) async fn hold_place(&self, adopts: bool) -> Result<bool, BlobError> {
        // The place is read before the database, whose number other nodes raise first.
        let written = self.contents.owner().await?;
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let known = read::<Owner>(&mut unit, &self.records.places, PLACE).await?;
            if !adopts && !is_own(written.as_deref(), known.as_ref().map(|(known, _)| known)) {
                return Ok(false);
            }
            let (known, expect) = match known {
                Some((known, revision)) => (known, Expectation::Revision(revision)),
                None => {
                    let database = new_identifier("db", unit.now(), rand::random());
                    (Owner { database, number: 0 }, Expectation::Absent)
                }
            };
            let least = written.as_deref().and_then(parse).map_or(0, |written| written.number);
            let number = known.number.max(least).saturating_add(1);
            let raised = Owner { number, ..known };
            write(&mut unit, &self.records.places, PLACE, &raised, expect).await?;
            if commit(unit).await? {
                let text = json!(raised).to_string().into_bytes();
                self.contents.set_owner(text, self.clock.now()).await?;
                return Ok(true);
            }
        }
        Err(StateError::Conflict.into())
    }
}

fn parse(text: &[u8]) -> Option<Owner> {
    serde_json::from_slice(text).ok()
}

/// Returns whether a place with this text of its owner is that of a database that knows this of itself.
fn is_own(written: Option<&[u8]>, known: Option<&Owner>) -> bool {
    let Some(written) = written else { return true };
    let (Some(written), Some(known)) = (parse(written), known) else { return false };
    written.database == known.database && written.number <= known.number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_of_another_database_or_of_a_newer_state_is_foreign() {
        let owner = |database: &str, number| Owner { database: database.to_owned(), number };
        let text = |owner: &Owner| json!(owner).to_string().into_bytes();
        let known = owner("db_a", 5);
        assert!(is_own(None, None) && is_own(None, Some(&known)));
        for written in [owner("db_a", 4), owner("db_a", 5)] {
            assert!(is_own(Some(&text(&written)), Some(&known)), "{written:?}");
        }
        for written in [owner("db_a", 6), owner("db_b", 1)] {
            assert!(!is_own(Some(&text(&written)), Some(&known)), "{written:?}");
        }
        assert!(!is_own(Some(b"?"), Some(&known)) && !is_own(Some(&text(&known)), None));
    }
}
