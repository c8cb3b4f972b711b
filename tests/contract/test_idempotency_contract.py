"""What the store of repeated requests keeps to, on every database."""

import pytest

from features.errors import BadInput
from forecaster.database import Database
from forecaster.database.idempotency import (
    IdempotencyKeys,
    KeyReused,
    StillWorking,
    name_after,
)

ANSWER = {"status": 201, "body": {"identifier": "a1"}}
DAY = 86_400


def test_a_repeated_request_gets_the_same_answer(database: Database) -> None:
    """For a day, and only its own maker does."""
    keys = IdempotencyKeys(database)
    assert keys.begin("ada", "k", "digest", 100) is None
    keys.answer("ada", "k", ANSWER)
    assert ANSWER == keys.begin("ada", "k", "digest", 100 + DAY - 1)
    assert keys.begin("bob", "k", "other", 100) is None
    assert keys.begin("ada", "k", "other", 100 + DAY) is None


def test_a_key_for_another_request_is_refused(database: Database) -> None:
    """Also while the first is being answered."""
    keys = IdempotencyKeys(database)
    keys.begin("ada", "k", "digest", 100)
    with pytest.raises(KeyReused):
        keys.begin("ada", "k", "other", 101)


def test_a_request_is_answered_by_one(database: Database) -> None:
    """Another attempt has to wait, until it is sure that the first has died."""
    keys = IdempotencyKeys(database)
    keys.begin("ada", "k", "digest", 100)
    with pytest.raises(StillWorking):
        keys.begin("ada", "k", "digest", 159)
    assert keys.begin("ada", "k", "digest", 160) is None
    with pytest.raises(StillWorking):
        keys.begin("ada", "k", "digest", 161)


def test_a_request_that_failed_may_be_made_again(database: Database) -> None:
    """One that was answered keeps its answer."""
    keys = IdempotencyKeys(database)
    keys.begin("ada", "k", "digest", 100)
    keys.forget("ada", "k")
    assert keys.begin("ada", "k", "corrected", 101) is None
    keys.answer("ada", "k", ANSWER)
    keys.forget("ada", "k")
    assert ANSWER == keys.begin("ada", "k", "corrected", 102)


def test_old_requests_are_removed(database: Database) -> None:
    """After a day."""
    keys = IdempotencyKeys(database)
    for number, at in enumerate((100, 101)):
        keys.begin("ada", str(number), "digest", at)
    assert 1 == keys.prune(100 + DAY)
    assert 0 == keys.prune(100 + DAY)


def test_a_key_has_its_length(database: Database) -> None:
    """It comes from outside."""
    for key in ("", "x" * 256):
        with pytest.raises(BadInput, match="1 to 255 characters"):
            IdempotencyKeys(database).begin("ada", key, "digest", 100)


def test_what_a_request_makes_has_a_name_of_its_own() -> None:
    """The same each time, and never another owner's, however the two are cut."""
    assert name_after("ada", "k") == name_after("ada", "k")
    assert 4 == len(
        {name_after(*pair) for pair in [("a", "bc"), ("ab", "c"), ("a b", "c"), ("a", "b c")]}
    )
