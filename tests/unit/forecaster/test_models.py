"""From training to a champion, back again, and what answers when a champion is damaged."""

import json
from pathlib import Path
from typing import Any

import pytest

from features.errors import SourceUnavailable
from forecaster.json_shapes import (
    ForecastAnswer,
    ModelAnswer,
    ModelsAnswer,
    PromotionAnswer,
    TrainAnswer,
)
from models.registry import ModelRegistry
from models.tracking import ExperimentTracker
from tests.fakes.command_line import Command, files_in

MODELS = Path("tidecast-data/models")
LIKED, WORSE = "periodic-regression", "seasonal-naive"


@pytest.fixture
def held(tidecast: Command, jobs_csv: Path) -> Command:
    """The command line, with four days of history in the store."""
    assert 0 == tidecast("history", "import", jobs_csv).code
    return tidecast


def train(tidecast: Command, *models: str) -> TrainAnswer:
    """Train these models; the settings' if none is named."""
    named = ("--models", ",".join(models)) if models else ()
    ran = tidecast("train", *named, "--output", "json")
    assert 0 == ran.code, ran.err
    return TrainAnswer.model_validate_json(ran.out)


def forecasts(tidecast: Command, *options: str) -> tuple[list[Any], str]:
    """The forecasts of all pools, and what stderr said."""
    ran = tidecast("forecast", *options, "--output", "json")
    assert 0 == ran.code, ran.err
    found = ForecastAnswer.model_validate_json(ran.out).forecasts
    assert all(one.available for one in found)
    return list(found), ran.err


def versions_that_answer(tidecast: Command) -> set[str]:
    """Versions in the forecasts of all pools."""
    return {one.model_version for one in forecasts(tidecast)[0]}


def flip_a_bit(version: str) -> None:
    """Damage one file of a version."""
    path = next(one for one in sorted((MODELS / version).iterdir()) if one.name != "manifest.json")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def promote(tidecast: Command, version: str) -> None:
    """By hand, whatever the judging says."""
    assert 0 == tidecast("models", "promote", version).code


def test_what_is_no_better_than_persistence_does_not_become_champion(held: Command) -> None:
    """It is trained and kept all the same, and persistence serves."""
    answer = train(held, WORSE)
    assert [WORSE, "persistence"] == [one.model_name for one in answer.models]
    assert ("persistence", True) == (answer.challenger, answer.promoted)
    assert ["no candidate is as good as persistence, so it serves"] == answer.reasons
    assert answer.models[1].model_version == answer.champion_version
    assert {"persistence"} == {one.model_name for one in forecasts(held)[0]}
    by_name, said = forecasts(held, "--model", WORSE)
    assert {answer.models[0].model_version} == {one.model_version for one in by_name}
    assert "warning" not in said


