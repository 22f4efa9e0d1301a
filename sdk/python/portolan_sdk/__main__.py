"""`python -m portolan_sdk COMMAND FILE`:

check         prints the faults of a declaration
check-source  also prints, each in a line, the modules that the file imports and an engine lacks
describe      prints the descriptor
"""

import ast
import contextlib
import importlib
import json
import sys
from pathlib import Path

from .app import App
from .engine_modules import is_in_engine
from .faults import DeclarationError, Fault, sentence_of
from .top_level import faults, notes, watching


def main(arguments):
    match arguments:
        case [("check" | "check-source" | "describe") as command, file]:
            return run(command, Path(file))
    print(__doc__, file=sys.stderr)
    return 2


def run(command, file):
    """Loads the app of a file, and prints its descriptor or its faults."""
    sys.path.insert(0, str(file.resolve().parent))
    try:
        tree = ast.parse(file.read_bytes(), str(file))
        if found := faults(tree, file):
            raise DeclarationError(found)
        # Standard output is for the answer alone.
        with contextlib.redirect_stdout(sys.stderr), watching(file.resolve().parent):
            module = importlib.import_module(file.stem)
        app = next((value for value in vars(module).values() if isinstance(value, App)), None)
        if not app:
            print(f"{file}:1: There is no app; write app = App(…).", file=sys.stderr)
            return 1
        descriptor = app.descriptor()
        if not hasattr(module, "WitWorld"):
            print(f"{file}:1: There is no WitWorld; end the file with WitWorld = app.world().", file=sys.stderr)
            return 1
    except DeclarationError as error:
        print(error, file=sys.stderr)
        return 1
    except Fault as fault:
        print(fault.sentence(fault.place_in(str(file.resolve()), str(file))), file=sys.stderr)
        return 1
    except Exception as error:
        print(sentence_of(error, file.resolve().parent), file=sys.stderr)
        return 1
    for note in notes(tree, file):
        print(f"note  {note}", file=sys.stderr)
    if command == "describe":
        print(json.dumps(descriptor, indent=2, ensure_ascii=False))
    if command == "check-source":
        print(*_lacking(tree), sep="\n", end="")
    return 0


def _lacking(tree):
    """Returns the modules that a source imports and an engine lacks."""
    nodes = list(ast.walk(tree))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    parts = {
        f"{node.module}.{alias.name}" if node.module == "portolan_sdk" else "." * node.level + (node.module or "")
        for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return sorted(name for name in plain | parts if not is_in_engine(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
