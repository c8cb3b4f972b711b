"""Utilisation comes from Prometheus or stays unknown."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import pytest

from actuator.cluster.utilisation import ClusterWithUtilisation
from features.errors import SourceUnavailable
from features.sources.prometheus_http import PrometheusServer
from tests.fakes.clusters import NOW, cluster, node
from tests.fakes.cycles import ToldCluster

Answer = list[tuple[Mapping[str, str], float]]


@dataclass
class Answering:
    """A Prometheus with one answer, or none."""

    answer: Answer | None

    def at(self, _promql: str, _seconds: int) -> Answer:
        """The answer."""
        if self.answer is None:
            raise SourceUnavailable("Prometheus does not answer")
        return self.answer


def utilisations(answer: Answer | None) -> list[float | None]:
    """What is then known of two nodes that seemed idle."""
    told = ToldCluster(lambda now: cluster([node("n0"), node("n1")], now_seconds=now))
    server = cast("PrometheusServer", Answering(answer))
    state = ClusterWithUtilisation(told, server).state(NOW)
    return [one.gpu_utilisation for one in state.nodes]


@pytest.mark.parametrize("label", ["node", "Hostname", "kubernetes_node"])
def test_each_node_gets_its_own(label: str) -> None:
    """By whichever label names it."""
    assert [0.4, 0.0] == utilisations([({label: "n0"}, 0.4), ({label: "n1"}, 0.0)])


@pytest.mark.parametrize(
    "answer", [None, [], [({"gpu": "0"}, 0.1)], [({"node": "n0"}, math.nan), ({"node": "n1"}, 70)]]
)
def test_what_is_not_said_is_not_known(answer: Answer | None) -> None:
    """No answer, no label, no number and no share are all the same: unknown."""
    assert [None, None] == utilisations(answer)
