//! Signing in with a passkey: as the second factor beside a phone number, and without the number.

use crate::{
    ceremonies::{CeremonyAnswer, CeremonyState},
    error::IdentityError,
    identity::Identity,
    passkeys::{handle_owner, parse_credential, to_json},
    records::{OwnerRecord, PasskeyRecord, commit, read, write},
    sessions::{ATTEMPTS, NewSession, Proof},
};
use portolan_store::{Expectation, StateError};
use webauthn_rs::prelude::{
    AuthenticationResult, DiscoverableAuthentication, DiscoverableKey, Passkey, PublicKeyCredential,
};

/// A person who has signed in with a passkey.
#[derive(Debug)]
pub struct PasskeySignIn {
    /// The cookie of the session.
    pub cookie: String,
    /// The path of the page where the sign-in goes on.
    pub next: String,
}

impl Identity {
    /// Starts the ceremony by which anybody signs in with a passkey alone. `next` is the path of the page where
    /// the sign-in goes on.
    pub async fn start_passkey_sign_in(
        &self,
        browser: &str,
        next: &str,
    ) -> Result<String, IdentityError> {
        let (mut options, state) = self.webauthn()?.start_discoverable_authentication()?;
        // The person has pressed a button, so the browser asks at once.
        options.mediation = None;
        let (unit, options) = (self.unit(), to_json(&options)?);
        let state = CeremonyState::SigningIn(state);
        self.store_ceremony(unit, state, options, None, (browser, next)).await
    }

    /// Starts the ceremony that completes the sign-in of a person who has passkeys and has proved their number.
    pub async fn start_second_factor(
        &self,
        new: &NewSession,
        browser: &str,
        next: &str,
    ) -> Result<String, IdentityError> {
        let mut unit = self.unit();
        let (owner, _) = self.load_owner(&mut unit, &new.owner_id).await?;
        let keys = self.valid_passkeys(&owner).map(|passkey| passkey.key.clone());
        let keys: Vec<Passkey> = keys.collect();
        let (options, authentication) = self.webauthn()?.start_passkey_authentication(&keys)?;
        let state = CeremonyState::SecondFactor { authentication, proof: new.proof.clone() };
        let (options, owner_id) = (to_json(&options)?, Some(&*new.owner_id));
        self.store_ceremony(unit, state, options, owner_id, (browser, next)).await
    }

    /// Signs in the person whose passkey has answered. `family` is that of the browser, if it is known.
    pub async fn sign_in_with_passkey(
        &self,
        answer: CeremonyAnswer<'_>,
        family: Option<&'static str>,
    ) -> Result<PasskeySignIn, IdentityError> {
        let ceremony = self.take_ceremony(&answer).await?;
        let credential: PublicKeyCredential = parse_credential(answer.credential)?;
        let (owner_id, result, proof) = match (ceremony.state, ceremony.owner_id) {
            (CeremonyState::SecondFactor { authentication, proof }, Some(owner_id)) => {
                let result =
                    self.webauthn()?.finish_passkey_authentication(&credential, &authentication)?;
                (owner_id, result, Some(proof))
            }
            (CeremonyState::SigningIn(state), _) => {
                let (owner_id, result) = self.identify(&credential, state).await?;
                (owner_id, result, None)
            }
            _ => return Err(IdentityError::PasskeyExpired),
        };
        let name = self.record_use(&owner_id, &result).await?;
        let proof = proof.unwrap_or_else(|| format!("the passkey {name}"));
        let new = NewSession { owner_id, proof, browser: family };
        let cookie = self.start_session(&new, Proof::Passkey).await?;
        Ok(PasskeySignIn { cookie, next: ceremony.next })
    }

    /// Finds the person by the handle and the passkey of a credential, and verifies it.
    async fn identify(
        &self,
        credential: &PublicKeyCredential,
        state: DiscoverableAuthentication,
    ) -> Result<(String, AuthenticationResult), IdentityError> {
        let webauthn = self.webauthn()?;
        let (user, id) = webauthn.identify_discoverable_authentication(credential)?;
        let owner_id = handle_owner(user);
        let mut unit = self.unit();
        let owner = read::<OwnerRecord>(&mut unit, &self.records.owners, &owner_id).await?;
        let (owner, _) = owner.ok_or(IdentityError::PasskeyUnknown)?;
        let is_used = |passkey: &&PasskeyRecord| passkey.key.cred_id().as_slice() == id;
        let known = self.valid_passkeys(&owner).find(is_used);
        let key = DiscoverableKey::from(&known.ok_or(IdentityError::PasskeyUnknown)?.key);
        Ok((owner_id, webauthn.finish_discoverable_authentication_v2(credential, state, &key)?))
    }

    /// Records the use of a passkey, and returns its name. A passkey that was removed meanwhile is refused.
    async fn record_use(
        &self,
        owner_id: &str,
        result: &AuthenticationResult,
    ) -> Result<String, IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let now = unit.now().as_millis();
            let (mut owner, revision) = self.load_owner(&mut unit, owner_id).await?;
            let used =
                owner.passkeys.iter_mut().find(|passkey| passkey.key.cred_id() == result.cred_id());
            let passkey = used.ok_or(IdentityError::PasskeyUnknown)?;
            // The ceremony may have begun before another use: a counter that is behind is that of a copy.
            if passkey.key.update_credential(result) == Some(false) && result.counter() > 0 {
                return Err(IdentityError::PasskeyRefused("the counter is behind".to_owned()));
            }
            passkey.last_used_at = Some(now);
            let name = passkey.name.clone();
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.owners, owner_id, &owner, expect).await?;
            if commit(unit).await? {
                return Ok(name);
            }
        }
        Err(StateError::Conflict.into())
    }
}
