//! The whole pipeline, through real HTTP, against servers on this machine.

mod demo;
mod signals;
mod sources;
mod support;
