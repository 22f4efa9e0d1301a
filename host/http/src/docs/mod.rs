//! `GET /docs`: the reference of the live catalog for people, a page for each capability. It is made of the
//! descriptors, whose texts nobody has checked: templates escape them, and what one page has is bounded.

mod capability;
mod list;
mod marked;

pub(super) use capability::show as capability;
pub(super) use list::show as list;
