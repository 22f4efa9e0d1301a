//! The delivery of emails: what the SMTP server refuses, a server that is slow or away, TLS, limits, and several nodes.

use crate::{
    cases::emails::{confirm, options, signed_in, submit},
    harness::{
        Agent, Host, PATIENCE,
        oauth::{ADA, BOB},
        person::{code, messages},
        postgres,
        smtp::{PASSWORD, Reply, SmtpServer, USER},
        time::{DAY, HOUR, MINUTE, SECOND},
    },
};
use serde_json::json;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

const ADDRESS: &str = "ada@mail.example";

async fn claim<'a>(host: &'a Host, phone: &str) -> (Agent<'a>, String) {
    let binding = "svc.phone-binding";
    let agent = host.agent().await;
    let count = messages(host, 0).await.len();
    agent.result(binding, json!({ "action": "bind", "phone": phone })).await;
    let verify = json!({ "action": "verify", "code": code(host, count + 1).await });
    let owner_id = agent.result(binding, verify).await["owner_id"].as_str().unwrap().to_owned();
    (agent, owner_id)
}

async fn tell(agent: &Agent<'_>, owner_id: &str) {
    let body = json!({
        "action": "proclaim", "owner": owner_id, "subject": "towns/1", "texts": ["news"],
    });
    agent.result("herald", body).await;
}

async fn metric(host: &Host, name: &str) -> u64 {
    let text = host.operate("/metrics").await.text;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0, |value| value.parse::<f64>().unwrap() as u64)
}

async fn outcome(host: &Host, kind: &str, outcome: &str) -> u64 {
    metric(host, &format!("portolan_emails_total{{kind=\"{kind}\",outcome=\"{outcome}\"}}")).await
}

