//! SIGHUP: a changed configuration is taken over while the host runs, and a faulty one changes nothing.

use crate::{
    cases::doctor::diagnose,
    harness::{Options, PATIENCE, Process},
};
use portolan_vocabulary::Keyring;
use serde_json::json;
use std::{
    fs,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Sends SIGHUP, and waits until the log has this text once more than before.
async fn reload(host: &Process, text: &str) {
    let count = || host.log().matches(text).count();
    let (before, started) = (count(), Instant::now());
    host.signal("HUP");
    while count() == before {
        assert!(started.elapsed() < PATIENCE, "the log has no further {text:?}: {}", host.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Replaces a text in the configuration.
fn change(host: &Process, from: &str, to: &str) {
    let file = host.folder.path().join("portolan.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replace(from, to)).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_and_the_log_are_reloaded_and_no_connection_ends() {
    let configuration = "rate_limits = \"on\"\nfeeds_dir = \"feeds\"\nlog = \"info\"\n[limits]\nrequests_per_minute = 1000\n";
    let host = Process::start(Options::default().configuration(configuration));
    let address = host.url.strip_prefix("http://").unwrap();
    let mut kept = TcpStream::connect(address).await.unwrap();
    let mut ask = async || {
        kept.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut answer = [0; 8192];
        let count = kept.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer[..count]).into_owned()
    };
    assert!(ask().await.starts_with("HTTP/1.1 200"));

    change(&host, "requests_per_minute = 1000", "requests_per_minute = 5");
    change(&host, "\"feeds\"", "\"others\"");
    reload(&host, "these changed settings take effect at the next start").await;
    let log = host.log();
    assert!(log.contains("limits.requests_per_minute") && log.contains("feeds_dir"), "{log}");
    let shown = host.operate("/settings").await.text;
    assert!(shown.contains(r#""limits.requests_per_minute","value":"5""#), "{shown}");
    assert!(shown.contains(r#""feeds_dir","value":"feeds""#), "{shown}");
    // The same connection, with the new limit.
    let mut ask_often = async || {
        let mut last = String::new();
        for _ in 0..8 {
            last = ask().await;
        }
        last
    };
    let last = ask_often().await;
    assert!(last.starts_with("HTTP/1.1 429") && last.contains("\"limit\":5"), "{last}");

    // A fault changes nothing, and says why.
    change(&host, "requests_per_minute = 5", "requests_per_minute = 0");
    reload(&host, "nothing is reloaded").await;
    assert!(host.log().contains("requests_per_minute is 0"), "{}", host.log());
    assert!(ask_often().await.starts_with("HTTP/1.1 429"));

    change(&host, "requests_per_minute = 0", "requests_per_minute = 2000");
    change(&host, "log = \"info\"", "log = \"error\"");
    let reloads = || host.log().matches("the configuration is reloaded").count();
    let (before, started) = (reloads(), Instant::now());
    host.signal("HUP");
    while !ask().await.starts_with("HTTP/1.1 200") {
        assert!(started.elapsed() < PATIENCE, "the limit is not raised");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The level is changed last; from then on, reloads are not logged.
    let mut logged = reloads();
    loop {
        host.signal("HUP");
        tokio::time::sleep(Duration::from_millis(300)).await;
        if reloads() == logged {
            break;
        }
        logged = reloads();
        assert!(started.elapsed() < PATIENCE, "the level of the log is not changed: {before}");
    }
    host.signal("TERM");
    assert!(host.wait().0.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_data_folder_waits_for_a_restart_and_holds_nothing_else_up() {
    let configuration =
        "rate_limits = \"on\"\ndata_dir = \"data\"\n[limits]\nrequests_per_minute = 1000\n";
    let host = Process::start(Options::default().configuration(configuration));
    change(&host, "requests_per_minute = 1000", "requests_per_minute = 500");
    change(&host, "\"data\"", "\"elsewhere\"");
    // There is no such folder.
    reload(&host, "these changed settings take effect at the next start").await;
    let limit = r#""limits.requests_per_minute","value":"500""#;
    let shown = host.operate("/settings").await.text;
    assert!(shown.contains(limit), "{shown}");
    let log = host.log();
    assert!(log.contains("data_dir") && !log.contains("nothing is reloaded"), "{log}");

    // Keys in a folder that is not in use are not those of the host.
    let folder = host.folder.path();
    let earlier = fs::read_to_string(folder.join("data/secret.keys")).unwrap();
    fs::create_dir(folder.join("elsewhere")).unwrap();
    let more = format!("{}\n{earlier}", Keyring::generate().unwrap());
    fs::write(folder.join("elsewhere/secret.keys"), more).unwrap();
    reload(&host, "these changed settings take effect at the next start").await;
    assert!(!host.log().contains("secret.keys"), "{}", host.log());
    assert!(diagnose(folder, &[], &["--data-dir", "data"]).of("keys").is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_secret_key_is_used_at_once_and_the_earlier_ones_cannot_be_lost() {
    let host = Process::with(&["notes"]);
    let file = host.folder.path().join("data/secret.keys");
    let earlier = fs::read_to_string(&file).unwrap();
    let agent = host.claimed_agent().await;
    let new = Keyring::generate().unwrap();

    fs::write(&file, &new).unwrap();
    reload(&host, "nothing is reloaded").await;
    assert!(host.log().contains("keep the earlier lines below the new one"), "{}", host.log());

    fs::write(&file, format!("{new}\n{earlier}")).unwrap();
    diagnose(host.folder.path(), &[], &[]).names("keys", "warning", &["other keys", "SIGHUP"]);
    reload(&host, "the configuration is reloaded").await;
    assert!(host.log().contains("secret.keys"), "{}", host.log());
    assert!(diagnose(host.folder.path(), &[], &[]).of("keys").is_empty());
    let note = json!({ "title": "a title", "body": "" });
    agent.result("notes", json!({ "action": "put", "id": "one", "note": note })).await;
    host.signal("TERM");
    let (status, folder) = host.wait();
    assert!(status.success());
    // The next start seals the signing keys with the new key. The earlier one may still seal other things, so only a
    // restart takes over that it was removed.
    let host = Process::start_in(folder);
    fs::write(&file, &new).unwrap();
    reload(&host, "nothing is reloaded").await;
    assert!(host.log().contains("restart the host, which takes over a removal"), "{}", host.log());
    host.signal("TERM");
    let (status, folder) = host.wait();
    assert!(status.success());
    let host = Process::start_in(folder);
    reload(&host, "the configuration is reloaded").await;
}
