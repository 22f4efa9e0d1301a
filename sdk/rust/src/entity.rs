//! Entities: stored documents with states. Loads an entity or refuses, changes its state, saves it,
//! and publishes events about it.
//!
//! ```no_run
//! use portolan_sdk::prelude::*;
//!
//! #[choice(States)]
//! enum State {
//!     Lent,
//!     GivenBack,
//! }
//!
//! #[document]
//! #[entity(
//!     kind = "loan", collection = LOANS, owner = owner_id,
//!     not_found = LibraryError::LoanNotFound
//! )]
//! struct Loan {
//!     owner_id: String,
//!     book: String,
//!     state: State,
//! }
//!
//! const LOANS: Collection<Loan> = Collection::new("loans").index("owner", &["owner_id"]);
//! const LOAN: Machine<State> = Machine::new("loan", &[
//!     Transition::new("lend", &[], &[State::Lent]),
//!     Transition::new("give_back", &[State::Lent], &[State::GivenBack]),
//! ])
//! .read_by("library", "get", "loan_id");
//!
//! #[derive(Refusals)]
//! enum LibraryError {
//!     /// There is no such loan.
//!     #[refusal(not_found)]
//!     LoanNotFound,
//!     #[refusal(transparent)]
//!     Common(Refusal),
//! }
//!
//! fn give_back(call: &Call, loan_id: &str, expected: Option<Version>) -> Result<(), LibraryError> {
//!     let mut loan = Loan::load_own(call, loan_id)?;
//!     loan.ensure_version(expected, || &loan.value.book, Next::call("library"))?;
//!     loan.step(&LOAN, "give_back")?;
//!     Ok(loan.save()?)
//! }
//! ```

use crate::{
    Call, HostError, Next, Refusal,
    documents::{Collection, Stored},
    events::{Audience, Data, Event, Resource},
    states::{Machine, States},
};
use portolan_codes::ErrorCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The version that the caller has read. If there is a newer one, the call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Version(pub u64);

/// A stored document with states. `#[entity(…)]` on the struct of the document implements it; its field
/// `state` has the state.
pub trait Entity: Serialize + DeserializeOwned + 'static {
    type State: States;
    /// The refusals of the capability.
    type Refusal: From<Refusal> + From<HostError>;
    /// The name of the kind in events, such as `listing`.
    const KIND: &'static str;
    const COLLECTION: Collection<Self>;
    /// The prefix of the subjects of events about these documents: the collection's name, unless
    /// `#[entity(subjects = "…")]` says otherwise.
    const SUBJECTS: &'static str = Self::COLLECTION.name();

    fn state(&self) -> Self::State;

    fn set_state(&mut self, state: Self::State);

    /// Returns the refusal for an entity that does not exist or is not visible to the caller.
    fn not_found() -> Self::Refusal;

    /// Returns the entity of this id for any caller, or the refusal [`not_found`](Self::not_found).
    fn load(id: &str) -> Result<Stored<Self>, Self::Refusal> {
        Self::COLLECTION.get(id)?.ok_or_else(Self::not_found)
    }

    /// Returns the entity of this id if it is visible to the owner of the calling agent, or the refusal
    /// [`not_found`](Self::not_found).
    fn load_own(call: &Call, id: &str) -> Result<Stored<Self>, Self::Refusal>
    where
        Self: Visible,
    {
        let owner_id = call.owner_id().ok_or_else(Self::not_found)?;
        let found = Self::COLLECTION.get(id)?;
        found.filter(|thing| thing.value.is_visible_to(owner_id)).ok_or_else(Self::not_found)
    }
}

/// The people who may see an entity. `#[entity(owner = field)]` implements it for an entity with one
/// owner; implement it by hand where several people see the entity.
pub trait Visible: Entity {
    fn is_visible_to(&self, owner_id: &str) -> bool;
}

/// An entity that one person owns. `#[entity(owner = field)]` implements this trait.
pub trait Owned: Entity {
    fn owner_id(&self) -> &str;
}

