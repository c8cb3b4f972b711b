"""The policy by version: checked, put into force, compared, gone back from, and tried beside it.

A file that breaks a rule changes nothing, whatever else is right about it.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actuator.backends.table import check_node_pool
from features.errors import BadInput
from forecaster.database.policy_versions import (
    Authorship,
    PolicyKind,
    PolicyVersion,
    PolicyVersions,
)
from forecaster.json_shapes import (
    PoliciesAnswer,
    PolicyAnswer,
    PolicyChangeAnswer,
    PolicyDiffAnswer,
    ShadowOffAnswer,
    StoredPolicy,
)
from forecaster.policy import PolicyDocument, canonical_yaml, read_policy
from forecaster.wiring import Workspace

CONTEXT_LINES = 3


def policy_file(file: Path) -> PolicyDocument:
    """The policy document in a file.

    Raises:
        BadInput: it cannot be read, or breaks a rule; one line for each problem.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(f"{file}: there is no such file; check its name") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: cannot be read as a text file ({error})") from None
    return read_policy(text, str(file), check_node_pool)


def apply_policy(workspace: Workspace, file: Path, authorship: Authorship) -> PolicyChangeAnswer:
    """Put a file's policy into force from the next cycle on.

    Raises:
        BadInput: the file cannot be read or breaks a rule, or the database cannot be written to.
        SourceUnavailable: the database is locked, full or out of reach.
    """
    document = policy_file(file)
    with workspace.open_database() as database:
        versions = PolicyVersions(database)
        before = versions.current()
        return change_of(before, versions.apply(document, authorship))


def roll_back_policy(
    workspace: Workspace, version: int | None, authorship: Authorship
) -> PolicyChangeAnswer:
    """Put an earlier policy into force again; the one before this one if no version is named.

    Raises:
        BadInput: there is no such version.
        SourceUnavailable: the database is locked, full or out of reach.
    """
    with workspace.open_database() as database:
        versions = PolicyVersions(database)
        before = versions.current()
        return change_of(before, versions.roll_back(authorship, version))


def try_policy(workspace: Workspace, file: Path, authorship: Authorship) -> PolicyChangeAnswer:
    """Decide by a file's policy too, and only record it.

    Raises:
        BadInput: the file cannot be read or breaks a rule, or the database cannot be written to.
        SourceUnavailable: the database is locked, full or out of reach.
    """
    document = policy_file(file)
    with workspace.open_database() as database:
        versions = PolicyVersions(database)
        tried_before = versions.shadow()
        made = versions.try_beside(document, authorship)
        return trial_of(versions.current(), tried_before, made)


def stop_trying_policy(workspace: Workspace, now_seconds: int) -> ShadowOffAnswer:
    """Try no policy any more.

    Raises:
        SourceUnavailable: the database is locked, full or out of reach.
    """
    with workspace.open_database() as database:
        ended = PolicyVersions(database).stop_trying(now_seconds)
    return ShadowOffAnswer(ended_version=None if ended is None else ended.version)


def list_policies(workspace: Workspace) -> PoliciesAnswer:
    """All versions, newest first."""
    with workspace.open_database() as database:
        return policies_of(PolicyVersions(database).versions())


def show_policy(workspace: Workspace, version: int | None) -> PolicyAnswer:
    """One version with its document; the one in force if none is named.

    Raises:
        BadInput: there is no such version, or none is in force.
    """
    with workspace.open_database() as database:
        versions = PolicyVersions(database)
        in_force = versions.current()
        found = in_force if version is None else versions.get(version)
    if found is None:
        raise BadInput("no policy is in force yet; 'tidecast policy apply FILE' makes one")
    return policy_of(found, in_force)


def diff_policies(workspace: Workspace, before: str, after: str) -> PolicyDiffAnswer:
    """What differs between two policies.

    Args:
        workspace: whose versions.
        before: a version's number, or a file.
        after: the same.

    Raises:
        BadInput: there is no such version, or a file cannot be read or breaks a rule.
    """
    with workspace.open_database() as database:
        versions = PolicyVersions(database)
        return diff_of(*(_named(versions, name) for name in (before, after)))


@dataclass(frozen=True)
class NamedPolicy:
    """A document, and what it is called in a comparison."""

    name: str
    document: PolicyDocument

    @classmethod
    def of(cls, version: PolicyVersion) -> "NamedPolicy":
        """A version's document."""
        return cls(f"version {version.version}", version.document)


def diff_of(before: NamedPolicy, after: NamedPolicy) -> PolicyDiffAnswer:
    """What differs between two documents, as it is printed."""
    changes = _changes(before, after)
    return PolicyDiffAnswer(before=before.name, after=after.name, changes=changes)


def policies_of(versions: Sequence[PolicyVersion]) -> PoliciesAnswer:
    """All versions as they are printed; newest first, as they are given."""
    in_force = next((one for one in versions if one.kind is PolicyKind.LIVE), None)
    return PoliciesAnswer(versions=[_stored(one, in_force) for one in versions])


def policy_of(version: PolicyVersion, in_force: PolicyVersion | None) -> PolicyAnswer:
    """One version as it is printed."""
    return PolicyAnswer(**dict(_stored(version, in_force)), document=version.document)


def trial_of(
    in_force: PolicyVersion | None, tried_before: PolicyVersion | None, made: PolicyVersion
) -> PolicyChangeAnswer:
    """A version that is only tried, as it is printed."""
    answer = change_of(in_force, made)
    return answer.model_copy(update={"is_new": made != tried_before})


def change_of(before: PolicyVersion | None, made: PolicyVersion) -> PolicyChangeAnswer:
    """What a version changes against the one that was in force, as it is printed."""
    in_force = made if made.kind is PolicyKind.LIVE else before
    changes = []
    if before is not None:
        changes = _changes(NamedPolicy.of(before), NamedPolicy.of(made))
    return PolicyChangeAnswer(
        **dict(_stored(made, in_force)), is_new=made != before, changes=changes
    )


def _named(versions: PolicyVersions, name: str) -> NamedPolicy:
    if name.isdecimal():
        return NamedPolicy.of(versions.get(int(name)))
    return NamedPolicy(name, policy_file(Path(name)))


def _changes(before: NamedPolicy, after: NamedPolicy) -> list[str]:
    return list(
        difflib.unified_diff(
            canonical_yaml(before.document).splitlines(),
            canonical_yaml(after.document).splitlines(),
            fromfile=before.name,
            tofile=after.name,
            lineterm="",
            n=CONTEXT_LINES,
        )
    )


def _stored(version: PolicyVersion, in_force: PolicyVersion | None) -> StoredPolicy:
    is_tried = version.kind is PolicyKind.SHADOW and version.ended_seconds is None
    is_followed = in_force is not None and version.version == in_force.version
    return StoredPolicy(
        policy_version=version.version,
        standing="in-force" if is_followed else "shadow" if is_tried else "past",
        author=version.authorship.author,
        note=version.authorship.note,
        made_seconds=version.authorship.made_seconds,
        restored_from=version.restored_from,
        sha256=version.digest,
    )
