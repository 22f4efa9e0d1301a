//! Any text is a query, or is refused clearly, and plain words find what they mean, on both databases.

use crate::{
    cases::{map_search::options_with, social_org::create_org},
    harness::{
        Host, Reply,
        component_sets::LISTINGS,
        listings::{Lister, search_ids},
        postgres,
    },
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};

/// Parts of texts that search languages, databases and tokenizers treat in their own way.
const PARTS: [&str; 48] = [
    "apartment",
    "a",
    "the",
    "Wohnung",
    "habitación",
    "東京",
    "のアパート",
    "서울에서",
    "บ้าน",
    "शहर",
    "مدينة",
    "комната",
    "😀",
    "👩‍💻",
    "\"",
    "'",
    "*",
    "-",
    "---",
    "(",
    ")",
    "|",
    "||",
    "&",
    "!",
    ":",
    "^",
    "~",
    "{",
    "}",
    "[",
    "]",
    "\\",
    "%",
    "_",
    "NEAR",
    "AND",
    "OR",
    "NOT",
    "title:",
    "\u{0}",
    "\u{301}",
    "\u{200d}",
    "\u{202e}",
    "\u{feff}",
    "C++",
    "$2,300",
    "½",
];
const SEARCHES: [(&str, &str, &str); 5] = [
    ("agent_listings", "search", "q"),
    ("map_search", "search", "q"),
    ("social_org", "search", "q"),
    ("faq_search", "search", "query"),
    ("listing_taxonomy", "search", "q"),
];

fn text(random: &mut StdRng) -> String {
    let count = random.random_range(1..12);
    let part = |random: &mut StdRng| -> String {
        match random.random_range(0..10) {
            0 => char::from_u32(random.random_range(0..0x11_0000)).unwrap_or('x').to_string(),
            1 => " ".to_owned(),
            _ => PARTS.choose(random).copied().unwrap_or_default().to_owned(),
        }
    };
    let text: String = (0..count).map(|_| part(random)).collect();
    text.chars().take(200).collect()
}

/// Starts a host with these components and the feeds of the invented city on each database.
async fn hosts(guests: &[&str]) -> [Host; 2] {
    let url = postgres::database().await;
    let other = Host::start(options_with(guests).postgres(&url)).await;
    [Host::start(options_with(guests)).await, other]
}

#[tokio::test(flavor = "multi_thread")]
async fn any_text_is_a_query_or_is_refused() {
    for host in hosts(&[&LISTINGS[..], &["map_search", "faq_search"]].concat()).await {
        send_texts(&host).await;
    }
}

async fn send_texts(host: &Host) {
    let is_full = std::env::var_os("PORTOLAN_TEST_FULL").is_some();
    let agent = host.agent().await;
    let mut random = StdRng::seed_from_u64(26);
    let mut found = 0;
    for _ in 0..if is_full { 20_000 } else { 60 } {
        let text = text(&mut random);
        for (capability, action, field) in SEARCHES {
            let mut body = json!({ "action": action, "limit": 3 });
            body[field] = json!(text);
            let reply = agent.call(capability, body).await;
            let code = reply.body["error_code"].as_str().unwrap_or_default();
            let is_refused =
                reply.status == 400 && ["query_empty", "validation_failed"].contains(&code);
            assert!(reply.status == 200 || is_refused, "{capability} {text:?}: {}", reply.text);
            found += usize::from(reply.body["result"]["items"] != Value::Null);
        }
    }
    assert!(found > 0);
}

/// Returns the names of the organisations that a search finds.
async fn org_names(person: &Lister<'_>, q: &str) -> Vec<String> {
    let search = json!({ "action": "search", "q": q });
    let found = person.agent().result("social_org", search).await;
    let items = found["items"].as_array().unwrap().iter();
    items.map(|org| org["name"].as_str().unwrap().to_owned()).collect()
}

/// Returns the listings that a search would find if it were saved.
async fn previewed_ids(person: &Lister<'_>, q: &str) -> Vec<String> {
    let preview = json!({ "action": "preview", "query": { "q": q } });
    let found = person.agent().result("saved_searches", preview).await;
    let items = found["items"].as_array().unwrap().iter();
    items.map(|listing| listing["listing_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_words_of_any_language_find_what_they_mean() {
    for host in hosts(&[&LISTINGS[..], &["map_search", "saved_searches"]].concat()).await {
        find_plain_words(&host).await;
    }
}

async fn find_plain_words(host: &Host) {
    let (ada, bea) = (Lister::new(host).await, Lister::new(host).await);
    let titled = |title: &str| json!({ "title": title, "description": title });
    let bay = ada.create_listing(titled("Apartments near the bay")).await;
    let tokyo = ada.create_listing(titled("東京のアパート")).await;
    let kyoto = ada.create_listing(titled("京都のアパート")).await;
    for name in ["Bay Apartments", "東京のアパート", "京都のアパート"] {
        create_org(ada.agent(), name).await;
    }
    host.wait_until_settled().await;
    for q in ["an apartment", "the apartments"] {
        let found = search_ids(bea.agent(), json!({ "q": q })).await;
        assert!(found.contains(&bay), "{q}: {found:?}");
        assert!(previewed_ids(&bea, q).await.contains(&bay), "{q}");
        assert_eq!(org_names(&bea, q).await, ["Bay Apartments"], "{q}");
    }
    assert!(search_ids(bea.agent(), json!({ "q": "an xylophone" })).await.is_empty());
    for q in ["東京", "東京でアパート"] {
        let found = search_ids(bea.agent(), json!({ "q": q })).await;
        assert_eq!(found.first(), Some(&tokyo), "{q}: {found:?}");
        assert!(previewed_ids(&bea, q).await.contains(&tokyo), "{q}");
        assert_eq!(org_names(&bea, q).await.first().unwrap(), "東京のアパート", "{q}");
    }
    // Kyoto shares a character with Tokyo.
    assert!(!search_ids(bea.agent(), json!({ "q": "東京" })).await.contains(&kyoto));
    assert!(!previewed_ids(&bea, "東京").await.contains(&kyoto));
    assert_eq!(org_names(&bea, "東京").await, ["東京のアパート"]);
    for q in ["😀", "👩‍💻", "---"] {
        for (capability, body) in [
            ("agent_listings", json!({ "action": "search", "q": q })),
            ("map_search", json!({ "action": "search", "q": q })),
            ("saved_searches", json!({ "action": "preview", "query": { "q": q } })),
            ("social_org", json!({ "action": "search", "q": q })),
        ] {
            bea.agent().call(capability, body).await.assert_refused(400, "query_empty");
        }
    }
    // An emoji beside a word is not searched for.
    let found = search_ids(bea.agent(), json!({ "q": "😀 東京" })).await;
    assert_eq!(found.first(), Some(&tokyo), "{found:?}");
}

/// PostgreSQL has no text with this character.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_with_a_nul_character_names_nothing() {
    for host in hosts(&["ledger"]).await {
        let file = format!("/media/{}?blob=%00", "0".repeat(64));
        host.get(&file).await.assert_refused(404, "not_found");
        let authorize = "/oauth/authorize?response_type=code&client_id=%00";
        assert_eq!(host.get(authorize).await.status, 400);
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", "\0"),
            ("client_secret", "a secret"),
        ];
        let token = host.client.post(format!("{}/oauth/token", host.url)).form(&form);
        let refused = Reply::read(token.send().await.unwrap()).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.body["error"]),
            (401, &json!("invalid_client"))
        );
    }
}
