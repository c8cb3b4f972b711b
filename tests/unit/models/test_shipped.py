"""The trees that come with the package: whole, small, travelling, and refused when damaged."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

from features.calendar import CalendarSettings, ClusterCalendar
from features.errors import BadInput
from features.events import NoKnownEvents
from models.backtest import backtest, scores
from models.combined import Combined
from models.forecast import Horizon
from models.pretrained import OWN_OF_A_CLUSTER
from models.protocol import Context
from models.shipped import SHIPPED, read_trees, shipped_trees, write_trees
from tests.fakes.demand import tidal_panel

CONTEXT = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())


@pytest.fixture
def copied(tmp_path):
    return shutil.copytree(SHIPPED, tmp_path / "trees")


def test_shipped_trees_are_small_and_credited():
    """Under a megabyte, with licence and credit for every trace they were grown on."""
    files = [path for path in SHIPPED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_000_000
    manifest = json.loads((SHIPPED / "manifest.json").read_text())
    assert ["CC-BY-4.0", "MIT"] == [trace["licence"] for trace in manifest["traces"]]
    assert all(trace["credit"] for trace in manifest["traces"])


def test_what_is_a_clusters_own_is_hidden_from_them():
    """Trees that travel know neither the clock nor the calendar of where they were grown."""
    trees = shipped_trees()
    assert not OWN_OF_A_CLUSTER & set(trees.quantiles.inputs)
    assert not OWN_OF_A_CLUSTER & set(trees.hazard.inputs)


@pytest.mark.parametrize("name", ["hazard.txt", "inputs.json", "peak_0.9.txt"])
def test_a_flipped_bit_is_refused_before_it_is_parsed(copied, name):
    """The digest is checked first, and the line says which file."""
    path = copied / "trees" / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadInput, match=f"{name} has another SHA-256"):
        read_trees(copied)


def test_a_missing_file_is_refused(copied):
    """Trees that are not whole are not used."""
    (copied / "trees" / "path_0.5.txt").unlink()
    with pytest.raises(BadInput, match="not whole"):
        read_trees(copied)


def test_written_trees_read_back_to_the_byte(tmp_path):
    """Writing the same trees twice gives the same files, and reading gives the same trees."""
    trees = shipped_trees()
    write_trees(tmp_path / "a", trees, {"step_seconds": 300})
    write_trees(tmp_path / "b", read_trees(tmp_path / "a"), {"step_seconds": 300})
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file():
            assert (
                path.read_bytes()
                == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
            )


def test_they_serve_from_the_second_day():
    """With two days of history, and no trees of their own, pools get more than persistence."""
    panel = tidal_panel(days=2)
    fitted = Combined(pretrained=shipped_trees()).fit(panel, CONTEXT)
    assert () == fitted.own.quantiles.inputs
    origin = np.array([len(panel)])
    with_them = fitted.predict(panel, origin, CONTEXT).peak
    alone = Combined(own_after_days=8, pretrained=shipped_trees()).fit(panel, CONTEXT)
    without = dataclasses.replace(alone, pretrained=Combined().pretrained)
    assert np.isfinite(with_them).all()
    assert np.abs(with_them - without.predict(panel, origin, CONTEXT).peak).max() > 0.5


def test_they_cost_little_on_a_cluster_where_nothing_travels():
    """On bursts that no history foretells, the combination stays close to persistence."""
    result = backtest(tidal_panel(days=6), [Combined(pretrained=shipped_trees())], CONTEXT, days=4)
    ratios = [one.pinball_ratio[0.9] for one in scores(result) if one.model == "combined"]
    assert np.exp(np.mean(np.log(ratios))) < 1.03
