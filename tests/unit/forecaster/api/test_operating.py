"""What operators do: modes, policies, models, protections and what sites say of nodes."""

from dataclasses import replace

import pytest
import yaml

from actuator.policy import OperatingMode
from forecaster.database.protections import ProtectedKind
from models.persistence import Persistence
from models.registry import Manifest
from tests.fakes.decisions import content
from tests.fakes.demand import tidal_panel
from tests.fakes.fleet import CONTEXT
from tests.fakes.service import NOW_SECONDS, Service

YAML = {"Content-Type": "application/yaml"}
MODE = "/v1/modes/a100/whole-node"


def written(**changes: object) -> str:
    """A policy as YAML."""
    return yaml.safe_dump(content(**changes))


class TestModes:
    """A mode says what may be done, and goes before the policy's own."""

    def test_nobody_has_set_one(self, local: Service) -> None:
        """Every pool is only forecast then."""
        modes = local.get("/v1/modes").json()["modes"]
        assert ["a100/fragment", "a100/whole-node", "h100"] == [one["pool"] for one in modes]
        assert {"forecast-only"} == {one["mode"] for one in modes}
        assert local.get(MODE).json() == modes[1]

    def test_the_policys_own_counts_until_one_is_set(self, local: Service) -> None:
        """It is told apart by who said it."""
        local.post("/v1/policies", content=written(mode="paused"), headers=YAML)
        state = local.get(MODE).json()
        assert ("paused", None, 0) == (state["mode"], state["said_by"], state["version"])

    def test_one_is_set_by_whoever_has_read_the_last(self, local: Service) -> None:
        """It holds from the next cycle on."""
        act = {"mode": "act", "reason": "it was right\nfor a week"}
        assert 428 == local.put(MODE, json=act).status_code
        assert 412 == local.put(MODE, json=act, headers={"If-Match": '"3"'}).status_code
        etag = local.get(MODE).headers["etag"]
        changed = local.put(MODE, json=act, headers={"If-Match": etag})
        assert (200, '"1"') == (changed.status_code, changed.headers["etag"])
        assert ("act", "local", "it was right for a week", NOW_SECONDS) == tuple(
            changed.json()[name] for name in ("mode", "said_by", "reason", "made_seconds")
        )
        assert OperatingMode.ACT is local.context.modes.get("a100/whole-node").mode
        assert "act" == local.get("/v1/pools/a100/whole-node").json()["mode"]
        assert 412 == local.put(MODE, json=act, headers={"If-Match": etag}).status_code

    def test_one_of_an_unknown_pool_or_kind_is_refused(self, local: Service) -> None:
        """Nothing is set by a slip of the pen."""
        any_version = {"If-Match": "*"}
        wanted = {"mode": "act"}
        assert 404 == local.put("/v1/modes/b200", json=wanted, headers=any_version).status_code
        assert 422 == local.put(MODE, json={"mode": "go"}, headers=any_version).status_code


