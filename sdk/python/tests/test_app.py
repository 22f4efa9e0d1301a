"""Declarations: the descriptor, and the faults."""

import re
import unittest
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from typing import Annotated, Any, TypedDict

from portolan_sdk import (
    Answer, App, Collection, Event, Example, Invocation, Items, Next, Person, Prompt, Refusal, StateMachine,
    Tool, Transition, refusal, step,
)
from portolan_sdk.convert import to_json
from portolan_sdk.faults import DeclarationError, Fault
from portolan_sdk.sandbox import explain

Out = TypedDict("Out", {"value": Annotated[Any, "Anything."]})


class RoomTaken(Refusal, kind="conflict", retryable=True, next=Next("rooms", {"action": "find"})):
    """This room is taken.

    Somebody else has it.
    """


@dataclass
class Room:
    name: Annotated[str, "Its name."]


def app_of(**arguments):
    return App(id="rooms", title="Rooms", **({"description": "Lets rooms.\n\nBy the day."} | arguments))


class DescriptorTest(unittest.TestCase):
    def test_examples_of_fields_are_an_example_of_the_action(self):
        app = app_of()

        @app.action(access="read", title="Find rooms")
        def find(call, name: Annotated[str, "Its name.", Example("A")], floor: Annotated[int, "Where."] = 0) -> Items[Room]:
            """Finds rooms."""

        @app.action(access="read")
        def get(call, name: Annotated[str, "Its name."]) -> Out:
            """Get a room."""

        found, got = app.descriptor()["actions"]
        self.assertEqual((found["title"], found["description"]), ("Find rooms", "Finds rooms."))
        self.assertEqual((found["examples"], got["examples"]), ([{"name": "A"}], []))
        self.assertEqual(found["output"]["required"], ["items", "next_cursor"])

    def test_a_refusal_and_a_step_can_be_declared_before_the_app(self):
        RoomGone = refusal("room_gone", "gone", "This room is gone.", next=step("find", after_s=5, floor=1))
        app_of()
        self.assertEqual((RoomGone.code, RoomGone.kind, RoomGone().message), ("room_gone", "gone", "This room is gone."))
        expected = '{"capability":"rooms","input":{"action":"find","floor":1},"after_s":5}'
        self.assertEqual(to_json(RoomGone().next), expected)

    def test_tools_and_intents_are_annotations(self):
        app = app_of(tools=[Tool("find", "Find", "Finds rooms.", ["find"])], annotations={"note": "a"})

        @app.action(access="read", intents=["where can I sleep?", "Zimmer suchen für Ärzte"])
        def find(call) -> Items[Room]:
            """Finds rooms."""

        described = app.descriptor()
        tools = '[{"name": "find", "title": "Find", "description": "Finds rooms.", "actions": ["find"], "default": false}]'
        self.assertEqual(
            described["annotations"], [{"key": "note", "value": "a"}, {"key": "portolan/tools", "value": tools}]
        )
        intents = '["where can I sleep?", "Zimmer suchen für Ärzte"]'
        self.assertEqual(described["actions"][0]["annotations"], [{"key": "portolan/intents", "value": intents}])

    def test_an_index_can_be_named_by_its_path(self):
        @dataclass
        class House:
            name: str
            rooms: list[Room]
            others: dict[str, Any]

        def declared(**paths):
            return Collection("houses", House, people=[], **paths).declaration()["indexes"]

        indexes = declared(indexes=["name", "rooms[].name", "others{}.name", "others.kitchen"])
        self.assertEqual([each["name"] for each in indexes], ["name", "rooms_name", "others_name", "others_kitchen"])
        for wrong in ("titel", "rooms[].floor", "name.first", "rooms.name"):
            with self.assertRaisesRegex(Fault, f"House has no field {re.escape(wrong)}, which houses declares; its fields are name, rooms, others."):
                declared(indexes=[wrong])

    def test_an_action_is_described_by_its_function(self):
        app = app_of()
        let = Event("rooms.let", public=True)

        @app.action(access="write", errors=[RoomTaken], emits=[let], example=Room("A"))
        def take(call, room: Room) -> Answer[Out]:
            """Take a room.

            For one day.
            """

        @app.action(access="internal", on=["other.closed"])
        def closed(call, subject: Annotated[str, "What."], count: Annotated[int, "How many."] = 2) -> None:
            """Note a closing."""

        descriptor = app.descriptor()
        self.assertEqual(descriptor["summary"], "Lets rooms.")
        self.assertEqual(descriptor["description"], "Lets rooms.\n\nBy the day.")
        first, second = descriptor["actions"]
        self.assertEqual(
            (first["name"], first["title"], first["description"]), ("take", "Take a room", "For one day.")
        )
        self.assertEqual((first["errors"], first["emits"]), (["room_taken"], ["rooms.let"]))
        self.assertEqual(first["examples"], [{"name": "A"}])
        self.assertEqual(list(first["output"]["properties"]), ["value"])
        self.assertEqual(second["description"], "Note a closing.")
        self.assertEqual(second["input"]["required"], ["subject"])
        self.assertEqual(second["input"]["properties"]["count"]["default"], 2)
        self.assertEqual(descriptor["publishes"], [{"event_type": "rooms.let", "sensitive": False}])
        self.assertEqual(descriptor["subscriptions"], [{"event_type": "other.closed", "action": "closed"}])
        self.assertEqual(descriptor["errors"], [{
            "code": "room_taken", "kind": "conflict", "retryable": True,
            "description": "This room is taken.\n\nSomebody else has it.",
        }])

    def test_an_action_without_required_fields_has_an_example(self):
        app = app_of()

        @app.action(access="read")
        def all(call, limit: Annotated[int, "The most."] = 20) -> Out:
            """List."""

        self.assertEqual(app.descriptor()["actions"][0]["examples"], [{}])

    def test_the_lists_of_a_descriptor(self):
        class State(Enum):
            FREE = "free"
            LET = "let"

        rooms = Collection(
            "rooms", dict, people=[Person("owner_id", "redact", shared=("name",))], version=2,
            indexes={"name": ["name"]}, unique={"code": ["code"]}, text=["name"], geo=("lat", "lng"),
        )
        machine = StateMachine("room", State, [Transition("let", (State.FREE,), (State.LET,))])
        descriptor = app_of(
            collections=[rooms], invokes=[Invocation("agent_credits", "balance")],
            state_machines=[machine], prompts=[Prompt("p", "P", "A prompt.", "Do it.")],
        ).descriptor()
        [collection] = descriptor["collections"]
        self.assertEqual([each["unique"] for each in collection["indexes"]], [False, True])
        self.assertEqual(collection["people"], [{
            "path": "owner_id", "erasure": "redact", "fields": [{"path": "name", "audience": "shared"}],
        }])
        self.assertEqual(collection["version"], 2)
        self.assertEqual(collection["geo"], {"latitude": "lat", "longitude": "lng"})
        self.assertEqual(descriptor["invokes"], [{"capability": "agent_credits", "action": "balance"}])
        self.assertEqual(descriptor["state_machines"][0]["transitions"][0]["from_"], ["free"])
        self.assertEqual(machine.step(State.FREE, "let"), State.LET)
        with self.assertRaises(Refusal) as caught:
            machine.step(State.LET, "let")
        self.assertEqual(caught.exception.code, "invalid_transition")
        self.assertEqual(caught.exception.conflict["allowed_actions"], [])


    def test_a_sunset_is_an_instant(self):
        sunset = datetime(2026, 11, 18, tzinfo=timezone.utc)
        app = app_of(status="deprecated", sunset_at=sunset, successor="halls")
        self.assertEqual(app.descriptor()["sunset_at"], 1_794_960_000_000)


