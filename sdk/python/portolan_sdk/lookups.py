"""Look-ups in public sources by the host. Build with `--world lookup-capability`."""

import dataclasses
from typing import Annotated, Generic, Optional, TypeVar

from . import contract
from .contract import ask
from .convert import to_json

T = TypeVar("T")
host = contract.interface("lookups")


@dataclasses.dataclass
class Answered(Generic[T]):
    """The input of the internal action that a look-up names. An answer can be delivered twice."""

    lookup_id: Annotated[str, "The id of the look-up."]
    about: Annotated[T, "The data that was given with the look-up."]
    found: Annotated[list[str], "The texts that were found, which are untrusted."] = dataclasses.field(
        default_factory=list
    )
    error: Annotated[Optional[str], "Why the look-up failed, in a sentence for callers."] = None


def txt(name, action, about):
    """Looks up the TXT records of a name after the commit, and returns the look-up's id."""
    return ask(host.txt, name, action, to_json(about))


def page(url, action, about):
    """Reads a page of an https address after the commit, and returns the look-up's id."""
    return ask(host.page, url, action, to_json(about))
