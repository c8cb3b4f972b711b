"""Asks a user's own service about checkpoints, for jobs that do not annotate their pods.

One POST of JSON: `{"wanted": "report" | "checkpoint", "pods": ["namespace/name", ...]}`. The answer
to a report is `{"checkpoints": {"namespace/name": <Unix time>}}`. What is not answered is not
known; nobody is evicted on an answer that could not be read.
"""

from collections.abc import Sequence
from typing import Any

from features.errors import SourceUnavailable


class CheckpointWebhook:
    """A service that knows about checkpoints."""

    def __init__(self, url: str, timeout_seconds: float = 10.0) -> None:
        """A webhook that is not called before it is needed.

        Args:
            url: where it listens.
            timeout_seconds: longest wait for a connection, and for each part of an answer.
        """
        self._url = url
        self._timeout_seconds = timeout_seconds

    def ask(self, pods: Sequence[str]) -> None:
        """Ask these pods' jobs to save a checkpoint soon.

        Raises:
            SourceUnavailable: nobody took the request.
        """
        self._call("checkpoint", pods)

    def reported(self, pods: Sequence[str]) -> dict[str, int]:
        """Unix times of the last checkpoints, as far as they are known.

        Raises:
            SourceUnavailable: there is no answer, or one that cannot be read.
        """
        answer = self._call("report", pods)
        saved = answer.get("checkpoints") if isinstance(answer, dict) else None
        if not isinstance(saved, dict) or not all(type(one) is int for one in saved.values()):
            raise SourceUnavailable(
                f"webhook {self._url}: its answer has no 'checkpoints' with Unix times"
            )
        return {pod: saved[pod] for pod in pods if pod in saved}

    def _call(self, wanted: str, pods: Sequence[str]) -> Any:
        import requests

        question = {"wanted": wanted, "pods": list(pods)}
        try:
            response = requests.post(
                self._url, json=question, timeout=self._timeout_seconds, allow_redirects=False
            )
            response.raise_for_status()
            return response.json() if response.content else {}
        except (requests.RequestException, ValueError) as error:
            why = " ".join(str(error).split())
            raise SourceUnavailable(f"webhook {self._url}: {why}") from error
