//! The code around the examples of the plugin guide. The test replaces each line
//! `// guide: HEADING` by the next example below that heading, and compiles the result.
#![allow(dead_code, reason = "an example shows a part")]

mod from_an_empty_folder {
    // guide: From an empty folder, by hand
}

mod unit_tests {
    use portolan_sdk::prelude::*;

    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    pub struct Book {
        pub title: String,
    }
    const BOOKS: Collection<Book> = Collection::new("books").nobody();
    const BALANCE: Invocation<Value, Balance> = Invocation::new("credits", "balance");
    #[derive(Deserialize)]
    struct Balance {
        credits: u32,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub struct BookId {
        pub id: String,
    }
    #[derive(Refusals)]
    enum LibraryError {
        /// There are too few credits.
        #[refusal(payment_required)]
        TooPoor,
        #[refusal(transparent)]
        Common(Refusal),
    }
    struct Library;
    /// Lends books.
    #[capability(id = "library", title = "Library", collections = [BOOKS], invokes = [BALANCE])]
    impl Library {
        /// Lend a book.
        #[action(access = write)]
        fn lend(_call: &Call, book: BookId) -> Result<Book, LibraryError> {
            if BALANCE.call(&json!({}))?.credits == 0 {
                return Err(LibraryError::TooPoor);
            }
            let book = BOOKS.get(&book.id)?;
            book.map(|book| book.value).ok_or(LibraryError::TooPoor)
        }
    }
    #[cfg(test)]
    mod tests {
        use super::*;
        fn momo() -> Book {
            Book { title: "Momo".into() }
        }
        // guide: Unit tests
    }
}

mod answers {
    use portolan_sdk::prelude::*;

    #[derive(Serialize)]
    struct Busy {
        kind: &'static str,
        free: Vec<String>,
    }
    // guide: Answers and refusals
}

mod consequences {
    use portolan_sdk::{Consequence, prelude::*};

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Price {
        amount: u32,
        currency: String,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Pay {
        reader_id: String,
        price: Price,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Write {
        reader_id: String,
        text: String,
    }
    struct Library;
    /// Lends books.
    // guide: Consequences
}

mod states {
    use portolan_sdk::prelude::*;

    struct Listings;
    // guide: States
    /// Lists things.
    impl Listings {
        /// Create a listing.
        #[action(access = write)]
        fn create(_call: &Call) -> Result<NoOutput, Infallible> {
            Ok(NoOutput {})
        }
        /// Edit a listing.
        #[action(access = write)]
        fn edit(_call: &Call) -> Result<NoOutput, Infallible> {
            Ok(NoOutput {})
        }
        /// Publish a listing.
        #[action(access = write)]
        fn publish(_call: &Call) -> Result<NoOutput, Infallible> {
            Ok(NoOutput {})
        }
        /// Expire a listing.
        #[action(access = internal)]
        fn expire(_call: &Call) -> Result<NoOutput, Infallible> {
            Ok(NoOutput {})
        }
    }
}

mod documents {
    use portolan_sdk::{documents::Direction, prelude::*};

    struct Shop;
    // guide: Keeping documents
    /// Sells books.
    impl Shop {
        /// Count books.
        #[action(access = read)]
        fn count(_call: &Call) -> Result<NoOutput, ShopError> {
            Ok(NoOutput {})
        }
    }
    #[derive(Refusals)]
    enum ShopError {
        /// There is no such book.
        #[refusal(not_found)]
        BookNotFound,
        /// There is such a book.
        #[refusal(conflict)]
        BookExists,
        #[refusal(transparent)]
        Common(Refusal),
    }
    struct Input {
        id: String,
        price: u32,
        words: Option<String>,
        cursor: Option<String>,
    }
    fn uses_documents(id: String, new: Book, input: Input) -> Result<usize, ShopError> {
        // guide: Keeping documents
        Ok(page.documents().count())
    }
}

mod migration {
    use portolan_sdk::prelude::*;

    #[derive(Serialize, Deserialize)]
    struct Book {
        title: String,
        authors: Vec<String>,
    }
    #[derive(Deserialize)]
    struct OldBook {
        title: String,
        author: String,
    }
    struct Shop;
    // guide: A new form of documents
}

mod entities {
    // guide: The entity kit
}

mod feeds {
    use portolan_sdk::{documents::Direction, prelude::*};
    // guide: Reading the feeds
}

mod events {
    use portolan_sdk::prelude::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Sale {
        id: String,
    }
    struct Shop;
    // guide: Events
}

mod calls {
    use portolan_sdk::prelude::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct NewNote {
        text: String,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Noted {
        id: String,
    }
    struct Ledger;
    // guide: Calling other capabilities
}
