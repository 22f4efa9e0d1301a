//! Portolan: a host for capabilities. Each is a WebAssembly component that carries its own schema;
//! dropped into a folder, it answers calls.
//!
//! A call passes the rooms in this order, and a room uses only rooms below it:

/// The `portolan` command.
pub mod cli;
/// What an operator can set.
pub mod config;
/// Doors: REST and what describes it.
pub mod http;
/// Every capability as a tool.
pub mod mcp;
/// The one pipeline every call goes through.
pub mod invoke;
/// What every room's errors mean to a caller.
mod error;
/// Who is calling.
pub mod identity;
/// What this host can do at this moment.
pub mod catalog;
/// Where components run.
pub mod sandbox;
/// What happened, on its way to agents.
pub mod events;
/// The public feeds that are in force.
pub mod feeds;
/// What the feeds hold, to be searched.
pub mod records;
/// What is kept.
pub mod db;
/// How text messages leave.
pub mod sms;
/// What the DNS and public pages say.
pub mod lookups;
/// Requests to addresses that others name.
pub mod outgoing;
/// The words every room shares.
pub mod vocabulary;
