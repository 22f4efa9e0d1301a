//! The imports off WebAssembly, where there is no host: they call the world of the running test,
//! and panic if there is none.

use crate::contract::portolan::capability as wit;
use std::{cell::RefCell, rc::Rc};

/// The answer of the host, or its error.
type Answer<T> = Result<T, wit::types::HostError>;

/// Everything that a capability can import. A test's world implements what tests need; the rest
/// panics.
pub(crate) trait Host:
    Approvals
    + Blobs
    + Context
    + Delivery
    + Documents
    + Events
    + Feeds
    + Identity
    + Inbox
    + Invoke
    + Lookups
    + Messages
    + Moderation
    + People
    + Platform
    + Secrets
    + Sms
    + Timers
    + Webhooks
{
}

thread_local! {
    static WORLD: RefCell<Option<Rc<RefCell<dyn Host>>>> = const { RefCell::new(None) };
}

/// Keeps the world of a test installed until it is dropped.
#[cfg(feature = "test")]
pub(crate) struct Installed;

/// Installs the world of a test for this thread.
#[cfg(feature = "test")]
#[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
pub(crate) fn install(world: Rc<RefCell<dyn Host>>) -> Installed {
    WORLD.with_borrow_mut(|current| {
        if current.is_some() {
            panic!("a world runs one call at a time: call `run` outside of `run`");
        }
        *current = Some(world);
    });
    Installed
}

#[cfg(feature = "test")]
impl Drop for Installed {
    fn drop(&mut self) {
        WORLD.take();
    }
}

/// Returns whether this thread has the world of a test.
pub(crate) fn has_world() -> bool {
    WORLD.with_borrow(Option::is_some)
}

/// Runs an import in the world of the running test.
#[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
fn import<T>(name: &str, run: impl FnOnce(&mut dyn Host) -> T) -> T {
    let Some(world) = WORLD.with_borrow(Clone::clone) else {
        panic!(
            "{name} needs a host: turn on the feature `test` of portolan-sdk, and run this in `portolan_sdk::test::world().run(|call| …)`"
        );
    };
    run(&mut *world.borrow_mut())
}

#[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
fn missing(name: &str) -> ! {
    panic!("a test's world has no {name}: test this with `portolan test`");
}

/// An interface: a trait whose functions a world may have, and a module with the functions that the SDK and
/// capabilities call.
macro_rules! interface {
    ($module:ident, $interface:ident {
        $(fn $function:ident($($argument:ident: $type:ty),*) $(-> $answer:ty)?;)+
    }) => {
        pub(crate) trait $interface {
            $(fn $function(&mut self, $($argument: $type),*) $(-> $answer)? {
                let _ = ($($argument,)*);
                missing(concat!(stringify!($module), ".", stringify!($function)))
            })+
        }

        pub mod $module {
            #[allow(unused_imports, reason = "not every interface needs each type")]
            use super::{$interface, Answer, wit};
            #[allow(unreachable_pub, reason = "not every interface has types")]
            pub use wit::$module::*;

            $(pub fn $function($($argument: $type),*) $(-> $answer)? {
                let name = concat!(stringify!($module), ".", stringify!($function));
                super::import(name, |world| $interface::$function(world, $($argument),*))
            })+
        }
    };
}

interface!(approvals, Approvals {
    fn set_policy(policy: Option<&str>) -> Answer<()>;
    fn run(approval_id: &str, call: &str, action: &str) -> Answer<()>;
});

interface!(blobs, Blobs {
    fn begin_upload(max_bytes: u64, action: &str) -> Answer<wit::blobs::Upload>;
    fn get(id: &str) -> Answer<Option<wit::blobs::Blob>>;
    fn read(id: &str, offset: u64, length: u32) -> Answer<Vec<u8>>;
    fn derive(source: &str, content: &[u8]) -> Answer<wit::blobs::Blob>;
    fn serve(id: &str, how: Option<&wit::blobs::Serving>) -> Answer<()>;
    fn address(id: &str, until: u64) -> Answer<String>;
    fn delete(id: &str) -> Answer<bool>;
});

interface!(context, Context {
    fn now() -> u64;
    fn client_id() -> Option<String>;
    fn test_mode() -> bool;
    fn random(length: u32) -> Vec<u8>;
    fn new_id(prefix: &str) -> String;
    fn log(level: wit::context::Level, message: &str);
    fn last_words(part: wit::context::Words);
});

interface!(documents, Documents {
    fn declare(declaration: wit::description::Collection);
    fn get(collection: &str, id: &str) -> Answer<Option<wit::documents::Document>>;
    fn get_many(
        collection: &str, ids: &[String]
    ) -> Answer<Vec<Option<wit::documents::Document>>>;
    fn find(
        collection: &str, query: &wit::documents::Query
    ) -> Answer<wit::documents::Page>;
    fn count(collection: &str, filter: Option<&str>) -> Answer<u64>;
    fn count_by(
        collection: &str, query: &wit::documents::Query, paths: &[String]
    ) -> Answer<Vec<Vec<wit::documents::Counted>>>;
    fn put(
        collection: &str, id: &str, body: &str, expect: wit::documents::Expectation
    ) -> Answer<u64>;
    fn delete(
        collection: &str, id: &str, expect: wit::documents::Expectation
    ) -> Answer<()>;
    fn report_unreadable(
        collection: &str, id: &str, revision: u64, reason: &str
    ) -> Answer<()>;
});

