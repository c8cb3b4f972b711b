"""The CPUs to plan with come from what the process is allowed, whoever limits it."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.cpu_quota import (
    cpus_allowed,
    group_paths,
    quota_of_v1,
    quota_of_v2,
    whole_cpus,
)

SCHEDULABLE = 16


@pytest.fixture(autouse=True)
def large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process may be scheduled on sixteen CPUs, whatever the machine has."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(SCHEDULABLE)), raising=False)


def machine(root: Path, files: dict[str, str]) -> Path:
    """A made-up root with these files in it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="ascii")
    return root


@pytest.mark.parametrize(
    ("cpu_max", "expected"),
    [
        ("200000 100000\n", 2.0),
        ("150000 100000\n", 1.5),
        ("50000", 0.5),
        ("max 100000\n", None),
        ("", None),
        ("0 100000", None),
        ("100000 0", None),
        ("lots 100000", None),
    ],
)
def test_a_quota_of_version_2_is_time_per_period(cpu_max: str, expected: float | None) -> None:
    """`max`, and what cannot be a quota, is no limit."""
    assert expected == quota_of_v2(cpu_max)


@pytest.mark.parametrize(
    ("quota", "period", "expected"),
    [
        ("250000\n", "100000\n", 2.5),
        ("-1\n", "100000\n", None),
        ("", "", None),
        ("100000", "0", None),
    ],
)
def test_a_quota_of_version_1_is_time_per_period(
    quota: str, period: str, expected: float | None
) -> None:
    """-1, and what cannot be a quota, is no limit."""
    assert expected == quota_of_v1(quota, period)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0::/kubepods/pod1/container\n", ("/kubepods/pod1/container", None)),
        ("4:memory:/a\n3:cpu,cpuacct:/docker/1\n2:cpuset:/b\n", (None, "/docker/1")),
        ("1:cpu:/a\n0::/b\n", ("/b", "/a")),
        ("1:name=systemd:/\n", (None, None)),
        ("", (None, None)),
    ],
)
def test_groups_are_found_by_their_controller(
    text: str, expected: tuple[str | None, str | None]
) -> None:
    """`cpu` is neither `cpuset` nor `cpuacct`; version 2 names no controller."""
    assert expected == group_paths(text)


@given(
    st.integers(1, 512),
    st.lists(st.floats(0.001, 1000), max_size=4),
)
def test_planned_cpus_are_within_every_limit(allowed: int, quotas: list[float]) -> None:
    """Rounded down, and never less than the one that there must be."""
    planned = whole_cpus(allowed, quotas)
    tightest = min([allowed, *quotas])
    assert planned == 1 or planned <= tightest
    assert planned > tightest - 1


def test_without_a_quota_the_schedulable_cpus_count(tmp_path: Path) -> None:
    """Nothing to read is no limit, and the machine's number of cores is not asked."""
    assert SCHEDULABLE == cpus_allowed(tmp_path)
    unlimited = {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"}
    assert SCHEDULABLE == cpus_allowed(machine(tmp_path, unlimited))


def test_in_a_container_of_version_2_its_own_limit_counts(tmp_path: Path) -> None:
    """The container sees its group as the root."""
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "350000 100000\n"}
    assert 3 == cpus_allowed(machine(tmp_path, files))


def test_a_limit_around_the_own_group_counts(tmp_path: Path) -> None:
    """A service without a limit may be in a slice that has one; the tighter one wins."""
    mount = "sys/fs/cgroup"
    files = {
        "proc/self/cgroup": "0::/work.slice/inner/tidecast.service\n",
        f"{mount}/work.slice/cpu.max": "200000 100000\n",
        f"{mount}/work.slice/inner/cpu.max": "max 100000\n",
        f"{mount}/work.slice/inner/tidecast.service/cpu.max": "800000 100000\n",
    }
    assert 2 == cpus_allowed(machine(tmp_path, files))


def test_in_a_container_of_version_1_the_mount_counts(tmp_path: Path) -> None:
    """The path is the host's and does not exist here; the mount is the container's group."""
    files = {
        "proc/self/cgroup": "3:cpu,cpuacct:/kubepods/pod1/container\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }
    assert 4 == cpus_allowed(machine(tmp_path, files))


def test_a_nested_group_of_version_1_counts(tmp_path: Path) -> None:
    """On the host the path leads to the group."""
    files = {
        "proc/self/cgroup": "3:cpu:/a/b\n",
        "sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "500000\n",
        "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
    }
    assert 5 == cpus_allowed(machine(tmp_path, files))


def test_less_than_one_cpu_is_still_one(tmp_path: Path) -> None:
    """Somebody has to do the work."""
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "20000 100000\n"}
    assert 1 == cpus_allowed(machine(tmp_path, files))


def test_pinned_cpus_count_where_they_are_fewer_than_the_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`taskset` and static CPU policies limit too."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "800000 100000\n"}
    assert 2 == cpus_allowed(machine(tmp_path, files))
