//! The treatment of a call of a host function that the record does not have, in a replay.

/// How the calls of one host function are recorded and replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Whether the function changes something, so that a replay compares its calls with the recorded ones.
    pub(crate) is_effect: bool,
    /// Whether the arguments are kept as a digest only.
    pub(crate) hides_arguments: bool,
    /// Whether the answer is a secret. A run that was given one is not kept.
    pub(crate) gives_secret: bool,
    pub(crate) otherwise: Otherwise,
}

/// The answer to a call that the record does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// There is none: the run ends as diverged.
    Diverge,
    /// The function itself, which needs nothing but the call.
    Run,
    /// The recorded answer to a call of the same function with the most equal arguments; without one, this answer in
    /// JSON, or none.
    Nearest(Option<&'static str>),
}

impl Policy {
    const fn new(is_effect: bool, otherwise: Otherwise) -> Self {
        Self { is_effect, hides_arguments: false, gives_secret: false, otherwise }
    }

    pub(crate) const READ: Self = Self::new(false, Otherwise::Diverge);
    /// An effect whose function checks the call without reading anything.
    pub(crate) const CHECKED: Self = Self::new(true, Otherwise::Run);
    pub(crate) const EFFECT: Self = Self::new(true, Otherwise::Nearest(None));
    /// An effect that is answered with nothing.
    pub(crate) const SILENT: Self =
        Self::new(true, Otherwise::Nearest(Some(r#"{"Ok":{"Ok":null}}"#)));
    /// An effect that is answered with whether there was something to change.
    pub(crate) const CHANGE: Self =
        Self::new(true, Otherwise::Nearest(Some(r#"{"Ok":{"Ok":true}}"#)));
    /// A write, which is answered with a revision.
    pub(crate) const WRITE: Self = Self::new(true, Otherwise::Nearest(Some(r#"{"Ok":{"Ok":1}}"#)));
    /// A nested call: its effects are those of another component.
    pub(crate) const NESTED: Self = Self::new(true, Otherwise::Diverge);
    /// A computation with the capability's own keys.
    pub(crate) const KEYED: Self =
        Self { hides_arguments: true, ..Self::new(false, Otherwise::Run) };
    /// An effect whose arguments are not kept, such as the text of a message with a code.
    pub(crate) const HIDDEN: Self = Self { hides_arguments: true, ..Self::EFFECT };
    /// An effect that is answered with a secret.
    pub(crate) const SECRET: Self = Self { gives_secret: true, ..Self::HIDDEN };
    /// A read of the bytes of a file, which no recording has: they can tell more than their person knows.
    pub(crate) const BYTES: Self = Self { gives_secret: true, ..Self::READ };
}
