"""The running call: its caller, and its sources of time, randomness and identifiers."""

from . import contract
from .convert import from_millis
from .refusals import Next, Refusal

_CLAIM = Next(
    "svc.phone-binding", {"action": "bind"}, missing=["phone"],
    ask_user="Which mobile number may I send a code to?", then="retry_original",
)


class Call:
    """The running call, an action's first argument.

    Values about the agent are None or empty if the host itself calls.
    """

    def __init__(self, caller):
        agent = getattr(caller, "value", None)
        self.agent_id = agent and agent.agent_id
        self.agent_name = agent and agent.agent_name
        self.owner_id = agent and agent.owner_id
        self.scopes = agent.scopes if agent else []
        self.via = agent.via if agent else []

    def require_owner(self):
        """Returns the calling person's id, or refuses the call. With access `write` there always is a person."""
        if not self.agent_id:
            raise Refusal.common("not_permitted", "Only an agent may do this.")
        if not self.owner_id:
            message = "A person must claim this identity with a one-time phone bind first."
            raise Refusal.common("phone_binding_required", message, _CLAIM)
        return self.owner_id

    @property
    def now(self):
        """The instant of the call, in UTC: the same during the whole call."""
        return from_millis(contract.context.now())

    @property
    def client_id(self):
        """The OAuth client of the agent's token, or None."""
        return contract.context.client_id()

    @property
    def test_mode(self):
        """Whether the call runs in test mode, whose data is separate from that of live mode."""
        return contract.context.test_mode()

    def new_id(self, prefix):
        """Returns a new sortable identifier: the prefix, an underscore and a ULID."""
        return contract.context.new_id(prefix)

    def random(self, length):
        """Returns `length` unpredictable bytes, at most 4096."""
        return bytes(contract.context.random(length))
