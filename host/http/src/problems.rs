//! `GET /problems` for the operator: what is wrong on this node, each with its fix.

use crate::{
    App,
    node::{
        Part, Problem,
        parts::{
            CATALOG, DATABASE, DOCUMENTS, EMAILS, EVENTS, FEEDS, FILES, MESSAGES, OPERATORS,
            QUOTAS, WEBHOOKS,
        },
    },
    sources::sources_of,
};
use axum::{Json, extract::State};
use portolan_blobs::Place;
use portolan_catalog::{CatalogDifferences, OtherCatalog};
use portolan_publication::Feeds;
use portolan_store::DbError;
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;

/// The time for reading what the database has.
const RECORDS_TIME: Duration = Duration::from_secs(4);
/// The used share of a quota, in percent, from which on it is a problem.
const NOTABLE_PERCENT: u64 = 80;
/// The time before the end of an operator's token in which it is a problem.
const TOKEN_ENDS_WITHIN: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long an aborted release is a problem, unless something is published sooner.
const ABORTED_WITHIN: Duration = Duration::from_secs(7 * 24 * 3600);
/// The maximum number of ids of each kind that a problem names.
const SHOWN_IDS: usize = 10;
/// How many times the interval of the feeds passes before they are stale.
const STALE_INTERVALS: u64 = 2;

/// Collects what is wrong.
struct Problems(Vec<Problem>);

impl Problems {
    fn error(&mut self, part: &'static Part, problem: String, fix: impl Into<String>) {
        self.0.push(Problem::error(part, problem, fix));
    }

    fn warning(&mut self, part: &'static Part, problem: String, fix: impl Into<String>) {
        self.0.push(Problem::warning(part, problem, fix));
    }
}

pub(super) async fn problems(State(app): State<Arc<App>>) -> Json<Value> {
    let checked = app.node.check(&app.host).await;
    let mut problems = Problems(checked.problems.to_vec());
    check_catalog(&app, &mut problems);
    for feeds in app.host.cities() {
        check_feeds(feeds, app.host.clock.now(), &mut problems);
    }
    let is_sound = !checked.problems.iter().any(|problem| problem.part == &DATABASE);
    if is_sound && check_contents(&app, &mut problems).await {
        check_files(&app, &mut problems).await;
    }
    problems.0.sort_by_key(|problem| (!problem.unready, problem.severity));
    Json(json!({ "problems": problems.0 }))
}

/// Checks what the database has, for a limited time. Returns whether all of it could be read.
async fn check_contents(app: &App, problems: &mut Problems) -> bool {
    let fix = "look for queries that wait or take long (PostgreSQL: `select pid, wait_event_type, query from pg_stat_activity where state <> 'idle'`) and for a disk that is full or slow";
    match timeout(RECORDS_TIME, check_records(app, problems)).await {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => {
            problems.error(&DATABASE, format!("its records cannot be read: {error}"), fix);
        }
        Err(_elapsed) => {
            let seconds = RECORDS_TIME.as_secs();
            let problem = format!(
                "it answers slowly: not all of its records could be read in {seconds} s, so other problems may be missing here"
            );
            problems.warning(&DATABASE, problem, fix);
        }
    }
    false
}

fn check_catalog(app: &App, problems: &mut Problems) {
    let status = app.host.catalog.status();
    for refused in status.refused {
        let problem = format!("{}: {} ({})", refused.file, refused.message, refused.reason);
        match refused.decision.is_some() {
            true => problems.warning(&CATALOG, problem, refused.fix),
            false => problems.error(&CATALOG, problem, refused.fix),
        }
    }
    for loaded in status.loaded.iter().filter(|loaded| !loaded.missing.is_empty()) {
        problems.warning(
            &CATALOG,
            format!("{} is not permitted: {}", loaded.id, loaded.missing.join(", ")),
            format!(
                "if you trust it, run `portolan catalog approve {} --digest {}`",
                loaded.id, loaded.digest
            ),
        );
    }
    for release in status.releases {
        let (id, version) = (&release.id, &release.version);
        if let Some(reason) = &release.problem {
            problems.error(
                &CATALOG,
                format!("{id} {version} is given to nobody at this node: {reason}"),
                format!("see the log, or run `portolan release abort {id}`"),
            );
        }
        if release.due_at.is_some_and(|due_at| due_at <= app.host.clock.now()) {
            problems.warning(
                &CATALOG,
                format!("the time of the release of {id} {version} is over"),
                format!(
                    "look at `portolan release status {id}`, then run `portolan release promote {id}` or `portolan release abort {id}`"
                ),
            );
        }
    }
}

