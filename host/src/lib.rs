//! Portolan: a host for capabilities. Each is a WebAssembly component that carries its own schema;
//! dropped into a folder, it answers calls.
//!
//! A call passes the rooms in this order, and a room uses only rooms below it:

/// What this host can do at this moment.
pub mod catalog;
/// The `portolan` command.
pub mod cli;
/// What an operator can set.
pub mod config;
/// What is kept.
pub mod db;
/// What every room's errors mean to a caller.
mod error;
/// Doors: REST and what describes it.
pub mod http;
/// Who is calling.
pub mod identity;
/// The one pipeline every call goes through.
pub mod invoke;
/// Where components run.
pub mod sandbox;
/// The words every room shares.
pub mod vocabulary;
