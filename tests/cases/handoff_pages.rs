//! The page of a handoff: a person signs in there, looks at the draft, changes it, and sends it without an agent.

use crate::{
    cases::{
        account_pages::{form, forms, people_of_rows, shown},
        handoffs::{CAPABILITIES, contract},
        signal_verification::person as claimed_person,
    },
    harness::{
        Host, Options,
        feeds::{city, edition, indexed, publish},
        oauth::{ADA, BOB},
        person::{Page, Person},
        time::{HOUR, MINUTE},
    },
};
use portolan_feeds::document::Documents;
use reqwest::{
    Client,
    header::{ACCEPT, HeaderMap},
};
use scraper::{Html, Selector};
use serde_json::{Value, json};

const SEND: &str = "Send the message";
const CHECK: (&str, &str) = ("step", "check");
const GO: (&str, &str) = ("step", "send");
const MESSAGE: &str = "Shall we talk about robots?";

async fn host() -> Host {
    let names = [&CAPABILITIES[..], &["reports", "signal_verification"]].concat();
    let configuration = format!("feeds_dir = {:?}", city().join("feeds"));
    Host::start(Options::with(&names).configuration(&configuration)).await
}

/// Returns a person at a browser, who gets pages where an agent gets JSON.
fn at_browser(host: &Host) -> Person<'_> {
    let accept = [(ACCEPT, "text/html,*/*;q=0.8".parse().unwrap())];
    Person::with(host, Client::builder().default_headers(HeaderMap::from_iter(accept)))
}

/// Returns the path that begins the handoff for an intent at a record.
fn start(intent: &str) -> String {
    let (contract, record) = contract(intent);
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    format!("/map/handoffs/{}/{}", id(&contract), id(&record))
}

/// Returns the path of a page's address.
fn address(page: &Page) -> String {
    page.reply.url.path().to_owned()
}

/// Begins a handoff, signs in at its page, and returns the person with the page.
async fn signed_in<'a>(host: &'a Host, intent: &str, phone: &str) -> (Person<'a>, Page) {
    let mut person = at_browser(host);
    let page = person.open(&start(intent)).await;
    let page = person.sign_in(&format!("{}/sign-in", address(&page)), phone).await;
    assert_eq!(page.reply.status, 200, "{}", page.reply.text);
    (person, page)
}

/// Returns the values of an attribute of the elements of a page.
fn attributes(page: &Page, selector: &str, name: &str) -> Vec<String> {
    let html = Html::parse_document(&page.reply.text);
    let selector = Selector::parse(selector).unwrap();
    html.select(&selector).filter_map(|element| Some(element.attr(name)?.to_owned())).collect()
}

