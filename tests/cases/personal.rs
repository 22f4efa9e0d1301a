//! The stored data of a person: its export, and its erasure.

use crate::harness::{
    Host, Options, Process, Reply, command, conversations::*, database::Database, postgres,
    relationships::Person,
};
use portolan_vocabulary::Digest;
use serde_json::{Value, json};
use std::{
    path::Path,
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// Parts of the texts that one person leaves; none may be left after the erasure.
const CANARIES: [&str; 4] = ["canaryname", "canaryheadline", "canarymessage", "canarynote"];

pub async fn export(host: &Host, owner_id: &str) -> Reply {
    let url = format!("{}/people/{owner_id}", host.admin_url);
    Reply::read(host.operator.get(url).send().await.unwrap()).await
}

pub async fn erase(host: &Host, owner_id: &str) -> Reply {
    let url = format!("{}/people/{owner_id}", host.admin_url);
    Reply::read(host.operator.delete(url).send().await.unwrap()).await
}

/// Kills a host, and returns its folder.
pub fn stop(host: Process) -> TempDir {
    host.signal("KILL");
    host.wait().1
}

/// Makes a backup with this name in the folder of a host.
pub fn back_up(folder: &Path, name: &str) {
    run_command(folder, "backup", name);
}

/// Restores a backup with this name over the database of a host that is stopped.
pub fn restore(folder: &Path, name: &str) {
    run_command(folder, "restore", name);
}

/// Runs a command on a file. For PostgreSQL, also runs the shell commands that it prints.
fn run_command(folder: &Path, what: &str, file: &str) {
    let output = command(folder).stderr(Stdio::piped()).args([what, file]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    if matches!(Database::of(folder), Database::Postgres(_)) {
        let script = String::from_utf8(output.stdout).unwrap();
        let done = Command::new("sh").args(["-c", &script]).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

/// Leaves traces of Ada with several capabilities, and returns their conversation.
async fn leave_traces(host: &Host, ada: &Person<'_>, bo: &Person<'_>) -> String {
    let profile = json!({
        "action": "update_profile", "display_name": "Canaryname", "headline": "Canaryheadline",
    });
    ada.agent().result("owners", profile).await;
    let note = json!({ "action": "note", "owner_id": bo.id, "text": "Canarynote" });
    ada.agent().result("social_relationships", note).await;
    bo.call_ok("block", &ada.id).await;
    bo.call_ok("unblock", &ada.id).await;
    let thread_id = open_thread(host, &[ada, bo]).await;
    ada.send_message(&thread_id, "Canarymessage").await;
    bo.send_message(&thread_id, "An answer").await;
    thread_id
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_contains_everything_and_an_erasure_leaves_nothing() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = leave_traces(&host, &ada, &bo).await;

    let exported = export(&host, &ada.id).await;
    assert_eq!(exported.status, 200, "{}", exported.text);
    for canary in CANARIES {
        assert!(exported.text.to_lowercase().contains(canary), "{canary}: {:#}", exported.body);
    }
    let theirs = export(&host, &bo.id).await;
    assert!(!theirs.text.contains("Canarynote"), "a note about him is hers: {:#}", theirs.body);

    let erased = erase(&host, &ada.id).await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    assert!(erased.body["deleted"].as_u64().unwrap() > 0, "{:#}", erased.body);
    assert_eq!(export(&host, &ada.id).await.status, 404);
    let traces: Vec<&str> = CANARIES.into_iter().chain([ada.id.as_str()]).collect();
    assert_eq!(host.database().texts_found(&traces), Vec::<String>::new());
    assert_eq!(host.database().texts_found(&[bo.id.as_str()]), [bo.id.as_str()]);

    let refused = ada.agent().call("owners", json!({ "action": "me" })).await;
    assert_eq!(refused.status, 401, "{}", refused.text);
    let messages = bo.call_thread_ok("messages", json!({ "thread_id": thread_id })).await;
    let texts: Vec<&Value> =
        messages["items"].as_array().unwrap().iter().map(|message| &message["text"]).collect();
    assert_eq!(texts.len(), 2, "{messages:#}");
    assert!(texts.contains(&&json!("An answer")), "{messages:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_does_not_tell_who_has_blocked_muted_or_noted_the_person() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    ada.call_ok("mute", &bo.id).await;
    ada.call_ok("block", &bo.id).await;
    let note = json!({ "action": "note", "owner_id": bo.id, "text": "A note" });
    ada.agent().result("social_relationships", note).await;
    host.wait_until_settled().await;
    let hers = export(&host, &ada.id).await.text;
    for part in ["rel_mute_", "rel_block_", "A note", "blocked"] {
        assert!(hers.contains(part), "{part}: {hers}");
    }
    let his = export(&host, &bo.id).await.text;
    assert!(!his.contains(&ada.id), "{his}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_without_a_person_is_refused() {
    let host = host().await;
    assert_eq!(export(&host, "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3").await.status, 400);
    assert_eq!(erase(&host, "own_01JZX8Q4M2N6P7R8S9T0V1W2X3").await.status, 404);
}

/// Returns options of a host with conversations and a long time limit of calls.
fn conversation_options() -> Options {
    let names = [
        "conversations",
        "owners",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
    ];
    Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")
}

/// Creates Ada and Bo, leaves traces of Ada, and returns the ids of both.
async fn two_people(host: &Host) -> [String; 2] {
    let (ada, bo) = (Person::new(host).await, Person::new(host).await);
    leave_traces(host, &ada, &bo).await;
    [ada.id, bo.id]
}

/// Asserts that the host has nothing of Ada, and still has Bo.
async fn assert_only_bo_is_left(host: &Host, ada: &str, bo: &str) {
    let traces: Vec<&str> = CANARIES.into_iter().chain([ada]).collect();
    assert_eq!(host.database().texts_found(&traces), Vec::<String>::new());
    assert_eq!(export(host, ada).await.status, 404);
    assert_eq!(export(host, bo).await.status, 200);
}

async fn check_erasure_after_restore(options: Options) {
    let host = Process::start(options);
    let [ada, bo] = two_people(&host).await;
    back_up(host.folder.path(), "old");
    assert_eq!(erase(&host, &ada).await.status, 200);
    assert_only_bo_is_left(&host, &ada, &bo).await;

    let folder = stop(host);
    restore(folder.path(), "old");
    assert_eq!(
        Database::of(folder.path()).texts_found(&[&ada]),
        [ada.as_str()],
        "the backup has her"
    );
    let host = Process::start_in(folder);
    assert_only_bo_is_left(&host, &ada, &bo).await;

    // Nor is she restored a second time, when the list of erased people is all that is
    // left of the first host.
    let folder = stop(host);
    restore(folder.path(), "old");
    assert_only_bo_is_left(&Process::start_in(folder), &ada, &bo).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_person_is_not_restored_from_an_older_backup() {
    check_erasure_after_restore(conversation_options()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_person_is_not_restored_from_an_older_dump() {
    check_erasure_after_restore(conversation_options().postgres(&postgres::database().await)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_on_the_list_of_erasures_is_erased_at_the_start() {
    let host = Process::start(conversation_options());
    let [ada, bo] = two_people(&host).await;
    let folder = stop(host);
    let digest = Digest::of(ada.as_bytes()).hex();
    std::fs::write(folder.path().join("data/erasures"), format!("{digest}\n")).unwrap();
    assert_only_bo_is_left(&Process::start_in(folder), &ada, &bo).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_export_and_erase_themselves_through_a_capability_with_the_grant() {
    let names = [
        "conversations",
        "owners",
        "registrar",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
    ];
    let settings = "[limits]\ncall_wall_time_ms = 30000\n[grants]\nregistrar = [\"people\"]\n";
    let host = Host::start(Options::with(&names).configuration(settings)).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    leave_traces(&host, &ada, &bo).await;

    let asked = ada.agent().result("registrar", json!({ "action": "export" })).await;
    let read = json!({ "action": "read", "export_id": asked["export_id"] });
    let parts = async || ada.agent().result("registrar", read.clone()).await;
    wait_until("the export is complete", async || parts().await["complete"] == true).await;
    let text = parts().await["items"].to_string().to_lowercase();
    for canary in CANARIES {
        assert!(text.contains(canary), "{canary}: {text}");
    }
    assert_eq!(bo.agent().result("registrar", read.clone()).await["items"], json!([]));
    let nobody = host.test_agent().await.call("registrar", json!({ "action": "erase" })).await;
    nobody.assert_refused(403, "phone_binding_required");
    let other = json!({ "action": "erase_other", "owner_id": ada.id });
    bo.agent().call("registrar", other).await.assert_refused(500, "internal_error");
    assert_eq!(export(&host, &ada.id).await.status, 200);

    ada.agent().result("registrar", json!({ "action": "erase" })).await;
    let is_erased = async || host.database().texts_found(&[&ada.id]).is_empty();
    wait_until("the request is done", is_erased).await;
    assert_only_bo_is_left(&host, &ada.id, &bo.id).await;
}
