//! Unit tests of a capability as its author writes them: in a world, without a host.

use portolan_sdk::{
    contract::events,
    documents::{Counted, Direction, Person},
    log::Level,
    lookups,
    prelude::*,
    secrets,
    test::{self, Asked, Logged, Question, Timer, World},
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

#[document]
struct Book {
    title: String,
    /// Unique among the books.
    code: String,
    price: u32,
    tags: Vec<String>,
    keeper: Option<String>,
}

const BOOKS: Collection<Book> = Collection::new("books")
    .index("title", &["title"])
    .index("price", &["price"])
    .index("tags", &["tags[]"])
    .unique("code", &["code"])
    .text(&["title"])
    .people(&[Person::delete("keeper")]);

#[document]
struct Hidden {
    text: String,
}

/// A collection that the capability does not declare.
const HIDDEN: Collection<Hidden> = Collection::new("hidden");

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Put {
    id: String,
    title: String,
    code: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct BookId {
    id: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Balance {
    credits: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Saved {
    revision: u64,
}

const BALANCE: Invocation<NoOutput, Balance> = Invocation::new("agent_credits", "balance");
const GIFT: Invocation<NoOutput, Balance> = Invocation::new("agent_credits", "gift");
const ADDED: Event<BookId> = Event::new("library.added");
const LOST: Event<BookId> = Event::new("library.lost");

#[derive(Debug, Refusals)]
enum LibraryError {
    /// There is no such book.
    #[refusal(not_found)]
    BookNotFound,
    /// Another book has this code.
    #[refusal(conflict)]
    CodeTaken,
    /// The credits do not suffice.
    #[refusal(payment_required, keep_writes)]
    TooPoor,
    #[refusal(transparent)]
    Common(Refusal),
}

struct Library;

/// Keeps books.
#[capability(
    id = "library", version = "1.0.0", title = "Library", collections = [BOOKS], invokes = [BALANCE]
)]
impl Library {
    /// Write a book.
    #[action(access = write, emits = [ADDED])]
    fn put(call: &Call, input: Put) -> Result<Saved, LibraryError> {
        let keeper = call.owner_id().map(ToString::to_string);
        let Put { id, title, code } = input;
        let book = Book { title, code, price: 0, tags: Vec::new(), keeper };
        let revision =
            BOOKS.put(&id, &book, Expect::Any).on_duplicate(|_| LibraryError::CodeTaken)?;
        ADDED.publish(Audience::Capabilities, format!("books/{id}"), &BookId { id })?;
        Ok(Saved { revision })
    }

    /// Buy a book: the attempt is kept in any case.
    #[action(access = write)]
    fn buy(call: &Call, input: BookId) -> Result<Balance, LibraryError> {
        let mut book = BOOKS.get(&input.id)?.ok_or(LibraryError::BookNotFound)?;
        book.value.tags.push("tried".into());
        BOOKS.save(&mut book)?;
        let balance = BALANCE.call(&NoOutput {})?;
        if balance.credits < book.value.price {
            return Err(LibraryError::TooPoor);
        }
        timers::set(&format!("return/{}", input.id), call.now() + DAY, "overdue", &input)?;
        Ok(balance)
    }

    /// Ask for a book.
    #[action(access = internal)]
    fn overdue(call: &Call, input: BookId) -> Result<NoOutput, LibraryError> {
        assert!(call.agent().is_none());
        log::warn!("{} is overdue", input.id);
        Ok(NoOutput {})
    }

    /// Read, and try to write.
    #[action(access = read)]
    fn peek(_call: &Call, input: BookId) -> Result<NoOutput, LibraryError> {
        Ok(BOOKS.delete(&input.id, Expect::Any).map(|()| NoOutput {})?)
    }
}

fn book(title: &str, price: u32, tags: &[&str]) -> Book {
    let (title, code) = (title.to_owned(), format!("code of {title}"));
    Book { title, code, price, tags: tags.iter().map(ToString::to_string).collect(), keeper: None }
}

fn library() -> World {
    test::world().of::<Library>()
}

/// Returns a world with three books, whose order by id differs from their order by price.
fn shelf() -> World {
    library()
        .document(BOOKS, "a", &book("Momo", 30, &["time", "tale"]))
        .document(BOOKS, "b", &book("Die unendliche Geschichte", 10, &["tale"]))
        .document(BOOKS, "c", &book("Der Prozess", 20, &[]))
}

fn put(id: &str, code: &str) -> Put {
    Put { id: id.into(), title: "A title".into(), code: code.into() }
}

/// Returns the text of the panic; empty if nothing panics.
fn panics<T>(run: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).err();
    let told = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        text.or_else(|| panic.downcast_ref::<String>().cloned())
    };
    panic.and_then(told).unwrap_or_default()
}

