//! The pages about the service, as static tables that the build makes.

mod refusal;

pub use refusal::{NoSuchPage, find};

use portolan_sdk::prelude::*;

/// The language of every page.
pub const LOCALE: &str = "en";

/// Whether the pages are in the requested language (BCP 47): true for English of any region, as in
/// the look-up of RFC 4647.
pub fn serves(requested: &str) -> bool {
    requested.split(['-', '_']).next().is_some_and(|language| language.eq_ignore_ascii_case(LOCALE))
}

/// A page in all its forms.
#[derive(Debug)]
pub struct Page {
    pub slug: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub locale: &'static str,
    /// The version, which increases with every change of the text.
    pub version: u32,
    pub updated_at: &'static str,
    /// The first hexadecimal digits of the SHA-256 of the Markdown.
    pub etag: &'static str,
    pub words: usize,
    pub markdown: &'static str,
    pub html: &'static str,
    pub text: &'static str,
    pub toc: &'static [Heading],
    pub links: &'static [PageLink],
}

/// A section of a page.
#[output]
pub struct Heading {
    /// The level: 2 for a section, 3 for a part of one.
    pub level: u8,
    pub text: &'static str,
    /// The `id` of the heading in the HTML form.
    pub anchor: &'static str,
}

/// A link in a page.
#[derive(Debug, Clone, Copy)]
pub struct PageLink {
    pub url: &'static str,
    pub text: &'static str,
}

/// Every page, in reading order.
pub static PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

#[cfg(test)]
mod tests;
