"""Fitted models on disk: plain files with a manifest, checked before anything parses them.

The only module of `models` that touches the disk. It never unpickles and never imports what a file
names; a file whose digest differs from the manifest's is refused whole.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from features.errors import BadInput

MANIFEST_FILE = "manifest.json"
CHAMPION_FILE = "champion.json"


@dataclass(frozen=True)
class Manifest:
    """What a saved model is and what it was made from.

    Attributes:
        model: its name in the zoo.
        version: when it was trained, as text that sorts by time.
        step_seconds: step of the series it was trained on.
        pools: the pools it was trained on, as text.
        first_seconds: Unix time at which its training history began.
        last_seconds: Unix time at which its training history ended.
        digests: SHA-256 of every file, by name.
    """

    model: str
    version: str
    step_seconds: int
    pools: tuple[str, ...]
    first_seconds: int
    last_seconds: int
    digests: Mapping[str, str]


@dataclass(frozen=True)
class ModelRegistry:
    """Versions of fitted models side by side, and which of them is the champion.

    Attributes:
        directory: holds one folder per version and a small file that names the champion.
    """

    directory: Path

    def save(self, manifest: Manifest, artifact: Mapping[str, bytes]) -> None:
        """Keep a fitted model as a new version, whole or not at all; it is not yet the champion.

        Args:
            manifest: what it is; its digests are filled in here.
            artifact: the files.

        Raises:
            BadInput: the directory cannot be written, or the version exists.
        """
        digests = {name: digest(content) for name, content in artifact.items()}
        described = json.dumps({**asdict(manifest), "digests": digests}, indent=1, sort_keys=True)
        place = self.directory / _plain_name(manifest.version)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            fresh = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=self.directory))
            for name, content in artifact.items():
                _write_durably(fresh / _plain_name(name), content)
            _write_durably(fresh / MANIFEST_FILE, described.encode())
            fresh.rename(place)
        except OSError as error:
            raise BadInput(
                f"the model cannot be saved in {place}: {error.strerror}; free some space or "
                "choose another data directory"
            ) from error

    def load(self, version: str) -> tuple[Manifest, dict[str, bytes]]:
        """A version's manifest and files, every digest checked before anything parses them.

        Raises:
            BadInput: there is no such version, or a file is missing, altered or too many.
        """
        place = self.directory / _plain_name(version)
        try:
            plain = json.loads((place / MANIFEST_FILE).read_bytes())
            manifest = Manifest(**{**plain, "pools": tuple(plain["pools"])})
            artifact = {name: (place / _plain_name(name)).read_bytes() for name in plain["digests"]}
        except FileNotFoundError as error:
            raise BadInput(
                f"model version {version} is not whole: {error.filename} is missing; train again"
            ) from error
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadInput(
                f"model version {version} in {place} is damaged ({error}); train again"
            ) from error
        for name, content in artifact.items():
            if digest(content) != manifest.digests[name]:
                raise BadInput(
                    f"{place / name} is not what was saved: its SHA-256 differs from the "
                    "manifest's; train again"
                )
        return manifest, artifact

    def versions(self) -> tuple[str, ...]:
        """The versions there are, oldest first."""
        if not self.directory.exists():
            return ()
        return tuple(
            sorted(found.parent.name for found in self.directory.glob(f"[!.]*/{MANIFEST_FILE}"))
        )

    def champion(self) -> str | None:
        """The version that forecasts are made with, or None before the first promotion.

        Raises:
            BadInput: the file that names it is damaged.
        """
        path = self.directory / CHAMPION_FILE
        try:
            return str(json.loads(path.read_bytes())["version"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadInput(f"{path} is damaged ({error}); delete it and train again") from error

    def promote(self, version: str) -> None:
        """Make a version the champion; the change is one atomic rename.

        Raises:
            BadInput: there is no such version, or it is damaged, or the disk refuses.
        """
        self.load(version)
        try:
            fresh = self.directory / f".{CHAMPION_FILE}"
            _write_durably(fresh, json.dumps({"version": version}).encode())
            fresh.replace(self.directory / CHAMPION_FILE)
        except OSError as error:
            raise BadInput(
                f"the champion cannot be named in {self.directory}: {error.strerror}"
            ) from error


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _plain_name(name: str) -> str:
    if not name or Path(name).name != name:
        raise BadInput(f"'{name}' is not a plain file name")
    return name


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
