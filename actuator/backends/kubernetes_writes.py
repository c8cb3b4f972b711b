"""What every back end that writes to Kubernetes has in common: paths, comparison, convergence.

Writes carry the version that was read, so that a write by somebody else in between is noticed and
looked at; they are made only where something differs. Nothing from outside leaves as an exception.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from actuator.backends.back_end import Outcome, Standing
from actuator.cluster.api_errors import Conflict, NotThere
from actuator.cluster.connection import Json, KubernetesConnection
from features.errors import TidecastError

MANAGER = "tidecast"
MANAGED_BY = {"app.kubernetes.io/managed-by": "tidecast"}
ATTEMPTS = 4
LONGEST_NAME = 52  # pods of a Deployment or a Job add up to eleven characters, and a label holds 63


def fixed_name(*exact: str) -> str:
    """A name for an object that serves this and nothing else: always the same, and readable.

    Args:
        exact: what it serves; these differ where any two names must differ.
    """
    whole = " ".join(exact)
    readable = re.sub(r"[^a-z0-9]+", "-", whole.lower()).strip("-")
    digest = hashlib.sha256(whole.encode()).hexdigest()[:8]
    return f"{f'tidecast-{readable}'[: LONGEST_NAME - len(digest) - 1].rstrip('-')}-{digest}"


def is_ours(there: Json) -> bool:
    """Whether Tidecast made an object."""
    return agrees(there["metadata"].get("labels"), MANAGED_BY)


def path_of(api_version: str, plural: str, namespace: str = "", *names: str) -> str:
    """The path of a collection, of an object in it, or of a part of one.

    Args:
        api_version: group and version, such as `apps/v1`, or `v1`.
        plural: such as `deployments`.
        namespace: empty for what lives in none.
        names: the object's name, and a subresource.
    """
    root = "apis" if "/" in api_version else "api"
    scope = ("namespaces", namespace) if namespace else ()
    parts = (*scope, plural, *names)
    return f"/{root}/{api_version}/" + "/".join(quote(part, safe="") for part in parts)


def found(connection: KubernetesConnection, path: str) -> Json | None:
    """An object as it is now; None if it is not there."""
    try:
        return connection.get(path)
    except NotThere:
        return None


def listed(connection: KubernetesConnection, path: str, **selectors: str) -> Iterator[Json]:
    """All objects of a collection that fit `labelSelector` and `fieldSelector`."""
    for page in connection.pages(path, selectors):
        yield from page.get("items", ())


def agrees(there: Any, wanted: Any) -> bool:
    """Whether an object has all that is wanted; what the server has added is no difference."""
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(
            name in there and agrees(there[name], value) for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(there, list)
            and len(there) == len(wanted)
            and all(agrees(*pair) for pair in zip(there, wanted, strict=True))
        )
    return bool(there == wanted)


def apply_as_read(
    connection: KubernetesConnection, path: str, wanted: Json, there: Json | None
) -> Json:
    """Server-side apply, unless somebody wrote since it was read.

    Raises:
        Conflict: somebody did; read again.
    """
    metadata = dict(wanted["metadata"])
    if there is not None:
        metadata["resourceVersion"] = there["metadata"]["resourceVersion"]
    return connection.apply(path, wanted | {"metadata": metadata}, MANAGER, force=True)


def settled(attempt: Callable[[], Outcome]) -> Outcome:
    """Look and write, again while somebody else writes in between; failures are outcomes.

    Args:
        attempt: looks at fresh state, and writes once where something differs.
    """
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            return attempt()
        except Conflict as conflict:
            problem = str(conflict)
        except TidecastError as error:
            return Outcome(Standing.FAILED, str(error))
    return Outcome(Standing.FAILED, f"others wrote {ATTEMPTS} times in between: {problem}")
