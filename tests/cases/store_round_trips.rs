//! Commits on PostgreSQL: how often they wait for the server, which a proxy counts, and what becomes of them when a
//! statement or a session fails.

use crate::cases::store::{Opened, body, collection, keys, postgres, put, quotas, unit};
use portolan_store::{
    Attachments, Audience, AuditRecord, DatabaseUrl, Expectation, Health, IdempotencyKey, NewEvent,
    OutboxCommand, Store, StoredAnswer, Task, TimerChange, TimerKey, Unit, Verdict, Webhook,
    WebhookState,
};
use portolan_vocabulary::{Cap, Clock, DeliveryRules, Digest, OwnerRules, QuietHours, Timestamp};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

const AGENT: &str = "agt_01J00000000000000000000004";
const OWNER: &str = "own_01J00000000000000000000004";
const HOUR: u64 = 60 * 60 * 1000;
/// What a connection that commits sends first.
const BEGIN: &[u8] = b"BEGIN ISOLATION LEVEL READ COMMITTED";
/// How often a commit waits for the server: once for its locks and what it reads, once for its end.
const WAITS: u64 = 2;

/// A midnight in UTC.
fn midnight() -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 / (24 * HOUR) * (24 * HOUR))
}

/// What has passed the proxy on connections that commit.
#[derive(Default)]
struct Counts {
    transactions: AtomicU64,
    /// How often a client has sent something after an answer.
    waits: AtomicU64,
}

impl Counts {
    fn transactions(&self) -> u64 {
        self.transactions.load(Ordering::SeqCst)
    }

    fn waits(&self) -> u64 {
        self.waits.load(Ordering::SeqCst)
    }
}

/// A store behind a proxy that counts.
struct Counted {
    store: Store,
    counts: Arc<Counts>,
    _opened: Opened,
}

impl Counted {
    async fn open() -> Self {
        let opened = postgres().await;
        let counts = Arc::new(Counts::default());
        let url = through_proxy(&opened.url, &counts).await;
        let store = Store::open(&url, &keys(), Clock::system(), quotas()).await.unwrap();
        Self { store, counts, _opened: opened }
    }

    /// Commits a unit, and returns its verdict and how often that has waited for the server.
    async fn commit(&self, unit: Unit, attachments: Attachments) -> (Verdict, u64) {
        let before = self.counts.waits();
        let verdict = unit.commit(attachments).await.unwrap();
        (verdict, self.counts.waits() - before)
    }

    async fn publish(&self, event: NewEvent) -> (Verdict, u64) {
        let mut unit = unit(&self.store);
        unit.publish(event);
        self.commit(unit, Attachments::default()).await
    }

    async fn run(&self, command: OutboxCommand) -> (Verdict, u64) {
        let mut unit = unit(&self.store);
        unit.add_command(command);
        self.commit(unit, Attachments::default()).await
    }
}

async fn through_proxy(url: &DatabaseUrl, counts: &Arc<Counts>) -> DatabaseUrl {
    let DatabaseUrl::Postgres(url) = url else { panic!("PostgreSQL") };
    let mut url: url::Url = url.parse().unwrap();
    let server = (url.host_str().unwrap().to_owned(), url.port().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
    let counts = Arc::clone(counts);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(server.clone()).await.unwrap();
            tokio::spawn(pass(client, server, Arc::clone(&counts)));
        }
    });
    url.as_str().parse().unwrap()
}

/// Passes on what a client and the server send.
async fn pass(client: TcpStream, server: TcpStream, counts: Arc<Counts>) {
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let answered = Arc::new(AtomicBool::new(true));
    let answers = Arc::clone(&answered);
    tokio::spawn(async move {
        let mut part = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from_server.read(&mut part).await {
            answers.store(true, Ordering::SeqCst);
            if to_client.write_all(&part[..length]).await.is_err() {
                return;
            }
        }
    });
    let mut part = vec![0; 1 << 16];
    let mut has_begun = false;
    while let Ok(length @ 1..) = from_client.read(&mut part).await {
        let sent = &part[..length];
        if sent.windows(BEGIN.len()).any(|bytes| bytes == BEGIN) {
            has_begun = true;
            counts.transactions.fetch_add(1, Ordering::SeqCst);
        }
        if answered.swap(false, Ordering::SeqCst) && has_begun {
            counts.waits.fetch_add(1, Ordering::SeqCst);
        }
        if to_server.write_all(sent).await.is_err() {
            return;
        }
    }
}

