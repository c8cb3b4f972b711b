"""What can go wrong with input, as one clear line each, and the value that says 'not known'.

Every message names what is wrong, where, and what to do about it. No outside library's exception
may leave a source: it is turned into one of these.
"""

from dataclasses import dataclass


class TidecastError(Exception):
    """Base of every error a user can act on; its text is one line: what, where, what to do."""


class BadInput(TidecastError):
    """A file, an argument or a setting that cannot be used as it is."""


class SourceUnavailable(TidecastError):
    """An outside system that did not answer, or answered only in part."""


@dataclass(frozen=True)
class Unavailable:
    """Stands where a value would be when it is not known; never to be read as zero.

    Attributes:
        reason: why it is not known and what would make it known, in one line.
    """

    reason: str