#[test]
fn an_action_writes_as_its_caller_at_its_time() {
    let mut world = library().at("2026-03-01T09:00:00Z").seed(7).owner("own_1");
    let saved = world.run(|call| Library::put(call, put("b1", "x"))).unwrap();
    assert_eq!(saved.revision, 1);
    world.advance(MINUTE);
    world.run(|call| Library::put(call, put("b1", "y"))).unwrap();
    let stored = world.get(BOOKS, "b1").unwrap();
    assert_eq!((stored.value.code.as_str(), stored.value.keeper.as_deref()), ("y", Some("own_1")));
    let at = |millis| rfc3339(millis);
    assert_eq!(at(stored.created_at), "2026-03-01T09:00:00.000Z");
    assert_eq!((at(stored.updated_at), stored.revision), ("2026-03-01T09:01:00.000Z".into(), 2));
    let events = world.events();
    assert_eq!((events.len(), events[0].subject.as_str()), (2, "books/b1"));
    assert_eq!(events[0].data, json!({ "id": "b1" }));
    assert!(matches!(events[0].to, events::Audience::Capabilities));
}

#[test]
fn a_refused_action_leaves_nothing_behind_unless_it_says_so() {
    let mut world = library();
    world.run(|call| Library::put(call, put("b1", "x"))).unwrap();
    let refusal = world
        .run(|call| {
            Library::put(call, put("b2", "y"))?;
            Library::put(call, put("b3", "x"))
        })
        .unwrap_err();
    assert_eq!(refusal.code, "code_taken");
    assert_eq!((world.documents(BOOKS).len(), world.events().len()), (1, 1));

    let mut world = shelf().answer(BALANCE, json!({ "credits": 29 }));
    let refusal = world.run(|call| Library::buy(call, BookId { id: "a".into() })).unwrap_err();
    assert_eq!(refusal.code, "too_poor");
    assert_eq!(world.get(BOOKS, "a").unwrap().value.tags, ["time", "tale", "tried"]);
    assert!(world.timers().is_empty());
}

#[test]
fn each_call_publishes_at_most_100_events() {
    let mut world = library();
    let put_all = |call: &Call, numbers: std::ops::Range<u32>| {
        for number in numbers {
            Library::put(call, put(&format!("b{number}"), &number.to_string()))?;
        }
        Ok::<_, LibraryError>(())
    };
    world.run(|call| put_all(call, 0..100)).unwrap();
    world.run(|call| put_all(call, 100..200)).unwrap();
    assert_eq!(world.events().len(), 200);
    let refusal = world.run(|call| put_all(call, 200..301)).unwrap_err();
    assert_eq!((refusal.code.as_str(), world.events().len()), ("quota_exceeded", 200));
}

#[test]
fn other_capabilities_answer_what_the_test_says() {
    let refusal = Refusal::common(ErrorCode::NotFound, "There is no account.");
    let mut world =
        shelf().at(1_000_u64).refuse(BALANCE, refusal).answer(BALANCE, Balance { credits: 50 });
    let buy = |call: &Call| Library::buy(call, BookId { id: "a".into() });
    assert_eq!(world.run(buy).unwrap_err().code, "not_found");
    assert_eq!(world.run(buy).unwrap().credits, 50);
    assert_eq!(world.run(buy).unwrap().credits, 50, "the last answer is given again");
    let asked =
        Asked { capability: "agent_credits".into(), action: "balance".into(), input: json!({}) };
    assert_eq!(world.asked(), [asked.clone(), asked.clone(), asked]);
    let timer = Timer {
        name: "return/a".into(),
        at: 1_000 + DAY,
        action: "overdue".into(),
        input: json!({ "id": "a" }),
    };
    assert_eq!(world.timers(), [timer]);
    let undeclared = world.run(|_| GIFT.call(&NoOutput {})).unwrap_err();
    assert_eq!(undeclared.code, "not_permitted");
}

