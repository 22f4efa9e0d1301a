//! Requests for the documents of the feeds: codings, conditions, origins, methods.

use crate::harness::{
    Host, Reply,
    feeds::{Answer, DOCUMENTS},
};
use flate2::read::GzDecoder;
use reqwest::Method;
use std::io::Read as _;

const PATH: &str = "/map/data/sf-live-targets.json";

fn decompress(answer: &Answer) -> Vec<u8> {
    let mut plain = Vec::new();
    match answer.header("content-encoding") {
        "gzip" => drop(GzDecoder::new(&*answer.bytes).read_to_end(&mut plain).unwrap()),
        "br" => brotli::BrotliDecompress(&mut &*answer.bytes, &mut plain).unwrap(),
        other => {
            assert_eq!(other, "");
            plain.clone_from(&answer.bytes);
        }
    }
    plain
}

#[tokio::test(flavor = "multi_thread")]
async fn every_document_is_the_same_in_every_coding() {
    let host = Host::with_city().await;
    for (path, _, media_type) in DOCUMENTS {
        let plain = host.fetch(path, &[]).await;
        let mut tags = vec![plain.header("etag").to_owned()];
        for coding in ["gzip", "br"] {
            let packed = host.fetch(path, &[("accept-encoding", coding)]).await;
            assert_eq!(packed.header("content-encoding"), coding, "{path}");
            assert_eq!(packed.header("content-type"), media_type, "{path}");
            assert_eq!(packed.header("content-length"), packed.bytes.len().to_string());
            assert!(packed.bytes.len() < plain.bytes.len(), "{path}");
            assert!(decompress(&packed) == plain.bytes, "{coding} of {path}");
            assert!(!packed.header("etag").starts_with("W/"), "{path}");
            tags.push(packed.header("etag").to_owned());
            let head = host.request(Method::HEAD, path, &[("accept-encoding", coding)]).await;
            for name in ["etag", "content-encoding", "content-length", "vary"] {
                assert_eq!(head.header(name), packed.header(name), "{name} of {path}");
            }
        }
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), 3, "{path}: each coding has an ETag of its own");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coding_is_chosen_by_the_weights_of_the_client() {
    let host = Host::with_city().await;
    for (accepted, coding) in [
        ("br, gzip", "br"),
        ("gzip, br", "br"),
        ("gzip, deflate", "gzip"),
        ("GZIP", "gzip"),
        ("x-gzip", "gzip"),
        ("*", "br"),
        ("br;q=0.1, gzip;q=0.9", "gzip"),
        ("br;q=0, gzip;q=0", ""),
        ("br;q=0, *", "gzip"),
        ("gzip;q=0.001", "gzip"),
        ("gzip;q=0.5, identity", ""),
        ("identity", ""),
        ("deflate, zstd", ""),
        ("", ""),
        ("*;q=0", ""),
        ("identity;q=0, *;q=0.1", "br"),
        ("gzip;q=nonsense, br;q=7", ""),
    ] {
        let got = host.fetch(PATH, &[("accept-encoding", accepted)]).await;
        assert_eq!(
            (got.status.as_u16(), got.header("content-encoding")),
            (200, coding),
            "{accepted}"
        );
        assert_eq!(got.header("vary"), "accept-encoding", "{accepted}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_the_client_has_is_not_sent_again() {
    let host = Host::with_city().await;
    let plain = host.fetch(PATH, &[]).await;
    let packed = host.fetch(PATH, &[("accept-encoding", "br")]).await;
    let (tag, packed_tag) = (plain.header("etag"), packed.header("etag"));
    let modified = plain.header("last-modified");
    let weak = format!("W/{tag}");
    let list = format!("\"nothing\", {weak} , \"more\"");
    let br = ("accept-encoding", "br");
    let earlier = ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT");
    let later = ("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT");
    let asked: [(&[(&str, &str)], u16); 14] = [
        (&[("if-none-match", tag)], 304),
        (&[("if-none-match", &weak)], 304),
        (&[("if-none-match", &list)], 304),
        (&[("if-none-match", "*")], 304),
        (&[("if-none-match", "\"nothing\"")], 200),
        (&[("if-none-match", packed_tag), br], 304),
        // The client has the uncompressed document, which it accepts too.
        (&[("if-none-match", tag), br], 304),
        (&[("if-none-match", packed_tag)], 200),
        (&[("if-modified-since", modified)], 304),
        (&[later], 304),
        (&[earlier], 200),
        (&[("if-modified-since", "yesterday")], 200),
        (&[("if-none-match", "\"nothing\""), later], 200),
        (&[("if-none-match", tag), earlier], 304),
    ];
    for (headers, status) in asked {
        for method in [Method::GET, Method::HEAD] {
            let got = host.request(method, PATH, headers).await;
            assert_eq!(got.status, status, "{headers:?}");
            for name in ["etag", "cache-control", "vary", "last-modified"] {
                assert!(!got.header(name).is_empty(), "{name}: {headers:?}");
            }
            assert_eq!(got.header("access-control-allow-origin"), "*");
            if status == 304 {
                assert!(got.bytes.is_empty() && got.header("content-type").is_empty());
            }
        }
    }
    let lines = host.fetch(PATH, &[("if-none-match", "\"nothing\""), ("if-none-match", tag)]).await;
    assert_eq!((lines.status.as_u16(), lines.header("etag")), (304, tag));
}

#[tokio::test(flavor = "multi_thread")]
async fn any_web_page_can_read_feeds_and_none_can_write() {
    let host = Host::with_city().await;
    let origin = ("origin", "https://page.example");
    for (path, ..) in DOCUMENTS {
        for wanted in ["GET", "POST"] {
            let asked = [
                origin,
                ("access-control-request-method", wanted),
                ("access-control-request-headers", "if-none-match, x-anything"),
            ];
            let allowed = host.request(Method::OPTIONS, path, &asked).await;
            assert_eq!(allowed.status, 200, "{path}");
            assert_eq!(allowed.header("access-control-allow-origin"), "*");
            assert_eq!(allowed.header("access-control-allow-methods"), "GET,HEAD");
            assert!(allowed.header("access-control-allow-headers").contains("if-none-match"));
            assert!(!allowed.header("access-control-max-age").is_empty());
        }
        let got = host.fetch(path, &[origin]).await;
        assert_eq!(got.header("access-control-allow-origin"), "*");
        assert_eq!(got.header("access-control-expose-headers"), "*");
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let request = host.client.request(method, format!("{}{path}", host.url));
            let refused =
                Reply::read(request.header(origin.0, origin.1).send().await.unwrap()).await;
            refused.assert_refused(405, "method_not_allowed");
            assert_eq!(refused.header("allow"), "GET,HEAD", "{path}");
            assert_eq!(refused.header("access-control-allow-origin"), "*");
        }
        // Credentials make no difference.
        let got = host.fetch(path, &[("authorization", "Bearer nothing")]).await;
        assert_eq!(got.status, 200, "{path}");
    }
}
