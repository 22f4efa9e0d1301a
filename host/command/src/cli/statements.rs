//! What people said about the signals of the feeds, between a running host and whoever builds them.

use crate::cli::client::Operator;
use anyhow::Context as _;
use clap::Args;
use portolan_feeds::{Evidence, Knowledge, Moved};
use portolan_vocabulary::Role;
use reqwest::Method;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Statements of one page.
const PAGE: u32 = 100;
/// Signals that the capability tells of in one call.
const MOVES: usize = 5;
/// A host that does not answer must not hold a build up.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The host whose capability with the role signal_statements is asked.
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
    /// Everything that counts; none if it is not to be had, which is said.
    pub(super) async fn hear(&self) -> Option<Knowledge> {
        match self.knowledge().await {
            Ok(knowledge) => {
                let Knowledge { verified_owners, evidence } = &knowledge;
                let (owners, evidence) = (verified_owners.len(), evidence.len());
                eprintln!("{evidence} statements about signals, {owners} companies with a say");
                Some(knowledge)
            }
            Err(error) => {
                eprintln!("what was said about signals stays as the last build knew it: {error:#}");
                None
            }
        }
    }

    async fn knowledge(&self) -> anyhow::Result<Knowledge> {
        let mut knowledge = Knowledge::default();
        let mut input = json!({ "limit": PAGE });
        loop {
            let page: Page = self.ask("knowledge", &input).await?;
            knowledge.verified_owners.extend(page.verified_owners);
            knowledge.evidence.extend(page.evidence);
            match page.next_cursor {
                Some(cursor) => input = json!({ "limit": PAGE, "cursor": cursor }),
                None => return Ok(knowledge),
            }
        }
    }

    /// Lets those know who have had a part in it what became of signals that somebody spoke of.
    pub(super) async fn announce(&self, moved: &[Moved], knowledge: &Knowledge) {
        let spoken: BTreeSet<&String> = knowledge.evidence.iter().map(|it| &it.signal_id).collect();
        let moved: Vec<&Moved> = moved.iter().filter(|it| spoken.contains(&it.signal_id)).collect();
        for moves in moved.chunks(MOVES) {
            let moves: Vec<Value> = moves.iter().copied().map(step).collect();
            let told = self.ask::<Value>("announce", &json!({ "moves": moves })).await;
            if let Err(error) = told {
                eprintln!("nobody could be told what became of signals: {error:#}");
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

    async fn ask<T: DeserializeOwned>(&self, action: &str, input: &Value) -> anyhow::Result<T> {
        let path = format!("/capabilities/{}/{action}", self.capability().await?);
        let request = self.operator.request(Method::POST, &path)?.timeout(TIMEOUT);
        let request = request.query(&[("test_mode", self.test_mode)]).json(input);
        let mut answer = self.operator.answer(request).await?;
        let result = answer.get_mut("result").map(Value::take).unwrap_or_default();
        serde_json::from_value(result).context("the host says something else than expected")
    }
}

fn step(moved: &Moved) -> Value {
    let mut step = BTreeMap::from([("signal_id", json!(moved.signal_id)), ("to", json!(moved.to))]);
    step.extend(moved.from.map(|from| ("from", json!(from))));
    json!(step)
}