impl<T: Owned> Stored<T> {
    /// Publishes an event about the entity for its owner.
    pub fn notify_owner<D: Serialize>(
        &self,
        event: Event<Data<D>>,
        data: &Data<D>,
    ) -> Result<(), HostError> {
        self.publish(event, Audience::Owner(self.value.owner_id().to_owned()), data)
    }
}

impl<T: Entity> Stored<T> {
    /// Refuses with `version_conflict` if the caller has read another version. See
    /// [`ensure_version`].
    pub fn ensure_version<V: Serialize>(
        &self,
        expected: Option<Version>,
        current: impl FnOnce() -> V,
        read: Next,
    ) -> Result<(), Refusal> {
        ensure_version(expected, self.revision, current, read)
    }

    /// Changes the state by an action, or refuses with `invalid_transition`.
    pub fn step(&mut self, machine: &Machine<T::State>, action: &str) -> Result<(), Refusal> {
        let to = machine.step(&self.id, self.value.state(), action)?;
        self.value.set_state(to);
        Ok(())
    }

    /// Changes the state by an action to one of its possible next states, or refuses with
    /// `invalid_transition`.
    pub fn step_to(
        &mut self,
        machine: &Machine<T::State>,
        action: &str,
        to: T::State,
    ) -> Result<(), Refusal> {
        machine.step_to(&self.id, self.value.state(), action, to)?;
        self.value.set_state(to);
        Ok(())
    }

    /// Writes the entity, or adds it if it is new.
    pub fn save(&mut self) -> Result<(), HostError> {
        T::COLLECTION.save(self)
    }

    /// Returns what an event says about the entity: its kind, id, state and version.
    pub fn resource(&self) -> Resource {
        let state = self.value.state().name();
        Resource { kind: T::KIND, id: self.id.clone(), state, version: self.revision }
    }

    /// Returns the subject of all events about the entity, such as `listings/lst_1`.
    pub fn subject(&self) -> String {
        format!("{}/{}", T::SUBJECTS, self.id)
    }

    /// Publishes an event about the entity.
    pub fn publish<D: Serialize>(
        &self,
        event: Event<Data<D>>,
        to: Audience,
        data: &Data<D>,
    ) -> Result<(), HostError> {
        event.publish(to, self.subject(), data)
    }
}

/// The conflict of a refusal because an equal entity exists already.
#[derive(Debug, Serialize)]
pub struct Duplicate {
    kind: &'static str,
    existing_id: String,
    existing_state: &'static str,
}

impl Duplicate {
    pub fn new(existing_id: impl Into<String>, existing_state: &'static str) -> Self {
        Self { kind: "duplicate", existing_id: existing_id.into(), existing_state }
    }
}

#[derive(Serialize)]
struct VersionConflict<T> {
    kind: &'static str,
    expected: Version,
    current_version: u64,
    current: T,
}

/// Refuses with `version_conflict` if the caller has read another version than the current one. The refusal
/// has the current entity and the call that reads it. Without an expectation, any version is accepted.
pub fn ensure_version<V: Serialize>(
    expected: Option<Version>,
    current_version: u64,
    current: impl FnOnce() -> V,
    read: Next,
) -> Result<(), Refusal> {
    let Some(expected) = expected.filter(|expected| expected.0 != current_version) else {
        return Ok(());
    };
    let conflict =
        VersionConflict { kind: "version", expected, current_version, current: current() };
    let message = "It has changed since the expected version was read. Read it again.";
    Err(Refusal::common(ErrorCode::VersionConflict, message).conflict(&conflict).next(read))
}