def test_the_champion_answers_whatever_the_settings_like(
    held: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`forecast.model` is what is trained; who won forecasts."""
    first = train(held, WORSE)
    promote(held, first.models[0].model_version)
    monkeypatch.setenv("TIDECAST_FORECAST__MODEL", LIKED)
    assert {first.models[0].model_version} == versions_that_answer(held)


def test_a_model_that_is_judged_says_how_good_it_was(held: Command) -> None:
    """On days that it had not seen, and the same stands in its manifest."""
    answer = train(held, WORSE, LIKED)
    assert answer.judged
    assert answer.judged.end_seconds == answer.trained.end_seconds
    assert {"peak 0.9", "peak 0.95", "path WQL"} == set(answer.models[0].loss_ratio)
    shown = held("models", "show", answer.models[1].model_version, "--output", "json")
    described = ModelAnswer.model_validate_json(shown.out)
    assert answer.models[1].loss_ratio == described.loss_ratio
    assert ("0.1.0", 64) == (described.code_version, len(described.data_sha256))
    assert answer.trained.end_seconds == described.last_seconds


def test_training_twice_within_a_second_keeps_both(held: Command) -> None:
    """The second is a renewal of the first, and the first can come back."""
    first, second = train(held, "persistence", "persistence"), train(held, "persistence")
    assert [1, 1] == [len(first.models), len(second.models)]
    assert first.champion_version != second.champion_version
    assert second.promoted
    assert "the champion's own model" in second.reasons[0]
    assert 0 == held("models", "rollback").code
    assert {first.champion_version} == versions_that_answer(held)


def test_a_worse_challenger_leaves_the_champion_in_its_place(
    held: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is saved, and what it lost by is said."""
    first = train(held, "persistence")
    monkeypatch.setattr("forecaster.tasks.judging.preferred", lambda *_: WORSE)
    answer = train(held, WORSE)
    assert (WORSE, False) == (answer.challenger, answer.promoted)
    assert first.champion_version == answer.champion_version
    assert all("worse than the champion beyond the margin" in one for one in answer.reasons)
    assert all(one.difference > 0.03 for one in answer.comparisons)
    assert "was not made champion" in held("train", "--models", WORSE).out
    assert {first.champion_version} == versions_that_answer(held)


def test_history_too_short_to_judge_changes_no_champion(tidecast: Command, jobs_csv: Path) -> None:
    """The first to serve is persistence, and nobody follows it untried."""
    tidecast("history", "import", jobs_csv, "--until", "2026-03-01T12:00Z")
    first = train(tidecast, LIKED)
    assert (None, "persistence", True) == (first.judged, first.challenger, first.promoted)
    again = train(tidecast, LIKED)
    assert not again.promoted
    assert "too few to judge any model" in again.reasons[0]
    assert first.champion_version == again.champion_version


def test_a_damaged_champion_gives_way_to_the_one_before(held: Command) -> None:
    """In the same call, and every forecast says so."""
    older, newer = (train(held, "persistence").champion_version for _ in range(2))
    assert older
    assert newer
    flip_a_bit(newer)
    found, said = forecasts(held)
    assert {older} == {one.model_version for one in found}
    for one in found:
        assert f"model version {newer} was refused" in one.notes[0]
        assert "SHA-256" in one.notes[0]
        assert f"persistence {older} answers instead" == one.notes[1]
    assert f"model version {newer} was refused" in said


def test_with_every_champion_damaged_persistence_answers(held: Command) -> None:
    """Nothing damaged is parsed, and the forecast comes all the same."""
    worse = train(held, WORSE).models[0].model_version
    promote(held, worse)
    for version in ModelRegistry(MODELS).versions():
        flip_a_bit(version)
    found, _ = forecasts(held)
    assert {"persistence"} == {one.model_name for one in found}
    assert all("persistence answers in its place" in one.notes[2] for one in found)


def test_files_that_are_whole_but_not_the_models_are_refused(held: Command) -> None:
    """A digest that agrees is no licence: what cannot be read gives way too."""
    train(held, "persistence")
    registry = ModelRegistry(MODELS)
    manifest, artifact = registry.load(train(held, LIKED).models[0].model_version)
    strange = registry.save(manifest, dict.fromkeys(artifact, b"["))
    promote(held, strange.version)
    found, said = forecasts(held)
    assert {"persistence"} == {one.model_name for one in found}
    assert f"model version {strange.version} was refused" in said


def test_a_damaged_list_of_promotions_is_said_and_survived(held: Command) -> None:
    """Who is champion is not guessed."""
    train(held, "persistence")
    (MODELS / "champion.json").write_text("{", encoding="utf-8")
    found, said = forecasts(held)
    assert {"persistence"} == {one.model_name for one in found}
    assert "champion.json is damaged" in said
    before = files_in(MODELS)
    assert 2 == held("train", "--models", "persistence").code
    assert before == files_in(MODELS)


def test_a_damaged_champion_is_no_reason_not_to_train(held: Command) -> None:
    """The next champion heals it."""
    version = train(held, "persistence").champion_version
    assert version
    flip_a_bit(version)
    answer = train(held, "persistence")
    assert answer.promoted
    assert "was refused" in answer.warnings[0]
    assert {answer.champion_version} == versions_that_answer(held)
    assert "warning" not in forecasts(held)[1]


def test_a_fit_that_reads_back_differently_is_not_saved(
    held: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something is wrong with the code then, and the champion stays."""
    first = train(held, "persistence").champion_version
    monkeypatch.setattr("forecaster.tasks.training._say_the_same", lambda *_: False)
    ran = held("train", "--models", "persistence")
    assert 2 == ran.code
    assert "does not forecast the same once it is read back" in ran.err
    assert {first} == versions_that_answer(held)


def test_old_versions_are_removed_as_the_settings_say(
    held: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest stay."""
    monkeypatch.setenv("TIDECAST_TRAINING__KEEP_VERSIONS", "2")
    made = [train(held, "persistence") for _ in range(4)]
    versions = [one.champion_version for one in made]
    assert [[], [], [versions[0]], [versions[1]]] == [one.removed_versions for one in made]
    ran = held("models", "list", "--output", "json")
    answer = ModelsAnswer.model_validate_json(ran.out)
    assert versions[:1:-1] == [one.model_version for one in answer.versions]
    assert [0, 1] == [one.rollbacks_away for one in answer.versions]


def test_a_champion_is_promoted_and_rolled_back_by_hand(held: Command) -> None:
    """Whatever the judging said; and back, until there is nothing before."""
    answer = train(held, WORSE)
    naive, persistence = (one.model_version for one in answer.models)
    ran = held("models", "promote", naive, "--output", "json")
    promoted = PromotionAnswer.model_validate_json(ran.out)
    assert (naive, WORSE) == (promoted.champion_version, promoted.model_name)
    back = held("models", "rollback")
    assert f"persistence {persistence} is champion now.\n" == back.out
    last = held("models", "rollback")
    assert (2, True) == (last.code, "there is no earlier champion" in last.err)
    unknown = held("models", "promote", "20200101T000000Z")
    assert (2, True) == (unknown.code, "there is no model version 2020" in unknown.err)


def test_without_a_champion_there_is_nothing_to_show(tidecast: Command) -> None:
    """And the way to one is named; listing makes no directory."""
    assert "'tidecast train' makes one" in tidecast("models", "list").out
    assert "'tidecast train' makes one" in tidecast("models", "show").err
    assert not MODELS.exists()


def test_a_version_that_cannot_be_read_is_listed_as_a_problem(held: Command) -> None:
    """The others are listed beside it."""
    train(held, WORSE)
    damaged = ModelRegistry(MODELS).versions()[0]
    (MODELS / damaged / "manifest.json").write_text("[]", encoding="utf-8")
    ran = held("models", "list", "--output", "json")
    assert 1 == len(ran.answer["versions"])
    assert damaged in ran.answer["problems"][0]
    assert f"warning: {ran.answer['problems'][0]}" in ran.err


def test_mlflow_out_of_reach_is_a_warning_and_no_more(
    held: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The champion is promoted, forecasts are made, and rolling back works."""

    def down(*_: object) -> None:
        raise SourceUnavailable("MLflow at http://x:1 did not take the record: refused")

    monkeypatch.setenv("TIDECAST_MLFLOW__ENABLED", "true")
    for method in ("record", "name_champion"):
        monkeypatch.setattr(ExperimentTracker, method, down)
    first, second = train(held, "persistence"), train(held, "persistence")
    assert [True, True] == [first.promoted, second.promoted]
    assert "forecasts need no MLflow" in second.warnings[0]
    assert {second.champion_version} == versions_that_answer(held)
    ran = held("models", "rollback", "--output", "json")
    assert 0 == ran.code
    assert json.loads(ran.out)["warnings"]
    assert {first.champion_version} == versions_that_answer(held)
