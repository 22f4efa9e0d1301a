//! `portolan people`.

use crate::cli::client::{Operator, block_on, text};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use portolan_archive::{About, Contents, File, item_of_list};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::{
    fs::{DirBuilder, OpenOptions},
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// The action that lets a person's agents cancel an erasure before it is carried out.
const SCHEDULE_ERASURE: &str = "/capabilities/data_rights/schedule_erasure";

/// Arguments of `portolan people`.
#[derive(Debug, Args)]
pub(super) struct People {
    #[command(flatten)]
    operator: Operator,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print all that is stored about a person as JSON, or write it into a folder
    Export {
        /// The owner's id: `own_` and a ULID
        owner_id: String,
        /// Write the archive that the person would get, as files into this new folder
        #[arg(long, value_name = "FOLDER")]
        output: Option<PathBuf>,
    },
    /// Remove the passkeys of a person who has lost them, so that the phone number is enough again
    RemovePasskeys {
        /// The owner's id: `own_` and a ULID
        owner_id: String,
        /// Confirm that the person requests it
        #[arg(long, required = true)]
        yes: bool,
    },
    /// End the suspension of a person who has the phone number of a suspended and erased person
    LiftSuspension {
        /// The owner's id: `own_` and a ULID
        owner_id: String,
    },
    /// Delete or redact all that is stored about a person, in 7 days: their agents are told and can cancel it
    Erase {
        /// The owner's id: `own_` and a ULID
        owner_id: String,
        /// Confirm the erasure
        #[arg(long, required = true)]
        yes: bool,
        /// Erase at once, without telling anybody; it cannot be undone
        #[arg(long)]
        now: bool,
        /// The person belongs to test mode
        #[arg(long, conflicts_with = "now")]
        test_mode: bool,
    },
}

impl People {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            match self.command {
                Command::Export { owner_id, output: None } => {
                    self.operator.print(&format!("/people/{owner_id}")).await?;
                }
                Command::Export { owner_id, output: Some(folder) } => {
                    let export = self.operator.get(&format!("/people/{owner_id}"), &[]).await?;
                    let count = write_archive(&folder, &owner_id, export)?;
                    line!("{owner_id}: {count} files in {}", folder.display());
                }
                Command::RemovePasskeys { owner_id, .. } => {
                    let path = format!("/people/{owner_id}/passkeys");
                    let answer = self.operator.send(Method::DELETE, &path, &[]).await?;
                    line!("{owner_id}: {} passkeys removed", text(&answer, "removed"));
                }
                Command::LiftSuspension { owner_id } => {
                    let path = format!("/people/{owner_id}/kept-suspension");
                    let answer = self.operator.send(Method::DELETE, &path, &[]).await?;
                    match answer.get("lifted") == Some(&json!(true)) {
                        true => line!("{owner_id}: the suspension of the phone number is lifted"),
                        false => line!(
                            "{owner_id} has no suspension of the phone number; end one of a report with `portolan run reports reinstate`"
                        ),
                    }
                }
                Command::Erase { owner_id, now: false, test_mode, .. } => {
                    let test_mode = [("test_mode", test_mode)];
                    let input = json!({ "owner_id": owner_id });
                    let add_content =
                        |request: RequestBuilder| request.query(&test_mode).json(&input);
                    let answer =
                        self.operator.request(Method::POST, SCHEDULE_ERASURE, add_content).await?;
                    let erases_at = answer.get("result").map(|erasure| text(erasure, "erases_at"));
                    let erases_at = erases_at.unwrap_or_default();
                    line!(
                        "{owner_id} will be erased at {erases_at}, unless one of their agents cancels it"
                    );
                }
                Command::Erase { owner_id, .. } => {
                    let path = format!("/people/{owner_id}");
                    let counts = self.operator.send(Method::DELETE, &path, &[]).await?;
                    line!(
                        "{owner_id} is erased: {} documents deleted, {} redacted, {} events emptied, {} stored answers deleted",
                        text(&counts, "deleted"),
                        text(&counts, "redacted"),
                        text(&counts, "events"),
                        text(&counts, "answers")
                    );
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// Writes an export as the files of an archive, and returns their number.
fn write_archive(folder: &Path, owner_id: &str, export: Value) -> anyhow::Result<usize> {
    let Value::Object(lists) = export else { anyhow::bail!("the answer is not an object") };
    let mut contents = Contents::default();
    let mut files = Vec::new();
    for (list, items) in lists {
        // `owner_id` is no list, and the ids of `agents` are in the documents too.
        if let Value::Array(items) = items
            && list != "agents"
        {
            let items = items.into_iter().map(|item| item_of_list(&list, item));
            files.extend(contents.add(items.collect()));
        }
    }
    let exported_at = jiff::Timestamp::now().to_string();
    files.push(contents.index(About { owner_id, exported_at: &exported_at }));
    // Only for the user who runs the command: the files are personal data.
    let mut private = DirBuilder::new();
    private.mode(0o700);
    private.create(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    private.recursive(true);
    for File { name, text } in &files {
        let path = folder.join(name);
        let write = || {
            path.parent().map_or(Ok(()), |parent| private.create(parent))?;
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600);
            options.open(&path)?.write_all(text.as_bytes())
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(files.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt as _};

    #[test]
    fn an_export_is_written_as_files_that_only_its_user_reads() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("ada");
        let export = json!({
            "owner_id": "own_1", "agents": ["agt_1"],
            "documents": [{ "capability": "owners", "collection": "owners", "id": "own_1" }],
            "events": [], "webhooks": [], "timers": [],
            "answers": [{ "capability": "calendar", "key": "k" }],
        });
        assert_eq!(write_archive(&folder, "own_1", export.clone()).unwrap(), 3);
        let text = fs::read_to_string(folder.join("capabilities/owners/0001.json")).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(file["items"][0]["kind"], "document");
        assert!(folder.join("capabilities/calendar/0001.json").exists());
        let index = folder.join("index.md");
        assert_eq!(fs::metadata(index).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        // Nothing is added to a folder that exists.
        assert!(write_archive(&folder, "own_1", export).is_err());
    }
}
