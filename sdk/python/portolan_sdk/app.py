"""A capability: its actions and its descriptor."""

import dataclasses
import inspect
import json
import sys

from . import contract, records, sandbox
from .convert import to_json, to_millis
from .documents import annotations as annotation_records
from .faults import DeclarationError, Fault, listed
from .migration import Migrated, Migration, migrated
from .refusals import KINDS, Refusal, set_own_id
from .running import Action, world
from .schema import schema_of
from .shapes import Parameters, hints_of, is_object
from .violations import violation

ACCESSES = ("read", "write", "events", "open", "internal")
# The names that the first parameter of an action can have.
CALLS = ("call", "_call", "_")


# The annotations for tools and intents.
TOOLS, INTENTS = "portolan/tools", "portolan/intents"


@dataclasses.dataclass
class Tool:
    """A tool of MCP: some actions, of which all have the access `read` or none has. `description` says what it does
    in one line, and in a sentence with "Use" when to use it. `default`: whether it is among the few tools that a host
    lists by default.
    """
    name: str
    title: str
    description: str
    actions: list
    default: bool = False


@dataclasses.dataclass
class Nothing:
    """The output of an action without fields."""


class App:
    """A capability. The arguments are the fields of its descriptor. `description` is mostly the
    module's `__doc__`; its first paragraph is the summary.
    """

    def __init__(
        self, *, id, title, description, version="1.0.0", tags=(), status="stable", sunset_at=None,
        successor=None, default_action=None, collections=(), invokes=(), state_machines=(), roles=(),
        prompts=(), tools=(), annotations=None,
    ):
        caller = sys._getframe(1)
        set_own_id(id)
        self._place = caller.f_code.co_filename, caller.f_lineno
        self._head = {
            "id": id, "version": version, "title": title, "tags": list(listed("tags", tags)), "status": status,
            "sunset_at": sunset_at and to_millis(sunset_at), "successor": successor, "default_action": default_action,
            "roles": list(listed("roles", roles)), "annotations": annotation_records(annotations or {}, {TOOLS: [dataclasses.asdict(each) for each in tools]}),
        }
        self._description = description
        lists = {
            "collections": collections, "invokes": invokes, "state_machines": state_machines,
            "prompts": prompts,
        }
        self._lists = {name: listed(name, values) for name, values in lists.items()}
        self._actions, self._errors, self._faults = {}, {}, []

    def action(
        self, *, access, errors=(), emits=(), on=(), callers=(), example=None, examples=(),
        idempotent=False, destructive=False, cost_credits=0, name=None, title=None, deprecated=None,
        intents=(), annotations=None,
    ):
        """Declares a function as an action. After `call`, it takes one dataclass, or a parameter for each
        field of its input; it returns a dataclass or a TypedDict. Without a title, the first paragraph of
        the docstring is the title. `intents` are what people say who want it, for the search of actions.
        """
        errors, emits, on = listed("errors", errors), listed("emits", emits), listed("on", on)
        options = {
            "access": access, "callers": list(listed("callers", callers)), "idempotent": idempotent,
            "destructive": destructive, "title": title, "cost_credits": cost_credits, "deprecated": deprecated,
            "annotations": annotation_records(annotations or {}, {INTENTS: list(listed("intents", intents))}),
        }
        examples = (*examples, *([] if example is None else [example]))

        def declare(function):
            declared = name or function.__name__
            self._note(function, lambda: self._add(
                declared, function, options, errors, emits, on, examples
            ))
            return function
        return declare

    def migrates(self, function):
        """Declares a function `(collection, document, version)` that returns a document's new form.

        A `ValueError` or `KeyError` puts the document into quarantine. The function must not use
        the host.
        """
        def migrate(_call, input: Migration) -> Migrated:
            return migrated(input, function)
        migrate.__doc__ = function.__doc__ or "Convert stored documents to the form of this version."
        self.action(access="internal", idempotent=True)(migrate)
        return function

    def descriptor(self):
        """Returns the descriptor as plain values, or raises every fault of the declaration at once."""
        fix = 'The app has no description; begin the module with """What it does."""'
        head = self._note(self._place, lambda: paragraphs(self._description, fix)) or ("", "")
        actions = [self._record(each) for each in self._actions.values()]
        declared = self._actions.values()
        publishes = {event.type: event for each in declared for event in each.emits}
        result = self._head | {"summary": head[0], "description": head[1], "actions": actions} | {
            key: [each.declaration() for each in values] for key, values in self._lists.items()
        } | {
            "errors": [self._note(error, lambda: _error(error)) for error in self._errors],
            "publishes": [
                {"event_type": event.type, "sensitive": not event.public} for event in publishes.values()
            ],
            "subscriptions": [
                {"event_type": event, "action": each.name}
                for each in declared for event in each.subscriptions
            ],
        }
        if self._faults:
            # The fault of a type that several actions use is reported once.
            raise DeclarationError(sorted(set(self._faults), key=_by_line))
        return result

    def world(self):
        """Returns the component's exports, for the name `WitWorld` of the module that is built; nothing in an
        engine, which has exports of its own.
        """
        if contract.IN_ENGINE:
            return None
        descriptor = self.descriptor()
        sandbox.connect_logging()
        described = records.descriptor(descriptor) if contract.IN_COMPONENT else descriptor
        return world(described, self._actions)

    def declared(self, name):
        """Returns an action."""
        return self._actions[name]

    def _note(self, at, declare):
        """Returns what `declare` returns. If it fails, records its fault and returns None."""
        try:
            return declare()
        except Fault as fault:
            self._faults.append(fault.sentence(at))
            return None

    def _add(self, name, function, options, errors, emits, subscriptions, examples):
        hints = hints_of(function)
        if inspect.iscoroutinefunction(function):
            raise Fault(f"The action {name} is async, and actions are synchronous; leave out async and await.")
        first = next(iter(inspect.signature(function).parameters), None)
        if first not in CALLS:
            raise Fault(f"The first parameter of {name} is {first or 'missing'}; write def {name}(call, …).")
        if "return" not in hints:
            raise Fault(f"The action {name} has no type of its output; write def {name}(…) -> Output:")
        if options["access"] not in ACCESSES:
            raise Fault(f"There is no access {options['access']}; use one of {', '.join(ACCESSES)}.")
        if name in self._actions:
            raise Fault(f"There are two actions {name}; rename one.")
        for error in errors:
            if not (isinstance(error, type) and issubclass(error, Refusal)):
                raise Fault(f"{error!r} in errors is no class of Refusal; remove it.")
            self._errors[error] = None
        input_type, whole = _input_type(function, hints)
        output = Nothing if hints["return"] is type(None) else hints["return"]
        self._actions[name] = Action(
            name, function, options, errors, emits, subscriptions, examples, whole, input_type, output
        )

    def _record(self, action):
        def note(derive):
            return self._note(action.function, derive)

        fix = f'The action {action.name} has no docstring; write """What it does.""" below its def.'
        first, whole = note(lambda: paragraphs(action.function.__doc__, fix)) or ("", "")
        accepted = note(lambda: schema_of(action.input)) or {}
        note(lambda: _check_defaults(action.name, accepted))
        title = action.options["title"]
        return action.options | {
            "name": action.name,
            "title": title or first.removesuffix("."),
            "description": whole if title else whole.partition("\n\n")[2] or first,
            "input": accepted,
            "output": note(lambda: schema_of(action.output, output=True)),
            "errors": [error.code for error in action.errors],
            "emits": [event.type for event in action.emits],
            "examples": note(lambda: _examples(action, accepted)) or [],
        }


