"""What a repository refuses, by what the caller can do about it; each is one line for the user.

They are told apart so that the API can answer each with a status of its own.
"""

from features.errors import BadInput


class NotThere(BadInput):
    """What was asked for does not exist."""


class AlreadyThere(BadInput):
    """Something of that name exists, and is another thing."""


class TooMany(BadInput):
    """There is no room for one more."""