fn told(audience: Audience) -> NewEvent {
    NewEvent::of_host("herald.told", "town", audience, &json!({ "text": "it's" }), midnight())
}

/// Makes an event for a person whose rules these are.
fn told_by_rules(rules: DeliveryRules) -> NewEvent {
    let rules = OwnerRules { owner_id: OWNER.to_owned(), test_mode: false, rules };
    let event = told(Audience::Owner(OWNER.to_owned()));
    NewEvent { agents: vec![AGENT.to_owned()], rules: Some(Arc::new(rules)), ..event }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_with_documents_waits_twice() {
    let counted = Counted::open().await;
    let store = &counted.store;
    let accounts = collection(store, "ledger", &["number"]).await;
    put(store, &accounts, "a", json!({ "number": 1 })).await;
    for round in 0..3 {
        let mut plain = unit(store);
        plain.get(&accounts, "a").await.unwrap();
        let document = json!({ "number": round + 10, "text": "'; --" }).to_string();
        plain.put(&accounts, "a", document, Expectation::Any).await.unwrap();
        let document = json!({ "number": round + 20 }).to_string();
        plain.put(&accounts, &format!("b {round}"), document, Expectation::Absent).await.unwrap();
        let answer = StoredAnswer {
            key: IdempotencyKey {
                agent_id: AGENT.to_owned(),
                capability: "ledger".to_owned(),
                action: "put".to_owned(),
                key: round.to_string(),
            },
            body_hash: Digest::of(b"{}"),
            answer: "{}".to_owned(),
            now: midnight(),
            expires_at: Timestamp::from_millis(midnight().as_millis() + HOUR),
        };
        let audit = AuditRecord::of_host("put", "ok", midnight());
        let attachments = Attachments { audit: Some(audit), answer: Some(answer), task: None };
        assert_eq!(counted.commit(plain, attachments).await, (Verdict::Committed, WAITS));
    }

    let (mut one, mut other) = (unit(store), unit(store));
    for unit in [&mut one, &mut other] {
        unit.get(&accounts, "a").await.unwrap();
        unit.put(&accounts, "a", "{}".to_owned(), Expectation::Any).await.unwrap();
    }
    assert_eq!(counted.commit(one, Attachments::default()).await, (Verdict::Committed, WAITS));
    let (verdict, waits) = counted.commit(other, Attachments::default()).await;
    assert!(matches!(verdict, Verdict::Conflict(_)));
    assert_eq!(waits, WAITS);
    assert_eq!(body(store, &accounts, "b 2").await, Some(json!({ "number": 22 })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn units_that_wait_together_share_round_trips() {
    let counted = Counted::open().await;
    let accounts = collection(&counted.store, "ledger", &["number"]).await;
    let (before, waited) = (counted.counts.transactions(), counted.counts.waits());
    let mut tasks = Vec::new();
    for number in 0..100 {
        let (store, accounts) = (counted.store.clone(), Arc::clone(&accounts));
        tasks.push(tokio::spawn(async move {
            put(&store, &accounts, &number.to_string(), json!({ "number": number })).await;
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let transactions = counted.counts.transactions() - before;
    assert!((1..100).contains(&transactions), "{transactions}");
    assert_eq!(counted.counts.waits() - waited, WAITS * transactions);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn units_with_events_and_timers_wait_twice() {
    let counted = Counted::open().await;
    let committed = (Verdict::Committed, WAITS);
    let agent = || Audience::Agent(AGENT.to_owned());
    assert_eq!(counted.publish(told(agent())).await, committed);
    let subscribers = vec![("ledger".to_owned(), "on_told".to_owned())];
    let event = NewEvent { subscribers, ..told(agent()) };
    assert_eq!(counted.publish(event).await, committed);
    let caps = vec![Cap { events: "herald".to_owned(), most: 10, hours: 1 }];
    let rules = DeliveryRules { caps, ..DeliveryRules::default() };
    assert_eq!(counted.publish(told_by_rules(rules)).await, committed);
    let webhook = Webhook {
        id: "whk_01J00000000000000000000004".to_owned(),
        agent_id: AGENT.to_owned(),
        test_mode: false,
        url: "https://example.test/".to_owned(),
        types: Vec::new(),
        description: None,
        state: WebhookState::Active,
        secret: String::new(),
        previous_secret: None,
        previous_until: None,
        version: 1,
        created_at: midnight(),
        updated_at: midnight(),
        last_error: None,
        health: Health::default(),
    };
    let add = OutboxCommand::AddWebhook { webhook: Box::new(webhook), existing: 0 };
    assert_eq!(counted.run(add).await, committed);
    assert_eq!(counted.publish(told(agent())).await, committed);
    let polled = OutboxCommand::Polled { agent_id: AGENT.to_owned(), at: midnight() };
    assert_eq!(counted.run(polled).await, committed);
    let agent_id = AGENT.to_owned();
    let mark = OutboxCommand::Mark { agent_id, seq: 1, acknowledged: true };
    assert_eq!(counted.run(mark).await, committed);

    let key = TimerKey { capability: "ledger".to_owned(), name: "t".to_owned(), test_mode: false };
    let mut setting = unit(&counted.store);
    let change = TimerChange::Set {
        setting: "first".to_owned(),
        at: midnight(),
        action: "ring".to_owned(),
        input: "{}".to_owned(),
    };
    setting.change_timer(key.clone(), change);
    assert_eq!(counted.commit(setting, Attachments::default()).await, committed);
    let task = Some(Task::Timer { key, setting: "first".to_owned() });
    let attachments = Attachments { task, ..Attachments::default() };
    assert_eq!(counted.commit(unit(&counted.store), attachments).await, committed);

    let entries = counted.store.unacknowledged(AGENT, 0, &[], 100).await.unwrap();
    let sequences: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(sequences, [2, 3, 4], "the first one is acknowledged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rare_units_wait_a_few_times_more() {
    let counted = Counted::open().await;
    let quiet_hours = Some(QuietHours { from: 0, to: 60, time_zone: "UTC".to_owned() });
    let rules = DeliveryRules { quiet_hours, ..DeliveryRules::default() };
    // A held event may be one too many.
    assert_eq!(counted.publish(told_by_rules(rules)).await, (Verdict::Committed, WAITS + 1));
    assert_eq!(counted.store.held_count(OWNER).await.unwrap(), 1);
    // It waits until nothing else is being committed, and asks for the agents with webhooks.
    let (verdict, waits) = counted.publish(told(Audience::Listeners)).await;
    assert_eq!(verdict, Verdict::Committed);
    assert!(waits <= WAITS + 2, "{waits}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_documents_in_one_unit_are_sent_in_parts() {
    let counted = Counted::open().await;
    let store = &counted.store;
    let accounts = collection(store, "ledger", &["number"]).await;
    let mut large = unit(store);
    for number in 0..40 {
        let document = json!({ "number": number, "text": "x".repeat(200_000) }).to_string();
        large.put(&accounts, &number.to_string(), document, Expectation::Any).await.unwrap();
    }
    let (verdict, waits) = counted.commit(large, Attachments::default()).await;
    assert_eq!((verdict, waits), (Verdict::Committed, WAITS + 1));
    let found = body(store, &accounts, "39").await.unwrap();
    assert_eq!(found["text"].as_str().unwrap().len(), 200_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_that_the_database_refuses_fails_alone() {
    let opened = postgres().await;
    let mut units = Vec::new();
    for number in 0..9 {
        let mut unit = unit(&opened.store);
        // PostgreSQL has no texts with this character.
        let subject = if number == 4 { "\u{0}" } else { "town" };
        let audience = Audience::Agent(AGENT.to_owned());
        let event = NewEvent::of_host("herald.told", subject, audience, &json!({}), midnight());
        unit.publish(event);
        units.push(unit);
    }
    let commits = units.into_iter().map(|unit| tokio::spawn(unit.commit(Attachments::default())));
    for (number, commit) in commits.collect::<Vec<_>>().into_iter().enumerate() {
        let committed = commit.await.unwrap();
        assert_eq!(committed.is_err(), number == 4, "{number}: {committed:?}");
    }
    let entries = opened.store.unacknowledged(AGENT, 0, &[], 100).await.unwrap();
    let sequences: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(sequences, (1..=8).collect::<Vec<_>>());
}

/// Texts and names that end literals, statements and escapes are content like any other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_that_looks_like_sql_is_stored_as_it_is() {
    const HOSTILE: [&str; 5] =
        ["'", "'); DELETE FROM documents; --", "\\", "\\'; $1 $$ ''", "é🦀 E'\\u0027"];
    let opened = postgres().await;
    let accounts = collection(&opened.store, "ledger", &["number"]).await;
    for text in HOSTILE {
        put(&opened.store, &accounts, text, json!({ "number": text, "text": text })).await;
    }
    for text in HOSTILE {
        let found = body(&opened.store, &accounts, text).await;
        assert_eq!(found, Some(json!({ "number": text, "text": text })));
    }
    let mut taken = unit(&opened.store);
    let document = json!({ "number": "'" }).to_string();
    assert!(taken.put(&accounts, "other", document, Expectation::Any).await.is_err());
}

/// Ends all sessions of a database but one, and returns when they are gone.
async fn end_sessions(url: &DatabaseUrl) {
    const SESSIONS: &str = "SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let DatabaseUrl::Postgres(url) = url else { panic!("PostgreSQL") };
    let mut connection = PgConnection::connect(url).await.unwrap();
    let pids: Vec<i32> = sqlx::query_scalar(SESSIONS).fetch_all(&mut connection).await.unwrap();
    assert!(!pids.is_empty());
    let end = "SELECT pg_terminate_backend(pid) FROM unnest($1) AS s(pid)";
    sqlx::query(end).bind(&pids).execute(&mut connection).await.unwrap();
    let left = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY($1)";
    while sqlx::query_scalar::<_, i64>(left).bind(&pids).fetch_one(&mut connection).await.unwrap()
        > 0
    {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_the_server_has_ended_is_replaced() {
    let opened = postgres().await;
    let commit = || {
        let mut unit = unit(&opened.store);
        unit.publish(told(Audience::Agent(AGENT.to_owned())));
        unit.commit(Attachments::default())
    };
    assert_eq!(commit().await.unwrap(), Verdict::Committed);
    end_sessions(&opened.url).await;
    assert_eq!(commit().await.unwrap(), Verdict::Committed);
    let store = Store::open(&opened.url, &keys(), Clock::system(), quotas()).await;
    let entries = store.unwrap().unacknowledged(AGENT, 0, &[], 100).await.unwrap();
    assert_eq!(entries.len(), 2, "each was committed once");
}

/// The statement that finds this out is sent later than it is added to the transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn existing_documents_that_share_a_value_refuse_a_unique_index() {
    let opened = postgres().await;
    let accounts = collection(&opened.store, "ledger", &[]).await;
    for id in ["a", "b"] {
        put(&opened.store, &accounts, id, json!({ "number": 1 })).await;
    }
    let declaration = portolan_vocabulary::Collection {
        name: "accounts".to_owned(),
        indexes: vec![portolan_vocabulary::Index {
            name: "number".to_owned(),
            paths: vec!["number".to_owned()],
            unique: true,
        }],
        text: Vec::new(),
        geo: None,
        version: 1,
        people: None,
    };
    let declared = opened.store.declare("ledger", &[declaration]).await;
    assert!(matches!(declared, Err(portolan_store::DbError::NotUnique(_))), "{declared:?}");
    put(&opened.store, &accounts, "a", json!({ "number": 2 })).await;
    assert_eq!(body(&opened.store, &accounts, "a").await, Some(json!({ "number": 2 })));
}
