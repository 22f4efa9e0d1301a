"""Why the host refused a request of the capability."""


class HostError(Exception):
    """An error of the host. One that nobody catches becomes a refusal with a common code."""

    code, message = "internal_error", "This capability sent an invalid request to its host."


class Invalid(HostError):
    """The request names something that does not exist or is not declared."""


class Conflict(HostError):
    """The expected revision of a document is not the stored one."""

    code = "version_conflict"
    message = "It was changed at the same time. Read it again, then repeat the call."


class Duplicate(HostError):
    """A unique value is taken by the document `id`."""

    def __init__(self, id):
        # Neither the id nor the value is logged: both can be personal data.
        super().__init__("a unique value is taken, and the capability has no answer")
        self.id = id


class BadCursor(HostError):
    """The cursor belongs to another query."""

    code, message = "cursor_invalid", "The cursor does not belong to this query."


class Limit(HostError):
    """A limit of the call is reached; the text names it."""

    code = "quota_exceeded"

    @property
    def message(self):
        return str(self)


class Unavailable(HostError):
    """A dependency of the host is unavailable."""

    code = "dependency_unavailable"
    message = "A dependency of this capability is unavailable. Try again in a moment."


_ERRORS = {error.__name__: error for error in (Invalid, Conflict, Duplicate, BadCursor, Limit, Unavailable)}


def host_error(value):
    """Returns the exception of a `host-error` of the contract."""
    error = _ERRORS[type(value).__name__.removeprefix("HostError_")]
    return error(value.value) if hasattr(value, "value") else error()
