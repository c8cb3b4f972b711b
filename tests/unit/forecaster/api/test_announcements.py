"""Floods are announced once, changed by whoever has read them, previewed, and scored."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args
from urllib.parse import quote

import pytest

from features.events import EventKind
from forecaster.api.announcement_bodies import AnnouncementBody
from forecaster.database.announcements import MOST_ACTIVE, Announcements
from forecaster.scopes import Scope
from tests.fakes.announcements import FLOOD, HOUR
from tests.fakes.service import NOW_SECONDS, Service, token

ALL = "/v1/announcements"
CEILING_GPUS = 20 * 8
KEY = {"Idempotency-Key": "k1"}


def time_of(seconds_from_now: int) -> str:
    """A time with an offset."""
    return datetime.fromtimestamp(NOW_SECONDS + seconds_from_now, UTC).isoformat()


def body(**changes: Any) -> dict[str, Any]:
    """Two hours of 64 GPUs more, in ten hours, with changes."""
    said = {
        "pool": "a100/whole-node", "start": time_of(10 * HOUR), "end": time_of(12 * HOUR),
        "kind": "extra", "amount": 64,
    }  # fmt: skip
    return said | changes


def test_what_is_announced_is_kept(local: Service) -> None:
    """It says where it is, and is in the list and in what the next cycle reads."""
    again = {"rule": "FREQ=WEEKLY;BYDAY=FR", "excluded_dates": ["2026-12-25"], "on_holidays": False}
    made = local.post(ALL, json=body(reason="sweep", certainty=0.9, recurrence=again))
    assert 201 == made.status_code
    assert '"1"' == made.headers["etag"]
    state = local.get(made.headers["location"]).json()
    assert made.json() == state
    assert ("sweep", "local", 0.9, 10 * HOUR + NOW_SECONDS, None) == (
        state["reason"], state["owner"], state["certainty"], state["start_seconds"],
        state["ends_seconds"],
    )  # fmt: skip
    assert again | {"time_zone": "UTC"} == state["recurrence"]
    assert state["identifier"] in {
        one.identifier for one in local.context.announcements.active(NOW_SECONDS)
    }


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"start": "2026-03-05T09:00:00"}, "start"),
        ({"start": 1_772_700_000}, "start"),
        ({"start": "1969-12-31T23:00:00Z"}, "start"),
        ({"end": time_of(10 * HOUR)}, "ends before it begins"),
        ({"start": time_of(-3 * HOUR), "end": time_of(-HOUR)}, "over already"),
        ({"pool": "b200"}, "pool 'b200'"),
        ({"kind": "extra", "amount": CEILING_GPUS + 1}, f"20 nodes, {CEILING_GPUS} GPUs"),
        ({"kind": "absolute", "amount": CEILING_GPUS + 1}, f"20 nodes, {CEILING_GPUS} GPUs"),
        ({"pool": None, "amount": CEILING_GPUS + 1}, "more than a100/whole-node may have"),
        ({"amount": "64"}, "amount"),
        ({"amount": -1}, "amount"),
        ({"amount": float("inf")}, "amount"),
        ({"kind": "factor", "amount": 0.5}, "factor takes more than 1"),
        ({"certainty": 0}, "certainty"),
        ({"reason": "x" * 501}, "reason"),
        ({"flor": 3}, "flor"),
        ({"recurrence": {"rule": "FREQ=SECONDLY"}}, "no RRULE"),
        ({"recurrence": {"rule": "0 9 * * 1", "time_zone": "Mars/Olympus"}}, "Mars/Olympus"),
        ({"pool": "\ud800"}, "pool"),
        ({"\ud800": 1}, "unicode"),
    ],
)
def test_what_cannot_be_meant_or_had_is_refused(
    local: Service, changes: dict[str, Any], told: str
) -> None:
    """With what is wrong, and nothing kept."""
    before = len(local.get(ALL).json()["announcements"])
    sent = json.dumps(body(**changes)).encode()
    answer = local.post(ALL, content=sent, headers={"Content-Type": "application/json"})
    assert 422 == answer.status_code
    assert "application/problem+json" == answer.headers["content-type"]
    assert told in answer.json()["detail"]
    assert before == len(local.get(ALL).json()["announcements"])


def test_as_much_as_the_ceiling_allows_may_be_announced(local: Service) -> None:
    """And a pool that the history alone knows has no ceiling."""
    assert 201 == local.post(ALL, json=body(amount=CEILING_GPUS)).status_code
    fragment = body(pool="a100/fragment", amount=10 * CEILING_GPUS)
    assert 201 == local.post(ALL, json=fragment).status_code


class TestOnce:
    """An `Idempotency-Key` says which requests are the same one."""

    def test_the_same_request_is_done_once(self, local: Service) -> None:
        """And answered the same each time."""
        first = local.post(ALL, json=body(), headers=KEY)
        again = local.post(ALL, json=body(), headers=KEY)
        assert (201, 201) == (first.status_code, again.status_code)
        assert first.json() == again.json()
        assert first.headers["location"] == again.headers["location"]
        assert 3 == len(local.get(ALL).json()["announcements"])

    def test_another_request_with_the_same_key_is_refused(self, local: Service) -> None:
        """It cannot be meant."""
        local.post(ALL, json=body(), headers=KEY)
        assert 422 == local.post(ALL, json=body(amount=8), headers=KEY).status_code

    def test_a_request_that_failed_may_be_made_again(self, local: Service) -> None:
        """Corrected, with the same key."""
        assert 422 == local.post(ALL, json=body(pool="b200"), headers=KEY).status_code
        assert 201 == local.post(ALL, json=body(), headers=KEY).status_code

    def test_a_key_is_its_callers_own(self, guarded: Service) -> None:
        """Two callers that use the same one do not meet."""
        made = []
        for _ in range(2):
            guarded.token = token(guarded, Scope.ANNOUNCE)
            made.append(guarded.post(ALL, json=body(), headers=KEY).json()["identifier"])
        assert 2 == len(set(made))

    def test_one_that_died_before_it_was_answered_makes_nothing_twice(self, local: Service) -> None:
        """The next attempt finds what was made."""
        first = local.post(ALL, json=body(), headers=KEY).json()
        local.context.idempotency.answer("local", "k1", None)
        local.clock.seconds += 61
        again = local.post(ALL, json=body(), headers=KEY)
        assert (201, first["identifier"]) == (again.status_code, again.json()["identifier"])
        assert 3 == len(local.get(ALL).json()["announcements"])


class TestChanging:
    """Only who has read an announcement may change it."""

    ONE = f"{ALL}/soon"

    def test_without_having_read_it(self, local: Service) -> None:
        """428; and 412 after somebody else's change."""
        assert 428 == local.put(self.ONE, json=body()).status_code
        stale = {"If-Match": '"7"'}
        assert 412 == local.put(self.ONE, json=body(), headers=stale).status_code
        assert 412 == local.put(self.ONE, json=body(), headers={"If-Match": 'W/"1"'}).status_code
        assert 412 == local.delete(self.ONE, headers=stale).status_code
        assert 1 == local.get(self.ONE).json()["version"]

    def test_after_having_read_it(self, local: Service) -> None:
        """It says the new words, known from now on; the owner stays."""
        etag = local.get(self.ONE).headers["etag"]
        local.clock.seconds += 5
        changed = local.put(self.ONE, json=body(amount=8), headers={"If-Match": etag})
        assert (200, '"2"') == (changed.status_code, changed.headers["etag"])
        state = local.get(self.ONE).json()
        assert (8.0, "ada", NOW_SECONDS + 5) == (
            state["amount"], state["owner"], state["announced_seconds"]
        )  # fmt: skip
        assert 304 == local.get(self.ONE, headers={"If-None-Match": '"2"'}).status_code

    def test_a_change_is_held_to_the_same_rules(self, local: Service) -> None:
        """No more than the ceiling allows."""
        sent = body(amount=CEILING_GPUS + 1)
        assert 422 == local.put(self.ONE, json=sent, headers={"If-Match": "*"}).status_code

    def test_what_was_called_off_is_no_more(self, local: Service) -> None:
        """But for the list, which keeps it; calling it off again changes nothing."""
        off = local.delete(self.ONE)
        assert (200, NOW_SECONDS) == (off.status_code, off.json()["cancelled_seconds"])
        local.clock.seconds += 1
        assert off.json() == local.delete(self.ONE).json()
        assert 404 == local.get(self.ONE).status_code
        assert 404 == local.put(self.ONE, json=body(), headers={"If-Match": "*"}).status_code
        assert off.json() in local.get(ALL).json()["announcements"]
        active = local.get(f"{ALL}?active=true").json()["announcements"]
        assert "soon" not in {one["identifier"] for one in active}

    def test_one_that_never_was(self, local: Service) -> None:
        """404, whatever is asked."""
        assert 404 == local.get(f"{ALL}/nobody").status_code
        assert 404 == local.delete(f"{ALL}/nobody").status_code
        assert 404 == local.get(f"{ALL}/nobody/scores").status_code


