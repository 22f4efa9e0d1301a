//! Look-ups for components: TXT records of the DNS, and public pages.
//!
//! - [`request`](LookupRequest): the look-ups that a component may request.
//! - [`error`](LookupError): the reasons why a look-up fails.
//! - [`settings`](LookupSettings): the operator's settings.
//! - `dns`: the DNS.
//! - `pages`: pages over TLS.
//! - [`service`](Lookups): answers the requests.

mod error;
mod dns;
mod pages;
mod request;
mod service;
mod settings;

pub use error::{LookupError, MAX_ANSWER_BYTES};
pub use request::{LookupRequest, is_host_name, is_page};
pub use service::Lookups;
pub use settings::LookupSettings;
