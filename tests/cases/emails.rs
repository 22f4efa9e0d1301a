//! Emails to people: an address is given, confirmed and ended; what happens is told as the person has set it; and
//! nothing else is sent.

use crate::{
    cases::personal::{erase, export},
    harness::{
        Agent, Host, Options, Reply as HttpReply,
        conversations::{CONVERSATIONS, wait_until},
        meetings::{MEETINGS, proposal},
        oauth::{ADA, BOB},
        person::{Page, Person, code, messages},
        smtp::{Received, SmtpServer},
        time::{DAY, HOUR, MINUTE},
    },
};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const ACCOUNT: &str = "/account";
const BINDING: &str = "svc.phone-binding";
const ADDRESS: &str = "ada.lovelace@mail.example";
const HERALD: &str = "herald";

pub fn options(settings: &str) -> Options {
    let names =
        [HERALD, "owners", "social_permissions", "social_relationships", "svc_phone_binding"];
    Options::with(&names).configuration(settings)
}

/// Claims an agent of live mode; returns it with the owner's id.
async fn claim<'a>(host: &'a Host, phone: &str) -> (Agent<'a>, String) {
    let agent = host.agent().await;
    let count = messages(host, 0).await.len();
    agent.result(BINDING, json!({ "action": "bind", "phone": phone })).await;
    let verify = json!({ "action": "verify", "code": code(host, count + 1).await });
    let owner_id = agent.result(BINDING, verify).await["owner_id"].as_str().unwrap().to_owned();
    (agent, owner_id)
}

/// Signs a person in at their account page.
pub async fn signed_in<'a>(host: &'a Host, phone: &str) -> Person<'a> {
    let mut person = Person::new(host);
    let page = person.sign_in(ACCOUNT, phone).await;
    assert_eq!(page.heading, "Your account", "{}", page.reply.text);
    person
}

/// Sends one of the forms about the address.
pub async fn submit(person: &mut Person<'_>, step: &str, address: &str) -> Page {
    let page = person.open(ACCOUNT).await;
    let form = [("form_token", &*page.form_token), ("step", step), ("address", address)];
    person.submit_to(ACCOUNT, &form).await
}

/// Gives an address and confirms it by the link in the email with this number.
pub async fn confirm(person: &mut Person<'_>, server: &SmtpServer, address: &str, number: usize) {
    submit(person, "give_email", address).await;
    let link = server.wait_for(number).await.link();
    let page = person.submit_to(&link, &[]).await;
    assert_eq!(page.heading, "Your address is confirmed", "{}", page.reply.text);
}

/// Publishes an event with each text for a person.
async fn tell(agent: &Agent<'_>, owner_id: &str, texts: &[&str]) {
    let body = json!({
        "action": "proclaim", "owner": owner_id, "subject": "towns/1", "texts": texts,
    });
    agent.result(HERALD, body).await;
}

/// Returns what the page says about emails.
fn section(page: &Page) -> String {
    let text = &page.reply.text;
    let begin = text.find("<h2>Emails</h2>").unwrap_or_else(|| panic!("no emails: {text}"));
    text[begin..begin + text[begin..].find("</section>").unwrap()].to_owned()
}

fn has_one_of_each_header(email: &Received) {
    for name in ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted"] {
        assert!(!email.header(name).is_empty(), "{name}: {}", email.message);
    }
}

