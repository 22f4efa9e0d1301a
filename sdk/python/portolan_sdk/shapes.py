"""What type hints say about JSON: the fields of dataclasses, and the limits of a value."""

import dataclasses
import inspect
import types
import typing
from typing import Annotated, Any, TypeVar, Union

from .faults import Fault


@dataclasses.dataclass(frozen=True)
class Length:
    """The least and the most characters of a text, elements of a list or entries of a dict."""

    min: int | None = None
    max: int | None = None


@dataclasses.dataclass(frozen=True)
class Range:
    """The least and the greatest number."""

    min: float | None = None
    max: float | None = None


@dataclasses.dataclass(frozen=True)
class Pattern:
    """A regular expression of linear time: without lookaround and back-references."""

    expression: str


@dataclasses.dataclass(frozen=True)
class Example:
    """An example of a field. Those of all fields are an example of their action."""

    value: Any


class Keywords:
    """Other keywords of JSON Schema: `Keywords(format="uri")`."""

    def __init__(self, **keywords):
        self.keywords = keywords


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of an object: of a dataclass, a TypedDict or a function's parameters."""

    attribute: str
    name: str
    type: Any
    default: Any
    required: bool


NO_DEFAULT = dataclasses.MISSING


def peel(annotation):
    """Returns the type below `Annotated`, and its notes."""
    if typing.get_origin(annotation) is Annotated:
        return annotation.__origin__, annotation.__metadata__
    return annotation, ()


class Parameters:
    """The parameters of a function after its first one, as the fields of an object."""

    def __init__(self, function, hints):
        parameters = list(inspect.signature(function).parameters.values())[1:]
        self.__name__, self.__code__ = function.__name__, function.__code__
        self.fields = [_parameter(each, hints) for each in parameters]


def is_object(annotation):
    """Returns whether the type is a dataclass (also one with type arguments), a TypedDict, or `Parameters`."""
    cls = typing.get_origin(annotation) or annotation
    return dataclasses.is_dataclass(cls) or typing.is_typeddict(cls) or isinstance(cls, Parameters)


def members(annotation):
    """Returns the types of a union, or an empty tuple for any other type."""
    origin = typing.get_origin(annotation)
    return typing.get_args(annotation) if origin in (Union, types.UnionType) else ()


def fields_of(annotation):
    """Returns the fields of an object type. In a generic dataclass, its arguments replace the type parameters."""
    cls = typing.get_origin(annotation) or annotation
    if isinstance(cls, Parameters):
        return cls.fields
    arguments = dict(zip(getattr(cls, "__parameters__", ()), typing.get_args(annotation)))
    hints = hints_of(cls)
    if typing.is_typeddict(cls):
        return [_key(name, each, name in cls.__required_keys__) for name, each in hints.items()]
    return [_field(field, _filled(hints[field.name], arguments)) for field in dataclasses.fields(cls)]


def has_path(annotation, names):
    """Returns whether values of a type can have a field at a path. An empty name is an element of a list or dict."""
    base, _ = peel(annotation)
    if union := members(base):
        return any(has_path(member, names) for member in union)
    if not names or base in (Any, dict, list):
        return True
    name, *rest = names
    if name == "" or typing.get_origin(base) is dict:
        inner = typing.get_args(base)
        return has_path(inner[-1], rest) if inner else not rest
    if not is_object(base):
        return False
    return any(has_path(field.type, rest) for field in fields_of(base) if field.name == name)


def hints_of(at):
    """Returns the type hints of a class or a function."""
    try:
        return typing.get_type_hints(at, include_extras=True)
    except NameError as error:
        text = f"The type {error.name} is unknown; define or import it outside of functions."
        raise Fault(text, at) from None


def json_name(attribute):
    """Returns a field's name in JSON: `from_` is `from`, which Python reserves."""
    return attribute.rstrip("_")


def _field(field, annotation):
    default = field.default
    if default is NO_DEFAULT and field.default_factory is not NO_DEFAULT:
        default = field.default_factory()
    name = json_name(field.name)
    return Field(field.name, name, annotation, default, default is NO_DEFAULT)


def _key(name, annotation, required):
    if typing.get_origin(annotation) in (typing.Required, typing.NotRequired):
        annotation = typing.get_args(annotation)[0]
    return Field(name, name, annotation, NO_DEFAULT, required)


def _parameter(parameter, hints):
    if parameter.name not in hints:
        raise Fault(f"The parameter {parameter.name} has no type; write {parameter.name}: str.")
    required = parameter.default is parameter.empty
    default = NO_DEFAULT if required else parameter.default
    return Field(parameter.name, json_name(parameter.name), hints[parameter.name], default, required)


def _filled(annotation, arguments):
    """Returns the type with the parameters of its generic class replaced."""
    if isinstance(annotation, TypeVar):
        return arguments.get(annotation, Any)
    base, notes = peel(annotation)
    if notes:
        return Annotated[(_filled(base, arguments), *notes)]
    if not getattr(annotation, "__parameters__", ()):
        return annotation
    return annotation[tuple(arguments.get(each, Any) for each in annotation.__parameters__)]


def named(annotation):
    """Returns a type as it is written."""
    plain = isinstance(annotation, type) and not typing.get_args(annotation)
    return annotation.__name__ if plain else str(annotation).replace("typing.", "")


def no_json(annotation):
    """Returns the fault of a type that has no JSON form."""
    return Fault(
        f"{named(annotation)} has no JSON form; use str, int, float, bool, datetime, date, list[…], "
        "dict[str, …], Optional[…], Literal[…], an Enum, a dataclass or a TypedDict."
    )
