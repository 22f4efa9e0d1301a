"""Cryptography with keys that stay in the host. Each capability has its own keys."""

import hmac

from . import contract
from .contract import ask
from .errors import Invalid


def mac(data):
    """Returns the HMAC-SHA-256 of bytes under the newest key."""
    return ask(contract.secrets.mac, data)


def macs(data):
    """Returns the HMAC under every key, the newest first, to look up what was stored under an older one."""
    return ask(contract.secrets.macs, data)


def is_mac(data, claimed):
    """Returns whether `claimed` is the `mac` of the data under any key. Compares in constant time."""
    return any(hmac.compare_digest(bytes(each), claimed) for each in macs(data))


def seal(data):
    """Encrypts and authenticates bytes for this capability only."""
    return ask(contract.secrets.seal, data)


def open(sealed):
    """Decrypts what `seal` returned.

    Returns None if it was changed, or if none of this capability's keys sealed it.
    """
    try:
        return ask(contract.secrets.open, sealed)
    except Invalid:
        return None
