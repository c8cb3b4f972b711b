"""Saved models: whole or not at all, and refused when a single bit differs."""

import json

import pytest

from features.errors import BadInput
from models.registry import Manifest, ModelRegistry, digest

FILES = {"a.txt": b"tree", "b.json": b"{}"}


def manifest(version):
    return Manifest("lightgbm", version, 300, ("a100/fragment",), 0, 600, {})


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
    registry.promote("v1")
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


def test_manifest_cannot_lead_out_of_its_folder(registry):
    """A manifest that names a path is refused."""
    path = registry.directory / "v1" / "manifest.json"
    plain = json.loads(path.read_text())
    plain["digests"] = {"../v1/a.txt": digest(b"tree")}
    path.write_text(json.dumps(plain))
    with pytest.raises(BadInput, match="not a plain file name"):
        registry.load("v1")


def test_damaged_model_is_not_promoted(registry):
    """Promotion checks what it promotes."""
    (registry.directory / "v1" / "a.txt").write_bytes(b"other")
    with pytest.raises(BadInput, match="SHA-256"):
        registry.promote("v1")
    assert registry.champion() is None


def test_unfinished_save_is_invisible(registry):
    """What a kill left behind is no version."""
    (registry.directory / ".unfinished-x").mkdir()
    assert registry.versions() == ("v1",)


def test_version_is_written_once(registry):
    """A version never changes; saving it again is refused."""
    with pytest.raises(BadInput, match="cannot be saved"):
        registry.save(manifest("v1"), {"a.txt": b"other"})
    assert registry.load("v1")[1] == FILES


def test_damaged_champion_file_is_said(registry):
    """A champion file that cannot be read is an error, not 'no champion'."""
    (registry.directory / "champion.json").write_text("{")
    with pytest.raises(BadInput, match="damaged"):
        registry.champion()
