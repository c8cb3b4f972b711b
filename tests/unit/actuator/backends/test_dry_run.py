"""The dry run: it says what would be asked for, and there is nothing it could write to."""

from actuator.backends.back_end import Standing
from actuator.backends.dry_run import DryRun, check_options
from tests.fakes.requests import request


def test_it_says_what_would_be_asked_for() -> None:
    """With the nodes that would go, those to go first standing first."""
    up = DryRun().apply(request("dry_run", {}))
    assert (Standing.UNCHANGED, None) == (up.standing, up.asked_for)
    assert "would ask gpu-a for 3 nodes instead of 2" == up.detail
    down = request("dry_run", {}, desired_nodes=1, removable_nodes=("gpu-2", "gpu-1"))
    detail = DryRun().apply(down).detail
    assert "would ask gpu-a for 1 nodes instead of 2; may go: gpu-2" == detail


def test_it_says_when_nothing_would_change() -> None:
    """And that no node may go where none is named."""
    same = DryRun().apply(request("dry_run", {}, desired_nodes=2))
    assert "would leave gpu-a at 2 nodes" == same.detail
    assert "may go: none" in DryRun().apply(request("dry_run", {}, desired_nodes=1)).detail


def test_it_takes_the_options_of_any_other_back_end() -> None:
    """They may stand there before that one is chosen."""
    check_options(request("dry_run", {"group": "gpu"}).node_pool)
