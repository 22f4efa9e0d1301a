"""The commands `check` and `describe`."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SDK = Path(__file__).parent.parent
GOOD = '''"""Counts."""
from typing import Annotated, TypedDict
from portolan_sdk import App, Collection
Count = TypedDict("Count", {"count": Annotated[int, "How many."]})
app = App(id="counts", title="Counts", description=__doc__)

@app.action(access="read")
def count(call) -> Count:
    """Count."""
    return {"count": 1}
WitWorld = app.world()
'''


class MainTest(unittest.TestCase):
    def run_on(self, command, source):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "app.py").write_text(source)
            run = [sys.executable, "-B", "-m", "portolan_sdk", command, "app.py"]
            environment = {"PYTHONPATH": str(SDK)}
            return subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True)

    def test_a_good_app_has_no_faults_and_a_descriptor(self):
        checked = self.run_on("check", GOOD)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))
        described = json.loads(self.run_on("describe", GOOD).stdout)
        self.assertEqual([action["name"] for action in described["actions"]], ["count"])

    def test_what_an_engine_lacks_is_listed(self):
        good = GOOD.replace("from typing", "import random, collections.abc\nfrom typing")
        self.assertEqual(self.run_on("check-source", good).stdout, "")
        lacking = GOOD.replace("from typing", "import subprocess\nfrom ctypes import util\nfrom typing")
        self.assertEqual(self.run_on("check-source", lacking).stdout, "ctypes\nsubprocess")
        lookups = GOOD.replace("import App, Collection", "import App, Collection, lookups")
        self.assertEqual(self.run_on("check-source", lookups).stdout, "portolan_sdk.lookups")

    def test_faults_are_lines_on_standard_error(self):
        bad = GOOD.replace('    """Count."""\n', "").replace('Annotated[int, "How many."]', "int")
        checked = self.run_on("check", bad)
        self.assertEqual(checked.returncode, 1)
        first, second = checked.stderr.splitlines()
        self.assertEqual(
            first, 'app.py:4: count of Count has no description; write count: Annotated[int, "What it is."].'
        )
        self.assertEqual(
            second, 'app.py:8: The action count has no docstring; write """What it does.""" below its def.'
        )

    def test_a_collection_of_a_wrong_type_is_named_by_its_line(self):
        source = GOOD.replace("app = App", 'ITEMS = Collection("items", set[int], people=[])\napp = App')
        checked = self.run_on("check", source)
        self.assertRegex(checked.stderr, r"^app\.py:5: set\[int\] has no JSON form; use str")

    def test_what_ends_the_loading_is_one_sentence_with_its_line(self):
        for change, sentence in (
            (("return {", "return {{"), "app.py:10: '{' was never closed; correct the line 'return {{\"count\": 1}'."),
            (("import App", "import Ap"), "app.py:3: ImportError: cannot import name 'Ap' from 'portolan_sdk'"),
            (("from typing", "import maths\nfrom typing"), "app.py:2: ModuleNotFoundError: No module named 'maths'; put maths into the folder of the project, or correct its name."),
            (("access=", "acess="), "app.py:7: TypeError: App.action() got an unexpected keyword argument 'acess'; the names are access, errors,"),
            (("app = App", "ROWS = Collection('rows', dict)\napp = App"), "app.py:5: TypeError: Collection.__init__() missing 1 required keyword-only argument: 'people'; the names are name, type, people,"),
            (("app = App", "1 / 0\napp = App"), "app.py:5: ZeroDivisionError: division by zero; correct this line."),
            (("WitWorld", "World"), "app.py:1: There is no WitWorld; end the file with WitWorld = app.world()."),
        ):
            with self.subTest(sentence):
                checked = self.run_on("check", GOOD.replace(*change))
                self.assertEqual(checked.returncode, 1)
                self.assertEqual(len(checked.stderr.splitlines()), 1, checked.stderr)
                self.assertTrue(checked.stderr.startswith(sentence), checked.stderr)

    def test_an_example_that_does_not_fit_is_a_fault(self):
        given = 'def count(call, name: Annotated[str, Length(1, 3), "Which."]) -> Count'
        for example, what in (("{}", "name is missing"), ('{"name": "abcd"}', "name is longer than 3"), ('{"name": 1}', "name is no string"), ('{"name": "a", "x": 1}', "x is not declared")):
            source = GOOD.replace("def count(call) -> Count", given).replace('access="read"', f'access="read", example={example}')
            source = source.replace("import App,", "import App, Length,")
            checked = self.run_on("check", source)
            self.assertEqual(checked.stderr, f"app.py:8: The example 1 of count does not fit its input: {what}; correct the example.\n")

    def test_a_file_without_an_app(self):
        self.assertEqual(
            self.run_on("check", "x = 1\n").stderr, "app.py:1: There is no app; write app = App(…).\n"
        )


if __name__ == "__main__":
    unittest.main()
