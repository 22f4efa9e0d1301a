//! The agent gets the event of a decision while it waits at its inbox, and the person an email about a waiting call.

use crate::{
    cases::emails::confirm,
    harness::{
        Host, Options, PATIENCE,
        approvals::Limited,
        inbox::ids,
        oauth::text,
        smtp::{Received, SmtpServer},
        time::{HOUR, MINUTE, SECOND},
    },
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const LEDGER: &str = "ledger";
const HERALD: &str = "herald";
const ADDRESS: &str = "ada.lovelace@mail.example";
/// What the email about a waiting call says.
const WAITS: &str = "waits for your approval";
/// How soon an agent hears of a decision, on a machine that does other things too.
const SOON: Duration = Duration::from_secs(10);

fn options() -> Options {
    Options::with(&[
        "approvals",
        HERALD,
        LEDGER,
        "owners",
        "social_permissions",
        "social_relationships",
        "svc_events",
        "svc_phone_binding",
        "svc_whoami",
    ])
}

fn open(account: &str) -> Value {
    json!({ "action": "open", "account": account })
}

/// Lets a call wait, reads and acknowledges what the agent was told so far, and returns the approval's id and the
/// cursor after it.
async fn ask(ada: &Limited<'_>, account: &str) -> (String, String) {
    let id = ada.waits(LEDGER, open(account)).await;
    ada.agent().host.wait_until_settled().await;
    let page = ada.reader.page("wait=0&limit=100").await;
    ada.reader.acknowledge(&ids(&page)).await;
    (id, page["cursor"].to_string().trim_matches('"').to_owned())
}

/// Decides as soon as the agent waits at its inbox, and returns the time of the decision.
async fn decide(ada: &mut Limited<'_>, is_approved: bool) -> Instant {
    let host = ada.agent().host;
    let started = Instant::now();
    while host.waiting_readers().await == 0 {
        assert!(started.elapsed() < PATIENCE, "nobody waits");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    match is_approved {
        true => drop(ada.approve().await),
        false => ada.deny().await,
    }
    Instant::now()
}

/// The decisions, each with the state that the agent hears of.
const DECISIONS: [(bool, &str); 2] = [(true, "done"), (false, "denied")];

/// The clock of the host stands still, so nothing that waits for a time ends: only the decision itself ends the poll.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_polls_hears_of_a_decision_although_no_time_passes() {
    let host = Host::start_at_fixed_time(options()).await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&[]).await;
    for (is_approved, state) in DECISIONS {
        let (id, cursor) = ask(&ada, state).await;
        let reader = ada.reader.at(&host);
        let poll = async {
            let page =
                reader.page(&format!("wait=55&types=approval.decided&cursor={cursor}")).await;
            (page, Instant::now())
        };
        let poll = tokio::time::timeout(PATIENCE, poll);
        let (heard, decided) = tokio::join!(poll, decide(&mut ada, is_approved));
        let (page, heard) = heard.unwrap();
        let told: Vec<_> = page["events"].as_array().unwrap().iter().collect();
        assert_eq!(told.len(), 1, "{page:#}");
        let resource = &told[0]["data"]["resource"];
        assert_eq!(told[0]["type"], "approval.decided", "{page:#}");
        assert_eq!((&resource["id"], &resource["state"]), (&json!(id), &json!(state)));
        assert!(heard.saturating_duration_since(decided) < SOON, "heard late");
        reader.acknowledge(&ids(&page)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_with_an_open_stream_hears_of_a_decision_although_no_time_passes() {
    for (is_approved, state) in DECISIONS {
        let host = Host::start_at_fixed_time(options()).await;
        let mut ada = Limited::new(&host).await;
        ada.allow_alone(&[]).await;
        let (id, cursor) = ask(&ada, state).await;
        let token = ada.agent().token.clone();
        let read = async {
            let url = format!("{}/v1/agent-events/stream?cursor={cursor}", host.url);
            let request = host.client.get(url).bearer_auth(&token);
            let request = request.header("accept", "text/event-stream");
            let mut response = request.send().await.unwrap();
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            let mut read = String::new();
            // A whole event ends with an empty line.
            while !(read.contains("approval.decided") && read.ends_with("\n\n")) {
                let part = response.chunk().await.unwrap().unwrap();
                read.push_str(&String::from_utf8_lossy(&part));
            }
            (read, Instant::now())
        };
        let read = tokio::time::timeout(PATIENCE, read);
        let (heard, decided) = tokio::join!(read, decide(&mut ada, is_approved));
        let (read, heard) = heard.unwrap();
        assert!(read.contains(&id) && read.contains(&format!("\"{state}\"")), "{read}");
        assert!(heard.saturating_duration_since(decided) < SOON, "heard late");
    }
}

/// Waits until this number of emails about waiting calls has come, and returns the last one.
async fn told(server: &SmtpServer, count: usize) -> Received {
    let started = Instant::now();
    loop {
        let mut about: Vec<_> = server.received();
        about.retain(|email| email.text().contains(WAITS));
        assert!(about.len() <= count, "{about:#?}");
        if about.len() == count {
            return about.pop().unwrap();
        }
        assert!(started.elapsed() < PATIENCE, "{} of {count} emails", about.len());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Approvals are among the events that no quiet hours, digest or list holds (decision 080), so the person is told at
/// once in these hours too. Only a person who has ended emails is not told by email.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_told_of_a_waiting_call_by_email_at_once_unless_they_have_ended_emails() {
    let server = SmtpServer::plain().await;
    let host = Host::start_at_fixed_time(options().configuration(&server.settings())).await;
    let mut ada = Limited::new(&host).await;
    let whoami = ada.agent().result("svc.whoami", json!({})).await;
    let ada_id = text(&whoami, "owner_id").to_owned();
    confirm(&mut ada.browser, &server, ADDRESS, 1).await;
    host.advance(2 * MINUTE).await;

    ada.allow_alone(&[]).await;
    let id = ada.waits(LEDGER, open("savings")).await;
    host.advance(MINUTE + SECOND).await;
    let email = told(&server, 1).await;
    assert_eq!(email.to, ADDRESS);
    assert!(email.text().contains(&format!("{}/account", host.url)), "{}", email.text());
    for hidden in ["savings", &id, &ada_id] {
        assert!(!email.message.contains(hidden), "{hidden}: {}", email.message);
    }
    ada.deny().await;

    // In quiet hours, which hold what is told about something else, and with the events disabled.
    ada.end_limits().await;
    let time = |after: Duration| host.instant_after(after)[11..16].to_owned();
    let quiet = json!({ "from": time(Duration::ZERO), "to": time(3 * HOUR), "time_zone": "UTC" });
    let prefer = json!({
        "action": "set_preferences", "quiet_hours": quiet, "disabled_events": ["approval"],
    });
    ada.agent().result("owners", prefer).await;
    ada.allow_alone(&[]).await;
    host.advance(2 * MINUTE).await;
    let before = server.received().len();
    let tell = json!({
        "action": "proclaim", "owner": ada_id, "subject": "towns/1", "texts": ["news"],
    });
    host.agent().await.result(HERALD, tell).await;
    host.advance(2 * MINUTE).await;
    assert_eq!(server.received().len(), before, "the quiet hours hold other events");
    let id = ada.waits(LEDGER, open("travel")).await;
    let event = ("approval.requested".to_owned(), id, "waiting".to_owned());
    assert_eq!(ada.events().await.last(), Some(&event), "the agents are told at once");
    host.advance(MINUTE + SECOND).await;
    let email = told(&server, 2).await;
    ada.deny().await;

    // After the person has ended emails, the page alone shows the call.
    let page = ada.browser.submit_to(&email.link(), &[]).await;
    assert!(page.reply.text.contains("Emails are ended"), "{}", page.reply.text);
    ada.waits(LEDGER, open("rent")).await;
    host.advance(4 * MINUTE).await;
    told(&server, 2).await;
    assert!(ada.page().await.reply.text.contains("rent"));
}
