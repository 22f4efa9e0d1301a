//! Thousands of hostile files: each is refused, or stored as a new picture that has nothing of the file but pixels.

use crate::harness::{
    Host, join_all,
    media::{contents, file, options, put, read},
    relationships::Person,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

/// The number of files, and of those that one person uploads.
fn files() -> usize {
    if std::env::var_os("PORTOLAN_TEST_FULL").is_some() { 10_000 } else { 120 }
}
const EACH: usize = 80;
/// The number of people who upload at the same time.
const AT_ONCE: usize = 4;

/// The texts that no served picture may contain.
/// They are so long that the pixels of thousands of pictures do not have them by chance.
const FORBIDDEN: [&str; 8] = [
    "Canary",
    "Exif\0\0",
    "<script>",
    "<svg xmlns",
    "<!doctype html>",
    "%PDF-1.",
    "<?php ",
    "http://www.",
];

const SEEDS: [&str; 6] =
    ["place.jpg", "progressive.jpg", "text.png", "plain.webp", "bomb.png", "form.pdf"];
const PAYLOADS: [&str; 6] = [
    "<script>alert('Canary')</script>",
    "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "<!doctype html><html><body onload=alert(1)>Canary</body></html>",
    "%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj",
    "<?php system($_GET['x']); ?>",
    "GIF89a/*Canary*/=1;alert(1)//",
];

/// Makes one hostile file.
fn hostile(random: &mut StdRng) -> Vec<u8> {
    let seed = SEEDS[random.random_range(0..SEEDS.len())];
    let payload = PAYLOADS[random.random_range(0..PAYLOADS.len())].as_bytes();
    let mut bytes = file(seed);
    match random.random_range(0..8) {
        // A polyglot: one file behind another, or within it.
        0 => bytes.extend(payload),
        1 => {
            let at = random.random_range(0..=bytes.len());
            bytes.splice(at..at, payload.iter().copied());
        }
        2 => bytes = [payload, &bytes].concat(),
        3 => bytes.truncate(random.random_range(1..=bytes.len())),
        // Wrong bytes in some places: lengths, sizes, tables.
        4 | 5 => {
            for _ in 0..random.random_range(1..12) {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random();
            }
        }
        // The head of one format on the bytes of another.
        6 => {
            let head: [&[u8]; 4] = [
                b"\xff\xd8\xff\xe0",
                b"\x89PNG\r\n\x1a\n",
                b"RIFF\xff\xff\xff\x7fWEBPVP8 ",
                b"%PDF-",
            ];
            bytes = [head[random.random_range(0..head.len())], &bytes].concat();
        }
        _ => bytes = payload.to_vec(),
    }
    bytes
}

/// Asserts that a file was refused, or that what is served of it is harmless. Returns whether it is ready.
async fn check(host: &Host, media: &Value, kind: &str) -> bool {
    if media["state"] == "refused" {
        assert!(media["reason"].is_string() && media["url"].is_null(), "{media:#}");
        return false;
    }
    assert_eq!(media["state"], "ready", "{media:#}");
    let urls = [&media["url"], &media["thumbnail_url"]];
    for url in urls.into_iter().filter(|url| url.is_string()) {
        let served = read(host, url).await;
        let headers = served.headers().clone();
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert!(headers["content-security-policy"].to_str().unwrap().starts_with("sandbox;"));
        let bytes = served.bytes().await.unwrap();
        if kind == "document" {
            assert_eq!(headers["content-type"], "application/pdf");
            assert_eq!(headers["content-disposition"], "attachment");
            assert!(bytes.starts_with(b"%PDF-"));
            continue;
        }
        assert_eq!(headers["content-type"], "image/jpeg");
        assert!(bytes.starts_with(b"\xff\xd8\xff"));
        for part in FORBIDDEN {
            let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
            assert!(!found, "{part} in {media:#}");
        }
    }
    true
}

async fn upload_all(host: &Host, seed: u64, count: usize) -> usize {
    let person = Person::new(host).await;
    let (mut random, mut ready) = (StdRng::seed_from_u64(seed), 0);
    for _ in 0..count {
        let kind = if random.random_range(0..5) == 0 { "document" } else { "picture" };
        let bytes = hostile(&mut random);
        let begun = person.begin_upload(kind, bytes.len(), json!({})).await;
        assert_eq!(put(host, &begun, bytes).await.status, 201);
        let media = person.processed(&begun["media_id"]).await;
        ready += usize::from(check(host, &media, kind).await);
    }
    let erased = crate::cases::personal::erase(host, &person.id).await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    ready
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_files_are_refused_or_become_harmless_and_nothing_of_them_is_left() {
    let host = Host::start(options()).await;
    let mut ready = 0;
    let people: Vec<u64> = (0..files().div_ceil(EACH) as u64).collect();
    for seeds in people.chunks(AT_ONCE) {
        let uploads = seeds.iter().map(|seed| {
            let done = *seed as usize * EACH;
            upload_all(&host, *seed, EACH.min(files() - done))
        });
        ready += join_all(uploads).await.into_iter().sum::<usize>();
    }
    // The files are not all broken: those that are whole pass.
    assert!(ready > files() / 10, "{ready} of {} became pictures", files());
    host.wait_until_settled().await;
    assert_eq!(contents(&host), Vec::<std::path::PathBuf>::new());
    let log = host.log();
    assert!(!log.contains("panicked"), "{log}");
}