def paragraphs(text, fault):
    """Returns the first paragraph as one line, and the whole text. Raises the fault without a text."""
    if not (text or "").strip():
        raise Fault(fault)
    whole = inspect.cleandoc(text).strip()
    return whole.split("\n\n")[0].replace("\n", " "), whole


def _input_type(function, hints):
    """Returns the type of a function's input, and whether the input is a single parameter."""
    parameters = Parameters(function, hints)
    types = [field.type for field in parameters.fields]
    if len(types) == 1 and is_object(types[0]):
        return types[0], True
    return parameters, False


def _check_defaults(name, schema):
    """Raises a fault if the default of a field does not fit the field."""
    for field, accepted in schema.get("properties", {}).items():
        if "default" in accepted and (what := violation(accepted, accepted["default"], field)):
            raise Fault(f"The default of {field} of {name} does not fit: {what}; correct the default.")


def example_of(schema):
    """Returns a list of one example made of the fields' examples; it is empty if a required field has none."""
    fields = schema.get("properties", {})
    made = {name: field["examples"][0] for name, field in fields.items() if "examples" in field}
    return [made] if made.keys() >= set(schema.get("required", ())) else []


def _by_line(sentence):
    file, line, _ = sentence.split(":", 2)
    return file, int(line)


def _examples(action, schema):
    """Returns the examples of an action. Raises a fault if one does not fit the action's input."""
    examples = [_example(example) for example in action.examples or example_of(schema)]
    for number, example in enumerate(examples, 1):
        if what := violation(schema, example):
            raise Fault(f"The example {number} of {action.name} does not fit its input: {what}; correct the example.")
    return examples


def _example(value):
    """Returns an example as JSON values, without the fields that are None."""
    fields = json.loads(to_json(value))
    return {name: field for name, field in fields.items() if field is not None}


def _error(error):
    fix = f'The refusal {error.__name__} has no docstring; write """Its message.""" below its class.'
    if error.kind not in KINDS:
        raise Fault(f'{error.__name__} has no kind; write kind="…" with one of {", ".join(KINDS)}.', error)
    _, whole = paragraphs(error.__dict__.get("__doc__"), fix)
    return {
        "code": error.code, "kind": error.kind, "retryable": error.retryable, "description": whole,
    }
