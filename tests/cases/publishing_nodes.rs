//! A published version is installed on every node of a database, and at the next start.

use crate::harness::{
    Host, Options, Process, component, postgres,
    publishing::{post, publish_ok, version, wait_for_arrivals},
};
use serde_json::json;
use std::{fs, time::Duration};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_of_a_database_serves_what_one_publishes() {
    let url = postgres::database().await;
    let node = |names: &[&str]| Options::with(names).postgres(&url);
    let one = Host::start(node(&["template"])).await;
    let other = Host::start(node(&["template"])).await;
    wait_for_arrivals(&one, "template_000", 1).await;
    publish_ok(&one, "template.wasm", version("1.3.0")).await;
    other.wait_for_version("template_000", "1.3.0").await;
    assert_eq!(fs::read(other.catalog().join("template.wasm")).unwrap(), version("1.3.0"));
    // A node that is started later, with an empty folder.
    let late = Host::start(node(&[])).await;
    late.wait_for_version("template_000", "1.3.0").await;
    let reply = post(&other, "/catalog/template_000/rollback", Vec::new()).await;
    assert_eq!(reply.body["version"], "1.2.0", "{}", reply.text);
    for host in [&one, &other, &late] {
        host.wait_for_version("template_000", "1.2.0").await;
    }
    // A file that is put into the folder of one node serves there until the next publication.
    late.drop_in("template.wasm", &version("1.8.0"));
    late.wait_for_version("template_000", "1.8.0").await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    late.wait_for_version("template_000", "1.8.0").await;
    one.wait_for_version("template_000", "1.2.0").await;
    publish_ok(&one, "template.wasm", version("1.9.0")).await;
    late.wait_for_version("template_000", "1.9.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_between_record_and_file_installs_at_its_start() {
    let host = Process::with(&["template"]);
    wait_for_arrivals(&host, "template_000", 1).await;
    publish_ok(&host, "template.wasm", version("1.3.0")).await;
    host.signal("KILL");
    let (_, folder) = host.wait();
    // As if the host had been killed before it wrote the file and its note.
    fs::write(folder.path().join("catalog/template.wasm"), component("template")).unwrap();
    fs::remove_file(folder.path().join("data/catalog.installed")).unwrap();
    let host = Process::start_in(folder);
    host.wait_for_version("template_000", "1.3.0").await;
    assert_eq!(fs::read(host.catalog().join("template.wasm")).unwrap(), version("1.3.0"));
    // A file that the operator removes is not installed again at the next start.
    fs::remove_file(host.catalog().join("template.wasm")).unwrap();
    host.wait_for("nothing", |status| status["loaded"] == json!([])).await;
    host.signal("TERM");
    let host = Process::start_in(host.wait().1);
    assert_eq!(host.status().await["loaded"], json!([]));
    // A rollback installs it again.
    let reply = post(&host, "/catalog/template_000/rollback", Vec::new()).await;
    assert_eq!(reply.body["version"], "1.3.0", "{}", reply.text);
}
