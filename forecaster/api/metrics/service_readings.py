"""How the service itself is: jobs, the age of what it knows, what it keeps in memory, responses."""

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from features.errors import Unavailable
from forecaster.api.context import ApiContext
from forecaster.api.metrics.readings import Reading, known
from forecaster.database.job_health import job_health

AREAS = ("v1", "prom", "metrics", "healthz", "readyz")
OTHER = "page"

Counts = Counter[tuple[str, str]]
"""Responses by area and status."""


class ResponseCounts:
    """ASGI middleware that counts responses by part of the API and status."""

    def __init__(self, app: ASGIApp, counts: Counts) -> None:
        """Wrap an app.

        Args:
            app: what answers.
            counts: where they are counted.
        """
        self._app, self._counts = app, counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer, and count how."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        area = scope["path"].split("/", 2)[1]

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._counts[area if area in AREAS else OTHER, str(message["status"])] += 1
            await send(message)

        await self._app(scope, receive, send_counted)


def build(_: ApiContext) -> Iterator[Reading]:
    """What runs."""
    yield Reading("tidecast_build_info", 1.0, (version("tidecast"),))


def jobs(context: ApiContext) -> Iterator[Reading]:
    """How the scheduled jobs have fared."""
    for job in job_health(context.database):
        last = job.succeeded_seconds
        yield from known("tidecast_job_last_success_timestamp_seconds", last, job.name)
        yield from known("tidecast_job_last_duration_seconds", job.lasted_seconds, job.name)
        yield from known("tidecast_job_failures_in_a_row", job.failures_in_a_row, job.name)
        yield from known("tidecast_job_running", job.is_running, job.name)


def ages(context: ApiContext) -> Iterator[Reading]:
    """How old is what is known."""
    now = context.clock()
    for pool, history in context.history_samples.read().pools.items():
        if (at := history.observed_seconds) is not None:
            yield from known("tidecast_data_age_seconds", now - at, str(pool))
    for pool, kept in context.newest_forecasts().items():
        if not isinstance(kept.forecast, Unavailable):
            yield from known("tidecast_forecast_age_seconds", now - kept.origin_seconds, str(pool))
    for pool, score in context.newest_scores().items():
        yield from known("tidecast_score_age_seconds", now - score.scored_seconds, str(pool))
    if (plan := context.newest_plan()) is not None:
        yield from known("tidecast_plan_age_seconds", now - plan.made_seconds)


def cache(context: ApiContext) -> Iterator[Reading]:
    """What is kept of the history, and what cannot be read of it."""
    samples = context.history_samples
    problems = samples.read().problems
    yield from known("tidecast_history_cached_files", samples.files)
    yield from known("tidecast_history_file_reads_total", samples.reads)
    yield from known("tidecast_history_damaged_files", len(problems))


def responses(counts: Counts) -> Iterator[Reading]:
    """What requests came to."""
    for (area, code), count in sorted(counts.items()):
        yield from known("tidecast_http_responses_total", count, area, code)
