//! Emails to people: the notices that have gathered for a person become an email, and each email is sent by due work
//! of its own, at least once and with the same id in each attempt.

use crate::{
    email_texts::{EmailText, email_text},
    emails::{EmailStatus, confirmations_of},
    host::Host,
};
use portolan_catalog::{Capability, Snapshot};
use portolan_identity::EmailRecipient;
use portolan_outgoing::email::{EmailError, Mail};
use portolan_store::{
    Attachments, AuditRecord, Count, DbError, DueWork, EmailNotice, OutboxCommand, Task, Unit,
    Verdict,
};
use portolan_vocabulary::{
    Email, EmailContent, ErrorCode, Failure, HOST, Publisher, Timestamp, is_always_delivered,
    made_at, one_line,
};
use serde::Deserialize;
use std::{sync::Arc, time::Duration};

const DAY_MS: u64 = 24 * 3_600_000;
/// An email that could not be sent for this long is given up.
const LONGEST_WAIT: Duration = Duration::from_secs(2 * 24 * 3600);
/// The maximum number of bytes of a sentence about an event.
const SENTENCE_BYTES: usize = 200;

/// The data of an event, as far as an email tells it.
#[derive(Deserialize)]
struct Told {
    summary: Option<String>,
}

impl Host {
    /// Returns the state of the sending of emails; `None` if the host sends none.
    pub async fn email_status(&self) -> Result<Option<EmailStatus>, DbError> {
        let Some(emails) = &self.emails else { return Ok(None) };
        let now = self.clock.now();
        let sent_today = self.store.counter(&budget_counter(now)).await?;
        let confirmations_today = self.store.counter(&confirmations_counter(now)).await?;
        let (waiting, due) = self.store.waiting_emails(now).await?;
        let (per_day, is_paused) = (emails.mailer.per_day(), emails.mailer.is_paused(now));
        Ok(Some(EmailStatus { sent_today, confirmations_today, per_day, waiting, due, is_paused }))
    }

    /// Makes an email of the notices that have gathered for a person. The timer has the owner's id
    /// as its name.
    pub(super) async fn tell_by_email(&self, work: &DueWork) -> Result<(), Failure> {
        let Task::Timer { key, .. } = &work.task else { return Err(unavailable("no timer")) };
        let owner_id = &key.name;
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let notices = self.store.email_notices(owner_id).await?;
        let lines = lines(&self.catalog.snapshot(), &notices);
        let content = EmailContent::Notices { lines };
        let recipient = self.identity.email_recipient(&mut unit, owner_id, &content).await;
        let recipient = recipient.map_err(unavailable)?;
        if !notices.is_empty() && !matches!(recipient, EmailRecipient::Unwanted) {
            let (Some(emails), EmailRecipient::To { .. }) = (&self.emails, recipient) else {
                return self.wait_for_settings(work).await;
            };
            if let Some(until) = self.quiet_until(&mut unit, owner_id, &notices).await? {
                return self.reschedule(work, until, "the person's quiet hours").await;
            }
            let most = emails.mailer.per_person();
            match unit.count_use(format!("emails/{owner_id}"), (DAY_MS / most, most)).await? {
                Ok(count) => unit.add_command(OutboxCommand::Count(count)),
                // The same email tells of the events until then.
                Err(open_at) => return self.reschedule(work, open_at, "email.per_person").await,
            }
            self.identity.queue_email(&mut unit, owner_id, content).map_err(unavailable)?;
        }
        let told = notices.into_iter().map(|notice| (notice.event_type, notice.events)).collect();
        unit.add_command(OutboxCommand::TakeEmailNotices { owner_id: owner_id.clone(), told });
        self.finish(work, unit).await
    }

    /// Returns the end of the person's quiet hours, unless something is told that is always delivered.
    async fn quiet_until(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        notices: &[EmailNotice],
    ) -> Result<Option<Timestamp>, Failure> {
        if notices.iter().any(|notice| is_always_delivered(&notice.event_type)) {
            return Ok(None);
        }
        let recipients = self.identity.find_recipients(unit, owner_id, false).await;
        let rules = recipients.map_err(unavailable)?.rules;
        Ok(rules.and_then(|rules| rules.rules.quiet_until(unit.now())))
    }

