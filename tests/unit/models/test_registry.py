"""Saved models: whole or not at all, and refused when a single bit differs."""

import itertools
import shutil
from pathlib import Path

import pytest

from features.errors import BadInput
from models import registry as registry_module
from models.registry import Manifest, ModelRegistry, digest

FILES = {"a.txt": b"tree", "b.json": b"{}"}


def manifest(version, model="lightgbm"):
    return Manifest(model, version, 300, ("a100/fragment",), 0, 600)


@pytest.fixture
def registry(tmp_path):
    made = ModelRegistry(tmp_path / "models")
    made.save(manifest("v1"), FILES)
    return made


def test_saved_model_reads_back(registry):
    """Files and manifest come back as they were, with their digests."""
    described, artifact = registry.load("v1")
    assert artifact == FILES
    assert {name: digest(content) for name, content in FILES.items()} == described.digests
    assert described.pools == ("a100/fragment",)


def test_champion_is_named_only_by_promotion(registry):
    """Saving changes nothing for those who forecast; promoting does."""
    assert registry.champion() is None
    registry.promote("v1", 0)
    assert "v1" == registry.champion()
    registry.save(manifest("v2"), FILES)
    assert "v1" == registry.champion()
    assert ("v1", "v2") == registry.versions()


@pytest.mark.parametrize("position", [0, 3])
def test_flipped_bit_is_refused(registry, position):
    """A single flipped bit anywhere in a file is found before anything parses it."""
    path = registry.directory / "v1" / "a.txt"
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadInput, match="its SHA-256 differs"):
        registry.load("v1")


def test_missing_file_is_refused(registry):
    """A version that lost a file is not whole."""
    (registry.directory / "v1" / "b.json").unlink()
    with pytest.raises(BadInput, match="v1 is not whole"):
        registry.load("v1")


def test_altered_manifest_is_refused(registry):
    """A manifest says of itself whether it is what was written."""
    path = registry.directory / "v1" / "manifest.json"
    path.write_text(path.read_text().replace('"last_seconds": 600', '"last_seconds": 900'))
    with pytest.raises(BadInput, match="SHA-256 differs from the one it carries"):
        registry.load("v1")


@pytest.mark.parametrize("name", ["../v1", "..", ".", "", "a/b"])
def test_no_name_leads_out_of_the_directory(registry, name):
    """Neither a version nor a file can be a path."""
    with pytest.raises(BadInput, match="not a plain file name"):
        registry.load(name)
    with pytest.raises(BadInput, match="not a plain file name"):
        registry.save(manifest("v2"), {name: b""})
    assert ("v1",) == registry.versions()


def test_damaged_model_is_not_promoted(registry):
    """Promotion checks what it promotes."""
    (registry.directory / "v1" / "a.txt").write_bytes(b"other")
    with pytest.raises(BadInput, match="SHA-256"):
        registry.promote("v1", 0)
    assert registry.champion() is None


def test_unfinished_save_is_invisible(registry):
    """What a kill left behind is no version."""
    (registry.directory / ".unfinished-x").mkdir()
    assert registry.versions() == ("v1",)


def test_versions_of_the_same_second_get_a_counter(registry):
    """Nothing saved is ever written over; the order is that of saving."""
    names = [registry.save(manifest("v1"), {"a.txt": b"%d" % n}).version for n in range(2, 12)]
    assert [f"v1-{number}" for number in range(2, 12)] == names
    assert ("v1", *names) == registry.versions()
    assert FILES == registry.load("v1")[1]
    registry.prune(2)
    assert "v1-12" == registry.save(manifest("v1"), FILES).version
    assert {"a.txt": b"11"} == registry.load("v1-11")[1]


def test_versions_of_all_models_stand_side_by_side(registry):
    """There is one champion, whatever its model."""
    registry.save(manifest("v2", "persistence"), {"p.json": b"{}"})
    registry.promote("v1", 1, ("first",))
    registry.promote("v2", 2, ("better",))
    assert "persistence" == registry.manifest(registry.champion()).model
    assert [("v1", ("first",)), ("v2", ("better",))] == [
        (one.version, one.reasons) for one in registry.promotions()
    ]


