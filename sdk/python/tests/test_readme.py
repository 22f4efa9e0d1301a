"""The Python blocks of README.md declare capabilities without a fault."""

import re
import sys
import types
import unittest
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


class ReadmeTest(unittest.TestCase):
    def test_every_python_block_declares_a_capability(self):
        blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
        self.assertEqual(len(blocks), 2)
        for number, block in enumerate(blocks):
            module = types.ModuleType(f"readme_{number}")
            sys.modules[module.__name__] = module
            exec(compile(block, f"README.md block {number}", "exec"), vars(module))
            self.assertTrue(module.app.descriptor()["actions"])

    def test_the_greeter_greets(self):
        block = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[1]
        module = types.ModuleType("greeter")
        sys.modules["greeter"] = module
        exec(block, vars(module))
        self.assertEqual(module.greet(None, "Ada"), {"text": "Hello, Ada!"})
        with self.assertRaises(module.RobotRefused):
            module.greet(None, "HAL")


if __name__ == "__main__":
    unittest.main()
