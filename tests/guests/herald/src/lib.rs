//! The capability `herald`: publishes texts as events, to an agent, to a person or to capabilities.

use portolan_sdk::{
    events::{Audience, Event},
    prelude::*,
};

const TOLD: Event<News> = Event::new("herald.told");
const RUMOURED: Event<News> = Event::new("herald.rumoured");

#[derive(Serialize, JsonSchema)]
struct News {
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Proclamation {
    /// An agent, by its id.
    agent: Option<String>,
    /// A person, by the owner's id.
    owner: Option<String>,
    /// The subject.
    subject: String,
    /// One event each.
    texts: Vec<String>,
    /// Publish `herald.rumoured` instead of `herald.told`.
    #[serde(default)]
    rumour: bool,
}

#[derive(Serialize, JsonSchema)]
struct Published {
    events: usize,
}

struct Herald;

/// Publishes what it is told.
///
/// To one agent, to one person, or to capabilities alone.
#[capability(id = "herald", title = "Herald", tags = ["test"])]
impl Herald {
    /// Publish texts as events.
    #[action(
        access = open,
        emits = [TOLD, RUMOURED],
        example = Proclamation {
            agent: None,
            owner: None,
            subject: "towns/1".into(),
            texts: vec!["The king is well.".into()],
            rumour: false,
        }
    )]
    fn proclaim(_call: &Call, input: Proclamation) -> Result<Published, Refusal> {
        let event = if input.rumour { RUMOURED } else { TOLD };
        let events = input.texts.len();
        for text in input.texts {
            let audience = match (&input.agent, &input.owner) {
                (Some(agent), _) => Audience::Agent(agent.clone()),
                (None, Some(owner)) => Audience::Owner(owner.clone()),
                (None, None) => Audience::Capabilities,
            };
            event.publish(audience, input.subject.clone(), &News { text })?;
        }
        Ok(Published { events })
    }
}
