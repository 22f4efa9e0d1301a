//! Publications of invented documents.

mod log;
mod steps;
mod support;