    /// Sends an email, and removes it when it was sent, has failed for good, or is not wanted any more.
    pub(super) async fn send_email(&self, work: &DueWork) -> Result<(), Failure> {
        let now = self.clock.now();
        let (Some(emails), Some(email)) =
            (&self.emails, Email::open(&work.input, self.store.keys()))
        else {
            return self.wait_for_settings(work).await;
        };
        let kind = email.content.kind();
        let mut unit = Unit::new(self.store.clone(), now);
        let recipient = self.identity.email_recipient(&mut unit, &email.owner_id, &email.content);
        let (address, unsubscribe) = match recipient.await.map_err(unavailable)? {
            EmailRecipient::To { address, unsubscribe } => (address, unsubscribe),
            EmailRecipient::Unopened => return self.wait_for_settings(work).await,
            EmailRecipient::Unwanted => {
                self.meters.count_email(kind, "unwanted");
                return self.remove(work).await;
            }
        };
        if self.store.counter(&budget_counter(now)).await? >= emails.mailer.per_day() {
            emails.log_exhausted(day(now));
            self.meters.count_email(kind, "budget");
            return self.reschedule(work, midnight(now), "email.per_day").await;
        }
        let is_confirmation = matches!(email.content, EmailContent::Confirmation { .. });
        let confirmations = self.store.counter(&confirmations_counter(now)).await?;
        if is_confirmation && confirmations >= confirmations_of(emails.mailer.per_day()) {
            self.meters.count_email(kind, "budget");
            return self.reschedule(work, midnight(now), "half of email.per_day").await;
        }
        let public_url = self.identity.issuer();
        let unsubscribe = unsubscribe.map(|token| format!("{public_url}/email/{token}"));
        let EmailText { subject, text, html } =
            email_text(public_url, &email.content, unsubscribe.as_deref());
        let mail = Mail {
            id: email_id(work),
            to: &address,
            subject: &subject,
            text,
            html,
            unsubscribe: unsubscribe.as_deref(),
            created_at: email.created_at,
        };
        let sent = emails.mailer.send(&mail, now).await;
        // A unit of its own: a change of the person's records meanwhile must not send the email again.
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let outcome = match &sent {
            Ok(()) => {
                unit.add_command(OutboxCommand::Count(count_of_day(budget_counter(now), now)));
                if is_confirmation {
                    let count = count_of_day(confirmations_counter(now), now);
                    unit.add_command(OutboxCommand::Count(count));
                }
                "ok"
            }
            Err(error) if error.is_retryable() && email.created_at.plus(LONGEST_WAIT) > now => {
                self.meters.count_email(kind, "later");
                return Err(unavailable(error));
            }
            Err(EmailError::NoMailbox(_)) => {
                // A former address is the person's no more.
                if !matches!(email.content, EmailContent::Change { .. }) {
                    let refused = self.identity.refuse_email(&mut unit, &email.owner_id, &address);
                    refused.await.map_err(unavailable)?;
                }
                "no_mailbox"
            }
            Err(error) => {
                tracing::error!(%error, "an email cannot be sent");
                "failed"
            }
        };
        unit.record_audit(AuditRecord {
            owner_id: Some(email.owner_id),
            ..AuditRecord::of_host("email:sent", outcome, unit.now())
        });
        self.finish(work, unit).await?;
        self.meters.count_email(kind, outcome);
        Ok(())
    }

    /// Leaves work to another node, or to this one with other keys or settings, until it has waited too long.
    async fn wait_for_settings(&self, work: &DueWork) -> Result<(), Failure> {
        let reason = "a key with which an email or an address was sealed is missing, or [email] is";
        let set_at = match &work.task {
            Task::Timer { setting, .. } => made_at(setting),
            Task::Delivery { .. } => None,
        };
        if set_at.is_some_and(|at| at.plus(LONGEST_WAIT) > self.clock.now()) {
            return Err(unavailable(reason));
        }
        tracing::error!("an email is given up: {reason}");
        self.remove(work).await
    }

    /// Commits a unit that ends due work.
    async fn finish(&self, work: &DueWork, unit: Unit) -> Result<(), Failure> {
        let attachments = Attachments { task: Some(work.task.clone()), ..Attachments::default() };
        match unit.commit(attachments).await {
            Ok(Verdict::Committed | Verdict::Superseded) => Ok(()),
            // The work is still due, so it is done again.
            Ok(_) | Err(_) => Err(Failure::new(ErrorCode::DependencyUnavailable)),
        }
    }

    async fn reschedule(
        &self,
        work: &DueWork,
        until: Timestamp,
        reason: &str,
    ) -> Result<(), Failure> {
        self.store.reschedule(work, until, reason).await?;
        Ok(())
    }
}

/// Returns a sentence about the events of each type.
fn lines(snapshot: &Snapshot, notices: &[EmailNotice]) -> Vec<String> {
    let line = |notice: &EmailNotice| {
        let sentence = sentence(snapshot, notice);
        match notice.events {
            0 | 1 => sentence,
            times => format!("{sentence} ({times} times)"),
        }
    };
    notices.iter().map(line).collect()
}

/// Returns a sentence about events of one type. Only components of this host's publisher are believed to have
/// written one that names nobody; of others nothing is told but the title, also not the type of event.
fn sentence(snapshot: &Snapshot, notice: &EmailNotice) -> String {
    let Some((id, data)) = &notice.newest else { return "There is something new.".to_owned() };
    let capability = snapshot.capabilities.get(id.as_str());
    let is_of_host = |capability: &Arc<Capability>| capability.publisher == Publisher::Host;
    if id == HOST || capability.is_some_and(is_of_host) {
        let told: Option<Told> = serde_json::from_str(data).ok();
        let summary = told.and_then(|told| told.summary);
        let summary = summary.map(|summary| one_line(&summary, SENTENCE_BYTES));
        return summary
            .unwrap_or_else(|| format!("There is something new: {}.", notice.event_type));
    }
    capability.map_or_else(
        || "There is something new.".to_owned(),
        |capability| format!("There is something new in {}.", capability.descriptor.title),
    )
}

/// Returns the email's id, which is the last part of its timer's name.
fn email_id(work: &DueWork) -> &str {
    match &work.task {
        Task::Timer { key, .. } => key.name.rsplit('/').next().unwrap_or_default(),
        Task::Delivery { .. } => "",
    }
}

fn day(now: Timestamp) -> u64 {
    now.as_millis() / DAY_MS
}

fn midnight(now: Timestamp) -> Timestamp {
    Timestamp::from_millis((day(now) + 1) * DAY_MS)
}

/// Returns the name of the counter of the emails that were sent on this day.
fn budget_counter(now: Timestamp) -> String {
    format!("emails sent/{}", day(now))
}

/// Returns the name of the counter of those of them that asked for a confirmation.
fn confirmations_counter(now: Timestamp) -> String {
    format!("confirmations sent/{}", day(now))
}

fn count_of_day(name: String, now: Timestamp) -> Count {
    let expires_at = Timestamp::from_millis((day(now) + 2) * DAY_MS);
    Count { name, floor: 0, step: 1, expires_at }
}

fn unavailable(error: impl ToString) -> Failure {
    Failure::new(ErrorCode::DependencyUnavailable).message(error.to_string())
}
