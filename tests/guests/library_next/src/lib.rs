//! The next version of the capability `library`: books with names in place of titles.
//!
//! It cannot migrate a book with the title "broken", and it migrates one with the title "odd" to a form that
//! it cannot read. It gives all books with the title "same" one code.

use portolan_sdk::{
    migration::{Migrated, Migration},
    prelude::*,
};

#[derive(Deserialize)]
struct OldBook {
    title: String,
    code: String,
    keeper: Option<String>,
}

#[document]
struct Book {
    name: String,
    /// At most one book has it.
    code: String,
    /// The keeper of the entry.
    keeper: Option<String>,
}

const BOOKS: Collection<Book> = Collection::new("books")
    .version(2)
    .index("name", &["name"])
    .unique("code", &["code"])
    .people(&[portolan_sdk::documents::Person::delete("keeper")]);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Put {
    id: String,
    title: String,
    code: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct BookId {
    id: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Fill {
    from: u32,
    /// At most 1000.
    count: u32,
}

#[derive(Serialize, JsonSchema)]
struct Shown {
    text: String,
    code: String,
    revision: u64,
}

#[derive(Serialize, JsonSchema)]
struct Counted {
    count: u64,
}

#[derive(Serialize, JsonSchema)]
struct Saved {
    revision: u64,
}

#[derive(Refusals)]
enum LibraryError {
    /// There is no such book.
    #[refusal(not_found)]
    BookNotFound,
    /// Another book has this code.
    #[refusal(conflict)]
    CodeTaken,
    #[refusal(transparent)]
    Common(Refusal),
}

struct Library;

/// Keeps books.
#[capability(id = "library", version = "2.0.0", title = "Library", collections = [BOOKS])]
impl Library {
    /// Write a book.
    #[action(access = write)]
    fn put(call: &Call, input: Put) -> Result<Saved, LibraryError> {
        let keeper = call.owner_id().map(ToString::to_string);
        let book = Book { name: input.title, code: input.code, keeper };
        let revision =
            BOOKS.put(&input.id, &book, Expect::Any).on_duplicate(|_| LibraryError::CodeTaken)?;
        Ok(Saved { revision })
    }

    /// Write many books.
    #[action(access = write)]
    fn fill(_call: &Call, input: Fill) -> Result<Counted, LibraryError> {
        for number in input.from..input.from + input.count {
            let (title, code) = (format!("Title {number}"), format!("code {number}"));
            let book = Book { name: title, code, keeper: None };
            BOOKS.put(&format!("book_{number:08}"), &book, Expect::Any)?;
        }
        Ok(Counted { count: input.count.into() })
    }

    /// Read a book.
    #[action(access = read, idempotent)]
    fn get(_call: &Call, input: BookId) -> Result<Shown, LibraryError> {
        let book = BOOKS.get(&input.id)?.ok_or(LibraryError::BookNotFound)?;
        Ok(Shown { text: book.value.name, code: book.value.code, revision: book.revision })
    }

    /// Remove a book.
    #[action(access = write)]
    fn remove(_call: &Call, input: BookId) -> Result<NoOutput, LibraryError> {
        Ok(BOOKS.delete(&input.id, Expect::Any).map(|()| NoOutput {})?)
    }

    /// Count the books that can be read.
    #[action(access = read, idempotent)]
    fn count(_call: &Call) -> Result<Counted, LibraryError> {
        let mut count = 0;
        for hit in BOOKS.all(Query::new().unchecked().limit(1000)) {
            hit?;
            count += 1;
        }
        Ok(Counted { count })
    }

    /// Give books of version 1 their names.
    #[action(access = internal, idempotent)]
    fn migrate(_call: &Call, input: Migration) -> Result<Migrated, Infallible> {
        Ok(input.each(|OldBook { title, code, keeper }| match title.as_str() {
            "broken" => Err("it is broken".to_owned()),
            "same" => Ok(json!({ "name": title, "code": "the same", "keeper": keeper })),
            "odd" => Ok(json!({ "number": 1, "code": code, "keeper": keeper })),
            _ => Ok(json!({ "name": title, "code": code, "keeper": keeper })),
        }))
    }
}
