"""Marks that protect are read, and protect in doubt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.cluster.marks import (
    checkpoint_seconds,
    duration_seconds,
    instant_seconds,
    node_protections,
    pod_protections,
)
from actuator.state import Protection

AT, AT_SECONDS = "2026-11-29T12:00:00Z", 1_795_953_600
OWN = "tidecast.io/protected"
KARPENTER = "karpenter.sh/do-not-disrupt"
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, ()),
        ({OWN: "false", DISABLED: "false", KARPENTER: "false"}, ()),
        ({DISABLED: "true"}, (Protection(DISABLED),)),
        ({KARPENTER: "true"}, (Protection(KARPENTER),)),
        ({OWN: "true"}, (Protection(OWN),)),
        (
            {OWN: "true", f"{OWN}-owner": "ana", f"{OWN}-reason": "demo", f"{OWN}-until": AT},
            (Protection(OWN, "ana", "demo", AT_SECONDS),),
        ),
        (
            {OWN: f'{{"owner": "ana", "reason": "demo", "until": "{AT}"}}'},
            (Protection(OWN, "ana", "demo", AT_SECONDS),),
        ),
        ({OWN: "true", f"{OWN}-until": "someday"}, (Protection(OWN),)),
        ({OWN: '{"until": "2026-11-29T12:00:00"}'}, (Protection(OWN),)),
        (
            {OWN: '{"owner": '},
            (Protection(OWN, reason='the mark cannot be read: {"owner": '),),
        ),
    ],
)
def test_marks_on_nodes(annotations: dict[str, str], expected: tuple[Protection, ...]) -> None:
    """Ours may be plain or JSON; what cannot be read protects for ever."""
    assert expected == node_protections(annotations)


@pytest.mark.parametrize(
    ("annotations", "started_seconds", "expected"),
    [
        ({SAFE: "false"}, None, (Protection(SAFE),)),
        ({SAFE: "true"}, None, ()),
        ({KARPENTER: "true"}, AT_SECONDS, (Protection(KARPENTER),)),
        ({KARPENTER: "1h30m"}, 1000, (Protection(KARPENTER, expires_seconds=6400),)),
        ({KARPENTER: "1h30m"}, None, (Protection(KARPENTER),)),
        ({KARPENTER: "soon"}, 1000, (Protection(KARPENTER),)),
    ],
)
def test_marks_on_pods(
    annotations: dict[str, str],
    started_seconds: int | None,
    expected: tuple[Protection, ...],
) -> None:
    """A duration counts from the pod's start; before it, and if it is none, there is no end."""
    assert expected == pod_protections(annotations, started_seconds)


@given(st.text())
def test_any_other_text_of_our_mark_protects(text: str) -> None:
    """Whoever sets it in a way we do not know still means it."""
    expected = 0 if text == "false" else 1
    assert expected == len(node_protections({OWN: text}))


def test_a_mark_nested_without_end_protects() -> None:
    """Nobody's annotation may stop us from reading the others."""
    assert 1 == len(node_protections({OWN: '{"a":' * 50_000}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90.0), ("1h30m", 5400.0), ("1.5h", 5400.0), ("", None), ("5", None), ("5m!", None)],
)
def test_durations_are_read_as_go_writes_them(text: str, expected: float | None) -> None:
    """What is none is not half a one."""
    assert expected == duration_seconds(text)


def test_an_instant_needs_an_offset() -> None:
    """Without one it is a different moment in each zone."""
    assert AT_SECONDS == instant_seconds("2026-11-29T13:00:00+01:00")
    assert AT_SECONDS == instant_seconds(str(AT_SECONDS))
    with pytest.raises(ValueError, match="no offset"):
        instant_seconds("2026-11-29T12:00:00")


def test_a_checkpoint_that_cannot_be_read_is_none() -> None:
    """A job that says nothing clear has saved nothing that we may count on."""
    assert AT_SECONDS == checkpoint_seconds({"tidecast.io/checkpointed-at": AT})
    assert checkpoint_seconds({"tidecast.io/checkpointed-at": "just now"}) is None
    assert checkpoint_seconds({}) is None
