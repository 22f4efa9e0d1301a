//! The catalog and its description in pages, as clients of a host with many capabilities read them.

use crate::harness::{Host, Options, template_copies};
use serde_json::Value;

const COUNT: usize = 230;

async fn host() -> Host {
    Host::start(Options { components: template_copies(COUNT), ..Options::default() }).await
}

/// Returns each page, from this path on, as the links of the answers lead.
async fn pages(host: &Host, path: &str) -> Vec<Value> {
    let (mut pages, mut path) = (Vec::new(), path.to_owned());
    loop {
        let reply = host.get(&path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        let link = reply.headers.get("link").map(|link| link.to_str().unwrap().to_owned());
        pages.push(reply.body);
        match link {
            Some(link) => {
                let (target, rest) = link.strip_prefix('<').unwrap().split_once('>').unwrap();
                assert_eq!(rest, "; rel=\"next\"");
                path = target.to_owned();
            }
            None => return pages,
        }
    }
}

fn ids(page: &Value) -> Vec<String> {
    let entries = page["capabilities"].as_array().unwrap().iter();
    entries.map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_catalog_has_pages() {
    let host = host().await;
    let all = pages(&host, "/v1/capabilities").await;
    assert_eq!(all.iter().map(|page| ids(page).len()).collect::<Vec<_>>(), [100, 100, 30]);
    assert!(all.iter().all(|page| page["count"] == COUNT));
    let listed: Vec<String> = all.iter().flat_map(ids).collect();
    let expected: Vec<_> = (0..COUNT).map(|number| format!("template_{number:03}")).collect();
    assert_eq!(listed, expected);
    assert_eq!(all[0]["next_cursor"], "template_099");
    assert!(all[2].get("next_cursor").is_none());

    let described = pages(&host, "/openapi.json").await;
    let of_page = |page: &Value| -> Vec<String> {
        let paths = page["paths"].as_object().unwrap().keys();
        let ids = paths.filter_map(|path| {
            path.strip_prefix("/v1/capabilities/template_")?.strip_suffix("/call")
        });
        ids.map(|number| format!("template_{number}")).collect()
    };
    assert_eq!(described.iter().flat_map(of_page).collect::<Vec<_>>(), expected);
    assert_eq!(described[0]["x-next"], "/openapi.json?cursor=template_099");
    // Each page stands alone.
    assert!(described.iter().all(|page| page["paths"]["/oauth/token"].is_object()));

    // A cursor of an earlier catalog misses nothing.
    for file in ["template_099.wasm", "template_000.wasm"] {
        std::fs::remove_file(host.catalog().join(file)).unwrap();
    }
    host.wait_for("removal", |status| status["loaded"].as_array().unwrap().len() == COUNT - 2)
        .await;
    let rest = pages(&host, "/v1/capabilities?cursor=template_099").await;
    let rest: Vec<String> = rest.iter().flat_map(ids).collect();
    let missing: Vec<_> = expected[100..].iter().filter(|id| !rest.contains(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_follows_the_end_of_the_catalog() {
    let host = Host::with(&["ledger"]).await;
    for path in ["/v1/capabilities", "/openapi.json"] {
        // The capabilities after the cursor may have been removed meanwhile.
        let reply = host.get(&format!("{path}?cursor=ledger")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(reply.headers.get("link").is_none() && reply.body.get("next_cursor").is_none());
        assert!(!reply.text.contains("/capabilities/ledger/call"), "{}", reply.text);
        host.get(&format!("{path}?q=money&cursor=a"))
            .await
            .assert_refused(400, "validation_failed");
        host.get(&format!("{path}?curser=a")).await.assert_refused(400, "validation_failed");
    }
    // An empty catalog has one page.
    let host = Host::with(&[]).await;
    assert_eq!(host.get("/v1/capabilities").await.body["capabilities"], serde_json::json!([]));
    assert_eq!(host.get("/openapi.json").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_description_has_the_capabilities_that_are_named_or_found() {
    let host = Host::with(&["ledger", "greeter", "calendar", "faq_search"]).await;
    let calls = async |query: &str| -> Vec<String> {
        let reply = host.get(&format!("/openapi.json?{query}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(reply.header("content-type"), "application/openapi+json");
        let paths = reply.body["paths"].as_object().unwrap().keys();
        let calls = paths.filter(|path| path.ends_with("/call"));
        calls.map(|path| path.split('/').nth(3).unwrap().to_owned()).collect()
    };
    assert_eq!(calls("capability=ledger,greeter,ledger").await, ["greeter", "ledger"]);
    assert_eq!(calls("q=transfer+between+accounts").await[0], "ledger");
    let unknown = host.get("/openapi.json?capability=ledger,nothing").await;
    unknown.assert_refused(404, "unknown_capability");
    for invalid in ["capability=ledger&q=money", "capability=ledger&cursor=ledger"] {
        let reply = host.get(&format!("/openapi.json?{invalid}")).await;
        reply.assert_refused(400, "validation_failed");
    }
}
