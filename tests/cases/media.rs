//! Files of people: uploaded, read in the sandbox, served, hidden, deleted, and gone with their people.

use crate::{
    cases::personal::{erase, export},
    harness::{
        Host, Options, PATIENCE, Reply,
        disk::Disk,
        listings::{Lister, action_body},
        media::{
            MEDIA, NAMES, SLOW, break_off, contains, contents, file, files_in, header, options,
            put, put_in_chunks, put_when_free, read, wait_until_empty,
        },
        relationships::Person,
        time::{DAY, HOUR, MINUTE},
    },
};
use reqwest::header::{IF_NONE_MATCH, RANGE};
use serde_json::{Value, json};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_becomes_another_one_without_what_its_file_told() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    let original = file("place.jpg");
    assert!(contains(&original, "CanaryPlace") && contains(&original, "CanaryCamera"));
    let begun = ada.begin_upload("picture", original.len(), json!({})).await;
    assert_eq!(begun["state"], "uploading");
    assert_eq!(put(&host, &begun, original.clone()).await.status, 201);
    let ready = ada.processed(&begun["media_id"]).await;
    assert_eq!(ready["state"], "ready", "{ready:#}");
    // The file says that the picture lies on its side.
    assert_eq!((&ready["width"], &ready["height"]), (&json!(40), &json!(64)));
    for name in ["url", "thumbnail_url"] {
        let served = read(&host, &ready[name]).await;
        assert_eq!(served.status(), 200);
        assert_eq!(header(&served, "content-type"), "image/jpeg");
        assert_eq!(header(&served, "x-content-type-options"), "nosniff");
        assert!(header(&served, "content-security-policy").starts_with("sandbox;"));
        assert!(header(&served, "cache-control").contains("immutable"));
        let bytes = served.bytes().await.unwrap();
        assert!(bytes.starts_with(b"\xff\xd8\xff"));
        for part in ["Canary", "Exif", "GPS"] {
            assert!(!contains(&bytes, part), "{name} has {part}");
        }
    }
    // Of the upload, nothing is left.
    host.wait_until_settled().await;
    for path in contents(&host) {
        assert!(!contains(&std::fs::read(path).unwrap(), "Canary"));
    }
    assert_eq!(ada.media_events().await, ["media.ready"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_served_in_parts_and_not_twice_to_who_has_it() {
    let host = Host::start(options()).await;
    let ada = Person::new(&host).await;
    let ready = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    let whole = read(&host, &ready["url"]).await;
    let etag = header(&whole, "etag").to_owned();
    let whole = whole.bytes().await.unwrap();
    assert_eq!(ready["bytes"], whole.len());
    let get = || host.client.get(ready["url"].as_str().unwrap());
    assert_eq!(get().header(IF_NONE_MATCH, &etag).send().await.unwrap().status(), 304);
    let part = get().header(RANGE, "bytes=10-19").send().await.unwrap();
    assert_eq!(part.status(), 206);
    assert_eq!(header(&part, "content-range"), format!("bytes 10-19/{}", whole.len()));
    assert_eq!(part.bytes().await.unwrap(), whole[10..20]);
    let beyond = get().header(RANGE, "bytes=99999999-").send().await.unwrap();
    assert_eq!(beyond.status(), 416);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_address_of_an_upload_works_once_for_its_bytes_and_its_time() {
    let host = Host::start_at_fixed_time(options()).await;
    let ada = Person::new(&host).await;
    let bytes = file("text.png");
    let begun = ada.begin_upload("picture", bytes.len(), json!({})).await;
    let mut larger = bytes.clone();
    larger.push(0);
    put(&host, &begun, larger.clone()).await.assert_refused(413, "payload_too_large");
    put(&host, &begun, Vec::new()).await.assert_refused(400, "validation_failed");
    // A body without a length is counted as it arrives.
    let answer = put_in_chunks(&host, &begun, &larger).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let broken = break_off(&host, &begun, &bytes).await;
    assert!(!broken.starts_with("HTTP/1.1 201"), "{broken}");
    wait_until_empty(&host).await;
    assert_eq!(put_when_free(&host, &begun, bytes.clone()).await.status, 201);
    put(&host, &begun, bytes.clone()).await.assert_refused(410, "resource_gone");

    let late = ada.begin_upload("picture", bytes.len(), json!({})).await;
    host.advance(16 * MINUTE).await;
    put(&host, &late, bytes.clone()).await.assert_refused(410, "resource_gone");
    host.advance(5 * MINUTE).await;
    let refused = ada.media("get", json!({ "media_id": late["media_id"] })).await;
    assert_eq!(
        (&refused["state"], &refused["reason"]),
        (&json!("refused"), &json!("not_uploaded"))
    );
    host.advance(8 * DAY).await;
    let forgotten = ada.call_media("get", json!({ "media_id": late["media_id"] })).await;
    forgotten.assert_refused(404, "media_not_found");
    for forged in ["blob_01J00000000000000000000001.00", "x", "..%2f..%2fetc"] {
        let url = format!("{}/media/uploads/{forged}", host.url);
        let sent = host.client.put(url).body(bytes.clone()).send().await.unwrap();
        Reply::read(sent).await.assert_refused(404, "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_downloaded_and_a_private_one_by_its_person_alone() {
    let host = Host::start_at_fixed_time(options()).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let private = json!({ "visibility": "private" });
    let ready = ada.upload(&host, "document", file("form.pdf"), private).await;
    assert_eq!(ready["state"], "ready", "{ready:#}");
    let url = ready["url"].as_str().unwrap().to_owned();
    let served = read(&host, &ready["url"]).await;
    assert_eq!(header(&served, "content-type"), "application/pdf");
    assert_eq!(header(&served, "content-disposition"), "attachment");
    assert!(header(&served, "cache-control").starts_with("private,"));
    assert_eq!(served.bytes().await.unwrap(), file("form.pdf"));
    let (unsigned, signed) = url.split_once('?').unwrap();
    for other in [
        unsigned.to_owned(),
        format!("{unsigned}?{}", signed.replace("until=", "until=9")),
        format!("{unsigned}?blob=x"),
    ] {
        assert_eq!(read(&host, &json!(other)).await.status(), 404, "{other}");
    }
    let get = json!({ "media_id": ready["media_id"] });
    bo.call_media("get", get.clone()).await.assert_refused(404, "media_not_found");
    host.advance(11 * MINUTE).await;
    assert_eq!(read(&host, &ready["url"]).await.status(), 404);
    let again = ada.media("get", get.clone()).await;
    assert_eq!(read(&host, &again["url"]).await.status(), 200);

    let public = json!({ "media_id": ready["media_id"], "visibility": "public" });
    let public = ada.media("update", public).await;
    assert_eq!(read(&host, &public["url"]).await.status(), 200);
    assert!(public["url"].as_str().unwrap().starts_with(unsigned));
    assert_eq!(bo.media("get", get).await["url"], public["url"]);
    // A file that is no PDF is refused, whatever its name.
    let html = b"<!doctype html><script>alert(1)</script>".to_vec();
    let refused = ada.upload(&host, "document", html, json!({})).await;
    assert_eq!(refused["reason"], "unsupported_type", "{refused:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn others_find_what_is_public_on_a_profile_and_on_a_listing_that_they_see() {
    let host = Host::start(options()).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let lister = Lister::with_birth_year(&host, 1990).await;
    let listing_id = lister.create_listing(json!({})).await;
    let on_listing = json!({ "listing_id": listing_id });
    let create = json!({
        "kind": "picture", "bytes": 10_000, "title": "The desk", "listing_id": listing_id,
    });
    ada.call_media("create", create.clone()).await.assert_refused(404, "listing_not_found");
    let begun = lister.agent().result(MEDIA, action_body("create", &create)).await;
    assert_eq!(put(&host, &begun, file("plain.webp")).await.status, 201);
    host.wait_until_settled().await;
    let found = bo.media("about", on_listing.clone()).await;
    assert_eq!(found["items"][0]["media_id"], begun["media_id"], "{found:#}");
    assert_eq!(found["items"][0]["allowed_actions"], json!([]));
    lister.call_on("pause", &listing_id).await;
    bo.call_media("about", on_listing).await.assert_refused(404, "listing_not_found");

    let portrait = ada.upload(&host, "picture", file("progressive.jpg"), json!({})).await;
    let hidden = json!({ "visibility": "private" });
    ada.upload(&host, "picture", file("text.png"), hidden).await;
    let profile = json!({ "owner_id": ada.id });
    let found = bo.media("about", profile.clone()).await;
    let items = found["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{found:#}");
    assert_eq!(items[0]["media_id"], portrait["media_id"]);
    ada.call_ok("block", &bo.id).await;
    bo.call_media("about", profile).await.assert_refused(404, "owner_not_found");
    let get = json!({ "media_id": portrait["media_id"] });
    bo.call_media("get", get).await.assert_refused(404, "media_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_file_has_no_address_until_it_is_reinstated() {
    let host = Host::start(options()).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let ready = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    let get = json!({ "media_id": ready["media_id"] });
    let report = json!({
        "action": "create", "subject_id": ready["media_id"], "reason": "abuse",
    });
    let report = bo.agent().result("reports", report).await;
    assert_eq!(report["subject"], "media", "{report:#}");
    let moderate = async |action: &str| {
        let url = format!("{}/capabilities/{MEDIA}/{action}?test_mode=true", host.admin_url);
        let done = host.operator.post(url).json(&get).send().await.unwrap();
        assert_eq!(done.status(), 200, "{action}");
    };
    moderate("hide").await;
    assert_eq!(read(&host, &ready["url"]).await.status(), 404);
    bo.call_media("get", get.clone()).await.assert_refused(404, "media_not_found");
    let hidden = ada.media("get", get.clone()).await;
    assert_eq!((&hidden["state"], &hidden["url"]), (&json!("hidden"), &Value::Null));
    let update = json!({ "media_id": ready["media_id"], "visibility": "private" });
    ada.call_media("update", update).await.assert_refused(409, "invalid_transition");
    moderate("reinstate").await;
    assert_eq!(read(&host, &ready["url"]).await.status(), 200);
    assert_eq!(ada.media_events().await, ["media.ready", "media.hidden", "media.reinstated"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_of_two_people_is_removed_with_the_last_of_them() {
    let host = Host::start(options()).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let title = json!({ "title": "Canarytitle" });
    let first = ada.upload(&host, "picture", file("place.jpg"), title).await;
    let second = bo.upload(&host, "picture", file("place.jpg"), json!({})).await;
    let path = |media: &Value| media["url"].as_str().unwrap().split('?').next().map(str::to_owned);
    assert_eq!(path(&first), path(&second));
    assert!(export(&host, &ada.id).await.text.contains("Canarytitle"));
    host.wait_until_settled().await;
    assert_eq!(contents(&host).len(), 1, "a picture as small as its thumbnail is the same content");
    let pending = ada.begin_upload("picture", 5_000, json!({})).await;

    assert_eq!(erase(&host, &ada.id).await.status, 200);
    host.wait_until_settled().await;
    assert_eq!(read(&host, &second["url"]).await.status(), 200);
    put(&host, &pending, file("text.png")).await.assert_refused(404, "not_found");
    assert_eq!(host.database().texts_found(&["Canarytitle", &ada.id]), Vec::<String>::new());
    assert_eq!(erase(&host, &bo.id).await.status, 200);
    host.wait_until_settled().await;
    assert_eq!(contents(&host), Vec::<PathBuf>::new());
    assert_eq!(read(&host, &second["url"]).await.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_file_leaves_nothing_and_its_place_is_free() {
    let configuration = format!("{SLOW}[media]\nfiles_per_person = 3\n");
    let host = Host::start(Options::with(&NAMES).configuration(&configuration)).await;
    let ada = Person::new(&host).await;
    let ready = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    // The upload, the picture and the thumbnail were three files for a moment; two are left.
    assert_eq!(ready["state"], "ready", "{ready:#}");
    let second = ada.upload(&host, "picture", file("plain.webp"), json!({})).await;
    assert_eq!(second["reason"], "quota_exceeded", "{second:#}");
    let step = json!({ "media_id": ready["media_id"] });
    assert_eq!(ada.media("delete", step.clone()).await["state"], "deleted");
    ada.call_media("delete", step).await.assert_refused(404, "media_not_found");
    host.wait_until_settled().await;
    assert_eq!(contents(&host), Vec::<PathBuf>::new());
    let third = ada.upload(&host, "picture", file("plain.webp"), json!({})).await;
    assert_eq!(third["state"], "ready", "{third:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_cannot_have_more_bytes_than_the_operator_allows() {
    let configuration = format!("{SLOW}[media]\nbytes_per_person = 20000\nupload_bytes = 15000\n");
    let host = Host::start(Options::with(&NAMES).configuration(&configuration)).await;
    let ada = Person::new(&host).await;
    let create = |bytes: u64| json!({ "kind": "picture", "bytes": bytes, "title": "A desk" });
    // A begun upload counts until it has arrived.
    ada.call_media("create", create(15_001)).await.assert_refused(429, "quota_exceeded");
    ada.media("create", create(15_000)).await;
    ada.call_media("create", create(15_000)).await.assert_refused(429, "quota_exceeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_crash_leaves_is_swept_and_nothing_else() {
    let host = Host::start_at_fixed_time(options()).await;
    let ada = Person::new(&host).await;
    let ready = ada.upload(&host, "picture", file("text.png"), json!({})).await;
    host.wait_until_settled().await;
    let kept = contents(&host);
    // A content whose call has not committed, and an upload that has not ended.
    let folder = kept[0].parent().unwrap();
    let name = kept[0].file_name().unwrap().to_str().unwrap();
    let (digest, id) = name.split_once('-').unwrap();
    let other_digest = format!("{}{}", &digest[..2], "0".repeat(62));
    std::fs::write(folder.join(format!("{other_digest}-{id}")), b"left").unwrap();
    let incoming = host.folder.path().join("data/media/incoming").join(format!("{id}-x"));
    std::fs::write(&incoming, b"left").unwrap();
    let unanswered = ada.begin_upload("picture", 900, json!({})).await;
    host.advance(30 * MINUTE).await;
    assert_eq!(contents(&host).len(), kept.len() + 2);
    host.advance(HOUR).await;
    let started = Instant::now();
    while contents(&host).len() > kept.len() {
        assert!(started.elapsed() < PATIENCE, "{:?}", contents(&host));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(read(&host, &ready["url"]).await.status(), 200);
    let blob = unanswered["upload"]["url"].as_str().unwrap().rsplit('/').next().unwrap();
    let blob = blob.split('.').next().unwrap().to_owned();
    let left = format!("SELECT id FROM documents WHERE id = '{blob}' AND body IS NOT NULL");
    assert_eq!(host.database().texts(&left).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_the_upload_and_keeps_its_address() {
    let Some(disk) = Disk::with_megabytes(4) else { return };
    let folder = disk.folder.path().join("media");
    let configuration = format!("{SLOW}[media]\nfolder = {folder:?}\n");
    let host = Host::start(Options::with(&NAMES).configuration(&configuration)).await;
    let ada = Person::new(&host).await;
    let bytes = file("heavy.png");
    let begun = ada.begin_upload("picture", bytes.len(), json!({})).await;
    let filler = disk.fill();
    put(&host, &begun, bytes.clone()).await.assert_refused(503, "dependency_unavailable");
    assert_eq!(files_in(&folder), Vec::<PathBuf>::new());
    std::fs::remove_file(filler).unwrap();
    assert_eq!(put(&host, &begun, bytes).await.status, 201);
    let ready = ada.processed(&begun["media_id"]).await;
    // 36 million pixels in 35 KB.
    assert_eq!(ready["state"], "ready", "{ready:#}");
    assert_eq!((&ready["width"], &ready["height"]), (&json!(1600), &json!(1600)));
}
