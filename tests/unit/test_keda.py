"""What the page on KEDA shows is what its scaler takes, and what our route answers."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from forecaster.api.metrics.table import METRICS
from forecaster.scopes import Scope
from tests.fakes.service import Service, service, token

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "keda.md").read_text(encoding="utf-8")
METADATA = {
    "url", "valueLocation", "targetValue", "activationTargetValue", "format", "unsafeSsl",
    "authMode", "method", "keyParamName",
}  # fmt: skip
"""Keys of the scaler's `metadata`, as KEDA documents them."""


def documents() -> list[Any]:
    """The Kubernetes objects that the page shows."""
    (shown,) = re.findall(r"```yaml\n(apiVersion: keda.*?)```", PAGE, re.DOTALL)
    return list(yaml.safe_load_all(shown))


def trigger() -> Any:
    (found,) = documents()[0]["spec"]["triggers"]
    return found


def asked(opened: Service) -> Any:
    """What KEDA would read: the answer, and the value that it takes out of it."""
    url = urlsplit(trigger()["metadata"]["url"])
    return opened.get(f"{url.path}?{url.query}")


def test_the_trigger_has_just_what_the_scaler_takes() -> None:
    """Every value is text, as in all of KEDA's metadata."""
    metadata = trigger()["metadata"]
    assert "metrics-api" == trigger()["type"]
    assert {"url", "valueLocation", "targetValue"} <= set(metadata) <= METADATA
    assert {str} == {type(value) for value in metadata.values()}
    assert 0 < float(metadata["targetValue"])


def test_a_token_is_what_bearer_authentication_takes() -> None:
    """The trigger names the object that holds it."""
    _, authentication = documents()
    (secret,) = authentication["spec"]["secretTargetRef"]
    assert "token" == secret["parameter"]
    assert "bearer" == trigger()["metadata"]["authMode"]
    assert authentication["metadata"]["name"] == trigger()["authenticationRef"]["name"]


def test_the_scaler_finds_a_number_where_it_looks(tmp_path: Path) -> None:
    """With its token; and without one it is refused rather than told of zero."""
    with service(tmp_path, require_token=True) as opened:
        assert 401 == asked(opened).status_code
        opened.token = token(opened, Scope.READ)
        answer = json.loads(asked(opened).content)
        value = answer[trigger()["metadata"]["valueLocation"]]
        assert isinstance(value, float)
        said = opened.context.newest_forecasts()
        (peak,) = (
            one.forecast.peak_at(0.9)  # type: ignore[union-attr]
            for pool, one in said.items()
            if str(pool) == answer["pool"]
        )
        assert peak == value


@pytest.mark.parametrize("age_seconds", [901, 7_200])
def test_an_old_forecast_is_a_failure_and_no_number(tmp_path: Path, age_seconds: int) -> None:
    """KEDA counts it, and falls back."""
    with service(tmp_path) as opened:
        opened.clock.seconds += age_seconds
        answer = asked(opened)
        assert 503 == answer.status_code
        assert trigger()["metadata"]["valueLocation"] not in answer.json()


def test_the_query_for_its_prometheus_scaler_names_a_metric_that_is_served() -> None:
    """The page's other way."""
    (name,) = re.findall(r"max\((tidecast_\w+)\{", PAGE)
    assert name in METRICS
