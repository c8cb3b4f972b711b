"""Fitted models on disk: plain files with a manifest, checked before anything parses them.

The only place that forecasts are served from: versions of any model side by side, and the record
of which of them was made champion, when and why. It never unpickles and never imports what a file
names; a file whose digest differs from the manifest's is refused whole. Whatever happens while
something is written, what stood there before stands there still.
"""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from features.errors import BadInput
from models.succession import Promotion, promoted, rolled_back, standing

MANIFEST_FILE = "manifest.json"
CHAMPION_FILE = "champion.json"
LOCK_FILE = ".lock"


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
        data_digest: SHA-256 of the history it was trained on.
        code_version: version of Tidecast that trained it.
        scores: loss on the judged days as a ratio to persistence, by measure.
        reasons: why it was made champion when it was trained, or was not; one line each.
    """

    model: str
    version: str
    step_seconds: int
    pools: tuple[str, ...]
    first_seconds: int
    last_seconds: int
    digests: Mapping[str, str] = field(default_factory=dict)
    data_digest: str = ""
    code_version: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelRegistry:
    """Versions of fitted models side by side, and which of them is the champion.

    Attributes:
        directory: holds one folder per version and a small file with the promotions.
    """

    directory: Path

    def save(self, manifest: Manifest, artifact: Mapping[str, bytes]) -> Manifest:
        """Keep a fitted model as a new version, whole or not at all; it is not yet the champion.

        Args:
            manifest: what it is; its digests are filled in here, and its version gets a counter
                where another one was made in the same second.
            artifact: the files.

        Returns:
            The manifest as it was saved.

        Raises:
            BadInput: the directory cannot be written.
        """
        digests = {name: digest(content) for name, content in artifact.items()}
        with self._only_writer():
            saved = replace(manifest, version=self._free_version(manifest.version), digests=digests)
            fresh = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=self.directory))
            for name, content in artifact.items():
                _write_durably(fresh / _plain_name(name), content)
            _write_durably(fresh / MANIFEST_FILE, _sealed(asdict(saved)))
            fresh.chmod(0o755)
            fresh.rename(self.directory / saved.version)
        return saved

    def manifest(self, version: str) -> Manifest:
        """What a version is, without its files.

        Raises:
            BadInput: there is no such version, or its manifest is damaged.
        """
        path = self.directory / _plain_name(version) / MANIFEST_FILE
        try:
            plain = _unsealed(path.read_bytes())
            lists = {name: tuple(plain[name]) for name in ("pools", "reasons")}
            return Manifest(**{**plain, **lists})
        except FileNotFoundError as error:
            raise BadInput(
                f"there is no model version {version}; 'tidecast models list' has all"
            ) from error
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadInput(f"{path} is damaged ({error}); train again") from error

    def load(self, version: str) -> tuple[Manifest, dict[str, bytes]]:
        """A version's manifest and files, every digest checked before anything parses them.

        Raises:
            BadInput: there is no such version, or a file is missing or altered.
        """
        manifest = self.manifest(version)
        place = self.directory / version
        try:
            artifact = {name: (place / _plain_name(name)).read_bytes() for name in manifest.digests}
        except OSError as error:
            raise BadInput(
                f"model version {version} is not whole: {error.filename} cannot be read "
                f"({error.strerror}); train again"
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
        found = self.directory.glob(f"[!.]*/{MANIFEST_FILE}")
        return tuple(sorted((path.parent.name for path in found), key=_age_order))

    def promotions(self) -> tuple[Promotion, ...]:
        """Every promotion there was, oldest first.

        Raises:
            BadInput: the file that lists them is damaged.
        """
        path = self.directory / CHAMPION_FILE
        try:
            plain = _unsealed(path.read_bytes())
            return tuple(
                Promotion(**{**one, "reasons": tuple(one["reasons"])})
                for one in plain["promotions"]
            )
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadInput(
                f"{path} is damaged ({error}); delete it, and name a champion again with "
                "'tidecast models promote VERSION'"
            ) from error

    def champion(self) -> str | None:
        """The version that forecasts are made with, or None before the first promotion.

        Raises:
            BadInput: the file that names it is damaged.
        """
        return next(iter(standing(self.promotions())), None)

    def promote(self, version: str, now_seconds: int, reasons: tuple[str, ...] = ()) -> None:
        """Make a version the champion; the change is one atomic rename.

        Args:
            version: must be whole.
            now_seconds: Unix time, for the record.
            reasons: why, one line each.

        Raises:
            BadInput: there is no such version, or it is damaged, or the disk refuses.
        """
        self.load(version)
        with self._only_writer():
            change = Promotion(version, now_seconds, reasons)
            self._record(promoted(self.promotions(), change))

    def roll_back(self) -> str:
        """Withdraw the champion; the whole one before it is champion again.

        Returns:
            The version that is champion now.

        Raises:
            BadInput: there is none before it that is whole, or the disk refuses.
        """
        with self._only_writer():
            promotions = self.promotions()
            for version in standing(promotions)[1:]:
                with suppress(BadInput):
                    self.load(version)
                    self._record(rolled_back(promotions, version))
                    return version
        raise BadInput(
            "there is no earlier champion to go back to; see 'tidecast models list', and choose "
            "one with 'tidecast models promote VERSION'"
        )

    def prune(self, keep: int) -> tuple[str, ...]:
        """Remove the oldest versions, but never the champion nor the one to go back to.

        Args:
            keep: how many of the newest stay.

        Returns:
            The versions that were removed, oldest first.

        Raises:
            BadInput: the promotions cannot be read, or the disk refuses.
        """
        with self._only_writer():
            needed = set(standing(self.promotions())[:2])
            old = [one for one in self.versions()[:-keep] if one not in needed]
            for version in old:
                gone = self.directory / f".removed-{version}"
                (self.directory / version).rename(gone)  # so that no half version is ever seen
                shutil.rmtree(gone)
        return tuple(old)

    def _record(self, promotions: tuple[Promotion, ...]) -> None:
        fresh = self.directory / f".{CHAMPION_FILE}"
        _write_durably(fresh, _sealed({"promotions": [asdict(one) for one in promotions]}))
        fresh.replace(self.directory / CHAMPION_FILE)

    def _free_version(self, wanted: str) -> str:
        """The wanted version, with the next counter where its second has versions already."""
        moment, _ = _age_order(_plain_name(wanted))
        taken = [number for at, number in map(_age_order, self.versions()) if at == moment]
        return f"{moment}-{max(taken) + 1}" if taken else wanted

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        """Hold the registry for writing; the system gives the lock back however its holder ends."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            with (self.directory / LOCK_FILE).open("ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                for pattern in (".unfinished-*", ".removed-*"):
                    for leftover in self.directory.glob(pattern):
                        shutil.rmtree(leftover)
                yield
                _sync(self.directory)
        except OSError as error:
            raise BadInput(
                f"{self.directory}: models cannot be saved there ({error.strerror or error}); "
                "free some space or choose another data directory"
            ) from error


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _sealed(plain: Mapping[str, object]) -> bytes:
    """JSON that carries the digest of its own content."""
    body = {name: value for name, value in plain.items() if name != "sha256"}
    canonical = json.dumps(body, sort_keys=True)
    sealed = {**json.loads(canonical), "sha256": digest(canonical.encode())}
    return json.dumps(sealed, indent=1, sort_keys=True).encode()


def _unsealed(content: bytes) -> dict[str, Any]:
    """The inverse; raises ValueError or KeyError where the content is not what was sealed."""
    plain = json.loads(content)
    seal = plain.pop("sha256")
    if digest(json.dumps(plain, sort_keys=True).encode()) != seal:
        raise ValueError("its SHA-256 differs from the one it carries")
    return dict(plain)


def _age_order(version: str) -> tuple[str, int]:
    """Sorts versions by their second, and within it by their counter."""
    moment, _, number = version.partition("-")
    return moment, int(number) if number.isdecimal() else 1


def _plain_name(name: str) -> str:
    if not name or name in {".", ".."} or Path(name).name != name:
        raise BadInput(f"'{name}' is not a plain file name")
    return name


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(directory: Path) -> None:
    """Make renames last through a power cut."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
