//! Promises of the served texts that no other test shows.

use crate::{
    cases::{plugins, signal_verification::published_items},
    harness::{
        Host, component,
        feeds::city,
        relationships::{OWNERS, Person},
        time::HOUR,
    },
};
use serde_json::json;

#[test]
fn only_the_proof_of_a_number_can_send_text_messages() {
    let sends = |name: &String| {
        let bytes = component(name);
        ["portolan:capability/sms@", "portolan:capability/messages@"].iter().any(|interface| {
            bytes.windows(interface.len()).any(|window| window == interface.as_bytes())
        })
    };
    let sending: Vec<_> = plugins::names().into_iter().filter(sends).collect();
    assert_eq!(sending, ["svc_phone_binding"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_is_kept_for_a_day() {
    let names = ["owners", "social_permissions", "social_relationships", "svc_phone_binding"];
    let host = Host::with(&names).await;
    let ada = Person::new(&host).await;
    let keyed = |headline: &str| json!({ "action": "update_profile", "headline": headline, "idempotency_key": "one" });
    ada.agent().result(OWNERS, keyed("Engineer")).await;
    host.advance(23 * HOUR).await;
    let other = ada.agent().call(OWNERS, keyed("Writer")).await;
    assert_eq!(other.body["error_code"], "idempotency_key_reused", "{}", other.text);
    host.advance(2 * HOUR).await;
    let again = ada.agent().call(OWNERS, keyed("Writer")).await;
    assert_eq!(again.body["result"]["profile"]["headline"], "Writer", "{}", again.text);
}

#[test]
fn people_of_the_map_have_a_reason_and_a_way_out_and_no_contact_data() {
    let people = published_items(&city().join("feeds"), "sf-people.json", "items");
    assert!(!people.is_empty());
    for person in people {
        let has_text = |field: &str| !person[field].as_str().unwrap_or_default().is_empty();
        assert!(has_text("public_figure_basis"), "{person:#}");
        assert!(person["opt_out_url"].as_str().unwrap().starts_with("https://"), "{person:#}");
        let text = person.to_string();
        let contact = ["@", "tel:", "mailto:", "+1"];
        assert!(contact.iter().all(|part| !text.contains(part)), "{person:#}");
    }
}
