"""Events for agents and for other capabilities."""

import dataclasses
from typing import Annotated, Generic, Optional, TypeVar

from . import contract
from .contract import ask
from .convert import to_json

T = TypeVar("T")


class Event:
    """A type of event, such as `bookshelf.borrowed`, to be listed in the `emits` of an action.

    Capabilities of other publishers receive it only with their operator's approval, unless it is
    `public`.
    """

    def __init__(self, type, public=False):
        self.type, self.public = type, public

    def publish(self, subject, data, *, owner=None, agent=None):
        """Publishes the event with the commit: to all agents of a person, or to one agent.

        Subscribed capabilities always get it. Events of one subject, such as `books/7`, stay in order.
        """
        if not isinstance(subject, str):
            raise TypeError(f"publish(subject, data): the subject is {subject!r}; write a text such as 'books/7'")
        records = contract.events
        audience = records.Audience_Capabilities()
        if owner:
            audience = records.Audience_Owner(owner)
        elif agent:
            audience = records.Audience_Agent(agent)
        ask(records.publish, audience, records.Event(self.type, subject, to_json(data)))


@dataclasses.dataclass
class Happened(Generic[T]):
    """The input of an action that subscribes with `on`. An event can be delivered twice."""

    event_type: Annotated[str, "The type of the event."]
    subject: Annotated[str, "The thing that the event is about."]
    data: Annotated[T, "The data of the event."]
    id: Annotated[Optional[str], "The event's id, the same at every delivery."] = None
