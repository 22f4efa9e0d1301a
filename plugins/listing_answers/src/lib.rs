//! What in one listing answers what in another. The data are the files of `listing_taxonomy`; its
//! tables are made when this is built.

mod banded;
mod compare;
mod concepts;
mod lines;
mod said;
mod tables;
mod tags;
mod tokens;

pub use banded::banded;
pub use compare::{days, distance_km, same};
pub use concepts::{gist, similarity};
pub use lines::{Line, Lines, lines, required_facts, value_of};
pub use said::said;
pub use tables::{Category, category};
