"""What code cannot do in a sandbox, or not at the top level of a module: one sentence for each, with its line.

The check reads the source, because Python's time and randomness cannot be replaced. What it cannot see, such as a
function of another module that reads a file, `watching` finds while the module is loaded.
"""

import ast
import contextlib
import os
import sys

_FILE = "a sandbox has no files: write the content into a module"
_NETWORK = "a sandbox has no network: invoke a capability that has what you need"
_THREAD = "a sandbox has one thread: call the function directly"
_PROCESS = "a sandbox has no other programs: write the work in Python"
_SLEEP = "no time passes in a call: set a timer with timers.set"
_TIME = "a component has the time of its build there, and a source that of each call: use call.now in an action"
_RANDOM = "a component has the value of its build there, and a source a new one in each call: use it in an action"

# What never works: names of functions, or of modules with a dot at the end.
NOWHERE = {
    "open": _FILE, "io.open": _FILE, "os.open": _FILE, "os.listdir": _FILE, "os.scandir": _FILE, "os.walk": _FILE,
    "socket.": _NETWORK, "urllib.request.": _NETWORK, "http.client.": _NETWORK, "requests.": _NETWORK,
    "httpx.": _NETWORK, "threading.Thread": _THREAD, "concurrent.futures.": _THREAD, "multiprocessing.": _PROCESS,
    "subprocess.": _PROCESS, "os.system": _PROCESS, "os.popen": _PROCESS, "time.sleep": _SLEEP, "sqlite3.": _FILE,
}
# What has another value in a build than in a call.
IN_ACTIONS = {
    "time.time": _TIME, "time.time_ns": _TIME, "time.monotonic": _TIME, "time.perf_counter": _TIME,
    "time.localtime": _TIME, "time.gmtime": _TIME, "datetime.datetime.now": _TIME, "datetime.datetime.utcnow": _TIME,
    "datetime.datetime.today": _TIME, "datetime.date.today": _TIME, "random.": _RANDOM, "secrets.": _RANDOM,
    "uuid.uuid1": _RANDOM, "uuid.uuid4": _RANDOM, "os.urandom": _RANDOM,
}
# A generator with a seed has the same values everywhere, and a capability's secrets are another module.
_HARMLESS = ("random.Random", "portolan_sdk.")
_EVENTS = {
    "open": _FILE, "os.listdir": _FILE, "os.scandir": _FILE, "sqlite3.": _FILE, "socket.": _NETWORK, "subprocess.": _PROCESS,
    "os.system": _PROCESS, "_thread.start_new_thread": _THREAD, "time.sleep": _SLEEP,
}
# Modules that read the files of the source itself.
_READERS = ("<frozen", "importlib", "linecache.py", "inspect.py", "tokenize.py", os.path.dirname(__file__))


class Refused(Exception):
    """Code at the top level of a module did what a sandbox does not allow."""


def faults(tree, file):
    """Returns a sentence for each call at the top level of a module that a component and a source differ in, or
    that never works.
    """
    return _sentences(tree, file, NOWHERE | IN_ACTIONS, _at_top_level)


def notes(tree, file):
    """Returns a sentence for each call in a function that never works, and for each variable of the module that a
    function changes.
    """
    lost = [
        f"{file}:{node.lineno}: {', '.join(node.names)} is as before in the next call: keep in a collection what must last."
        for node in _in_functions(tree) if isinstance(node, ast.Global)
    ]
    return _sentences(tree, file, NOWHERE, _in_functions) + lost


def _sentences(tree, file, table, nodes):
    names = _imported(tree)
    found = []
    for node in nodes(tree):
        name = _full_name(node.func, names) if isinstance(node, ast.Call) else None
        if reason := name and _reason(name, table):
            found.append((node.lineno, f"{file}:{node.lineno}: {name}() cannot work here: {reason}."))
    return [sentence for _line, sentence in sorted(set(found))]


def _reason(name, table):
    if name.startswith(_HARMLESS):
        return None
    return next((reason for key, reason in table.items() if name == key or key[-1] == "." and name.startswith(key)), None)


def _imported(tree):
    """Returns what each name of a module stands for, such as `datetime.datetime` for `datetime`."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                alias.asname or alias.name.partition(".")[0]: alias.name if alias.asname else alias.name.partition(".")[0]
                for alias in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.FunctionDef) and node.name == "open":
            names["open"] = "portolan_sdk.own"
    return names | {"open": names.get("open", "open")}


def _full_name(node, names):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    return ".".join([names[node.id], *reversed(parts)])


def _at_top_level(tree):
    """Returns the nodes that run when a module is loaded: not the bodies of functions, nor what only a script runs."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = node.args
            waiting += [*node.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)]
        elif isinstance(node, ast.If) and "__main__" in ast.dump(node.test):
            waiting += node.orelse
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _in_functions(tree):
    """Returns the nodes of the bodies of functions that are defined at the top level, or in a class there."""
    for node in _at_top_level(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for statement in node.body:
                yield from ast.walk(statement)


@contextlib.contextmanager
def watching(folder):
    """Refuses, while the modules of a folder are loaded, what a sandbox does not have."""
    active = True

    def hook(event, _arguments):
        if active and (reason := _reason(event, _EVENTS)) and _is_of(sys._getframe(1), str(folder)):
            raise Refused(f"{event} cannot work here: {reason}")
    sys.addaudithook(hook)
    try:
        yield
    finally:
        active = False


def _is_of(frame, folder):
    """Returns whether a file of the folder caused an event, and not the machinery of imports."""
    while frame:
        name = frame.f_code.co_filename
        if any(reader in name for reader in _READERS):
            return False
        if name.startswith(folder) and "site-packages" not in name:
            return True
        frame = frame.f_back
    return False
