//! Looks at the database of a host that does not run.

use crate::config::Config;
use portolan_http::node::{
    Problem, differing_clock, late_clock, missing_keys,
    parts::{DATABASE, HOST},
};
use portolan_store::{DatabaseUrl, DbError, Examination, examine, is_in_use};
use portolan_vocabulary::Timestamp;
use std::time::Duration;

/// The time for all checks of the database.
const EXAMINATION_TIME: Duration = Duration::from_secs(10);
/// The part of the connections of a server, in percent, from which on it is warned of.
const MANY_CONNECTIONS: u64 = 90;

/// Returns what is wrong with the database. `keys` are the names of the secret keys, if they are known.
pub(super) async fn find_problems(config: &Config, keys: Option<&[String]>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let DatabaseUrl::Sqlite(path) = &config.database_url
        && is_in_use(path)
    {
        let name = path.display();
        problems.push(Problem::error(
            &HOST,
            format!("a process uses {name}, and no host answers: it starts, hangs, or has another data folder"),
            format!("`fuser -v {name}-lock` names it; wait for its start, or end it; two hosts cannot use one file"),
        ));
    }
    let (url, server) = (&config.database_url, &config.database_server);
    match examine(url, server, EXAMINATION_TIME).await {
        Ok(Some(found)) => problems.extend(judge(&found, keys, server.connections)),
        // The first start makes it.
        Ok(None) => {}
        Err(error) => problems.push(unusable(&error)),
    }
    problems
}

fn unusable(error: &DbError) -> Problem {
    let fix = match error {
        DbError::NotConnected { .. } => {
            "start the server (`systemctl start postgresql`), and try database_url: psql \"$PORTOLAN_DATABASE_URL\" -c 'select 1'"
        }
        DbError::Pooler { .. } => {
            "of PgBouncer, set pool_mode = transaction, and leave database_pooler out or write database_pooler = \"transaction\"; or name PostgreSQL itself in database_url (in database_direct_url always)"
        }
        _ => {
            "if it is damaged: `portolan restore FILE` with the newest backup; if it is only closed to this user: chown -R portolan: on its folder"
        }
    };
    Problem::unready(&DATABASE, error.to_string(), fix)
}

fn judge(found: &Examination, keys: Option<&[String]>, node_connections: u32) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(damage) = &found.damage {
        problems.push(Problem::unready(
            &DATABASE,
            format!("the database is damaged: {damage}"),
            "keep a copy of its files, then `portolan restore FILE` with the newest backup",
        ));
    }
    match found.step {
        Some(step) if step > found.newest_step => problems.push(Problem::error(
            &DATABASE,
            format!(
                "its schema is of a newer version of Portolan (step {step}, this version knows {})",
                found.newest_step
            ),
            "install the newer version again, or `portolan restore FILE` with a backup of before the upgrade",
        )),
        Some(step) if step < found.newest_step => problems.push(Problem::warning(
            &DATABASE,
            format!("the start will change the schema from step {step} to {}", found.newest_step),
            "make a backup before: portolan backup FILE",
        )),
        _ => {}
    }
    if found.is_cut_short {
        problems.push(Problem::warning(
            &DATABASE,
            format!("it is too large to be checked for damage in {} s", EXAMINATION_TIME.as_secs()),
            "`portolan backup FILE` checks all of it",
        ));
    }
    if found.is_read_only {
        problems.push(Problem::unready(
            &DATABASE,
            "the server takes no writes: it is a standby, or its default is read-only",
            "name the primary in database_url, or promote the standby: SELECT pg_promote()",
        ));
    }
    if let Some((open, maximum)) = found.connections
        && open.saturating_mul(100) >= maximum.saturating_mul(MANY_CONNECTIONS)
    {
        problems.push(Problem::warning(
            &DATABASE,
            format!(
                "{open} of {maximum} connections of the server are open, and a node takes up to {node_connections}"
            ),
            "raise max_connections in postgresql.conf and restart the server, lower database_connections, or end other clients",
        ));
    }
    if let Some(own) = keys {
        let missing: Vec<_> =
            found.sealed_by.iter().filter(|name| !own.contains(name)).cloned().collect();
        problems.extend((!missing.is_empty()).then(|| missing_keys(&missing)));
    }
    let now = Timestamp::now();
    problems.extend(match found.server_time {
        Some(server) => differing_clock(now, server),
        None => found.newest_row_at.and_then(|newest| late_clock(now, newest)),
    });
    problems
}
