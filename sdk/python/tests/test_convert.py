"""Values to JSON and back."""

import enum
import json
import unittest
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Any, Generic, Literal, Optional, TypedDict, TypeVar

from portolan_sdk.convert import DecodeError, decoder, from_millis, rfc3339, to_json, to_millis

T = TypeVar("T")


class Genre(enum.Enum):
    NOVEL = "novel"


@dataclass
class Book:
    title: str
    from_: date
    genre: Genre = Genre.NOVEL
    tags: list[str] = field(default_factory=list)


@dataclass
class Envelope(Generic[T]):
    about: T


class Count(TypedDict):
    count: int


class ConvertTest(unittest.TestCase):
    def test_values_come_back(self):
        at = datetime(2026, 3, 1, 9, 0, 0, 123000, timezone.utc)
        for annotation, value, text in [
            (
                Book, Book("A", date(2026, 3, 1)),
                '{"title":"A","from":"2026-03-01","genre":"novel","tags":[]}',
            ),
            (Envelope[list[Genre]], Envelope([Genre.NOVEL]), '{"about":["novel"]}'),
            (datetime, at, '"2026-03-01T09:00:00.123Z"'),
            (Optional[datetime], None, "null"),
            (dict[str, Optional[int]], {"a": 1, "b": None}, '{"a":1,"b":null}'),
            (Count, {"count": 3}, '{"count":3}'),
            (float, 1.5, "1.5"),
            (Any, {"ä": [True]}, '{"ä":[true]}'),
        ]:
            with self.subTest(text):
                self.assertEqual(to_json(value), text)
                self.assertEqual(decoder(annotation)(json.loads(text)), value)

    def test_a_whole_number_is_a_float_where_one_is_wanted(self):
        self.assertIsInstance(decoder(float)(3), float)
        self.assertIsInstance(decoder(int)(3.0), int)

    def test_what_does_not_fit_says_where(self):
        for annotation, value, pointer in [
            (Book, {"from": "2026-03-01"}, "/title"),
            (Book, {"title": 1, "from": "2026-03-01"}, "/title"),
            (Book, {"title": "A", "from": "yesterday"}, "/from"),
            (Book, {"title": "A", "from": "2026-03-01", "tags": ["a", None]}, "/tags/1"),
            (dict[str, int], {"a/b~c": "x"}, "/a~1b~0c"),
            (datetime, "2026-03-01T09:00:00", ""),
            (datetime, "0001-01-01T00:00:00+23:00", ""),
            (int, True, ""),
            (int, 1.5, ""),
            (float, False, ""),
            (Literal["a"], "b", ""),
            (Optional[int], "1", ""),
            (list[int], {}, ""),
        ]:
            with self.subTest(value), self.assertRaises(DecodeError) as caught:
                decoder(annotation)(value)
            self.assertEqual(caught.exception.pointer, pointer)

    def test_instants(self):
        at = datetime(2026, 3, 1, 10, 0, tzinfo=timezone(timedelta(hours=1)))
        self.assertEqual(rfc3339(at), "2026-03-01T09:00:00.000Z")
        self.assertEqual(rfc3339(datetime(2026, 3, 1)), "2026-03-01T00:00:00.000Z")
        self.assertEqual(to_millis(from_millis(1_795_000_000_123)), 1_795_000_000_123)
        self.assertEqual(rfc3339(from_millis(1_795_000_000_123)), "2026-11-18T11:06:40.123Z")

    def test_not_a_number_has_no_json(self):
        with self.assertRaises(ValueError):
            to_json(float("nan"))
        with self.assertRaisesRegex(TypeError, "set has no JSON form"):
            to_json({1})


if __name__ == "__main__":
    unittest.main()
