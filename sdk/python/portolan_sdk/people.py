"""The data of the calling person, in all capabilities. Build with `--world people-capability`."""

import dataclasses
from typing import Annotated, Generic, TypeVar

from . import contract
from .contract import ask
from .convert import to_json

T = TypeVar("T")
host = contract.interface("people")


@dataclasses.dataclass
class Part(Generic[T]):
    """A part of an export: the input of the internal action that the export names."""

    export_id: Annotated[str, "The id of the export. A part can be delivered twice."]
    about: Annotated[T, "The data that was given with the export."]
    part: Annotated[int, "Its number, from 1."]
    last: Annotated[bool, "Whether it is the last one."]
    items: Annotated[list[dict], "Objects with a kind: document, event, webhook, answer or timer."]


def export(action, about):
    """Exports what is stored about the calling person after the commit, and returns the export's id."""
    return ask(host.request_export, action, to_json(about))


def erase():
    """Erases the calling person after the commit. It cannot be undone."""
    ask(host.request_erasure)


def erase_owner(owner_id):
    """Erases a person after the commit, in a call without an agent, such as that of a timer."""
    ask(host.request_erasure_of, owner_id)
