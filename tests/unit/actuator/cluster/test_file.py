"""A state comes back from its file as it went in, and nothing else is taken for one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actuator.cluster.file import FileCluster, read_state, write_state
from actuator.state import ClusterState, Node, Pod
from features.errors import BadInput

NODE: dict[str, Any] = {
    "name": "n",
    "node_pool": "a",
    "zone": "",
    "capacity_type": "spot",
    "created_seconds": 1,
    "gpus": 8,
    "ready": True,
}
STATE: dict[str, Any] = {"taken_seconds": 1, "nodes": [NODE], "pods": [], "synced": True}
SECONDS = st.integers(0, 2**40)
GPUS = st.floats(0, 1000, allow_nan=False)
STATES = st.builds(
    ClusterState,
    taken_seconds=SECONDS,
    nodes=st.lists(
        st.builds(
            Node,
            name=st.text(max_size=5),
            created_seconds=SECONDS,
            gpus=GPUS,
            gpu_utilisation=st.none() | st.floats(0, 1),
        ),
        max_size=3,
        unique_by=lambda node: node.name,
    ).map(tuple),
    pods=st.lists(
        st.builds(Pod, name=st.text(max_size=5), gpus=GPUS),
        max_size=3,
        unique_by=lambda pod: pod.name,
    ).map(tuple),
)


@given(STATES)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_state_survives_its_file(tmp_path: Path, state: ClusterState) -> None:
    """Every field of it, and no other file is left behind."""
    path = tmp_path / "state.json"
    write_state(path, state)
    assert state == read_state(path) == FileCluster(path).state(0)
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the whole: Invalid JSON"),
        ("[]", "the whole: "),
        ("{}", "taken_seconds: Field required, and 3 more"),
        (json.dumps({**STATE, "syncd": True}), "syncd is not known"),
        (json.dumps({**STATE, "nodes": [{**NODE, "gpus": "8"}]}), r"nodes\.0\.gpus: "),
        (json.dumps({**STATE, "nodes": [{**NODE, "protection": []}]}), r"nodes\.0\.protection is"),
        (json.dumps({**STATE, "nodes": [{**NODE, "capacity_type": "free"}]}), "capacity_type: "),
        (json.dumps({**STATE, "nodes": [NODE, NODE]}), "node n is there twice"),
        (json.dumps({**STATE, "nodes": [{**NODE, "gpus": -1}]}), "node n has -1.0 GPUs"),
        (json.dumps({**STATE, "nodes": [{**NODE, "gpus": float("nan")}]}), "node n has nan GPUs"),
        (json.dumps({**STATE, "nodes": [{**NODE, "gpu_utilisation": 20}]}), "utilisation of 20.0"),
    ],
)
def test_what_is_no_state_is_refused_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    """With the file, the place in it, and what is wrong."""
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=f"state {path}: .*{says}") as caught:
        read_state(path)
    assert "\n" not in str(caught.value)


def test_the_state_of_these_tests_is_one(tmp_path: Path) -> None:
    """What is refused above is refused for what was changed."""
    path = tmp_path / "state.json"
    path.write_text(json.dumps(STATE))
    assert 8.0 == read_state(path).nodes[0].gpus


def test_a_path_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """Reading and writing alike."""
    missing = tmp_path / "nowhere" / "state.json"
    with pytest.raises(BadInput, match=r"cannot read the state .*No such file"):
        read_state(missing)
    with pytest.raises(BadInput, match=r"cannot write the state .*No such file"):
        write_state(missing, ClusterState(0, (), (), synced=True))
