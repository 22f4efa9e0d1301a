"""A capability in Python, on the contract itself: no SDK."""

import json

from componentize_py_types import Err
from wit_world import WitWorld as Contract
from wit_world.imports import context, description
from wit_world.imports.types import Failure, Success

REFUSED = "This greeter does not talk to robots."
INPUT = {
    "type": "object",
    "properties": {"name": {"type": "string", "description": "A first name."}},
    "required": ["name"],
}
OUTPUT = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "at": {"type": "integer"}},
    "required": ["text", "at"],
}


class WitWorld(Contract):
    def describe(self):
        greet = description.Action(
            name="greet", title="Greet one person", description="Greets one person by name.",
            access=description.Access.READ, input=json.dumps(INPUT), output=json.dumps(OUTPUT),
            idempotent=True, destructive=False, cost_credits=0, errors=["robot_refused"],
            emits=[], callers=[], examples=['{"name":"Ada"}'], deprecated=None, annotations=[],
        )
        refused = description.Error(
            code="robot_refused", kind=description.ErrorKind.FORBIDDEN, retryable=False,
            description=REFUSED,
        )
        return description.Descriptor(
            id="python_greeter", version="1.0.0", title="Python greeter",
            summary="Greets people by name.", description="Greets people by name.", tags=[],
            status=description.Status.STABLE, sunset_at=None, successor=None, actions=[greet],
            default_action=None, errors=[refused], collections=[], invokes=[], publishes=[],
            subscriptions=[], state_machines=[], roles=[], prompts=[], annotations=[],
        )

    def call(self, caller, action, input):
        name = json.loads(input)["name"]
        context.log(context.Level.INFO, "greeting somebody")
        print("in Python")
        if name == "HAL":
            raise Err(Failure("robot_refused", REFUSED, None, None, False))
        if name == "panic":
            raise ValueError("the greeter fails")
        return Success(json.dumps({"text": f"Hello, {name}!", "at": context.now()}), None)
