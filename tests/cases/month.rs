//! A month in which five people, two organisations and a company of the map live through what the
//! service is for, one day after the other; at its end, all that the served pages promise is checked.

use crate::{
    cases::{
        month_checks::check,
        month_scenes::*,
        month_world::{ADA, BEN, CLEO, DAN, DIGEST_AT, EVE, Month, QUIET},
        owner_verification::Company,
        signal_verification::published_items,
    },
    harness::{Host, feeds::city},
};
use serde_json::json;

const CAPABILITIES: [&str; 22] = [
    "agent_credits",
    "agent_listings",
    "applications",
    "calendar",
    "content_render",
    "conversations",
    "data_rights",
    "handoff_resolve",
    "listing_taxonomy",
    "map_search",
    "matching_sessions",
    "owner_verification",
    "owners",
    "pairings",
    "reports",
    "saved_searches",
    "social_org",
    "social_permissions",
    "social_relationships",
    "svc_events",
    "svc_phone_binding",
    "thread_meetings",
];

#[tokio::test(flavor = "multi_thread")]
async fn five_people_live_through_a_month() {
    let mut company = Company::new().await;
    let options = company.options_of(&CAPABILITIES, "reachable_networks = [\"127.0.0.0/8\"]");
    let host = Host::start(options).await;
    let mut month = Month::begin(&host).await;

    // The first two days: everybody arrives. Ada looks for a job and a flat.
    let quiet = json!({ "from": QUIET[0], "to": QUIET[1], "time_zone": "UTC" });
    for person in [ADA, DAN] {
        month.ok(person, "owners", "set_preferences", json!({ "quiet_hours": quiet })).await;
    }
    let digest = json!({ "events": ["conversation"], "at": DIGEST_AT, "time_zone": "UTC" });
    month.ok(CLEO, "owners", "set_preferences", json!({ "event_digest": digest })).await;
    month.ok(BEN, "owners", "update_profile", json!({ "headline": BENS_WORDS[0] })).await;
    let [copperleaf, firm] = found_organisations(&month).await;
    let busy_from = month.at(3, 14);
    import_calendar(&month, &busy_from).await;
    let role = published_items(&city().join("feeds"), "sf-job-roles.json", "items")[0].clone();
    let apply = json!({ "role_id": role["id"], "profile": { "headline": "Engineer" } });
    let to_the_map = month.ok(ADA, "applications", "apply", apply).await;
    assert_eq!(to_the_map["state"], "waiting", "nobody speaks for the company: {to_the_map:#}");
    find_a_flat(&mut month).await;
    let job = apply_for_the_job(&mut month, &copperleaf, &busy_from).await;

    // Until the first weekend: a date, cofounders, and somebody who annoys.
    let date = find_a_date(&mut month).await;
    let [talk, unanswered, waiting, of_ben, eves_listing] = find_cofounders(&mut month).await;
    month.pass(1).await;
    let report = block_and_report(&mut month, &eves_listing).await;
    month.pass_to("23:30").await;
    month.write(ADA, &date, "Sunday it is.").await;
    month.pass(3).await;
    decide_on_the_job(&mut month, &job).await;

    // The second week: an investor and a lawyer.
    let (signal, fund) = funding();
    prove(&month, &mut company, &fund).await;
    let pitched = pitch(&mut month, &signal).await;
    let legal = ask_a_lawyer(&mut month, &firm).await;

    // Ben leaves for good; his company and the others go on.
    erase_ben(&mut month, &copperleaf).await;
    let stranger = claim_again(&month).await;
    for (by, pairing) in [(DAN, &of_ben), (ADA, &waiting), (ADA, &unanswered)] {
        let view = month.pairing(by, "get", pairing, json!({})).await;
        let expected = if by == DAN { ["cancelled"; 2] } else { ["cancelled", "expired"] };
        assert!(expected.contains(&view["state"].as_str().unwrap()), "{view:#}");
    }

    // The company of the map is claimed, and has what was kept for it.
    prove(&month, &mut company, role["target_id"].as_str().unwrap()).await;
    month.look().await;
    let app_id = to_the_map["application_id"].as_str().unwrap();
    month.the_event(ADA, "application.delivered", app_id);
    month.the_event(DAN, "application.received", app_id);
    let offer = json!({ "application_id": app_id, "decision": "offer" });
    month.ok(DAN, "applications", "decide", offer).await;
    let accept = json!({ "application_id": app_id, "answer": "accept" });
    assert_eq!(month.ok(ADA, "applications", "answer", accept).await["state"], "accepted");
    month.look().await;

    // Eve leaves without a word, and the others learn that she cannot be reached.
    leave(&mut month).await;
    let told = month.the_event(DAN, "pairing.counterpart_changed", &talk);
    assert_eq!(told["data"]["counterpart_reachable"], false, "{told:#}");
    let answer = month.write(DAN, &pitched["thread_id"], "Next week.").await;
    assert_eq!(answer["counterpart_reachable"], false, "{answer:#}");
    month.write(DAN, &date, "And next Sunday again?").await;
    let thanks = month.pairing(CLEO, "get", &legal, json!({})).await["thread_id"].clone();
    month.write(CLEO, &thanks, "Thank you.").await;
    month.pass(6).await;

    assert!(month.arrived(EVE, "report.updated").iter().any(|told| told.names(&report)));
    check(&mut month, &stranger, &[copperleaf, firm]).await;
}
