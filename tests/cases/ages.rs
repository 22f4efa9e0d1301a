//! Years of birth, listings for adults, and what texts of listings may not say.

use crate::harness::{
    Reply,
    listings::{Lister, age_at_least, correct_birth_year, date, host, room},
};
use serde_json::{Value, json};

const MINOR: i16 = 16;

/// Returns a year of birth of somebody who has certainly reached this age, and not two years more.
fn year_of(age: i16) -> i16 {
    age_at_least(0) - age
}

async fn give_birth_year(person: &Lister<'_>, year: Value) -> Reply {
    let given = json!({ "action": "update_profile", "birth_year": year });
    person.agent().call("owners", given).await
}

/// A public listing of somebody who looks for friends.
fn friend() -> Value {
    let mut friend = room(json!({
        "category": "social.friend", "side": "demand", "title": "Chess on Sundays",
        "visibility": "public", "attributes": { "interests": ["chess"] },
    }));
    friend.as_object_mut().unwrap().remove("compensation");
    friend
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_operator_changes_a_year_of_birth() {
    let host = host().await;
    let ada = Lister::new(&host).await;
    assert_eq!(give_birth_year(&ada, json!(year_of(MINOR))).await.status, 200);
    for other in [json!(1990), Value::Null] {
        let refused = give_birth_year(&ada, other).await;
        refused.assert_refused(403, "birth_year_fixed");
        assert_eq!(refused.body["next"]["input"]["slug"], "dating-and-age");
    }
    let same = give_birth_year(&ada, json!(year_of(MINOR))).await;
    assert_eq!(same.body["result"]["version"], 1, "{}", same.text);
    ada.call("create", date(json!({}))).await.assert_refused(403, "age_restricted");
    let corrected = correct_birth_year(&host, &ada.id, json!(1990)).await;
    let result = &corrected.body["result"];
    assert_eq!(result, &json!({ "owner_id": ada.id, "birth_year": 1990 }), "{}", corrected.text);
    let listed = ada.result("create", date(json!({}))).await;
    assert_eq!(listed["state"], "active", "{listed:#}");
    let future = correct_birth_year(&host, &ada.id, json!(2199)).await;
    assert_eq!(future.body["error_code"], "profile_field_invalid", "{}", future.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn minors_neither_see_nor_are_seen_where_only_adults_may_be() {
    let host = host().await;
    let [ada, bea, teen] =
        [Lister::new(&host).await, Lister::new(&host).await, Lister::new(&host).await];
    for (person, year) in [(&ada, 1990), (&bea, 1990), (&teen, year_of(MINOR))] {
        give_birth_year(person, json!(year)).await;
    }
    let id = ada.create_listing(friend()).await;
    assert_eq!(bea.search(json!({})).await, [id.as_str()]);
    assert_eq!(bea.call_on("get", &id).await.status, 200);
    assert!(teen.search(json!({})).await.is_empty());
    let by_category = json!({ "category": "social.friend" });
    teen.call("search", by_category).await.assert_refused(403, "age_restricted");
    teen.call_on("get", &id).await.assert_refused(403, "age_restricted");
    let refused = teen.call("create", friend()).await;
    refused.assert_refused(403, "age_restricted");
    assert_eq!(refused.body["next"]["input"]["action"], "me", "a given year cannot be changed");

    correct_birth_year(&host, &ada.id, json!(year_of(MINOR))).await;
    assert!(bea.search(json!({})).await.is_empty());
    bea.call_on("get", &id).await.assert_refused(404, "listing_not_found");
    assert_eq!(ada.call_on("get", &id).await.status, 200, "the owner still finds it");
    ada.call_on("pause", &id).await;
    ada.call_on("resume", &id).await.assert_refused(403, "age_restricted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_states_its_owners_age_and_is_never_public() {
    let host = host().await;
    let ada = Lister::with_birth_year(&host, 1990).await;
    let age = age_at_least(1990);
    let id = ada.create_listing(date(json!({}))).await;
    let patch = json!({ "listing_id": id, "patch": { "attributes": { "age": age - 5 } } });
    let refused = ada.call("update", patch).await;
    refused.assert_refused(422, "age_contradicted");
    assert_eq!(
        refused.body["conflict"],
        json!({
            "kind": "policy", "policy": "birth_year", "pointer": "/patch/attributes/age",
            "stated": age - 5, "possible": [age, age + 1],
        })
    );
    let text = format!("Ich bin {} und wandere gern.", age - 5);
    let refused = ada.call("create", date(json!({ "description": text }))).await;
    refused.assert_refused(422, "age_contradicted");
    assert_eq!(refused.body["conflict"]["pointer"], "/description");

    let refused = ada.call("create", date(json!({ "visibility": "public" }))).await;
    refused.assert_refused(422, "never_public");
    let patch = json!({ "listing_id": id, "patch": { "visibility": "public" } });
    let refused = ada.call("update", patch).await;
    refused.assert_refused(422, "never_public");
    assert_eq!(refused.body["conflict"]["pointer"], "/patch/visibility");
}

#[tokio::test(flavor = "multi_thread")]
async fn contact_data_and_discrimination_are_found_in_many_languages() {
    let host = host().await;
    let ada = Lister::new(&host).await;
    for text in [
        "Schreib mir auf Telegram, ich bin @ada_wohnt.",
        "escribe a ada arroba example punto com",
        "加我微信 adarents88",
        "звони: восемь девять один шесть пять пять пять ноль один два три",
    ] {
        let refused = ada.call("create", room(json!({ "description": text }))).await;
        refused.assert_refused(422, "contact_in_text");
    }
    for (text, flag) in [
        ("Сдам только славянам.", "national_origin"),
        ("Deutsche bevorzugt.", "national_origin"),
        ("女性限定。", "sex"),
    ] {
        let held = ada.result("create", room(json!({ "description": text }))).await;
        assert_eq!(held["state"], "in_review", "{text}");
        assert_eq!(held["review"]["flags"], json!([flag]), "{text}");
    }
}