def test_a_list_is_read_page_by_page(local: Service) -> None:
    """Each announcement once, newest first, by the filters that are asked for."""
    for number in range(3):
        local.clock.seconds += 1
        local.post(ALL, json=body(owner=f"o{number}"))
    seen, cursor = [], ""
    while True:
        page = local.get(f"{ALL}?limit=2{cursor}").json()
        seen += [one["owner"] for one in page["announcements"]]
        if page["cursor"] is None:
            break
        cursor = f"&cursor={page['cursor']}"
    assert ["o2", "o1", "o0", "ada", "ada"] == seen
    owned = local.get(f"{ALL}?owner=o1").json()["announcements"]
    assert ["o1"] == [one["owner"] for one in owned]
    assert [] == local.get(f"{ALL}?pool=a100/fragment").json()["announcements"]
    assert 422 == local.get(f"{ALL}?cursor=none").status_code


def test_a_preview_shows_forecast_and_nodes_with_and_without(local: Service) -> None:
    """And keeps nothing."""
    sent = body(start=time_of(600), end=time_of(HOUR))
    shown = local.post(f"{ALL}/preview", json=sent).json()
    (effect,) = shown["pools"]
    assert [NOW_SECONDS + 600] == [one["start_seconds"] for one in shown["times"]]
    for level, gpus in effect["peak_gpus"].items():
        assert gpus + 64 == effect["peak_gpus_with"][level]
    # 40 GPUs now and 64 more are 13 nodes of 8, asked for 20 minutes before
    assert (104.0, 7, 13, 20, NOW_SECONDS - 600) == (
        effect["announced_gpus"], effect["desired_nodes"], effect["announced_nodes"],
        effect["ceiling_nodes"], effect["asked_for_seconds"],
    )  # fmt: skip
    assert 2 == len(local.get(ALL).json()["announcements"])


