"""How many CPUs this process may really use, which in a container is not how many there are.

A pod that is limited to two CPUs of a machine of 96 sees all 96; whoever starts 96 workers there
is throttled most of the time and runs out of memory. Nothing here may rest on the machine's number
of cores alone. `joblib.cpu_count` is close, but sees a limit on the outermost group only, and
rounds up.
"""

import os
from collections.abc import Iterable
from pathlib import Path

CGROUP_MOUNT = "sys/fs/cgroup"
V1_CONTROLLER = "cpu"


def whole_cpus(allowed_cpus: int, quotas_cpus: Iterable[float]) -> int:
    """The CPUs to plan with: the tightest of all limits, rounded down, and at least one.

    Rounded down because 1.5 CPUs that are used by two threads are spent after three quarters of
    each period, and then everything stands still, answers to users included.

    Args:
        allowed_cpus: CPUs that the process may be scheduled on.
        quotas_cpus: CPU time that its groups may use per time; none where nothing limits them.
    """
    return max(1, int(min([allowed_cpus, *quotas_cpus])))


def quota_of_v2(cpu_max: str) -> float | None:
    """The CPUs of a `cpu.max`, such as `150000 100000`; None for `max` and for what is no limit."""
    quota, _, period = cpu_max.strip().partition(" ")
    return _ratio(quota, period or "100000")


def quota_of_v1(quota_microseconds: str, period_microseconds: str) -> float | None:
    """The CPUs of `cpu.cfs_quota_us` and `cpu.cfs_period_us`; None for -1 and what is no limit."""
    return _ratio(quota_microseconds.strip(), period_microseconds.strip())


def group_paths(proc_cgroup: str) -> tuple[str | None, str | None]:
    """The groups of a `/proc/self/cgroup`: that of version 2, and that of version 1's `cpu`."""
    version_2 = version_1 = None
    for line in proc_cgroup.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            version_2 = path
        elif V1_CONTROLLER in controllers.split(","):
            version_1 = path
    return version_2, version_1


def cpus_allowed(root: Path = Path("/")) -> int:
    """CPUs that this process may use now.

    Args:
        root: directory in which `proc` and `sys` are found.
    """
    return whole_cpus(_schedulable_cpus(), _quotas(root))


def _quotas(root: Path) -> list[float]:
    """The limits of this process's groups and of every group around them."""
    version_2, version_1 = group_paths(_text(root / "proc/self/cgroup") or "")
    mount = root / CGROUP_MOUNT
    found = [quota_of_v2(_text(group / "cpu.max") or "") for group in _outward(mount, version_2)]
    for group in _outward(mount / V1_CONTROLLER, version_1):
        quota, period = _text(group / "cpu.cfs_quota_us"), _text(group / "cpu.cfs_period_us")
        found.append(quota_of_v1(quota or "", period or ""))
    return [quota for quota in found if quota is not None]


def _outward(mount: Path, path: str | None) -> list[Path]:
    """The directories of a group and of those around it, out to the mount.

    In a container the mount often is the group itself and the path one of the host's; what does not
    exist below the mount limits nothing.
    """
    if path is None:
        return []
    inside = Path(path.strip("/"))
    return [mount / inside, *(mount / around for around in inside.parents)]


def _schedulable_cpus() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def _ratio(quota: str, period: str) -> float | None:
    if not (quota.isdecimal() and period.isdecimal()):
        return None
    return int(quota) / int(period) if int(quota) and int(period) else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