async fn operate(host: &Host, action: &str, input: Value) -> Value {
    let url = format!("{}/capabilities/{CONVERSATIONS}/{action}", host.admin_url);
    let reply = HttpReply::read(host.operator.post(url).json(&input).send().await.unwrap()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_hears_of_a_meeting_by_email_until_they_end_it() {
    let server = SmtpServer::plain().await;
    let names = [
        "calendar",
        CONVERSATIONS,
        "owners",
        "social_org",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
        MEETINGS,
    ];
    let settings = format!("{}[limits]\ncall_wall_time_ms = 30000\n", server.settings());
    let host = Host::start(Options::with(&names).configuration(&settings)).await;
    let (_, ada_id) = claim(&host, ADA).await;
    let mut ada = signed_in(&host, ADA).await;
    let (bob, bob_id) = claim(&host, BOB).await;

    // Giving an address sends one email, whose link does nothing when it is opened.
    let page = submit(&mut ada, "give_email", ADDRESS).await;
    assert!(section(&page).contains(ADDRESS), "{}", page.reply.text);
    let asked = server.wait_for(1).await;
    has_one_of_each_header(&asked);
    assert_eq!((&*asked.to, &*asked.header("To")), (ADDRESS, ADDRESS));
    assert_eq!(asked.header("List-Unsubscribe"), "");
    let link = asked.link();
    assert_eq!(link.len(), "/email/".len() + 22, "{link}");
    assert!(asked.part("text/html").contains(&link), "{}", asked.message);
    for method in [Method::GET, Method::HEAD] {
        assert_eq!(host.send(method, &link, &[], None).await.status, 200);
    }
    let page = ada.open(&link).await;
    assert_eq!(page.heading, "Is this your address?", "{}", page.reply.text);
    assert!(page.reply.text.contains("a•••@mail.example") && !page.reply.text.contains(ADDRESS));
    assert!(section(&ada.open(ACCOUNT).await).contains("Send it again"));
    // Only its form confirms the address, once, in any browser.
    let page = Person::new(&host).submit_to(&link, &[]).await;
    assert_eq!(page.heading, "Your address is confirmed", "{}", page.reply.text);
    assert_eq!(host.send(Method::POST, &link, &[], None).await.status, 404);
    let page = section(&ada.open(ACCOUNT).await);
    assert!(page.contains("Emails go to") && page.contains("End emails"), "{page}");

    // A meeting is proposed. No agent of the person is asked or asks for events.
    let people = json!([{ "owner_id": ada_id }, { "owner_id": bob_id }]);
    let open = json!({ "pairing_id": "pair_1", "participants": people });
    let thread = operate(&host, "open", open).await["thread_id"].as_str().unwrap().to_owned();
    let mut proposed = proposal(&thread, &[0]);
    proposed["action"] = json!("propose");
    proposed["title"] = json!("Secret of Bob");
    bob.result(MEETINGS, proposed).await;
    assert_eq!(server.received().len(), 1);
    host.advance(MINUTE + Duration::from_secs(1)).await;
    let told = server.wait_for(2).await;
    has_one_of_each_header(&told);
    let text = told.text();
    assert!(text.contains("A meeting is proposed."), "{text}");
    assert!(text.contains(&format!("{}/account", host.url)), "{text}");
    for hidden in ["Secret", &bob_id, &ada_id, BOB, ADA, &thread] {
        assert!(!told.message.contains(hidden), "{hidden}: {}", told.message);
    }
    let unsubscribe = told.link();
    assert_eq!(told.header("List-Unsubscribe"), format!("<{}{unsubscribe}>", host.url));
    assert_eq!(told.header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    assert_ne!(told.header("Message-ID"), asked.header("Message-ID"));

    // One request of a mail program ends that, without a page, and as often as it is sent.
    assert_eq!(Person::new(&host).open(&unsubscribe).await.heading, "End these emails?");
    for _ in 0..2 {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let body = Some("List-Unsubscribe=One-Click".to_owned());
        let ended = host.send(Method::POST, &unsubscribe, &headers, body).await;
        assert_eq!(ended.status, 200, "{}", ended.text);
        assert!(ended.text.contains("Emails are ended"), "{}", ended.text);
    }
    let page = section(&ada.open(ACCOUNT).await);
    assert!(page.contains("You have ended emails to"), "{page}");
    let message = json!({ "action": "send", "thread_id": thread, "text": "Hello" });
    bob.result(CONVERSATIONS, message.clone()).await;
    host.advance(HOUR).await;
    assert_eq!(server.received().len(), 2);

    // The page starts them again.
    submit(&mut ada, "start_emails", "").await;
    bob.result(CONVERSATIONS, message).await;
    host.advance(2 * MINUTE).await;
    let told = server.wait_for(3).await;
    assert!(!told.message.contains("Hello"), "{}", told.message);
    let rows = host.operate("/audit?limit=1000").await.text;
    for action in ["requested", "confirmed", "sent", "unsubscribed", "resumed"] {
        assert!(rows.contains(&format!("\"email:{action}\"")), "{action}: {rows}");
    }
    assert!(!host.log().contains(ADDRESS), "{}", host.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_exported_and_erased_also_where_it_waits() {
    let server = SmtpServer::plain().await;
    let host = Host::start(options(&server.settings())).await;
    let (agent, ada_id) = claim(&host, ADA).await;
    let mut ada = signed_in(&host, ADA).await;
    confirm(&mut ada, &server, ADDRESS, 1).await;
    tell(&agent, &ada_id, &["news"]).await;
    // Another address waits, as an email that cannot be sent now.
    drop(server);
    host.clock.advance(2 * MINUTE);
    submit(&mut ada, "give_email", "other@mail.example").await;
    let exported = export(&host, &ada_id).await;
    for address in [ADDRESS, "other@mail.example"] {
        assert!(exported.text.contains(address), "{address}: {}", exported.text);
        // In the database they are sealed.
        assert!(host.database().texts_found(&[address]).is_empty());
    }
    let waiting = "SELECT name FROM timers WHERE capability LIKE ':email%'";
    assert!(!host.database().texts(waiting).await.is_empty());
    let erased = erase(&host, &ada_id).await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    assert_eq!(host.database().texts(waiting).await, Vec::<String>::new());
    let notices = "SELECT event_type FROM email_notices";
    assert_eq!(host.database().texts(notices).await, Vec::<String>::new());
    assert!(host.database().texts_found(&[ADDRESS, "other@mail.example", &ada_id]).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_has_set_about_events_applies_to_emails() {
    let server = SmtpServer::plain().await;
    let host = Host::start_at_fixed_time(options(&server.settings())).await;
    let (agent, ada_id) = claim(&host, ADA).await;
    let mut ada = signed_in(&host, ADA).await;
    confirm(&mut ada, &server, ADDRESS, 1).await;
    host.advance(2 * MINUTE).await;
    let before = server.received().len();
    let time = |after: Duration| host.instant_after(after)[11..16].to_owned();
    let prefer = async |mut fields: Value| {
        fields["action"] = json!("set_preferences");
        agent.result("owners", fields).await;
    };

    // Events of a minute are one email.
    tell(&agent, &ada_id, &["one", "two", "three"]).await;
    host.advance(2 * MINUTE).await;
    let told = server.wait_for(before + 1).await;
    let text = told.text();
    assert!(text.contains("There is something new in Herald. (3 times)"), "{text}");
    assert!(!told.message.contains("herald.told"), "{}", told.message);
    // Disabled events are not told.
    prefer(json!({ "disabled_events": ["herald"] })).await;
    tell(&agent, &ada_id, &["four"]).await;
    host.advance(HOUR).await;
    assert_eq!(server.received().len(), before + 1);
    // In quiet hours nothing is told until they end, not even what had gathered before they began.
    prefer(json!({ "disabled_events": [] })).await;
    tell(&agent, &ada_id, &["five"]).await;
    let quiet = json!({ "from": time(Duration::ZERO), "to": time(3 * HOUR), "time_zone": "UTC" });
    prefer(json!({ "quiet_hours": quiet })).await;
    tell(&agent, &ada_id, &["six"]).await;
    host.advance(2 * HOUR).await;
    assert_eq!(server.received().len(), before + 1);
    host.advance(HOUR + MINUTE).await;
    host.advance(2 * MINUTE).await;
    let after_quiet = server.received().len();
    assert!(after_quiet > before + 1, "{after_quiet}");
    // A sign-in is told in quiet hours too, and with it the events that wait for their end.
    let quiet = json!({ "from": time(Duration::ZERO), "to": time(3 * HOUR), "time_zone": "UTC" });
    tell(&agent, &ada_id, &["before"]).await;
    prefer(json!({ "quiet_hours": quiet })).await;
    host.advance(2 * MINUTE).await;
    assert_eq!(server.received().len(), after_quiet);
    signed_in(&host, ADA).await;
    host.advance(2 * MINUTE).await;
    let told = server.wait_for(after_quiet + 1).await;
    assert!(told.text().contains("A browser was signed in as you."), "{}", told.text());
    prefer(json!({ "quiet_hours": null })).await;
    host.advance(4 * HOUR).await;
    // A digest is one email at its time of the day.
    let digest = json!({ "events": ["herald"], "at": time(5 * HOUR), "time_zone": "UTC" });
    prefer(json!({ "event_digest": digest })).await;
    let before = server.received().len();
    for text in ["seven", "eight"] {
        tell(&agent, &ada_id, &[text]).await;
        host.advance(HOUR).await;
    }
    assert_eq!(server.received().len(), before);
    host.advance(3 * HOUR).await;
    host.advance(2 * MINUTE).await;
    let told = server.wait_for(before + 1).await;
    assert!(told.text().contains("(2 times)"), "{}", told.text());
    assert_eq!(server.received().len(), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_server_or_for_test_mode_no_page_offers_emails() {
    let host = Host::start(options("")).await;
    let mut ada = signed_in(&host, ADA).await;
    let page = ada.open(ACCOUNT).await;
    assert!(!page.reply.text.contains("<h2>Emails</h2>"), "{}", page.reply.text);
    let refused = submit(&mut ada, "give_email", ADDRESS).await;
    assert!(refused.reply.text.contains("sends no emails"), "{}", refused.reply.text);
    assert!(!host.operate("/metrics").await.text.contains("portolan_emails_waiting"));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_bounded_and_hostile_addresses_refused() {
    let server = SmtpServer::plain().await;
    let host = Host::start_at_fixed_time(options(&server.settings())).await;
    let mut ada = signed_in(&host, ADA).await;
    for hostile in [
        "ada@mail.example\r\nBcc: eve@mail.example",
        "ada@mail.example, eve@mail.example",
        "Ada <ada@mail.example>",
        "ada@[127.0.0.1]",
        "ada@localhost",
        "ada",
        "",
    ] {
        let page = submit(&mut ada, "give_email", hostile).await;
        assert!(page.reply.status.is_client_error(), "{hostile}: {}", page.reply.text);
        assert!(page.reply.text.contains("name@example.com"), "{hostile}: {}", page.reply.text);
    }
    // A form of another page is refused.
    let foreign = [("form_token", "x"), ("step", "give_email"), ("address", ADDRESS)];
    assert_eq!(ada.submit_to(ACCOUNT, &foreign).await.reply.status, 400);
    assert_eq!(server.received().len(), 0);

    // A domain in another script is written in ASCII.
    submit(&mut ada, "give_email", "ada@bücher.example").await;
    assert_eq!(server.wait_for(1).await.to, "ada@xn--bcher-kva.example");
    let first = server.received()[0].link();
    let again = submit(&mut ada, "give_email", ADDRESS).await;
    assert_eq!(again.reply.status, 429, "{}", again.reply.text);
    // Another address replaces the one that waits, whose link then does nothing.
    host.advance(2 * MINUTE).await;
    submit(&mut ada, "give_email", ADDRESS).await;
    let second = server.wait_for(2).await.link();
    assert_eq!(host.send(Method::POST, &first, &[], None).await.status, 404);
    // A link lives for a day.
    host.advance(DAY + MINUTE).await;
    assert_eq!(host.send(Method::POST, &second, &[], None).await.status, 404);

    // A person gets five in a day, and an address three, from all requests together; the page does
    // not tell that.
    let mut ada = signed_in(&host, ADA).await;
    for number in 3..=5 {
        submit(&mut ada, "give_email", ADDRESS).await;
        server.wait_for(number).await;
        host.advance(2 * MINUTE).await;
    }
    let mut bob = signed_in(&host, BOB).await;
    let page = submit(&mut bob, "give_email", ADDRESS).await;
    assert!(section(&page).contains(ADDRESS), "{}", page.reply.text);
    host.advance(2 * MINUTE).await;
    // A variant of the address is the same mailbox.
    submit(&mut bob, "give_email", "Ada.Lovelace+more@mail.example").await;
    host.advance(2 * MINUTE).await;
    assert_eq!(server.received().len(), 5);
    for _ in 0..2 {
        submit(&mut ada, "give_email", "another@mail.example").await;
        host.advance(2 * MINUTE).await;
    }
    let page = submit(&mut ada, "give_email", "another@mail.example").await;
    assert_eq!(page.reply.status, 429, "{}", page.reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_can_confirm_one_address_and_a_removed_one_gets_nothing() {
    let server = SmtpServer::plain().await;
    let host = Host::start_at_fixed_time(options(&server.settings())).await;
    let (agent, ada_id) = claim(&host, ADA).await;
    let mut ada = signed_in(&host, ADA).await;
    let mut bob = signed_in(&host, BOB).await;
    confirm(&mut ada, &server, ADDRESS, 1).await;
    confirm(&mut bob, &server, ADDRESS, 2).await;
    host.advance(2 * MINUTE).await;
    let before = server.received().len();
    tell(&agent, &ada_id, &["news"]).await;
    host.advance(2 * MINUTE).await;
    let told = server.wait_for(before + 1).await;
    // Somebody without any agent is told as well.
    let people = "SELECT DISTINCT json_extract(body, '$.owner_id') FROM documents WHERE body LIKE '%phone_masked%' AND body LIKE '%started_at%'";
    let people = host.database().texts(people).await;
    let bob_id = people.iter().find(|id| **id != ada_id).unwrap();
    tell(&agent, bob_id, &["news for Bob"]).await;
    host.advance(2 * MINUTE).await;
    server.wait_for(before + 2).await;
    // Events that wait when the address is removed are not told any more, and the links of earlier emails do
    // nothing.
    tell(&agent, &ada_id, &["more news"]).await;
    submit(&mut ada, "remove_email", "").await;
    let last = server.wait_for(before + 3).await;
    assert_eq!(last.to, ADDRESS);
    assert!(last.text().contains("was removed."), "{}", last.text());
    assert_eq!(last.header("List-Unsubscribe"), "");
    host.advance(2 * MINUTE).await;
    assert_eq!(server.received().len(), before + 3);
    assert_eq!(host.send(Method::POST, &told.link(), &[], None).await.status, 404);
    let page = section(&ada.open(ACCOUNT).await);
    assert!(page.contains("You can be told by email") && !page.contains(ADDRESS), "{page}");
    assert!(section(&bob.open(ACCOUNT).await).contains(ADDRESS));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_told_to_the_former_address_and_what_nobody_confirms_is_removed() {
    let server = SmtpServer::plain().await;
    let host = Host::start_at_fixed_time(options(&server.settings())).await;
    let (_, ada_id) = claim(&host, ADA).await;
    let mut ada = signed_in(&host, ADA).await;
    confirm(&mut ada, &server, ADDRESS, 1).await;
    host.advance(2 * MINUTE).await;
    let before = server.received().len();
    confirm(&mut ada, &server, "other@mail.example", before + 1).await;
    let last = server.wait_for(before + 2).await;
    assert_eq!(last.to, ADDRESS);
    assert!(last.header("Subject").contains("was changed"), "{}", last.message);
    assert!(!last.message.contains("other@mail.example"), "{}", last.message);
    // A third address waits until its link expires; the confirmed one stays.
    host.advance(2 * MINUTE).await;
    submit(&mut ada, "give_email", "third@mail.example").await;
    assert!(export(&host, &ada_id).await.text.contains("third@mail.example"));
    host.advance(DAY + 2 * HOUR).await;
    wait_until("the address stays", async || {
        !export(&host, &ada_id).await.text.contains("third@mail.example")
    })
    .await;
    assert!(export(&host, &ada_id).await.text.contains("other@mail.example"));
}
