"""The component's exports: an action's function between the JSON of its input and that of its answer."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from . import records, sandbox
from .calls import Call
from .convert import DecodeError, decoder, to_json
from .errors import HostError
from .refusals import Answer, Common, Refusal


@dataclasses.dataclass(frozen=True)
class Action:
    """An action's function with its declaration. `whole` says that its input is one parameter."""

    name: str
    function: Callable
    options: dict
    errors: tuple
    emits: tuple
    subscriptions: tuple
    examples: tuple
    whole: bool
    input: Any
    output: Any


def world(described, actions):
    """Returns the class that componentize-py exports."""
    decoders = {name: decoder(action.input) for name, action in actions.items()}

    class WitWorld:
        def describe(self):
            return described

        def call(self, caller, action, input):
            return run(actions[action], caller, input, decoders[action])
    return WitWorld


def run(action, caller, input, decode=None):
    """Runs an action, and returns the record of its answer or raises that of its refusal."""
    decode = decode or decoder(action.input)
    sandbox.enter(seeded=action.name != "migrate")
    try:
        answer = _answer(action, decode, Call(caller), json.loads(input))
    except Refusal as refusal:
        answer = refusal
    except BaseException as error:
        sandbox.leave()
        sandbox.trap(error)
    sandbox.leave()
    if isinstance(answer, Refusal):
        raise records.error(answer.failure(records.failure))
    return records.success(*answer)


def _answer(action, decode, call, values):
    try:
        given = decode(values)
    except DecodeError as error:
        raise Refusal.validation(error.pointer, "type", error.expected) from None
    try:
        return _parts(action.function(call, given) if action.whole else action.function(call, **given))
    except Refusal as refusal:
        if not isinstance(refusal, (Common, *action.errors)):
            text = f"{type(refusal).__name__} is not in the errors of the action {action.name}"
            raise TypeError(text).with_traceback(refusal.__traceback__) from None
        raise
    except HostError as error:
        if error.code == "internal_error":
            sandbox.log("ERROR", f"the host refused: {sandbox.explain(error)}")
        raise Refusal.common(error.code, error.message) from error


def _parts(value):
    """Returns the JSON texts of an output and of the next step."""
    following = None
    if isinstance(value, Answer):
        value, following = value.output, value.next
    return to_json({} if value is None else value), following and to_json(following)
