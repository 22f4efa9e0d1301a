"""Lends books from one shelf."""
# The cases of `portolan test` show what it does.

import random as chance
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Annotated as A, TypedDict

from portolan_sdk import (
    App, Collection, Cursor, Event, Example, Invocation, Items, Length, Next, PageSize, Pattern, Person, Range,
    refusal, step, timers,
)

ID = A[str, Length(1, 64), "The id of the book.", Example("book_1")]
WORDS = A[str | None, Length(1, 200), "Words of title or author.", Example("Solaris")]


@dataclass(kw_only=True)
class NewBook:
    title: A[str, Length(1, 200), "What the book is called.", Example("Solaris")]
    author: A[str, Length(1, 200), "Who wrote it.", Example("Stanisław Lem")]
    isbn: A[str, Pattern("^97[89][0-9]{10}$"), "Its ISBN of 13 digits.", Example("9780156027601")]
    deposit: A[int, Range(0, 1000), "The credits that a borrower must have."] = 0


@dataclass(kw_only=True)
class Book(NewBook):
    id: ID
    due_at: A[datetime | None, "When it is due, or null while it is on the shelf."]


@dataclass
class Loan:
    owner_id: str
    due_at: datetime
    reminded: bool = False


Overview = TypedDict("Overview", {"books": A[int, "All books."], "borrowed": A[int, "All loans."], "yours": A[int, "Your loans."]})
Numbers = TypedDict("Numbers", {"numbers": A[list[float], "At least 0 and less than 1."]})
Reminded = TypedDict("Reminded", {"reminded": A[bool, "Whether the person was told now."]})

TOP_UP = Next("agent_credits", {"action": "balance"}, then="retry_original")
BookNotFound = refusal("book_not_found", "not_found", "There is no book with this id.", next=step("find"))
IsbnTaken = refusal("isbn_taken", "conflict", "Another book has this ISBN.")
BookTaken = refusal("book_taken", "conflict", "This book is borrowed.", retryable=True)
NotBorrowed = refusal("not_borrowed", "conflict", "You have not borrowed this book.", next=step("overview"))
DepositMissing = refusal(
    "deposit_missing", "payment_required", "There are too few credits for the deposit.", retryable=True, next=TOP_UP
)

BOOKS = Collection("books", NewBook, people=[], text=["title", "author"], indexes=["title"], unique=["isbn"])
BORROWER = Person("owner_id", "delete")
LOANS = Collection("loans", Loan, people=[BORROWER], indexes={"owner": ["owner_id"]})
BALANCE = Invocation("agent_credits", "balance")
BORROWED, DUE = Event("bookshelf.borrowed"), Event("bookshelf.due")
app = App(
    id="bookshelf", title="Bookshelf", description=__doc__, tags=["example"], collections=[BOOKS, LOANS], invokes=[BALANCE]
)


def shown(book, loan=None):
    return Book(**vars(book.value), id=book.id, due_at=loan and loan.value.due_at)


def notify(event, id, loan):
    data = {"id": id, "due_at": loan.due_at, "next": step("give_back", id=id)}
    event.publish(f"books/{id}", data, owner=loan.owner_id)


@app.action(access="write", title="Add a book", errors=[IsbnTaken])
def add(call, book: NewBook) -> Book:
    """Puts a book on the shelf."""
    return shown(BOOKS.add(call.new_id("book"), book, lambda id: IsbnTaken(next=step("get", id=id))))


@app.action(access="read", title="Read a book", idempotent=True, errors=[BookNotFound])
def get(call, id: ID) -> Book:
    """Tells about one book, and when it is due."""
    return shown(BOOKS.require(id, BookNotFound), LOANS.get(id))


@app.action(access="read", title="Find books", idempotent=True)
def find(call, words: WORDS = None, limit: PageSize = 20, cursor: Cursor = None) -> Items[Book]:
    """Finds books by words of title and author, ordered by title."""
    page = BOOKS.find(text=words, order=["title"], limit=limit, cursor=cursor)
    loans = LOANS.get_many(book.id for book in page.documents)
    return Items(list(map(shown, page.documents, loans)), page.next)


@app.action(access="write", title="Borrow a book", errors=[BookNotFound, BookTaken, DepositMissing], emits=[BORROWED])
def borrow(call, id: ID) -> Book:
    """Lends a book to you for 14 days."""
    book = BOOKS.require(id, BookNotFound)
    if taken := LOANS.get(id):
        wait = ceil((taken.value.due_at - call.now).total_seconds())
        raise BookTaken(next=step("get", id=id, after_s=max(0, wait)))
    if book.value.deposit and BALANCE.call()["available"] < book.value.deposit:
        raise DepositMissing()
    loan = LOANS.add(id, Loan(call.owner_id, call.now + timedelta(days=14)))
    timers.set(f"due/{id}", loan.value.due_at, "remind", {"id": id})
    notify(BORROWED, id, loan.value)
    return shown(book, loan)


@app.action(access="write", title="Give a book back", errors=[BookNotFound, NotBorrowed])
def give_back(call, id: ID) -> Book:
    """Ends your loan of a book."""
    book, loan = BOOKS.require(id, BookNotFound), LOANS.get(id)
    if not loan or loan.value.owner_id != call.owner_id:
        raise NotBorrowed()
    LOANS.delete(id)
    timers.cancel(f"due/{id}")
    return shown(book)


@app.action(access="read", title="Count books and loans", idempotent=True)
def overview(call) -> Overview:
    """Counts all books, all loans and your loans."""
    yours = LOANS.count({"owner_id": {"eq": call.owner_id}})
    return {"books": BOOKS.count(), "borrowed": LOANS.count(), "yours": yours}


@app.action(access="read", title="Draw numbers")
def random(call, count: A[int, Range(1, 100), "How many numbers."] = 1) -> Numbers:
    """Draws random numbers, at least 0 and less than 1."""
    return {"numbers": [chance.random() for _ in range(count)]}


@app.action(access="internal", title="Remind the borrower", idempotent=True, emits=[DUE])
def remind(call, id: ID) -> Reminded:
    """Tells a person that their loan is due."""
    loan = LOANS.get(id)
    if not loan or loan.value.reminded or loan.value.due_at > call.now:
        return {"reminded": False}
    loan.value.reminded = True
    LOANS.save(loan)
    notify(DUE, id, loan.value)
    return {"reminded": True}


WitWorld = app.world()
