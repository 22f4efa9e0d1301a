"""JSON Schema of type hints."""

import enum
import unittest
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any, Generic, Literal, NotRequired, Optional, TypedDict, TypeVar, Union

from portolan_sdk import Keywords, Length, Pattern, Range
from portolan_sdk.convert import decoder
from portolan_sdk.faults import Fault
from portolan_sdk.schema import schema_of

T = TypeVar("T")


class Genre(enum.Enum):
    NOVEL = "novel"
    POEM = "poem"


@dataclass
class Author:
    name: Annotated[str, "The author's name."]


@dataclass
class Book:
    title: Annotated[str, Length(1, 200), "Its title."]
    authors: Annotated[list[Author], Length(max=5), "Who wrote it."]
    genre: Annotated[Genre, "Its kind."] = Genre.NOVEL
    pages: Annotated[Optional[int], Range(1), "Its length."] = None
    tags: Annotated[list[str], "Its tags."] = field(default_factory=list)
    from_: Annotated[str, "Where it comes from."] = "here"


@dataclass
class Envelope(Generic[T]):
    about: Annotated[T, "What it is about."]
    several: Annotated[list[T], "More of it."]


class Count(TypedDict):
    count: Annotated[int, "How many."]
    note: NotRequired[Annotated[str, "A note."]]


class TypesTest(unittest.TestCase):
    def test_plain_types(self):
        for annotation, schema in [
            (str, {"type": "string"}),
            (int, {"type": "integer"}),
            (float, {"type": "number"}),
            (bool, {"type": "boolean"}),
            (datetime, {"type": "string", "format": "date-time"}),
            (date, {"type": "string", "format": "date"}),
            (dict, {"type": "object"}),
            (Any, {}),
            (list[int], {"type": "array", "items": {"type": "integer"}}),
            (dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
            (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
            (Literal["a", 1], {"type": ["integer", "string"], "enum": ["a", 1]}),
            (Genre, {"type": "string", "enum": ["novel", "poem"]}),
        ]:
            with self.subTest(annotation):
                self.assertEqual(schema_of(annotation), schema)

    def test_options(self):
        for annotation, schema in [
            (Optional[str], {"type": ["string", "null"]}),
            (int | None, {"type": ["integer", "null"]}),
            (Optional[Genre], {"type": ["string", "null"], "enum": ["novel", "poem", None]}),
            (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ]:
            with self.subTest(annotation):
                self.assertEqual(schema_of(annotation), schema)

    def test_limits(self):
        for annotation, schema in [
            (Annotated[str, Length(1, 9)], {"type": "string", "minLength": 1, "maxLength": 9}),
            (Annotated[Optional[str], Length(max=9)], {"type": ["string", "null"], "maxLength": 9}),
            (Annotated[dict, Length(1)], {"type": "object", "minProperties": 1}),
            (Annotated[int, Range(0, 5)], {"type": "integer", "minimum": 0, "maximum": 5}),
            (Annotated[float, Range(max=0.5)], {"type": "number", "maximum": 0.5}),
            (Annotated[str, Pattern("^a$")], {"type": "string", "pattern": "^a$"}),
            (Annotated[str, Keywords(format="uri")], {"type": "string", "format": "uri"}),
            (Optional[Annotated[str, Keywords(format="uri")]], {"type": ["string", "null"], "format": "uri"}),
            (Annotated[int, "A number."], {"type": "integer", "description": "A number."}),
        ]:
            with self.subTest(annotation):
                self.assertEqual(schema_of(annotation), schema)

    def test_a_limit_must_fit_its_type(self):
        for annotation in (Annotated[int, Length(1)], Annotated[str, Range(1)], Annotated[int, Pattern("a")]):
            with self.subTest(annotation), self.assertRaisesRegex(Fault, "does not fit .*; remove it"):
                schema_of(annotation)

    def test_other_types_have_no_json_form(self):
        for annotation in (complex, set[str], tuple[int, int], dict[int, str], bytes):
            for derive in (schema_of, decoder):
                with self.subTest(annotation), self.assertRaisesRegex(Fault, "has no JSON form; use"):
                    derive(annotation)


class ObjectsTest(unittest.TestCase):
    def test_an_input_may_leave_out_what_has_a_default(self):
        schema = schema_of(Book)
        self.assertEqual(schema["required"], ["title", "authors"])
        self.assertIs(schema["additionalProperties"], False)
        self.assertEqual(list(schema["properties"]), ["title", "authors", "genre", "pages", "tags", "from"])
        self.assertEqual(schema["properties"]["genre"]["default"], "novel")
        self.assertEqual(schema["properties"]["tags"]["default"], [])
        self.assertNotIn("default", schema["properties"]["pages"])
        self.assertEqual(
            schema["properties"]["pages"],
            {"type": ["integer", "null"], "minimum": 1, "description": "Its length."},
        )

    def test_objects_nest(self):
        authors = schema_of(Book)["properties"]["authors"]
        self.assertEqual(authors["maxItems"], 5)
        self.assertEqual(authors["items"]["properties"]["name"]["description"], "The author's name.")

    def test_an_output_has_every_field(self):
        self.assertEqual(
            schema_of(Book, output=True)["required"],
            ["title", "authors", "genre", "pages", "tags", "from"],
        )

    def test_a_typed_dict_is_an_object(self):
        self.assertEqual(schema_of(Count)["required"], ["count"])
        self.assertEqual(schema_of(Count, output=True)["required"], ["count"])

    def test_generic_types_have_their_arguments(self):
        properties = schema_of(Envelope[Author])["properties"]
        self.assertEqual(list(properties["about"]["properties"]), ["name"])
        self.assertEqual(list(properties["several"]["items"]["properties"]), ["name"])

    def test_a_field_without_a_description_is_a_fault_at_its_line(self):
        @dataclass
        class Bare:
            good: Annotated[int, "Good."]
            bad: int

        with self.assertRaises(Fault) as caught:
            schema_of(Bare)
        sentence = caught.exception.sentence(None)
        test = ObjectsTest.test_a_field_without_a_description_is_a_fault_at_its_line
        line = test.__code__.co_firstlineno + 4
        text = rf"test_schema\.py:{line}: bad of Bare has no description; write bad: Annotated\[int, "
        self.assertRegex(sentence, text)

    def test_an_object_within_itself_is_a_fault(self):
        with self.assertRaisesRegex(Fault, "Node contains itself; use dict"):
            schema_of(Node)


@dataclass
class Node:
    child: Annotated[Optional["Node"], "The next one."] = None


if __name__ == "__main__":
    unittest.main()
