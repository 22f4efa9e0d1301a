//! Runs due work: timers, and deliveries of events to subscribed capabilities. The caller is the system.

use crate::{
    call::describe,
    host::{Host, TEXT_MESSAGES},
    system::SystemCall,
    workers::Workers,
};
use portolan_blobs::UNUSED_CONTENTS;
use portolan_outgoing::sms::SmsError;
use portolan_store::{
    Attachments, Audience, DbError, DueWork, MAX_ATTEMPTS, NewEvent, Task, Unit, Verdict,
};
use portolan_telemetry::{SpanKind, TraceContext};
use portolan_vocabulary::{
    APPROVED_OF, Access, Caller, EMAIL_NOTICES, ErrorCode, Failure, HELD_EVENTS, LOOKUPS_OF,
    OUTGOING_EMAIL, OUTGOING_SMS, PEOPLE_OF, Retention, SMS_UNDELIVERABLE, TextMessage, Timestamp,
};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// The longest wait before the store is asked for due work: the signal of another node may be lost, and a
/// lease may expire.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The wait after an error of the database.
const DATABASE_BACKOFF: Duration = Duration::from_secs(1);
/// The interval of sweeps.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);
/// The backoff after a first failure. It doubles with each failure, up to the longest.
const FIRST_BACKOFF_MS: u64 = 500;
const LONGEST_BACKOFF_MS: u64 = 3_600_000;

impl Host {
    /// Runs due work until `stop` becomes true, then finishes the work in flight.
    pub async fn run_due_work(
        self: Arc<Self>,
        mut stop: watch::Receiver<bool>,
        retention: Retention,
    ) {
        let sweeping = tokio::spawn(Arc::clone(&self).sweep(retention));
        let (host, stopping) = (Arc::clone(&self), stop.clone());
        let exchanging =
            tokio::spawn(async move { host.rates.exchange_until(stopping, &host.store).await });
        let (host, stopping) = (Arc::clone(&self), stop.clone());
        let recording =
            tokio::spawn(async move { host.identity.write_failed_attempts(stopping).await });
        let keeping = tokio::spawn(Arc::clone(&self).write_recordings(stop.clone()));
        let store = self.store.clone();
        let sealing = tokio::spawn(async move { store.seal_audit_log_until_closed().await });
        let mut workers = Workers::default();
        while !*stop.borrow() {
            workers.remove_finished();
            // The clock is read once, for taking work and for the wait, so that work which becomes due
            // in between does not wait.
            let followed = self.store.follow_server_clock().await;
            let now = self.clock.now();
            let taken = match followed {
                Ok(()) => self.take_due(now, &workers).await,
                Err(error) => Err(error),
            };
            let next_poll = match taken {
                Ok(work) if work.is_empty() => self.next_poll(now).await,
                Ok(work) => {
                    for due_work in work {
                        workers.spawn(Arc::clone(&self), due_work);
                    }
                    continue;
                }
                Err(error) => {
                    tracing::error!(%error, "due work cannot be read");
                    now.plus(DATABASE_BACKOFF)
                }
            };
            // When work ends, a delivery that waited for it may be taken, and there is room for more.
            tokio::select! {
                () = self.clock.sleep_until(next_poll) => {}
                () = self.store.wait_for_work() => {}
                () = workers.join_next(), if !workers.is_empty() => {}
                _ = stop.changed() => {}
            }
        }
        sweeping.abort();
        while !workers.is_empty() {
            workers.join_next().await;
        }
        // An error means that the task panicked, which the panic's own message says.
        let _ended = exchanging.await;
        let _recorded = recording.await;
        let _kept = keeping.await;
        sealing.abort();
        if let Err(error) = self.store.seal_audit_log(None).await {
            tracing::error!(%error, "the audit log cannot be sealed");
        }
    }

    /// Removes expired records, at the start and every hour.
    async fn sweep(self: Arc<Self>, retention: Retention) {
        let Retention { audit_days, event_days } = retention;
        loop {
            let now = self.clock.now();
            // Events are removed only after the gap that they leave was announced to the agent.
            let swept = match self.events.announce_gaps(now, event_days).await {
                Ok(()) => self.store.sweep(now, event_days, audit_days).await,
                Err(error) => Err(error),
            };
            if let Err(error) = swept {
                tracing::error!(%error, "expired records cannot be removed");
            }
            self.trim_recordings().await;
            if let Err(error) = self.identity.sweep().await {
                tracing::error!(%error, "expired identities cannot be removed");
            }
            if let Err(error) = self.blobs.sweep().await {
                tracing::error!(%error, "files that nobody has cannot be removed");
            }
            self.clock.sleep_until(now.plus(SWEEP_INTERVAL)).await;
        }
    }

