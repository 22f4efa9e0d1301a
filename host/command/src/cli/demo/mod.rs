//! `portolan demo`: fictional people who find each other, talk and meet.

mod agent;
mod people;
mod story;

use crate::cli::client::{PublicAddress, block_on, client};
use agent::{Agent, text};
use anyhow::{Context as _, bail};
use clap::Args;
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use people::draw_pairs;
use serde_json::{Map, Value, json};
use std::{process::ExitCode, time::Duration};
use story::{Step, Story, fill};

/// How often a step looks again for what is not there yet, and how long it waits in between.
const MAX_LOOKS: usize = 40;
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// Arguments of `portolan demo`.
#[derive(Debug, Args)]
pub(super) struct Demo {
    #[command(flatten)]
    host: PublicAddress,
    /// The same seed makes the same people, listings and events
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Pairs of people who match, of whom five plan a holiday together; a host registers 30 agents an hour from one address
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u8).range(1..=15))]
    pairs: u8,
}

impl Demo {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.fill())
    }

    async fn fill(self) -> anyhow::Result<ExitCode> {
        let story = Story::read()?;
        let url = self.host.url();
        let client = client()?;
        let mut number = 0;
        let mut people: Vec<[Person; 2]> = Vec::new();
        let pairs = draw_pairs(&story, self.seed, self.pairs.into())?;
        let count = pairs.len() * 2;
        for pair in pairs {
            let mut pair_people = Vec::new();
            for values in pair {
                number += 1;
                let title = values.get("listing").map_or("", |listing| text(listing, "/title"));
                eprintln!("[{number}/{count}] {}: {title}", name(&values));
                pair_people.push(Person::register(&story, &client, url, values).await?);
            }
            people.extend(<[Person; 2]>::try_from(pair_people).ok());
        }
        let mut summary = Vec::new();
        let endings = story.endings.iter().cycle();
        // The first person of the pair before, whom a pair can name; and what all pairs have kept.
        let (mut before, mut kept) = (None, Vec::new());
        for (number, (pair, ending)) in people.iter().zip(endings).enumerate() {
            let [first, second] = pair;
            let names = format!("{} and {}", name(&first.values), name(&second.values));
            eprintln!("[{}/{}] {names}", number + 1, count / 2);
            let shared = Map::from_iter(before.map(|values| ("before".to_owned(), values)));
            kept.push(run_steps(&pair.each_ref(), shared, story.steps(ending)).await?);
            before = Some(json!(first.values));
            summary.push(format!("{names} {}.", ending.says));
        }
        let group: Vec<&Person> = people.iter().flatten().take(story.group.people).collect();
        if group.len() == story.group.people {
            let names: Vec<&str> = group.iter().map(|person| name(&person.values)).collect();
            let names = names.join(", ");
            eprintln!("{names}");
            let pairs = Map::from_iter([("pairs".to_owned(), json!(kept))]);
            run_steps(&group, pairs, story.group_steps()).await?;
            summary.push(format!("{names} {}.", story.group.says));
        }
        for line in summary {
            line!("{line}");
        }
        if let Some([first, _]) = people.first() {
            print_next_commands(&story, url, first);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A fictional person with an agent on the host.
struct Person {
    agent: Agent,
    /// The values to which steps can refer.
    values: Map<String, Value>,
}

fn name(values: &Map<String, Value>) -> &str {
    values.get("name").and_then(Value::as_str).unwrap_or_default()
}

impl Person {
    /// Registers a person's agent, and makes the calls with which every person of the story begins.
    async fn register(
        story: &Story,
        client: &reqwest::Client,
        url: &str,
        values: Map<String, Value>,
    ) -> anyhow::Result<Self> {
        let agent = Agent::new(client, url, &format!("Assistant of {}", name(&values))).await?;
        ensure_capabilities(story, &agent).await?;
        let mut person = Self { agent, values };
        for step in &story.person.steps {
            let values = person.run_step(step, &person.values).await?;
            person.values.extend(values);
        }
        Ok(person)
    }

    /// Makes the call of a step. Returns the values that it keeps for later steps.
    async fn run_step(
        &self,
        step: &Step,
        values: &Map<String, Value>,
    ) -> anyhow::Result<Map<String, Value>> {
        let input = fill(&step.input, values)?;
        let missing_value =
            || format!("the answer of {} {} lacks what the story needs", step.call, step.action);
        let mut attempts = 0;
        let found = loop {
            let result = self.agent.call(&step.call, &step.action, input.clone()).await?;
            let Some(find) = &step.find else { break result };
            let expected = fill(&find.equals, values)?;
            let list = result.pointer(&find.list).and_then(Value::as_array);
            let mut items = list.into_iter().flatten();
            match items.find(|item| item.pointer(&find.member) == Some(&expected)) {
                Some(item) => break item.clone(),
                // The consequences of an event take a moment.
                None if attempts < MAX_LOOKS => tokio::time::sleep(LOOK_INTERVAL).await,
                None => bail!(missing_value()),
            }
            attempts += 1;
        };
        if let Some(pointer) = &step.sends {
            self.agent.send_picture(text(&found, pointer)).await?;
        }
        let kept = step.keep.iter().map(|(name, pointer)| {
            anyhow::Ok((name.clone(), found.pointer(pointer).with_context(missing_value)?.clone()))
        });
        kept.collect()
    }
}

/// Makes the calls of the steps between these people, who can name each other and `shared` values. Returns the
/// values that the steps have kept, with these.
async fn run_steps(
    people: &[&Person],
    mut shared: Map<String, Value>,
    steps: impl Iterator<Item = &Step>,
) -> anyhow::Result<Map<String, Value>> {
    let now = Timestamp::now();
    let in_three_days = now.to_zoned(TimeZone::UTC).date().checked_add(3.days())?;
    shared.extend([
        ("in_three_days".to_owned(), json!(in_three_days.to_string())),
        // A number that makes names differ between runs, for things whose name must be unique on a
        // host.
        ("run".to_owned(), json!(now.as_millisecond())),
    ]);
    let all: Vec<_> = people.iter().map(|person| &person.values).collect();
    shared.insert("people".to_owned(), json!(all));
    for step in steps {
        let person = people.get(step.by).context("the story names a person who is not there")?;
        let mut values = person.values.clone();
        values.extend(shared.clone());
        // The other of a pair.
        let other = people.iter().enumerate().find(|(number, _)| *number != step.by);
        values.extend(other.map(|(_, other)| ("other".to_owned(), json!(other.values))));
        shared.extend(person.run_step(step, &values).await?);
    }
    Ok(shared)
}

/// Ensures that the host has every capability of the demonstration.
async fn ensure_capabilities(story: &Story, agent: &Agent) -> anyhow::Result<()> {
    let mut missing: Vec<&str> = story.needs.iter().map(String::as_str).collect();
    let mut page = agent.get("/v1/capabilities").await?;
    loop {
        let listed = page.get("capabilities").and_then(Value::as_array).into_iter().flatten();
        let listed: Vec<&str> = listed.map(|capability| text(capability, "/id")).collect();
        missing.retain(|id| !listed.contains(id));
        let Some(cursor) = page.get("next_cursor").and_then(Value::as_str) else { break };
        page = agent.get(&format!("/v1/capabilities?cursor={cursor}")).await?;
    }
    if !missing.is_empty() {
        let missing = missing.join(", ");
        bail!(
            "the host has not loaded {missing}; `cargo xtask plugins` builds them into catalog/, and `portolan catalog` says what was refused"
        );
    }
    Ok(())
}

fn print_next_commands(story: &Story, url: &str, person: &Person) {
    line!("");
    line!(
        "All of this is in test mode, apart from live data. To look around as {}:",
        name(&person.values)
    );
    line!("");
    line!("  export PORTOLAN_PUBLIC_URL={url} PORTOLAN_TOKEN={}", person.agent.token);
    for (capability, input) in &story.look_around {
        line!("  portolan call {capability} --input '{input}'");
    }
}
