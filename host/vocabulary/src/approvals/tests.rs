//! Tests of what waits.

use super::*;
use serde_json::json;

const SOMEBODY: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";

fn policy(value: Value) -> ApprovalPolicy {
    serde_json::from_value::<ApprovalPolicy>(value).unwrap().checked().unwrap()
}

fn consequence(value: Value) -> Consequence {
    serde_json::from_value(value).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn each_limit_makes_a_call_wait() {
    let pay = consequence(json!({
        "category": "payment", "counterpart": ["to", "others.id"], "amount": "amount",
        "first_contact": true,
    }));
    let input = json!({
        "to": "own_1", "others": [{ "id": "own_2" }], "amount": 5,
        "deep": [{ "thread": "thr_1" }, format!("calendar:{SOMEBODY}")],
    });
    let hours = |from, to| json!({ "hours": { "from": from, "to": to, "time_zone": "UTC" } });
    let most =
        |amount, currency: &str| json!({ "most": { "amount": amount, "currency": currency } });
    for (limits, reason) in [
        (json!({}), None),
        (json!({ "alone": ["payment"] }), None),
        (json!({ "alone": ["message"] }), Some(WaitReason::Category)),
        (json!({ "alone": [] }), Some(WaitReason::Category)),
        (json!({ "always_ask": ["own_3"] }), None),
        (json!({ "always_ask": ["own_2"] }), Some(WaitReason::Counterpart)),
        // Also where no path leads to it.
        (json!({ "always_ask": ["thr_1"] }), Some(WaitReason::Counterpart)),
        (json!({ "always_ask": [SOMEBODY] }), Some(WaitReason::Counterpart)),
        (json!({ "ask_first_contact": true }), Some(WaitReason::FirstContact)),
        (json!({ "ask_first_contact": true, "known": ["own_1"] }), Some(WaitReason::FirstContact)),
        (json!({ "ask_first_contact": true, "known": ["own_1", "own_2"] }), None),
        (most(5, "credits"), None),
        (most(4, "credits"), Some(WaitReason::Amount)),
        (most(500, "USD"), Some(WaitReason::Amount)),
        (hours(8 * 60, 20 * 60), None),
        (hours(22 * 60, 6 * 60), Some(WaitReason::Hours)),
    ] {
        let found =
            policy(limits.clone()).reason(Some(&pay), (&input, 0), at("2026-03-01T12:00:00Z"));
        assert_eq!(found, reason, "{limits}");
    }
    let unknown = json!({ "to": "own_1" });
    let found =
        policy(most(5, "credits")).reason(Some(&pay), (&unknown, 0), at("2026-03-01T12:00:00Z"));
    assert_eq!(found, Some(WaitReason::Amount));
    let any = policy(json!({}));
    assert_eq!(
        any.reason(None, (&input, 0), at("2026-03-01T12:00:00Z")),
        Some(WaitReason::Undeclared)
    );
}

#[test]
fn all_amounts_of_a_call_count_and_what_the_action_costs() {
    let pay = consequence(json!({
        "category": "payment", "amount": "parts.amount", "currency": "parts.currency",
    }));
    let credits = consequence(json!({ "category": "payment", "amount": "parts.amount" }));
    let free = consequence(json!({ "category": "message" }));
    let parts = |parts: &[(Value, Value)]| {
        let part =
            |(amount, currency): &(Value, Value)| json!({ "amount": amount, "currency": currency });
        json!({ "parts": parts.iter().map(part).collect::<Vec<_>>() })
    };
    let euros = |amount: i32| (json!(amount), json!("EUR"));
    for (declared, currency, input, cost, waits) in [
        (&pay, "EUR", parts(&[euros(2), euros(3)]), 0, false),
        (&pay, "EUR", parts(&[euros(1), euros(5)]), 0, true),
        (&pay, "EUR", parts(&[euros(9), euros(-8)]), 0, true),
        (&pay, "EUR", parts(&[euros(1), (json!("1"), json!("EUR"))]), 0, true),
        (&pay, "EUR", parts(&[euros(1), (json!(1), json!("USD"))]), 0, true),
        (&pay, "EUR", parts(&[euros(1), (json!(1), Value::Null)]), 0, true),
        (&pay, "EUR", parts(&[]), 0, true),
        (&pay, "EUR", json!({}), 0, true),
        (&credits, "credits", json!({ "parts": [{ "amount": 1 }, {}] }), 0, true),
        (&pay, "EUR", parts(&[euros(1)]), 1, true),
        (&credits, "credits", parts(&[euros(2), euros(2)]), 1, false),
        (&credits, "credits", parts(&[euros(2), euros(2)]), 2, true),
        (&free, "credits", json!({}), 5, false),
        (&free, "credits", json!({}), 6, true),
        (&free, "EUR", json!({}), 0, false),
    ] {
        let most = policy(json!({ "most": { "amount": 5, "currency": currency } }));
        let found = most.reason(Some(declared), (&input, cost), at("2026-03-01T12:00:00Z"));
        let expected = waits.then_some(WaitReason::Amount);
        assert_eq!(found, expected, "{input} {cost} {currency}");
    }
}

#[test]
fn an_amount_is_known_in_its_own_currency_only() {
    let pay = consequence(json!({ "category": "payment", "amount": "amount" }));
    let free = consequence(json!({ "category": "message" }));
    let input = json!({ "amount": 4 });
    for (declared, currency, cost, amount) in [
        (&pay, "credits", 0, Some(4.0)),
        (&pay, "credits", 2, Some(6.0)),
        (&pay, "EUR", 0, None),
        (&free, "credits", 2, Some(2.0)),
        (&free, "EUR", 0, Some(0.0)),
        (&free, "EUR", 2, None),
    ] {
        assert_eq!(declared.amount_in(currency, &input, cost), amount, "{currency} {cost}");
    }
    assert_eq!(pay.amount_in("credits", &json!({}), 0), None);
}

#[test]
fn a_policy_that_permits_more_is_not_within_the_one_before() {
    let hours = json!({ "from": 60, "to": 120, "time_zone": "UTC" });
    let strict = policy(json!({
        "alone": ["own"], "ask_first_contact": true, "hours": hours, "always_ask": ["a"],
        "most": { "amount": 5, "currency": "credits" },
    }));
    assert!(strict.is_within(None) && strict.is_within(Some(&strict)));
    assert!(strict.is_within(Some(&policy(json!({})))));
    let mut forgotten = strict.clone();
    forgotten.always_ask.clear();
    forgotten.keep_asking(&strict.always_ask);
    assert!(forgotten.is_within(Some(&strict)), "what is forgotten is still asked about");
    let loosened: [fn(&mut ApprovalPolicy); 7] = [
        |policy| policy.alone = None,
        |policy| policy.alone = Some(vec!["own".into(), "message".into()]),
        |policy| policy.ask_first_contact = false,
        |policy| policy.hours = None,
        |policy| policy.always_ask.clear(),
        |policy| policy.known.push("b".into()),
        |policy| policy.most = None,
    ];
    for loosen in loosened {
        let mut looser = strict.clone();
        loosen(&mut looser);
        assert!(!looser.is_within(Some(&strict)), "{looser:?}");
    }
}

#[test]
fn a_policy_that_cannot_be_kept_is_refused_and_names_nobody() {
    for faulty in [
        json!({ "alone": ["everything"] }),
        json!({ "most": { "amount": -1, "currency": "credits" } }),
        json!({ "hours": { "from": 60, "to": 60, "time_zone": "UTC" } }),
        json!({ "hours": { "from": 60, "to": 61, "time_zone": "Mars/Base" } }),
        json!({ "known": [""] }),
    ] {
        let policy = serde_json::from_value::<ApprovalPolicy>(faulty.clone()).unwrap();
        assert!(policy.checked().is_err(), "{faulty}");
    }
    let kept = serde_json::to_string(&policy(json!({ "always_ask": ["own_1"] }))).unwrap();
    assert!(!kept.contains("own_"), "{kept}");
}

#[test]
fn the_same_call_has_one_digest_with_any_key() {
    let call = HeldCall {
        owner_id: "own_1".into(),
        agent_id: "agt_1".into(),
        client_id: "cli_1".into(),
        scopes: vec!["svc.write".into()],
        capability: "pay".into(),
        action: "send".into(),
        access: Access::Write,
        publisher: "host".into(),
        version: "1.0.0".into(),
        input: json!({ "amount": 5 }),
        idempotency_key: None,
        covers: Vec::new(),
    };
    let keyed = HeldCall { idempotency_key: Some("k".into()), ..call.clone() };
    assert_eq!(call.digest(), keyed.digest());
    let other = HeldCall { input: json!({ "amount": 6 }), ..call.clone() };
    assert_ne!(call.digest(), other.digest());
}
