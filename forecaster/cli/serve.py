"""`tidecast serve`: jobs, cycles, API and page in one process, until it is asked to end."""

from enum import StrEnum
from typing import Annotated

import typer

from forecaster.cli.options import ConfigOption


class Logs(StrEnum):
    """How log lines are written."""

    JSON = "json"
    CONSOLE = "console"


def serve(
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="ADDRESS", help="Listen here instead of service.host."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65_535, metavar="N", help="Listen here instead of service.port."
        ),
    ] = None,
    logs: Annotated[
        Logs, typer.Option("--logs", help="Write log lines for programs or for people.")
    ] = Logs.JSON,
    config: ConfigOption = None,
) -> None:
    """Run the service: pull history, forecast, plan, score and train by itself; answer the API.

    Nothing is touched: pools are acted on only where an operator has set their mode to 'act'.
    SIGHUP reads the settings anew; SIGTERM or Ctrl-C ends it within ten seconds.
    """
    from forecaster.logs import log_to_stderr, log_to_terminal
    from forecaster.service.running import serve as run_service
    from forecaster.wiring import Workspace

    (log_to_stderr if logs is Logs.JSON else log_to_terminal)()
    run_service(lambda: Workspace.open(config).listening_on(host, port), config)