fn text(page: &Page) -> String {
    shown(page, "main").concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_finishes_a_handoff_without_an_agent() {
    let host = host().await;
    let ((_, role), mut ada) = (contract("apply_to_role"), at_browser(&host));
    let page = ada.open(&start("apply_to_role")).await;
    let path = address(&page);
    // The page shows the action, the company, the role, and who will see the application, before anybody signs
    // in.
    assert_eq!(page.heading, "Apply to an open role");
    let told = text(&page);
    for part in ["Role", role["title"].as_str().unwrap(), "Company", "who act for the company"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.contains("It costs 1 credit.") && told.contains("never carries"), "{told}");
    let roads = shown(&page, "dl a[href^='/map/roles/']").len()
        + shown(&page, "dl a[href^='/map/companies/']").len();
    assert_eq!(roads, 2, "{}", page.reply.text);
    assert!(shown(&page, "form").is_empty(), "{}", page.reply.text);

    // The sign-in leads back to this handoff.
    let page = ada.open(&format!("{path}/sign-in")).await;
    assert!(page.reply.text.contains("Apply to an open role"), "{}", page.reply.text);
    let page = ada.sign_in(&format!("{path}/sign-in"), ADA).await;
    assert_eq!((&*page.heading, &*address(&page)), ("Apply to an open role", &*path));
    let application = form(&page, "Send the application")
        .with("field.profile.headline", "Robotics engineer")
        .with("field.profile.years_experience", "6")
        .with("field.message", "I have built arms that sort laundry.");

    // A trial stores nothing, and shows what would be made, in the words of the capability.
    let tried = application.clone().with(CHECK.0, CHECK.1).submit(&mut ada, &path).await;
    assert_eq!(tried.reply.status, 200, "{}", tried.reply.text);
    let status = shown(&tried, "[role=status]").concat();
    assert!(status.contains("Nothing is sent yet") && status.contains("waiting"), "{status}");
    assert!(people_of_rows(&host, "apply").await.is_empty());
    let again = form(&tried, "Send the application");
    assert_eq!(again.value("field.profile.headline"), "Robotics engineer");

    // The person's last changes are sent.
    let sent = again.with("field.message", "I would like to build yours.").with(GO.0, GO.1);
    let done = sent.submit(&mut ada, &path).await;
    assert_eq!((&*done.heading, done.reply.status.as_u16()), ("Done", 200), "{}", done.reply.text);
    let told = text(&done);
    assert!(told.contains("Send the application") && told.contains("waiting"), "{told}");
    assert!(told.contains(role["title"].as_str().unwrap()), "{told}");
    assert_eq!(shown(&done, "a[href='/account/applications']").len(), 1);
    let account = ada.open("/account/applications").await;
    assert!(text(&account).contains(role["title"].as_str().unwrap()), "{}", text(&account));
    assert_eq!(people_of_rows(&host, "apply").await.len(), 1);
    // Nobody else can make the address that says so.
    let result = done.reply.url.clone();
    let result = format!("{}?{}", result.path(), result.query().unwrap());
    assert_eq!(ada.open(&result).await.heading, "Done");
    assert_eq!(at_browser(&host).open(&result).await.reply.status, 404);
    assert_eq!(ada.open(&result.replace("made=app_", "made=app_X")).await.reply.status, 404);

    // It is finished for agents and for everybody else, and nothing is sent again.
    let again = sent.submit(&mut ada, &path).await;
    assert_eq!((&*again.heading, again.reply.status.as_u16()), ("This is finished", 409));
    let token = path.rsplit('/').next().unwrap();
    let agent = host.claimed_agent().await;
    let redeem = json!({ "action": "redeem", "token": token });
    let refused = agent.call("handoff_resolve", redeem).await;
    refused.assert_refused(409, "handoff_used");
    assert_eq!(refused.body["conflict"]["redeemed_by"], "somebody_else");
    assert_eq!(people_of_rows(&host, "apply").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_twice_is_made_once() {
    let host = host().await;
    let (mut ada, page) = signed_in(&host, "contact_company", ADA).await;
    let path = address(&page);
    let mut same = at_browser(&host);
    same.cookies = ada.cookies.clone();
    let message = form(&page, SEND).with("field.message", MESSAGE).with(GO.0, GO.1);
    let (first, second) =
        tokio::join!(message.submit(&mut ada, &path), message.submit(&mut same, &path));
    for page in [&first, &second] {
        assert!(["Done", "This is finished"].contains(&&*page.heading), "{}", page.reply.text);
    }
    assert!([&first, &second].iter().any(|page| page.heading == "Done"));
    assert_eq!(people_of_rows(&host, "enquire").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_told_and_can_be_corrected() {
    let host = host().await;
    let (mut ada, page) = signed_in(&host, "contact_company", ADA).await;
    let path = address(&page);
    let message = form(&page, SEND).with(GO.0, GO.1);
    let empty = message.submit(&mut ada, &path).await;
    assert_eq!(empty.reply.status, 400, "{}", empty.reply.text);
    assert!(empty.error_text().contains("Message is missing"), "{}", empty.error_text());
    let written = "Call me at +1 415 555 0199 or write to ada@example.com.";
    let contact = message.clone().with("field.message", written).submit(&mut ada, &path).await;
    assert_eq!(contact.reply.status, 422, "{}", contact.reply.text);
    assert!(contact.error_text().contains("This did not work"), "{}", contact.error_text());
    // The typed text is still there, and the address still works.
    assert_eq!(form(&contact, SEND).value("field.message").trim(), written);
    assert!(people_of_rows(&host, "enquire").await.is_empty());
    let done = message.with("field.message", MESSAGE).submit(&mut ada, &path).await;
    assert_eq!(done.heading, "Done", "{}", done.reply.text);
    assert_eq!(people_of_rows(&host, "enquire").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_typed_is_lost_when_an_address_expires() {
    let host = host().await;
    let (mut ada, page) = signed_in(&host, "contact_company", ADA).await;
    let path = address(&page);
    host.advance(16 * MINUTE).await;
    let expired = ada.open(&path).await;
    assert_eq!(
        (&*expired.heading, expired.reply.status.as_u16()),
        ("This address has expired", 410)
    );
    assert_eq!(shown(&expired, "a[href^='/map/handoffs/']").len(), 1);
    let message = form(&page, SEND).with("field.message", MESSAGE).with(GO.0, GO.1);
    let renewed = message.submit(&mut ada, &path).await;
    assert!(renewed.error_text().contains("nothing was sent"), "{}", renewed.reply.text);
    assert!(people_of_rows(&host, "enquire").await.is_empty());
    let form = form(&renewed, SEND);
    assert_eq!(form.value("field.message").trim(), MESSAGE);
    let action = attributes(&renewed, "form[action^='/handoff/']", "action").remove(0);
    assert_ne!(action, path);
    let done = form.with(GO.0, GO.1).submit(&mut ada, &action).await;
    assert_eq!(done.heading, "Done", "{}", done.reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_address_does_not_send_twice() {
    let host = host().await;
    let (mut ada, page) = signed_in(&host, "contact_company", ADA).await;
    let path = address(&page);
    let message = form(&page, SEND).with("field.message", MESSAGE).with(GO.0, GO.1);
    assert_eq!(message.submit(&mut ada, &path).await.heading, "Done");
    // She has not seen the answer, and begins again.
    for written in [MESSAGE, "Shall we talk about other robots?"] {
        let page = ada.open(&start("contact_company")).await;
        let renewed = address(&page);
        assert_ne!(renewed, path);
        let again = form(&page, SEND).with("field.message", written).with(GO.0, GO.1);
        let sent = again.submit(&mut ada, &renewed).await;
        match written == MESSAGE {
            true => assert_eq!(sent.heading, "Done", "{}", sent.reply.text),
            false => {
                assert!(sent.error_text().contains("sent this already"), "{}", sent.reply.text)
            }
        }
        assert_eq!(people_of_rows(&host, "enquire").await.len(), 1);
    }
    // Another handoff from another record is sent.
    let page = ada.open(&start("meet_founder")).await;
    let path = address(&page);
    let other = form(&page, SEND).with("field.message", MESSAGE).with(GO.0, GO.1);
    assert_eq!(other.submit(&mut ada, &path).await.heading, "Done");
    assert_eq!(people_of_rows(&host, "enquire").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_changed_since_it_was_shown_is_not_sent() {
    let host = Host::start(Options::with(&CAPABILITIES)).await;
    let folder = host.folder.path().join("data/feeds");
    std::fs::create_dir_all(&folder).unwrap();
    publish(&folder, &edition("one"), 21);
    let before =
        host.wait_for_feeds("feeds in force", |status| !status["in_force"].is_null()).await;
    let (mut ada, page) = signed_in(&host, "contact_company", ADA).await;
    let path = address(&page);
    let message = form(&page, SEND).with("field.message", MESSAGE);

    publish(&folder, &with_purpose("contact_company", "service"), 22);
    host.wait_for_feeds("the next feeds", |status| status["in_force"] != before["in_force"]).await;
    for step in [CHECK, GO] {
        let changed = message.clone().with(step.0, step.1).submit(&mut ada, &path).await;
        assert_eq!(changed.reply.status, 200, "{}", changed.reply.text);
        assert!(changed.error_text().contains("has changed"), "{}", changed.reply.text);
        assert_eq!(form(&changed, SEND).value("field.message").trim(), MESSAGE);
        assert!(people_of_rows(&host, "enquire").await.is_empty());
    }
    // The shown draft is sent.
    let changed = message.with(GO.0, GO.1).submit(&mut ada, &path).await;
    assert!(shown(&changed, "dd").contains(&"service".to_owned()), "{}", text(&changed));
    let done = form(&changed, SEND).with(GO.0, GO.1).submit(&mut ada, &path).await;
    assert_eq!(done.heading, "Done", "{}", done.reply.text);
    assert_eq!(people_of_rows(&host, "enquire").await.len(), 1);
}

/// Returns documents in which the contract of an intent drafts another purpose.
fn with_purpose(intent: &str, purpose: &str) -> Documents {
    const MANIFEST: &str = "hi-handoff-manifest.json";
    let mut files = edition("two");
    let mut manifest: Value = serde_json::from_slice(&files[MANIFEST]).unwrap();
    let contracts = manifest["items"].as_array_mut().unwrap();
    let contract = contracts.iter_mut().find(|contract| contract["intent"] == intent).unwrap();
    contract["input_template"]["purpose"] = purpose.into();
    files.insert(MANIFEST.to_owned(), manifest.to_string().into_bytes());
    indexed(files)
}

#[tokio::test(flavor = "multi_thread")]
async fn another_person_or_the_other_mode_cannot_use_an_address() {
    let host = host().await;
    let (mut ada, page) = signed_in(&host, "contact_company", ADA).await;
    let path = address(&page);
    let (mut bob, theirs) = signed_in(&host, "contact_company", BOB).await;
    // A form is good in its own browser only, and a person who signs in elsewhere sends as themselves.
    let foreign = form(&page, SEND).with("field.message", MESSAGE).with(GO.0, GO.1);
    let refused = foreign.submit(&mut bob, &path).await;
    assert_eq!(refused.reply.status, 400, "{}", refused.reply.text);
    let sent = form(&theirs, SEND).with("field.message", MESSAGE).with(GO.0, GO.1);
    assert_eq!(sent.submit(&mut bob, &path).await.heading, "Done");
    let used = ada.open(&path).await;
    assert_eq!((&*used.heading, used.reply.status.as_u16()), ("This address was used", 409));
    assert_eq!(shown(&used, "a[href^='/map/handoffs/']").len(), 1);
    assert_eq!(people_of_rows(&host, "enquire").await.len(), 1);

    // An agent of test mode is first: live people see what it is, without a form.
    let (agent, _) = claimed_person(&host, "+14155550100").await;
    let (contract, record) = contract("contact_company");
    let resolve =
        json!({ "action": "resolve", "handoff_id": contract["id"], "record_id": record["id"] });
    let token = agent.agent.result("handoff_resolve", resolve.clone()).await["token"].clone();
    let page = ada.open(&format!("/handoff/{}", token.as_str().unwrap())).await;
    assert!(text(&page).contains("made in test mode"), "{}", page.reply.text);
    assert!(forms(&page, SEND).is_empty());
    // Redeemed by an agent, it is finished for people too.
    let live = host.claimed_agent().await;
    let token = live.result("handoff_resolve", resolve).await["token"].clone();
    let path = format!("/handoff/{}", token.as_str().unwrap());
    let page = ada.open(&path).await;
    let late = form(&page, SEND).with("field.message", MESSAGE).with(GO.0, GO.1);
    live.result("handoff_resolve", json!({ "action": "redeem", "token": token })).await;
    let late = late.submit(&mut ada, &path).await;
    assert_eq!((&*late.heading, late.reply.status.as_u16()), ("This address was used", 409));
    assert_eq!(people_of_rows(&host, "enquire").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_leads_to_no_other_address() {
    let host = host().await;
    let mut ada = at_browser(&host);
    let page = ada.open(&start("contact_company")).await;
    let path = address(&page);
    for (address, status) in [
        ("/handoff/%2F%2Fevil.example/sign-in".to_owned(), 404),
        ("/handoff/..%2Faccount/sign-in".to_owned(), 404),
        ("/handoff/%5C%5Cevil.example/sign-in".to_owned(), 404),
        ("/handoff/evil.example/sign-in".to_owned(), 400),
        (format!("{path}x/sign-in"), 400),
        (format!("{path}/result?capability=applications&action=enquire&made=x&proof=00"), 404),
    ] {
        let page = ada.open(&address).await;
        assert_eq!(page.reply.status.as_u16(), status, "{address}: {}", page.reply.text);
        assert!(page.steps.is_empty(), "{address}");
    }
    // The parameters that the browser adds do not change where the sign-in leads.
    let page = ada.sign_in(&format!("{path}/sign-in?next=https://evil.example/"), ADA).await;
    assert_eq!((address(&page), page.reply.url.query()), (path.clone(), None));
    // Signed in, the address of the sign-in leads to the page.
    assert_eq!(address(&ada.open(&format!("{path}/sign-in")).await), path);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_handoff_is_finished_on_its_page() {
    let host = host().await;
    let mut ada = at_browser(&host);
    let page = ada.open(&start("claim_target")).await;
    ada.sign_in(&format!("{}/sign-in", address(&page)), ADA).await;
    let url = "https://paper.example/hiring";
    for (intent, button, fields, shows) in [
        ("apply_to_role", "Send the application", &[("profile.headline", "Engineer")][..], "Role"),
        ("contact_company", SEND, &[("message", MESSAGE)], "Company"),
        ("meet_founder", SEND, &[("message", MESSAGE)], "Person"),
        ("offer_service", SEND, &[("message", MESSAGE)], "Company"),
        ("pitch_investor", SEND, &[("message", MESSAGE)], "Investor"),
        ("claim_target", "Get the text", &[("method", "well_known_file")], "Company"),
        ("correct_data", "Send the report", &[("text", "The name is another.")], "Company"),
        ("verify_signal", "Submit the evidence", &[("url", url), ("kind", "supports")], "Signal"),
    ] {
        let page = ada.open(&start(intent)).await;
        let path = address(&page);
        assert!(shown(&page, "dt").iter().any(|label| label == shows), "{intent}: {}", text(&page));
        let filled =
            fields.iter().fold(form(&page, button).with(GO.0, GO.1), |form, (name, value)| {
                form.with(&format!("field.{name}"), value)
            });
        let done = filled.submit(&mut ada, &path).await;
        assert_eq!(done.heading, "Done", "{intent}: {}", done.reply.text);
        // The thing itself is shown, and the page where it is has it too.
        assert!(text(&done).contains("What was made"), "{intent}: {}", text(&done));
        let link = attributes(&done, "main a[href^='/account/']", "href").remove(0);
        let account = ada.open(&link).await;
        assert_eq!(account.reply.status, 200, "{intent}: {}", account.reply.text);
        // A drafted action is no form of the capability's own page.
        assert!(forms(&account, button).is_empty(), "{intent}");
    }
    // Where nothing is written, the page shows what is found, and the address is not used up.
    let page = ada.open(&start("find_similar_people")).await;
    let path = address(&page);
    for words in ["Engineer", "Founder"] {
        let search = form(&page, "Search").with("field.q", words).with(GO.0, GO.1);
        let found = search.submit(&mut ada, &path).await;
        assert_eq!(found.reply.status, 200, "{}", found.reply.text);
        assert!(text(&found).contains("Nothing was found"), "{}", text(&found));
        assert_eq!(form(&found, "Search").value("field.q"), words);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn times_name_the_zone_of_the_person() {
    let host = host().await;
    let (mut ada, page) = signed_in(&host, "contact_company", ADA).await;
    let expires = shown(&page, "time[data-precision=minute]");
    assert!(expires[0].ends_with(" UTC"), "{expires:?}");
    let (_, role) = contract("apply_to_role");
    let record = ada.open(&format!("/map/roles/{}", role["id"].as_str().unwrap())).await;
    for page in [&page, &record] {
        // The only script that runs writes the times, and the policy allows no other one.
        let scripts = attributes(page, "script:not([type])", "src");
        assert!(scripts.len() == 1 && scripts[0].starts_with("/assets/times-"), "{scripts:?}");
        assert_eq!(host.get(&scripts[0]).await.status, 200);
        let policy = page.reply.header("content-security-policy");
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        // A time is an instant in UTC, or a day.
        let times = attributes(page, "time", "datetime");
        assert!(times.iter().all(|time| time.len() == 10 || time.ends_with('Z')), "{times:?}");
        assert!(!times.is_empty(), "{}", page.reply.text);
    }

    let owners = ada.open("/account/owners").await;
    let quiet = form(&owners, "Change notifications and quiet hours")
        .with("field.quiet_hours.from", "22:00")
        .with("field.quiet_hours.to", "07:00")
        .with("field.quiet_hours.time_zone", "Asia/Tokyo");
    let done = quiet.submit(&mut ada, "/account/owners").await;
    assert_eq!(done.reply.status, 200, "{}", done.reply.text);
    for path in ["/account", &start("contact_company")] {
        let page = ada.open(path).await;
        let times = shown(&page, "time[data-precision]");
        assert!(!times.is_empty(), "{}", page.reply.text);
        assert!(times.iter().all(|time| time.ends_with(" JST")), "{path}: {times:?}");
    }
    // A person who is not known reads UTC.
    host.advance(HOUR).await;
    let page = at_browser(&host).open(&start("contact_company")).await;
    assert!(shown(&page, "time[data-precision]")[0].ends_with(" UTC"));
}
