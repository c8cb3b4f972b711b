"""Versions as ETags, and what a caller must have read before it may change something."""

from http import HTTPStatus

from fastapi import HTTPException


def etag_of(version: int | str) -> str:
    """A version as an ETag."""
    return f'"{version}"'


def is_held(if_none_match: str | None, etag: str) -> bool:
    """Whether the caller holds what the ETag names, by its If-None-Match."""
    if if_none_match is None:
        return False
    given = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return bool({"*", etag} & given)


def check_read(if_match: str | None, version: int) -> None:
    """Let a change by only where the caller has read the version that it changes.

    Raises:
        HTTPException: 428 without an If-Match, 412 with that of another version or a weak one.
    """
    if if_match is None:
        raise HTTPException(
            HTTPStatus.PRECONDITION_REQUIRED,
            "read it first, and give its ETag back as If-Match",
        )
    if not {"*", etag_of(version)} & {tag.strip() for tag in if_match.split(",")}:
        raise HTTPException(
            HTTPStatus.PRECONDITION_FAILED,
            f"it was changed meanwhile (its ETag is {etag_of(version)}); read it again",
        )
