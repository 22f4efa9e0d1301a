//! Runs what is due: timers, and events for subscribed capabilities. As the caller `system`, through
//! the same pipeline as every call.

use crate::{host::Host, lookups, system::Order};
use portolan_store::{Attachments, Audience, DbError, DueWork, MAX_ATTEMPTS, NewEvent, Task, Unit};
use portolan_vocabulary::{
    Access, ErrorCode, Failure, LOOKUPS_OF, OUTGOING_SMS, Retention, SMS_UNDELIVERABLE, Timestamp,
};
use serde::Deserialize;
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
};

/// How long to wait at most before looking: another node's word of new work may be lost, and a lease
/// may run out.
const LOOK: Duration = Duration::from_secs(1);
/// After the database did not answer.
const AWAY: Duration = Duration::from_secs(1);
/// How often old records are removed.
const SWEEP: Duration = Duration::from_secs(3600);
/// Pieces of work that run at once on this node.
const AT_ONCE: usize = 16;
/// The first wait after a failure; it doubles up to the longest.
const FIRST_WAIT_MS: u64 = 500;
const LONGEST_WAIT_MS: u64 = 3_600_000;

/// A text message on its way out.
#[derive(Deserialize)]
struct Message {
    /// None of one that an earlier version wrote.
    id: Option<String>,
    to: String,
    text: String,
}

impl Host {
    /// Does due work until `stop` is told, and finishes what it has begun.
    pub async fn work(self: Arc<Self>, mut stop: watch::Receiver<bool>, retention: Retention) {
        let sweeping = tokio::spawn(Arc::clone(&self).sweep(retention));
        let places = Arc::new(Semaphore::new(AT_ONCE));
        // Places of their own: whoever is asked may be slow, and nothing else waits for that.
        let questions = Arc::new(Semaphore::new(lookups::AT_ONCE));
        let mut running = JoinSet::new();
        while !*stop.borrow() {
            let pause = match self.take_due(questions.available_permits()).await {
                Ok(work) if work.is_empty() => self.pause().await,
                Ok(work) => {
                    for piece in work {
                        let among = if asker(&piece).is_some() { &questions } else { &places };
                        let Ok(place) = Arc::clone(among).acquire_owned().await else { return };
                        let host = Arc::clone(&self);
                        running.spawn(async move {
                            host.run_due(&piece).await;
                            drop(place);
                        });
                    }
                    continue;
                }
                Err(error) => {
                    tracing::error!(%error, "due work cannot be read");
                    AWAY
                }
            };
            // What was done may have been first in its lane: the next one is due now.
            tokio::select! {
                () = self.clock.sleep(pause) => {}
                () = self.store.wait_for_work() => {}
                Some(_) = running.join_next(), if !running.is_empty() => {}
                _ = stop.changed() => {}
            }
        }
        sweeping.abort();
        while running.join_next().await.is_some() {}
    }

    /// Removes what is kept no longer, at the start and every hour.
    async fn sweep(self: Arc<Self>, retention: Retention) {
        let Retention { audit_days, event_days } = retention;
        let mut hours = tokio::time::interval(SWEEP);
        loop {
            hours.tick().await;
            let now = self.clock.now();
            let told = self.events.announce_gaps(now, event_days).await;
            // Nothing is removed that its agent was not told of.
            let swept = match told {
                Ok(()) => self.store.sweep(now, event_days, audit_days).await,
                Err(error) => Err(error),
            };
            if let Err(error) = swept {
                tracing::error!(%error, "old records are not removed");
            }
            if let Err(error) = self.identity.sweep().await {
                tracing::error!(%error, "old identities are not removed");
            }
        }
    }

    async fn take_due(&self, questions: usize) -> Result<Vec<DueWork>, DbError> {
        let now = self.clock.now();
        // Reading is cheap; only taking writes.
        if self.store.next_due().await?.is_none_or(|due| due > now) {
            return Ok(Vec::new());
        }
        let mut work = self.store.take_timers(now, questions).await?;
        work.extend(self.store.take_deliveries(now).await?);
        Ok(work)
    }

