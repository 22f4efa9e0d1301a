//! The email address of a person: given on their account page, confirmed by a link in an email, and ended by a link in
//! each email. An address belongs to nobody alone: every person who reads its emails may confirm it, so nothing tells
//! whether somebody else has it.

use crate::{
    email_records::{DAY_MS, EmailLinkRecord, EmailRecord, PendingEmail},
    error::IdentityError,
    identity::Identity,
    records::{OwnerRecord, commit, commit_or_conflict, read, write},
    secret,
    sessions::{ATTEMPTS, Session},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_outgoing::email::EmailAddress;
use portolan_store::{AuditRecord, Expectation, OutboxCommand, StateError, Unit};
use portolan_vocabulary::{EmailContent, Timestamp, entropy};
use std::time::Duration;

/// The life of a link that confirms an address.
const LINK_LIFE: Duration = Duration::from_secs(24 * 3600);
/// The shortest time between two emails that ask for a confirmation.
const RESEND_AFTER_MS: u64 = 60_000;
/// The number of emails in a day that ask for a confirmation, for one person.
const REQUESTS_OF_PERSON: u64 = 5;

/// The state of a person's address, for their page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmailView {
    /// The address that the person has confirmed.
    pub address: Option<String>,
    /// Whether the person gets notices by email.
    pub is_wanted: bool,
    /// The address that waits for its confirmation, and until when.
    pub pending: Option<(String, Timestamp)>,
    /// The address to which an email could not be delivered.
    pub refused: Option<String>,
}

/// The effect of a link in an email.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailLink {
    pub address: EmailAddress,
    /// Whether the link confirms the address; otherwise it ends emails.
    pub confirms: bool,
}

/// A person's record of their address, with its revision and that of the person.
pub(crate) struct Loaded {
    pub(crate) email: EmailRecord,
    /// `Absent` before the first address.
    expect: Expectation,
    owner: OwnerRecord,
    owner_revision: u64,
}

impl Identity {
    /// Returns the state of the address, for the person's page. A person of test mode has no address, because anybody
    /// can be one: `None`.
    pub async fn email_view(&self, owner_id: &str) -> Result<Option<EmailView>, IdentityError> {
        let mut unit = self.unit();
        let (owner, _) = self.load_owner(&mut unit, owner_id).await?;
        if owner.is_of_test_mode() {
            return Ok(None);
        }
        let record = read::<EmailRecord>(&mut unit, &self.records.emails, owner_id).await?;
        let record = record.map(|(record, _)| record).unwrap_or_default();
        let open = |text: &String| self.open_text(text);
        let now = unit.now();
        let pending = record.pending.filter(|pending| pending.expires_at > now.as_millis());
        Ok(Some(EmailView {
            address: record.address.as_ref().and_then(open),
            is_wanted: record.is_wanted,
            pending: pending.and_then(|pending| {
                let until = Timestamp::from_millis(pending.expires_at);
                open(&pending.address).map(|address| (address, until))
            }),
            refused: record.refused.as_ref().and_then(open),
        }))
    }

    /// Sends an email that asks for the confirmation of an address, in place of one that waits.
    pub async fn request_email(
        &self,
        session: &Session,
        address: &str,
    ) -> Result<(), IdentityError> {
        let address = EmailAddress::parse(address)?;
        let owner_id = &session.owner_id;
        let mut unit = self.unit();
        let now = unit.now();
        let mut loaded = self.load_email(&mut unit, owner_id).await?;
        if let Some(pending) = &loaded.email.pending {
            let again_at = pending.requested_at + RESEND_AFTER_MS;
            if again_at > now.as_millis() {
                return Err(later(again_at, now));
            }
            unit.delete(&self.records.email_links, &pending.token_hash, Expectation::Any).await?;
        }
        let of_person = format!("email requests/{owner_id}");
        let counted =
            unit.count_use(of_person, (DAY_MS / REQUESTS_OF_PERSON, REQUESTS_OF_PERSON)).await?;
        let counted = counted.map_err(|open_at| later(open_at.as_millis(), now))?;
        unit.add_command(OutboxCommand::Count(counted));
        let token = new_token();
        let token_hash = secret::hash(&token).hex();
        let expires_at = now.plus(LINK_LIFE).as_millis();
        let link = EmailLinkRecord {
            owner_id: owner_id.clone(),
            confirms: true,
            expires_at: Some(expires_at),
        };
        write(&mut unit, &self.records.email_links, &token_hash, &link, Expectation::Absent)
            .await?;
        loaded.email.pending = Some(PendingEmail {
            address: self.seal_text(address.as_str())?,
            token_hash,
            requested_at: now.as_millis(),
            expires_at,
        });
        // Nobody can be flooded by requests of several people; and the page says the same as always.
        if let Some(counted) = self.count_emails_to(&unit, "requests", &address).await? {
            unit.add_command(OutboxCommand::Count(counted));
            let content = EmailContent::Confirmation { token };
            self.queue_email(&mut unit, owner_id, content)?;
        }
        self.put_email(&mut unit, owner_id, loaded, "email:requested").await?;
        commit_or_conflict(unit).await
    }

