//! Texts that try to inject markup, scripts or forbidden addresses.

use serde::Deserialize;
use std::sync::LazyLock;

pub(crate) static CORPUS: LazyLock<Corpus> =
    LazyLock::new(|| toml::from_str(include_str!("hostile.toml")).unwrap());

#[derive(Deserialize)]
pub(crate) struct Corpus {
    /// Whole attacks.
    pub(crate) whole: Vec<String>,
    /// Parts that attacks are made of; tests join them at random.
    pub(crate) pieces: Vec<String>,
}
