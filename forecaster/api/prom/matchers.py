"""Label matchers: `=`, `!=`, `=~` and `!~`, with a missing label read as an empty one.

Patterns run in RE2, as they do in Prometheus: whatever a caller sends, they take linear time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from forecaster.api.prom.errors import BadQuery

NAME = "__name__"
Labels = Mapping[str, str]
Item = TypeVar("Item")


class MatchKind(StrEnum):
    """How a label's value is compared."""

    EQUAL = "="
    NOT_EQUAL = "!="
    PATTERN = "=~"
    NOT_PATTERN = "!~"


@dataclass(frozen=True)
class Matcher:
    """What a label's value must be like.

    Attributes:
        label: its name.
        kind: how it is compared.
        value: text, or an RE2 pattern that fits the whole of the value.
    """

    label: str
    kind: MatchKind
    value: str

    def keeps(self, values: Sequence[str]) -> list[bool]:
        """Which of these values it lets by.

        Raises:
            BadQuery: the pattern is none.
        """
        if self.kind in (MatchKind.PATTERN, MatchKind.NOT_PATTERN):
            found = _fits(values, self.value)
        else:
            found = [one == self.value for one in values]
        if self.kind in (MatchKind.NOT_EQUAL, MatchKind.NOT_PATTERN):
            return [not one for one in found]
        return found


def all_match(
    items: Sequence[Item], matchers: Sequence[Matcher], labels_of: Callable[[Item], Labels]
) -> list[Item]:
    """The items whose labels pass every matcher, in their order.

    Raises:
        BadQuery: a pattern is none.
    """
    left = list(items)
    for matcher in matchers:
        kept = matcher.keeps([labels_of(one).get(matcher.label, "") for one in left])
        left = [one for one, keep in zip(left, kept, strict=True) if keep]
    return left


def _fits(values: Sequence[str], pattern: str) -> list[bool]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        found = pc.match_substring_regex(pa.array(values, pa.string()), f"^(?s:{pattern})$")
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        raise BadQuery(f"'{pattern[:100]}' is no regular expression: {error}") from error
    return [bool(one) for one in found.to_pylist()]
