//! `GET /docs`: the reference of the live catalog for people, a page for each capability. It is made of the
//! descriptors, whose texts nobody has checked: templates escape them, and what one page has is bounded. Beside it
//! are the common error codes, the guides of this project, and how clients of MCP are connected.

mod advice;
mod capability;
mod connect;
mod diagram;
mod errors;
mod guides;
mod list;
mod markdown;
mod marked;
mod snippets;

pub(super) use capability::show as capability;
pub(super) use connect::show as connect;
pub(super) use errors::show as errors;
pub(super) use guides::{names as guide_names, show as guide};
pub(super) use list::show as list;
