//! The device authorization grant (RFC 8628): a client without a browser shows a code, and a person who enters
//! it on a page of the host, in any browser, lets the client act for them.
//!
//! One record serves both codes. It is keyed by the hash of the user code, which the device code names too.

use crate::{
    auth_action::AuthAction,
    client::Client,
    consents::{ATTEMPTS, ConsentTerms},
    error::IdentityError,
    failed_attempts::FailedAttempt,
    grants::{GivenConsent, invalid_grant},
    identity::Identity,
    metadata::DEVICE_CODE,
    oauth::{OAuthError, granted_scopes},
    records::{commit, read, write},
    secret,
    sessions::Session,
    token::IssuedToken,
};
use portolan_store::{Expectation, StateError, Unit};
use portolan_vocabulary::entropy;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The time for the person to enter the user code, and for the client to redeem the device code.
const CODE_LIFE_S: u64 = 600;
/// The time for which a code is stored, so that an expired code and a second use are recognised.
const CODE_RETENTION_MS: u64 = 3_600_000;
/// How long a device can collect its token after the person has let it.
const COLLECTION_MS: u64 = 120_000;
/// The letters of a user code: no vowels, so that they make no words (RFC 8628, section 6.1).
const USER_CODE_LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_LENGTH: usize = 8;
/// The minimum time between two requests of a client for the token.
const INTERVAL_S: u64 = 5;
/// The time that is added to the interval for a client that requests too often (RFC 8628, section 3.5).
const SLOW_DOWN_S: u64 = 5;
/// How much earlier than the interval a request may arrive, because networks delay requests unevenly.
const TOLERANCE_MS: u64 = 1_000;
/// The name under which wrong user codes are throttled. It is not the id of any client.
const USER_CODES: &str = "user codes";

/// The answer to a device authorization request (RFC 8628, section 3.2).
pub struct DeviceAuthorization {
    pub device_code: String,
    /// As people read it, such as `WDJB-MJHT`.
    pub user_code: String,
    /// In seconds.
    pub expires_in: u64,
    /// In seconds.
    pub interval: u64,
}

/// A request of a device that a person can allow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeviceRequest {
    /// As people read it.
    pub user_code: String,
    pub client_id: String,
    pub client_name: String,
    /// Space-separated.
    pub scope: String,
}

/// The decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Pending,
    Allowed,
    Refused,
}

/// A request of a device as it is stored, keyed by the hash of its user code.
#[derive(Debug, Serialize, Deserialize)]
struct DeviceCodeRecord {
    client_id: String,
    client_name: String,
    scope: String,
    audience: String,
    /// The hash of the secret part of the device code.
    secret_hash: String,
    decision: Decision,
    /// The agent and the person, once the request is allowed.
    agent_id: Option<String>,
    owner_id: Option<String>,
    /// The person's number of sign-outs when they allowed it.
    sign_outs: u64,
    interval_s: u64,
    /// The time of the last request for the token.
    polled_at: Option<u64>,
    /// The time until which it can be allowed and redeemed.
    good_until: u64,
    /// The grant that it was redeemed for. A second use revokes that grant.
    grant_id: Option<String>,
    expires_at: u64,
}

impl DeviceCodeRecord {
    fn can_be_decided(&self, now: u64) -> bool {
        self.decision == Decision::Pending && self.good_until > now
    }

    /// Counts a request for the token while nobody has decided, and returns the error for the client.
    fn poll(&mut self, now: u64) -> OAuthError {
        let earliest = self.polled_at.map(|last| last + self.interval_s * 1000);
        self.polled_at = Some(now);
        match earliest.is_some_and(|earliest| now + TOLERANCE_MS < earliest) {
            true => {
                self.interval_s += SLOW_DOWN_S;
                OAuthError::new("slow_down", "wait longer before each request for the token")
            }
            false => OAuthError::new("authorization_pending", "nobody has entered the code yet"),
        }
    }
}

