//! Look-ups for components: TXT records of the DNS, public pages, and files that change.
//!
//! - [`request`](LookupRequest): the look-ups that a component may request.
//! - [`file_request`](FileRequest): the request for a file, and its sealed form.
//! - [`error`](LookupError): the reasons why a look-up fails.
//! - [`settings`](LookupSettings): the operator's settings.
//! - `dns`: the DNS.
//! - `guarded`: the clients, which connect only to addresses that may be reached.
//! - `pages`: pages over TLS.
//! - [`files`](FileAnswer): files that change, over TLS, with conditional requests.
//! - [`service`](Lookups): answers the requests.

mod error;
mod dns;
mod file_request;
mod files;
mod guarded;
mod pages;
mod request;
mod service;
mod settings;

pub use error::{LookupError, MAX_ANSWER_BYTES, MAX_FILE_BYTES};
pub use file_request::{FileLookup, FileRequest, is_file_address};
pub use files::{FileAnswer, Validators};
pub use request::{LookupRequest, is_host_name, is_page};
pub use service::Lookups;
pub use settings::LookupSettings;