interface!(events, Events {
    fn publish(to: &wit::events::Audience, event: &wit::events::Event) -> Answer<()>;
});

interface!(timers, Timers {
    fn set(name: &str, at: u64, action: &str, input: &str) -> Answer<()>;
    fn cancel(name: &str) -> Answer<bool>;
});

interface!(invoke, Invoke {
    fn call(capability: &str, action: &str, input: &str) -> Result<wit::types::Success, wit::types::Failure>;
});

interface!(secrets, Secrets {
    fn mac(data: &[u8]) -> Answer<Vec<u8>>;
    fn macs(data: &[u8]) -> Answer<Vec<Vec<u8>>>;
    fn seal(data: &[u8]) -> Answer<Vec<u8>>;
    fn open(sealed: &[u8]) -> Answer<Vec<u8>>;
});

interface!(feeds, Feeds {
    fn publication() -> Answer<String>;
    fn get_many(
        feed: &str, ids: &[String]
    ) -> Answer<Vec<Option<wit::documents::Document>>>;
    fn find(feed: &str, query: &wit::documents::Query) -> Answer<wit::documents::Page>;
    fn count_by(
        feed: &str, query: &wit::documents::Query, paths: &[String]
    ) -> Answer<Vec<Vec<wit::documents::Counted>>>;
    fn changes(since: Option<&str>, limit: u32) -> Answer<wit::feeds::ChangePage>;
});

interface!(platform, Platform {
    fn about() -> wit::platform::Service;
    fn limits() -> Vec<wit::platform::Limit>;
    fn components() -> Vec<wit::platform::Component>;
});

interface!(sms, Sms {
    fn send(to: &str, text: &str) -> Answer<String>;
});

interface!(messages, Messages {
    fn send(
        to: &str, text: &str, recipient: wit::messages::Recipient
    ) -> Result<String, wit::messages::Unsent>;
});

interface!(identity, Identity {
    fn claim(person_key: &str) -> Answer<wit::identity::Claimed>;
    fn unclaim() -> Answer<()>;
    fn rebind(owner_id: &str, person_key: &str) -> Answer<()>;
    fn owner(owner_id: &str) -> Answer<Option<wit::identity::Person>>;
    fn agents(owner_id: &str) -> Answer<Vec<wit::identity::Agent>>;
    fn last_call(owner_id: &str) -> Answer<Option<u64>>;
    fn rename(agent_id: &str, name: &str) -> Answer<()>;
    fn revoke(agent_id: &str) -> Answer<()>;
    fn sign_out(owner_id: &str) -> Answer<()>;
});

interface!(moderation, Moderation {
    fn suspend(owner_id: &str, suspension: &wit::moderation::Suspension) -> Answer<()>;
    fn reinstate(owner_id: &str) -> Answer<bool>;
});

interface!(delivery, Delivery {
    fn get(owner_id: &str) -> Answer<wit::delivery::State>;
    fn set_rules(owner_id: &str, rules: &wit::delivery::Rules) -> Answer<()>;
    fn mute(owner_id: &str, subject: &str, until: Option<u64>) -> Answer<()>;
    fn unmute(owner_id: &str, subject: &str) -> Answer<bool>;
});

interface!(inbox, Inbox {
    fn pull(
        cursor: Option<&str>, types: &[String], limit: u32
    ) -> Answer<wit::inbox::Page>;
    fn acknowledge(event_ids: &[String]) -> Answer<wit::inbox::Acknowledged>;
    fn replay(since: u64, types: &[String]) -> Answer<u32>;
});

interface!(webhooks, Webhooks {
    fn create(
        url: &str, types: &[String], description: Option<&str>
    ) -> Answer<wit::webhooks::Created>;
    fn all() -> Answer<Vec<wit::webhooks::Endpoint>>;
    fn get(id: &str) -> Answer<Option<wit::webhooks::Endpoint>>;
    fn update(
        id: &str, expect: Option<u64>, change: &wit::webhooks::Change
    ) -> Answer<wit::webhooks::Endpoint>;
    fn pause(id: &str) -> Answer<wit::webhooks::Endpoint>;
    fn resume(id: &str) -> Answer<wit::webhooks::Endpoint>;
    fn challenge(id: &str) -> Answer<wit::webhooks::Endpoint>;
    fn rotate_secret(id: &str) -> Answer<wit::webhooks::Created>;
    fn test(id: &str) -> Answer<String>;
    fn log(
        id: &str, outcome: Option<wit::webhooks::Outcome>, cursor: Option<&str>, limit: u32
    ) -> Answer<wit::webhooks::Deliveries>;
    fn redeliver(delivery_id: &str) -> Answer<Option<wit::webhooks::Delivery>>;
    fn remove(id: &str) -> Answer<bool>;
});

interface!(lookups, Lookups {
    fn txt(name: &str, action: &str, about: &str) -> Answer<String>;
    fn page(url: &str, action: &str, about: &str) -> Answer<String>;
    fn file(
        url: &str, media_types: &[String], etag: Option<&str>, last_modified: Option<&str>,
        action: &str, about: &str
    ) -> Answer<String>;
});

interface!(people, People {
    fn request_export(action: &str, about: &str) -> Answer<String>;
    fn request_erasure() -> Answer<()>;
    fn request_erasure_of(owner_id: &str) -> Answer<()>;
});
