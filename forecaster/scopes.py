"""What a token of the API may allow; it needs no database to say so."""

from enum import StrEnum


class Scope(StrEnum):
    """What a token allows; each stands for itself alone."""

    READ = "read"
    ANNOUNCE = "announce"
    OPERATE = "operate"