def test_a_preview_of_what_is_not_known_says_null(local: Service) -> None:
    """No forecast, no policy: no number; what lies beyond the forecast leaves it as it is."""
    effects = local.post(f"{ALL}/preview", json=body(pool=None)).json()["pools"]
    by_pool = {one["pool"]: one for one in effects}
    silent = by_pool["h100"]
    assert {None} == {silent[name] for name in silent if name != "pool"}
    whole = by_pool["a100/whole-node"]
    assert whole["peak_gpus"] == whole["peak_gpus_with"]


def test_what_was_announced_is_scored_against_what_came(local: Service) -> None:
    """Once its time is over; before that there is nothing to say."""
    (past,) = local.get(f"{ALL}/past/scores").json()["outcomes"]
    assert past["before_gpus"] + 64 == past["announced_gpus"]
    assert past["came_gpus"] / past["announced_gpus"] == pytest.approx(past["came_share"])
    assert past["why_not"] is None
    assert [] == local.get(f"{ALL}/soon/scores").json()["outcomes"]


def test_a_time_that_was_not_observed_is_not_scored(local: Service) -> None:
    """It has a reason, and no number."""
    unseen = replace(
        FLOOD, identifier="unseen", pool="h100", announced_seconds=NOW_SECONDS - 9 * HOUR,
        start_seconds=NOW_SECONDS - 8 * HOUR, end_seconds=NOW_SECONDS - 7 * HOUR,
    )  # fmt: skip
    local.context.announcements.create(unseen)
    (one,) = local.get(f"{ALL}/unseen/scores").json()["outcomes"]
    assert (None, None) == (one["came_gpus"], one["came_share"])
    assert "observed" in one["why_not"]


