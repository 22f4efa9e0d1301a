"""An engine: a component that runs the source that its host gives it, in a fresh sandbox at each call.

componentize-py stores this interpreter, so a source can import the modules of `engine_modules` and no others.
"""

import ast
import linecache
import sys
import types
from importlib import import_module

from . import contract, records, running, sandbox
from .app import App
from .engine_modules import STANDARD
from .faults import DeclarationError, Fault, sentence_of
from .top_level import faults

for each in STANDARD:
    import_module(each)

NAME = "app"


class WitWorld:
    def describe(self):
        return _reported(_described)

    def call(self, caller, action, input):
        app = _reported(_load)
        return running.run(app.declared(action), caller, input)


def _described():
    """Returns the descriptor. Only the loading checks what runs at the top level: a call must be fast."""
    script = contract.interface("source").read()
    app = _load()
    if found := faults(ast.parse(script.text.removeprefix("\ufeff")), script.name):
        raise DeclarationError(found)
    return records.descriptor(app.descriptor())


def _load():
    """Runs the source, and returns its app."""
    script = contract.interface("source").read()
    if not script:
        raise DeclarationError(["this is an engine, which runs a source: put it into the folder .engines of a catalog."])
    name, text = script.name, script.text.removeprefix("\ufeff")
    module = types.ModuleType(NAME)
    module.__file__ = name
    sys.modules[NAME] = module
    # Frames and faults show lines of the source.
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    try:
        exec(compile(text, name, "exec"), vars(module))
    except DeclarationError:
        raise
    except Fault as fault:
        raise DeclarationError([fault.sentence(fault.place_in(name, name))]) from None
    except ImportError as error:
        raise DeclarationError([_import_fault(error, name)]) from None
    except BaseException as error:
        raise DeclarationError([sentence_of(error, name)]) from None
    app = next((value for value in vars(module).values() if isinstance(value, App)), None)
    if not app:
        raise DeclarationError([f"{name}:1: There is no app; write app = App(…)."])
    sandbox.connect_logging()
    return app


def _reported(load):
    """Returns what `load` returns. If it fails, tells the host why."""
    try:
        return load()
    except DeclarationError as error:
        text = str(error)
    except BaseException as error:
        text = sandbox.explain(error)
    sandbox.end(text)


def _import_fault(error, name):
    """Returns one sentence for an import that failed."""
    place = sentence_of(error, name).partition(": ")[0]
    wanted = f"{error.name_from} of {error.name}" if error.name_from else error.name
    return f"{place}: A source cannot import {wanted}; correct the name, or build a component with portolan build."