impl Identity {
    /// Starts the authorization of a device for a client.
    ///
    /// # Errors
    ///
    /// Fails if the client may not use this grant, or for a wrong scope or resource.
    pub async fn start_device_authorization(
        &self,
        client: &Client,
        scope: Option<&str>,
        resource: Option<&str>,
    ) -> Result<DeviceAuthorization, IdentityError> {
        client.ensure_grant(DEVICE_CODE)?;
        let scope = granted_scopes(scope, &client.metadata.scope)?;
        let audience = self.audience_of(resource)?;
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let now = unit.now().as_millis();
            let (letters, secret) = (draw_user_code(), secret::new(""));
            let record = DeviceCodeRecord {
                client_id: client.id.clone(),
                client_name: client.name().to_owned(),
                scope: scope.clone(),
                audience: audience.clone(),
                secret_hash: secret::hash(&secret).hex(),
                decision: Decision::Pending,
                agent_id: None,
                owner_id: None,
                sign_outs: 0,
                interval_s: INTERVAL_S,
                polled_at: None,
                good_until: now + CODE_LIFE_S * 1000,
                grant_id: None,
                expires_at: now + CODE_RETENTION_MS,
            };
            let id = secret::hash(&letters).hex();
            write(&mut unit, &self.records.device_codes, &id, &record, Expectation::Absent).await?;
            // A conflict means that another device has the same user code.
            if commit(unit).await? {
                return Ok(DeviceAuthorization {
                    device_code: format!("{id}.{secret}"),
                    user_code: displayed(&letters),
                    expires_in: CODE_LIFE_S,
                    interval: INTERVAL_S,
                });
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Finds the request that waits for this user code. After wrong codes from an address, the next attempt has
    /// to wait; a right one does not end that, because an attacker who guesses can have right codes of their
    /// own.
    ///
    /// # Errors
    ///
    /// `UserCodeUnknown` if no request has the code, or it is decided or expired; `SlowDown` after wrong ones.
    pub async fn find_device_request(
        &self,
        user_code: &str,
        address: Option<IpAddr>,
    ) -> Result<DeviceRequest, IdentityError> {
        let now = self.clock.now();
        if let Some(wait) = self.throttle.wait(USER_CODES, address, now) {
            return Err(IdentityError::slow_down(wait));
        }
        let letters = parse_user_code(user_code);
        let found = self.load_device_code(&mut self.unit(), &letters).await?;
        let found = found.filter(|(_, record, _)| record.can_be_decided(now.as_millis()));
        let Some((_, record, _)) = found else {
            self.throttle.count(USER_CODES, address, now);
            self.record_failure(FailedAttempt {
                address,
                ..FailedAttempt::of(AuthAction::UserCodeRefused, "invalid_grant")
            });
            return Err(IdentityError::UserCodeUnknown);
        };
        let DeviceCodeRecord { client_id, client_name, scope, .. } = record;
        Ok(DeviceRequest { user_code: displayed(&letters), client_id, client_name, scope })
    }

    /// Lets the client of a device act for the person of a session.
    ///
    /// # Errors
    ///
    /// `UserCodeUnknown` if the request is decided or has expired meanwhile; fails if the session has ended, and
    /// after repeated conflicts.
    pub async fn allow_device(
        &self,
        request: &DeviceRequest,
        session: &Session,
    ) -> Result<(), IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let (id, mut record, revision) = self.load_undecided(&mut unit, request).await?;
            let consent = self.record_consent(&mut unit, request.into(), session).await?;
            record.decision = Decision::Allowed;
            // The device may poll rarely.
            let now = self.clock.now().as_millis();
            record.good_until = record.good_until.max(now + COLLECTION_MS);
            record.agent_id = Some(consent.agent_id);
            record.owner_id = Some(session.owner_id.clone());
            record.sign_outs = consent.sign_outs;
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.device_codes, &id, &record, expect).await?;
            if commit(unit).await? {
                return Ok(());
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Refuses the client of a device. `owner_id` is who had signed in.
    ///
    /// # Errors
    ///
    /// As [`allow_device`](Self::allow_device).
    pub async fn refuse_device(
        &self,
        request: &DeviceRequest,
        owner_id: Option<String>,
        address: Option<IpAddr>,
    ) -> Result<(), IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let (id, mut record, revision) = self.load_undecided(&mut unit, request).await?;
            record.decision = Decision::Refused;
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.device_codes, &id, &record, expect).await?;
            if commit(unit).await? {
                self.record_refused_consent(&request.client_id, owner_id, address);
                return Ok(());
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Exchanges a device code for tokens, once (RFC 8628, sections 3.4 and 3.5). A second use indicates that the
    /// code was stolen, so the grant that it was redeemed for is revoked.
    ///
    /// # Errors
    ///
    /// `authorization_pending` or `slow_down` until a person has decided, `access_denied`, `expired_token`, and
    /// `invalid_grant` for a code that is unknown or another client's.
    pub async fn redeem_device_code(
        &self,
        client: &Client,
        device_code: &str,
    ) -> Result<IssuedToken, IdentityError> {
        client.ensure_grant(DEVICE_CODE)?;
        let unknown = || invalid_grant("the device code is unknown");
        let (id, secret) = device_code.split_once('.').ok_or_else(unknown)?;
        loop {
            let mut unit = self.unit();
            let now = unit.now().as_millis();
            let found = read::<DeviceCodeRecord>(&mut unit, &self.records.device_codes, id).await;
            let found = match found {
                // The text cannot be the id of a record.
                Err(StateError::Invalid(_)) => None,
                other => other?,
            };
            let found = found.filter(|(record, _)| {
                record.client_id == client.id && secret::matches(secret, &record.secret_hash)
            });
            let (mut record, revision) = found.ok_or_else(unknown)?;
            if let Some(grant_id) = &record.grant_id {
                let agent_id = record.agent_id.as_deref().unwrap_or_default();
                self.record_reuse(AuthAction::CodeReused, &client.id, agent_id);
                self.revoke_grant(grant_id, None).await?;
                return Err(invalid_grant("the device code was used before"));
            }
            if record.good_until <= now {
                return Err(OAuthError::new("expired_token", "the device code has expired").into());
            }
            let granted = match (record.decision, &record.agent_id) {
                (Decision::Refused, _) => {
                    let text = "the person has refused";
                    return Err(OAuthError::new("access_denied", text).into());
                }
                (Decision::Allowed, Some(agent_id)) => {
                    let consent = GivenConsent {
                        agent_id,
                        owner_id: record.owner_id.as_deref(),
                        sign_outs: record.sign_outs,
                        scope: &record.scope,
                        audience: &record.audience,
                    };
                    Ok(self.add_grant(&mut unit, client, consent).await?)
                }
                (Decision::Pending | Decision::Allowed, _) => Err(record.poll(now)),
            };
            record.grant_id = granted.as_ref().ok().map(|(grant_id, _)| grant_id.clone());
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.device_codes, id, &record, expect).await?;
            // After a conflict, such as a decision at the same moment, the record is read again.
            if commit(unit).await? {
                let (grant_id, grant) = granted?;
                return self.issue_for_grant(grant_id, grant, None).await;
            }
        }
    }

    /// Loads the record of a user code, with its id and its revision.
    async fn load_device_code(
        &self,
        unit: &mut Unit,
        letters: &str,
    ) -> Result<Option<(String, DeviceCodeRecord, u64)>, IdentityError> {
        let id = secret::hash(letters).hex();
        let found = read(unit, &self.records.device_codes, &id).await?;
        Ok(found.map(|(record, revision)| (id, record, revision)))
    }

    async fn load_undecided(
        &self,
        unit: &mut Unit,
        request: &DeviceRequest,
    ) -> Result<(String, DeviceCodeRecord, u64), IdentityError> {
        let now = unit.now().as_millis();
        let found = self.load_device_code(unit, &parse_user_code(&request.user_code)).await?;
        let is_open = |(_, record, _): &(String, DeviceCodeRecord, u64)| {
            record.can_be_decided(now) && record.client_id == request.client_id
        };
        found.filter(is_open).ok_or(IdentityError::UserCodeUnknown)
    }
}

impl<'a> From<&'a DeviceRequest> for ConsentTerms<'a> {
    fn from(request: &'a DeviceRequest) -> Self {
        let DeviceRequest { client_id, client_name, scope, .. } = request;
        Self { client_id, client_name, scope }
    }
}

