//! Writes the export of a person's data: one JSON object, with each item on a line of its own.

use crate::App;
use axum::{
    body::{Body, Bytes},
    http::header::CONTENT_TYPE,
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use portolan_store::{DbError, PersonalItem};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::mpsc;

type Chunk = Result<Bytes, std::io::Error>;

/// The lists of an export, in their order.
const LISTS: [&str; 5] = ["documents", "events", "webhooks", "answers", "timers"];

/// Returns the export of the person with these ids: the owner's id first, then those of the agents. The
/// response ends early, with an error, if the database fails.
pub(crate) fn export(app: Arc<App>, ids: Vec<String>) -> Response {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        if let Err(error) = write(&app, &ids, &sender).await {
            tracing::error!(%error, "the export of a person is cut off");
            let _sent = sender.send(Err(std::io::Error::other("the export is cut off"))).await;
        }
    });
    let chunks = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|chunk: Chunk| (chunk, receiver))
    });
    ([(CONTENT_TYPE, "application/json")], Body::from_stream(chunks)).into_response()
}

async fn write(app: &App, ids: &[String], sender: &mpsc::Sender<Chunk>) -> Result<(), DbError> {
    let (items, mut received) = mpsc::channel(1);
    // This future owns the receiver, so the export ends too if nobody reads the response.
    let written = async move {
        let mut list = List::default();
        let mut text = beginning(ids);
        while let Some(item) = received.recv().await {
            list.add(&item, &mut text);
            sender.send(Ok(std::mem::take(&mut text).into())).await.ok()?;
        }
        list.end(&mut text);
        Some(text)
    };
    let (exported, end) = tokio::join!(app.host.store.export_person(ids, items), written);
    exported?;
    if let Some(end) = end {
        let _sent = sender.send(Ok(end.into())).await;
    }
    Ok(())
}

fn beginning(ids: &[String]) -> String {
    let (owner, agents) = ids.split_at(ids.len().min(1));
    format!("{{\"owner_id\":{},\"agents\":{}", json!(owner.first()), json!(agents))
}

/// The place in an export: the number of lists that have begun, and whether the last one has items.
#[derive(Default)]
struct List {
    begun: usize,
    has_items: bool,
}

impl List {
    fn add(&mut self, item: &PersonalItem, text: &mut String) {
        let (list, item) = match item {
            PersonalItem::Document(document) => (0, serde_json::to_string(document)),
            PersonalItem::Event(event) => (1, serde_json::to_string(event)),
            PersonalItem::Webhook(webhook) => (2, serde_json::to_string(webhook)),
            PersonalItem::Answer(answer) => (3, serde_json::to_string(answer)),
            PersonalItem::Timer(timer) => (4, serde_json::to_string(timer)),
        };
        while self.begun <= list {
            self.begin(text);
        }
        // The serialization of these types cannot fail.
        let item = item.unwrap_or_default();
        text.push_str(if self.has_items { ",\n" } else { "\n" });
        text.push_str(&item);
        self.has_items = true;
    }

    fn end(&mut self, text: &mut String) {
        while self.begun < LISTS.len() {
            self.begin(text);
        }
        text.push_str("]}\n");
    }

    fn begin(&mut self, text: &mut String) {
        if self.begun > 0 {
            text.push(']');
        }
        let name = LISTS.get(self.begun).copied().unwrap_or_default();
        text.push_str(&format!(",\"{name}\":["));
        self.begun += 1;
        self.has_items = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_store::{PersonalDocument, PersonalWebhook};
    use serde_json::Value;

    fn written(items: &[PersonalItem]) -> Value {
        let ids = ["own_1", "agt_1"].map(str::to_owned);
        let (mut list, mut text) = (List::default(), beginning(&ids));
        items.iter().for_each(|item| list.add(item, &mut text));
        list.end(&mut text);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn an_export_is_one_object_with_every_list() {
        let none = json!({
            "owner_id": "own_1", "agents": ["agt_1"],
            "documents": [], "events": [], "webhooks": [], "answers": [], "timers": [],
        });
        assert_eq!(written(&[]), none);
        let document = |id: &str| {
            let [capability, collection, id] = ["a", "b", id].map(str::to_owned);
            let document = json!({ "text": "]" });
            let quarantine_reason = None;
            let document =
                PersonalDocument { capability, collection, id, document, quarantine_reason };
            PersonalItem::Document(document)
        };
        let webhook = PersonalItem::Webhook(PersonalWebhook {
            id: "whk".to_owned(),
            agent_id: "agt_1".to_owned(),
            url: "https://example.com/".to_owned(),
            description: None,
        });
        let all = written(&[document("one"), document("two"), webhook]);
        assert_eq!(all["documents"][1]["id"], "two");
        assert_eq!(all["events"], json!([]));
        assert_eq!(all["webhooks"][0]["id"], "whk");
        assert_eq!(all["answers"], json!([]));
    }
}
