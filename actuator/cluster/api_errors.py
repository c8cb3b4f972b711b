"""What a Kubernetes API server's refusals mean, one error per decision that a caller must take.

It must never make a success of a status that it does not know.
"""

import json
from collections.abc import Container

from features.errors import BadInput, SourceUnavailable, TidecastError


class NotThere(SourceUnavailable):
    """The object, or the whole kind of object, does not exist."""


class Conflict(SourceUnavailable):
    """Somebody else wrote meanwhile, owns a field, or has taken the name; read again."""


class Expired(SourceUnavailable):
    """The version to go on from is forgotten; list again."""


class Throttled(SourceUnavailable):
    """Not now: the server is busy, or a disruption budget allows no eviction."""


class NotWell(SourceUnavailable):
    """The server is not there, or not well; the same request may succeed later."""


MEANINGS: tuple[tuple[Container[int], type[TidecastError], str], ...] = (
    ((401, 403), SourceUnavailable, "refuses access; check the service account's role"),
    ((404,), NotThere, "is not there"),
    ((409,), Conflict, "was not changed"),
    ((410,), Expired, "has forgotten where to go on"),
    ((429,), Throttled, "asks us to wait"),
    (range(400, 500), BadInput, "refuses what it was sent; check the names in the policy"),
)
"""What the statuses mean; the first row that has a status counts."""


def refusal(status: int, text: bytes, where: str) -> TidecastError:
    """The error that an answer without success stands for.

    Args:
        status: its HTTP status.
        text: its body.
        where: what was asked, for the message.
    """
    said = _message(text)
    for statuses, kind, words in MEANINGS:
        if status in statuses:
            return kind(f"{where} {words} (HTTP {status}: {said})")
    return NotWell(f"{where} fails (HTTP {status}: {said}); try again later")


def _message(text: bytes) -> str:
    """What the server said, in one line."""
    try:
        said = str(json.loads(text)["message"])
    except (ValueError, LookupError, TypeError):
        said = text.decode(errors="replace")
    return " ".join(said.split())[:300]
