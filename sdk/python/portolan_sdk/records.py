"""The contract's records, from plain values. They exist only in a component."""

from . import contract
from .convert import to_json

if contract.IN_COMPONENT:
    import componentize_py_types

    description, types = contract.interface("description"), contract.interface("types")
    error = componentize_py_types.Err
    failure = types.Failure

_RECORDS = {
    "actions": "Action", "annotations": "Annotation", "arguments": "PromptArgument",
    "collections": "Collection", "errors": "Error", "fields": "PersonalField", "geo": "Geo",
    "indexes": "Index", "invokes": "Invocation", "people": "Person", "prompts": "Prompt",
    "publishes": "Publication", "state_machines": "StateMachine", "subscriptions": "Subscription",
    "transitions": "Transition",
}
_ENUMS = {
    "access": "Access", "audience": "Audience", "erasure": "Erasure", "kind": "ErrorKind",
    "status": "Status",
}
_JSON = ("input", "output", "value")


def descriptor(values):
    """Returns the record of a descriptor."""
    return _record("Descriptor", values)


def success(output, following):
    """Returns the record of an output's and the next step's JSON texts."""
    return types.Success(output=output, next=following)


def _record(name, values):
    return getattr(description, name)(**{key: _value(key, value) for key, value in values.items()})


def _value(key, value):
    if key in _JSON:
        return to_json(value)
    if key == "examples":
        return [to_json(example) for example in value]
    if key in _ENUMS:
        return getattr(description, _ENUMS[key])[value.upper()]
    if isinstance(value, dict):
        return _record(_RECORDS[key], value)
    if isinstance(value, list):
        return [_value(key, each) if isinstance(each, dict) else each for each in value]
    return value
