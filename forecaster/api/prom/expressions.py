"""PromQL as far as it is answered: selectors, `offset`, three aggregations, plain numbers.

`promql-parser` reads the text; what is not answered is refused here by name, so that no query is
ever answered in part.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from forecaster.api.prom.errors import UNDERSTOOD, BadQuery, NotAnswered
from forecaster.api.prom.matchers import NAME, Matcher, MatchKind

if TYPE_CHECKING:
    import promql_parser

LONGEST_QUERY = 4_000
DEEPEST = 50
"""Levels of a query; reading and answering it call themselves for each."""


class Operation(StrEnum):
    """How series become one."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"


@dataclass(frozen=True)
class Number:
    """A plain number."""

    value: float


@dataclass(frozen=True)
class Selector:
    """Series whose labels match, as they were so long before.

    Attributes:
        matchers: what each label must be like; the name is the label `__name__`.
        offset_seconds: how long before; negative for later.
    """

    matchers: tuple[Matcher, ...]
    offset_seconds: float = 0.0


@dataclass(frozen=True)
class Aggregate:
    """Several series as one per group.

    Attributes:
        operation: how.
        labels: the labels by which they are grouped, or those without which they are.
        are_kept: whether groups are told apart by the labels, or by all others.
        inner: whose series.
    """

    operation: Operation
    labels: frozenset[str]
    are_kept: bool
    inner: "Expression"


Expression = Number | Selector | Aggregate


def parsed(query: str) -> Expression:
    """What a query asks for.

    Raises:
        BadQuery: it is no PromQL, or too long.
        NotAnswered: it asks for more than is answered here.
    """
    import promql_parser

    _check_size(query)
    try:
        found = promql_parser.parse(query)
    except ValueError as error:
        raise BadQuery(f"invalid parameter 'query': parse error: {error}") from error
    return _expression(found)


def formatted(query: str) -> str:
    """A query as Prometheus lays it out.

    Raises:
        BadQuery: it is no PromQL, or too long.
    """
    import promql_parser

    _check_size(query)
    try:
        return promql_parser.parse(query).prettify()
    except ValueError as error:
        raise BadQuery(f"invalid parameter 'query': {error}") from error


def selected(match: str) -> tuple[Matcher, ...]:
    """The matchers of a `match[]` parameter.

    Raises:
        BadQuery: it is no selector.
    """
    try:
        found = parsed(match)
    except NotAnswered as error:
        raise BadQuery(f"invalid parameter 'match[]': {error}") from error
    if not isinstance(found, Selector) or found.offset_seconds:
        raise BadQuery(f"invalid parameter 'match[]': '{match[:100]}' is no plain selector")
    return found.matchers


def _check_size(query: str) -> None:
    if len(query) > LONGEST_QUERY:
        raise BadQuery(f"the query has more than {LONGEST_QUERY} characters; shorten it")


def _expression(node: Any, depth: int = 0) -> Expression:
    import promql_parser

    if depth > DEEPEST:
        raise BadQuery(f"the query is nested more than {DEEPEST} deep; take it apart")
    if isinstance(node, promql_parser.ParenExpr):
        return _expression(node.expr, depth + 1)
    if isinstance(node, promql_parser.NumberLiteral):
        return Number(node.val)
    if isinstance(node, promql_parser.VectorSelector):
        return _selector(node)
    if isinstance(node, promql_parser.AggregateExpr):
        return _aggregate(node, depth)
    if isinstance(node, promql_parser.UnaryExpr):
        inner = _expression(node.expr, depth + 1)
        if isinstance(inner, Number):
            return Number(-inner.value)
    if isinstance(node, promql_parser.BinaryExpr):
        return _arithmetic(node, depth)
    what = f"the function '{node.func.name}'" if isinstance(node, promql_parser.Call) else "this"
    raise NotAnswered(f"{what} is not answered here: '{_shown(node)}'. {UNDERSTOOD}")


def _selector(node: "promql_parser.VectorSelector") -> Selector:
    if node.at is not None or node.matchers.or_matchers:
        raise NotAnswered(f"'@' and 'or' are not answered here: '{_shown(node)}'. {UNDERSTOOD}")
    kinds = {str(kind): kind for kind in MatchKind}
    named = (Matcher(NAME, MatchKind.EQUAL, node.name),) if node.name else ()
    matchers = tuple(
        Matcher(one.name, kinds[_SIGNS[str(one.op)]], one.value) for one in node.matchers.matchers
    )
    offset = node.offset
    return Selector((*named, *matchers), offset.total_seconds() if offset is not None else 0.0)


def _aggregate(node: "promql_parser.AggregateExpr", depth: int) -> Aggregate:
    import promql_parser

    name = str(node.op)
    if name not in set(Operation):
        raise NotAnswered(f"the aggregation '{name}' is not answered here. {UNDERSTOOD}")
    modifier = node.modifier
    inner = _expression(node.expr, depth + 1)
    if isinstance(inner, Number):
        raise BadQuery(f"'{name}' takes series, not a number: '{_shown(node)}'")
    are_kept = modifier is None or modifier.type == promql_parser.AggModifierType.By
    return Aggregate(
        Operation(name), frozenset(modifier.labels if modifier else ()), are_kept, inner
    )


def _arithmetic(node: "promql_parser.BinaryExpr", depth: int) -> Number:
    left, right = (_expression(one, depth + 1) for one in (node.lhs, node.rhs))
    sign = str(node.op)
    if not isinstance(left, Number) or not isinstance(right, Number) or sign not in "+-*/":
        raise NotAnswered(
            f"'{sign}' is answered between plain numbers alone: '{_shown(node)}'. {UNDERSTOOD}"
        )
    if sign == "/" and not right.value:
        return Number(math.copysign(math.inf, left.value) if left.value else math.nan)
    return Number(
        {
            "+": left.value + right.value,
            "-": left.value - right.value,
            "*": left.value * right.value,
            "/": left.value / (right.value or 1.0),
        }[sign]
    )


def _shown(node: Any) -> str:
    return str(node)[:100]


_SIGNS = {
    "MatchOp.Equal": "=",
    "MatchOp.NotEqual": "!=",
    "MatchOp.Re": "=~",
    "MatchOp.NotRe": "!~",
}
