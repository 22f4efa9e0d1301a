//! The imports where there is no host: off WebAssembly they go to the world of the running test. Without
//! one they panic, and say so.

use crate::contract::portolan::capability as wit;
use std::{cell::RefCell, rc::Rc};
use wit::types::{Failure, HostError, Success};

/// Everything that a capability imports. A world implements what tests need; the rest panics.
pub(crate) trait Host:
    Context
    + Documents
    + Events
    + Feeds
    + Identity
    + Inbox
    + Invoke
    + Lookups
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

/// The world of the running test, until this is dropped.
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

/// Returns whether a test has a world.
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
            #[allow(unused_imports, reason = "not every interface has each type")]
            use super::{$interface, Failure, HostError, Success, wit};
            pub use wit::$module::*;

            $(pub fn $function($($argument: $type),*) $(-> $answer)? {
                let name = concat!(stringify!($module), ".", stringify!($function));
                super::import(name, |world| $interface::$function(world, $($argument),*))
            })+
        }
    };
}

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
    fn get(collection: &str, id: &str) -> Result<Option<wit::documents::Document>, HostError>;
    fn get_many(
        collection: &str, ids: &[String]
    ) -> Result<Vec<Option<wit::documents::Document>>, HostError>;
    fn find(
        collection: &str, query: &wit::documents::Query
    ) -> Result<wit::documents::Page, HostError>;
    fn count(collection: &str, filter: Option<&str>) -> Result<u64, HostError>;
    fn count_by(
        collection: &str, query: &wit::documents::Query, paths: &[String]
    ) -> Result<Vec<Vec<wit::documents::Counted>>, HostError>;
    fn put(
        collection: &str, id: &str, body: &str, expect: wit::documents::Expectation
    ) -> Result<u64, HostError>;
    fn delete(
        collection: &str, id: &str, expect: wit::documents::Expectation
    ) -> Result<(), HostError>;
    fn report_unreadable(
        collection: &str, id: &str, revision: u64, reason: &str
    ) -> Result<(), HostError>;
});

interface!(events, Events {
    fn publish(to: &wit::events::Audience, event: &wit::events::Event) -> Result<(), HostError>;
});

interface!(timers, Timers {
    fn set(name: &str, at: u64, action: &str, input: &str) -> Result<(), HostError>;
    fn cancel(name: &str) -> Result<bool, HostError>;
});

interface!(invoke, Invoke {
    fn call(capability: &str, action: &str, input: &str) -> Result<Success, Failure>;
});

interface!(secrets, Secrets {
    fn mac(data: &[u8]) -> Result<Vec<u8>, HostError>;
    fn macs(data: &[u8]) -> Result<Vec<Vec<u8>>, HostError>;
    fn seal(data: &[u8]) -> Result<Vec<u8>, HostError>;
    fn open(sealed: &[u8]) -> Result<Vec<u8>, HostError>;
});

interface!(feeds, Feeds {
    fn publication() -> Result<String, HostError>;
    fn get_many(
        feed: &str, ids: &[String]
    ) -> Result<Vec<Option<wit::documents::Document>>, HostError>;
    fn find(feed: &str, query: &wit::documents::Query) -> Result<wit::documents::Page, HostError>;
    fn count_by(
        feed: &str, query: &wit::documents::Query, paths: &[String]
    ) -> Result<Vec<Vec<wit::documents::Counted>>, HostError>;
});

interface!(platform, Platform {
    fn about() -> wit::platform::Service;
    fn limits() -> Vec<wit::platform::Limit>;
    fn components() -> Vec<wit::platform::Component>;
});

interface!(sms, Sms {
    fn send(to: &str, text: &str) -> Result<String, HostError>;
});

interface!(identity, Identity {
    fn claim(person_key: &str) -> Result<wit::identity::Claimed, HostError>;
    fn unclaim() -> Result<(), HostError>;
    fn rebind(owner_id: &str, person_key: &str) -> Result<(), HostError>;
    fn owner(owner_id: &str) -> Result<Option<wit::identity::Person>, HostError>;
    fn agents(owner_id: &str) -> Result<Vec<wit::identity::Agent>, HostError>;
    fn rename(agent_id: &str, name: &str) -> Result<(), HostError>;
    fn revoke(agent_id: &str) -> Result<(), HostError>;
});

interface!(inbox, Inbox {
    fn pull(
        cursor: Option<&str>, types: &[String], limit: u32
    ) -> Result<wit::inbox::Page, HostError>;
    fn acknowledge(event_ids: &[String]) -> Result<wit::inbox::Acknowledged, HostError>;
    fn replay(since: u64, types: &[String]) -> Result<u32, HostError>;
});

interface!(webhooks, Webhooks {
    fn create(
        url: &str, types: &[String], description: Option<&str>
    ) -> Result<wit::webhooks::Created, HostError>;
    fn all() -> Result<Vec<wit::webhooks::Endpoint>, HostError>;
    fn get(id: &str) -> Result<Option<wit::webhooks::Endpoint>, HostError>;
    fn update(
        id: &str, expect: Option<u64>, change: &wit::webhooks::Change
    ) -> Result<wit::webhooks::Endpoint, HostError>;
    fn pause(id: &str) -> Result<wit::webhooks::Endpoint, HostError>;
    fn resume(id: &str) -> Result<wit::webhooks::Endpoint, HostError>;
    fn challenge(id: &str) -> Result<wit::webhooks::Endpoint, HostError>;
    fn rotate_secret(id: &str) -> Result<wit::webhooks::Created, HostError>;
    fn test(id: &str) -> Result<String, HostError>;
    fn log(
        id: &str, outcome: Option<wit::webhooks::Outcome>, cursor: Option<&str>, limit: u32
    ) -> Result<wit::webhooks::Deliveries, HostError>;
    fn redeliver(delivery_id: &str) -> Result<Option<wit::webhooks::Delivery>, HostError>;
    fn remove(id: &str) -> Result<bool, HostError>;
});

interface!(lookups, Lookups {
    fn txt(name: &str, action: &str, about: &str) -> Result<String, HostError>;
    fn page(url: &str, action: &str, about: &str) -> Result<String, HostError>;
});

interface!(people, People {
    fn request_export(action: &str, about: &str) -> Result<String, HostError>;
    fn request_erasure() -> Result<(), HostError>;
});
