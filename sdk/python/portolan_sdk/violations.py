"""The first violation of a schema by an example.

Only the keywords that `schema` writes are checked; the host checks the others.
"""

import re

_TYPES = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
_NUMBER, _SIZED = (int, float), (str, list, dict)
_RULES = {
    "minimum": (_NUMBER, lambda limit, value: value >= limit, "is less than"),
    "maximum": (_NUMBER, lambda limit, value: value <= limit, "is more than"),
    "minLength": (str, lambda limit, value: len(value) >= limit, "is shorter than"),
    "maxLength": (str, lambda limit, value: len(value) <= limit, "is longer than"),
    "minItems": (list, lambda limit, value: len(value) >= limit, "has fewer elements than"),
    "maxItems": (list, lambda limit, value: len(value) <= limit, "has more elements than"),
    "pattern": (str, lambda pattern, value: re.search(pattern, value), "does not match"),
}


def violation(schema, value, at="it"):
    """Returns a sentence, without its full stop, about the first violation, or None."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_TYPES[kind](value) for kind in kinds):
        return f"{at} is no {' or '.join(kinds)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} is none of {', '.join(map(str, schema['enum']))}"
    for keyword, (types, holds, what) in _RULES.items():
        if keyword in schema and isinstance(value, types) and not holds(schema[keyword], value):
            return f"{at} {what} {schema[keyword]}"
    forms = schema.get("anyOf", [])
    if forms and all(violation(form, value, at) for form in forms):
        return f"{at} fits none of its forms"
    return _inner(schema, value, "" if at == "it" else f"{at}.")


def _inner(schema, value, prefix):
    """Returns a sentence about the first violation in a field or an element, or None."""
    if isinstance(value, list):
        found = (violation(schema.get("items", {}), each, f"{prefix}{at}") for at, each in enumerate(value))
        return next(filter(None, found), None)
    if not isinstance(value, dict):
        return None
    fields, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{prefix}{name} is missing"
    for name, each in value.items():
        inner = fields.get(name, others)
        if inner is False:
            return f"{prefix}{name} is not declared"
        if inner is not True and (what := violation(inner, each, f"{prefix}{name}")):
            return what
    return None
