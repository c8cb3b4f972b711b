"""Where log lines go: to stderr, since stdout holds answers; a JSON object each, or as text."""

import sys
from typing import Any

import structlog


def log_to_stderr() -> None:
    """Send every line to stderr, with its time in UTC; an exception with its traceback."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=_printer,
    )


def log_to_terminal() -> None:
    """Send every line to stderr as people read it; no traceback shows what variables held."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        logger_factory=_printer,
    )


def _printer(*_: Any) -> structlog.PrintLogger:
    """Prints to what stderr is then, not to what it was when this was set up."""
    return structlog.PrintLogger(sys.stderr)
