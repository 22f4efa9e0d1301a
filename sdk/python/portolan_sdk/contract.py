"""The contract's interfaces: the bindings that componentize-py makes, which exist only in a component."""

from importlib import import_module
from importlib.util import find_spec

from .errors import host_error

IN_COMPONENT = find_spec("wit_world") is not None
IN_ENGINE = IN_COMPONENT and find_spec("wit_world.imports.source") is not None

_WORLDS = {
    "sms": "messaging-capability", "identity": "identity-capability",
    "inbox": "event-capability", "webhooks": "event-capability",
    "lookups": "lookup-capability", "people": "people-capability",
}


class _Outside:
    """An interface where there is no host, as in unit tests. A test can replace it."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, function):
        raise RuntimeError(f"{self._name}.{function} needs a host; test this action in a component.")


def interface(name):
    """Returns the functions of one interface of the contract."""
    if not IN_COMPONENT:
        return _Outside(name)
    try:
        return import_module(f"wit_world.imports.{name}")
    except ModuleNotFoundError:
        world = _WORLDS.get(name, "capability")
        text = f"This component has no interface {name}; build it with --world {world}."
        raise ImportError(text) from None


def ask(function, *arguments):
    """Calls a function of the host. Its error is raised as a `HostError`."""
    try:
        return function(*arguments)
    except Exception as error:
        if type(error).__name__ != "Err":
            raise
        raise host_error(error.value) from None


context = interface("context")
documents = interface("documents")
events = interface("events")
feeds = interface("feeds")
invoke = interface("invoke")
secrets = interface("secrets")
timers = interface("timers")
