//! Compares what one listing asks for with what another one offers. The rules are in the files of
//! `listing_taxonomy`; the build script makes tables of them.

mod banded;
mod clauses;
mod compare;
mod concepts;
mod levels;
mod lines;
mod numbers;
mod prices;
mod said;
mod stances;
mod tables;
mod tags;
mod tokens;
mod topics;

pub use banded::banded;
pub use compare::{days, distance_km, same};
pub use concepts::{gist, similarity};
pub use lines::{Line, Lines, lines, required_facts, value_of};
pub use said::said;
pub use tables::{Category, category};