    /// Finds the effect of the link with this token; `None` if it was used, has expired, or is about an address that
    /// the person has changed or removed.
    pub async fn find_email_link(&self, token: &str) -> Result<Option<EmailLink>, IdentityError> {
        let mut unit = self.unit();
        Ok(self.find_link(&mut unit, token).await?.map(|(_, link)| link))
    }

    /// Carries out a link: confirms the address, or ends emails to it. Returns its effect.
    pub async fn follow_email_link(&self, token: &str) -> Result<Option<EmailLink>, IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let Some((owner_id, link)) = self.find_link(&mut unit, token).await? else {
                return Ok(None);
            };
            let mut loaded = self.load_email(&mut unit, &owner_id).await?;
            let action = match link.confirms {
                true => {
                    self.confirm_address(&mut unit, &owner_id, &mut loaded.email, &link).await?;
                    "email:confirmed"
                }
                false => {
                    loaded.email.is_wanted = false;
                    "email:unsubscribed"
                }
            };
            self.put_email(&mut unit, &owner_id, loaded, action).await?;
            if commit(unit).await? {
                return Ok(Some(link));
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Starts or ends the notices to a person by email.
    pub async fn set_email_wanted(
        &self,
        session: &Session,
        is_wanted: bool,
    ) -> Result<(), IdentityError> {
        let mut unit = self.unit();
        let mut loaded = self.load_email(&mut unit, &session.owner_id).await?;
        if loaded.email.address.is_none() || loaded.email.is_wanted == is_wanted {
            return Ok(());
        }
        loaded.email.is_wanted = is_wanted;
        let action = if is_wanted { "email:resumed" } else { "email:unsubscribed" };
        self.put_email(&mut unit, &session.owner_id, loaded, action).await?;
        commit_or_conflict(unit).await
    }

    /// Removes a person's address, also one that waits for its confirmation.
    pub async fn remove_email(&self, session: &Session) -> Result<(), IdentityError> {
        let mut unit = self.unit();
        let mut loaded = self.load_email(&mut unit, &session.owner_id).await?;
        if let Some(pending) = &loaded.email.pending {
            unit.delete(&self.records.email_links, &pending.token_hash, Expectation::Any).await?;
        }
        self.drop_unsubscribe_link(&mut unit, &loaded.email).await?;
        self.tell_former_address(&mut unit, &session.owner_id, &loaded.email, None).await?;
        loaded.email = EmailRecord::default();
        self.put_email(&mut unit, &session.owner_id, loaded, "email:removed").await?;
        commit_or_conflict(unit).await
    }

    /// Returns the person and the effect of the link with this token.
    async fn find_link(
        &self,
        unit: &mut Unit,
        token: &str,
    ) -> Result<Option<(String, EmailLink)>, StateError> {
        let hash = secret::hash(token).hex();
        let link = read::<EmailLinkRecord>(unit, &self.records.email_links, &hash).await?;
        let Some((link, _)) = link else { return Ok(None) };
        let record = read::<EmailRecord>(unit, &self.records.emails, &link.owner_id).await?;
        let Some((record, _)) = record else { return Ok(None) };
        let now = unit.now().as_millis();
        let address = match link.confirms {
            true => {
                let pending = record.pending.filter(|pending| pending.token_hash == hash);
                let pending = pending.filter(|pending| pending.expires_at > now);
                pending.map(|pending| pending.address)
            }
            false => record.address,
        };
        let address = address.and_then(|address| self.open_text(&address));
        let address = address.and_then(|address| EmailAddress::parse(&address).ok());
        let confirms = link.confirms;
        Ok(address.map(|address| (link.owner_id, EmailLink { address, confirms })))
    }

    /// Makes the address that waits the person's, with a link that ends emails to it.
    async fn confirm_address(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        email: &mut EmailRecord,
        link: &EmailLink,
    ) -> Result<(), StateError> {
        let links = &self.records.email_links;
        if let Some(pending) = &email.pending {
            unit.delete(links, &pending.token_hash, Expectation::Any).await?;
        }
        self.drop_unsubscribe_link(unit, email).await?;
        self.tell_former_address(unit, owner_id, email, Some(&link.address)).await?;
        let unsubscribe = new_token();
        let record =
            EmailLinkRecord { owner_id: owner_id.to_owned(), confirms: false, expires_at: None };
        let id = secret::hash(&unsubscribe).hex();
        write(unit, links, &id, &record, Expectation::Absent).await?;
        *email = EmailRecord {
            address: Some(self.seal_text(link.address.as_str())?),
            is_wanted: true,
            confirmed_at: Some(unit.now().as_millis()),
            unsubscribe: Some(self.seal_text(&unsubscribe)?),
            ..EmailRecord::default()
        };
        Ok(())
    }

    pub(crate) async fn drop_unsubscribe_link(
        &self,
        unit: &mut Unit,
        email: &EmailRecord,
    ) -> Result<(), StateError> {
        if let Some(token) = email.unsubscribe.as_ref().and_then(|text| self.open_text(text)) {
            let id = secret::hash(&token).hex();
            unit.delete(&self.records.email_links, &id, Expectation::Any).await?;
        }
        Ok(())
    }

    pub(crate) async fn load_email(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<Loaded, StateError> {
        let (owner, owner_revision) = self.load_owner(unit, owner_id).await?;
        let found = read::<EmailRecord>(unit, &self.records.emails, owner_id).await?;
        let (email, expect) = match found {
            Some((email, revision)) => (email, Expectation::Revision(revision)),
            None => (EmailRecord::default(), Expectation::Absent),
        };
        Ok(Loaded { email, expect, owner, owner_revision })
    }

    /// Adds the changed record to a unit, with a row of the audit log.
    pub(crate) async fn put_email(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        loaded: Loaded,
        action: &str,
    ) -> Result<(), StateError> {
        let Loaded { email, expect, mut owner, owner_revision } = loaded;
        let has_email = email.address.is_some() && email.is_wanted;
        self.write_email(unit, owner_id, email, expect).await?;
        if owner.has_email != has_email {
            owner.has_email = has_email;
            let expect = Expectation::Revision(owner_revision);
            write(unit, &self.records.owners, owner_id, &owner, expect).await?;
        }
        unit.record_audit(AuditRecord {
            owner_id: Some(owner_id.to_owned()),
            ..AuditRecord::of_host(action, "ok", unit.now())
        });
        Ok(())
    }

    /// Adds a record to a unit with the time at which the sweep looks at it; deletes it if nothing is left in it.
    pub(crate) async fn write_email(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        mut email: EmailRecord,
        expect: Expectation,
    ) -> Result<(), StateError> {
        email.expires_at = email.next_expiry();
        match email == EmailRecord::default() {
            true => unit.delete(&self.records.emails, owner_id, Expectation::Any).await,
            false => write(unit, &self.records.emails, owner_id, &email, expect).await,
        }
    }
}

/// Makes the token of a link: 128 random bits in 22 characters.
fn new_token() -> String {
    URL_SAFE_NO_PAD.encode(entropy::<16>())
}

/// Makes the error for a request that has to wait until then.
fn later(open_at: u64, now: Timestamp) -> IdentityError {
    let wait = open_at.saturating_sub(now.as_millis()).div_ceil(1000);
    IdentityError::EmailLater { after_s: u32::try_from(wait).unwrap_or(u32::MAX) }
}