#[test]
fn queries_are_those_of_the_host() {
    let mut world = shelf();
    let found = |world: &mut World, query: Query| {
        let page = world.run(|_| BOOKS.find(query)).unwrap();
        page.documents().map(|document| document.id.clone()).collect::<Vec<_>>()
    };
    let by_price = || Query::new().order_by("price", Direction::Descending);
    assert_eq!(found(&mut world, Query::new()), ["a", "b", "c"]);
    assert_eq!(found(&mut world, by_price()), ["a", "c", "b"]);
    assert_eq!(found(&mut world, by_price().filter(field("price").lt(30))), ["c", "b"]);
    assert_eq!(found(&mut world, Query::new().filter(field("tags[]").eq("tale"))), ["a", "b"]);
    assert_eq!(found(&mut world, Query::new().text("PROZESS".to_owned())), ["c"]);
    assert_eq!(world.run(|_| BOOKS.count(field("price").gte(20))).unwrap(), 2);
    let [tags] = world.run(|_| BOOKS.count_by(["tags[]"], Query::new())).unwrap();
    let counted = |value: &str, count| Counted { value: value.into(), count };
    assert_eq!(tags, [counted("tale", 2), counted("time", 1)]);

    let page = world.run(|_| BOOKS.find(by_price().limit(2))).unwrap();
    let next = page.next.clone();
    assert_eq!((page.hits.len(), next.is_some()), (2, true));
    assert_eq!(found(&mut world, by_price().limit(2).cursor(next.clone())), ["b"]);
    let other = world.run(|_| BOOKS.find(Query::new().cursor(next))).unwrap_err();
    assert_eq!(other.code, "cursor_invalid");
    assert_eq!(
        world.run(|_| BOOKS.all(by_price().limit(1)).collect::<Result<Vec<_>, _>>()).unwrap().len(),
        3
    );
}

#[test]
fn a_wrong_request_is_refused_as_by_the_host() {
    let mut world = shelf();
    let unindexed = world.run(|_| BOOKS.find(Query::new().filter(field("keeper").eq("x"))));
    assert_eq!(unindexed.unwrap_err().code, "internal_error");
    let said = world.logged().pop().unwrap();
    assert_eq!(said.level, Level::Error);
    assert!(said.message.contains("keeper is not indexed"), "{}", said.message);

    let undeclared = world.run(|_| HIDDEN.get("x").map(|_| ()));
    assert_eq!(undeclared.unwrap_err().code, "internal_error");
    let event =
        world.run(|_| LOST.publish(Audience::Capabilities, "x", &BookId { id: "x".into() }));
    assert_eq!(event.unwrap_err().code, "internal_error");
    let timer = world.run(|_| timers::set("t", 1, "put", &json!({})));
    assert_eq!(timer.unwrap_err().code, "internal_error");
    assert!(world.logged().pop().unwrap().message.contains("no action put of access internal"));
}

#[test]
fn expectations_and_revisions_hold() {
    let mut world = shelf();
    let a = || book("Momo", 1, &[]);
    let put = |world: &mut World, expect| world.run(|_| BOOKS.put("a", &a(), expect));
    assert_eq!(put(&mut world, Expect::Absent).unwrap_err().code, "version_conflict");
    assert_eq!(put(&mut world, Expect::Revision(1)).unwrap(), 2);
    assert_eq!(put(&mut world, Expect::Revision(1)).unwrap_err().code, "version_conflict");
    world.run(|_| BOOKS.delete("a", Expect::Any)).unwrap();
    assert!(world.get(BOOKS, "a").is_none());
    assert_eq!(put(&mut world, Expect::Absent).unwrap(), 4, "revisions go on after a deletion");
}

#[test]
fn a_seed_makes_randomness_repeatable() {
    let drawn = |seed| {
        let drawn = |call: &Call| Ok::<_, Infallible>((call.new_id("book"), call.random(8)));
        let mut world = test::world().seed(seed);
        [world.run(drawn).unwrap(), world.run(drawn).unwrap()]
    };
    assert_eq!(drawn(7), drawn(7));
    assert_ne!(drawn(7), drawn(8));
    let [(first, _), (second, _)] = drawn(7);
    assert!(first.starts_with("book_") && first.len() == 31 && first != second, "{first}");
}

#[test]
fn secrets_open_only_unchanged() {
    let mut world = test::world();
    let mut sealed = world.run(|_| secrets::seal(b"seat 7")).unwrap();
    let open = |world: &mut World, sealed: &[u8]| world.run(|_| secrets::open(sealed)).unwrap();
    assert_eq!(open(&mut world, &sealed).as_deref(), Some(b"seat 7".as_slice()));
    sealed[30] ^= 1;
    assert_eq!(open(&mut world, &sealed), None);
    let mac = world.run(|_| secrets::mac(b"ticket")).unwrap();
    assert!(world.run(|_| secrets::is_mac(b"ticket", &mac)).unwrap());
    assert!(!world.run(|_| secrets::is_mac(b"another", &mac)).unwrap());
}

