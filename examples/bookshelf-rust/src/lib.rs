//! The capability `bookshelf`: people borrow books from one shelf.

use portolan_sdk::{documents::Person, prelude::*};

#[message]
struct Book {
    /// What the book is called.
    #[schemars(length(min = 1, max = 200), example = &"Solaris")]
    title: String,
    /// Who wrote it.
    #[schemars(length(min = 1, max = 200), example = &"Stanisław Lem")]
    author: String,
    /// Its ISBN of 13 digits.
    #[schemars(regex(pattern = "^97[89][0-9]{10}$"), example = &"9780156027601")]
    isbn: String,
    /// The credits that a borrower must have; they are not spent.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1000))]
    deposit: u32,
}

#[document]
struct Loan {
    owner_id: String,
    due_at: String,
    reminded: bool,
}

const BOOKS: Collection<Book> = Collection::new("books")
    .unique("isbn", &["isbn"])
    .index("title", &["title"])
    .text(&["title", "author"])
    .nobody();
/// A loan has the id of its book.
const LOANS: Collection<Loan> =
    Collection::new("loans").index("owner", &["owner_id"]).people(&[Person::delete("owner_id")]);
const BALANCE: Invocation<Value, Balance> = Invocation::new("agent_credits", "balance");
const BORROWED: Event<Value> = Event::new("bookshelf.borrowed");
const DUE: Event<Value> = Event::new("bookshelf.due");

#[derive(Deserialize)]
struct Balance {
    available: u32,
}

#[message]
struct BookId {
    /// The id of a book.
    #[schemars(length(min = 1, max = 64), example = &"book_1")]
    id: String,
}

#[input]
struct Words {
    /// Words of the title or the author.
    #[schemars(length(min = 1, max = 200), example = &"Solaris")]
    words: Option<String>,
    /// At most this many books; 20 if it is left out.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
    /// The `next_cursor` of the page before.
    #[schemars(length(min = 1, max = 2000))]
    cursor: Option<String>,
}

#[input]
struct Draw {
    /// How many numbers; 1 if it is left out.
    #[schemars(range(min = 1, max = 100), example = 3)]
    count: Option<u32>,
}

#[output]
struct Shown {
    /// The id of the book.
    id: String,
    #[serde(flatten)]
    book: Book,
    /// When its loan is due; null while it is on the shelf.
    #[nullable]
    due_at: Option<String>,
}

#[output]
struct Overview {
    /// All books.
    books: u64,
    /// All loans.
    borrowed: u64,
    /// Your loans.
    yours: u64,
}

#[output]
struct Numbers {
    /// At least 0 and less than 1.
    numbers: Vec<f64>,
}

#[output]
struct Reminded {
    /// Whether the person was told now.
    reminded: bool,
}

#[derive(Refusals)]
enum ShelfError {
    /// There is no book with this id.
    #[refusal(not_found, next = Next::action("bookshelf", "find"))]
    BookNotFound,
    /// Another book has this ISBN.
    #[refusal(conflict, next = Next::action("bookshelf", "get").field("id", id))]
    IsbnTaken { id: String },
    /// This book is borrowed.
    #[refusal(conflict, retryable, next = Next::action("bookshelf", "get").field("id", id).after_s(wait))]
    BookTaken { id: String, wait: u32 },
    /// You have not borrowed this book.
    #[refusal(conflict, next = Next::action("bookshelf", "overview"))]
    NotBorrowed,
    /// There are too few credits for the deposit.
    #[refusal(payment_required, retryable, next = Next::action("agent_credits", "balance").then_retry())]
    DepositMissing,
    #[refusal(transparent)]
    Common(Refusal),
}

struct Bookshelf;

/// Lends books from one shelf.
#[capability(
    id = "bookshelf", title = "Bookshelf", tags = ["example"], collections = [BOOKS, LOANS], invokes = [BALANCE]
)]
impl Bookshelf {
    /// Add a book
    ///
    /// Puts a book on the shelf.
    #[action(access = write)]
    fn add(call: &Call, book: Book) -> Result<Shown, ShelfError> {
        let id = call.new_id("book");
        BOOKS.put(&id, &book, Expect::Absent).on_duplicate(|id| ShelfError::IsbnTaken { id })?;
        Ok(Shown { id, book, due_at: None })
    }

    /// Read a book
    ///
    /// Tells about one book, and when it is due.
    #[action(access = read, idempotent)]
    fn get(_call: &Call, BookId { id }: BookId) -> Result<Shown, ShelfError> {
        let due_at = LOANS.get(&id)?.map(|loan| loan.value.due_at);
        Ok(Shown { book: BOOKS.require(&id, ShelfError::BookNotFound)?.value, id, due_at })
    }

