"""Reads the marks that make a node or a pod untouchable, and the times that marks carry.

A mark that cannot be read in full protects, and does so for ever: it must never protect less than
whoever set it meant.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from actuator.state import Protection

OWN_MARK = "tidecast.io/protected"
OWNER, REASON, UNTIL = f"{OWN_MARK}-owner", f"{OWN_MARK}-reason", f"{OWN_MARK}-until"
CHECKPOINTED_AT = "tidecast.io/checkpointed-at"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
UNITS_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")


def node_protections(annotations: Mapping[str, str]) -> tuple[Protection, ...]:
    """The marks on a node."""
    marks = [*_own(annotations)]
    if annotations.get(SCALE_DOWN_DISABLED) == "true":
        marks.append(Protection(SCALE_DOWN_DISABLED))
    if annotations.get(DO_NOT_DISRUPT, "false") != "false":
        marks.append(Protection(DO_NOT_DISRUPT))
    return tuple(marks)


def pod_protections(
    annotations: Mapping[str, str], started_seconds: int | None
) -> tuple[Protection, ...]:
    """The marks on a pod; a duration counts from its start, and for ever until it has started."""
    marks = [*_own(annotations)]
    if annotations.get(SAFE_TO_EVICT) == "false":
        marks.append(Protection(SAFE_TO_EVICT))
    value = annotations.get(DO_NOT_DISRUPT, "false")
    if value != "false":
        length = duration_seconds(value)
        expires = None
        if length is not None and started_seconds is not None:
            expires = int(started_seconds + length)
        marks.append(Protection(DO_NOT_DISRUPT, expires_seconds=expires))
    return tuple(marks)


def duration_seconds(text: str) -> float | None:
    """A duration as Go writes it, such as `1h30m`; None if it is none."""
    parts = PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * UNITS_SECONDS[unit] for number, unit in parts)


def instant_seconds(text: str) -> int:
    """Unix time of an RFC 3339 instant, or of whole seconds as they are.

    Raises:
        ValueError: it is neither, or has no offset.
    """
    if text.isdecimal():
        return int(text)
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError(f"'{text}' has no offset from UTC")
    return int(instant.timestamp())


def checkpoint_seconds(annotations: Mapping[str, str]) -> int | None:
    """When a pod's job says that it last saved its work; None if it does not, or not clearly."""
    try:
        return instant_seconds(annotations[CHECKPOINTED_AT])
    except (LookupError, ValueError):
        return None


def _own(annotations: Mapping[str, str]) -> Iterator[Protection]:
    """Our own mark: `true` with annotations beside it, or JSON with owner, reason and until."""
    text = annotations.get(OWN_MARK, "false")
    if text == "false":
        return
    said: Mapping[str, object] = {
        "owner": annotations.get(OWNER, ""),
        "reason": annotations.get(REASON, ""),
        "until": annotations.get(UNTIL, ""),
    }
    if text.startswith("{"):
        try:
            said = {**said, **json.loads(text)}
        except (ValueError, RecursionError):
            said = {**said, "reason": f"the mark cannot be read: {text[:100]}"}
    try:
        until = instant_seconds(str(said["until"])) if said["until"] else None
    except ValueError:
        until = None
    yield Protection(OWN_MARK, str(said["owner"]), str(said["reason"]), until)
