//! Messages for the operator's log: a macro for each level, which formats its arguments like `format!`.
//!
//! ```no_run
//! use portolan_sdk::prelude::*;
//!
//! fn lend(book: &str, copies: u32) {
//!     log::info!("{book} is lent");
//!     if copies == 0 {
//!         log::warn!("{book} has no copies left");
//!     }
//! }
//! ```
//!
//! A call writes at most 64 messages of 1024 bytes; the host counts the others.

pub use crate::contract::context::Level;
pub use crate::{
    log_debug as debug, log_error as error, log_info as info, log_trace as trace, log_warn as warn,
};

/// Writes a message of this level. The macros call this function.
pub fn write(level: Level, message: &str) {
    crate::contract::context::log(level, message);
}

#[doc(hidden)]
#[macro_export]
macro_rules! log_trace {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Trace, &::std::format!($($message)+)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! log_debug {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Debug, &::std::format!($($message)+)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! log_info {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Info, &::std::format!($($message)+)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! log_warn {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Warn, &::std::format!($($message)+)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! log_error {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Error, &::std::format!($($message)+)) };
}
