"""The pre-trained trees that come with the package, checked before anything parses them.

Beside `models.registry` the only module of `models` that touches the disk. It reads what was
installed and nothing else; a file whose digest is not the manifest's is refused.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from features.errors import BadInput
from models.pretrained import TreePair
from models.registry import digest

SHIPPED = Path(__file__).parent / "pretrained_trees"
MANIFEST_FILE = "manifest.json"
TREES = "trees"


def write_trees(directory: Path, trees: TreePair, origin: Mapping[str, object]) -> int:
    """Write trees and their manifest, the same to the byte for the same trees.

    Args:
        directory: holds the manifest, and the files in a folder of their own.
        trees: what to write.
        origin: what they were grown on, for the manifest.

    Returns:
        Bytes written.
    """
    folder = directory / TREES
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    artifact = trees.artifact()
    for name, content in artifact.items():
        (folder / name).write_bytes(content)
    manifest = {**origin, "digests": {name: digest(artifact[name]) for name in sorted(artifact)}}
    text = json.dumps(manifest, indent=1, sort_keys=True) + "\n"
    (directory / MANIFEST_FILE).write_text(text)
    return len(text) + sum(len(content) for content in artifact.values())


def read_trees(directory: Path) -> TreePair:
    """The trees of a directory, every digest checked first.

    Raises:
        BadInput: a file is missing or is not what the manifest says.
    """
    try:
        manifest = json.loads((directory / MANIFEST_FILE).read_bytes())
        artifact = {
            name: (directory / TREES / Path(name).name).read_bytes() for name in manifest["digests"]
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"the pre-trained trees in {directory} are not whole ({error}); install again"
        ) from error
    for name, content in artifact.items():
        if digest(content) != manifest["digests"][name]:
            raise BadInput(
                f"the pre-trained trees in {directory} are damaged: {name} has another SHA-256 "
                "than the manifest says; install again"
            )
    return TreePair.restored(artifact)


@cache
def shipped_trees() -> TreePair:
    """The trees that come with this version.

    Raises:
        BadInput: the installation is damaged.
    """
    return read_trees(SHIPPED)
