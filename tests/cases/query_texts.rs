//! Any text is a query, or is refused clearly.

use crate::{cases::map_search::host_with, harness::component_sets::LISTINGS};
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

#[tokio::test(flavor = "multi_thread")]
async fn any_text_is_a_query_or_is_refused() {
    let is_full = std::env::var_os("PORTOLAN_TEST_FULL").is_some();
    let host = host_with(&[&LISTINGS[..], &["map_search", "faq_search"]].concat()).await;
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
