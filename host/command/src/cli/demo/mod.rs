//! `portolan demo`: fictional people, and what happens between them.

mod agent;
mod people;
mod person;
mod story;

use crate::cli::client::{block_on, client};
use agent::{Agent, text};
use anyhow::bail;
use clap::Args;
use people::Cast;
use person::Person;
use serde_json::{Value, json};
use std::process::ExitCode;

/// What the demonstration calls.
const NEEDED: [&str; 8] = [
    "agent_listings",
    "calendar",
    "conversations",
    "matching_sessions",
    "owners",
    "pairings",
    "svc.phone-binding",
    "thread_meetings",
];

/// Arguments of `portolan demo`.
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Where the host is
    #[arg(
        long,
        value_name = "URL",
        env = "PORTOLAN_PUBLIC_URL",
        hide_env_values = true,
        default_value = "http://127.0.0.1:8080"
    )]
    url: String,
    /// The same number gives the same people, listings and events
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Pairs of people who fit each other; a host registers 30 agents an hour from one address
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u8).range(1..=15))]
    pairs: u8,
}

impl Demo {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.fill())
    }

    async fn fill(self) -> anyhow::Result<ExitCode> {
        let url = self.url.trim_end_matches('/');
        let client = client()?;
        let pairs = people::pairs(self.seed, self.pairs.into());
        let count = pairs.len() * 2;
        let mut people: Vec<[Person; 2]> = Vec::new();
        for cast in pairs {
            let mut pair = Vec::new();
            for cast in cast {
                let number = people.len() * 2 + pair.len() + 1;
                eprintln!("[{number}/{count}] {}: {}", cast.name, text(&cast.listing, "/title"));
                pair.push(person(&client, url, cast).await?);
            }
            if let Ok(pair) = <[Person; 2]>::try_from(pair) {
                people.push(pair);
            }
        }
        let mut told = Vec::new();
        for (number, pair) in people.iter().enumerate() {
            eprintln!("[{}/{}] {} and {}", number + 1, people.len(), pair[0].name, pair[1].name);
            told.push(story::happens(number, pair).await?);
        }
        for line in told {
            line!("{line}");
        }
        if let Some([first, _]) = people.first() {
            try_next(url, first);
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn person(client: &reqwest::Client, url: &str, cast: Cast) -> anyhow::Result<Person> {
    let Cast { name, profile, mut listing } = cast;
    let agent = Agent::new(client, url, &format!("Assistant of {name}")).await?;
    ensure_capabilities(&agent).await?;
    agent.claim().await?;
    agent.call("owners", "update_profile", profile).await?;
    if let Some(fields) = listing.as_object_mut() {
        fields.insert("publish".to_owned(), json!(true));
    }
    let listed = agent.call("agent_listings", "create", listing).await?;
    Ok(Person { name, agent, listing_id: text(&listed, "/listing_id").to_owned() })
}

/// Ensures that the host has every capability of the demonstration, before anything is done there.
async fn ensure_capabilities(agent: &Agent) -> anyhow::Result<()> {
    let catalog = agent.get("/v1/capabilities").await?;
    let there: Vec<&str> = catalog
        .get("capabilities")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|capability| text(capability, "/id"))
        .collect();
    let missing: Vec<&str> = NEEDED.into_iter().filter(|id| !there.contains(id)).collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        bail!(
            "the host has not loaded {missing}; `cargo xtask plugins` builds them into catalog/, and `portolan catalog` says what was refused"
        );
    }
    Ok(())
}

fn try_next(url: &str, person: &Person) {
    line!("");
    line!("All of it is in test mode, apart from what is real. To look around as {}:", person.name);
    line!("");
    line!("  export PORTOLAN_PUBLIC_URL={url} PORTOLAN_TOKEN={}", person.agent.token);
    for (capability, body) in [
        ("svc.whoami", "{}"),
        ("agent_listings", r#"{"action":"search","q":"room"}"#),
        ("matching_sessions", r#"{"action":"list"}"#),
        ("pairings", r#"{"action":"list"}"#),
        ("conversations", r#"{"action":"list"}"#),
        ("thread_meetings", r#"{"action":"list"}"#),
        ("svc.events", r#"{"action":"pull"}"#),
    ] {
        line!("  portolan call {capability} --input '{body}'");
    }
}
