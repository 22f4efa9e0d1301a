//! Compares what one listing asks for with what another one offers. The rules are in the files of
//! `listing_taxonomy`; the build script makes tables of them.

mod rounding;
mod search;
mod clauses;
mod compare;
mod concepts;
mod levels;
mod lines;
mod numbers;
mod prices;
mod extraction;
mod highlights;
mod stances;
mod stays;
mod tables;
mod tags;
mod tokens;
mod weekdays;
mod topics;
mod wishes;

pub use compare::{are_equal, days, distance_km};
pub use concepts::{gist, words_in_common};
pub use extraction::extract_values;
pub use highlights::highlights;
pub use lines::{Line, Lines, lines, required_facts, value_of};
pub use rounding::{is_rounded, round_values};
pub use search::{concept_names, expand_query, index_words, languages};
pub use tables::{Category, category};
pub use wishes::{TO_CHECK, add_wishes};
