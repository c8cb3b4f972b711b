"""The headers that every response carries, whatever became of the request.

A route that sets one of them itself is left its own.
"""

Headers = list[tuple[bytes, bytes]]

ALWAYS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
]

PAGE_POLICY = b"default-src 'none'; frame-ancestors 'none'"
"""What a page that says nothing of it may load: nothing."""


def completed(path: str, headers: Headers) -> Headers:
    """The headers of a response with those that it lacks.

    Args:
        path: of the request.
        headers: names in lower case, as ASGI has them.
    """
    given = dict(headers)
    wanted = list(ALWAYS)
    if path.startswith("/v1"):
        wanted.append((b"cache-control", b"no-store"))
    if given.get(b"content-type", b"").startswith(b"text/html"):
        wanted.append((b"content-security-policy", PAGE_POLICY))
    return [*headers, *((name, value) for name, value in wanted if name not in given)]
