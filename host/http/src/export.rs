//! Writes the export of a person's data: one JSON object, with each item on a line of its own.

use crate::{App, chunks::body_of};
use axum::{
    body::Bytes,
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
    ([(CONTENT_TYPE, "application/json")], body_of(chunks)).into_response()
}

async fn write(app: &App, ids: &[String], sender: &mpsc::Sender<Chunk>) -> Result<(), DbError> {
    let recordings = app.host.store.count_recordings_of(ids).await?;
    let (items, mut received) = mpsc::channel(1);
    // This future owns the receiver, so the export ends too if nobody reads the response.
    let items_written = async move {
        let mut writer = ExportWriter::default();
        let mut text = preamble(ids, recordings);
        while let Some(item) = received.recv().await {
            writer.add_item(&item, &mut text);
            sender.send(Ok(std::mem::take(&mut text).into())).await.ok()?;
        }
        writer.finish(&mut text);
        Some(text)
    };
    let left_out = app.host.catalog.snapshot().collections_left_out_of_exports();
    let exported = app.host.store.export_person(ids, left_out, items);
    let (exported, last_chunk) = tokio::join!(exported, items_written);
    exported?;
    if let Some(last_chunk) = last_chunk {
        let _sent = sender.send(Ok(last_chunk.into())).await;
    }
    Ok(())
}

/// Returns the beginning of an export. Of recorded calls it has the number: they are copies of what the lists have.
fn preamble(ids: &[String], recordings: u64) -> String {
    let (owner, agents) = ids.split_at(ids.len().min(1));
    let (owner, agents) = (json!(owner.first()), json!(agents));
    format!("{{\"owner_id\":{owner},\"agents\":{agents},\"recordings\":{recordings}")
}

/// The place in an export: the number of lists that have begun, and whether the last one has items.
#[derive(Default)]
struct ExportWriter {
    begun_lists: usize,
    has_items: bool,
}

impl ExportWriter {
    fn add_item(&mut self, item: &PersonalItem, text: &mut String) {
        let (list_index, item) = match item {
            PersonalItem::Document(document) => (0, serde_json::to_string(document)),
            PersonalItem::Event(event) => (1, serde_json::to_string(event)),
            PersonalItem::Webhook(webhook) => (2, serde_json::to_string(webhook)),
            PersonalItem::Answer(answer) => (3, serde_json::to_string(answer)),
            PersonalItem::Timer(timer) => (4, serde_json::to_string(timer)),
        };
        while self.begun_lists <= list_index {
            self.begin_list(text);
        }
        // The serialization of these types cannot fail.
        let item = item.unwrap_or_default();
        text.push_str(if self.has_items { ",\n" } else { "\n" });
        text.push_str(&item);
        self.has_items = true;
    }

    fn finish(&mut self, text: &mut String) {
        while self.begun_lists < LISTS.len() {
            self.begin_list(text);
        }
        text.push_str("]}\n");
    }

    fn begin_list(&mut self, text: &mut String) {
        if self.begun_lists > 0 {
            text.push(']');
        }
        let name = LISTS.get(self.begun_lists).copied().unwrap_or_default();
        text.push_str(&format!(",\"{name}\":["));
        self.begun_lists += 1;
        self.has_items = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_store::{PersonalDocument, PersonalWebhook};
    use serde_json::Value;

    fn export_json(items: &[PersonalItem]) -> Value {
        let ids = ["own_1", "agt_1"].map(str::to_owned);
        let (mut writer, mut text) = (ExportWriter::default(), preamble(&ids, 2));
        items.iter().for_each(|item| writer.add_item(item, &mut text));
        writer.finish(&mut text);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn an_export_is_one_object_with_every_list() {
        let empty = json!({
            "owner_id": "own_1", "agents": ["agt_1"], "recordings": 2,
            "documents": [], "events": [], "webhooks": [], "answers": [], "timers": [],
        });
        assert_eq!(export_json(&[]), empty);
        let document = |id: &str| {
            let [capability, collection, id] = ["a", "b", id].map(str::to_owned);
            let document = json!({ "text": "]" });
            let document = PersonalDocument {
                capability,
                collection,
                version: 1,
                id,
                document,
                quarantine_reason: None,
            };
            PersonalItem::Document(document)
        };
        let webhook = PersonalItem::Webhook(PersonalWebhook {
            id: "whk".to_owned(),
            agent_id: "agt_1".to_owned(),
            url: "https://example.com/".to_owned(),
            description: None,
        });
        let export = export_json(&[document("one"), document("two"), webhook]);
        assert_eq!(export["documents"][1]["id"], "two");
        assert_eq!(export["events"], json!([]));
        assert_eq!(export["webhooks"][0]["id"], "whk");
        assert_eq!(export["answers"], json!([]));
    }
}
