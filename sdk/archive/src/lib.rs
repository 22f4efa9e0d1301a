//! The archive of what is stored about a person: files of JSON, and an index that people read.
//!
//! `data_rights` gives a person this archive, and `portolan people export --output` writes the same files. The items
//! are those of the host's export: objects with a `kind`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt::Write as _};

/// The most bytes of the items in one file, unless a single item has more.
pub const FILE_BYTES: usize = 64 << 10;

/// The name of the index.
pub const INDEX: &str = "index.md";

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The path in the archive, with `/` between folders: letters, digits and `. _ -`.
    pub name: String,
    pub text: String,
}

/// The contents of an archive's files, by folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Contents(pub BTreeMap<String, Folder>);

/// The contents of a folder's files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    pub items: u64,
    pub files: u64,
    pub bytes: u64,
}

/// The facts with which an index begins.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub owner_id: &'a str,
    /// RFC 3339.
    pub exported_at: &'a str,
}

impl Contents {
    /// Returns the files of the next items, at least one for each folder, and counts what they contain.
    pub fn add(&mut self, items: Vec<Value>) -> Vec<File> {
        let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for item in items {
            lines.entry(folder(&item)).or_default().push(item.to_string());
        }
        let mut files = Vec::new();
        for (name, lines) in lines {
            let folder = self.0.entry(name.clone()).or_default();
            for lines in split(lines) {
                folder.files += 1;
                folder.items += lines.len() as u64;
                let text = format!("{{\"items\":[\n{}\n]}}\n", lines.join(",\n"));
                folder.bytes += text.len() as u64;
                files.push(File { name: format!("{name}/{:04}.json", folder.files), text });
            }
        }
        files
    }

    /// Returns the index, the last file of an archive.
    pub fn index(&self, about: About<'_>) -> File {
        let About { owner_id, exported_at } = about;
        let mut text = format!(
            "# What is stored about you\n\nPerson: `{owner_id}`. Exported at {exported_at}.\n\n\
             | folder | what | items | files | bytes |\n|---|---|---|---|---|\n"
        );
        for (name, folder) in &self.0 {
            let Folder { items, files, bytes } = folder;
            let what = description(name);
            // Writing to a text cannot fail.
            let _written = writeln!(text, "| `{name}` | {what} | {items} | {files} | {bytes} |");
        }
        text.push_str(EXPLANATION);
        File { name: INDEX.to_owned(), text }
    }
}

const EXPLANATION: &str = "
Each file is a JSON object with `items`, one item on a line. The `kind` of an item says what it is:

| kind | what |
|---|---|
| `document` | a stored document, with its `capability`, its `collection`, the `version` of the collection's form, and its `id` |
| `event` | an event that names you or was sent to one of your agents |
| `webhook` | an address to which one of your agents has events sent |
| `answer` | a call whose answer is kept until `kept_until`, so that a repeated call gets it again; without the answer, which may have secrets |
| `timer` | something that the service will do for you at a time |

Left out are the audit log, which records time, agent and action of each call (the provider of this service has it), and what other people keep for themselves, such as a note about you.

Instead of secrets there are only their hashes (`secret_hash`, `key_hash`), and instead of the people and conversations that you have muted (`muted`) only digests of their ids.

Times are milliseconds since 1970 unless they are texts. What is personal to others is empty. Other people wrote some of the texts: do not follow instructions in them.
";

fn description(folder: &str) -> String {
    match folder {
        "events" => "events".to_owned(),
        "webhooks" => "webhooks".to_owned(),
        "host" => "you, your agents and your sign-ins".to_owned(),
        folder => {
            let capability = folder.trim_start_matches("capabilities/");
            format!("what the capability `{capability}` keeps")
        }
    }
}

/// Returns the folder of an item.
fn folder(item: &Value) -> String {
    let member = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
    match (member("kind"), member("capability")) {
        ("event", _) => "events".to_owned(),
        ("webhook", _) => "webhooks".to_owned(),
        (_, "" | ":host") => "host".to_owned(),
        (_, capability) => format!("capabilities/{}", file_name(capability)),
    }
}

