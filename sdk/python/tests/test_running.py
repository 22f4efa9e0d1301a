"""A call from JSON to JSON, with a stand-in for the functions and records of the host."""

import enum
import json
import logging
import random
import sys
import unittest
from types import SimpleNamespace
from typing import Annotated, Any, TypedDict
from unittest import mock

from portolan_sdk import Answer, App, BadCursor, Next, Refusal, contract, records
from portolan_sdk.sandbox import last_words

Level = enum.Enum("Level", "TRACE DEBUG INFO WARN ERROR")
Out = TypedDict("Out", {"value": Annotated[Any, "Anything."]})
app = App(id="runs", title="Runs", description="Runs.")


class Context:
    """The host's `context`: what it is told, and fresh random bytes."""

    Level, Words = Level, staticmethod(lambda *numbers: numbers)

    def __init__(self):
        self.logged, self.words, self.draws = [], b"", 0

    def random(self, length):
        self.draws += 1
        return self.draws.to_bytes(length, "big")

    def log(self, level, message):
        self.logged.append((level.name, message))

    def last_words(self, part):
        self.words += b"".join(number.to_bytes(8, "little") for number in part)


class Refused(Exception):
    """The contract's error of a call."""


class Listed(Refusal, kind="conflict"):
    """It is listed."""


class Unlisted(Refusal, kind="conflict"):
    """It is not listed."""


@app.action(access="read", errors=[Listed])
def act(call, how: Annotated[str, "How."]) -> Answer[Out]:
    """Act."""
    match how:
        case "draw":
            return {"value": random.random()}
        case "print":
            print("one\ntwo", end="")
            print("three", file=sys.stderr)
            logging.getLogger("x").error("four")
            return {"value": None}
        case "next":
            return Answer({"value": 1}, Next("runs", {"action": "act"}))
        case "deep":
            outer()
    raise {"listed": Listed, "unlisted": Unlisted, "cursor": BadCursor, "exit": SystemExit}[how]()


def outer():
    middle()


def middle():
    inner()


def inner():
    raise KeyError("absent")


class RunningTest(unittest.TestCase):
    def setUp(self):
        self.context = Context()
        answer = lambda output, following: (output, following)
        replaced = {"success": answer, "error": Refused, "failure": dict}
        for target, values in ((contract, {"context": self.context}), (records, replaced)):
            for name, value in values.items():
                patch = mock.patch.object(target, name, value, create=True)
                patch.start()
                self.addCleanup(patch.stop)
        root = logging.root
        self.addCleanup(root.setLevel, root.level)
        handlers = mock.patch.object(root, "handlers", [])
        handlers.start()
        self.addCleanup(handlers.stop)
        self.world = app.world()()

    def call(self, how):
        streams = sys.stdout, sys.stderr
        try:
            output, following = self.world.call(SimpleNamespace(), "act", json.dumps({"how": how}))
            return json.loads(output)["value"], following
        finally:
            sys.stdout, sys.stderr = streams

    def words(self, how):
        with self.assertRaises(RuntimeError):
            self.call(how)
        return self.context.words.rstrip(b"\0").decode()

    def test_each_call_draws_other_numbers(self):
        self.assertEqual(len({self.call("draw")[0] for _ in range(100)}), 100)

    def test_what_is_printed_is_logged(self):
        self.call("print")
        logged = [("ERROR", "four"), ("INFO", "one"), ("INFO", "two"), ("WARN", "three")]
        self.assertEqual(sorted(self.context.logged), logged)

    def test_an_answer_has_a_next_step(self):
        self.assertEqual(self.call("next"), (1, '{"capability":"runs","input":{"action":"act"}}'))

    def test_a_refusal_and_an_error_of_the_host_are_answers(self):
        for how, code in (("listed", "listed"), ("cursor", "cursor_invalid")):
            with self.assertRaises(Refused) as caught:
                self.call(how)
            self.assertEqual(caught.exception.args[0]["code"], code)
        self.assertEqual(self.context.words, b"")

    def test_any_other_exception_traps_with_its_frames(self):
        self.assertRegex(
            self.words("deep"),
            r"^KeyError: 'absent' at \S+:\d+ in inner, \S+:\d+ in middle, \S+:\d+ in outer, \S+ in act$",
        )

    def test_an_exit_traps(self):
        self.assertRegex(self.words("exit"), r"^SystemExit: +at \S+ in act$")

    def test_an_unlisted_refusal_traps(self):
        expected = r"^TypeError: Unlisted is not in the errors of the action act at \S+ in act$"
        self.assertRegex(self.words("unlisted"), expected)

    def test_last_words_are_bounded(self):
        last_words("ä" * 2000)
        self.assertEqual(len(self.context.words), 1024)

    def test_an_input_that_does_not_fit_is_refused(self):
        with self.assertRaises(Refused) as caught:
            self.world.call(SimpleNamespace(), "act", '{"how": 1}')
        self.assertEqual(caught.exception.args[0]["code"], "validation_failed")
        self.assertIn('"/how"', caught.exception.args[0]["conflict"])


if __name__ == "__main__":
    unittest.main()
