//! A person whose delivery rules hold events.

use crate::{
    Attachments, Audience, DatabaseUrl, DbError, DueWork, NewEvent, OutboxCommand, Release, Store,
    Unit, Verdict, connection::transact,
};
use portolan_vocabulary::{
    Cap, Clock, DeliveryRules, HELD_EVENTS, Keyring, OwnerRules, QuietHours, Quotas, Timestamp,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

pub(super) const OWNER: &str = "own_01J00000000000000000000001";
pub(super) const AGENT: &str = "agt_01J00000000000000000000002";
pub(super) const MINUTE: u64 = 60_000;
pub(super) const HOUR: u64 = 60 * MINUTE;
/// A midnight in UTC.
const MIDNIGHT: u64 = 1_790_000_000_000 / (24 * HOUR) * (24 * HOUR);

pub(super) struct Person {
    pub(super) store: Store,
    folder: TempDir,
    keys: Keyring,
}

pub(super) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(MIDNIGHT + millis)
}

/// Returns quiet hours for the first hour of a day.
pub(super) fn quiet() -> DeliveryRules {
    let quiet_hours = Some(QuietHours { from: 0, to: 60, time_zone: "UTC".to_owned() });
    DeliveryRules { quiet_hours, ..DeliveryRules::default() }
}

/// Returns rules with a cap on the events of `herald` in an hour.
pub(super) fn capped(most: u32) -> DeliveryRules {
    let caps = vec![Cap { events: "herald".to_owned(), most, hours: 1 }];
    DeliveryRules { caps, ..DeliveryRules::default() }
}

/// Returns this many numbers from `from` on, as texts.
pub(super) fn numbers(from: usize, count: usize) -> Vec<String> {
    (from..from + count).map(|number| number.to_string()).collect()
}

fn of_owner(rules: &DeliveryRules) -> Arc<OwnerRules> {
    let rules = rules.clone();
    Arc::new(OwnerRules { owner_id: OWNER.to_owned(), test_mode: false, rules })
}

impl Person {
    pub(super) async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        Self { store: Self::open(&folder, &keys).await, folder, keys }
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    async fn open(folder: &TempDir, keys: &Keyring) -> Store {
        let url = DatabaseUrl::from(folder.path().join("portolan.db"));
        let store = Store::open(&url, keys, Clock::system(), Quotas::default()).await.unwrap();
        Self::declare_collections(&store).await.unwrap();
        store
    }

    /// Declares the host's collections without indexes. A host declares them with its own when it starts.
    async fn declare_collections(store: &Store) -> Result<(), DbError> {
        let declared = r#"UPDATE collections SET shape = '{"indexes":[],"text":[],"geo":null}' WHERE shape = ''"#;
        transact!(store.inner.backend, |transaction| {
            sqlx::query(declared).execute(&mut *transaction).await?;
        });
        Ok(())
    }

    /// Opens the database again, as a host that has ended and starts again.
    pub(super) async fn restart(&mut self) {
        self.store.close().await;
        self.store = Self::open(&self.folder, &self.keys).await;
    }

    /// Publishes an event with each text in one commit.
    pub(super) async fn is_told(&self, rules: &DeliveryRules, texts: &[String], now: Timestamp) {
        self.publish(rules, texts, &Audience::Owner(OWNER.to_owned()), now).await;
    }

    pub(super) async fn publish(
        &self,
        rules: &DeliveryRules,
        texts: &[String],
        audience: &Audience,
        now: Timestamp,
    ) {
        let mut unit = Unit::new(self.store.clone(), now);
        let rules = of_owner(rules);
        for text in texts {
            let (audience, data) = (audience.clone(), json!({ "text": text }));
            let event = NewEvent::of_host("herald.told", "towns/1", audience, &data, now);
            let (agents, rules) = (vec![AGENT.to_owned()], Some(Arc::clone(&rules)));
            unit.publish(NewEvent { agents, rules, ..event });
        }
        assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
    }

    /// Says that the rules have changed.
    pub(super) async fn reconsider(&self, now: Timestamp) {
        let mut unit = Unit::new(self.store.clone(), now);
        unit.add_command(OutboxCommand::ReconsiderHeld { owner_id: OWNER.to_owned() });
        assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
    }

    pub(super) async fn take_timer(&self, now: Timestamp) -> Option<DueWork> {
        self.store.lease_timers(now, HELD_EVENTS, 10).await.unwrap().pop()
    }

    /// Does the next step of a release; `work` is the timer.
    pub(super) async fn release(
        &self,
        work: Option<DueWork>,
        rules: &DeliveryRules,
        now: Timestamp,
    ) -> Verdict {
        let held = self.store.summarized_events(OWNER, now).await.unwrap();
        let mut unit = Unit::new(self.store.clone(), now);
        unit.add_command(OutboxCommand::Release(Release {
            rules: of_owner(rules),
            agents: vec![AGENT.to_owned()],
            summarized: held.iter().map(|event| event.sequence()).collect(),
            counted: self.store.counted_events(OWNER, now).await.unwrap(),
            has_email: false,
            at: now,
        }));
        let task = work.map(|work| work.task);
        let attachments = Attachments { task, ..Attachments::default() };
        unit.commit(attachments).await.unwrap()
    }

    /// Does the due work that releases held events, and returns the number of its steps.
    pub(super) async fn release_all(&self, rules: &DeliveryRules, now: Timestamp) -> usize {
        let mut steps = 0;
        while let Some(work) = self.take_timer(now).await {
            assert_eq!(self.release(Some(work), rules, now).await, Verdict::Committed);
            steps += 1;
            assert!(steps < 100, "a release must end");
        }
        steps
    }

    /// Returns the texts in the inbox, whose sequences have no gaps.
    pub(super) async fn inbox(&self) -> Vec<String> {
        let entries = self.store.unacknowledged(AGENT, 0, &[], 100_000).await.unwrap();
        let sequences: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
        assert_eq!(sequences, (1..=entries.len() as u64).collect::<Vec<_>>());
        let text = |data: &str| {
            let data: Value = serde_json::from_str(data).unwrap();
            data["text"].as_str().unwrap().to_owned()
        };
        entries.iter().map(|entry| text(&entry.data)).collect()
    }

    pub(super) async fn held(&self) -> u64 {
        self.store.held_count(OWNER).await.unwrap()
    }

    /// Holds this many events until then, without their commits.
    pub(super) async fn hold(
        &self,
        count: usize,
        summarized: bool,
        until: Timestamp,
    ) -> Result<(), DbError> {
        let (now, until) = (at(0).as_millis(), until.as_millis());
        let events = format!(
            "WITH RECURSIVE numbers(n) AS
             (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {count})
             INSERT INTO events (id, capability, event_type, subject, audience, audience_id, data,
               request_id, occurred_at, test_mode)
             SELECT 'evt_' || n, ':host', 'herald.told', 'towns/1', 'owner', '{OWNER}',
               '{{\"text\":\"' || n || '\"}}', 'req_1', {now}, 0 FROM numbers"
        );
        let held = format!(
            "INSERT INTO held_events (owner_id, event_seq, due_at, summarized)
             SELECT '{OWNER}', seq, {until}, {} FROM events
             WHERE seq NOT IN (SELECT event_seq FROM held_events)",
            u8::from(summarized)
        );
        transact!(self.store.inner.backend, |transaction| {
            for sql in [events, held] {
                sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut *transaction).await?;
            }
        });
        Ok(())
    }
}
