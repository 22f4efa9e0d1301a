"""What a sandbox lacks, and what runs only in actions."""

import tempfile
import unittest
from pathlib import Path

from tests.test_main import GOOD, MainTest


class TopLevelTest(unittest.TestCase):
    run_on = MainTest.run_on

    def refused(self, code, sentence, imports=""):
        checked = self.run_on("check", GOOD.replace("app = App", f"{imports}\n{code}\napp = App", 1))
        self.assertEqual(checked.returncode, 1, code)
        self.assertEqual(len(checked.stderr.splitlines()), 1, checked.stderr)
        self.assertIn(sentence, checked.stderr)

    def test_time_and_randomness_belong_in_actions(self):
        for code, name, imports in (
            ("T = time.time()", "time.time()", "import time"),
            ("T = datetime.now()", "datetime.datetime.now()", "from datetime import datetime"),
            ("T = dt.datetime.now()", "datetime.datetime.now()", "import datetime as dt"),
            ("R = random.random()", "random.random()", "import random"),
            ("R = choice([1])", "random.choice()", "from random import choice"),
            ("R = uuid.uuid4()", "uuid.uuid4()", "import uuid"),
            ("class A:\n    x = time.time()", "time.time()", "import time"),
            ("def f(x=time.time()): pass", "time.time()", "import time"),
        ):
            self.refused(code, f": {name} cannot work here: a component has the ", imports)

    def test_what_a_sandbox_lacks_is_refused_at_the_top_level(self):
        for code, reason, imports in (
            ("F = open(__file__).read()", "open() cannot work here: a sandbox has no files", ""),
            ("F = Path(__file__).read_text()", "open cannot work here: a sandbox has no files", "from pathlib import Path"),
            ("F = os.listdir('.')", "os.listdir() cannot work here", "import os"),
            ("time.sleep(1)", "time.sleep() cannot work here: no time passes", "import time"),
            ("S = socket.socket()", "socket.socket() cannot work here: a sandbox has no network", "import socket"),
            ("P = subprocess.run(['ls'])", "a sandbox has no other programs", "import subprocess"),
            ("T = threading.Thread(target=print).start()", "a sandbox has one thread", "import threading"),
        ):
            self.refused(code, reason, imports)

    def test_a_changed_variable_of_the_module_is_a_note(self):
        noted = self.run_on("check", GOOD.replace('    return {"count": 1}', '    global COUNT\n    COUNT = 1\n    return {"count": COUNT}'))
        self.assertEqual(noted.stderr, "note  app.py:10: COUNT is as before in the next call: keep in a collection what must last.\n")

    def test_an_argument_that_takes_a_list_is_named(self):
        for before, after, name in (
            ('access="read"', 'access="read", on="catalog.changed"', "on"),
            ('access="read"', 'access="read", errors=ValueError', "errors"),
            ("description=__doc__", "description=__doc__, collections=Count", "collections"),
        ):
            checked = self.run_on("check", GOOD.replace(before, after))
            self.assertIn(f"{name} takes a list; write {name}=[…].", checked.stderr)
        person = self.run_on("check", GOOD.replace("app = App", 'A = Collection("a", Count, people=["owner"])\napp = App'))
        self.assertIn("app.py:5: 'owner' in people of a is no Person; write Person(path, erasure).", person.stderr)
        bare = self.run_on("check", GOOD.replace('@app.action(access="read")', "@app.action"))
        self.assertIn('write @app.action(access="read"), with its arguments', bare.stderr)

    def test_in_a_function_it_is_a_note_and_in_a_script_nothing(self):
        noted = self.run_on("check", GOOD.replace('    return {"count": 1}', '    open("a")\n    return {"count": 1}'))
        self.assertEqual(noted.returncode, 0, noted.stderr)
        self.assertEqual(noted.stderr, "note  app.py:10: open() cannot work here: a sandbox has no files: write the content into a module.\n")
        harmless = (
            "import random, threading, time, os",
            "RANDOM = random.Random(7).random()",
            "LOCK = threading.Lock()",
            "def later(): return time.time()",
            "NOW = lambda: time.time()",
            "if __name__ == '__main__':\n    open('a')",
        )
        checked = self.run_on("check", GOOD.replace("app = App", "\n".join(harmless) + "\napp = App", 1))
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
