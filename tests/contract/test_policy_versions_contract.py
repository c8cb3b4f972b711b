"""What the store of policy versions keeps to, on every database."""

from dataclasses import replace

import pytest

from features.errors import BadInput
from forecaster.database import Database
from forecaster.database.policy_versions import Authorship, PolicyKind, PolicyVersions
from tests.fakes.decisions import START_SECONDS, document
from tests.fakes.processes import process

ADA = Authorship("ada", START_SECONDS, "to begin with")


APPLY = """
import sys
from forecaster.database import Database
from forecaster.database.policy_versions import Authorship, PolicyVersions
from tests.fakes.decisions import document
url, floor = sys.argv[1], int(sys.argv[2])
with Database.open(url) as database:
    for step in range(10):
        made = document(floor_nodes=floor, lead_seconds=step)
        print(PolicyVersions(database).apply(made, Authorship(str(floor), 0)).version)
"""


def test_two_processes_that_apply_at_once_lose_nothing(url: str) -> None:
    """Neither making the tables nor a version is done twice."""
    processes = [process(APPLY, url, str(floor)) for floor in (1, 2)]
    answers = [one.communicate(timeout=60) for one in processes]
    assert ["", ""] == [err for _, err in answers]
    given = sorted(int(line) for out, _ in answers for line in out.split())
    with Database.open(url) as database:
        held = PolicyVersions(database).versions()
    assert list(range(1, 21)) == given == [one.version for one in reversed(held)]
    for floor in (1, 2):
        own = [
            one.document.pools[0] for one in reversed(held) if one.authorship.author == f"{floor}"
        ]
        assert [(floor, step) for step in range(10)] == [
            (pool.floor_nodes, pool.lead_seconds) for pool in own
        ]


def test_the_first_policy_is_in_force_and_the_next_takes_its_place(database: Database) -> None:
    """The same document again, however it is written, is no new version."""
    versions = PolicyVersions(database)
    assert versions.current() is None
    first = versions.apply(document(), ADA)
    assert first == versions.apply(document(floor_nodes=0), replace(ADA, author="bob"))
    second = versions.apply(document(floor_nodes=2), replace(ADA, author="bob"))
    assert (second, first) == versions.versions()
    assert second == versions.current()
    assert first == versions.get(1)
    assert document(floor_nodes=2).policy(2) == second.policy
    with pytest.raises(BadInput, match="there is no policy version 7"):
        versions.get(7)
    with pytest.raises(BadInput, match="there is no policy version 99999999999999999999"):
        versions.get(99999999999999999999)


def test_going_back_twice_goes_back_two(database: Database) -> None:
    """Each time as a new version that names the one it came from."""
    versions = PolicyVersions(database)
    for floor in (1, 2, 3):
        versions.apply(document(floor_nodes=floor), ADA)
    back = [versions.roll_back(ADA), versions.roll_back(ADA)]
    assert [(4, 2), (5, 1)] == [(one.version, one.restored_from) for one in back]
    assert document(floor_nodes=1) == back[1].document
    with pytest.raises(BadInput, match="no earlier policy to go back to"):
        versions.roll_back(ADA)
    versions.apply(document(floor_nodes=9), ADA)
    assert (7, 1) == ((last := versions.roll_back(ADA)).version, last.restored_from)


def test_going_back_to_a_version_names_where_it_first_stood(database: Database) -> None:
    """What is in force already stays as it is."""
    versions = PolicyVersions(database)
    with pytest.raises(BadInput, match="no policy is in force yet"):
        versions.roll_back(ADA)
    for floor in (1, 2):
        versions.apply(document(floor_nodes=floor), ADA)
    third = versions.roll_back(ADA, 1)
    assert third == versions.roll_back(ADA, 3) == versions.roll_back(ADA, 1)
    assert 2 == versions.roll_back(ADA, 2).restored_from
    assert 1 == versions.roll_back(ADA, 3).restored_from
    with pytest.raises(BadInput, match="there is no policy version 9"):
        versions.roll_back(ADA, 9)


def test_a_shadow_is_never_in_force(database: Database) -> None:
    """It stands beside the live one until it is taken off or another takes its place."""
    versions = PolicyVersions(database)
    live = versions.apply(document(), ADA)
    assert versions.shadow() is None
    tried = versions.try_beside(document(floor_nodes=1), ADA)
    assert (live, tried, PolicyKind.SHADOW) == (
        versions.current(), versions.shadow(), tried.kind
    )  # fmt: skip
    assert tried == versions.try_beside(document(floor_nodes=1), replace(ADA, author="bob"))
    other = versions.try_beside(
        document(floor_nodes=2), replace(ADA, made_seconds=START_SECONDS + 9)
    )
    assert other == versions.shadow()
    assert START_SECONDS + 9 == versions.get(tried.version).ended_seconds
    assert other == versions.stop_trying(START_SECONDS + 10)
    assert versions.shadow() is None
    assert versions.stop_trying(START_SECONDS + 11) is None
    assert START_SECONDS + 10 == versions.get(other.version).ended_seconds
    assert live == versions.current()
    assert other.version == versions.roll_back(ADA, other.version).restored_from
    assert live.version == versions.roll_back(ADA).restored_from


@pytest.mark.parametrize("note", ["x" * 501, "two\nlines"])
def test_a_note_that_is_a_letter_is_refused(database: Database, note: str) -> None:
    """Nothing is applied."""
    with pytest.raises(BadInput, match="is not one line of at most 500 characters"):
        PolicyVersions(database).apply(document(), replace(ADA, note=note))
    assert PolicyVersions(database).current() is None