    /// Takes due work of every capability in turn, as much as there is room for, so that no capability's
    /// work delays that of others.
    async fn take_due(&self, now: Timestamp, workers: &Workers) -> Result<Vec<DueWork>, DbError> {
        // If nothing is due, this read saves the others.
        if self.store.next_due().await?.is_none_or(|due| due > now) {
            return Ok(Vec::new());
        }
        let mut lanes = self.store.due_capabilities(now).await?;
        let snapshot = self.catalog.snapshot();
        lanes.retain(|lane| !self.catalog.leaves_to_others(&snapshot, capability_of(lane)));
        let mut work: Vec<DueWork> = Vec::new();
        for lane in workers.round_robin(&lanes) {
            let capacity = workers.capacity(lane, &work, &lanes);
            if capacity > 0 {
                work.extend(self.store.lease_timers(now, lane, capacity).await?);
            }
            let capacity = workers.capacity(lane, &work, &lanes);
            if capacity > 0 {
                work.extend(self.store.lease_deliveries(now, lane, capacity).await?);
            }
        }
        Ok(work)
    }

    /// Returns when to look for work again, after nothing could be taken at `now`.
    async fn next_poll(&self, now: Timestamp) -> Timestamp {
        let due = self.store.next_due().await.ok().flatten();
        // Work that is due but was not taken waits for other work, so its due time says nothing.
        let due = due.filter(|due| *due > now);
        due.map_or(now.plus(POLL_INTERVAL), |due| due.min(now.plus(POLL_INTERVAL)))
    }

    pub(super) async fn run_due(self: &Arc<Self>, work: &DueWork) {
        // An event that was published in a trace is delivered in it. A timer begins one.
        let published = match work.task {
            Task::Delivery { .. } => self.telemetry.resume(work.trace.as_deref()),
            Task::Timer { .. } => self.telemetry.accept(None),
        };
        let mut span = self.telemetry.span(published, SpanKind::Consumer, "due work");
        let trace = span.context_or(published);
        let result = match (work.capability.as_str(), lookup_capability(work)) {
            (OUTGOING_SMS, _) => self.send_text_message(work).await,
            (OUTGOING_EMAIL, _) => self.send_email(work).await,
            (EMAIL_NOTICES, _) => self.tell_by_email(work).await,
            (HELD_EVENTS, _) => self.release_held(work).await,
            (UNUSED_CONTENTS, _) => self.remove_unused_content(work).await,
            (people, _) if people.starts_with(PEOPLE_OF) => self.run_people_request(work).await,
            (_, Some(capability)) => self.look_up(capability, work, trace).await,
            (lane, None) => match lane.strip_prefix(APPROVED_OF) {
                Some(capability) => self.run_approved(capability, work, trace).await,
                None => self.run_action(work, trace).await,
            },
        };
        if span.is_recorded() {
            span.set("portolan.capability", work.capability.clone());
            span.set("portolan.attempt", i64::from(work.attempts));
            describe(&mut span, &work.action, result.as_ref().err());
        }
        drop(span);
        let Err(failure) = result else { return };
        let (capability, action) = (&*work.capability, &*work.action);
        let code = &*failure.error_code;
        let delivery = matches!(work.task, Task::Delivery { .. });
        let given_up = delivery && work.attempts + 1 >= MAX_ATTEMPTS;
        tracing::warn!(capability, action, code, given_up, "due work failed: {}", failure.message);
        let backoff = FIRST_BACKOFF_MS << work.attempts.min(20);
        let until = self.clock.now().as_millis() + backoff.min(LONGEST_BACKOFF_MS);
        let until = Timestamp::from_millis(until);
        let reason = format!("{code}: {}", failure.message);
        if let Err(error) = self.store.reschedule(work, until, &reason).await {
            // The work is taken again when its lease has expired.
            tracing::error!(capability, action, %error, "due work cannot be rescheduled");
        }
    }

