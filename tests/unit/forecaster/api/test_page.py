"""The page's own files as they are sent; what they do in a browser is tested in one."""

import gzip
import re
from pathlib import Path

import plotly
import pytest

from forecaster.api.page import router
from tests.fakes.service import Service

STATIC = Path(router.__file__).with_name("static")
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def test_the_page_is_there_without_a_token(guarded: Service) -> None:
    """It asks for one itself; what fills it does not come without."""
    answer = guarded.get("/")
    assert 200 == answer.status_code
    assert 'data-cluster-zone="UTC"' in answer.text
    assert 401 == guarded.get("/v1/pools").status_code


def test_the_page_may_load_nothing_but_its_own_files(local: Service) -> None:
    """Nothing inline, nothing from elsewhere, no frame around it."""
    policy = local.get("/").headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_the_text_of_the_page_holds_no_script_and_no_style(local: Service) -> None:
    """And names no other host."""
    text = local.get("/").text
    assert [] == re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*src=)|https?:", text)


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.*")), ids=lambda path: path.name)
def test_every_file_that_is_named_is_there(local: Service, path: Path) -> None:
    """A module's imports, and what the page links to, lead to files that are sent."""
    names = re.findall(r'(?:/page/|from "\./)([\w.-]+)"', path.read_text(encoding="utf-8"))
    assert [200] * len(names) == [local.get(f"/page/{name}").status_code for name in names]


def test_no_module_turns_text_into_markup() -> None:
    """What comes from outside is only ever text."""
    ways = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(")
    assert [] == [path.name for path in STATIC.glob("*.js") if ways.search(path.read_text("utf-8"))]


def test_plots_come_from_the_installed_package(local: Service) -> None:
    """Whole, compressed where the browser takes it, and not again while it holds it."""
    plain = local.get("/page/plotly.min.js", headers={"Accept-Encoding": "identity"})
    packed = local.get("/page/plotly.min.js", headers={"Accept-Encoding": "gzip, br"})
    assert PLOTLY.read_bytes() == plain.content == packed.content
    assert "gzip" == packed.headers["content-encoding"]
    assert plain.headers["etag"] != packed.headers["etag"]
    assert "text/javascript; charset=utf-8" == packed.headers["content-type"]
    held = {"Accept-Encoding": "gzip", "If-None-Match": packed.headers["etag"]}
    again = local.get("/page/plotly.min.js", headers=held)
    assert (304, b"") == (again.status_code, again.content)


def test_the_same_file_is_packed_the_same_way_each_time() -> None:
    """Two processes agree on the bytes behind an ETag."""
    packed = router._asset("page.css", "gzip").content
    assert gzip.compress((STATIC / "page.css").read_bytes(), mtime=0) == packed


@pytest.mark.parametrize("name", ["index.html", "router.py", "..%2Frouter.py", "no.js"])
def test_no_other_file_is_sent(local: Service, name: str) -> None:
    """Least of all one that lies beside them."""
    assert 404 == local.get(f"/page/{name}").status_code
