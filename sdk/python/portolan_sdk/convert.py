"""Values to JSON and back, by their types."""

import dataclasses
import enum
import json
import typing
from datetime import date, datetime, timezone
from typing import Any, Literal

from .shapes import fields_of, is_object, json_name, members, no_json, peel


class DecodeError(Exception):
    """A JSON value does not have its type. `pointer` is a JSON Pointer to it."""

    def __init__(self, expected, pointer=""):
        super().__init__(f"{pointer or 'it'} is not {expected}")
        self.expected, self.pointer = expected, pointer


def to_json(value):
    """Returns the JSON text of a value."""
    return _ENCODER.encode(value)


def rfc3339(instant):
    """Returns an instant in UTC with milliseconds. A time without a zone is one in UTC."""
    zoned = instant if instant.tzinfo else instant.replace(tzinfo=timezone.utc)
    utc = zoned.astimezone(timezone.utc).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds") + "Z"


def to_millis(instant):
    """Returns the milliseconds of an instant since 1970."""
    zoned = instant if instant.tzinfo else instant.replace(tzinfo=timezone.utc)
    return round(zoned.timestamp() * 1000)


def from_millis(millis):
    """Returns the instant, in UTC, of milliseconds since 1970."""
    seconds, rest = divmod(millis, 1000)
    return datetime.fromtimestamp(seconds, timezone.utc).replace(microsecond=rest * 1000)


def decoder(annotation):
    """Returns the function that turns a JSON value into a value of this type."""
    base, _ = peel(annotation)
    origin, arguments = typing.get_origin(base), typing.get_args(base)
    if is_object(base):
        return _object(base)
    if union := members(base):
        return _union(union)
    if origin is Literal:
        return _checked("one of the values", lambda value: value in arguments)
    if origin is list:
        return _list(decoder(arguments[0]))
    if origin is dict and arguments[0] is str:
        return _dict(decoder(arguments[1]))
    if isinstance(base, type) and issubclass(base, enum.Enum):
        return _parsed("one of the values", base)
    if base not in _SCALARS:
        raise no_json(base)
    return _SCALARS[base]


def _plain(value):
    if hasattr(value, "plain"):
        return value.plain()
    if dataclasses.is_dataclass(value):
        # Shallow: the encoder calls this function again for each value that it does not know.
        return {json_name(field.name): getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return value.value
    raise TypeError(f"{type(value).__name__} has no JSON form")


_ENCODER = json.JSONEncoder(
    default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")
)


def _checked(expected, holds):
    def check(value):
        if not holds(value):
            raise DecodeError(expected)
        return value
    return check


def _parsed(expected, parse):
    def convert(value):
        try:
            return parse(value)
        except (OverflowError, TypeError, ValueError):
            raise DecodeError(expected) from None
    return convert


def _of(expected, *kinds):
    # True is an int in Python, but not in JSON.
    return _checked(expected, lambda value: isinstance(value, kinds) and not isinstance(value, bool))


def _instant(text):
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError
    return instant.astimezone(timezone.utc)


def _integer(value):
    if isinstance(value, bool) or value != int(value):
        raise ValueError
    return int(value)


_number = _of("a number", int, float)
_SCALARS = {
    str: _of("a text", str),
    int: _parsed("an integer", _integer),
    float: lambda value: float(_number(value)),
    bool: _checked("true or false", lambda value: isinstance(value, bool)),
    type(None): _checked("null", lambda value: value is None),
    datetime: _parsed("a time in RFC 3339", _instant),
    date: _parsed("a date in RFC 3339", date.fromisoformat),
    dict: _of("an object", dict),
    list: _of("a list", list),
    Any: lambda value: value,
}


def _at(key, decode, value):
    try:
        return decode(value)
    except DecodeError as error:
        name = str(key).replace("~", "~0").replace("/", "~1")
        raise DecodeError(error.expected, f"/{name}{error.pointer}") from None


def _object(annotation):
    cls = typing.get_origin(annotation) or annotation
    make = cls if dataclasses.is_dataclass(cls) else dict
    fields = [(field, decoder(field.type)) for field in fields_of(annotation)]

    def decode(value):
        if not isinstance(value, dict):
            raise DecodeError("an object")
        given = {}
        for field, decode_field in fields:
            if field.name in value:
                given[field.attribute] = _at(field.name, decode_field, value[field.name])
            elif field.required:
                raise DecodeError("there", f"/{field.name}")
        return make(**given)
    return decode


def _list(decode):
    def decode_list(value):
        if not isinstance(value, list):
            raise DecodeError("a list")
        return [_at(index, decode, each) for index, each in enumerate(value)]
    return decode_list


def _dict(decode):
    def decode_dict(value):
        if not isinstance(value, dict):
            raise DecodeError("an object")
        return {key: _at(key, decode, each) for key, each in value.items()}
    return decode_dict


def _union(union):
    decoders = [decoder(member) for member in union]

    def decode(value):
        for index, attempt in enumerate(decoders):
            try:
                return attempt(value)
            except DecodeError:
                if index == len(decoders) - 1:
                    raise
    return decode
