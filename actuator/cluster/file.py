"""The state of a cluster in a JSON file, for tests, for the simulator, and to look into a decision.

A file that says anything we do not know is refused: a mistyped `protections` must never leave a
node unprotected.
"""

import json
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from actuator.state import ClusterState
from features.errors import BadInput

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class FileCluster:
    """A cluster as a file has it, read anew each time."""

    def __init__(self, path: Path) -> None:
        """Nothing is read before `state`."""
        self._path = path

    def state(self, now_seconds: int) -> ClusterState:
        """The cluster as it was when the file was written, whenever that was.

        Raises:
            BadInput: the file is missing, or not a state.
        """
        return read_state(self._path)


def read_state(path: Path) -> ClusterState:
    """The state in a file.

    Raises:
        BadInput: the file is missing, or not a state.
    """
    from pydantic import ValidationError

    try:
        text = path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"cannot read the state {path} ({error.strerror}); check the path"
        ) from error
    try:
        state = _adapter().validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        rest = f", and {error.error_count() - 1} more" if error.error_count() > 1 else ""
        raise BadInput(f"state {path}: {where}: {first['msg']}{rest}; correct the file") from error
    unknown = list(_unknown(json.loads(text), _adapter().dump_python(state, mode="json")))
    if wrong := [*(f"{where} is not known" for where in unknown), *_impossible(state)]:
        rest = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise BadInput(f"state {path}: {wrong[0]}{rest}; correct the file")
    return state


def write_state(path: Path, state: ClusterState) -> None:
    """Write a state, whole or not at all.

    Raises:
        BadInput: the file cannot be written.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(_adapter().dump_json(state, indent=1))
        beside.replace(path)
    except OSError as error:
        raise BadInput(f"cannot write the state {path} ({error.strerror}); check it") from error


@cache
def _adapter() -> "TypeAdapter[ClusterState]":
    from pydantic import TypeAdapter

    return TypeAdapter(ClusterState)


def _unknown(given: object, understood: object, where: str = "") -> Iterable[str]:
    """What a document says that its reader did not take in."""
    if isinstance(given, dict) and isinstance(understood, dict):
        for name, value in given.items():
            path = f"{where}.{name}".lstrip(".")
            if name in understood:
                yield from _unknown(value, understood[name], path)
            else:
                yield path
    elif isinstance(given, list) and isinstance(understood, list):
        for number, pair in enumerate(zip(given, understood, strict=True)):
            yield from _unknown(*pair, f"{where}.{number}")


def _impossible(state: ClusterState) -> Iterable[str]:
    """What no cluster can be."""
    for kind, things in (("node", state.nodes), ("pod", state.pods)):
        names: set[str] = set()
        for one in things:
            if one.name in names:
                yield f"{kind} {one.name} is there twice"
            names.add(one.name)
            if not 0 <= one.gpus < math.inf:
                yield f"{kind} {one.name} has {one.gpus} GPUs"
    for node in state.nodes:
        if node.gpu_utilisation is not None and not 0 <= node.gpu_utilisation <= 1:
            yield f"node {node.name} has a GPU utilisation of {node.gpu_utilisation}"
