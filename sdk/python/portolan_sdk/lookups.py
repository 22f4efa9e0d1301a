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


@dataclasses.dataclass
class AnsweredFile(Generic[T]):
    """The input of the internal action that a look-up of a file names: a text, or unchanged, or an error."""

    lookup_id: Annotated[str, "The id of the look-up."]
    about: Annotated[T, "The data that was given with the look-up."]
    text: Annotated[Optional[str], "The text of the file, which is untrusted."] = None
    unchanged: Annotated[bool, "Whether the file is the one that the capability has."] = False
    etag: Annotated[Optional[str], "The entity tag for the next look-up."] = None
    last_modified: Annotated[Optional[str], "The time of the last change, for the next look-up."] = None
    moved_to: Annotated[Optional[str], "The secret address for the next look-up, if the file has moved."] = None
    error: Annotated[Optional[str], "Why the look-up failed, in a sentence for callers."] = None
    status: Annotated[Optional[int], "The HTTP status of an answer that is an error."] = None
    retry_after_s: Annotated[Optional[int], "The seconds for which the server asks to wait."] = None


def txt(name, action, about):
    """Looks up the TXT records of a name after the commit, and returns the look-up's id."""
    return ask(host.txt, name, action, to_json(about))


def page(url, action, about):
    """Reads a page of an https address after the commit, and returns the look-up's id."""
    return ask(host.page, url, action, to_json(about))


def file(url, media_types, action, about, etag=None, last_modified=None):
    """Reads a file that changes by its secret https address after the commit, and returns the look-up's id."""
    return ask(host.file, url, media_types, etag, last_modified, action, to_json(about))