/// Draws the letters of a user code: each of 20 with the same probability.
fn draw_user_code() -> String {
    // Values from 240 on would make the first letters likelier.
    let draws = std::iter::repeat_with(entropy::<1>).map(|[byte]| usize::from(byte));
    let letters = draws.filter(|draw| *draw < 240).filter_map(|draw| {
        USER_CODE_LETTERS.get(draw % USER_CODE_LETTERS.len()).map(|letter| char::from(*letter))
    });
    letters.take(USER_CODE_LENGTH).collect()
}

/// Returns the letters of a user code as a person has entered it: in any case, and with any separators.
fn parse_user_code(text: &str) -> String {
    let letters = text.chars().filter(char::is_ascii_alphabetic).take(USER_CODE_LENGTH + 1);
    letters.map(|letter| letter.to_ascii_uppercase()).collect()
}

/// Returns a user code as people read it.
fn displayed(letters: &str) -> String {
    let (first, second) = letters.split_at_checked(USER_CODE_LENGTH / 2).unwrap_or((letters, ""));
    format!("{first}-{second}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_code_has_eight_consonants_and_is_read_in_any_case() {
        for _ in 0..200 {
            let letters = draw_user_code();
            assert_eq!(letters.len(), 8, "{letters}");
            assert!(letters.bytes().all(|letter| USER_CODE_LETTERS.contains(&letter)), "{letters}");
            let shown = displayed(&letters);
            assert_eq!((shown.len(), shown.as_bytes()[4]), (9, b'-'));
            for entered in [shown.to_lowercase(), shown.replace('-', " "), format!(" {shown}\n")] {
                assert_eq!(parse_user_code(&entered), letters);
            }
        }
        assert_ne!(parse_user_code("WDJBMJHTX"), "WDJBMJHT");
        assert_eq!(displayed(""), "-");
    }

    #[test]
    fn a_client_that_requests_too_often_has_to_wait_longer_each_time() {
        let mut record = DeviceCodeRecord {
            client_id: String::new(),
            client_name: String::new(),
            scope: String::new(),
            audience: String::new(),
            secret_hash: String::new(),
            decision: Decision::Pending,
            agent_id: None,
            owner_id: None,
            sign_outs: 0,
            interval_s: INTERVAL_S,
            polled_at: None,
            good_until: 600_000,
            grant_id: None,
            expires_at: 3_600_000,
        };
        assert_eq!(record.poll(0).code, "authorization_pending");
        assert_eq!(record.poll(5_000).code, "authorization_pending");
        assert_eq!(record.poll(9_100).code, "authorization_pending");
        assert_eq!(record.poll(12_000).code, "slow_down");
        assert_eq!(record.interval_s, 10);
        assert_eq!(record.poll(17_000).code, "slow_down");
        assert_eq!(record.poll(32_000).code, "authorization_pending");
    }
}
