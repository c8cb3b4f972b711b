"""Policies and decisions on the command line: what programs get, and what is left behind."""

import getpass
from pathlib import Path
from typing import TypeVar

import pytest

from forecaster.database.policy_versions import PolicyVersions
from forecaster.json_shapes import (
    DecisionAnswer,
    DecisionsAnswer,
    ExplanationAnswer,
    PoliciesAnswer,
    PolicyAnswer,
    PolicyChangeAnswer,
    PolicyDiffAnswer,
    ShadowOffAnswer,
    Shape,
)
from forecaster.wiring import Workspace
from tests.fakes.command_line import Command, files_in
from tests.fakes.decisions import DONE, POOL, START_SECONDS, document, event, put_on_record

Answer = TypeVar("Answer", bound=Shape)


@pytest.fixture(autouse=True)
def around(policy_files: Path) -> None:
    """Policies to apply lie in the working directory."""


def answered(tidecast: Command, shape: type[Answer], *arguments: str) -> Answer:
    """What a command answers to a program."""
    ran = tidecast(*arguments, "--output", "json")
    assert ("", 0) == (ran.err, ran.code)
    return shape.model_validate_json(ran.out)


def test_a_program_gets_each_step_of_a_policys_life(tidecast: Command) -> None:
    """Apply, apply again, try, go back: each says what is so now."""
    first = answered(tidecast, PolicyChangeAnswer, "policy", "apply", "policy.yaml")
    assert (1, True, "in-force", []) == (
        first.policy_version, first.is_new, first.standing, first.changes
    )  # fmt: skip
    again = answered(tidecast, PolicyChangeAnswer, "policy", "apply", "policy.yaml")
    assert (1, False) == (again.policy_version, again.is_new)
    tried = answered(tidecast, PolicyChangeAnswer, "policy", "shadow", "higher.yaml")
    assert (2, True, "shadow") == (tried.policy_version, tried.is_new, tried.standing)
    assert "+  ceiling_nodes: 30" in tried.changes
    still = answered(tidecast, PolicyChangeAnswer, "policy", "shadow", "higher.yaml")
    assert (2, False, "shadow") == (still.policy_version, still.is_new, still.standing)
    answered(tidecast, PolicyChangeAnswer, "policy", "apply", "higher.yaml")
    back = answered(tidecast, PolicyChangeAnswer, "policy", "rollback")
    assert (4, 1, "in-force") == (back.policy_version, back.restored_from, back.standing)
    listed = answered(tidecast, PoliciesAnswer, "policy", "list").versions
    assert ["in-force", "past", "shadow", "past"] == [one.standing for one in listed]
    assert first.sha256 == back.sha256 != tried.sha256
    off = answered(tidecast, ShadowOffAnswer, "policy", "shadow", "--off")
    assert 2 == off.ended_version
    assert answered(tidecast, ShadowOffAnswer, "policy", "shadow", "--off").ended_version is None


def test_a_version_is_shown_and_compared_as_it_was_written(tidecast: Command) -> None:
    """By number, and a file like a version."""
    tidecast("policy", "apply", "policy.yaml", "--author", "ada", "--note", "first")
    tidecast("policy", "apply", "higher.yaml")
    shown = answered(tidecast, PolicyAnswer, "policy", "show", "1")
    assert ("ada", "first", "past", document()) == (
        shown.author, shown.note, shown.standing, shown.document
    )  # fmt: skip
    in_force = answered(tidecast, PolicyAnswer, "policy", "show")
    assert (2, "in-force") == (in_force.policy_version, in_force.standing)
    assert getpass.getuser() == in_force.author
    found = answered(tidecast, PolicyDiffAnswer, "policy", "diff", "1", "higher.yaml")
    assert ("version 1", "higher.yaml") == (found.before, found.after)
    assert ["-  ceiling_nodes: 20", "+  ceiling_nodes: 30"] == [
        line for line in found.changes[2:] if line[0] in "+-"
    ]


def test_a_bad_file_changes_nothing(tidecast: Command) -> None:
    """Neither what is in force nor what is tried; not even a database is made."""
    for command in (("apply", "bad.yaml"), ("shadow", "bad.yaml"), ("apply", ".")):
        assert 2 == tidecast("policy", *command).code
    assert not Path("tidecast-data").exists()
    tidecast("policy", "apply", "policy.yaml")
    before = files_in(Path("tidecast-data"))
    for command in (("apply", "bad.yaml"), ("shadow", "bad.yaml")):
        assert 2 == tidecast("policy", *command).code
    assert before == files_in(Path("tidecast-data"))


def test_a_user_without_a_name_is_no_obstacle(
    tidecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container may run under a number that nobody has named."""

    def nobody() -> str:
        raise KeyError("uid not found: 10001")

    monkeypatch.setattr(getpass, "getuser", nobody)
    made = answered(tidecast, PolicyChangeAnswer, "policy", "apply", "policy.yaml")
    assert "unknown" == made.author


def test_a_rollback_is_what_the_next_cycle_reads(tidecast: Command) -> None:
    """No service need be told."""
    tidecast("policy", "apply", "policy.yaml")
    tidecast("policy", "apply", "higher.yaml")
    with Workspace.open(None).open_database() as database:
        versions = PolicyVersions(database)
        before = versions.current()
        tidecast("policy", "rollback")
        after = versions.current()
    assert before is not None
    assert after is not None
    assert (30, 20) == tuple(one.policy.pools[0].ceiling_nodes for one in (before, after))


def test_a_program_gets_decisions_page_by_page_and_whole(tidecast: Command) -> None:
    """With their outcomes, and null where something is not known."""
    with Workspace.open(None).open_database() as database:
        put_on_record(database)
    first = answered(tidecast, DecisionsAnswer, "audit", "list", "--limit", "4")
    assert first.cursor is not None
    rest = answered(tidecast, DecisionsAnswer, "audit", "list", "--cursor", first.cursor)
    assert rest.cursor is None
    standings = [one.standing for one in (*first.decisions, *rest.decisions)]
    assert ["open", "closed", "closed", "open", "abandoned", "closed"] == standings
    assert [False, True, False, False] == [one.is_shadow for one in first.decisions]
    done = event(0, version=1)
    shown = answered(tidecast, DecisionAnswer, "audit", "show", done.identifier)
    assert [("a100-spot", 5, 7, "done", DONE.detail, 7)] == [
        (
            one.node_pool, one.current_nodes, one.desired_nodes,
            one.outcome, one.detail, one.asked_for,
        )
        for one in shown.actions
    ]  # fmt: skip
    assert (START_SECONDS + 5, f"{POOL} by persistence 1") == (shown.closed_seconds, shown.forecast)
    assert 10 == shown.thresholds["ceiling_nodes"]
    waiting = answered(
        tidecast, DecisionAnswer, "audit", "show", event(2, version=1).identifier
    ).actions
    assert [(None, None, None)] == [(one.outcome, one.detail, one.asked_for) for one in waiting]
    unknown = answered(tidecast, DecisionAnswer, "audit", "show", first.decisions[2].identifier)
    assert unknown.seen["demand_gpus"] is None
    told = answered(tidecast, ExplanationAnswer, "audit", "explain", done.identifier)
    assert told.identifier == done.identifier
    assert "a100-spot (dry_run): 7 nodes where there were 5: done, asked for 7 nodes" in (
        told.happened
    )
