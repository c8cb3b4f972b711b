"""Ten thousand bad policies, and the one in force stays what it was.

Each is a good document with one thing wrong: a value of the wrong type or out of range,
a key that is missing, unknown or written twice, a rule that is broken, or a text cut short.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actuator.backends.table import check_node_pool
from features.errors import BadInput
from forecaster.database import Database
from forecaster.database.policy_versions import Authorship, PolicyVersions
from forecaster.policy import PolicyDocument, checked_policy, read_policy

CASES = 10_000
GOOD: Any = {
    "pools": [
        {
            "pool": "a100/whole-node",
            "mode": "act",
            "strategy": {"idle_gpu_hour": 1.5, "waiting_hour": 3},
            "node_gpus": 8,
            "floor_nodes": 1,
            "ceiling_nodes": 9,
            "node_pools": [
                {"name": "spot", "capacity_type": "spot", "most_nodes": 5, "node_hour_price": 9.5},
                {"name": "fast", "back_end": "dry_run"},
            ],
            "schedule": [
                {
                    "cron": "0 9 * * 1-5",
                    "duration_seconds": 60,
                    "least_nodes": 2,
                    "on_holidays": False,
                }
            ],
        }
    ],
    "budget": {"most_gpus": 100},
    "guards": {"quiet_seconds": 60, "step_limit_share": 0.3},
    "cycle_seconds": 60,
}
REQUIRED = {"pool", "node_gpus", "node_pools", "name", "cron", "duration_seconds", "least_nodes"}

Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Every place in a document at which something stands."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in items:
        yield (*place, key)
        if isinstance(inside, dict | list):
            yield from places(inside, (*place, key))


def wrong(value: Any, rng: random.Random) -> Any:
    """Something that never fits where the value stands."""
    text = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz{}[]:#&*!|>'\"%@`\n\t\u2603", k=9))
    number = rng.randint(1, 10**9)
    choices: list[Any] = [[], [text], [number], {text: number}]
    if isinstance(value, bool):
        choices += [text, number, 0, 1, "yes"]
    elif isinstance(value, int | float):
        choices += [text, f"{value}", True, -number, -number / 7, 10**12 * number]
        choices += [float("nan"), float("inf"), float("-inf")]
    elif isinstance(value, str):
        choices += [number, number / 7, True, ""]
    elif isinstance(value, list):
        choices = [text, number, True, {text: number}, [number], [text], [[]]]
    else:
        choices = [text, number, True, [text], {text: number}]
    return rng.choice(choices)


def spoiled(good: Any, rng: random.Random, every: list[Place]) -> Any:
    """A document with one thing wrong, as a text where only that can be wrong so."""
    made = json.loads(json.dumps(good))
    place = rng.choice(every)
    group = made
    for key in place[:-1]:
        group = group[key]
    last, kind = place[-1], rng.randrange(10)
    if kind == 0:
        text = json.dumps(made)
        return text[: rng.randrange(len(text))]
    if kind == 1 and last in REQUIRED:
        del group[last]
    elif kind == 2 and isinstance(group, dict) and "options" not in place:
        group[f"{last}_{rng.randrange(10**6)}"] = rng.random()
    elif kind == 3:
        pool = rng.choice(made["pools"])
        pool["floor_nodes"] = pool["ceiling_nodes"] + rng.randint(1, 10**4)
    elif kind == 4:
        pool = rng.choice(made["pools"])
        pool["node_pools"].append(rng.choice(rng.choice(made["pools"])["node_pools"]))
    elif kind == 5 and isinstance(group, dict):
        twice = f"{json.dumps(last)}: 1, {json.dumps(last)}: {json.dumps(group[last])}"
        group[last] = "TWICE"
        return json.dumps(made).replace(f'{json.dumps(last)}: "TWICE"', twice, 1)
    else:
        group[last] = wrong(group[last], rng)
    return made


def read(given: Any) -> PolicyDocument:
    """A document from a text or from what a text held."""
    reads = read_policy if isinstance(given, str) else checked_policy
    return reads(given, "policy.yaml", check_node_pool)


def test_ten_thousand_bad_policies_leave_the_one_in_force_alone(tmp_path: Path) -> None:
    """Each is refused with lines that say why, before anything is written."""
    good = read(json.dumps(GOOD))
    every = list(places(GOOD))
    rng = random.Random(11)
    with Database.open(f"sqlite:///{tmp_path / 'tidecast.db'}") as database:
        versions = PolicyVersions(database)
        live = versions.apply(good, Authorship("ada", 0))
        for _ in range(CASES):
            bad = spoiled(GOOD, rng, every)
            with pytest.raises(BadInput) as refused:
                versions.apply(read(bad), Authorship("eve", 1))
            lines = str(refused.value).splitlines()
            assert lines
            assert all(line.startswith("policy.yaml: ") for line in lines), bad
        assert (live,) == versions.versions()
        assert live == versions.current()
        assert good == live.document