class TestPolicies:
    """Versions are added, never changed."""

    def test_a_document_is_put_into_force(self, local: Service) -> None:
        """As YAML or JSON; it says what it changes, and the same again changes nothing."""
        made = local.post("/v1/policies?note=more", content=written(ceiling_nodes=9), headers=YAML)
        said = made.json()
        assert (200, 3, "in-force", "more", True) == (
            made.status_code, said["policy_version"], said["standing"], said["note"], said["is_new"]
        )  # fmt: skip
        assert "+  ceiling_nodes: 9" in said["changes"]
        again = local.post("/v1/policies", json=content(ceiling_nodes=9)).json()
        assert (3, False) == (again["policy_version"], again["is_new"])
        current = local.get("/v1/policies/current").json()
        assert 9 == current["document"]["pools"][0]["ceiling_nodes"]
        assert current == local.get("/v1/policies/versions/3").json()

    def test_one_that_breaks_rules_changes_nothing(self, local: Service) -> None:
        """And every problem is told at once."""
        bad = local.post("/v1/policies", json=content(floor_nodes=30, flor_nodes=3))
        assert 422 == bad.status_code
        assert 2 == len(bad.json()["errors"])
        assert 1 == local.get("/v1/policies/current").json()["policy_version"]

    @pytest.mark.parametrize(
        ("sent", "media_type", "status"),
        [
            (b"pools: [", "application/yaml", 422),
            (b"\xff", "application/yaml", 422),
            (b"{}", "text/plain", 415),
            (b"a: &a [*a, *a]", "application/yaml", 422),
            (b"[" * 30_000, "application/json", 422),
            (b'{"\\ud800": 1, "pools": []}', "application/json", 422),
        ],
    )
    def test_what_is_no_policy_is_refused(
        self, local: Service, sent: bytes, media_type: str, status: int
    ) -> None:
        """Whatever it is instead."""
        headers = {"Content-Type": media_type}
        assert status == local.post("/v1/policies", content=sent, headers=headers).status_code

    def test_one_goes_back(self, local: Service) -> None:
        """To the one before, or to any; once for one key."""
        local.post("/v1/policies", json=content(ceiling_nodes=9))
        key = {"Idempotency-Key": "back"}
        for _ in range(2):
            back = local.post("/v1/policies/current/rollback", json={}, headers=key).json()
            assert (4, 1) == (back["policy_version"], back["restored_from"])
        to_3 = local.post("/v1/policies/current/rollback", json={"policy_version": 3})
        assert 3 == to_3.json()["restored_from"]
        to_77 = local.post("/v1/policies/current/rollback", json={"policy_version": 77})
        assert 404 == to_77.status_code

    def test_two_are_compared(self, local: Service) -> None:
        """Versions with each other, and a document with what is in force."""
        between = local.get("/v1/policies/diff?before=1&after=2").json()
        assert "+  ceiling_nodes: 30" in between["changes"]
        document = local.post("/v1/policies/diff", json=content(ceiling_nodes=30)).json()
        assert ("version 1", "the document") == (document["before"], document["after"])
        assert between["changes"][2:] == document["changes"][2:]
        assert 404 == local.get("/v1/policies/diff?before=1&after=77").status_code

    def test_one_is_tried_beside_the_one_in_force(self, local: Service) -> None:
        """Until it is taken off."""
        tried = local.put("/v1/policies/shadow", json=content(ceiling_nodes=9)).json()
        assert ("shadow", True) == (tried["standing"], tried["is_new"])
        shadow = local.get("/v1/policies/shadow").json()
        assert tried["policy_version"] == shadow["policy_version"]
        ended = local.delete("/v1/policies/shadow").json()["ended_version"]
        assert tried["policy_version"] == ended
        assert 404 == local.get("/v1/policies/shadow").status_code
        assert local.delete("/v1/policies/shadow").json() == {"ended_version": None}

    def test_a_new_ceiling_holds_for_announcements_at_once(self, local: Service) -> None:
        """Within the same second."""
        said = {
            "pool": "a100/whole-node", "start": "2026-03-05T09:00:00Z",
            "end": "2026-03-05T10:00:00Z", "kind": "absolute", "amount": 80,
        }  # fmt: skip
        assert 200 == local.post("/v1/announcements/preview", json=said).status_code
        local.post("/v1/policies", json=content(ceiling_nodes=9))
        assert 422 == local.post("/v1/announcements/preview", json=said).status_code


