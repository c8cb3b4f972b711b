"""The record of champions: who leads, who would follow, and what a rollback leaves."""

from hypothesis import given
from hypothesis import strategies as st

from models.succession import MOST_REMEMBERED, Promotion, promoted, rolled_back, standing


def record(*versions):
    return tuple(Promotion(version, at) for at, version in enumerate(versions))


def test_the_newest_promotion_leads():
    """The champion first, then who would follow it; a version promoted twice stands once."""
    assert () == standing(())
    assert ("a", "c", "b") == standing(record("a", "b", "c", "a"))


def test_a_rollback_withdraws_and_forgets_nothing():
    """Two of them go back two steps, and the record still has every promotion."""
    once = rolled_back(record("a", "b", "c"), "b")
    assert ("b", "a") == standing(once)
    twice = rolled_back(once, "a")
    assert ("a",) == standing(twice)
    assert ["a", "b", "c"] == [one.version for one in twice]


def test_a_version_withdrawn_can_be_promoted_again():
    """A person may change their mind."""
    again = promoted(rolled_back(record("a", "b"), "a"), Promotion("b", 9))
    assert ("b", "a") == standing(again)


def test_a_rollback_may_pass_over_a_damaged_version():
    """What lies between is withdrawn too, or it would lead again."""
    assert ("a",) == standing(rolled_back(record("a", "b", "c"), "a"))


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=2 * MOST_REMEMBERED))
def test_the_last_promoted_always_leads(versions):
    """However long the record grows, and it does not grow for ever."""
    kept: tuple[Promotion, ...] = ()
    for at, version in enumerate(versions):
        kept = promoted(kept, Promotion(version, at))
    assert versions[-1] == standing(kept)[0]
    assert min(len(versions), MOST_REMEMBERED) == len(kept)
