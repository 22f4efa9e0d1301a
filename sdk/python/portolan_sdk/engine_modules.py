"""What a source can import: the modules that an engine has loaded."""

from . import __all__ as sdk

STANDARD = (
    "abc", "array", "base64", "bisect", "calendar", "cmath", "collections", "collections.abc", "contextlib",
    "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions", "functools", "hashlib",
    "heapq", "hmac", "html", "html.parser", "inspect", "io", "itertools", "json", "logging", "math", "numbers",
    "operator", "os", "random", "re", "secrets", "statistics", "string", "struct", "sys", "textwrap", "time",
    "traceback", "types", "typing", "unicodedata", "urllib.parse", "uuid", "warnings", "weakref", "zlib",
    "zoneinfo",
)


def is_in_engine(name):
    """Returns whether a source can import a module, or a name of portolan_sdk as `portolan_sdk.NAME`."""
    package, _, rest = name.partition(".")
    return rest in ("", *sdk) if package == "portolan_sdk" else name in (*STANDARD, "__future__")
