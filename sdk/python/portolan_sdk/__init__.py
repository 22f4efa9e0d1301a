"""Capabilities of a Portolan host in Python.

In reading order: `app` declares actions, `shapes` and `schema` turn type hints into JSON Schema, `convert`
turns JSON into values, `refusals` and `errors` are exceptions, `documents`, `feeds`, `events`, `timers`,
`invocations`, `secrets`, `lookups` and `people` are what the host offers, `states` and `prompts` are parts of
the descriptor, `running` has the component's exports, and `sandbox` fits Python's own modules to a call.
"""

from . import contract, feeds, secrets, timers
from .app import App, Tool
from .calls import Call
from .documents import Collection, Hit, Page, Person, Stored
from .errors import BadCursor, Conflict, Duplicate, HostError, Invalid, Limit, Unavailable
from .events import Event, Happened
from .feeds import Feed
from .invocations import Invocation
from .paging import Cursor, Items, PageSize
from .prompts import Argument, Prompt
from .refusals import Answer, Next, Refusal, refusal, step
from .shapes import Example, Keywords, Length, Pattern, Range
from .states import StateMachine, Transition

__all__ = [
    "Answer", "App", "Argument", "BadCursor", "Call", "Collection", "Conflict", "Cursor",
    "Duplicate", "Event", "Example", "Feed", "Happened", "Hit", "HostError", "Invalid",
    "Invocation", "Items", "Keywords", "Length", "Limit", "Next", "Page", "PageSize", "Pattern",
    "Person", "Prompt", "Range", "Refusal", "StateMachine", "Stored", "Tool", "Transition", "Unavailable",
    "contract", "feeds", "refusal", "secrets", "step", "timers",
]