/// Checks for releases that the host has aborted lately.
async fn check_releases(app: &App, problems: &mut Problems) -> Result<(), DbError> {
    let now = app.host.clock.now().as_millis();
    let within = u64::try_from(ABORTED_WITHIN.as_millis()).unwrap_or(u64::MAX);
    let since = Timestamp::from_millis(now.saturating_sub(within));
    for release in app.host.catalog.newly_aborted(since).await? {
        let Some(rule) = release.rule else { continue };
        problems.warning(
            &CATALOG,
            format!(
                "the release of {} {} was aborted ({rule}): {}",
                release.id,
                release.version,
                release.reason.unwrap_or_default()
            ),
            format!(
                "look at `portolan release status {}` and `portolan recordings --failed`, repair the version, and publish it again",
                release.id
            ),
        );
    }
    Ok(())
}

/// Checks whether the nodes of the database serve the same capabilities.
async fn check_other_nodes(app: &App, problems: &mut Problems) -> Result<(), DbError> {
    let Some(OtherCatalog { since, differences }) = app.host.catalog.other_catalog().await? else {
        return Ok(());
    };
    let CatalogDifferences { missing, own, versions } = differences;
    let lists =
        [("missing here", missing), ("only here", own), ("here in another version", versions)];
    let lists = lists.iter().filter(|(_, ids)| !ids.is_empty()).map(|(how, ids)| {
        let shown: Vec<_> = ids.iter().take(SHOWN_IDS).map(String::as_str).collect();
        let more = if ids.len() > SHOWN_IDS { ", …" } else { "" };
        format!("; {how}: {}{more}", shown.join(", "))
    });
    problems.error(
        &CATALOG,
        format!(
            "a node of this database has served another catalog than this one since {since}{}",
            lists.collect::<String>()
        ),
        "compare `portolan catalog` at each node; then publish what differs once for all nodes (`portolan publish FILE`), or give each node the same files in its catalog folder",
    );
    Ok(())
}

fn check_feeds(feeds: &Feeds, now: Timestamp, problems: &mut Problems) {
    let (status, current) = (feeds.status(), feeds.current());
    let place = feeds.roads().city().map(|city| format!(" of {city}")).unwrap_or_default();
    if let Some(refused) = status.refused {
        let fault = refused.faults.first().map_or("", String::as_str);
        problems.error(
            &FEEDS,
            format!("the newest publication{place} is refused: {fault}"),
            "repair the source, and build again; the publication before it is served",
        );
    }
    let Some(in_force) = status.in_force else { return };
    let interval = current.as_ref().map_or(0, |publication| publication.meta.next_refresh_s);
    let stale_at =
        in_force.generated_at.plus(Duration::from_secs(interval.saturating_mul(STALE_INTERVALS)));
    if interval > 0 && stale_at <= now {
        problems.warning(
            &FEEDS,
            format!(
                "the feeds{place} were built at {}, and not again in time",
                in_force.generated_at
            ),
            "check that cron or the systemd timer still runs `portolan feeds build`",
        );
    }
    let failing = sources_of(feeds).iter().filter(|source| source.failing_since.is_some()).count();
    if failing > 0 {
        problems.warning(
            &FEEDS,
            format!("sources{place} that cannot be read: {failing}"),
            "run `portolan feeds build` and read what it says about them; their last records stay",
        );
    }
    if in_force.quarantined_count > 0 {
        problems.warning(
            &FEEDS,
            format!("records{place} that the build has left out: {}", in_force.quarantined_count),
            "`portolan feeds check FOLDER` lists each with its reason; correct it at its source",
        );
    }
    if in_force.contact_missing {
        problems.warning(
            &FEEDS,
            format!("the feeds{place} name no address where people can object"),
            "set `contact` in [provider]",
        );
    }
    for hub in status.hubs.iter().filter(|hub| hub.error.is_some()) {
        problems.warning(
            &FEEDS,
            format!(
                "the hub {} could not be notified: {}",
                hub.hub,
                hub.error.as_deref().unwrap_or("")
            ),
            "look at the hub, or remove it from [feeds]",
        );
    }
}