class FaultsTest(unittest.TestCase):
    def faults(self, app):
        with self.assertRaises(DeclarationError) as caught:
            app.descriptor()
        return caught.exception.faults

    def test_every_fault_has_file_line_and_fix(self):
        app = app_of(description=None)

        @app.action(access="read")
        def silent(call) -> Out:
            pass

        @app.action(access="red")
        def wrong(call) -> Out:
            """It is wrong."""

        @app.action(access="read")
        def bare(call, id: str) -> Out:
            """It is bare."""

        @app.action(access="read")
        def endless(call):
            """It has no output."""

        faults = self.faults(app)
        first = FaultsTest.test_every_fault_has_file_line_and_fix.__code__.co_firstlineno
        for fault, line, text in zip(faults[1:], (4, 8, 12, 16), (
            'silent has no docstring; write """What it does."""', "no access red; use one of read",
            'id of bare has no description; write id: Annotated[str, "What it is."]',
            "endless has no type of its output; write def endless",
        ), strict=True):
            self.assertRegex(fault, rf"test_app\.py:{first + line}: ")
            self.assertIn(text, fault)
        self.assertIn("The app has no description", faults[0])

    def test_a_refusal_has_a_kind_and_a_message(self):
        class Mute(Refusal, kind="conflict"):
            pass

        class Odd(Refusal, kind="odd"):
            """It is odd."""

        app = app_of()

        @app.action(access="read", errors=[Mute, Odd])
        def refuses(call) -> Out:
            """Refuse."""

        mute, odd = self.faults(app)
        self.assertIn('Mute has no docstring; write """Its message."""', mute)
        self.assertIn('Odd has no kind; write kind="…"', odd)


class RefusalsTest(unittest.TestCase):
    def test_a_refusal_is_a_record(self):
        record = RoomTaken(conflict={"kind": "free", "rooms": [1]}).failure(dict)
        self.assertEqual(record, {
            "code": "room_taken", "message": "This room is taken.", "keep_writes": False,
            "conflict": '{"kind":"free","rooms":[1]}',
            "next": '{"capability":"rooms","input":{"action":"find"}}',
        })
        later = RoomTaken(next=Next("rooms", after_s=0)).failure(dict)
        self.assertEqual(later["next"], '{"capability":"rooms","input":{},"after_s":0}')


class TrapsTest(unittest.TestCase):
    def test_a_trap_names_three_frames_and_the_cause(self):
        def inner(values):
            return values["absent"]

        def middle():
            try:
                inner({})
            except KeyError as error:
                raise ValueError("a\nb") from error

        def outer():
            middle()

        try:
            outer()
        except ValueError as error:
            text = explain(error)
        self.assertRegex(
            text,
            r"^ValueError: a b at \S*test_app\.py:\d+ in middle, \S*test_app\.py:\d+ in outer, "
            r".* in test_a_trap\S*, because of KeyError: 'absent' at \S*test_app\.py:\d+ in inner, ",
        )

    def test_repeated_frames_are_counted(self):
        def deep(depth):
            return deep(depth - 1) if depth else 1 / 0

        try:
            deep(20)
        except ZeroDivisionError as error:
            self.assertIn("in deep (21 times), ", explain(error))


if __name__ == "__main__":
    unittest.main()
