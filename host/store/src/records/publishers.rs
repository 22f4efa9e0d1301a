//! The publishers to whom ids and namespaces of events belong, and the permissions that the
//! operator has granted.

use crate::{
    connection::read, connection::transact, error::DbError, integers::signed, store::Store,
};
use portolan_vocabulary::Timestamp;
use std::collections::BTreeMap;

/// The publisher that a capability's id belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledId {
    /// The publisher, as its text form.
    pub publisher: String,
    /// The highest version that was served; `None` if any version may be served next.
    pub highest_version: Option<String>,
}

impl Store {
    /// Records the publisher of an id that has none, and returns the publisher that the id belongs to.
    pub async fn claim_id(
        &self,
        id: &str,
        publisher: &str,
        now: Timestamp,
    ) -> Result<InstalledId, DbError> {
        let (owner, highest_version): (String, Option<String>) = transact!(
            self.inner.backend,
            |transaction| {
                sqlx::query(
                    "INSERT INTO publishers (capability_id, publisher, installed_at) VALUES ($1, $2, $3)
                     ON CONFLICT (capability_id) DO NOTHING",
                )
                .bind(id)
                .bind(publisher)
                .bind(signed(now.as_millis()))
                .execute(&mut *transaction)
                .await?;
                sqlx::query_as(
                    "SELECT publisher, highest_version FROM publishers WHERE capability_id = $1",
                )
                .bind(id)
                .fetch_one(&mut *transaction)
                .await?
            }
        );
        Ok(InstalledId { publisher: owner, highest_version })
    }

    /// Records the publisher of a namespace of events that has none, and returns the publisher that the
    /// namespace belongs to.
    pub async fn claim_namespace(
        &self,
        namespace: &str,
        publisher: &str,
    ) -> Result<String, DbError> {
        let (owner,): (String,) = transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "INSERT INTO event_namespaces (namespace, publisher) VALUES ($1, $2)
                 ON CONFLICT (namespace) DO NOTHING",
            )
            .bind(namespace)
            .bind(publisher)
            .execute(&mut *transaction)
            .await?;
            sqlx::query_as("SELECT publisher FROM event_namespaces WHERE namespace = $1")
                .bind(namespace)
                .fetch_one(&mut *transaction)
                .await?
        });
        Ok(owner)
    }

    /// Returns every id that was ever installed, with its publisher.
    pub async fn installed_ids(&self) -> Result<BTreeMap<String, InstalledId>, DbError> {
        let rows: Vec<(String, String, Option<String>)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT capability_id, publisher, highest_version FROM publishers")
                .fetch_all(pool)
                .await?
        });
        let installed =
            |(id, publisher, highest_version)| (id, InstalledId { publisher, highest_version });
        Ok(rows.into_iter().map(installed).collect())
    }

    /// Returns the publisher of each namespace of events.
    pub async fn namespaces(&self) -> Result<BTreeMap<String, String>, DbError> {
        let rows: Vec<(String, String)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT namespace, publisher FROM event_namespaces")
                .fetch_all(pool)
                .await?
        });
        Ok(rows.into_iter().collect())
    }

    /// Changes the highest version of an id that was served; `None` permits any next version. Has no effect
    /// if the stored version is no longer `from`, because another node has changed it.
    pub async fn put_highest_version(
        &self,
        id: &str,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "UPDATE publishers SET highest_version = $3
                 WHERE capability_id = $1 AND coalesce(highest_version, '') = coalesce($2, '')",
            )
            .bind(id)
            .bind(from)
            .bind(to)
            .execute(&mut *transaction)
            .await?;
        });
        Ok(())
    }

    /// Transfers an id with its permission grants from one key of a publisher to the next. Does not transfer
    /// the id if it no longer belongs to the previous key.
    pub async fn transfer_to_successor(
        &self,
        id: &str,
        previous: &str,
        next: &str,
    ) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "DELETE FROM grants WHERE capability_id = $1 AND publisher = $3 AND permission IN
                 (SELECT permission FROM grants WHERE capability_id = $1 AND publisher = $2)",
            )
            .bind(id)
            .bind(previous)
            .bind(next)
            .execute(&mut *transaction)
            .await?;
            for statement in [
                "UPDATE grants SET publisher = $3 WHERE capability_id = $1 AND publisher = $2",
                "UPDATE publishers SET publisher = $3 WHERE capability_id = $1 AND publisher = $2",
            ] {
                sqlx::query(statement)
                    .bind(id)
                    .bind(previous)
                    .bind(next)
                    .execute(&mut *transaction)
                    .await?;
            }
        });
        Ok(())
    }

    /// Transfers an id, and those of the namespaces of events that do not belong to the publisher `host`, to
    /// another publisher. Deletes the id's permission grants, and permits any next version.
    pub async fn adopt(
        &self,
        id: &str,
        namespaces: &[String],
        publisher: &str,
        now: Timestamp,
    ) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "INSERT INTO publishers (capability_id, publisher, installed_at) VALUES ($1, $2, $3)
                 ON CONFLICT (capability_id) DO UPDATE SET publisher = excluded.publisher, highest_version = NULL",
            )
            .bind(id)
            .bind(publisher)
            .bind(signed(now.as_millis()))
            .execute(&mut *transaction)
            .await?;
            for namespace in namespaces {
                sqlx::query(
                    "INSERT INTO event_namespaces (namespace, publisher) VALUES ($1, $2)
                     ON CONFLICT (namespace) DO UPDATE SET publisher = excluded.publisher
                     WHERE event_namespaces.publisher <> 'host'",
                )
                .bind(namespace)
                .bind(publisher)
                .execute(&mut *transaction)
                .await?;
            }
            sqlx::query("DELETE FROM grants WHERE capability_id = $1")
                .bind(id)
                .execute(&mut *transaction)
                .await?;
        });
        Ok(())
    }

    /// Grants permissions to a publisher's capability.
    pub async fn grant(
        &self,
        id: &str,
        publisher: &str,
        permissions: &[String],
        now: Timestamp,
    ) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            for permission in permissions {
                sqlx::query(
                    "INSERT INTO grants (capability_id, publisher, permission, granted_at)
                     VALUES ($1, $2, $3, $4)
                     ON CONFLICT (capability_id, publisher, permission) DO NOTHING",
                )
                .bind(id)
                .bind(publisher)
                .bind(permission)
                .bind(signed(now.as_millis()))
                .execute(&mut *transaction)
                .await?;
            }
        });
        Ok(())
    }

    /// Returns pairs of id and permission: what is granted to each id for the publisher that it belongs to.
    pub async fn granted(&self) -> Result<Vec<(String, String)>, DbError> {
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT grants.capability_id, grants.permission FROM grants
                 JOIN publishers ON publishers.capability_id = grants.capability_id
                  AND publishers.publisher = grants.publisher
                 ORDER BY grants.capability_id, grants.permission",
            )
            .fetch_all(pool)
            .await?
        }))
    }
}
