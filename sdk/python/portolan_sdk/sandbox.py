"""What Python's own modules do in a call: `random`, `print`, `logging`, and the text of a trap.

componentize-py stores the interpreter after the app is loaded, and each call starts from that copy.
"""

import _strptime  # noqa: F401 - datetime.strptime imports it when it is called.
import io
import itertools
import sys
import traceback

from . import contract
from .faults import lacking, shown

_MESSAGE_CHARACTERS = 400
_WORDS = 64
_FRAMES = 12
_RUNNING = __file__.replace("sandbox.py", "running.py")


class _Lines(io.TextIOBase):
    """A text stream whose lines are messages of the operator's log."""

    def __init__(self, level):
        self._level, self._rest = level, ""

    def writable(self):
        return True

    def write(self, text):
        *lines, self._rest = (self._rest + text).split("\n")
        for line in filter(None, lines):
            log(self._level, line)
        return len(text)

    def finish(self):
        if self._rest:
            self.write("\n")


def log(level, message):
    """Writes to the operator's log: `TRACE`, `DEBUG`, `INFO`, `WARN` or `ERROR`."""
    contract.context.log(contract.context.Level[level], message)


def enter(seeded=True):
    """Prepares the interpreter for one call: fresh random numbers, and `print` to the log."""
    if seeded and (random := sys.modules.get("random")):
        random.seed(bytes(contract.context.random(32)))
    sys.stdout, sys.stderr = _Lines("INFO"), _Lines("WARN")


def leave():
    """Writes the last printed line to the log, if it did not end with a line break."""
    sys.stdout.finish()
    sys.stderr.finish()


def connect_logging():
    """Sends the records of `logging`, if the app has imported it, to the operator's log."""
    if not (logging := sys.modules.get("logging")):
        return

    class Handler(logging.Handler):
        def emit(self, record):
            levels = ((logging.ERROR, "ERROR"), (logging.WARNING, "WARN"), (logging.INFO, "INFO"))
            lesser = "DEBUG" if record.levelno >= logging.DEBUG else "TRACE"
            level = next((name for least, name in levels if record.levelno >= least), lesser)
            log(level, self.format(record))

    handler, root = Handler(), logging.root
    if root.handlers:
        handler.setFormatter(root.handlers[0].formatter)
    else:
        root.setLevel(1)
    root.handlers[:] = [handler]


def trap(error):
    """Ends the call with the explanation of an exception."""
    end(explain(error))


def end(text):
    """Ends the call with one text for the operator: why it traps."""
    last_words(text)
    sys.stderr = None  # The interpreter would print the same again.
    raise RuntimeError(text) from None


def last_words(text):
    """Tells the host why the call traps: 64 bytes at a time, of at most 1024."""
    encoded = text.encode()[:1024]
    for start in range(0, len(encoded), _WORDS):
        part = encoded[start : start + _WORDS].ljust(_WORDS, b"\0")
        numbers = (int.from_bytes(part[at : at + 8], "little") for at in range(0, _WORDS, 8))
        contract.context.last_words(contract.context.Words(*numbers))


def explain(error):
    """Returns one sentence about an exception: its message, its frames (innermost first) and its cause."""
    message = " ".join(f"{type(error).__name__}: {error}".split())[:_MESSAGE_CHARACTERS]
    if isinstance(error, ModuleNotFoundError):
        message += " (no module is loaded in a call: import it at the top of a module, if a sandbox has it)"
    if reason := lacking(error):
        message += f" ({reason})"
    places = _places(error.__traceback__)
    cause = f", because of {explain(error.__cause__)}" if error.__cause__ else ""
    return message + (f" at {', '.join(places)}" if places else "") + cause


def _places(frames):
    """Returns the innermost frames, without those that run every action."""
    codes = [(frame.f_code, line) for frame, line in traceback.walk_tb(frames)]
    named = [
        f"{shown(code.co_filename)}:{line} in {code.co_name}"
        for code, line in reversed(codes) if code.co_filename != _RUNNING
    ]
    repeated = [(place, len(list(group))) for place, group in itertools.groupby(named)]
    return [f"{place} ({n} times)" if n > 1 else place for place, n in repeated[:_FRAMES]]