    /// Find books
    ///
    /// Finds books by words of title and author, ordered by title.
    #[action(access = read, idempotent)]
    fn find(_call: &Call, input: Words) -> Result<Items<Shown>, ShelfError> {
        let query = Query::new().text(input.words).first("title");
        let page = BOOKS.find(query.limit(input.limit.unwrap_or(20)).cursor(input.cursor))?;
        let loans = LOANS.get_many(page.documents().map(|book| book.id.clone()))?;
        let (books, next_cursor) = page.into_parts();
        let due_at = loans.into_iter().map(|loan| Some(loan?.value.due_at));
        let shown =
            |(book, due_at): (Stored<Book>, _)| Shown { id: book.id, book: book.value, due_at };
        Ok(Items { items: books.into_iter().zip(due_at).map(shown).collect(), next_cursor })
    }

    /// Borrow a book
    ///
    /// Lends a book to you for 14 days.
    #[action(access = write, emits = [BORROWED])]
    fn borrow(call: &Call, BookId { id }: BookId) -> Result<Shown, ShelfError> {
        let book = BOOKS.require(&id, ShelfError::BookNotFound)?.value;
        if let Some(loan) = LOANS.get(&id)? {
            let due = time::parse(&loan.value.due_at).unwrap_or_default();
            let wait = time::seconds(due.saturating_sub(call.now()));
            return Err(ShelfError::BookTaken { id, wait });
        }
        if book.deposit > 0 && BALANCE.call(&json!({}))?.available < book.deposit {
            return Err(ShelfError::DepositMissing);
        }
        let (owner_id, due) = (call.require_owner()?.to_owned(), call.now() + 14 * DAY);
        let loan = Loan { owner_id, due_at: rfc3339(due), reminded: false };
        LOANS.put(&id, &loan, Expect::Absent)?;
        timers::set(&format!("due/{id}"), due, "remind", &json!({ "id": id }))?;
        notify(BORROWED, &id, &loan)?;
        Ok(Shown { id, book, due_at: Some(loan.due_at) })
    }

    /// Give a book back
    ///
    /// Ends your loan of a book.
    #[action(access = write)]
    fn give_back(call: &Call, BookId { id }: BookId) -> Result<Shown, ShelfError> {
        let book = BOOKS.require(&id, ShelfError::BookNotFound)?.value;
        let loan = LOANS.get(&id)?;
        if loan.is_none_or(|loan| Some(&*loan.value.owner_id) != call.owner_id()) {
            return Err(ShelfError::NotBorrowed);
        }
        LOANS.delete(&id, Expect::Any)?;
        timers::cancel(&format!("due/{id}"))?;
        Ok(Shown { id, book, due_at: None })
    }

    /// Count books and loans
    ///
    /// Counts all books, all loans and your loans.
    #[action(access = read, idempotent)]
    fn overview(call: &Call) -> Result<Overview, ShelfError> {
        let yours = call.owner_id().map(|owner| LOANS.count(field("owner_id").eq(owner)));
        let (books, borrowed) = (BOOKS.count(None)?, LOANS.count(None)?);
        Ok(Overview { books, borrowed, yours: yours.transpose()?.unwrap_or(0) })
    }

    /// Draw numbers
    ///
    /// Draws random numbers, at least 0 and less than 1.
    #[action(access = read)]
    fn random(call: &Call, input: Draw) -> Result<Numbers, ShelfError> {
        Ok(Numbers { numbers: call.random_numbers(input.count.unwrap_or(1)) })
    }

    /// Remind the borrower
    ///
    /// Tells a person that their loan is due.
    #[action(access = internal, idempotent, emits = [DUE])]
    fn remind(call: &Call, BookId { id }: BookId) -> Result<Reminded, ShelfError> {
        let now = rfc3339(call.now());
        let due = |loan: &Stored<Loan>| !loan.value.reminded && loan.value.due_at <= now;
        let Some(mut loan) = LOANS.get(&id)?.filter(due) else {
            return Ok(Reminded { reminded: false });
        };
        loan.value.reminded = true;
        LOANS.save(&mut loan)?;
        notify(DUE, &id, &loan.value)?;
        Ok(Reminded { reminded: true })
    }
}

fn notify(event: Event<Value>, id: &str, loan: &Loan) -> Result<(), HostError> {
    let next = Next::action("bookshelf", "give_back").field("id", id);
    let data = json!({ "id": id, "due_at": loan.due_at, "next": next });
    event.publish(Audience::Owner(loan.owner_id.clone()), format!("books/{id}"), &data)
}
