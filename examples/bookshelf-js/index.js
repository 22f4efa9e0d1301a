// Lends books. The cases of `portolan test` show what it does.
import { array, boolean, capability, collection, DAY, event, id, integer, invocation, nullable } from "@portolan/sdk";
import { number, object, optional, pageOf, paging, refusal, step, string, time, timers, toItems } from "@portolan/sdk";

const books = collection("books", { indexes: ["title"], unique: ["isbn"], text: ["title", "author"], people: [] });
const loans = collection("loans", { indexes: { owner: "owner_id" }, people: [{ path: "owner_id", erasure: "delete" }] });
const borrowed = event("bookshelf.borrowed"), due = event("bookshelf.due");
const balance = invocation("agent_credits", "balance");

const BookNotFound = refusal("book_not_found", "not_found", "There is no book with this id.", { next: step("find") });
const IsbnTaken = refusal("isbn_taken", "conflict", "Another book has this ISBN.");
const BookTaken = refusal("book_taken", "conflict", "This book is borrowed.", { retryable: true });
const NotBorrowed = refusal("not_borrowed", "conflict", "You have not borrowed this book.", { next: step("overview") });
const DepositMissing = refusal("deposit_missing", "payment_required", "There are too few credits for the deposit.",
  { retryable: true, next: { capability: "agent_credits", input: { action: "balance" }, then: "retry_original" } });

const which = { id: id("The id of the book.", { example: "book_1" }) };
const fields = {
  title: string("What the book is called.", { min: 1, max: 200, example: "Solaris" }),
  author: string("Who wrote it.", { min: 1, max: 200, example: "Stanisław Lem" }),
  isbn: string("Its ISBN of 13 digits.", { pattern: "^97[89][0-9]{10}$", example: "9780156027601" }),
  deposit: integer("The credits that a borrower must have.", { min: 0, max: 1000, default: 0 }),
};
const Book = object({ ...which, ...fields, due_at: nullable(time("When it is due, or null while it is on the shelf.")) });
const words = optional(string("Words of title or author.", { min: 1, max: 200, example: "Solaris" }));
const show = (id, book, loan) => ({ id, ...book, due_at: loan?.due_at ?? null });
const news = (id, { due_at }) => ({ id, due_at, next: step("give_back", { id }) });

export default capability({
  id: "bookshelf", version: "1.0.0", title: "Bookshelf", description: "Lends books from one shelf.", tags: ["example"],
  collections: [books, loans], invokes: [balance], actions: {
    add: { access: "write", title: "Add a book", description: "Puts a book on the shelf.",
      input: fields, output: Book, errors: [IsbnTaken], run(call, book) {
        const id = call.newId("book");
        books.put(id, book, { onDuplicate: (id) => new IsbnTaken({ next: step("get", { id }) }) });
        return show(id, book);
      } },
    get: { access: "read", title: "Read a book", description: "Tells about one book, and when it is due.",
      input: which, output: Book, errors: [BookNotFound],
      run: (call, { id }) => show(id, books.require(id, BookNotFound).value, loans.get(id)?.value) },
    find: { access: "read", title: "Find books", description: "Finds books by words of title and author, ordered by title.",
      input: { words, ...paging() }, output: pageOf(Book), run(call, { words, limit, cursor }) {
        const page = books.find({ text: words, order: "title", limit, cursor });
        const lent = loans.getMany(page.documents.map(({ id }) => id));
        return toItems(page, ({ id, value }, at) => show(id, value, lent[at]?.value));
      } },
    borrow: { access: "write", title: "Borrow a book", description: "Lends a book to you for 14 days.",
      input: which, output: Book, emits: [borrowed], errors: [BookNotFound, BookTaken, DepositMissing], run({ ownerId, now }, { id }) {
        const book = books.require(id, BookNotFound).value, taken = loans.get(id)?.value;
        const wait = () => Math.max(0, Math.ceil((Date.parse(taken.due_at) - now) / 1000));
        if (taken) throw new BookTaken({ next: step("get", { id }, { after_s: wait() }) });
        if (book.deposit > 0 && balance.call().available < book.deposit) throw new DepositMissing();
        const loan = { owner_id: ownerId, due_at: new Date(now + 14 * DAY).toISOString(), reminded: false };
        loans.put(id, loan, { expect: "absent" });
        timers.set(`due/${id}`, loan.due_at, "remind", { id });
        borrowed.publish({ owner: ownerId }, `books/${id}`, news(id, loan));
        return show(id, book, loan);
      } },
    give_back: { access: "write", title: "Give a book back", description: "Ends your loan of a book.",
      input: which, output: Book, errors: [BookNotFound, NotBorrowed], run({ ownerId }, { id }) {
        const book = books.require(id, BookNotFound).value;
        if (loans.get(id)?.value.owner_id !== ownerId) throw new NotBorrowed();
        loans.delete(id);
        timers.cancel(`due/${id}`);
        return show(id, book);
      } },
    overview: { access: "read", title: "Count books and loans", description: "Counts all books, all loans and your loans.",
      output: { books: integer("All books."), borrowed: integer("All loans."), yours: integer("Your loans.") },
      run: ({ ownerId }) => ({
        books: books.count(), borrowed: loans.count(), yours: loans.count({ owner_id: { eq: ownerId } }) }) },
    random: { access: "read", title: "Draw numbers", description: "Draws random numbers, at least 0 and less than 1.",
      input: { count: integer("How many numbers.", { min: 1, max: 100, default: 1 }) },
      output: { numbers: array(number({ min: 0, below: 1 }), "The numbers.") },
      run: (call, { count }) => ({ numbers: Array.from({ length: count }, () => Math.random()) }) },
    remind: { access: "internal", title: "Remind the borrower", description: "Tells a person that their loan is due.",
      input: which, output: { reminded: boolean("Whether the person was told now.") }, idempotent: true, emits: [due], run({ now }, { id }) {
        const loan = loans.get(id);
        if (!loan || loan.value.reminded || Date.parse(loan.value.due_at) > now) return { reminded: false };
        due.publish({ owner: loan.value.owner_id }, `books/${id}`, news(id, loan.value));
        loans.save({ ...loan, value: { ...loan.value, reminded: true } });
        return { reminded: true };
      } },
  },
});