def test_identifiers_of_calendars_and_cron_jobs_are_found(local: Service) -> None:
    """They hold slashes and more."""
    for identifier in ("cron-job/gpu/nightly", "7f@x.example@1772582400"):
        one = replace(
            FLOOD, identifier=identifier, start_seconds=NOW_SECONDS, end_seconds=NOW_SECONDS + HOUR
        )
        local.context.announcements.create(one, "calendar")
        assert identifier == local.get(f"{ALL}/{identifier}").json()["identifier"]
        assert [] == local.get(f"{ALL}/{identifier}/scores").json()["outcomes"]


class TestIncidents:
    """What floods and strangers may not do (docs/design: reliability)."""

    def test_at_most_a_thousand_are_active(self, local: Service) -> None:
        """One more is a conflict until one is called off or over."""
        announcements = Announcements(local.context.database)
        many = [
            replace(
                FLOOD, identifier=f"m{number}", start_seconds=NOW_SECONDS + HOUR,
                end_seconds=NOW_SECONDS + 2 * HOUR, announced_seconds=NOW_SECONDS,
            )
            for number in range(MOST_ACTIVE - 1)  # `soon` is active too
        ]  # fmt: skip
        announcements.replace("calendar", many, NOW_SECONDS)
        refused = local.post(ALL, json=body())
        assert 409 == refused.status_code
        assert f"more than {MOST_ACTIVE}" in refused.json()["detail"]
        local.delete(f"{ALL}/m7")
        assert 201 == local.post(ALL, json=body()).status_code

    def test_they_expire_by_themselves(self, local: Service) -> None:
        """What is over is active no more, and nobody had to do anything."""
        local.clock.seconds = NOW_SECONDS + 600 + 2 * HOUR
        assert [] == local.get(f"{ALL}?active=true").json()["announcements"]
        assert () == local.context.announcements.active(local.clock())

    @pytest.mark.parametrize(
        "hostile",
        ['"}', "a\nb", "<script>alert(1)</script>", "' OR 1=1 --", "=cmd()", "{{7*7}}", "\x1b[2J"],
    )
    def test_hostile_words_stay_words(self, local: Service, hostile: str) -> None:
        """They come back as they were, in JSON, on one line, and never as a page."""
        made = local.post(ALL, json=body(reason=hostile, owner="ada"))
        assert 201 == made.status_code
        answer = local.get(f"{ALL}/{made.json()['identifier']}")
        assert "application/json" == answer.headers["content-type"]
        assert "nosniff" == answer.headers["x-content-type-options"]
        assert hostile.replace("\n", " ").replace("\x1b", "").strip() == answer.json()["reason"]
        assert answer.json()["reason"].isprintable()

    @pytest.mark.parametrize("hostile", ["a\nb", "\x00", "x" * 65_000, "../../etc", "a100'--", "ü"])
    def test_hostile_pools_are_unknown_pools(self, local: Service, hostile: str) -> None:
        """In a body, a path and a query; nothing of them reaches more than a comparison."""
        assert 422 == local.post(ALL, json=body(pool=hostile)).status_code
        path = f"/v1/pools/{quote(hostile, safe='')}"
        assert local.get(path).status_code in (404, 422)
        found = local.get("/v1/audit", params={"pool": hostile})
        assert found.status_code == 422 or [] == found.json()["decisions"]


def test_the_kinds_are_those_of_events() -> None:
    """A new kind is offered here too."""
    kinds = get_args(AnnouncementBody.model_fields["kind"].annotation)
    assert [one.value for one in EventKind] == list(kinds)
