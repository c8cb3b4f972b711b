"""The policy as people write it: one YAML document, checked as a whole, and never half of it.

It becomes `actuator.policy.Policy`; what it means is documented there, and what may be written in
`docs/reference/policy.md`, which comes from these models.
"""

from forecaster.policy.document import PolicyDocument
from forecaster.policy.reading import (
    canonical_yaml,
    checked_policy,
    policy_content,
    policy_digest,
    read_policy,
    stored_policy,
)

__all__ = [
    "PolicyDocument",
    "canonical_yaml",
    "checked_policy",
    "policy_content",
    "policy_digest",
    "read_policy",
    "stored_policy",
]