/// Checks the records of the database.
async fn check_records(app: &App, problems: &mut Problems) -> Result<(), DbError> {
    let (store, now) = (&app.host.store, app.host.clock.now());
    let quarantined = store.quarantined().await?.len();
    if quarantined > 0 {
        problems.warning(
            &DOCUMENTS,
            format!("documents in quarantine: {quarantined}"),
            "run `portolan documents repair` or `portolan documents drop` for each",
        );
    }
    let letters = store.backlog(now).await?.dead_letters;
    if letters > 0 {
        problems.warning(
            &EVENTS,
            format!("dead letters: {letters}"),
            "repair the capability that failed, then run `portolan dead-letters replay --all`; `portolan dead-letters drop` removes those that nothing can process",
        );
    }
    let webhooks = store.failing_webhooks().await?.len();
    if webhooks > 0 {
        problems.warning(
            &WEBHOOKS,
            format!("webhooks that fail: {webhooks}"),
            "`portolan webhooks` lists them with the last error; the owner of each address has to repair it",
        );
    }
    check_releases(app, problems).await?;
    check_other_nodes(app, problems).await?;
    check_emails(app, problems).await?;
    if app.host.message_costs().await?.is_exhausted() {
        problems.error(
            &MESSAGES,
            "the day's budget of text messages is spent".to_owned(),
            "wait until midnight UTC, or raise text_messages.daily_budget",
        );
    }
    for quota in store.quota_uses().await? {
        if quota.used.saturating_mul(100) >= quota.limit.saturating_mul(NOTABLE_PERCENT) {
            problems.warning(
                &QUOTAS,
                format!(
                    "{} has {} of {} {}",
                    quota.capability, quota.used, quota.limit, quota.quota
                ),
                format!(
                    "raise {} in `[quotas]` or in `[quotas.\"{}\"]`, or have data of the capability deleted",
                    quota.quota, quota.capability
                ),
            );
        }
    }
    for operator in app.host.identity.operators().await? {
        if operator.expires_at > now && operator.expires_at <= now.plus(TOKEN_ENDS_WITHIN) {
            problems.warning(
                &OPERATORS,
                format!("the token of {} expires at {}", operator.name, operator.expires_at),
                format!("run `portolan operators renew {}`", operator.name),
            );
        }
    }
    Ok(())
}

/// Checks the place of the files of people.
async fn check_files(app: &App, problems: &mut Problems) {
    match app.host.blobs.place().await {
        Place::Own => {}
        Place::Foreign => problems.warning(
            &FILES,
            "the files belong to another database, or to a newer state of this one: those that no document names are kept".to_owned(),
            "correct [media] if it names the place of another host; if this database is the right one, run `portolan media adopt`",
        ),
        Place::Unreachable(error) => problems.error(
            &FILES,
            format!("the files cannot be reached: {error}"),
            "look at the folder or the bucket of [media]",
        ),
    }
}

/// Checks the sending of emails.
async fn check_emails(app: &App, problems: &mut Problems) -> Result<(), DbError> {
    let Some(emails) = app.host.email_status().await? else { return Ok(()) };
    if emails.is_paused {
        problems.error(
            &EMAILS,
            format!("the SMTP server does not work; emails that wait: {}", emails.waiting),
            "look at the log, and check the server and [email]; what waits is sent again for two days",
        );
    }
    if emails.is_exhausted() {
        problems.warning(
            &EMAILS,
            format!("the {} emails of this day are sent; the others wait", emails.per_day),
            "wait until midnight UTC, or raise email.per_day",
        );
    }
    Ok(())
}
