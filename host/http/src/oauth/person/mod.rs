//! A person's own page: what capabilities declare for it, read and called in the person's name.
//!
//! - `calls`: the calls of a page, each within a time
//! - `things`: what a call has answered, as a page shows it
//! - `forms`: the forms of actions, and the input that a person has filled in
//! - `budget`: how much one page has of what capabilities answer
//! - `refused`: why a call was refused, in words
//! - `activity`: what was done last in the name of an agent
//! - `glance`: the capabilities on the first page of the account, with what they have
//! - `page`: the page of one capability
//! - `handoff`: the pages of handoffs, whose calls a person makes here
//! - `file`, `zip`: files that capabilities answer in parts
//!
//! Texts of components are hostile until proved otherwise: each page says whose they are, templates escape them, and
//! what one page has is bounded. A call that fails or takes too long is a line on the page.

pub(super) mod activity;
mod budget;
pub(super) mod calls;
mod file;
mod forms;
pub(super) mod glance;
pub(in super::super) mod handoff;
pub(in super::super) mod page;
mod refused;
mod things;
mod zip;
