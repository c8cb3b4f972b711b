"""From a YAML text to a policy document, or to a line for every problem in it; and back to YAML.

Text comes from strangers too, through the API: it never makes objects, never grows while it is
read, and never comes into force by half.
"""

import hashlib
import json
from typing import Any

import yaml
from pydantic import ValidationError

from features.errors import BadInput
from forecaster.policy.document import PolicyDocument
from forecaster.policy.pools import CHECK_NODE_POOL, CheckNodePool
from forecaster.settings.problems import KnownKeys, yaml_problem

MOST_CHARACTERS = 2_000_000
MOST_PROBLEMS = 100

_KEYS = KnownKeys(PolicyDocument, page="docs/reference/policy.md")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where it is there


class _OneOfEach(_LOADER):  # type: ignore[misc,valid-type]  # one of two, chosen above
    """A loader that refuses what YAML would let pass: a key that is written twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        if len(mapping) < len(node.value):
            raise yaml.constructor.ConstructorError(
                None, None, "a key is written twice in one group", node.start_mark
            )
        return mapping


def read_policy(text: str, place: str, check_node_pool: CheckNodePool) -> PolicyDocument:
    """A policy document from its text.

    Args:
        text: YAML.
        place: where it comes from, for messages.
        check_node_pool: raises BadInput for a node pool that its back end cannot serve.

    Raises:
        BadInput: it is not YAML, or breaks a rule; one line for each problem.
    """
    return checked_policy(_content(text, place), place, check_node_pool)


def checked_policy(content: object, place: str, check_node_pool: CheckNodePool) -> PolicyDocument:
    """The same from what a YAML or JSON text held.

    Raises:
        BadInput: it breaks a rule; one line for each problem.
    """
    return _checked(content, place, {CHECK_NODE_POOL: check_node_pool})


def stored_policy(content: object, place: str) -> PolicyDocument:
    """A policy document from the JSON that an earlier one was stored as.

    Raises:
        BadInput: this program no longer understands it.
    """
    return _checked(content, place, {})


def policy_content(document: PolicyDocument) -> dict[str, Any]:
    """What the document says, as JSON: what is stored, shown and compared."""
    return document.model_dump(mode="json", exclude_none=True)


def canonical_yaml(document: PolicyDocument) -> str:
    """The one text of a document: every key in the reference's order, no default left unsaid.

    A version is shown by it, and two versions are compared by it. It is ASCII, the rest escaped: no
    text in it can play tricks on a terminal.
    """
    return yaml.safe_dump(policy_content(document), sort_keys=False, width=100)


def policy_digest(document: PolicyDocument) -> str:
    """SHA-256 of what the document says, whatever it was written like."""
    return hashlib.sha256(json.dumps(policy_content(document)).encode()).hexdigest()


def _checked(content: object, place: str, context: dict[str, Any]) -> PolicyDocument:
    try:
        return PolicyDocument.model_validate_json(_as_json(content, place), context=context)
    except ValidationError as error:
        lines = [_KEYS.problem(detail, place) for detail in error.errors()]
        more = len(lines) - MOST_PROBLEMS
        told = [f"{place}: and {more} problems more"] if more > 0 else []
        raise BadInput("\n".join(lines[:MOST_PROBLEMS] + told)) from None


def _as_json(content: object, place: str) -> str:
    """JSON is read strictly: what YAML made a date or a set is text again and fits nowhere."""
    try:
        return json.dumps(content, default=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"{place}: {_refused(error)}") from None


def _content(text: str, place: str) -> dict[str, Any]:
    if len(text) > MOST_CHARACTERS:
        raise BadInput(f"{place}: is longer than {MOST_CHARACTERS} characters; shorten it")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_LOADER)):
            raise BadInput(f"{place}: uses an alias (*name); write its content out")
        content = yaml.load(text, Loader=_OneOfEach)  # noqa: S506 - a safe loader's subclass
    except yaml.YAMLError as error:
        raise BadInput(f"{place}: {yaml_problem(error)}") from None
    except (RecursionError, ValueError) as error:
        raise BadInput(f"{place}: {_refused(error)}") from None
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise BadInput(f"{place}: must hold 'key: value' lines; {_KEYS.page} has all")
    return content


def _refused(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply; a policy has no more than four levels"
    return (
        f"holds a key or a value that a policy cannot have ({' '.join(str(error).split())[:200]})"
    )
