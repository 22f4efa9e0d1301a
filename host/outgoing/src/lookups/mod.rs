//! Look-ups for components that ask: TXT records of the DNS, and public pages.
//!
//! - [`request`](LookupRequest): what a component may ask for.
//! - [`error`](LookupError): why there is no answer.
//! - [`settings`](LookupSettings): what an operator can set.
//! - `names`: the DNS.
//! - `pages`: pages over TLS.
//! - [`service`](Lookups): answers the requests.

mod error;
mod names;
mod pages;
mod request;
mod service;
mod settings;

pub use error::{LookupError, MAX_ANSWER_BYTES};
pub use request::{LookupRequest, is_host_name, is_page};
pub use service::Lookups;
pub use settings::LookupSettings;
