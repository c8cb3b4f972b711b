"""Floors: what people announced, when it counts, and which floor binds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuator.floors import (
    NO_FLOOR,
    AnnouncedDemand,
    AnnouncedKind,
    Floor,
    announced_floor,
    highest_floor,
)
from actuator.plan import Reason
from actuator.view import PoolView
from tests.fakes.pool_views import FRAGMENT, NOW, WHOLE, pool_view, waiting_job

LEAD = 1200
HOUR = 3600
ABSOLUTE, EXTRA, FACTOR = AnnouncedKind.ABSOLUTE, AnnouncedKind.EXTRA, AnnouncedKind.FACTOR
BUSY = pool_view(used_gpus=32.0, waiting=[waiting_job(8.0)])  # 40 GPUs
UNSEEN = pool_view(used_gpus=32.0, waiting=[waiting_job(8.0)], doubtful=["not wholly in view"])


def announced(
    kind: AnnouncedKind, amount: float, start_seconds: int = NOW, identifier: str = "a1"
) -> AnnouncedDemand:
    """An hour of it."""
    return AnnouncedDemand(
        start_seconds, start_seconds + HOUR, kind, amount, "Friday's flood", identifier
    )


def floor_nodes(*announcements: AnnouncedDemand, view: PoolView = BUSY) -> int:
    """Nodes of the floor now."""
    return announced_floor(announcements, view, WHOLE, LEAD, NOW).nodes


@pytest.mark.parametrize(
    ("kind", "amount", "nodes"), [(ABSOLUTE, 100.0, 13), (EXTRA, 8.0, 6), (FACTOR, 1.5, 8)]
)
def test_an_announcement_is_absolute_extra_or_a_factor(
    kind: AnnouncedKind, amount: float, nodes: int
) -> None:
    """On 40 GPUs of running and waiting jobs, without a buffer."""
    assert nodes == floor_nodes(announced(kind, amount))


@pytest.mark.parametrize(
    ("begins_in_seconds", "nodes"), [(LEAD + 1, 0), (LEAD, 1), (0, 1), (1 - HOUR, 1), (-HOUR, 0)]
)
def test_it_counts_from_a_lead_time_before_it_begins_until_it_ends(
    begins_in_seconds: int, nodes: int
) -> None:
    """[start - lead, end)."""
    assert nodes == floor_nodes(announced(ABSOLUTE, 8.0, NOW + begins_in_seconds))


def test_extras_add_up_and_of_the_others_the_highest_counts() -> None:
    """The largest of the three is the floor."""
    extras = [announced(EXTRA, 8.0), announced(EXTRA, 16.0, identifier="a2")]
    assert 8 == floor_nodes(*extras)
    absolutes = [announced(ABSOLUTE, 48.0), announced(ABSOLUTE, 72.0)]
    assert 9 == floor_nodes(*extras, *absolutes)
    factors = [announced(FACTOR, 2.0), announced(FACTOR, 1.5)]
    assert 10 == floor_nodes(*extras, *absolutes, *factors)


def test_the_reason_names_those_that_ask() -> None:
    """By identifier, kind, amount and words; those that others outdo are not named."""
    extras = [announced(EXTRA, 8.0), announced(EXTRA, 16.0, identifier="a2")]
    outdone = announced(ABSOLUTE, 8.0, identifier="a3")
    reason = announced_floor([*extras, outdone], BUSY, WHOLE, LEAD, NOW).reason
    assert "announcement" == reason.code
    assert "a1 (extra 8, Friday's flood), a2 (extra 16, Friday's flood)" in reason.text
    assert "a3" not in reason.text


def test_a_view_in_doubt_is_not_built_on() -> None:
    """Extras count alone, factors not at all, absolutes in full; and the reason says so."""
    assert 1 == floor_nodes(announced(EXTRA, 8.0), view=UNSEEN)
    assert 0 == floor_nodes(announced(FACTOR, 3.0), view=UNSEEN)
    assert 13 == floor_nodes(announced(ABSOLUTE, 100.0), view=UNSEEN)
    reason = announced_floor([announced(EXTRA, 8.0)], UNSEEN, WHOLE, LEAD, NOW).reason
    assert "in doubt" in reason.text


def test_fragments_are_sized_by_how_they_pack() -> None:
    """48 GPUs on nodes of which three quarters can be filled take 8."""
    view = pool_view(FRAGMENT, fill_share=0.75)
    assert 8 == announced_floor([announced(ABSOLUTE, 48.0)], view, FRAGMENT, LEAD, NOW).nodes


def test_without_an_announcement_there_is_no_floor() -> None:
    """None at all, or none that counts now."""
    assert NO_FLOOR is announced_floor([], BUSY, WHOLE, LEAD, NOW)


def test_the_highest_floor_binds_and_of_equal_ones_the_first() -> None:
    """So that the pool's own floor is named where nothing else asks for more."""
    own, schedule, flood = (
        Floor(nodes, Reason(code, "")) for nodes, code in ((2, "floor"), (2, "schedule"), (5, "a"))
    )
    assert own is highest_floor(own)
    assert own is highest_floor(own, schedule, NO_FLOOR)
    assert flood is highest_floor(own, schedule, flood)


@given(
    st.lists(
        st.builds(
            announced,
            st.sampled_from(list(AnnouncedKind)),
            st.floats(0, 100),
            st.integers(NOW - 2 * HOUR, NOW + 2 * HOUR),
        ),
        max_size=6,
    ),
    st.builds(announced, st.sampled_from(list(AnnouncedKind)), st.floats(0, 100)),
)
def test_one_more_announcement_never_lowers_the_floor(
    announcements: list[AnnouncedDemand], one_more: AnnouncedDemand
) -> None:
    """Nor does one that asks for little."""
    assert floor_nodes(*announcements) <= floor_nodes(*announcements, one_more)
