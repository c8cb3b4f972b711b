"""The command line does the whole job, and prints the same to people and to programs."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from features.pool import Pool
from forecaster.cli import run
from forecaster.history import HistoryStore
from forecaster.json_shapes import (
    BacktestAnswer,
    DoctorAnswer,
    ForecastAnswer,
    HistoryAnswer,
    ImportAnswer,
    TrainAnswer,
)
from models.forecast import QUANTILE_LEVELS
from tests.fakes.command_line import Command, files_in

DATA = Path("tidecast-data")
POOLS = ["a100/fragment", "a100/whole-node"]
LEVELS = [f"{level:g}" for level in QUANTILE_LEVELS]


@pytest.fixture
def held(tidecast: Command, jobs_csv: Path) -> Command:
    """The command line, with four days of history in the store."""
    assert 0 == tidecast("history", "import", jobs_csv).code
    return tidecast


def test_help_imports_nothing_heavy() -> None:
    """Neither the numeric libraries nor the settings' are paid for."""
    code = (
        "import sys; from forecaster.cli import run; run(['--help']); "
        "heavy = {'numpy', 'pandas', 'pyarrow', 'pydantic', 'lightgbm', 'prophet', 'plotly', "
        "'sklearn', 'holidays', 'requests'} & set(sys.modules); sys.exit(str(heavy or ''))"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "" == ran.stderr.strip()
    assert "backtest" in ran.stdout


def test_without_a_command_the_help_is_printed(tidecast: Command) -> None:
    """It is what was looked for."""
    assert tidecast("--help").out == tidecast().out
    assert 0 == tidecast().code


def test_the_version_is_printed(tidecast: Command) -> None:
    """With the name of the program."""
    assert "tidecast 0.1.0\n" == tidecast("--version").out


def test_ctrl_c_is_told_by_the_exit_code(
    tidecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """130, as of any program that is interrupted, and no traceback."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("forecaster.wiring.Workspace.open", interrupted)
    ran = tidecast("history", "show")
    assert (130, "", "") == (ran.code, ran.out, ran.err)


def test_an_import_says_what_it_took(tidecast: Command, jobs_csv: Path) -> None:
    """Pools, their spans and their steps, file by file."""
    ran = tidecast("history", "import", jobs_csv, "--output", "json")
    answer = ImportAnswer.model_validate_json(ran.out)
    (file,) = answer.files
    assert ("jobs", 300, POOLS) == (file.kind, file.step_seconds, [one.pool for one in file.pools])
    assert all(
        one.observed_steps == (one.end_seconds - one.start_seconds) / 300 for one in file.pools
    )


def test_an_import_again_changes_nothing(held: Command, jobs_csv: Path) -> None:
    """The same file says the same."""
    before = files_in(DATA)
    assert 0 == held("history", "import", jobs_csv).code
    assert before == files_in(DATA)


def test_a_selection_and_a_window_leave_the_rest_out(tidecast: Command, tmp_path: Path) -> None:
    """Rows of another cluster and steps outside the window are not there."""
    (tmp_path / "two.csv").write_text(
        "submit,end,gpus,cluster\n"
        "2026-03-01T00:00Z,2026-03-03T00:00Z,4,ours\n"
        "2026-03-01T00:00Z,2026-03-03T00:00Z,2,theirs\n",
        encoding="utf-8",
    )
    tidecast(
        *("history", "import", "two.csv", "--select", "cluster=ours", "--gpu-type", "h100"),
        *("--since", "2026-03-02", "--until", "2026-03-02T01:00Z"),
    )
    answer = HistoryAnswer.model_validate_json(tidecast("history", "show", "--output", "json").out)
    held = {pool.pool: (pool.start, pool.end) for pool in answer.pools}
    assert ("2026-03-02T00:00:00Z", "2026-03-02T01:00:00Z") == held["h100/fragment"]
    (series,) = HistoryStore(DATA / "history").series([Pool.parse("h100/fragment")])
    assert [4.0] * 12 == series.demand_gpus.tolist()


def test_a_date_begins_at_the_clusters_midnight(
    tidecast: Command, jobs_csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Berlin the second of March begins at 23:00 UTC of the first."""
    monkeypatch.setenv("TIDECAST_CALENDAR__TIME_ZONE", "Europe/Berlin")
    tidecast("history", "import", jobs_csv, "--since", "2026-03-02")
    answer = HistoryAnswer.model_validate_json(tidecast("history", "show", "--output", "json").out)
    assert {"2026-03-01T23:00:00Z"} == {pool.start for pool in answer.pools}


def test_a_wide_table_of_demand_is_recognised(tidecast: Command, tmp_path: Path) -> None:
    """A column per pool, at the table's own step where that is coarser."""
    rows = "".join(f"{hour * 3600},{hour % 5},{hour % 3}\n" for hour in range(48))
    (tmp_path / "wide.csv").write_text("t,A100,A10\n" + rows, encoding="utf-8")
    ran = tidecast(
        *("history", "import", "wide.csv", "--pool-columns", "A100, A10", "--output", "json")
    )
    (file,) = ImportAnswer.model_validate_json(ran.out).files
    assert ("demand", 3600) == (file.kind, file.step_seconds)
    assert ["A10", "A100"] == [one.pool for one in file.pools]
    show = tidecast("history", "show", "--output", "json")
    assert {None} == {one.start for one in HistoryAnswer.model_validate_json(show.out).pools}


def test_an_empty_store_says_how_to_fill_it(tidecast: Command) -> None:
    """Empty is no error of `show`, and makes no directory."""
    ran = tidecast("history", "show")
    assert 0 == ran.code
    assert "holds no history yet" in ran.out
    assert not DATA.exists()


def test_a_forecast_has_every_pool_and_level(held: Command) -> None:
    """Twelve steps and the peak of six, nothing crossing, nothing negative."""
    ran = held("forecast", "--model", "persistence", "--output", "json")
    answer = ForecastAnswer.model_validate_json(ran.out)
    assert POOLS == [one.pool for one in answer.forecasts]
    for one in answer.forecasts:
        assert one.available
        assert 1800 == one.peak_window_seconds
        assert [300 * step for step in range(1, 13)] == [step.seconds_ahead for step in one.path]
        for quantiles in (one.peak_gpus, *(step.demand_gpus for step in one.path)):
            assert LEVELS == list(quantiles)
            values = list(quantiles.values())
            assert values == sorted(values)
            assert values[0] >= 0


def test_a_forecast_of_the_past_is_the_one_of_then(held: Command, jobs_csv: Path) -> None:
    """What came later changes nothing, in the history or in a trained model."""
    at = ("--at", "2026-03-03T12:00Z", "--output", "json", "--model", "periodic-regression")
    assert 0 == held("train", "--models", "periodic-regression").code
    with_future = held("forecast", *at).answer["forecasts"]
    shutil.rmtree(DATA)
    held("history", "import", jobs_csv, "--until", "2026-03-03T12:00Z")
    without_future = held("forecast", *at).answer["forecasts"]
    assert {"2026-03-03T12:00:00Z"} == {one["origin"] for one in with_future}
    for one in (*with_future, *without_future):
        one.pop("model_version")
    assert without_future == with_future


def test_a_trained_model_is_the_one_that_answers(held: Command) -> None:
    """Its version is in the forecast, and nothing is fitted anew."""
    trained = held("train", "--models", "periodic-regression", "--output", "json")
    model = TrainAnswer.model_validate_json(trained.out).models[0]
    ran = held("forecast", "--model", "periodic-regression", "--output", "json")
    answer = ForecastAnswer.model_validate_json(ran.out)
    assert [] == answer.warnings
    assert {("periodic-regression", model.model_version)} == {
        (one.model_name, one.model_version) for one in answer.forecasts if one.available
    }


def test_a_pool_without_history_is_unavailable_and_never_zero(
    held: Command, tmp_path: Path
) -> None:
    """Its reason stands where the numbers would be, for people and for programs."""
    (tmp_path / "old.csv").write_text(
        "time,pool,demand_gpus\n2026-03-01T09:00Z,h100,4\n2026-03-01T09:05Z,h100,4\n",
        encoding="utf-8",
    )
    held("history", "import", "old.csv")
    ran = held("forecast", "--model", "persistence", "--output", "json")
    (old,) = [one for one in ran.answer["forecasts"] if one["pool"] == "h100"]
    assert {"pool", "available", "reason"} == set(old)
    assert old["available"] is False
    table = held("forecast", "--model", "persistence").out
    assert f"h100: no forecast: {old['reason']}" in table
    assert ["pool", *POOLS, "GPUs."] == [line.split()[0] for line in table.splitlines()[:4]]


def test_a_backtest_scores_against_the_same_as_now(held: Command) -> None:
    """The yardstick is 1 against itself, and the file of forecasts scores the same."""
    ran = held(
        *("backtest", "--days", "1", "--models", "seasonal-naive", "--output", "json"),
        *("--forecasts", "out/forecasts.parquet", "--report", "out/report.html"),
    )
    answer = BacktestAnswer.model_validate_json(ran.out)
    assert {"persistence", "persistence-all", "seasonal-naive"} == {
        score.model_name for score in answer.scores
    }
    for pool in POOLS:
        ratios = [
            score.peak_pinball_ratio["0.9"]
            for score in answer.scores
            if score.pool == pool and score.model_name.startswith("persistence")
        ]
        assert 1.0 == pytest.approx(min(ratio for ratio in ratios if ratio is not None))
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert all(pool in page for pool in POOLS)
    table = pq.read_table("out/forecasts.parquet").to_pandas()
    assert 3 * 2 * 288 * 13 == len(table)
    naive = table[(table.model == "seasonal-naive") & (table.kind == "peak")]
    assert np.all(np.diff(naive[[f"q{level}" for level in LEVELS]].to_numpy()) >= 0)


def test_doctor_is_ready_when_there_is_history(held: Command) -> None:
    """What is merely worth knowing is no obstacle."""
    ran = held("doctor", "--output", "json")
    answer = DoctorAnswer.model_validate_json(ran.out)
    assert (0, True) == (ran.code, answer.ready)
    assert {"warning"} == {check.status for check in answer.checks}
    assert all(check.remedy for check in answer.checks)


def test_doctor_says_what_stands_in_the_way(tidecast: Command) -> None:
    """The exit code is 1, and each problem has a remedy."""
    ran = tidecast("doctor", "--output", "json")
    answer = DoctorAnswer.model_validate_json(ran.out)
    assert (1, False) == (ran.code, answer.ready)
    problems = [check for check in answer.checks if check.status == "problem"]
    assert ["history"] == [check.name for check in problems]
    assert "tidecast history import" in str(problems[0].remedy)
    assert not DATA.exists()


def test_settings_in_another_place_are_named_by_option_or_environment(
    held: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--config` and TIDECAST_CONFIG mean the same."""
    other = tmp_path / "other.yaml"
    other.write_text(f"data_directory: {tmp_path / 'elsewhere'}", encoding="utf-8")
    assert [] == held("history", "show", "--config", other, "--output", "json").answer["pools"]
    monkeypatch.setenv("TIDECAST_CONFIG", str(other))
    assert [] == held("history", "show", "--output", "json").answer["pools"]
    assert run(["history", "show", "--config", "none.yaml"]) == 2


def test_progress_and_warnings_stay_off_stdout(held: Command) -> None:
    """What is piped into a program is the answer alone."""
    ran = held("forecast", "--model", "seasonal-naive", "--output", "json")
    assert ran.answer["warnings"]
    assert "Forecasting ..." in ran.err
    assert all(f"warning: {warning}" in ran.err for warning in ran.answer["warnings"])