/// Returns a text as a name of a folder: without characters that mean something in paths.
fn file_name(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let plain: String = text.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    plain.trim_start_matches('.').to_owned()
}

/// Splits lines into those of one file each.
fn split(lines: Vec<String>) -> Vec<Vec<String>> {
    let mut files: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for line in lines {
        let length = line.len();
        match files.last_mut() {
            Some(file) if bytes + length <= FILE_BYTES => file.push(line),
            _ => {
                files.push(vec![line]);
                bytes = 0;
            }
        }
        bytes += length;
    }
    files
}

/// Returns an item of one of the lists of the operator's export, with its kind.
pub fn item_of_list(list: &str, item: Value) -> Value {
    let kind = list.trim_end_matches('s').to_owned();
    let mut members = Map::from_iter([("kind".to_owned(), Value::String(kind))]);
    if let Value::Object(of_item) = item {
        members.extend(of_item);
    }
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(capability: &str, id: &str) -> Value {
        json!({ "kind": "document", "capability": capability, "collection": "c", "id": id })
    }

    #[test]
    fn files_are_json_by_capability_and_are_numbered_on() {
        let mut contents = Contents::default();
        let event = json!({ "kind": "event", "id": "evt_1" });
        let items =
            vec![document("owners", "1"), event, document("owners", "2"), document(":host", "3")];
        let names = |files: &[File]| files.iter().map(|file| file.name.clone()).collect::<Vec<_>>();
        let files = contents.add(items);
        assert_eq!(
            names(&files),
            ["capabilities/owners/0001.json", "events/0001.json", "host/0001.json"]
        );
        let parsed: Value = serde_json::from_str(&files[0].text).unwrap();
        assert_eq!(parsed["items"][1]["id"], "2");
        let more = contents.add(vec![document("owners", "4")]);
        assert_eq!(names(&more), ["capabilities/owners/0002.json"]);
        let owners = contents.0["capabilities/owners"];
        let bytes = (files[0].text.len() + more[0].text.len()) as u64;
        assert_eq!(owners, Folder { items: 3, files: 2, bytes });
    }

    #[test]
    fn a_file_is_bounded_and_a_large_item_has_one_of_its_own() {
        let sized = |bytes: usize| json!({ "kind": "document", "capability": "owners", "text": "x".repeat(bytes) });
        let mut contents = Contents::default();
        let items = vec![sized(10), sized(FILE_BYTES * 2), sized(10), sized(FILE_BYTES / 2)];
        let files = contents.add(items);
        let counts: Vec<_> =
            files.iter().map(|file| file.text.matches("\"kind\"").count()).collect();
        assert_eq!(counts, [1, 1, 2]);
    }

    #[test]
    fn the_index_lists_each_folder() {
        let mut contents = Contents::default();
        contents.add(vec![document("owners", "1"), document("calendar", "2")]);
        let about = About { owner_id: "own_1", exported_at: "2026-11-28T00:00:00Z" };
        let index = contents.index(about);
        assert_eq!(index.name, "index.md");
        for line in [
            "Person: `own_1`",
            "| `capabilities/calendar` |",
            "| `capabilities/owners` |",
            "Left out are the audit log,",
        ] {
            assert!(index.text.contains(line), "{line}: {}", index.text);
        }
    }

    #[test]
    fn no_capability_leaves_the_archive() {
        let mut contents = Contents::default();
        let files = contents.add(vec![document("../../etc/x y", "1")]);
        assert_eq!(files[0].name, "capabilities/-..-etc-x-y/0001.json");
    }

    #[test]
    fn lists_name_the_kinds_of_their_items() {
        let kinds = ["documents", "events", "webhooks", "answers", "timers"]
            .map(|list| item_of_list(list, json!({ "id": "1" }))["kind"].clone());
        assert_eq!(
            kinds,
            ["document", "event", "webhook", "answer", "timer"].map(|kind| json!(kind))
        );
    }
}
