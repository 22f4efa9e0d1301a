//! Splits texts into the words by which they are searched: one analysis for documents and for queries.
//!
//! - `tokens`: the words of a text, and the runs of scripts that are written without spaces
//! - `language`: the language of a text, stop words and stems
//! - `document`: the terms under which a text is indexed
//! - `query`: the words that a query searches for, each with the terms that match it
//! - `letters`: whether a text has words at all
//!
//! A *term* is what the index holds: lower case, in normal form KC, without diacritics, and reduced to its stem.

#[cfg(feature = "stems")]
mod document;
#[cfg(feature = "stems")]
mod language;
mod letters;
#[cfg(feature = "stems")]
mod query;
#[cfg(feature = "stems")]
mod tokens;

#[cfg(feature = "stems")]
pub use document::terms;
pub use letters::has_words;
#[cfg(feature = "stems")]
pub use query::{Term, Word, words};
