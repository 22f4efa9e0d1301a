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

    def test_a_file_without_an_app(self):
        self.assertEqual(
            self.run_on("check", "x = 1\n").stderr, "app.py:1: There is no app; write app = App(…).\n"
        )


if __name__ == "__main__":
    unittest.main()
