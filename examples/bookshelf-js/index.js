// Lends books: ../bookshelf.md says what it does.
import { array, boolean, capability, collection, DAY, event, id, integer, invocation, nullable } from "@portolan/sdk";
import { number, object, optional, refusal, string, time, timers } from "@portolan/sdk";

const books = collection("books", { indexes: ["title"], unique: ["isbn"], text: ["title", "author"], people: [] });
const loans = collection("loans", { indexes: { owner: "owner_id" }, people: [{ path: "owner_id", erasure: "delete" }] });
const borrowed = event("bookshelf.borrowed"), due = event("bookshelf.due");
const balance = invocation("agent_credits", "balance");

const own = (action, input) => ({ capability: "bookshelf", input: { action, ...input } });
const BookNotFound = refusal("book_not_found", "not_found", "There is no book with this id.", { next: own("find") });
const IsbnTaken = refusal("isbn_taken", "conflict", "Another book has this ISBN.");
const BookTaken = refusal("book_taken", "conflict", "This book is borrowed.", { retryable: true });
const NotBorrowed = refusal("not_borrowed", "conflict", "You have not borrowed this book.", { next: own("overview") });
const DepositMissing = refusal("deposit_missing", "payment_required", "There are too few credits for the deposit.",
  { retryable: true, next: { capability: "agent_credits", input: { action: "balance" }, then: "retry_original" } });

const name = string({ min: 1, max: 200, example: "Solaris" }), which = { id: id({ example: "book_1" }) };
const fields = { title: name, author: name, isbn: string({ pattern: "^97[89][0-9]{10}$", example: "9780156027601" }) };
const Book = object({ ...which, ...fields, deposit: integer(), due_at: nullable(time()) });
const view = (id, book, loan) => ({ id, ...book, due_at: loan?.due_at ?? null });
const news = (id, { due_at }) => ({ id, due_at, next: own("give_back", { id }) });
const page = { limit: integer({ min: 1, max: 50, default: 20 }), cursor: optional(string({ min: 1, max: 2000 })) };
const secondsUntil = (time, now) => Math.max(0, Math.ceil((Date.parse(time) - now) / 1000));

export default capability({
  id: "bookshelf", version: "1.0.0", title: "Bookshelf", description: "Lends books from one shelf.", tags: ["example"],
  collections: [books, loans], invokes: [balance], actions: {
    add: { access: "write", description: "Put a book on the shelf.", output: Book, errors: [IsbnTaken],
      input: { ...fields, deposit: integer({ min: 0, max: 1000, default: 0 }) }, run(call, book) {
        const id = call.newId("book");
        books.put(id, book, { onDuplicate: (other) => new IsbnTaken({ next: own("get", { id: other }) }) });
        return view(id, book);
      } },
    get: { access: "read", description: "Get a book.", input: which, output: Book, errors: [BookNotFound],
      run: (call, { id }) => view(id, books.require(id, BookNotFound).value, loans.get(id)?.value) },
    find: { access: "read", description: "Find books by words of title and author.", input: { words: optional(name), ...page },
      output: { items: array(Book), next_cursor: nullable(string()) }, run(call, { words, limit, cursor }) {
        const { documents, next } = books.find({ text: words, order: "title", limit, cursor });
        const lent = loans.getMany(documents.map((book) => book.id));
        return { items: documents.map(({ id, value }, at) => view(id, value, lent[at]?.value)), next_cursor: next };
      } },
    borrow: { access: "write", description: "Borrow a book for 14 days.", input: which, output: Book,
      emits: [borrowed], errors: [BookNotFound, BookTaken, DepositMissing], run({ ownerId, now }, { id }) {
        const book = books.require(id, BookNotFound).value, taken = loans.get(id)?.value;
        if (taken) throw new BookTaken({ next: { ...own("get", { id }), after_s: secondsUntil(taken.due_at, now) } });
        if (book.deposit > 0 && balance.call().available < book.deposit) throw new DepositMissing();
        const loan = { owner_id: ownerId, due_at: new Date(now + 14 * DAY).toISOString(), reminded: false };
        loans.put(id, loan, { expect: "absent" });
        timers.set(`due/${id}`, loan.due_at, "remind", { id });
        borrowed.publish({ owner: ownerId }, `books/${id}`, news(id, loan));
        return view(id, book, loan);
      } },
    give_back: { access: "write", description: "Give a book back.", input: which, output: Book,
      errors: [BookNotFound, NotBorrowed], run({ ownerId }, { id }) {
        const book = books.require(id, BookNotFound).value;
        if (loans.get(id)?.value.owner_id !== ownerId) throw new NotBorrowed();
        loans.delete(id);
        timers.cancel(`due/${id}`);
        return view(id, book);
      } },
    overview: { access: "read", description: "Count the books and the loans.",
      output: { books: integer(), borrowed: integer(), yours: integer() }, run: ({ ownerId }) =>
        ({ books: books.count(), borrowed: loans.count(), yours: loans.count({ owner_id: { eq: ownerId } }) }) },
    random: { access: "read", description: "Draw random numbers.", input: { count: integer({ min: 1, max: 100, default: 1 }) },
      output: { numbers: array(number({ min: 0, below: 1 })) },
      run: (call, { count }) => ({ numbers: Array.from({ length: count }, () => Math.random()) }) },
    remind: { access: "internal", description: "Remind of a loan that is due.", input: which, idempotent: true,
      emits: [due], output: { reminded: boolean() }, run({ now }, { id }) {
        const loan = loans.get(id);
        if (!loan || loan.value.reminded || Date.parse(loan.value.due_at) > now) return { reminded: false };
        due.publish({ owner: loan.value.owner_id }, `books/${id}`, news(id, loan.value));
        loans.save({ ...loan, value: { ...loan.value, reminded: true } });
        return { reminded: true };
      } },
  },
});
