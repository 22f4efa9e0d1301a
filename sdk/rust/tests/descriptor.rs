//! The descriptor that the attributes of a capability produce.

use portolan_sdk::{
    contract::Guest,
    events::{Event, Happened},
    prelude::*,
};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Loan {
    book: String,
}

#[derive(Serialize, Deserialize)]
struct Reader {
    name: String,
}

const LOANS: Collection<Loan> = Collection::new("loans").unique("book", &["book"]);
static READERS: Collection<Reader> = Collection::new("readers").text(&["name"]);

const LENT: Event<Loan> = Event::new("library.lent");
const CHANGED: Event<Loan> = Event::new("library.changed").public();
const BUY: Invocation<Loan, ()> = Invocation::new("shop", "buy");

#[derive(Debug, Clone, Copy, PartialEq, States)]
enum LoanState {
    Lent,
    GivenBack,
}

const LOAN: Machine<LoanState> = Machine::new(
    "loan",
    &[
        Transition::new("lend", &[], &[LoanState::Lent]),
        Transition::new("fail", &[LoanState::Lent], &[LoanState::GivenBack]).by("reader"),
    ],
);

#[derive(Refusals)]
enum LibraryError {
    /// Somebody else has this book.
    #[refusal(conflict)]
    BookLent,
    #[refusal(transparent)]
    Common(Refusal),
}

struct Library;

/// Lends books.
#[capability(
    id = "library",
    title = "Library",
    invokes = [BUY],
    collections = [LOANS, READERS],
    state_machines = [LOAN]
)]
impl Library {
    /// Lend a book.
    #[action(access = write, emits = [LENT, CHANGED], annotations = [("example.org/shelf", 7)])]
    fn lend(_call: &Call, input: Loan) -> Result<Loan, LibraryError> {
        let code = HostError::Duplicate(input.book);
        Err(code).on_duplicate(|_| LibraryError::BookLent)
    }

    /// Hear of new books and of lost ones.
    #[action(access = internal, callers = ["shop"], name = "hear", on = "shop.sold", on = LENT)]
    fn on_book(_call: &Call, event: Happened<Loan>) -> Result<Loan, LibraryError> {
        Ok(event.data)
    }

    /// Ask for something that the host does not have.
    #[action(access = read)]
    fn fail(_call: &Call) -> Result<NoOutput, LibraryError> {
        Err(HostError::Unavailable("documents".into()))?
    }
}

fn descriptor() -> portolan_sdk::contract::Descriptor {
    let hook = std::panic::take_hook();
    let descriptor = Library::describe();
    std::panic::set_hook(hook);
    descriptor
}

#[test]
fn constants_become_collections_events_and_subscriptions() {
    let descriptor = descriptor();
    let collections: Vec<_> =
        descriptor.collections.iter().map(|collection| collection.name.as_str()).collect();
    assert_eq!(collections, ["loans", "readers"]);
    let emits: Vec<_> = descriptor.actions.iter().map(|action| action.emits.join(" ")).collect();
    assert_eq!(emits, ["library.lent library.changed", "", ""]);
    let publishes: Vec<_> = descriptor
        .publishes
        .iter()
        .map(|declared| (declared.event_type.as_str(), declared.sensitive))
        .collect();
    assert_eq!(publishes, [("library.lent", true), ("library.changed", false)]);
    let invokes = descriptor.invokes.iter();
    let invokes: Vec<_> =
        invokes.map(|called| format!("{} {}", called.capability, called.action)).collect();
    assert_eq!(invokes, ["shop buy"]);
    let callers: Vec<_> =
        descriptor.actions.iter().map(|action| action.callers.join(" ")).collect();
    assert_eq!(callers, ["", "shop", ""]);
    let annotated = descriptor.actions.iter().flat_map(|action| &action.annotations);
    let annotated: Vec<_> = annotated.map(|pair| format!("{}={}", pair.key, pair.value)).collect();
    assert_eq!(annotated, ["example.org/shelf=7"]);
    let subscriptions: Vec<_> = descriptor
        .subscriptions
        .iter()
        .map(|subscription| (subscription.event_type.as_str(), subscription.action.as_str()))
        .collect();
    assert_eq!(subscriptions, [("shop.sold", "hear"), ("library.lent", "hear")]);
}

#[test]
fn a_table_of_states_stands_in_the_descriptor() {
    let descriptor = descriptor();
    let machine = &descriptor.state_machines[0];
    assert_eq!(
        (machine.name.as_str(), machine.states.join(" ")),
        ("loan", "lent given_back".into())
    );
    let rows: Vec<_> = machine
        .transitions
        .iter()
        .map(|row| (row.action.as_str(), row.from.join(" "), row.to.join(" "), row.role.as_deref()))
        .collect();
    assert_eq!(
        rows,
        [
            ("lend", String::new(), "lent".into(), None),
            ("fail", "lent".into(), "given_back".into(), Some("reader")),
        ]
    );
}

#[test]
fn a_subscription_takes_an_event() {
    let text = r#"{"id":"evt_1","event_type":"shop.sold","subject":"books/1","data":{"book":"b"}}"#;
    let success = portolan_sdk::run(text, |event| Library::on_book(&call(), event));
    assert_eq!(success.unwrap().output, r#"{"book":"b"}"#);
}

#[test]
fn answers_of_the_host_pass_through_a_question_mark() {
    let failure = portolan_sdk::run("{\"book\":\"b\"}", |loan| Library::lend(&call(), loan));
    assert_eq!(failure.unwrap_err().code, "book_lent");
    let fail = |_: portolan_sdk::NoInput| Library::fail(&call());
    assert_eq!(portolan_sdk::run("{}", fail).unwrap_err().code, "dependency_unavailable");
}

fn call() -> Call {
    Call::new(portolan_sdk::contract::Caller::System)
}