def test_rollback_goes_back_one_champion_at_a_time(registry):
    """And says so when there is none to go back to."""
    for number in (2, 3):
        registry.save(manifest(f"v{number}"), FILES)
    for number in (1, 2, 3):
        registry.promote(f"v{number}", number)
    assert "v2" == registry.roll_back() == registry.champion()
    assert "v1" == registry.roll_back() == registry.champion()
    with pytest.raises(BadInput, match="no earlier champion"):
        registry.roll_back()
    assert "v1" == registry.champion()


def test_rollback_passes_over_a_damaged_version(registry):
    """What cannot serve is not made champion."""
    for number in (2, 3):
        registry.save(manifest(f"v{number}"), FILES)
    for number in (1, 2, 3):
        registry.promote(f"v{number}", number)
    (registry.directory / "v2" / "a.txt").write_bytes(b"other")
    assert "v1" == registry.roll_back() == registry.champion()


def test_old_versions_go_but_never_the_champion_and_the_one_before(registry):
    """The newest stay, and the two that matter."""
    for number in range(2, 8):
        registry.save(manifest(f"v{number}"), FILES)
    registry.promote("v1", 1)
    registry.promote("v3", 2)
    assert ("v2", "v4", "v5") == registry.prune(2)
    assert ("v1", "v3", "v6", "v7") == registry.versions()
    assert () == registry.prune(2)
    assert "v1" == registry.roll_back()


class Killed(BaseException):
    """The process ends here."""


def killed_at(monkeypatch, call):
    """End the process at one of its writes, renames and removals, counted from 0.

    A write is cut off in its middle.
    """
    counter = itertools.count()
    whole_write = registry_module._write_durably

    def write(path, content):
        if next(counter) == call:
            path.write_bytes(content[: len(content) // 2])
            raise Killed
        whole_write(path, content)

    def mortal(function):
        def lives(*arguments, **options):
            if next(counter) == call:
                raise Killed
            return function(*arguments, **options)

        return lives

    monkeypatch.setattr(registry_module, "_write_durably", write)
    monkeypatch.setattr(Path, "rename", mortal(Path.rename))
    monkeypatch.setattr(Path, "replace", mortal(Path.replace))
    monkeypatch.setattr(shutil, "rmtree", mortal(shutil.rmtree))


def test_killed_at_any_moment_a_champion_stands(tmp_path, monkeypatch):
    """The old one or the new one, whole; and the next training finds nothing in its way."""
    kills = 0
    for call in itertools.count():
        registry = ModelRegistry(tmp_path / str(call))
        for number in (1, 2, 3):
            registry.save(manifest(f"v{number}"), FILES)
            registry.promote(f"v{number}", number)
        with monkeypatch.context() as patched:
            killed_at(patched, call)
            try:
                registry.save(manifest("v4"), FILES)
                registry.promote("v4", 4)
                registry.prune(2)
                break
            except Killed:
                kills += 1
        assert registry.champion() in {"v3", "v4"}
        assert FILES == registry.load(registry.champion())[1]
        for version in registry.versions():
            assert FILES == registry.load(version)[1]
        assert "v5" == registry.save(manifest("v5"), FILES).version
        assert [] == list(registry.directory.glob(".unfinished-*"))
        assert [] == list(registry.directory.glob(".removed-*"))
    assert kills >= 8


def test_a_full_or_read_only_disk_is_one_line(tmp_path):
    """And nothing is lost."""
    (tmp_path / "models").write_text("a file where the directory should be")
    with pytest.raises(BadInput, match="models cannot be saved there"):
        ModelRegistry(tmp_path / "models").save(manifest("v1"), FILES)


def test_damaged_champion_file_is_said(registry):
    """A champion file that cannot be read is an error, not 'no champion'."""
    (registry.directory / "champion.json").write_text("{")
    with pytest.raises(BadInput, match="damaged"):
        registry.champion()