async fn wait_until(what: &str, mut is_met: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_met().await {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(SECOND / 50).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_the_server_does_not_know_is_ended_and_the_page_says_so() {
    let reply = Arc::new(Mutex::new(Reply::Usual));
    let scripted = Arc::clone(&reply);
    let server = SmtpServer::scripted(move |command| match command.starts_with("RCPT") {
        true => *scripted.lock().unwrap(),
        false => Reply::Usual,
    })
    .await;
    let host = Host::start_at_fixed_time(options(&server.settings())).await;
    let (agent, ada_id) = claim(&host, ADA).await;
    let mut ada = signed_in(&host, ADA).await;
    confirm(&mut ada, &server, ADDRESS, 1).await;
    host.advance(2 * MINUTE).await;
    let before = server.received().len();

    // A refusal by a rule of the server is not about the address, and one for now is tried again.
    *reply.lock().unwrap() = Reply::Line("550 5.7.1 relaying denied");
    tell(&agent, &ada_id).await;
    host.advance(2 * MINUTE).await;
    wait_until("failed", async || outcome(&host, "notices", "failed").await == 1).await;
    assert!(ada.open("/account").await.reply.text.contains("Emails go to"));
    *reply.lock().unwrap() = Reply::Line("450 4.2.1 later");
    tell(&agent, &ada_id).await;
    host.advance(2 * MINUTE).await;
    wait_until("later", async || outcome(&host, "notices", "later").await >= 1).await;
    *reply.lock().unwrap() = Reply::Usual;
    host.advance(HOUR).await;
    server.wait_for(before + 1).await;

    // A mailbox that does not exist ends the emails; the reply, which names the address, is not logged.
    *reply.lock().unwrap() = Reply::Line("550 5.1.1 <ada@mail.example> does not exist");
    tell(&agent, &ada_id).await;
    host.advance(2 * MINUTE).await;
    wait_until("no mailbox", async || outcome(&host, "notices", "no_mailbox").await == 1).await;
    let page = ada.open("/account").await.reply.text;
    assert!(page.contains("<strong>ada@mail.example</strong> could not be delivered"), "{page}");
    *reply.lock().unwrap() = Reply::Usual;
    tell(&agent, &ada_id).await;
    host.advance(HOUR).await;
    assert_eq!(server.received().len(), before + 1);
    assert!(!host.log().contains(ADDRESS), "{}", host.log());
    // The same address can be given again.
    confirm(&mut ada, &server, ADDRESS, before + 2).await;
    assert!(!ada.open("/account").await.reply.text.contains("could not be delivered"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_email_that_may_have_arrived_is_sent_again_with_the_same_id() {
    let ends = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ends);
    // The server takes the first email and hangs up before it says so, as if one of the two had crashed.
    let server = SmtpServer::scripted(move |command| match command {
        "." if counted.fetch_add(1, Ordering::SeqCst) == 0 => Reply::HangUp,
        _ => Reply::Usual,
    })
    .await;
    let host = Host::start_at_fixed_time(options(&server.settings())).await;
    let mut ada = signed_in(&host, ADA).await;
    submit(&mut ada, "give_email", ADDRESS).await;
    let first = server.wait_for(1).await;
    wait_until("later", async || outcome(&host, "confirmation", "later").await == 1).await;
    // The outcome is counted before the next attempt is stored, whose delay may begin after this advance.
    wait_until("sent again", async || {
        host.advance(MINUTE).await;
        // No time passes while an attempt is on its way: it would be taken for one that has failed.
        for _look in 0..20 {
            if server.received().len() == 2 {
                return true;
            }
            tokio::time::sleep(SECOND / 100).await;
        }
        false
    })
    .await;
    wait_until("sent", async || outcome(&host, "confirmation", "ok").await == 1).await;
    let second = server.wait_for(2).await;
    for header in ["Message-ID", "Date", "To"] {
        assert_eq!(first.header(header), second.header(header));
    }
    assert_eq!(first.link(), second.link());
    host.advance(HOUR).await;
    assert_eq!(server.received().len(), 2);
    assert_eq!(metric(&host, "portolan_emails_sent_today").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_delays_emails_and_nothing_else() {
    let server = SmtpServer::plain().await;
    let (settings, port) = (server.settings(), server.port);
    let host = Host::start_at_fixed_time(options(&settings)).await;
    drop(server);
    let mut ada = signed_in(&host, ADA).await;
    submit(&mut ada, "give_email", ADDRESS).await;
    wait_until("later", async || outcome(&host, "confirmation", "later").await >= 1).await;
    for _ in 0..8 {
        host.advance(30 * SECOND).await;
    }
    // It is left alone, and the operator sees it. Text messages go on.
    wait_until("paused", async || {
        host.advance(MINUTE / 2).await;
        metric(&host, "portolan_email_server_paused").await == 1
    })
    .await;
    let problems = host.operate("/problems").await.text;
    assert!(problems.contains("the SMTP server does not work"), "{problems}");
    assert_eq!(metric(&host, "portolan_emails_waiting").await, 1);
    let timers = host.operate("/timers").await.text;
    assert!(timers.contains("\":email\""), "{timers}");
    claim(&host, BOB).await;
    let server = SmtpServer::at(port).await;
    host.advance(HOUR).await;
    host.advance(HOUR).await;
    let link = server.wait_for(1).await.link();
    assert_eq!(ada.submit_to(&link, &[]).await.heading, "Your address is confirmed");
    assert_eq!(metric(&host, "portolan_email_server_paused").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_does_not_hold_up_due_work() {
    let server = SmtpServer::scripted(|_| Reply::Silence).await;
    let host = Host::start(options(&server.settings())).await;
    let mut ada = signed_in(&host, ADA).await;
    submit(&mut ada, "give_email", ADDRESS).await;
    let started = Instant::now();
    claim(&host, BOB).await;
    assert!(started.elapsed() < PATIENCE / 3, "{:?}", started.elapsed());
    wait_until("later", async || outcome(&host, "confirmation", "later").await == 1).await;
    assert!(host.log().contains("does not answer in time"), "{}", host.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn emails_are_sent_through_starttls_with_a_password_from_a_file() {
    let server = SmtpServer::with_tls().await;
    let folder = tempfile::TempDir::new().unwrap();
    let password = folder.path().join("password");
    std::fs::write(&password, format!("{PASSWORD}\n")).unwrap();
    let settings = |more: &str| {
        format!(
            "[email]\nhost = \"localhost\"\nport = {}\nfrom = \"notices@portolan.test\"\nuser = \"{USER}\"\npassword_file = {password:?}\n{more}",
            server.port
        )
    };
    // A certificate that nobody trusts ends the connection before the password is sent.
    let host = Host::start(options(&settings(""))).await;
    let mut ada = signed_in(&host, ADA).await;
    submit(&mut ada, "give_email", ADDRESS).await;
    wait_until("later", async || outcome(&host, "confirmation", "later").await >= 1).await;
    assert_eq!(server.received().len(), 0);
    drop(host);

    let trusted = format!("authorities = {:?}\n", server.certificate);
    let host = Host::start(options(&settings(&trusted))).await;
    let mut ada = signed_in(&host, ADA).await;
    submit(&mut ada, "give_email", ADDRESS).await;
    let sent = server.wait_for(1).await;
    assert!(sent.encrypted && sent.authenticated, "{sent:?}");
    assert!(!host.log().contains(PASSWORD));
    let shown = host.operate("/settings").await.text;
    assert!(shown.contains("email.host") && !shown.contains(PASSWORD), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_and_the_host_have_a_number_of_emails_in_a_day() {
    let server = SmtpServer::plain().await;
    let settings = format!("{}per_person = 2\nper_day = 4\n", server.settings());
    let host = Host::start_at_fixed_time(options(&settings)).await;
    let (agent, ada_id) = claim(&host, ADA).await;
    let mut ada = signed_in(&host, ADA).await;
    confirm(&mut ada, &server, ADDRESS, 1).await;
    for _ in 0..6 {
        tell(&agent, &ada_id).await;
        host.advance(2 * MINUTE).await;
    }
    // Events beyond the person's number of emails are told by the next one.
    assert_eq!(server.received().len(), 3);
    host.advance(DAY / 2 + HOUR).await;
    let told = server.wait_for(4).await.text();
    assert!(told.contains("(4 times)"), "{told}");

    // When those of the host are sent, the others wait for the next day, and the page says so.
    let day = DAY.as_secs();
    let now = host.clock.now().as_secs();
    if metric(&host, "portolan_emails_sent_today").await == 4 {
        let mut bob = signed_in(&host, BOB).await;
        let page = submit(&mut bob, "give_email", "bob@mail.example").await;
        assert_eq!(page.reply.status, 429, "{}", page.reply.text);
        assert!(host.operate("/problems").await.text.contains("emails of this day are sent"));
    }
    host.advance(std::time::Duration::from_secs(day - now % day + 1)).await;
    assert_eq!(metric(&host, "portolan_emails_sent_today").await, 0);
    let mut bob = signed_in(&host, BOB).await;
    submit(&mut bob, "give_email", "bob@mail.example").await;
    let count = server.received().len();
    wait_until("bob", async || {
        server.received().iter().any(|email| email.to == "bob@mail.example")
    })
    .await;
    assert!(server.received().len() >= count);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_nodes_send_an_email_once() {
    let url = postgres::database().await;
    let server = SmtpServer::plain().await;
    let first = Host::start(options(&server.settings()).postgres(&url)).await;
    let (agent, ada_id) = claim(&first, ADA).await;
    let mut ada = signed_in(&first, ADA).await;
    // Before this, the codes of text messages are in the file of the first node.
    let second = Host::start(options(&server.settings()).postgres(&url)).await;
    confirm(&mut ada, &server, ADDRESS, 1).await;
    tell(&agent, &ada_id).await;
    // The second node, whose clock is ahead, and the first one both see that the email is due.
    second.clock.advance(2 * MINUTE);
    first.clock.advance(2 * MINUTE);
    server.wait_for(2).await;
    tokio::time::sleep(3 * SECOND).await;
    let subjects: Vec<_> =
        server.received().iter().map(|email| email.header("Message-ID")).collect();
    assert_eq!(subjects.len(), 2, "{subjects:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_a_server_leaves_emails_to_others() {
    let url = postgres::database().await;
    let server = SmtpServer::plain().await;
    {
        let host = Host::start(options(&server.settings()).postgres(&url)).await;
        let (agent, ada_id) = claim(&host, ADA).await;
        let mut ada = signed_in(&host, ADA).await;
        confirm(&mut ada, &server, ADDRESS, 1).await;
        tell(&agent, &ada_id).await;
    }
    {
        let without = Host::start(options("").postgres(&url)).await;
        without.clock.advance(2 * MINUTE);
        wait_until("left", async || without.log().contains("or [email] is")).await;
    }
    let host = Host::start(options(&server.settings()).postgres(&url)).await;
    host.clock.advance(2 * HOUR);
    assert!(server.wait_for(2).await.text().contains("Herald"));
}

#[tokio::test]
async fn wrong_settings_are_named_at_the_start() {
    let folder = options("[email]\nhost = \"smtp.example.com\"\nfrom = \"nobody\"\nuser = \"app\"\nport_number = 25\n").folder();
    let flags = portolan_command::config::Flags::default();
    let load = || {
        let file = folder.path().join("portolan.toml");
        portolan_command::config::Config::load(&file, &flags)
    };
    let error = load().unwrap_err().to_string();
    assert!(error.contains("port_number"), "{error}");
    let text = std::fs::read_to_string(folder.path().join("portolan.toml")).unwrap();
    let text = text.replace("port_number = 25\n", "");
    std::fs::write(folder.path().join("portolan.toml"), text).unwrap();
    let error = load().unwrap_err().to_string();
    assert!(error.contains("email.from is \"nobody\""), "{error}");
    assert!(error.contains("email.user needs a password"), "{error}");
}
