//! The recipient of an email when it is sent, and the outbox command for it.

use crate::{
    email_records::{DAY_MS, EmailRecord},
    identity::Identity,
    records::read,
    secret,
};
use portolan_outgoing::email::EmailAddress;
use portolan_store::{Count, Expectation, OutboxCommand, StateError, TimerChange, TimerKey, Unit};
use portolan_vocabulary::{
    Digest, Email, EmailContent, HOST, Keyring, OUTGOING_EMAIL, entropy, from_hex, new_identifier,
    new_request_id, sealed, to_hex,
};
use serde_json::json;

/// The number of emails of one purpose to one mailbox in a day.
const EMAILS_TO_MAILBOX: u64 = 3;

/// The recipient of an email.
#[derive(Debug, Clone)]
pub enum EmailRecipient {
    To {
        address: EmailAddress,
        /// The token of the link that ends emails; `None` in an email that is not about events.
        unsubscribe: Option<String>,
    },
    /// The person does not want it any more, or does not exist any more.
    Unwanted,
    /// The address is sealed by a key that this node does not have.
    Unopened,
}

impl Identity {
    /// Returns the current recipient of an email.
    pub async fn email_recipient(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        content: &EmailContent,
    ) -> Result<EmailRecipient, StateError> {
        let record = read::<EmailRecord>(unit, &self.records.emails, owner_id).await?;
        let record = record.map(|(record, _)| record).unwrap_or_default();
        let now = unit.now().as_millis();
        let (address, token) = match content {
            EmailContent::Confirmation { token } => {
                let hash = secret::hash(token).hex();
                let pending = record
                    .pending
                    .filter(|pending| pending.token_hash == hash && pending.expires_at > now);
                (pending.map(|pending| pending.address), None)
            }
            EmailContent::Change { former, .. } => (Some(former.clone()), None),
            EmailContent::Notices { .. } if record.is_wanted => {
                (record.address, record.unsubscribe)
            }
            EmailContent::Notices { .. } => (None, None),
        };
        let Some(address) = address else { return Ok(EmailRecipient::Unwanted) };
        let address = self.open_text(&address);
        let address = address.and_then(|address| EmailAddress::parse(&address).ok());
        let unsubscribe = token.as_ref().and_then(|token| self.open_text(token));
        Ok(match address {
            Some(address) if unsubscribe.is_some() == token.is_some() => {
                EmailRecipient::To { address, unsubscribe }
            }
            _ => EmailRecipient::Unopened,
        })
    }

    /// Notes in a unit that the mail server knows no mailbox with this address of a person: nothing more is sent to
    /// it, and the person's page says so.
    pub async fn refuse_email(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        address: &EmailAddress,
    ) -> Result<(), StateError> {
        let mut loaded = self.load_email(unit, owner_id).await?;
        let refused = Some(self.seal_text(address.as_str())?);
        let email = &mut loaded.email;
        let is_refused = |text: &String| self.open_text(text).as_deref() == Some(address.as_str());
        if let Some(pending) = email.pending.take_if(|pending| is_refused(&pending.address)) {
            unit.delete(&self.records.email_links, &pending.token_hash, Expectation::Any).await?;
        }
        if email.address.as_ref().is_some_and(is_refused) {
            self.drop_unsubscribe_link(unit, email).await?;
            let pending = email.pending.take();
            *email = EmailRecord { pending, ..EmailRecord::default() };
        }
        email.refused = refused;
        email.refused_at = Some(unit.now().as_millis());
        self.put_email(unit, owner_id, loaded, "email:refused").await
    }

    /// Adds an email to a unit, which is sent after its commit.
    pub fn queue_email(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        content: EmailContent,
    ) -> Result<(), StateError> {
        let now = unit.now();
        let email = Email { owner_id: owner_id.to_owned(), content, created_at: now };
        let input = email.seal(self.store.keys(), entropy()).ok_or_else(unsealed)?;
        let id = new_identifier("eml", now, secret::random());
        let name = format!("{owner_id}/{id}");
        let key = TimerKey { capability: OUTGOING_EMAIL.to_owned(), name, test_mode: false };
        let (setting, action) = (new_request_id(now).to_string(), "send".to_owned());
        unit.change_timer(key, TimerChange::Set { setting, at: now, action, input });
        Ok(())
    }

    /// Adds a last email to the address that a person has confirmed before, so that nobody replaces or removes it
    /// unnoticed. `replacement` is the new address.
    pub(crate) async fn tell_former_address(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        email: &EmailRecord,
        replacement: Option<&EmailAddress>,
    ) -> Result<(), StateError> {
        let Some(sealed) = &email.address else { return Ok(()) };
        let former = self.open_text(sealed).and_then(|text| EmailAddress::parse(&text).ok());
        let Some(former) = former.filter(|former| Some(former) != replacement) else {
            return Ok(());
        };
        if let Some(counted) = self.count_emails_to(unit, "changes", &former).await? {
            unit.add_command(OutboxCommand::Count(counted));
            let content =
                EmailContent::Change { former: sealed.clone(), is_removal: replacement.is_none() };
            self.queue_email(unit, owner_id, content)?;
        }
        Ok(())
    }

    /// Returns what is to be counted for one more email of this purpose to a mailbox; `None` if there were too many.
    pub(crate) async fn count_emails_to(
        &self,
        unit: &Unit,
        purpose: &str,
        address: &EmailAddress,
    ) -> Result<Option<Count>, StateError> {
        let key = self.store.keys().derive(Keyring::EMAILS).first().copied().unwrap_or_default();
        let digest = Digest::of_value(&json!([key, address.mailbox()])).hex();
        let name = format!("email {purpose} to/{digest}");
        let rate = (DAY_MS / EMAILS_TO_MAILBOX, EMAILS_TO_MAILBOX);
        Ok(unit.count_use(name, rate).await?.ok())
    }

    /// Seals a text of a record, in the form in which an export opens it.
    pub(crate) fn seal_text(&self, text: &str) -> Result<String, StateError> {
        let keys = self.store.keys().derive_for(HOST, Keyring::SEAL);
        let sealed = sealed::seal(&keys, entropy(), text.as_bytes()).ok_or_else(unsealed)?;
        Ok(to_hex(&sealed))
    }

    pub(crate) fn open_text(&self, text: &str) -> Option<String> {
        let keys = self.store.keys().derive_for(HOST, Keyring::SEAL);
        String::from_utf8(sealed::open(&keys, &from_hex(text)?)?).ok()
    }
}

fn unsealed() -> StateError {
    StateError::Invalid("sealing failed".to_owned())
}
