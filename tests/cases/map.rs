//! `GET /map/`: how the page is served, how it is made, and how it works in a browser.

use crate::{
    cases::clients::run_program_file,
    harness::{Host, Options, feeds::Answer},
};
use flate2::read::GzDecoder;
use reqwest::{Method, StatusCode};
use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../map")
}

/// Returns the paths of the assets that the page names.
fn assets(page: &Answer) -> Vec<String> {
    let text = String::from_utf8(page.bytes.clone()).unwrap();
    let parts = text.split("\"assets/").skip(1);
    parts.map(|rest| format!("/map/assets/{}", rest.split('"').next().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_served_without_feeds_and_with_a_content_security_policy() {
    let host = Host::start(Options::default()).await;
    let page = host.fetch("/map/", &[]).await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy: Vec<_> = page.header("content-security-policy").split("; ").collect();
    for wanted in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ] {
        assert!(policy.contains(&wanted), "{wanted}");
    }
    assert!(!page.header("content-security-policy").contains("unsafe"));
    for (name, value) in [
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("cache-control", "no-cache"),
        ("access-control-allow-origin", ""),
        ("set-cookie", ""),
    ] {
        assert_eq!(page.header(name), value, "{name}");
    }
    let feeds = host.fetch("/map/data/sf-live-targets.json", &[]).await;
    assert_eq!(feeds.status, StatusCode::SERVICE_UNAVAILABLE);

    let moved = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let moved = moved.build().unwrap().get(format!("{}/map", host.url)).send().await.unwrap();
    assert_eq!(moved.status(), StatusCode::PERMANENT_REDIRECT);
    assert_eq!(moved.headers()["location"], "/map/");
    for path in ["/map/assets/map.js", "/map/assets/..%2fpackage.json", "/map/index.html"] {
        assert_eq!(host.fetch(path, &[]).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let written = host.request(Method::POST, "/map/", &[]).await;
    assert_eq!(written.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test(flavor = "multi_thread")]
async fn assets_of_the_page_are_compressed_and_cached_for_good() {
    let host = Host::start(Options::default()).await;
    let page = host.fetch("/map/", &[]).await;
    let named = assets(&page);
    assert_eq!(named.len(), 7);
    for path in std::iter::once("/map/".to_owned()).chain(named) {
        let plain = host.fetch(&path, &[]).await;
        assert_eq!(plain.status, StatusCode::OK, "{path}");
        let kept = if path == "/map/" { "no-cache" } else { "public, max-age=31536000, immutable" };
        assert_eq!(plain.header("cache-control"), kept);
        assert_eq!(plain.header("vary"), "accept-encoding");
        let head = host.request(Method::HEAD, &path, &[]).await;
        assert_eq!(head.header("content-length"), plain.bytes.len().to_string());
        for coding in ["gzip", "br"] {
            let packed = host.fetch(&path, &[("accept-encoding", coding)]).await;
            assert_eq!(packed.header("content-encoding"), coding, "{path}");
            assert_ne!(packed.header("etag"), plain.header("etag"));
            assert_eq!(decompress(coding, &packed.bytes), plain.bytes, "{path}");
            let known = [("accept-encoding", coding), ("if-none-match", packed.header("etag"))];
            let again = host.fetch(&path, &known).await;
            assert_eq!(again.status, StatusCode::NOT_MODIFIED);
            assert!(again.bytes.is_empty());
        }
    }
}

/// Starts a host with these lines in its `[map]` table and, if there are bytes, a file with streets.
async fn host_with(lines: &str, streets: Option<&[u8]>) -> (Host, TempDir) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("streets.pmtiles");
    if let Some(bytes) = streets {
        fs::write(&path, bytes).unwrap();
    }
    let settings = format!("[map]\nbasemap = {path:?}\n{lines}\n");
    (Host::start(Options::default().configuration(&settings)).await, folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn streets_of_the_operator_are_served_in_parts() {
    let (host, _folder) = host_with("", None).await;
    let settings = host.fetch("/map/settings.json", &[]).await;
    assert_eq!(settings.bytes, b"{}");
    let none = host.fetch("/map/basemap.pmtiles", &[]).await;
    assert_eq!(none.status, StatusCode::NOT_FOUND);

    let (host, _folder) = host_with("", Some(&[7; 1000])).await;
    let settings = host.fetch("/map/settings.json", &[]).await;
    assert_eq!(settings.bytes, br#"{"basemap":"basemap.pmtiles"}"#);
    let part = host.fetch("/map/basemap.pmtiles", &[("range", "bytes=990-2000")]).await;
    assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.header("content-range"), "bytes 990-999/1000");
    assert_eq!(part.bytes, [7; 10]);
    assert_eq!(host.fetch("/map/basemap.pmtiles", &[]).await.bytes, [7; 1000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_named_origins_may_embed_the_map() {
    let (host, _folder) = host_with(r#"embed = ["https://example.org"]"#, None).await;
    let embedded = host.fetch("/map/?embed", &[]).await;
    let policy = embedded.header("content-security-policy");
    assert!(policy.contains("frame-ancestors https://example.org"), "{policy}");
    assert_eq!(embedded.header("x-frame-options"), "");
    let whole = host.fetch("/map/", &[]).await;
    assert_ne!(whole.bytes, embedded.bytes);
    assert!(whole.header("content-security-policy").contains("frame-ancestors 'none'"));
    assert_eq!(whole.header("x-frame-options"), "DENY");

    let (host, _folder) = host_with("", None).await;
    let embedded = host.fetch("/map/?embed", &[]).await;
    assert!(embedded.header("content-security-policy").contains("frame-ancestors 'none'"));
}

fn decompress(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match coding {
        "gzip" => {
            GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
        }
        _ => brotli::BrotliDecompress(&mut &*bytes, &mut plain).unwrap(),
    }
    plain
}

/// The committed page is the one that the sources make with the pinned packages.
#[test]
fn the_committed_page_is_the_build_of_its_sources() {
    let folder = TempDir::new().unwrap();
    copy(&source(), folder.path());
    let made = folder.path().join("made");
    for arguments in [
        &["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"][..],
        &["npm", "run", "check"],
        &["npm", "test"],
        &["npm", "run", "build", "--", made.to_str().unwrap()],
    ] {
        let mut command = Command::new(arguments[0]);
        let ended = command.args(&arguments[1..]).current_dir(folder.path()).output().unwrap();
        let output = [&*ended.stdout, &*ended.stderr].concat();
        assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output));
    }
    let committed = source().join("dist");
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.collect();
        names.sort();
        names
    };
    assert_eq!(names(&made), names(&committed));
    for name in names(&made) {
        let [made, committed] =
            [&made, &committed].map(|folder| fs::read(folder.join(&name)).unwrap());
        assert!(made == committed, "map/dist/{} is old: `npm run build`", name.display());
    }
}

/// Copies the sources, without installed packages and built files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.is_file() {
            fs::copy(&path, to.join(name)).unwrap();
        } else if name != "node_modules" && name != "dist" {
            copy(&path, &to.join(name));
        }
    }
}

async fn run_in_browser(program: &str) {
    let host = Host::with_city().await;
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    run_program_file(&host, "node", &programs.join(program)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_can_navigate_the_map() {
    run_in_browser("map.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_is_accessible() {
    run_in_browser("map_everybody.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_documents_do_no_harm() {
    run_in_browser("map_hostile.mjs").await;
}
