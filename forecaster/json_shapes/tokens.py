"""What the commands of `tidecast token` print."""

from typing import Literal

from forecaster.json_shapes.base import Shape


class KnownToken(Shape):
    """A token, without the token itself; printed by `tidecast token revoke`."""

    identifier: str
    """The part of it that may be shown."""

    name: str
    """Whose it is."""

    scopes: list[Literal["announce", "operate", "read"]]
    """What it allows."""

    made_seconds: int
    """Unix time at which it was made."""

    expires_seconds: int | None
    """Unix time from which it no longer counts; null for never."""

    revoked_seconds: int | None
    """Unix time at which it was revoked; null if it was not."""


class TokenAnswer(KnownToken):
    """Printed by `tidecast token create`, once."""

    token: str
    """The token itself; nobody can be shown it again."""


class TokensAnswer(Shape):
    """Printed by `tidecast token list`."""

    tokens: list[KnownToken]
    """Newest first."""
