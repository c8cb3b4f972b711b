"""What a pod requires of a node's labels, and whether any node pool has it.

A node pool is known by the labels that its nodes have had, all values of each. Where they differ
from node to node, and where a node pool is not known, a pod is taken to fit: that it waits for
nothing that will ever come must be certain.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

PoolLabels = Mapping[str, frozenset[str]]
Affinity = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Expression:
    """One condition on one label, as in a node selector term."""

    label: str
    operator: str
    values: frozenset[str] = frozenset()

    def fits(self, labels: PoolLabels) -> bool:
        """Whether a node of a node pool with these labels may meet it."""
        has = labels.get(self.label, frozenset())
        match self.operator:
            case "In":
                fits = bool(has & self.values)
            case "NotIn":
                fits = not has or bool(has - self.values)
            case "Exists":
                fits = bool(has)
            case "DoesNotExist":
                fits = not has
            case "Gt":
                fits = max(_numbers(has), default=-math.inf) > min(
                    _numbers(self.values), default=-math.inf
                )
            case "Lt":
                fits = min(_numbers(has), default=math.inf) < max(
                    _numbers(self.values), default=math.inf
                )
            case _:
                fits = True
        return fits


Requirement = tuple[tuple[Expression, ...], ...]
"""Alternatives, each of which has to be met in full; none at all is met by every node."""


def requirement(spec: Mapping[str, Any]) -> Requirement:
    """What a pod's spec requires: its node selector, and one term of its required affinity."""
    selector = tuple(
        Expression(label, "In", frozenset({value}))
        for label, value in (spec.get("nodeSelector") or {}).items()
    )
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = [
        tuple(
            Expression(one["key"], one["operator"], frozenset(one.get("values") or ()))
            for one in term.get("matchExpressions") or ()
        )
        for term in required.get("nodeSelectorTerms") or ()
    ]
    if not terms:
        return (selector,) if selector else ()
    return tuple(selector + term for term in terms)


def fits_any(wanted: Requirement, pools: Collection[PoolLabels]) -> bool:
    """Whether a node pool may meet it.

    Args:
        wanted: what a pod requires.
        pools: labels of each node pool, empty where they are not known; with no node pool at all,
            nothing is known.
    """
    if not wanted or not pools:
        return True
    return any(
        not labels or all(one.fits(labels) for one in alternative)
        for labels in pools
        for alternative in wanted
    )


def _numbers(values: Iterable[str]) -> list[int]:
    """Those of the values that are whole numbers."""
    return [int(one) for one in values if one.lstrip("-").isdecimal()]
