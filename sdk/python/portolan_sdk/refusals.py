"""Refusals, and the next step of an answer."""

import dataclasses
import inspect
import re
import sys

from .convert import to_json

KINDS = (
    "invalid", "unprocessable", "payment_required", "forbidden", "not_found",
    "conflict", "gone", "too_many", "upstream", "unavailable",
)


@dataclasses.dataclass(frozen=True)
class Next:
    """A call that helps: `Next("bookshelf", {"action": "find"})`.

    `missing` names the fields that the caller must still find out, `ask_user` is the question for the
    person, `then="retry_original"` says that the refused call succeeds afterwards, and `after_s` is the
    number of seconds to wait.
    """

    capability: str | None
    input: dict = dataclasses.field(default_factory=dict)
    missing: list[str] | None = None
    ask_user: str | None = None
    then: str | None = None
    after_s: int | None = None

    def plain(self):
        """Returns the parts that are given. A step without a capability is one of this capability."""
        given = vars(self) | {"capability": self.capability or _own["id"]}
        return {name: value for name, value in given.items() if value is not None}


_own = {"id": None}


def set_own_id(id):
    """Sets the id of this capability, for steps that are declared before it."""
    _own["id"] = id


def step(action, after_s=None, **fields):
    """Returns the next step of calling an action of this capability: `step("get", id="book_1")`."""
    return Next(None, {"action": action} | fields, after_s=after_s)


class Answer:
    """An output with the most likely next step. An action that returns one is annotated `Answer[Book]`."""

    def __init__(self, output, next):
        self.output, self.next = output, next

    def __class_getitem__(cls, output):
        return output


class Refusal(Exception):
    """A refusal of an action. Each code is a class whose docstring is the message for callers:

    class BookTaken(Refusal, kind="conflict", retryable=True):
        '''This book is borrowed.'''

    The code is the class's name in snake_case. `raise BookTaken(next=…, conflict=…)` adds the step that
    helps, and the cause for programs: an object with a `kind`.
    """

    code, kind, retryable, keep_writes = "", "", False, False
    next: Next | dict | None = None

    def __init_subclass__(cls, kind="", retryable=False, keep_writes=False, code=None, next=None):
        cls.code = code or re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        cls.kind, cls.retryable, cls.keep_writes, cls.next = kind, retryable, keep_writes, next

    def __init__(self, next=None, conflict=None):
        self.next, self.conflict = next or self.next, conflict
        super().__init__(self.message)

    @property
    def message(self):
        return inspect.cleandoc(type(self).__doc__).split("\n\n")[0].replace("\n", " ")

    @classmethod
    def common(cls, code, message, next=None, conflict=None):
        """Returns a refusal with a code that is common to all capabilities, such as `not_permitted`."""
        return Common(code, message, next, conflict)

    @classmethod
    def validation(cls, pointer, rule, expected):
        """Returns `validation_failed`, for a rule that a schema cannot express."""
        errors = [{"pointer": pointer, "rule": rule, "expected": expected}]
        conflict = {"kind": "validation", "errors": errors}
        return Common("validation_failed", "A field of the input is not acceptable.", None, conflict)

    def failure(self, record):
        """Returns the contract's record of this refusal."""
        return record(
            code=self.code,
            message=self.message,
            conflict=None if self.conflict is None else to_json(self.conflict),
            next=None if self.next is None else to_json(self.next),
            keep_writes=self.keep_writes,
        )


def refusal(code, kind, message, **options):
    """Returns the class of a refusal: `BookTaken = refusal("book_taken", "conflict", "This book is borrowed.")`."""
    name = "".join(word.capitalize() for word in code.split("_"))
    members = {"__doc__": message, "__module__": sys._getframe(1).f_globals["__name__"]}
    return type(name, (Refusal,), members, kind=kind, code=code, **options)


class Common(Refusal):
    """A refusal with a common code, or one of a capability that was invoked."""

    def __init__(self, code, message, next=None, conflict=None):
        self.code, self.text = code, message
        super().__init__(next, conflict)

    @property
    def message(self):
        return self.text
