"""State machines: the states of one kind of thing, and the actions that change them."""

import dataclasses
import enum

from .refusals import Next, Refusal


@dataclasses.dataclass(frozen=True)
class Transition:
    """An action, the states that allow it and the next states.

    An action without `before` creates the thing; one without `after` leaves the state as it is.
    `internal` is for an action of access `internal`, which is not shown to agents.
    """

    action: str
    before: tuple = ()
    after: tuple = ()
    role: str | None = None
    internal: bool = False


class StateMachine:
    """The states of an Enum, and their transitions. `read` is the call that reads the thing."""

    def __init__(self, name, states: type[enum.Enum], transitions, read: Next | None = None):
        self.name, self.states, self.transitions, self.read = name, states, transitions, read

    def declaration(self):
        """Returns the descriptor's record."""
        return {
            "name": self.name,
            "states": [state.value for state in self.states],
            "transitions": [
                {
                    "action": each.action,
                    "from_": [state.value for state in each.before],
                    "to": [state.value for state in each.after],
                    "role": each.role,
                }
                for each in self.transitions
            ],
        }

    def allowed(self, state, role=None):
        """Returns the actions that agents may call in a state, or those of one role."""
        names = [
            each.action for each in self.transitions
            if state in each.before and not each.internal and role in (None, each.role or role)
        ]
        return list(dict.fromkeys(names))

    def step(self, state, action, to=None):
        """Returns the state after an action, or refuses with `invalid_transition`."""
        for each in self.transitions:
            possible = each.after or (state,)
            if each.action == action and state in each.before and (to is None or to in possible):
                return to or possible[0]
        conflict = {"kind": "state", "current": state.value, "allowed_actions": self.allowed(state)}
        message = "The current state does not allow this action."
        raise Refusal.common("invalid_transition", message, self.read, conflict)
