"""Calls of other capabilities, in the same transaction and as the same caller."""

import json

from . import contract
from .convert import DecodeError, decoder, to_json
from .refusals import Common


class Invocation:
    """An action of another capability, to be listed in the app's `invokes`.

    `output` is the dataclass of the fields that are used. A refusal is raised as a `Refusal`; if nobody
    catches it, the caller gets it unchanged.
    """

    def __init__(self, capability, action, output=dict):
        self.capability, self.action = capability, action
        self._decode = decoder(output)

    def declaration(self):
        """Returns the descriptor's record."""
        return {"capability": self.capability, "action": self.action}

    def call(self, input=None):
        """Runs the action, and returns its output."""
        try:
            success = contract.invoke.call(self.capability, self.action, to_json(input or {}))
        except Exception as error:
            if type(error).__name__ != "Err":
                raise
            raise _passed_on(error.value) from None
        try:
            return self._decode(json.loads(success.output))
        except DecodeError as error:
            text = f"the output of {self.capability} {self.action} has another form: {error}"
            raise TypeError(text) from None


def _passed_on(failure):
    conflict, following = (part and json.loads(part) for part in (failure.conflict, failure.next))
    return Common(failure.code, failure.message, following, conflict)