class TestModels:
    """The champion is chosen, and gone back from."""

    @pytest.fixture(autouse=True)
    def _two_versions(self, local: Service) -> None:
        panel = tidal_panel(days=2)
        registry = local.context.workspace.registry
        artifact = Persistence().fit(panel, CONTEXT).artifact()
        first = Manifest(
            version="20260301T000000Z", model="persistence", step_seconds=300, first_seconds=0,
            last_seconds=1, pools=(), data_digest="", code_version="", scores={}, reasons=(),
            digests={},
        )  # fmt: skip
        for version in ("20260301T000000Z", "20260302T000000Z"):
            registry.save(replace(first, version=version), artifact)
            registry.promote(version, NOW_SECONDS)

    def test_they_are_listed(self, local: Service) -> None:
        """Newest first, the champion marked."""
        said = local.get("/v1/models").json()
        assert ["20260302T000000Z", "20260301T000000Z"] == [
            one["model_version"] for one in said["versions"]
        ]
        assert "20260302T000000Z" == local.get("/v1/models/champion").json()["model_version"]
        one = local.get("/v1/models/versions/20260301T000000Z").json()
        assert (False, 1) == (one["is_champion"], one["rollbacks_away"])

    def test_a_rollback_is_done_once_for_one_key(self, local: Service) -> None:
        """A repeated request does not go back two."""
        key = {"Idempotency-Key": "back"}
        for _ in range(2):
            back = local.post("/v1/models/champion/rollback", headers=key)
            assert "20260301T000000Z" == back.json()["champion_version"]

    def test_a_version_is_made_champion(self, local: Service) -> None:
        """If it is there."""
        wanted = {"model_version": "20260301T000000Z"}
        assert 200 == local.put("/v1/models/champion", json=wanted).status_code
        assert "20260301T000000Z" == local.context.workspace.registry.champion()
        gone = {"model_version": "20200101T000000Z"}
        assert 404 == local.put("/v1/models/champion", json=gone).status_code
        assert 404 == local.get("/v1/models/versions/20200101T000000Z").status_code
        climbing = {"model_version": "../../data"}
        assert 422 == local.put("/v1/models/champion", json=climbing).status_code


def test_a_mark_is_set_and_taken_off(local: Service) -> None:
    """On a node or a pod; it expires by itself."""
    until = {"reason": "debugging", "expires": "2026-03-04T01:00:00Z"}
    made = local.put("/v1/protections/node/gpu-7", json=until)
    assert ("gpu-7", "local", NOW_SECONDS + 3_600) == tuple(
        made.json()[name] for name in ("name", "owner", "expires_seconds")
    )
    assert 200 == local.put("/v1/protections/pod/ml/train-0", json={}).status_code
    marks = local.context.protections.active(NOW_SECONDS)
    assert [(ProtectedKind.NODE, "gpu-7"), (ProtectedKind.POD, "ml/train-0")] == [
        (one.kind, one.name) for one in marks
    ]
    assert 204 == local.delete("/v1/protections/pod/ml/train-0").status_code
    assert 404 == local.delete("/v1/protections/pod/ml/train-0").status_code
    assert [made.json()] == local.get("/v1/protections").json()["protections"]
    local.clock.seconds += 3_600
    assert [] == local.get("/v1/protections").json()["protections"]


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/v1/protections/disk/a", {}),
        ("/v1/protections/node/A_B", {}),
        ("/v1/protections/node/a", {"expires": "2026-03-04T01:00:00"}),
        ("/v1/protections/node/a", {"expires": "2026-03-01T01:00:00Z"}),
    ],
)
def test_a_mark_that_cannot_be_meant_is_refused(
    local: Service, path: str, sent: dict[str, str]
) -> None:
    """Of an unknown kind, of no name, without an offset, or expired already."""
    assert 422 == local.put(path, json=sent).status_code


def test_a_site_loses_a_node_and_gets_it_back(local: Service) -> None:
    """The next cycle reads it; what nobody takes back is forgotten after a day."""
    lost = local.post("/v1/node-events/node-lost", json={"node": "edge-3"}).json()
    assert [{"node": "edge-3", "lost_seconds": NOW_SECONDS}] == lost["lost"]
    assert {"edge-3": NOW_SECONDS} == local.context.node_events.lost(NOW_SECONDS)
    joined = local.post("/v1/node-events/node-joined", json={"node": "edge-3"}).json()
    assert [] == joined["lost"]
    local.post("/v1/node-events/node-lost", json={"node": "edge-4"})
    local.clock.seconds += 86_400
    assert [] == local.get("/v1/node-events").json()["lost"]
