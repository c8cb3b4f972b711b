"""The name of what is forecast and sized on its own: one GPU type and one shape.

It must never guess: demand whose split into shapes is not known is `mixed`, not whole-node.
"""

from dataclasses import dataclass
from enum import StrEnum

from features.errors import BadInput


class Shape(StrEnum):
    """How a job uses nodes: whole ones, a part of one, or (where the source cannot tell) either."""

    WHOLE_NODE = "whole-node"
    FRAGMENT = "fragment"
    MIXED = "mixed"


_SHAPES_BY_NAME = {
    "whole-node": Shape.WHOLE_NODE,
    "whole": Shape.WHOLE_NODE,
    "fragment": Shape.FRAGMENT,
    "frag": Shape.FRAGMENT,
}


@dataclass(frozen=True, order=True)
class Pool:
    """One pool, written `a100/whole-node`; a mixed pool is written with its GPU type alone.

    Attributes:
        gpu_type: the GPU type as the cluster names it; any non-empty text.
        shape: whole nodes, fragments, or mixed where the source does not tell them apart.
    """

    gpu_type: str
    shape: Shape

    def __post_init__(self) -> None:
        if not self.gpu_type.strip():
            raise BadInput("a pool needs a GPU type: write it as 'a100/whole-node'")

    def __str__(self) -> str:
        if self.shape is Shape.MIXED:
            return self.gpu_type
        return f"{self.gpu_type}/{self.shape}"

    @classmethod
    def parse(cls, text: str) -> "Pool":
        """Read a pool as it is written; a name without a known shape behind a slash is mixed.

        Raises:
            BadInput: the text is empty.
        """
        gpu_type, slash, shape = text.strip().rpartition("/")
        if slash and shape in _SHAPES_BY_NAME:
            return cls(gpu_type, _SHAPES_BY_NAME[shape])
        return cls(text.strip(), Shape.MIXED)