    async fn pause(&self) -> Duration {
        let due = self.store.next_due().await.ok().flatten();
        let until = due.map(|due| due.as_millis().saturating_sub(self.clock.now().as_millis()));
        // What is due and was not taken waits for what is before it in its lane.
        let until = until.filter(|until| *until > 0);
        until.map_or(LOOK, |until| Duration::from_millis(until).min(LOOK))
    }

    async fn run_due(self: &Arc<Self>, work: &DueWork) {
        let done = match (work.capability.as_str(), asker(work)) {
            (OUTGOING_SMS, _) => self.send(work).await,
            (_, Some(capability)) => self.look_up(capability, work).await,
            (_, None) => self.run_action(work).await,
        };
        let Err(failure) = done else { return };
        let (capability, action) = (&*work.capability, &*work.action);
        let code = &*failure.error_code;
        let delivery = matches!(work.task, Task::Delivery { .. });
        let given_up = delivery && work.attempts + 1 >= MAX_ATTEMPTS;
        tracing::warn!(capability, action, code, given_up, "due work failed: {}", failure.message);
        let wait = FIRST_WAIT_MS << work.attempts.min(20);
        let until = self.clock.now().as_millis() + wait.min(LONGEST_WAIT_MS);
        let until = Timestamp::from_millis(until);
        let why = format!("{code}: {}", failure.message);
        if let Err(error) = self.store.reschedule(work, until, &why).await {
            // Its lease runs out, and it is taken again.
            tracing::error!(capability, action, %error, "due work is not put off");
        }
    }

    /// Sends a text message, and forgets it when it has left, or never will.
    async fn send(&self, work: &DueWork) -> Result<(), Failure> {
        let message: Message = serde_json::from_str(&work.input)
            .map_err(|_| Failure::new(ErrorCode::MalformedJson))?;
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let id = message.id.unwrap_or_default();
        if let Err(error) = self.sms.send(&id, &message.to, &message.text, unit.now()).await {
            if error.is_retryable() && work.attempts + 1 < MAX_ATTEMPTS {
                return Err(
                    Failure::new(ErrorCode::DependencyUnavailable).message(error.to_string())
                );
            }
            tracing::error!(%error, "a text message is given up");
            unit.publish(self.undeliverable(&id, unit.now()));
        }
        let done = Attachments { task: Some(work.task.clone()), ..Attachments::default() };
        match unit.commit(done).await {
            Ok(_) => Ok(()),
            // It is sent again when its lease has run out.
            Err(_) => Err(Failure::new(ErrorCode::DependencyUnavailable)),
        }
    }

    /// The provider says that a text message did not arrive: tells those who want to know.
    pub async fn message_failed(&self, id: &str) -> Result<(), Failure> {
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        unit.publish(self.undeliverable(id, unit.now()));
        let told = unit.commit(Attachments::default()).await;
        told.map(|_verdict| ()).map_err(|_| Failure::new(ErrorCode::DependencyUnavailable))
    }

    fn undeliverable(&self, message_id: &str, now: Timestamp) -> NewEvent {
        let subject = format!("messages/{message_id}");
        let data = json!({ "message_id": message_id });
        let subscribers = self.catalog.snapshot().subscribers(SMS_UNDELIVERABLE);
        let audience = Audience::Capabilities;
        let event = NewEvent::of_host(SMS_UNDELIVERABLE, &subject, audience, &data, now);
        NewEvent { subscribers, ..event }
    }

    async fn run_action(self: &Arc<Self>, work: &DueWork) -> Result<(), Failure> {
        let order = Order {
            capability: &work.capability,
            action: &work.action,
            access: Access::Internal,
            input: &work.input,
            test_mode: work.test_mode,
            via: None,
            task: Some(work.task.clone()),
        };
        self.run_order(order).await.map(drop)
    }
}

/// Which capability has asked the question that this work is, if it is one.
fn asker(work: &DueWork) -> Option<&str> {
    work.capability.strip_prefix(LOOKUPS_OF)
}