    /// Sends a text message, and removes it when it was sent or has failed for good. The latter is published
    /// as an event.
    async fn send_text_message(&self, work: &DueWork) -> Result<(), Failure> {
        let (id, message) = TextMessage::open(&work.input, self.store.keys())
            .ok_or_else(|| Failure::new(ErrorCode::MalformedJson))?;
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let sent = match &message {
            Some(message) => self.sms.send(&id, &message.to, &message.text, unit.now()).await,
            None => Err(SmsError::KeyMissing),
        };
        // A provider that refuses one message works.
        let is_unsent = sent.as_ref().is_err_and(SmsError::is_retryable);
        self.health.count(TEXT_MESSAGES, is_unsent, unit.now());
        if let Err(error) = sent {
            if error.is_retryable() && work.attempts + 1 < MAX_ATTEMPTS {
                self.meters.count_sent_message("retried");
                return Err(
                    Failure::new(ErrorCode::DependencyUnavailable).message(error.to_string())
                );
            }
            tracing::error!(%error, "a text message cannot be sent");
            self.meters.count_sent_message("failed");
            unit.publish(self.undeliverable_event(&id, unit.now()));
        } else {
            self.meters.count_sent_message("sent");
        }
        let attachments = Attachments { task: Some(work.task.clone()), ..Attachments::default() };
        match unit.commit(attachments).await {
            Ok(Verdict::Committed | Verdict::Superseded) => Ok(()),
            // The message is still due, so it is sent again.
            Ok(_) | Err(_) => Err(Failure::new(ErrorCode::DependencyUnavailable)),
        }
    }

    /// Publishes that a text message was not delivered, as the provider has reported.
    pub async fn report_undelivered_message(&self, id: &str) -> Result<(), Failure> {
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        unit.publish(self.undeliverable_event(id, unit.now()));
        let committed = unit.commit(Attachments::default()).await;
        committed.map(|_verdict| ()).map_err(|_| Failure::new(ErrorCode::DependencyUnavailable))
    }

    fn undeliverable_event(&self, message_id: &str, now: Timestamp) -> NewEvent {
        let subject = format!("messages/{message_id}");
        let data = json!({ "message_id": message_id });
        let subscribers =
            self.catalog.subscribers(&self.catalog.snapshot(), None, SMS_UNDELIVERABLE);
        let audience = Audience::Capabilities;
        let event = NewEvent::of_host(SMS_UNDELIVERABLE, &subject, audience, &data, now);
        NewEvent { subscribers, ..event }
    }

    /// Removes the content of a deleted file, if no other file has it.
    async fn remove_unused_content(&self, work: &DueWork) -> Result<(), Failure> {
        if let Task::Timer { key, .. } = &work.task {
            self.blobs.remove_unused(&key.name).await?;
        }
        self.remove(work).await
    }

    /// Removes due work without running its action.
    pub(super) async fn remove(&self, work: &DueWork) -> Result<(), Failure> {
        let unit = Unit::new(self.store.clone(), self.clock.now());
        let attachments = Attachments { task: Some(work.task.clone()), ..Attachments::default() };
        let result = unit.commit(attachments).await;
        result.map(drop).map_err(|_| Failure::new(ErrorCode::DependencyUnavailable))
    }

    async fn run_action(
        self: &Arc<Self>,
        work: &DueWork,
        trace: Option<TraceContext>,
    ) -> Result<(), Failure> {
        let call = SystemCall {
            capability: &work.capability,
            action: &work.action,
            access: Access::Internal,
            input: &work.input,
            caller: Caller::System { test_mode: work.test_mode },
            via: None,
            task: Some(work.task.clone()),
            trace,
            has_secret: false,
            dry_run: false,
        };
        self.run_system_call(call).await.map(drop)
    }
}

/// Returns the capability that has requested a look-up; `None` if the work is not a look-up.
fn lookup_capability(work: &DueWork) -> Option<&str> {
    work.capability.strip_prefix(LOOKUPS_OF)
}

/// Returns the capability whose work is in a lane.
fn capability_of(lane: &str) -> &str {
    let capability =
        [LOOKUPS_OF, PEOPLE_OF, APPROVED_OF].iter().find_map(|of| lane.strip_prefix(of));
    capability.unwrap_or(lane)
}
