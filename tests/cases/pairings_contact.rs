//! Contact data crosses only where both sides have disclosed the same kind of it.

use crate::harness::{
    Reply,
    listings::room,
    pairings::{PAIRINGS, Party, connected, host, wanted},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_crosses_by_itself() {
    let host = host().await;
    let (seeker, landlord, pairing) = connected(&host).await;
    let links = json!({ "action": "update_profile", "links": ["https://ada.example/me"] });
    seeker.lister.agent().result("owners", links).await;
    let all = json!({
        "fields": ["phone", "email", "full_name", "exact_address", "links"],
        "details": {
            "email": "ada@mail.example", "full_name": "Ada Lovelace",
            "exact_address": "12 St James's Square\nLondon",
        },
    });
    let given = seeker.did("disclose", &pairing, all).await;
    assert_eq!(given["disclosure"], "pending");
    assert!(seeker.gets(&pairing).await.get("contact").is_none());
    assert!(landlord.gets(&pairing).await.get("contact").is_none());

    let some = json!({ "fields": ["email"], "details": { "email": "bob@mail.example" } });
    let given = landlord.did("disclose", &pairing, some).await;
    assert_eq!(given["disclosure"], "exchanged");
    assert_eq!(given["pairing"]["contact_exchanged"], true);
    let contact = landlord.gets(&pairing).await["contact"].clone();
    assert_eq!(contact, json!({ "email": "ada@mail.example", "trust": "untrusted_user_content" }));
    assert_eq!(seeker.gets(&pairing).await["contact"]["email"], "bob@mail.example");

    // What was exchanged stays; what was not is taken back.
    let taken = seeker.did("disclose", &pairing, json!({ "fields": ["full_name"] })).await;
    assert_eq!(taken["pairing"]["disclosed"]["mine"], json!(["email", "full_name"]));
    let rest = json!({
        "fields": ["phone", "full_name", "exact_address"],
        "details": { "full_name": "Bob B.", "exact_address": "1 Main St" },
    });
    landlord.did("disclose", &pairing, rest).await;
    let contact = landlord.gets(&pairing).await["contact"].clone();
    assert_eq!((&contact["full_name"], contact.get("phone")), (&json!("Ada Lovelace"), None));
    assert!(contact.get("exact_address").is_none(), "{contact:#}");
    let told = landlord.told(4).await;
    let fields: Vec<_> = told[2..].iter().map(|it| it["data"]["fields"].clone()).collect();
    assert_eq!(fields, [json!(["email"]), json!(["full_name"])]);

    let may = |who: &Party<'_>| json!({ "action": "check", "relation": "can_see_contact", "object": format!("owner:{}", who.id()) });
    for (by, of) in [(&seeker, &landlord), (&landlord, &seeker)] {
        let checked = by.lister.agent().result("social_permissions", may(of)).await;
        assert_eq!(checked["allowed"], true, "{checked:#}");
    }
    seeker.did("close", &pairing, json!({ "outcome": "met" })).await;
    assert_eq!(landlord.gets(&pairing).await["contact"], contact, "it is theirs now");
    let late = landlord.does("disclose", &pairing, json!({ "fields": [] })).await;
    late.refused(409, "disclosure_not_allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_known_is_asked_for() {
    let host = host().await;
    let (seeker, _landlord, pairing) = connected(&host).await;
    let tell = async |fields: Value, details: Value| {
        let reply =
            seeker.does("disclose", &pairing, json!({ "fields": fields, "details": details }));
        let reply: Reply = reply.await;
        reply.refused(400, "validation_failed");
        let errors = reply.body["conflict"]["errors"].as_array().unwrap().iter();
        let pointers: Vec<_> =
            errors.map(|it| it["pointer"].as_str().unwrap().to_owned()).collect();
        (pointers, reply)
    };
    let (pointers, reply) = tell(json!(["phone", "email", "full_name"]), json!({})).await;
    assert_eq!(pointers, ["/details/email", "/details/full_name"]);
    let next = &reply.body["next"];
    assert_eq!(next["ask_user"], "Which e-mail address may I disclose?");
    assert_eq!(next["missing"], json!(["details"]));
    // With the answer, the step is a whole call.
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
async fn what_is_given_is_sealed() {
    let host = host().await;
    let (seeker, _landlord, pairing) = connected(&host).await;
    let fields = json!({ "fields": ["email"], "details": { "email": "ada@mail.example" } });
    seeker.did("disclose", &pairing, fields).await;
    let kept = "SELECT body FROM documents WHERE body LIKE '%mail.example%'";
    assert_eq!(host.database().texts(kept).await, Vec::<String>::new());
    assert!(!host.log().contains("mail.example"));
}

/// Somebody on a random walk, with what only they know.
struct Walker<'a> {
    party: Party<'a>,
    secrets: [String; 2],
}

/// A small generator, so that a walk can be walked again.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_random_walk_leaks_nothing() {
    let host = host().await;
    for seed in 1..=3 {
        walk(&host, Chance(seed)).await;
    }
}

async fn walk(host: &crate::harness::Host, mut chance: Chance) {
    let mut walkers = Vec::new();
    for number in 0..4 {
        let listing = if number < 2 { room(json!({})) } else { wanted() };
        let phone = format!("+1415555010{number}");
        let party = Party::with(host, &phone, listing).await;
        let secrets = [phone, format!("walker{number}@mail.example")];
        walkers.push(Walker { party, secrets });
    }
    // By whom, whose, of which kind: what may be seen, because both have disclosed it.
    let mut open: BTreeSet<(usize, usize, usize)> = BTreeSet::new();
    let mut given: BTreeSet<(usize, String, usize)> = BTreeSet::new();
    let mut pairings: Vec<(String, usize, usize)> = Vec::new();
    let mut exchanged: BTreeSet<(String, usize)> = BTreeSet::new();
    for step in 0..90 {
        let by = chance.below(4);
        let me = &walkers[by];
        let reply = if pairings.is_empty() || chance.below(6) == 0 {
            let to = chance.below(4);
            let reply = me.party.tries(&walkers[to].party).await;
            if let Some(id) = reply.body["result"]["pairing_id"].as_str() {
                pairings.push((id.to_owned(), by, to));
            }
            reply
        } else {
            let (id, from, to) = pairings[chance.below(pairings.len())].clone();
            let kinds = [vec!["phone"], vec!["email"], vec!["phone", "email"], vec![]];
            match chance.below(12) {
                0 => me.party.does("get", &id, json!({})).await,
                1 => me.party.call("list", json!({})).await,
                2 => {
                    me.party
                        .does("reply", &id, json!({ "decision": "ask", "message": "Why?" }))
                        .await
                }
                3..=5 => me.party.does("reply", &id, json!({ "decision": "accept" })).await,
                6 => me.party.does("message", &id, json!({ "message": "Because." })).await,
                7 if chance.below(4) == 0 => me.party.does("withdraw", &id, json!({})).await,
                8 if chance.below(4) == 0 => {
                    me.party.does("close", &id, json!({ "outcome": "other" })).await
                }
                _ => {
                    let kinds = &kinds[chance.below(4)];
                    let mut fields = json!({ "fields": kinds });
                    if kinds.contains(&"email") {
                        fields["details"] = json!({ "email": me.secrets[1] });
                    }
                    let reply = me.party.does("disclose", &id, fields).await;
                    if reply.status == 200 {
                        let other = if by == from { to } else { from };
                        for (kind, name) in ["phone", "email"].iter().enumerate() {
                            let stays = exchanged.contains(&(id.clone(), kind));
                            let mine = (by, id.clone(), kind);
                            match kinds.contains(name) || stays {
                                true => _ = given.insert(mine.clone()),
                                false => _ = given.remove(&mine),
                            }
                            let theirs = (other, id.clone(), kind);
                            if given.contains(&mine) && given.contains(&theirs) {
                                exchanged.insert((id.clone(), kind));
                                open.extend([(by, other, kind), (other, by, kind)]);
                            }
                        }
                    }
                    reply
                }
            }
        };
        assert!(!reply.status.is_server_error(), "{}", reply.text);
        check(&walkers, by, &reply.text, &open, &format!("step {step}"));
    }
    for (number, walker) in walkers.iter().enumerate() {
        let listed = walker.party.call("list", json!({ "limit": 100 })).await;
        let events = walker.party.reader().page("wait=0&cursor=0&limit=100").await;
        // Neither lists nor events ever have any, also not what was exchanged.
        for text in [listed.text, events.to_string()] {
            check(&walkers, number, &text, &BTreeSet::new(), "a list or an event");
        }
        for (id, from, to) in &pairings {
            if [*from, *to].contains(&number) {
                let view = walker.party.does("get", id, json!({})).await;
                check(&walkers, number, &view.text, &open, "at the end");
            }
        }
    }
    assert!(!exchanged.is_empty(), "nothing was ever exchanged");
}

/// Nobody reads what is somebody else's, unless it is open to them.
fn check(
    walkers: &[Walker<'_>],
    by: usize,
    text: &str,
    open: &BTreeSet<(usize, usize, usize)>,
    what: &str,
) {
    for (whose, walker) in walkers.iter().enumerate().filter(|(whose, _)| *whose != by) {
        for (kind, secret) in walker.secrets.iter().enumerate() {
            let may = open.contains(&(by, whose, kind));
            assert!(may || !text.contains(secret.as_str()), "{what}: {by} reads {secret}: {text}");
        }
    }
}