/// Makes a view of a document: the fields before the semicolon are copied from it, the others are
/// written out. With `move` before the document, they are moved out of it instead.
///
/// ```
/// use portolan_sdk::view;
///
/// struct Loan {
///     book: String,
///     days: u8,
/// }
///
/// struct LoanView {
///     book: String,
///     days: u8,
///     fee: u32,
/// }
///
/// let loan = Loan { book: "Momo".into(), days: 3 };
/// let shown = view!(loan => LoanView { book, days; fee: u32::from(loan.days) * 10 });
/// assert_eq!((shown.book.as_str(), shown.days, shown.fee), ("Momo", 3, 30));
/// let shown = view!(move loan => LoanView { book, days; fee: 0 });
/// assert_eq!((shown.book.as_str(), shown.fee), ("Momo", 0));
/// ```
#[macro_export]
macro_rules! view {
    (move $document:ident => $view:ident { $($field:ident),+ $(,)?; $($others:tt)* }) => {
        $view { $($field: $document.$field,)+ $($others)* }
    };
    ($document:expr => $view:ident { $($field:ident),+ $(,)?; $($others:tt)* }) => {
        $view { $($field: ::core::clone::Clone::clone(&$document.$field),)+ $($others)* }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::Transition;
    use serde_json::json;

    #[portolan_sdk::choice(portolan_sdk::States)]
    enum State {
        Lent,
        GivenBack,
    }

    #[portolan_sdk::document]
    #[portolan_sdk::entity(
        kind = "loan", collection = LOANS, owner = reader, not_found = Refusal::missing()
    )]
    struct Loan {
        reader: String,
        state: State,
    }

    impl Refusal {
        fn missing() -> Self {
            Self::common(ErrorCode::NotFound, "There is no such loan.")
        }
    }

    const LOANS: Collection<Loan> = Collection::new("loans");
    const LOAN: Machine<State> = Machine::new(
        "loan",
        &[
            Transition::new("lend", &[], &[State::Lent]),
            Transition::new("give_back", &[State::Lent], &[State::GivenBack]),
        ],
    );

    fn loan() -> Stored<Loan> {
        let value = Loan { reader: "own_1".into(), state: State::Lent };
        Stored { revision: 3, ..Stored::new("loan_1", value, 0) }
    }

    #[test]
    fn a_thing_takes_steps_and_names_itself_in_events() {
        let mut loan = loan();
        loan.step(&LOAN, "give_back").unwrap();
        let refusal = loan.step(&LOAN, "give_back").unwrap_err();
        assert_eq!(refusal.code, "invalid_transition");
        assert!(loan.step_to(&LOAN, "lend", State::Lent).is_err());
        assert_eq!(loan.subject(), "loans/loan_1");
        assert_eq!(
            crate::to_value(&loan.resource()),
            json!({ "type": "loan", "id": "loan_1", "state": "given_back", "version": 3 })
        );
    }

    #[test]
    fn only_its_owner_sees_it() {
        let loan = loan();
        assert!(loan.value.is_visible_to("own_1") && !loan.value.is_visible_to("own_2"));
        assert_eq!(Loan::not_found().code, "not_found");
    }

    #[test]
    fn another_version_is_refused_with_the_current_thing() {
        let ensured = |expected: Option<u64>| {
            loan().ensure_version(expected.map(Version), || "as it is", Next::call("library"))
        };
        assert!(ensured(None).is_ok() && ensured(Some(3)).is_ok());
        let refusal = ensured(Some(2)).unwrap_err();
        assert_eq!(refusal.code, "version_conflict");
        let conflict = json!({
            "kind": "version", "expected": 2, "current_version": 3, "current": "as it is",
        });
        assert_eq!(refusal.conflict.as_deref(), Some(&conflict));
    }

    #[test]
    fn an_expected_version_describes_itself() {
        #[portolan_sdk::input]
        struct Change {
            expected_version: Option<Version>,
        }
        let schema = crate::to_value(&schemars::schema_for!(Change));
        let version = &schema["properties"]["expected_version"];
        assert!(schema.get("required").is_none(), "{schema}");
        let _ = Change { expected_version: None }.expected_version;
        let inline = schemars::generate::SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator()
            .into_root_schema_for::<Change>();
        let inline = crate::to_value(&inline)["properties"]["expected_version"].clone();
        assert_eq!(inline["type"], json!(["integer", "null"]), "{inline}");
        assert!(inline["description"].is_string(), "{inline} {version}");
    }
}
