"""The page and its own files; nothing is fetched from elsewhere, and nothing is built.

What it shows comes from `/v1`, with the token of whoever looks at it. It must never let the browser
run or load anything but the files named here.
"""

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated

from fastapi import APIRouter, Header, Response

from forecaster.api.etags import etag_of, is_held
from forecaster.api.parameters import IfNoneMatch
from forecaster.api.security import Context
from forecaster.database.refusals import NotThere

PLOTLY = "plotly.min.js"
MAP_STYLES = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"
"""Styles for maps that plotly 4.1 adds as it loads. Nothing here needs them; a browser that may not
take them says so in its console, which shall stay empty."""

MEDIA_TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' {MAP_STYLES}",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""Stricter than what any other page may do: no style in the text, no form that leaves."""

AcceptEncoding = Annotated[str, Header()]

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Asset:
    """A file of the page, as it is sent.

    Attributes:
        content: its bytes, or what gzip makes of them.
        etag: names the content.
        headers: what it is.
    """

    content: bytes
    etag: str
    headers: dict[str, str]


@router.get("/")
async def page(context: Context) -> Response:
    """The page; it needs no token to be seen, only to be filled."""
    zone = escape(context.workspace.zone.key)
    text = Template(_static("index.html").decode()).substitute(cluster_zone=zone)
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
    return Response(text, media_type="text/html", headers=headers)


@router.get("/page/{name}")
def asset(
    name: str, if_none_match: IfNoneMatch = None, accept_encoding: AcceptEncoding = ""
) -> Response:
    """One of the page's files."""
    if name not in asset_names():
        raise NotThere(f"the page has no file '{name[:100]}'")
    sent = _asset(name, "gzip" if "gzip" in accept_encoding else "identity")
    headers = sent.headers | {"ETag": sent.etag, "Cache-Control": "no-cache"}
    if is_held(if_none_match, sent.etag):
        return Response(status_code=304, headers=headers)
    return Response(sent.content, headers=headers)


@cache
def asset_names() -> frozenset[str]:
    """All files that the page may load."""
    own = (one.name for one in files(__package__).joinpath("static").iterdir())
    return frozenset({PLOTLY, *(name for name in own if name.rpartition(".")[2] in MEDIA_TYPES)})


@cache
def _asset(name: str, encoding: str) -> Asset:
    plain = _plotly() if name == PLOTLY else _static(name)
    content = gzip.compress(plain, mtime=0) if encoding == "gzip" else plain
    media_type = MEDIA_TYPES[name.rpartition(".")[2]]
    headers = {"Content-Type": f"{media_type}; charset=utf-8", "Vary": "Accept-Encoding"}
    if encoding == "gzip":
        headers["Content-Encoding"] = encoding
    digest = sha256(plain).hexdigest()[:16]
    return Asset(content, etag_of(f"{digest}-{encoding}"), headers)


def _static(name: str) -> bytes:
    return files(__package__).joinpath("static", name).read_bytes()


def _plotly() -> bytes:
    """Drawing, from the installed package, without importing it."""
    where = distribution("plotly").locate_file(f"plotly/package_data/{PLOTLY}")
    return Path(str(where)).read_bytes()
