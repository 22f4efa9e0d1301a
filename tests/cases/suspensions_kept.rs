//! The suspension of an erased person, which is kept for the number: when it is kept, and for whom it holds.

use crate::cases::store::{keys, sqlite};
use portolan_identity::{Credentials, Identity, RedirectHosts, Registration, Settings};
use portolan_outgoing::Outgoing;
use portolan_sandbox::People;
use portolan_store::{Attachments, Store, Unit, Verdict};
use portolan_vocabulary::{Clock, Suspension, Timestamp};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

const DAY_MS: u64 = 24 * 3600 * 1000;

struct Register {
    identity: Identity,
    store: Store,
    /// The number of claims, from which the ids of people are made.
    claims: AtomicU64,
}

impl Register {
    async fn open(store: &Store) -> Self {
        let settings = Settings {
            test_mode: false,
            public_url: "https://portolan.example".to_owned(),
            access_seconds: 3600,
            refresh_days: 1,
            key_days: 0,
            redirects: RedirectHosts::default(),
            phone_verification: None,
        };
        let (outgoing, clock) = (Outgoing::new(&[], &[], 1).unwrap(), Clock::system());
        let identity = Identity::open(store.clone(), &keys(), settings, outgoing, clock).await;
        Self { identity: identity.unwrap(), store: store.clone(), claims: AtomicU64::new(0) }
    }

    fn now() -> Timestamp {
        Clock::system().now()
    }

    fn unit(&self) -> Unit {
        Unit::new(self.store.clone(), Self::now())
    }

    async fn commit(unit: Unit) {
        assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
    }

    /// Claims a new agent for the person with this key. Returns the person, and how long they are suspended.
    async fn claim(&self, key: &str) -> (String, Option<Timestamp>) {
        let registration = Registration { identity_type: "anonymous", ..Registration::default() };
        let agent = self.identity.register(registration).await.unwrap();
        let mut unit = self.unit();
        let agent_id = Arc::from(&*agent.agent_id);
        let random = u128::from(self.claims.fetch_add(1, Ordering::Relaxed));
        let claimed =
            People::claim(&self.identity, &mut unit, agent_id, key.to_owned(), random).await;
        let owner_id = claimed.unwrap().owner_id;
        Self::commit(unit).await;
        let credentials =
            Credentials::Secret { client_id: agent.client_id, secret: agent.client_secret };
        let client = self.identity.authenticate_client(&credentials, None).await.unwrap();
        let token = self.identity.issue_for_client_credentials(&client, None, None).await.unwrap();
        let audience = self.identity.audience();
        let caller = self.identity.authenticate(&token.access_token, audience).await.unwrap();
        (owner_id, caller.suspension.as_ref().map(|suspension| suspension.until.unwrap()))
    }

    async fn suspend(&self, owner_id: &str, until: Option<Timestamp>) {
        let suspension = Suspension { reason: "Spam.".to_owned(), until, appeal: None };
        let mut unit = self.unit();
        self.identity.suspend(&mut unit, owner_id.to_owned(), suspension).await.unwrap();
        Self::commit(unit).await;
    }

    async fn erase(&self, owner_id: &str) {
        let ids = self.store.person_ids(owner_id).await.unwrap();
        self.store.erase_person(&ids, Self::now()).await.unwrap();
    }
}

fn in_days(days: u64) -> Timestamp {
    Timestamp::from_millis(Register::now().as_millis() + days * DAY_MS)
}

#[tokio::test]
async fn a_suspension_or_its_end_during_an_erasure_is_kept_for_the_number() {
    let opened = sqlite().await;
    let register = Register::open(&opened.store).await;
    let until = in_days(30);
    let (ada, _) = register.claim("prs_1").await;
    register.identity.begin_erasure(&ada).await.unwrap();
    register.suspend(&ada, Some(until)).await;
    register.erase(&ada).await;
    let (stranger, suspended_until) = register.claim("prs_1").await;
    assert_ne!(stranger, ada);
    assert_eq!(suspended_until, Some(until));

    let (bo, _) = register.claim("prs_2").await;
    register.suspend(&bo, Some(until)).await;
    register.identity.begin_erasure(&bo).await.unwrap();
    let mut unit = register.unit();
    assert!(register.identity.reinstate(&mut unit, bo.clone()).await.unwrap());
    Register::commit(unit).await;
    register.erase(&bo).await;
    assert_eq!(register.claim("prs_2").await.1, None);
}

#[tokio::test]
async fn a_suspension_without_an_end_is_kept_for_90_days() {
    let opened = sqlite().await;
    let register = Register::open(&opened.store).await;
    let (ada, _) = register.claim("prs_1").await;
    register.suspend(&ada, None).await;
    register.identity.begin_erasure(&ada).await.unwrap();
    register.erase(&ada).await;
    let (next, until) = register.claim("prs_1").await;
    assert!(until.unwrap() <= in_days(90) && until.unwrap() > in_days(89));
    // A second erasure does not make it longer.
    register.identity.begin_erasure(&next).await.unwrap();
    register.erase(&next).await;
    let (last, again) = register.claim("prs_1").await;
    assert_eq!(again, until);
    assert!(register.identity.lift_kept_suspension(&last).await.unwrap());
    assert!(!register.identity.lift_kept_suspension(&last).await.unwrap());
    assert_eq!(register.claim("prs_1").await, (last, None));
}

#[tokio::test]
async fn who_changes_to_a_suspended_number_is_suspended() {
    let opened = sqlite().await;
    let register = Register::open(&opened.store).await;
    let until = in_days(30);
    let (ada, _) = register.claim("prs_1").await;
    register.suspend(&ada, Some(until)).await;
    register.identity.begin_erasure(&ada).await.unwrap();
    register.erase(&ada).await;

    let (bo, before) = register.claim("prs_2").await;
    assert_eq!(before, None);
    let mut unit = register.unit();
    let rebound = People::rebind(&register.identity, &mut unit, bo.clone(), "prs_1".to_owned());
    rebound.await.unwrap();
    Register::commit(unit).await;
    assert_eq!(register.claim("prs_1").await, (bo, Some(until)));
}
