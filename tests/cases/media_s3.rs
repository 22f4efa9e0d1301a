//! Contents of files in a bucket of another program that speaks as S3 does.

use crate::{
    cases::clients::clients_folder,
    harness::{
        Host, Options, PATIENCE,
        media::{contents, file, options, read},
        relationships::Person,
    },
};
use serde_json::json;
use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// A store with one bucket, which ends when this is dropped.
struct Store {
    server: Child,
    url: String,
}

impl Store {
    async fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Command::new("python3")
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            .env("PYTHONPATH", clients_folder().join("python"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let store = Self { server, url: format!("http://127.0.0.1:{port}") };
        let started = Instant::now();
        while reqwest::Client::new().put(format!("{}/files", store.url)).send().await.is_err() {
            assert!(started.elapsed() < PATIENCE, "the store does not start");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        store
    }

    /// Returns how many objects the bucket has.
    async fn objects(&self) -> usize {
        let listed = reqwest::get(format!("{}/files?list-type=2", self.url)).await.unwrap();
        listed.text().await.unwrap().matches("-obj_").count()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ended = self.server.kill();
        let _status = self.server.wait();
    }
}

/// Returns the options of a host with the bucket of a store, whose secret is kept in the folder.
fn options_with(url: &str, folder: &Path) -> Options {
    let secret = folder.join("secret");
    std::fs::write(&secret, "a secret key\n").unwrap();
    let options = options();
    let configuration = format!(
        "{}[media]\nstore = \"s3\"\n[media.s3]\nbucket = \"files\"\nendpoint = {url:?}\nprefix = \"people/\"\naccess_key = \"key\"\nsecret_file = {secret:?}\n",
        options.configuration,
    );
    options.configuration(&configuration)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_starts_without_its_bucket_and_tells_the_operator() {
    let folder = tempfile::TempDir::new().unwrap();
    // Nothing listens there.
    let host = Host::start(options_with("http://127.0.0.1:1", folder.path())).await;
    let problems = host.operate("/problems").await.text;
    assert!(problems.contains("the files cannot be reached"), "{problems}");
    let ada = Person::new(&host).await;
    let begun = ada.begin_upload("picture", 900, json!({})).await;
    assert_eq!(begun["state"], "uploading", "{begun:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn contents_are_in_the_bucket_until_nobody_has_them() {
    let store = Store::start().await;
    let folder = tempfile::TempDir::new().unwrap();
    let host = Host::start(options_with(&store.url, folder.path())).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let first = ada.upload(&host, "picture", file("heavy.png"), json!({})).await;
    let second = bo.upload(&host, "picture", file("heavy.png"), json!({})).await;
    assert_eq!((&first["state"], &second["state"]), (&json!("ready"), &json!("ready")));
    host.wait_until_settled().await;
    assert_eq!(store.objects().await, 2);
    assert_eq!(contents(&host), Vec::<PathBuf>::new(), "nothing is on the disk");
    let whole = read(&host, &first["url"]).await.bytes().await.unwrap();
    assert!(whole.starts_with(b"\xff\xd8\xff") && first["bytes"] == whole.len());
    let part = host.client.get(first["url"].as_str().unwrap());
    let part = part.header("range", "bytes=100-199").send().await.unwrap();
    assert_eq!(part.bytes().await.unwrap(), whole[100..200]);
    ada.media("delete", json!({ "media_id": first["media_id"] })).await;
    host.wait_until_settled().await;
    assert_eq!(store.objects().await, 2);
    bo.media("delete", json!({ "media_id": second["media_id"] })).await;
    host.wait_until_settled().await;
    assert_eq!(store.objects().await, 0);
}
