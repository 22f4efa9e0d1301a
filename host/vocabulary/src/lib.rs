//! The words every room shares. Knows nothing of HTTP, SQL or WebAssembly.

mod access;
mod caller;
mod clock;
mod descriptor;
mod digest;
mod failure;
mod identifier;
mod keyring;
mod limits;
mod retention;
pub mod sealed;
mod timestamp;

pub use access::Access;
pub use caller::{AgentCaller, Caller, Claimed, KnownOwner, OwnedAgent};
pub use clock::Clock;
pub use descriptor::{
    ActionDescriptor, Collection, Descriptor, ErrorDeclaration, Geo, Index, StateMachine, Status,
    Subscription, Transition,
};
pub use digest::Digest;
pub use failure::{Failure, RETRY_SOON_S};
pub use identifier::{
    CATALOG_CHANGED, HOST, HOST_EVENTS, LOOKUPS_OF, OUTGOING_SMS, PHONE_BINDING, SMS_UNDELIVERABLE,
    STREAM_GAP, WEBHOOK_CHALLENGE, WEBHOOK_DISABLED, WEBHOOK_TEST, entropy, is_capability_id,
    is_event_type, is_snake_case, new_identifier, new_request_id,
};
pub use keyring::Keyring;
pub use limits::{Limit, Limits};
pub use portolan_codes::{ErrorCode, ErrorKind};
pub use retention::Retention;
pub use timestamp::Timestamp;