#[test]
fn the_caller_is_who_the_test_says() {
    let owner = |call: &Call| call.require_owner().map(str::to_owned);
    assert_eq!(test::world().owner("own_9").run(owner).unwrap(), "own_9");
    let nobody = test::world().anonymous().run(owner).unwrap_err();
    assert_eq!(nobody.code, "phone_binding_required");
    let mut host = library().system().test_mode();
    host.run(|call| Library::overdue(call, BookId { id: "b1".into() })).unwrap();
    let logged = Logged { level: Level::Warn, message: "b1 is overdue".into() };
    assert_eq!(host.logged(), [logged]);
    assert!(host.run(|call| Ok::<_, Infallible>(call.test_mode())).unwrap());
}

#[test]
fn look_ups_wait_to_be_made() {
    let mut world = library();
    let id = world.run(|_| lookups::txt("example.org", "overdue", &json!({ "n": 1 }))).unwrap();
    let made = world.lookups();
    assert_eq!((&made[0].id, &made[0].question), (&id, &Question::Txt("example.org".into())));
    assert_eq!((made[0].action.as_str(), &made[0].about), ("overdue", &json!({ "n": 1 })));
}

#[test]
fn an_action_runs_by_its_name() {
    let mut world = shelf();
    let input = json!({ "id": "d", "title": "T", "code": "c" });
    assert_eq!(world.call("put", &input).unwrap(), json!({ "revision": 1 }));
    let refusal = world.call("peek", &json!({ "id": "a" })).unwrap_err();
    assert_eq!(refusal.code, "internal_error", "an action of access read writes nothing");
    assert!(world.get(BOOKS, "a").is_some());
}

#[test]
fn a_mistake_is_one_clear_sentence() {
    let call = Call::new(portolan_sdk::contract::Caller::System);
    let sentence = panics(|| call.now());
    assert!(
        sentence.starts_with("context.now needs a host: turn on the feature `test`"),
        "{sentence}"
    );
    let sentence = panics(|| shelf().run(|call| Library::buy(call, BookId { id: "a".into() })));
    assert_eq!(
        sentence,
        "agent_credits.balance is called: give the world its answer with `answer`, `answer_by` or `refuse`"
    );
    let sentence = panics(|| library().run(|_| portolan_sdk::contract::sms::send("+49", "x")));
    assert_eq!(sentence, "a test's world has no sms.send: test this with `portolan test`");
    let sentence = panics(|| library().call("lend", &json!({})));
    assert_eq!(sentence, "the capability has no action lend");
    let sentence = panics(|| test::world().at("tomorrow"));
    assert_eq!(sentence, "tomorrow is not an instant of RFC 3339");
    let taken = || shelf().document(BOOKS, "z", &book("Momo", 1, &[]));
    let sentence = panics(taken);
    assert!(sentence.starts_with("the document z of books cannot be written: "), "{sentence}");
    let nested = || library().run(|_| library().run(|_| Ok::<_, Infallible>(())));
    let sentence = panics(nested);
    assert_eq!(sentence, "a world runs one call at a time: call `run` outside of `run`");
    // A panic uninstalls the world, so this thread can run the next one.
    assert_eq!(library().run(|call| Ok::<_, Infallible>(call.now())).unwrap(), 1_767_225_600_000);
}

#[test]
fn records_of_feeds_are_read_like_documents() {
    use portolan_sdk::{contract::platform, feeds};
    const INDEXED: Collection<Value> =
        Collection::new("roles").index("target_id", &["target_id"]).text(&["title"]);
    const ROLES: feeds::Feed<Value> = feeds::Feed::new("roles");
    let role = |title: &str, target: &str| json!({ "title": title, "target_id": target });
    let mut world = test::world()
        .record(INDEXED, "rol_1", &role("Engineer", "tgt_1"))
        .record(INDEXED, "rol_2", &role("Designer", "tgt_1"))
        .record(INDEXED, "rol_3", &role("Engineer", "tgt_2"));
    let found = world.run(|_| {
        let query = Query::new().filter(field("target_id").eq("tgt_1")).text("engineer".to_owned());
        let [targets] = ROLES.count_by(["target_id"], Query::new())?;
        let one = ROLES.get("rol_2")?.map(|role| role.value);
        let ids = ROLES.find(query)?.into_documents().map(|role| role.id).collect::<Vec<_>>();
        Ok::<_, HostError>((ids, one, targets.len(), platform::about().public_url))
    });
    let (ids, one, targets, url) = found.unwrap();
    assert_eq!((ids, targets), (vec!["rol_1".to_owned()], 2));
    assert_eq!((one, url), (Some(role("Designer", "tgt_1")), "https://host.example".to_owned()));
}
