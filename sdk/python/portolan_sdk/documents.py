"""The capability's own documents, in typed collections."""

import dataclasses
import json
import re
from datetime import datetime
from typing import Any

from . import contract
from .contract import ask
from .convert import DecodeError, decoder, from_millis, to_json
from .errors import Duplicate, Invalid
from .faults import Fault, listed
from .shapes import fields_of, has_path


# What the erasure of a person does to a document, as authors and as the contract name it.
ERASURES = {"delete": "delete_document", "remove": "remove_element", "redact": "redact"}


@dataclasses.dataclass(frozen=True)
class Person:
    """A path at which documents name a person (`own_…` or `agt_…`), and what their erasure does:

    `delete` the document, `remove` the element (of the innermost list or dict) or `redact` the id. `personal`,
    `shared` and `public` are the paths of the fields about the person, by who may know them.
    """

    path: str
    erasure: str
    personal: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    public: tuple[str, ...] = ()

    def __post_init__(self):
        if self.erasure not in ERASURES:
            raise ValueError(f"there is no erasure {self.erasure!r}: use one of {', '.join(ERASURES)}")

    def declaration(self):
        audiences = ("personal", "shared", "public")
        fields = [{"path": path, "audience": each} for each in audiences for path in getattr(self, each)]
        return {"path": self.path, "erasure": ERASURES[self.erasure], "fields": fields}


@dataclasses.dataclass
class Stored:
    """A stored document. Its revision counts up from 1 with every write."""

    id: str
    value: Any
    revision: int
    created_at: datetime
    updated_at: datetime


@dataclasses.dataclass
class Hit:
    """A document that a query found.

    `relevance` is set if the query has `text`, `distance_m` if it has `near`.
    """

    document: Stored
    relevance: float | None
    distance_m: float | None


@dataclasses.dataclass
class Page:
    """One page of hits. `next` is the cursor of the next page, or None on the last one."""

    hits: list[Hit]
    next: str | None

    @property
    def documents(self):
        return [hit.document for hit in self.hits]


class Collection:
    """Documents of one dataclass.

    `indexes` and `unique` map names to paths, such as `{"owner": ["owner_id"]}`, or list paths with an
    index each; filters and orders use indexed paths only. `people` lists a `Person` for each path that
    names people; `[]` means that documents name nobody.
    """

    def __init__(
        self, name, type, *, people, indexes=None, unique=None, text=(), geo=None, version=1,
        annotations=None,
    ):
        self.name, self.type, self.people, self.version = name, type, listed("people", people), version
        for person in self.people:
            if not isinstance(person, Person):
                raise Fault(f"{person!r} in people of {name} is no Person; write Person(path, erasure).")
        self.indexes, self.unique = _named(indexes or {}), _named(unique or {})
        self.text, self.geo, self.annotations = list(listed("text", text)), geo, annotations or {}
        self._decode = decoder(type)
        self._check_paths()

    def declaration(self):
        """Returns the descriptor's record."""
        kinds = ((self.indexes, False), (self.unique, True))
        return {
            "name": self.name,
            "indexes": [
                {"name": name, "paths": list(paths), "unique": unique}
                for indexes, unique in kinds for name, paths in indexes.items()
            ],
            "text": self.text,
            "geo": self.geo and dict(zip(("latitude", "longitude"), self.geo)),
            "version": self.version,
            "people": [person.declaration() for person in self.people],
            "annotations": annotations(self.annotations),
        }

    def _check_paths(self):
        """Raises a fault if the type lacks a path that is declared."""
        indexed = [path for paths in (*self.indexes.values(), *self.unique.values()) for path in paths]
        people = [person.path for person in self.people]
        for path in (*indexed, *self.text, *(self.geo or ()), *people):
            if path.startswith("$") or has_path(self.type, re.split(r"[.\[{]", path.replace("]", "").replace("}", ""))):
                continue
            fields = ", ".join(field.name for field in fields_of(self.type)) or "none"
            raise Fault(f"{self.type.__name__} has no field {path}, which {self.name} declares; its fields are {fields}.")

    def get(self, id):
        """Returns the document, or None. Raises `Invalid` if it does not fit the collection's type."""
        found = ask(contract.documents.get, self.name, id)
        document = found and self._read(found)
        if found and not document:
            raise Invalid(f"a document in {self.name} does not fit {self.type.__name__}")
        return document

    def require(self, id, refusal):
        """Returns the document, or raises the refusal."""
        if document := self.get(id):
            return document
        raise refusal

    def get_many(self, ids):
        """Returns, in the order of the ids, each document, or None if it is missing or unreadable."""
        found = ask(contract.documents.get_many, self.name, list(ids))
        return [each and self._read(each) for each in found]

    def find(self, **query):
        """Returns one page of hits: see `query`. A document that does not fit the type is left out."""
        return page(ask(contract.documents.find, self.name, query_record(**query)), self._read)

    def all(self, **query):
        """Returns all documents of a query, page after page."""
        cursor = None
        while True:
            found = self.find(**query, cursor=cursor)
            yield from found.documents
            if not (cursor := found.next):
                return

    def count(self, filter=None):
        """Counts the documents that satisfy a filter; without one, all documents."""
        return ask(contract.documents.count, self.name, filter and to_json(filter))

    def count_by(self, paths, **query):
        """Counts the values of each path in a query's result: a list of (value, count) for each path."""
        return counted(ask(contract.documents.count_by, self.name, query_record(**query), list(paths)))

    def put(self, id, value, revision=None):
        """Writes a document, and returns its new revision.

        `revision` is that which the stored document must have, or 0 if there must be no document.
        Raises `Conflict` if that is not so, and `Duplicate` if a unique value is taken.
        """
        return ask(contract.documents.put, self.name, id, to_json(value), _expected(revision))

    def add(self, id, value, on_duplicate=None):
        """Writes a document that must not exist yet, and returns it as it is stored.

        `on_duplicate(id)` returns the exception to raise if the document `id` already has a unique
        value; without it, `Duplicate` is raised. Raises `Conflict` if the document already exists.
        """
        now = from_millis(contract.context.now())
        try:
            return Stored(id, value, self.put(id, value, revision=0), now, now)
        except Duplicate as other:
            if on_duplicate:
                raise on_duplicate(other.id) from None
            raise

    def save(self, stored):
        """Writes a document that was read and changed. Raises `Conflict` if another call changed it since."""
        stored.revision = self.put(stored.id, stored.value, stored.revision)

    def delete(self, id, revision=None):
        """Deletes a document. A missing one is an error only if a revision is expected."""
        ask(contract.documents.delete, self.name, id, _expected(revision))

    def _read(self, document):
        try:
            return stored(document, self._decode)
        except DecodeError as error:
            reason = f"it is not a {self.type.__name__}: {error}"
            ask(contract.documents.report_unreadable, self.name, document.id, document.revision, reason)
            return None


