//! Incidents and planned maintenance that the operator tells the public about.

use crate::{
    connection::{read, transact},
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
    texts::is_storable,
};
use portolan_vocabulary::{Incident, IncidentState, IncidentUpdate, Maintenance, Timestamp};
use std::collections::HashMap;

/// The maximum number of incidents that are listed.
const MAX_LISTED: i64 = 100;
/// The maximum number of updates of an incident, beside the one that resolves it.
const MAX_UPDATES: i64 = 100;

/// Id, title, state, opening, start, end.
type Row = (String, String, String, i64, Option<i64>, Option<i64>);
/// Id of the incident, state, text, time.
type UpdateRow = (String, String, String, i64);

impl Store {
    /// Returns the incidents that are open or were opened at `since` or later, at most 100 of them. The newest
    /// one comes first. A row whose state this version does not know is left out.
    pub async fn incidents(&self, since: Timestamp) -> Result<Vec<Incident>, DbError> {
        let (rows, updates): (Vec<Row>, Vec<UpdateRow>) = read!(self.inner.backend, |pool| {
            let rows = sqlx::query_as(
                "SELECT id, title, state, opened_at, starts_at, ends_at FROM incidents
                 WHERE opened_at >= $1 OR state <> 'resolved'
                 ORDER BY opened_at DESC, id DESC LIMIT $2",
            )
            .bind(signed(since.as_millis()))
            .bind(MAX_LISTED)
            .fetch_all(pool)
            .await?;
            let updates = sqlx::query_as(
                "SELECT incident_id, state, text, at FROM incident_updates
                 WHERE incident_id IN (
                     SELECT id FROM incidents WHERE opened_at >= $1 OR state <> 'resolved'
                     ORDER BY opened_at DESC, id DESC LIMIT $2
                 )
                 ORDER BY incident_id, number DESC",
            )
            .bind(signed(since.as_millis()))
            .bind(MAX_LISTED)
            .fetch_all(pool)
            .await?;
            (rows, updates)
        });
        let mut by_incident: HashMap<String, Vec<IncidentUpdate>> = HashMap::new();
        for (id, state, text, at) in updates {
            let at = Timestamp::from_millis(unsigned(at));
            let state = IncidentState::from_name(&state);
            let update = state.map(|state| IncidentUpdate { at, state, text });
            by_incident.entry(id).or_default().extend(update);
        }
        let incident = |row: Row| {
            let updates = by_incident.remove(&row.0).unwrap_or_default();
            incident(row, updates)
        };
        Ok(rows.into_iter().filter_map(incident).collect())
    }

    /// Adds an incident with its updates.
    pub async fn add_incident(&self, incident: &Incident) -> Result<(), DbError> {
        let bound = |time: fn(&Maintenance) -> Timestamp| {
            incident.maintenance.as_ref().map(|maintenance| signed(time(maintenance).as_millis()))
        };
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "INSERT INTO incidents (id, title, state, opened_at, starts_at, ends_at)
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(incident.id.as_str())
            .bind(incident.title.as_str())
            .bind(incident.state.name())
            .bind(signed(incident.opened_at.as_millis()))
            .bind(bound(|maintenance| maintenance.starts_at))
            .bind(bound(|maintenance| maintenance.ends_at))
            .execute(&mut *transaction)
            .await?;
            for (number, update) in (1_i64..).zip(incident.updates.iter().rev()) {
                sqlx::query(
                    "INSERT INTO incident_updates (incident_id, number, state, text, at)
                     VALUES ($1, $2, $3, $4, $5)",
                )
                .bind(incident.id.as_str())
                .bind(number)
                .bind(update.state.name())
                .bind(update.text.as_str())
                .bind(signed(update.at.as_millis()))
                .execute(&mut *transaction)
                .await?;
            }
        });
        Ok(())
    }

    /// Adds an update to an open incident. Returns whether there is such an incident and it has room for
    /// the update; there is always room for the one that resolves it.
    pub async fn update_incident(
        &self,
        id: &str,
        update: &IncidentUpdate,
    ) -> Result<bool, DbError> {
        if !is_storable(id) {
            return Ok(false);
        }
        let most = if update.state == IncidentState::Resolved { i64::MAX } else { MAX_UPDATES };
        let changed = transact!(self.inner.backend, |transaction| {
            // It locks the row, so that updates at the same time get numbers of their own.
            let changed = sqlx::query(
                "UPDATE incidents SET state = $2 WHERE id = $1 AND state <> 'resolved' AND $3 >
                 (SELECT count(*) FROM incident_updates WHERE incident_id = $1)",
            )
            .bind(id)
            .bind(update.state.name())
            .bind(most)
            .execute(&mut *transaction)
            .await?
            .rows_affected();
            if changed == 1 {
                sqlx::query(
                    "INSERT INTO incident_updates (incident_id, number, state, text, at)
                     SELECT $1, coalesce(max(number), 0) + 1, $2, $3, $4 FROM incident_updates
                     WHERE incident_id = $1",
                )
                .bind(id)
                .bind(update.state.name())
                .bind(update.text.as_str())
                .bind(signed(update.at.as_millis()))
                .execute(&mut *transaction)
                .await?;
            }
            changed
        });
        Ok(changed == 1)
    }
}

fn incident(row: Row, updates: Vec<IncidentUpdate>) -> Option<Incident> {
    let (id, title, state, opened_at, starts_at, ends_at) = row;
    let instant = |millis| Timestamp::from_millis(unsigned(millis));
    let maintenance = starts_at.zip(ends_at).map(|(starts_at, ends_at)| Maintenance {
        starts_at: instant(starts_at),
        ends_at: instant(ends_at),
    });
    let (state, opened_at) = (IncidentState::from_name(&state)?, instant(opened_at));
    Some(Incident { id, title, state, opened_at, maintenance, updates })
}
