//! The reasons why a file cannot be made a component.

/// The reason why a file cannot be made a component.
#[derive(Debug, thiserror::Error)]
pub enum ComponentizeError {
    #[error("it is a component already")]
    Component,
    #[error("it is not a core WebAssembly module")]
    NotAModule,
    #[error("it is damaged or cut short; build it again")]
    Damaged,
    #[error(
        "it exports no `{0}`; export `describe`, `call`, `cabi_realloc` and `memory`, as wit/world.wit asks for"
    )]
    NoExport(&'static str),
    #[error(
        "it imports `{function}` of `{module}`, which is neither of the contract nor of WASI; build it without that import"
    )]
    UnknownImport { module: String, function: String },
    #[error("it does not fit the contract: {0}")]
    Contract(String),
}

/// Wraps the encoder's own error, whose last cause says what does not fit.
pub(crate) fn contract_error(error: impl std::fmt::Display) -> ComponentizeError {
    ComponentizeError::Contract(format!("{error:#}"))
}