def _named(indexes):
    """Returns the paths of each index by its name. The name of a listed path is made from the path."""
    if isinstance(indexes, dict):
        return indexes
    return {re.sub("[^A-Za-z0-9_]+", "_", path): [path] for path in indexes}


def query_record(
    filter=None, text=None, order=(), limit=100, cursor=None, near=None, within=None, unchecked=False
):
    """Returns the contract's record of a query.

    `filter` is a condition on indexed paths, such as `{"price": {"lt": 10}}`. A path in `order` that
    begins with `-` sorts in descending order. `near` is (latitude, longitude, metres), `within`
    (south, west, north, east). `unchecked` leaves the hits out of the commit's validation.
    """
    records = contract.documents
    return records.Query(
        filter=filter and to_json(filter),
        text=text,
        near=near and records.Circle(*near),
        within=within and records.Rectangle(*within),
        order=[_order(path) for path in order],
        limit=limit,
        cursor=cursor,
        unchecked=unchecked,
    )


def page(found, read):
    """Returns a page with its documents read, without those for which `read` returns None."""
    hits = [Hit(read(hit.document), hit.relevance, hit.distance_m) for hit in found.hits]
    return Page([hit for hit in hits if hit.document], found.next)


def stored(document, decode):
    """Returns a document of the contract with its body decoded."""
    value = decode(json.loads(document.body))
    times = from_millis(document.created_at), from_millis(document.updated_at)
    return Stored(document.id, value, document.revision, *times)


def counted(counts):
    return [[(json.loads(each.value), each.count) for each in path] for path in counts]


def annotations(values, lists=()):
    """Returns the records of annotations: texts, and lists by their keys, which are left out if they are empty."""
    texts = {key: json.dumps(value, ensure_ascii=False) for key, value in dict(lists).items() if value}
    return [{"key": key, "value": value} for key, value in (values | texts).items()]


def _order(path):
    direction = contract.documents.Direction
    if path.startswith("-"):
        return contract.documents.Order(path[1:], direction.DESCENDING)
    return contract.documents.Order(path, direction.ASCENDING)


def _expected(revision):
    records = contract.documents
    if revision is None:
        return records.Expectation_Any()
    return records.Expectation_Revision(revision) if revision else records.Expectation_Absent()
