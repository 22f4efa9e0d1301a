"""Lists that are read page by page."""

import dataclasses
from typing import Annotated, Generic, TypeVar

from .shapes import Length, Range

T = TypeVar("T")
PageSize = Annotated[int, Range(1, 50), "At most this many."]
Cursor = Annotated[str | None, Length(1, 2000), "The next_cursor of the page before."]


@dataclasses.dataclass
class Items(Generic[T]):
    """The output of an action that reads one page of a list: `-> Items[Book]`."""

    items: Annotated[list[T], "The items of this page."]
    next_cursor: Annotated[str | None, "Where the next page begins; null on the last one."]
