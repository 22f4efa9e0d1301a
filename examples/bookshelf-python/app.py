"""Lends books from one shelf."""
# ../bookshelf.md says what it does, ../bookshelf-cases tests it.

import random as chance
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Annotated as A, TypedDict

from portolan_sdk import (
    App, Collection, Duplicate, Event, Invocation, Length, Next, Pattern, Person, Range, Refusal, timers,
)

ID = A[str, Length(1, 64), "The id of the book."]
WORDS = A[str | None, Length(1, 200), "Words of title or author."]
LIMIT = A[int, Range(1, 50), "The most books of the page."]
CURSOR = A[str | None, Length(1, 2000), "Where the next page begins; null after the last one."]
NUMBER = A[int, "How many there are."]


@dataclass(kw_only=True)
class NewBook:
    title: A[str, Length(1, 200), "What the book is called."]
    author: A[str, Length(1, 200), "Who wrote it."]
    isbn: A[str, Pattern("^97[89][0-9]{10}$"), "Its ISBN of 13 digits."]
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


Found = TypedDict("Found", {"items": A[list[Book], "The books."], "next_cursor": CURSOR})
Overview = TypedDict("Overview", {"books": NUMBER, "borrowed": NUMBER, "yours": NUMBER})
Numbers = TypedDict("Numbers", {"numbers": A[list[float], "At least 0 and less than 1."]})
Reminded = TypedDict("Reminded", {"reminded": A[bool, "Whether the person was told now."]})


def step(action, after_s=None, **fields):
    return Next("bookshelf", {"action": action} | fields, after_s=after_s)


class BookNotFound(Refusal, kind="not_found", next=step("find")):
    """There is no book with this id."""


class IsbnTaken(Refusal, kind="conflict"):
    """Another book has this ISBN."""


class BookTaken(Refusal, kind="conflict", retryable=True):
    """This book is borrowed."""


class NotBorrowed(Refusal, kind="conflict", next=step("overview")):
    """You have not borrowed this book."""


TOP_UP = Next("agent_credits", {"action": "balance"}, then="retry_original")


class DepositMissing(Refusal, kind="payment_required", retryable=True, next=TOP_UP):
    """There are too few credits for the deposit."""


BOOKS = Collection(
    "books", NewBook, people=[], text=["title", "author"],
    indexes={"title": ["title"]}, unique={"isbn": ["isbn"]},
)
BORROWER = Person("owner_id", "delete_document")
LOANS = Collection("loans", Loan, people=[BORROWER], indexes={"owner": ["owner_id"]})
BALANCE = Invocation("agent_credits", "balance")
BORROWED, DUE = Event("bookshelf.borrowed"), Event("bookshelf.due")
app = App(
    id="bookshelf", title="Bookshelf", description=__doc__, tags=["example"],
    collections=[BOOKS, LOANS], invokes=[BALANCE],
)


def shown(book, loan=None):
    return Book(**vars(book.value), id=book.id, due_at=loan and loan.value.due_at)


def tell(event, id, loan):
    data = {"id": id, "due_at": loan.due_at, "next": step("give_back", id=id)}
    event.publish(f"books/{id}", data, owner=loan.owner_id)


@app.action(access="write", errors=[IsbnTaken])
def add(call, book: NewBook) -> Book:
    """Put a book on the shelf."""
    try:
        return shown(BOOKS.add(call.new_id("book"), book))
    except Duplicate as other:
        raise IsbnTaken(next=step("get", id=other.id)) from None


@app.action(access="read", idempotent=True, errors=[BookNotFound])
def get(call, id: ID) -> Book:
    """Read about a book."""
    return shown(BOOKS.require(id, BookNotFound), LOANS.get(id))


@app.action(access="read", idempotent=True)
def find(call, words: WORDS = None, limit: LIMIT = 20, cursor: CURSOR = None) -> Found:
    """Find books, ordered by title."""
    page = BOOKS.find(text=words, order=["title"], limit=limit, cursor=cursor)
    loans = LOANS.get_many(book.id for book in page.documents)
    return {"items": list(map(shown, page.documents, loans)), "next_cursor": page.next}


@app.action(access="write", errors=[BookNotFound, BookTaken, DepositMissing], emits=[BORROWED])
def borrow(call, id: ID) -> Book:
    """Borrow a book for 14 days."""
    book = BOOKS.require(id, BookNotFound)
    if taken := LOANS.get(id):
        wait = ceil((taken.value.due_at - call.now).total_seconds())
        raise BookTaken(next=step("get", id=id, after_s=max(0, wait)))
    if book.value.deposit and BALANCE.call()["available"] < book.value.deposit:
        raise DepositMissing()
    loan = LOANS.add(id, Loan(call.owner_id, call.now + timedelta(days=14)))
    timers.set(f"due/{id}", loan.value.due_at, "remind", {"id": id})
    tell(BORROWED, id, loan.value)
    return shown(book, loan)


@app.action(access="write", errors=[BookNotFound, NotBorrowed])
def give_back(call, id: ID) -> Book:
    """Give a book back."""
    book, loan = BOOKS.require(id, BookNotFound), LOANS.get(id)
    if not loan or loan.value.owner_id != call.owner_id:
        raise NotBorrowed()
    LOANS.delete(id)
    timers.cancel(f"due/{id}")
    return shown(book)


@app.action(access="read", idempotent=True)
def overview(call) -> Overview:
    """Count the books and the loans."""
    yours = LOANS.count({"owner_id": {"eq": call.owner_id}})
    return {"books": BOOKS.count(), "borrowed": LOANS.count(), "yours": yours}


@app.action(access="read")
def random(call, count: A[int, Range(1, 100), "How many numbers."] = 1) -> Numbers:
    """Draw random numbers."""
    return {"numbers": [chance.random() for _ in range(count)]}


@app.action(access="internal", idempotent=True, emits=[DUE])
def remind(call, id: ID) -> Reminded:
    """Tell a person that a book is due."""
    loan = LOANS.get(id)
    if not loan or loan.value.reminded or loan.value.due_at > call.now:
        return {"reminded": False}
    loan.value.reminded = True
    LOANS.save(loan)
    tell(DUE, id, loan.value)
    return {"reminded": True}


WitWorld = app.world()
