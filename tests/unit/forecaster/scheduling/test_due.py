"""What has to run: missed runs once, none twice, whatever the clock does."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from forecaster.scheduling.due import DueRun, due_runs, seconds_to_next
from forecaster.scheduling.schedules import Cron, Every
from tests.fakes.jobs import job

PULL = job("pull", Every(300, 20))
TRAIN = job("train", Cron("30 3 * * *"), after=("pull",))
HOUR, DAY = 3_600, 86_400


def names(runs: tuple[DueRun, ...]) -> list[str]:
    return [run.job.name for run in runs]


def lived(clock: list[int]) -> list[tuple[str, int]]:
    """What a service runs that looks at these times, each run being over at once."""
    last: dict[str, int] = {}
    done = []
    for now in clock:
        for run in due_runs((PULL, TRAIN), last, now):
            last[run.job.name] = run.due_seconds
            done.append((run.job.name, run.due_seconds))
    return done


def test_what_never_ran_is_due_at_once() -> None:
    """For the newest due time."""
    assert (DueRun(PULL, 920),) == due_runs((PULL,), {}, 1_000)


def test_what_was_missed_is_caught_up_once() -> None:
    """A night's outage is one run, not a hundred."""
    assert (DueRun(PULL, DAY + 20),) == due_runs((PULL,), {"pull": 20}, DAY + 30)
    assert () == due_runs((PULL,), {"pull": DAY + 20}, DAY + 319)


def test_what_runs_is_not_begun_again() -> None:
    """However long it takes."""
    assert () == due_runs((PULL,), {"pull": 20}, DAY, busy={"pull"})


def test_a_job_waits_for_those_that_it_builds_on() -> None:
    """While they run, and where they are about to; else it does not."""
    score = job("score", Every(300, 20), after=("pull", "absent"))
    assert ["pull"] == names(due_runs((score, PULL), {}, 1_000))
    assert [] == names(due_runs((score, PULL), {"pull": 920}, 1_000, busy={"pull"}))
    assert ["score"] == names(due_runs((score, PULL), {"pull": 920}, 1_000))


def test_a_run_by_hand_counts() -> None:
    """What ran between two due times is due again at the next."""
    assert () == due_runs((PULL,), {"pull": 1_000}, 1_200)
    assert (DueRun(PULL, 1_220),) == due_runs((PULL,), {"pull": 1_000}, 1_220)


def test_a_clock_that_goes_back_a_little_repeats_nothing() -> None:
    """It is silent for less than a period, and the nightly job for its hour."""
    assert () == due_runs((PULL,), {"pull": 1_220}, 1_219)
    assert () == due_runs((PULL,), {"pull": 1_220}, 930)
    night = 3 * HOUR + 1_800
    assert () == due_runs((TRAIN,), {"train": DAY + night}, DAY + night - HOUR)


def test_a_clock_that_was_hours_ahead_does_not_silence_a_job() -> None:
    """Runs for times to come cannot have been; it goes on, and says so."""
    assert (DueRun(PULL, 920, clock_went_back=True),) == due_runs((PULL,), {"pull": 4_820}, 1_000)


def test_the_next_due_time_of_all_is_waited_for() -> None:
    """Whichever job it is of."""
    assert 20 == seconds_to_next((TRAIN, PULL), 1_200)
    assert 1 == seconds_to_next((TRAIN, PULL), 1_219)
    assert 300 == seconds_to_next((TRAIN, PULL), 1_220)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 2 * HOUR), min_size=1, max_size=60))
def test_no_due_time_is_run_twice_while_time_goes_on(naps: list[int]) -> None:
    """And never more runs than due times, nor than looks at the clock."""
    clock = [DAY + sum(naps[:index]) for index in range(len(naps))]
    done = lived(clock)
    assert max(Counter(done).values()) == 1
    pulls = [due for name, due in done if name == "pull"]
    assert pulls == sorted(pulls)
    assert len(pulls) <= min(len(clock), (clock[-1] - clock[0]) // 300 + 2)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 6 * HOUR), st.sampled_from([-HOUR, HOUR]))
def test_a_jump_of_an_hour_is_no_storm(at: int, jump: int) -> None:
    """A run for each period that goes by, and one more at most; the nightly job runs once."""
    before = list(range(DAY, DAY + at + 1, 30))
    after = [before[-1] + jump + 30 * step for step in range(120)]
    already, everything = lived(before), lived(before + after)
    assert everything[: len(already)] == already
    done = Counter(everything[len(already) :])
    assert {1} == set(done.values())
    assert 11 <= sum(name == "pull" for name, _ in done) <= 13
    assert {1} == set(Counter(due for name, due in everything if name == "train").values())
