"""Faults of a declaration: one sentence each, with the file, the line and the fix."""

import inspect
import linecache
import os
import re
import sys
import traceback
from collections.abc import Iterable

from .top_level import Refused


class DeclarationError(Exception):
    """Every fault of a capability's declaration, one in each line."""

    def __init__(self, faults):
        super().__init__("\n".join(faults))
        self.faults = faults


class Fault(Exception):
    """One fault, found at a function, a class or a field of a class."""

    def __init__(self, text, at=None, field=None):
        super().__init__(text)
        self.text, self.at, self.field = text, at, field

    def sentence(self, fallback):
        """Returns the fault with its place, or that of `fallback` if it has none."""
        file, line = place(self.at or fallback, self.field)
        return f"{file}:{line}: {self.text}"

    def place_in(self, filename, name):
        """Returns the innermost place in a file from which the fault came, with the file's name for authors."""
        lines = [line for frame, line in traceback.walk_tb(self.__traceback__)
                 if frame.f_code.co_filename == filename]
        return name, lines[-1] if lines else 1


def sentence_of(error, folder):
    """Returns one sentence for an exception that ended the loading of a module in a folder, with its place."""
    if isinstance(error, SyntaxError) and error.filename:
        wrong = (error.text or "").strip()
        return f"{shown(error.filename)}:{error.lineno}: {error.msg}; correct the line {wrong!r}."
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if str(folder) in frame.filename]
    frame = (own or frames)[-1]
    if isinstance(error, Refused):
        return f"{shown(frame.filename)}:{frame.lineno}: {error}."
    return f"{shown(frame.filename)}:{frame.lineno}: {type(error).__name__}: {error}; {_fix(error)}."


def _fix(error):
    """Returns what helps against an exception."""
    if isinstance(error, ModuleNotFoundError):
        return f"put {error.name} into the folder of the project, or correct its name"
    if reason := lacking(error):
        return reason
    if str(error).startswith("App.action() takes 1 positional argument"):
        return 'write @app.action(access="read"), with its arguments in parentheses'
    known = _parameters(str(error))
    if known:
        return f"the names are {', '.join(known)}"
    return "correct this line"


def lacking(error):
    """Returns what a sandbox does not have, if an exception comes from that."""
    if isinstance(error, ModuleNotFoundError):
        return None
    if isinstance(error, OSError):
        return "a sandbox has no files, no network and no other programs"
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "a sandbox has one thread: call the function directly"
    return None


def _parameters(text):
    """Returns the names of the arguments of the function that a TypeError names, if it is one of the SDK."""
    named = re.match(r"(\w+)\.(\w+)\(\) (?:got an unexpected|missing)", text)
    sdk = sys.modules[__package__]
    function = named and getattr(getattr(sdk, named[1], None), named[2], None)
    return [name for name in inspect.signature(function).parameters if name != "self"] if function else []


def listed(name, values):
    """Returns the values of an argument that takes a list."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise Fault(f"{name} takes a list; write {name}=[…].")
    return tuple(values)


def place(at, field=None):
    """Returns the file and the line of a pair of both, a function, a class or a field."""
    if isinstance(at, tuple):
        return shown(at[0]), at[1]
    if code := getattr(at, "__code__", None):
        return shown(code.co_filename), _line_of_function(code)
    try:
        lines, first = inspect.getsourcelines(at)
        return shown(inspect.getsourcefile(at)), first + _offset(lines, field)
    except (OSError, TypeError):
        return _assignment(at)


def shown(file):
    """Returns a file's name as its author knows it."""
    relative = os.path.relpath(file) if os.path.isabs(file) else file
    if relative.startswith(".."):
        return os.path.basename(file)
    # componentize-py mounts each folder of its path as /0, /1 and so on.
    return re.sub(r"^\d+/", "", relative)


def _line_of_function(code):
    try:
        lines, first = inspect.getsourcelines(code)
    except OSError:
        return code.co_firstlineno
    return first + next((at for at, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)


def _assignment(at):
    """Returns the place where a class is made by an assignment, as in `Found = TypedDict("Found", …)`."""
    file = getattr(sys.modules.get(at.__module__), "__file__", None)
    lines = linecache.getlines(file) if file else []
    found = (number for number, line in enumerate(lines, 1) if re.match(rf"{at.__name__}\s*=", line))
    return shown(file or at.__module__), next(found, 1)


def _offset(lines, field):
    wanted = rf"\s+{field}\s*:" if field else r"\s*class\s"
    return next((at for at, line in enumerate(lines) if re.match(wanted, line)), 0)
