"""Requests with an `Idempotency-Key`: done once, and answered the same each time."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from forecaster.api.context import ApiContext
from forecaster.api.security import Caller
from forecaster.json_shapes import Shape

Answer = TypeVar("Answer", bound=Shape)


@dataclass(frozen=True)
class Request:
    """What somebody asks to be done.

    Attributes:
        who: makes it; a key is its own.
        key: the Idempotency-Key; None to do it whatever came before.
        asked: the whole of it as text, so that two of one key can be told apart.
    """

    who: Caller
    key: str | None
    asked: str


def answered_once(
    context: ApiContext, request: Request, work: Callable[[], Answer], shape: type[Answer]
) -> Answer:
    """Do what is asked, or give the answer that the same request got before.

    Args:
        context: where requests are written down.
        request: what is asked.
        work: does it.
        shape: of the answer.

    Raises:
        KeyReused: the key came with another request.
        StillWorking: the same request is being answered right now.
    """
    owner, key = request.who.identifier, request.key
    if key is None:
        return work()
    digest = sha256(request.asked.encode()).hexdigest()
    found = context.idempotency.begin(owner, key, digest, context.clock())
    if found is not None:
        return shape.model_validate_json(found)
    try:
        answer = work()
    except BaseException:
        context.idempotency.forget(owner, key)
        raise
    context.idempotency.answer(owner, key, answer.model_dump_json())
    return answer
