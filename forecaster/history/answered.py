"""Which stretches of time a source has already answered for, so that they are not asked for again.

A stretch counts as answered even where the source knew nothing of it: nothing was there. This
record only saves work. When it is lost, or does not fit the files beside it, everything is asked
for once more; it must never be the reason that history stays away.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forecaster.files import replacing

Span = tuple[int, int]
_FILE_NAME = "answered.json"
_FORMAT = 1


def united(spans: Iterable[Span]) -> list[Span]:
    """The same stretches in order, those that touch made one."""
    result: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def without(spans: Sequence[Span], holes: Sequence[Span]) -> list[Span]:
    """What is left of the stretches outside of the holes."""
    left = united(spans)
    for hole_start, hole_end in united(holes):
        left = [
            piece
            for start, end in left
            for piece in ((start, min(end, hole_start)), (max(start, hole_end), end))
            if piece[0] < piece[1]
        ]
    return left


@dataclass(frozen=True)
class Answered:
    """What was answered so far, of all sources.

    Attributes:
        spans: stretches (start, end) by source and step.
        files: names of the store's files that the answers went into.
    """

    spans: dict[str, list[Span]] = field(default_factory=dict)
    files: frozenset[str] = frozenset()

    @classmethod
    def read(cls, directory: Path) -> "Answered":
        """The record beside the store's files; an empty one where there is none to trust."""
        try:
            record: dict[str, Any] = json.loads((directory / _FILE_NAME).read_bytes())
            if record["format"] != _FORMAT:
                return cls()
            spans = {
                str(source): united((int(start), int(end)) for start, end in answered)
                for source, answered in record["spans"].items()
            }
            return cls(spans, frozenset(str(name) for name in record["files"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def write(self, directory: Path) -> None:
        """Keep the record beside the store's files.

        Raises:
            BadInput: it cannot be written.
        """
        record = {"format": _FORMAT, "spans": self.spans, "files": sorted(self.files)}
        with replacing(directory / _FILE_NAME) as part:
            part.write_text(json.dumps(record), encoding="utf-8")

    def missing(self, source: str, wanted: Span) -> list[Span]:
        """What of the wanted stretch this source (as `source_key` names it) was not asked yet."""
        return without([wanted], self.spans.get(source, []))

    def plus(self, source: str, span: Span, files: Iterable[str]) -> "Answered":
        """The record with one more stretch answered, which went into these files."""
        spans = self.spans | {source: united([*self.spans.get(source, []), span])}
        return Answered(spans, self.files | frozenset(files))

    def forgetting(self, holes: Sequence[Span], files: Iterable[str]) -> "Answered":
        """The record with these stretches to be asked for again, and these files gone."""
        spans = {source: without(answered, holes) for source, answered in self.spans.items()}
        return Answered(spans, self.files - frozenset(files))


def source_key(name: str, step_seconds: int) -> str:
    """What stands for a source and step in the record; a digest, since a URL may hold a secret."""
    return f"{hashlib.sha256(name.encode()).hexdigest()[:16]}/{step_seconds}"
