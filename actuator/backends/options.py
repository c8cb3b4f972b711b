"""What a node pool's options say, read once and checked, each problem as one line.

Every back end reads its options through here, so that a policy can be refused before it is live.
It must not guess: an option that no back end knows is a mistake in writing.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from actuator.policy import NodePoolPolicy
from features.errors import BadInput

TOLERATION = re.compile(r"([^=:\s]+)(?:=([^:\s]*))?(?::(NoSchedule|PreferNoSchedule|NoExecute))?")


@dataclass(frozen=True)
class Options:
    """The options of one node pool.

    Attributes:
        where: node pool and back end, for messages.
        texts: option by name.
    """

    where: str
    texts: Mapping[str, str]

    @classmethod
    def of(cls, node_pool: NodePoolPolicy, back_end: str, known: Collection[str]) -> "Options":
        """The options of a node pool for this back end.

        Raises:
            BadInput: one of them is not known.
        """
        where = f"node pool '{node_pool.name}', back end {back_end}"
        for name in node_pool.options:
            if name not in known:
                raise BadInput(f"{where}: there is no option '{name}'; it knows {', '.join(known)}")
        return cls(where, node_pool.options)

    def text(self, name: str, default: str) -> str:
        """An option as it stands."""
        return self.texts.get(name, default)

    def needed(self, name: str) -> str:
        """An option that has no default.

        Raises:
            BadInput: it is missing or empty.
        """
        text = self.texts.get(name, "")
        if not text:
            raise BadInput(f"{self.where}: option '{name}' is missing")
        return text

    def choice(self, name: str, allowed: tuple[str, ...]) -> str:
        """One of some words, of which the first is the default.

        Raises:
            BadInput: it is another word.
        """
        text = self.texts.get(name, allowed[0])
        if text not in allowed:
            raise self._bad(name, f"one of {', '.join(allowed)}")
        return text

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number between two bounds.

        Raises:
            BadInput: it is none, or not between them.
        """
        try:
            number = int(self.texts.get(name, str(default)))
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise self._bad(name, f"a whole number from {least} to {most}")
        return number

    def positive(self, name: str, default: float) -> float:
        """A number above 0.

        Raises:
            BadInput: it is none.
        """
        try:
            number = float(self.texts.get(name, str(default)))
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            raise self._bad(name, "a number above 0")
        return number

    def pairs(self, name: str) -> dict[str, str]:
        """`key=value` pairs, separated by commas; at least one.

        Raises:
            BadInput: there is none, or one has no `=`.
        """
        parts = [part.strip() for part in self.needed(name).split(",")]
        if not all("=" in part and not part.startswith("=") for part in parts):
            raise self._bad(name, "like key=value,key=value")
        return dict(part.split("=", 1) for part in parts)

    def tolerations(self, name: str) -> list[dict[str, str]]:
        """Tolerations written as taints are, `key[=value][:effect]`, separated by commas.

        Raises:
            BadInput: one is not written so.
        """
        matches = [
            TOLERATION.fullmatch(part.strip())
            for part in self.texts.get(name, "").split(",")
            if part.strip()
        ]
        tolerations = []
        for match in matches:
            if match is None:
                raise self._bad(name, "like key=value:NoSchedule,key")
            key, value, effect = match.groups()
            one = {"key": key, "operator": "Exists" if value is None else "Equal"}
            tolerations.append(
                one | ({"value": value} if value is not None else {}) | _known(effect)
            )
        return tolerations

    def _bad(self, name: str, wanted: str) -> BadInput:
        return BadInput(f"{self.where}: option '{name}' is '{self.texts[name]}', not {wanted}")


def _known(effect: str | None) -> dict[str, str]:
    """A toleration without an effect tolerates every effect."""
    return {} if effect is None else {"effect": effect}
