//! Files when something goes wrong: slow clients, missing contents, and recordings.

use crate::{
    cases::recordings::{ALL, recorded},
    harness::{
        Host, Options, PATIENCE, join_all,
        media::{MEDIA, NAMES, contents, file, options, read},
        publishing::post,
        relationships::Person,
        time::{HOUR, MINUTE},
    },
};
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::mpsc,
};

/// Begins to send a file, and never ends.
async fn begin_to_send(host: &Host, begun: &Value) -> TcpStream {
    let (url, address) =
        (begun["upload"]["url"].as_str().unwrap(), host.url.strip_prefix("http://").unwrap());
    let path = url.strip_prefix(&host.url).unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("PUT {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: 900\r\n\r\nx");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_uploads_to_one_address_leave_room_for_others() {
    let host = Host::start(options()).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let begun = ada.begin_upload("picture", 900, json!({})).await;
    let (told, mut answers) = mpsc::unbounded_channel();
    for _ in 0..32 {
        let (mut stream, told) = (begin_to_send(&host, &begun).await, told.clone());
        tokio::spawn(async move {
            let mut head = [0; 12];
            if stream.read_exact(&mut head).await.is_ok() {
                told.send(String::from_utf8_lossy(&head).into_owned()).unwrap();
            }
            // The connection stays open.
            std::future::pending::<()>().await;
        });
    }
    // One is received, and all others are refused.
    for _ in 0..31 {
        assert_eq!(answers.recv().await.unwrap(), "HTTP/1.1 503");
    }
    let ready = bo.upload(&host, "picture", file("text.png"), json!({})).await;
    assert_eq!(ready["state"], "ready", "{ready:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_arrives_too_slowly_is_told_why() {
    let configuration = "[limits]\nrequest_body_time_ms = 500\n";
    let host = Host::start(Options::with(&NAMES).configuration(configuration)).await;
    let ada = Person::new(&host).await;
    let begun = ada.begin_upload("picture", 900, json!({})).await;
    let mut stream = begin_to_send(&host, &begun).await;
    let (mut answer, mut part) = (String::new(), [0; 4096]);
    while !answer.contains("request_body_time_ms") {
        let bytes = stream.read(&mut part).await.unwrap();
        assert!(bytes > 0, "{answer}");
        answer.push_str(&String::from_utf8_lossy(&part[..bytes]));
    }
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(contents(&host).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_arrive_at_once_are_processed_under_the_usual_limits() {
    let host = Host::start(Options::with(&NAMES)).await;
    let people = join_all((0..4).map(|_| Person::new(&host))).await;
    let host = &host;
    let uploads = people.iter().flat_map(|person| {
        let upload = move |name| person.upload(host, "picture", file(name), json!({}));
        ["text.png", "progressive.jpg"].map(upload)
    });
    for media in join_all(uploads).await {
        assert_eq!(media["state"], "ready", "{media:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_recording_has_the_bytes_of_an_upload() {
    let configuration = format!("[limits]\ncall_wall_time_ms = 30000\n{ALL}");
    let host = Host::start(Options::with(&NAMES).configuration(&configuration)).await;
    let ada = Person::new(&host).await;
    let ready = ada.upload(&host, "picture", file("place.jpg"), json!({})).await;
    assert_eq!(ready["state"], "ready", "{ready:#}");
    host.wait_until_settled().await;
    let canary: Vec<_> = b"Canary".iter().map(u8::to_string).collect();
    let canary = canary.join(",");
    // `arrived` comes before `process`, and `get` after it.
    let recordings = recorded(&host, "capability=media", 3).await;
    for recording in recordings {
        let id = recording["request_id"].as_str().unwrap();
        let whole = host.operate(&format!("/recordings/{id}/whole")).await;
        assert_eq!(whole.status, 200, "{}", whole.text);
        let text: String = whole.text.chars().filter(|c| !c.is_whitespace()).collect();
        assert!(!text.contains(&canary) && !text.contains("Canary"), "{recording:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_content_is_answered_as_missing_until_it_is_uploaded_again() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    let first = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    assert_eq!(read(&host, &first["url"]).await.status(), 200);
    host.wait_until_settled().await;
    for path in contents(&host) {
        std::fs::remove_file(path).unwrap();
    }
    assert_eq!(read(&host, &first["url"]).await.status(), 404);
    let second = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    assert_eq!(second["state"], "ready", "{second:#}");
    for media in [&first, &second] {
        assert_eq!(read(&host, &media["url"]).await.status(), 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_file_has_no_address_while_its_copy_has() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    let first = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    let second = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    assert_ne!(first["url"], second["url"]);
    let url = format!("{}/capabilities/{MEDIA}/hide?test_mode=true", host.admin_url);
    let hide = json!({ "media_id": first["media_id"] });
    let hidden = host.operator.post(url).json(&hide).send().await.unwrap();
    assert_eq!(hidden.status(), 200);
    assert_eq!(read(&host, &first["url"]).await.status(), 404);
    assert_eq!(read(&host, &second["url"]).await.status(), 200);
}

/// Waits until a file is there, or is not.
async fn wait_for(path: &Path, exists: bool) {
    let started = Instant::now();
    while path.exists() != exists {
        assert!(started.elapsed() < PATIENCE, "{}: {}", path.display(), !exists);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_another_database_are_kept_until_an_operator_adopts_them() {
    let host = Host::start_at_fixed_time(options()).await;
    let ada = Person::new(&host).await;
    let ready = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    host.wait_until_settled().await;
    let media = host.folder.path().join("data/media");
    wait_for(&media.join("owner"), true).await;
    let kept = contents(&host).remove(0);
    let name = kept.file_name().unwrap().to_str().unwrap();
    let (digest, id) = name.split_once('-').unwrap();
    let unnamed = kept.with_file_name(format!("{}{}-{id}", &digest[..2], "0".repeat(62)));
    std::fs::write(&unnamed, b"of another host").unwrap();
    let other = json!({ "database": "db_01J00000000000000000000001", "number": 1 });
    std::fs::write(media.join("owner"), other.to_string()).unwrap();
    assert!(host.operate("/problems").await.text.contains("portolan media adopt"));
    // The sweep removes what was arriving, also of a folder that is not its own.
    let arriving = media.join("incoming").join(format!("{id}-x"));
    std::fs::write(&arriving, b"left").unwrap();
    host.advance(HOUR + MINUTE).await;
    wait_for(&arriving, false).await;
    host.advance(HOUR + MINUTE).await;
    assert!(unnamed.exists());

    let adopted = post(&host, "/media/adopt", Vec::new()).await;
    assert_eq!(adopted.status, 200, "{}", adopted.text);
    assert!(!host.operate("/problems").await.text.contains("portolan media adopt"));
    host.advance(HOUR + MINUTE).await;
    wait_for(&unnamed, false).await;
    assert_eq!(read(&host, &ready["url"]).await.status(), 200);
}
