"""JSON Schema 2020-12 of type hints."""

import enum
import json
import typing
from datetime import date, datetime
from typing import Any, Literal

from .convert import to_json
from .faults import Fault
from .shapes import (
    NO_DEFAULT, Example, Keywords, Length, Pattern, Range, fields_of, is_object, members, named, no_json, peel,
)

_PLAIN = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    dict: {"type": "object"},
    list: {"type": "array"},
    Any: {},
}
_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_SIZED = {"string": "Length", "array": "Items", "object": "Properties"}


def schema_of(annotation, output=False, within=()):
    """Returns the schema of a type. In an output every field is always there."""
    base, notes = peel(annotation)
    schema = _of_type(base, output, within)
    for note in notes:
        schema = schema | _keywords(note, schema, base)
    return schema


def _of_type(annotation, output, within):
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None and annotation in _PLAIN:
        return dict(_PLAIN[annotation])
    if is_object(annotation):
        return _of_object(annotation, output, within)
    if union := members(annotation):
        return _of_union(union, output, within)
    if origin is Literal:
        return _of_values(arguments)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _of_values([member.value for member in annotation])
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0], output, within)}
    if origin is dict and arguments[0] is str:
        values = schema_of(arguments[1], output, within)
        return {"type": "object", "additionalProperties": values}
    raise no_json(annotation)


def _of_object(annotation, output, within):
    if annotation in within:
        raise Fault(f"{named(annotation)} contains itself; use dict for the inner one.", annotation)
    properties, required = {}, []
    for field in fields_of(annotation):
        properties[field.name] = _of_field(annotation, field, output, within)
        if field.required or (output and field.default is not NO_DEFAULT):
            required.append(field.name)
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema | {"additionalProperties": False}


def _of_field(annotation, field, output, within):
    cls = typing.get_origin(annotation) or annotation
    try:
        schema = schema_of(field.type, output, (*within, annotation))
    except Fault as fault:
        raise fault if fault.at else Fault(fault.text, cls, field.attribute) from None
    if "description" not in schema:
        text = (
            f"{field.attribute} of {cls.__name__} has no description; "
            f'write {field.attribute}: Annotated[{named(peel(field.type)[0])}, "What it is."].'
        )
        raise Fault(text, cls, field.attribute)
    if not output and field.default not in (NO_DEFAULT, None):
        schema["default"] = json.loads(to_json(field.default))
    return schema


def _of_union(union, output, within):
    schemas = [schema_of(member, output, within) for member in union]
    others = [schema for schema in schemas if schema != _PLAIN[type(None)]]
    if len(others) < len(schemas) and len(others) == 1 and isinstance(others[0].get("type"), str):
        nullable = others[0] | {"type": [others[0]["type"], "null"]}
        return nullable | ({"enum": [*nullable["enum"], None]} if "enum" in nullable else {})
    return {"anyOf": schemas}


def _of_values(values):
    kinds = {_NAMES.get(type(value)) for value in values}
    if None in kinds:
        raise Fault("The values of an Enum or Literal are texts, numbers, booleans or None.")
    return {"type": kinds.pop() if len(kinds) == 1 else sorted(kinds), "enum": list(values)}


def _keywords(note, schema, base):
    match note:
        case str():
            return {"description": note}
        case Keywords():
            return note.keywords
        case Example():
            return {"examples": [json.loads(to_json(note.value))]}
        case Pattern() if _has_type(schema, "string"):
            return {"pattern": note.expression}
        case Range() if _has_type(schema, "integer", "number"):
            return _bounds(note, "minimum", "maximum")
        case Length() if kind := _has_type(schema, *_SIZED):
            return _bounds(note, f"min{_SIZED[kind]}", f"max{_SIZED[kind]}")
        case Pattern() | Range() | Length():
            raise Fault(f"{type(note).__name__} does not fit {named(base)}; remove it.")
    return {}


def _bounds(note, least, most):
    bounds = {least: note.min, most: note.max}
    return {keyword: value for keyword, value in bounds.items() if value is not None}


def _has_type(schema, *kinds):
    """Returns the kind that the schema has, if it has one of them."""
    own = schema.get("type", ())
    own = [own] if isinstance(own, str) else own
    return next((kind for kind in kinds if kind in own), None)
