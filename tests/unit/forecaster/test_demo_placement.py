"""The demo's stand-in for a scheduler: gangs need whole free nodes, and everything starts once."""

from hypothesis import given
from hypothesis import strategies as st

from forecaster.demo_placement import JobRequest, placed


def request(submit: int, gpus: int, run: int) -> JobRequest:
    return JobRequest(submit, gpus, run, "ada", "small")


def test_a_job_starts_at_once_where_there_is_room() -> None:
    """Two halves of a node share it, and a gang takes the other."""
    requests = [request(0, 4, 100), request(1, 4, 100), request(2, 8, 100)]
    assert [0, 1, 2] == placed(requests, nodes=2, node_gpus=8)


def test_a_gang_waits_for_whole_nodes_even_if_the_gpus_are_free() -> None:
    """One GPU on one of two nodes holds up a job of 16 until it ends."""
    assert [0, 50] == placed([request(0, 1, 50), request(1, 16, 10)], nodes=2, node_gpus=8)


def test_a_small_job_goes_ahead_of_a_gang_that_waits() -> None:
    """The gang behind which it stands could not have used its GPU."""
    requests = [request(0, 8, 50), request(1, 16, 10), request(2, 1, 5)]
    assert [0, 50, 2] == placed(requests, nodes=2, node_gpus=8)


def test_fragments_fill_the_fullest_node_first() -> None:
    """The third fragment joins the first two, so that a whole node stays free for the gang."""
    requests = [request(0, 3, 100), request(0, 3, 100), request(1, 2, 100), request(2, 8, 100)]
    assert [0, 0, 1, 2] == placed(requests, nodes=2, node_gpus=8)


@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.sampled_from([1, 2, 4, 7, 8, 16, 24]), st.integers(1, 30)),
        max_size=25,
    )
)
def test_no_instant_holds_more_than_the_cluster(jobs: list[tuple[int, int, int]]) -> None:
    """Whatever is submitted, running GPUs fit, and nothing starts before its submission."""
    requests = [request(*job) for job in sorted(jobs)]
    starts = placed(requests, nodes=3, node_gpus=8)
    assert all(start >= one.submit_seconds for start, one in zip(starts, requests, strict=True))
    for moment in range(50 + 31 * (len(jobs) + 1)):
        running = [
            one.gpus
            for start, one in zip(starts, requests, strict=True)
            if start <= moment < start + one.run_seconds
        ]
        assert sum(running) <= 24
