//! Contact data is exchanged only if both sides have disclosed the same kind.

use crate::harness::{
    Reply,
    pairings::{PAIRINGS, Party, connected_pair, host},
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_contact_data_is_exchanged_separately() {
    let host = host().await;
    let (seeker, landlord, pairing) = connected_pair(&host).await;
    let links = json!({ "action": "update_profile", "links": ["https://ada.example/me"] });
    seeker.lister.agent().result("owners", links).await;
    let all = json!({
        "fields": ["phone", "email", "full_name", "exact_address", "links"],
        "details": {
            "email": "ada@mail.example", "full_name": "Ada Lovelace",
            "exact_address": "12 St James's Square\nLondon",
        },
    });
    let given = seeker.call_on_ok("disclose", &pairing, all).await;
    assert_eq!(given["disclosure"], "pending");
    assert!(seeker.get(&pairing).await.get("contact").is_none());
    assert!(landlord.get(&pairing).await.get("contact").is_none());

    let some = json!({ "fields": ["email"], "details": { "email": "bob@mail.example" } });
    let given = landlord.call_on_ok("disclose", &pairing, some).await;
    assert_eq!(given["disclosure"], "exchanged");
    assert_eq!(given["pairing"]["contact_exchanged"], true);
    let contact = landlord.get(&pairing).await["contact"].clone();
    let only = json!({
        "owner_id": seeker.id(), "display_name": "Ada", "email": "ada@mail.example",
        "trust": "untrusted_user_content",
    });
    assert_eq!(contact, only);
    assert_eq!(seeker.get(&pairing).await["contact"]["email"], "bob@mail.example");

    // Exchanged kinds stay disclosed; the others are withdrawn when they are not named again.
    let taken = seeker.call_on_ok("disclose", &pairing, json!({ "fields": ["full_name"] })).await;
    assert_eq!(taken["pairing"]["disclosed"]["mine"], json!(["email", "full_name"]));
    let rest = json!({
        "fields": ["phone", "full_name", "exact_address"],
        "details": { "full_name": "Bob B.", "exact_address": "1 Main St" },
    });
    landlord.call_on_ok("disclose", &pairing, rest).await;
    let contact = landlord.get(&pairing).await["contact"].clone();
    assert_eq!((&contact["full_name"], contact.get("phone")), (&json!("Ada Lovelace"), None));
    assert!(contact.get("exact_address").is_none(), "{contact:#}");
    let events = landlord.wait_for_events(4).await;
    let fields: Vec<_> = events[2..].iter().map(|event| event["data"]["fields"].clone()).collect();
    assert_eq!(fields, [json!(["email"]), json!(["full_name"])]);

    let may = |who: &Party<'_>| json!({ "action": "check", "relation": "can_see_contact", "object": format!("owner:{}", who.id()) });
    for (by, of) in [(&seeker, &landlord), (&landlord, &seeker)] {
        let checked = by.lister.agent().result("social_permissions", may(of)).await;
        assert_eq!(checked["allowed"], true, "{checked:#}");
    }
    seeker.call_on_ok("close", &pairing, json!({ "outcome": "met" })).await;
    assert_eq!(landlord.get(&pairing).await["contact"], contact, "contact data stays");
    let late = landlord.call_on("disclose", &pairing, json!({ "fields": [] })).await;
    late.assert_refused(409, "disclosure_not_allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_contact_data_is_asked_for() {
    let host = host().await;
    let (seeker, _landlord, pairing) = connected_pair(&host).await;
    let tell = async |fields: Value, details: Value| {
        let reply =
            seeker.call_on("disclose", &pairing, json!({ "fields": fields, "details": details }));
        let reply: Reply = reply.await;
        reply.assert_refused(400, "validation_failed");
        let errors = reply.body["conflict"]["errors"].as_array().unwrap().iter();
        let pointers: Vec<_> =
            errors.map(|error| error["pointer"].as_str().unwrap().to_owned()).collect();
        (pointers, reply)
    };
    let (pointers, reply) = tell(json!(["phone", "email", "full_name"]), json!({})).await;
    assert_eq!(pointers, ["/details/email", "/details/full_name"]);
    let next = &reply.body["next"];
    assert_eq!(next["ask_user"], "Which e-mail address may I disclose?");
    assert_eq!(next["missing"], json!(["details"]));
    // With the person's answer, the next step is a complete call.
    let mut step = next["input"].clone();
    step["details"] = json!({ "email": "ada@mail.example", "full_name": "Ada" });
    seeker.lister.agent().result(PAIRINGS, step).await;

    let (pointers, reply) = tell(json!(["links"]), json!({})).await;
    assert_eq!(pointers, ["/fields"]);
    assert_eq!(reply.body["next"]["capability"], "owners");
    let (pointers, _) = tell(json!(["email"]), json!({ "full_name": "Ada" })).await;
    assert_eq!(pointers, ["/details/full_name"]);
    let (pointers, _) = tell(json!(["full_name"]), json!({ "full_name": " " })).await;
    assert_eq!(pointers, ["/details/full_name"]);
    let (pointers, _) = tell(json!(["email"]), json!({ "email": "no address" })).await;
    assert_eq!(pointers, ["/details/email"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn disclosed_contact_data_is_sealed() {
    let host = host().await;
    let (seeker, _landlord, pairing) = connected_pair(&host).await;
    let fields = json!({ "fields": ["email"], "details": { "email": "ada@mail.example" } });
    seeker.call_on_ok("disclose", &pairing, fields).await;
    let kept = "SELECT body FROM documents WHERE body LIKE '%mail.example%'";
    assert_eq!(host.database().texts(kept).await, Vec::<String>::new());
    assert!(!host.log().contains("mail.example"));
}
