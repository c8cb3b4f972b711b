"""Writes the dashboards into `dashboards/`; a test fails while one of them is old.

Run `python deploy/grafana/write_dashboards.py` after changing any of them.
"""

from pathlib import Path

from dashboard import text_of
from forecast_boards import FORECAST, PLAN, QUEUE
from record_boards import ACCURACY, COST, SERVICE

HERE = Path(__file__).parent / "dashboards"
DASHBOARDS = (FORECAST, PLAN, QUEUE, ACCURACY, COST, SERVICE)


def main() -> None:
    """Write every dashboard."""
    HERE.mkdir(exist_ok=True)
    for dashboard in DASHBOARDS:
        (HERE / f"{dashboard.uid}.json").write_text(text_of(dashboard), encoding="utf-8")


if __name__ == "__main__":
    main()
