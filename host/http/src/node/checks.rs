//! The checks of a running node. Each takes a bounded time and little work.

use super::{
    parts::{CLOCK, DATABASE, KEYS},
    problem::Problem,
};
use portolan_pipeline::Host;
use portolan_store::DbError;
use portolan_vocabulary::Timestamp;
use std::time::Duration;
use tokio::time::timeout;

/// The time after which the database counts as unreachable.
const DATABASE_TIME: Duration = Duration::from_secs(5);
/// The differences between two clocks at which the operator is warned, and at which a node is not ready.
const NOTABLE_DIFFERENCE: Duration = Duration::from_secs(2);
const LARGEST_DIFFERENCE: Duration = Duration::from_secs(10);
/// How far the newest record may be ahead of the clock.
const LARGEST_LAG: Duration = Duration::from_secs(60);

/// Checks the database, the keys that seal what is in it, and the clock against the times in it.
pub(super) async fn check_database(host: &Host) -> Vec<Problem> {
    let checked = async {
        host.store.ensure_writable().await?;
        let mut problems = Vec::new();
        let missing = host.store.missing_keys(host.store.keys()).await?;
        problems.extend((!missing.is_empty()).then(|| missing_keys(&missing)));
        let asked = host.clock.uncorrected();
        // With a clock of its own, a record may be that of another node whose clock is early.
        if let Some(server) = host.store.server_time().await? {
            problems.extend(differing_clock(between(asked, host.clock.uncorrected()), server));
        } else if let Some(newest) = host.store.newest_row_at().await? {
            problems.extend(late_clock(host.clock.now(), newest));
        }
        Ok::<_, DbError>(problems)
    };
    let error = match timeout(DATABASE_TIME, checked).await {
        Ok(Ok(problems)) => return problems,
        Ok(Err(error)) => error,
        Err(_elapsed) => DbError::TimedOut,
    };
    vec![unwritable(&error)]
}

fn unwritable(error: &DbError) -> Problem {
    let fix = match error {
        DbError::Replaced(_) => {
            "stop the host, put the file back or restore a backup (`portolan restore`), and start it again"
        }
        _ => {
            "free space on the disk, or repair the permissions of the file or the database server (`portolan doctor` names it); the host goes on without a restart"
        }
    };
    Problem::unready(&DATABASE, format!("the database takes no writes: {error}"), fix)
}

/// The problem of secret keys that a node does not have.
pub fn missing_keys(names: &[String]) -> Problem {
    Problem::unready(
        &KEYS,
        format!(
            "this node does not have the secret keys that seal the signing keys: {}",
            names.join(", ")
        ),
        "put the line back that was removed from secret.keys, or give this node the secret.keys or PORTOLAN_SECRET_KEYS of the other nodes; then send SIGHUP or start it",
    )
}

/// Returns the problem of a clock that differs from that of the database server.
pub fn differing_clock(own: Timestamp, server: Timestamp) -> Option<Problem> {
    let difference = Duration::from_millis(own.as_millis().abs_diff(server.as_millis()));
    let direction = if own > server { "ahead of" } else { "behind" };
    let problem = format!(
        "the clock of this machine is {:.1} s {direction} that of the database server",
        difference.as_secs_f64()
    );
    let fix = "let both machines follow a time server: `timedatectl set-ntp true`; `timedatectl` shows the state";
    match difference {
        _ if difference > LARGEST_DIFFERENCE => Some(Problem::unready(&CLOCK, problem, fix)),
        _ if difference > NOTABLE_DIFFERENCE => Some(Problem::warning(&CLOCK, problem, fix)),
        _ => None,
    }
}

/// Returns the problem of a clock that is behind the newest record.
pub fn late_clock(own: Timestamp, newest: Timestamp) -> Option<Problem> {
    (own.plus(LARGEST_LAG) < newest).then(|| {
        let lag = Duration::from_millis(newest.as_millis().saturating_sub(own.as_millis()));
        Problem::unready(
            &CLOCK,
            format!(
                "the clock is {} s behind the newest record of the database ({newest}): it is late now, or was early then",
                lag.as_secs()
            ),
            "set the clock: `timedatectl set-ntp true`; if it was early when the record was written, wait until the time of the record",
        )
    })
}

/// Returns the instant in the middle of two.
fn between(from: Timestamp, to: Timestamp) -> Timestamp {
    let half = to.as_millis().saturating_sub(from.as_millis()) / 2;
    from.plus(Duration::from_millis(half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_differ_a_little() {
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1000);
        for (own, server, unready) in [
            (1_000, 1_000, None),
            (1_002, 1_000, None),
            (1_003, 1_000, Some(false)),
            (1_000, 1_009, Some(false)),
            (1_300, 1_000, Some(true)),
            (1_000, 1_300, Some(true)),
        ] {
            let found = differing_clock(at(own), at(server));
            assert_eq!(found.map(|problem| problem.unready), unready, "{own} {server}");
        }
        assert!(late_clock(at(1_000), at(1_060)).is_none());
        let late = late_clock(at(1_000), at(1_301)).unwrap();
        assert!(late.problem.contains("301 s behind"), "{}", late.problem);
    }
}
