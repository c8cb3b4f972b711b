"""What the commands of `tidecast policy` print."""

from typing import Literal

from forecaster.json_shapes.base import Shape
from forecaster.policy import PolicyDocument


class StoredPolicy(Shape):
    """One version of the policy."""

    policy_version: int
    """Its number."""

    standing: Literal["in-force", "shadow", "past"]
    """Whether plans follow it, it is tried beside the one that they follow, or neither."""

    author: str
    """Who made it."""

    note: str
    """Why; may be empty."""

    made_seconds: int
    """When it was made."""

    restored_from: int | None
    """The version whose document it took; null where the document was new."""

    sha256: str
    """Digest of what its document says."""


class PoliciesAnswer(Shape):
    """Printed by `tidecast policy list`."""

    versions: list[StoredPolicy]
    """All versions, newest first."""


class PolicyAnswer(StoredPolicy):
    """Printed by `tidecast policy show`."""

    document: PolicyDocument
    """The document with every default written out, as docs/reference/policy.md has it."""


class PolicyChangeAnswer(StoredPolicy):
    """Printed by `tidecast policy apply`, `rollback` and `shadow FILE`."""

    is_new: bool
    """False where this said the same as what is there already, and nothing was changed."""

    changes: list[str]
    """What differs from the policy in force before, as lines of a unified diff."""


class PolicyDiffAnswer(Shape):
    """Printed by `tidecast policy diff`."""

    before: str
    """What is compared."""

    after: str
    """What it is compared with."""

    changes: list[str]
    """What differs, as lines of a unified diff; empty where both say the same."""


class ShadowOffAnswer(Shape):
    """Printed by `tidecast policy shadow --off`."""

    ended_version: int | None
    """The version that is no longer tried; null if there was none."""
