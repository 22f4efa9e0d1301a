"""Calls of this capability's internal actions at a later time."""

from . import contract
from .contract import ask
from .convert import to_json, to_millis


def set(name, at, action, input):
    """Sets a timer, which replaces the one of the same name. It runs at least once."""
    ask(contract.timers.set, name, to_millis(at), action, to_json(input))


def cancel(name):
    """Cancels a timer, and returns whether there was one."""
    return ask(contract.timers.cancel, name)
