//! People's statements about the signals of the feeds: a build reads them from a running host, and tells
//! the host which signals have changed.

use crate::cli::client::Operator;
use anyhow::Context as _;
use clap::Args;
use portolan_feeds::{Evidence, Knowledge, Moved};
use portolan_vocabulary::Role;
use reqwest::{Method, RequestBuilder};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// The maximum number of statements of one page.
const PAGE_STATEMENTS: u32 = 100;
/// The maximum number of signals of one call.
const MAX_SIGNALS: usize = 5;
/// The time-out of a request, after which a build continues without the host.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The host whose capability with the role `signal_statements` has the statements.
#[derive(Debug, Args)]
pub(super) struct Statements {
    #[command(flatten)]
    operator: Operator,
    /// Read statements of test mode instead of those of live mode
    #[arg(long)]
    test_mode: bool,
}

/// A role in the operator's view of the catalog.
#[derive(Debug, Deserialize)]
struct RoleRow {
    role: Role,
    id: Option<String>,
    vacant: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Page {
    verified_owners: BTreeSet<String>,
    evidence: Vec<Evidence>,
    next_cursor: Option<String>,
}

impl Statements {
    /// Returns the statements. If they cannot be read, prints a warning and returns `None`.
    pub(super) async fn load(&self) -> Option<Knowledge> {
        match self.read_all().await {
            Ok(knowledge) => {
                let Knowledge { verified_owners, evidence } = &knowledge;
                let (owners, evidence) = (verified_owners.len(), evidence.len());
                eprintln!("{evidence} statements about signals, {owners} verified companies");
                Some(knowledge)
            }
            Err(error) => {
                eprintln!(
                    "statements about signals cannot be read, so those of the last build are used: {error:#}"
                );
                None
            }
        }
    }

    async fn read_all(&self) -> anyhow::Result<Knowledge> {
        let mut knowledge = Knowledge::default();
        let mut input = json!({ "limit": PAGE_STATEMENTS });
        loop {
            let page: Page = self.operate("knowledge", &input).await?;
            knowledge.verified_owners.extend(page.verified_owners);
            knowledge.evidence.extend(page.evidence);
            match page.next_cursor {
                Some(cursor) => input = json!({ "limit": PAGE_STATEMENTS, "cursor": cursor }),
                None => return Ok(knowledge),
            }
        }
    }

    /// Tells the host the new state of signals with statements, so that it can notify the people who made the
    /// statements. If that fails, prints a warning.
    pub(super) async fn announce(&self, moved: &[Moved], knowledge: &Knowledge) {
        let signals_with_statements: BTreeSet<&String> =
            knowledge.evidence.iter().map(|evidence| &evidence.signal_id).collect();
        let moved: Vec<&Moved> = moved
            .iter()
            .filter(|signal| signals_with_statements.contains(&signal.signal_id))
            .collect();
        for moves in moved.chunks(MAX_SIGNALS) {
            let moves: Vec<Value> = moves.iter().copied().map(move_json).collect();
            let announced = self.operate::<Value>("announce", &json!({ "moves": moves })).await;
            if let Err(error) = announced {
                eprintln!("the changes of signals cannot be announced: {error:#}");
                return;
            }
        }
    }

    /// Returns the id of the capability that keeps statements about signals.
    async fn capability(&self) -> anyhow::Result<String> {
        let status = self.operator.get("/catalog", &[]).await?;
        let roles: Vec<RoleRow> =
            serde_json::from_value(status.get("roles").cloned().unwrap_or_default())?;
        let row = roles.into_iter().find(|row| row.role == Role::SignalStatements);
        let row = row.context("the host does not know the role signal_statements")?;
        match (row.id, row.vacant) {
            (Some(id), None) => Ok(id),
            (_, vacant) => anyhow::bail!(
                "no capability has the role signal_statements: {}",
                vacant.unwrap_or_default()
            ),
        }
    }

    async fn operate<T: DeserializeOwned>(&self, action: &str, input: &Value) -> anyhow::Result<T> {
        let path = format!("/capabilities/{}/{action}", self.capability().await?);
        let test_mode = [("test_mode", self.test_mode)];
        let add_content =
            |request: RequestBuilder| request.timeout(TIMEOUT).query(&test_mode).json(input);
        let mut answer = self.operator.request(Method::POST, &path, add_content).await?;
        let result = answer.get_mut("result").map(Value::take).unwrap_or_default();
        serde_json::from_value(result).context("the host's answer has an unexpected form")
    }
}

fn move_json(moved: &Moved) -> Value {
    let mut fields =
        BTreeMap::from([("signal_id", json!(moved.signal_id)), ("to", json!(moved.to))]);
    fields.extend(moved.from.map(|from| ("from", json!(from))));
    json!(fields)
}
