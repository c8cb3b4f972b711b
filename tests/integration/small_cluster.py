"""A small cluster over 35 days: one job table, and the pods that Kubernetes would make of it."""

import random
from dataclasses import dataclass

import numpy as np

from features.job_demand import Jobs
from tests.integration.ksm_openmetrics import KsmNode, KsmPod, openmetrics

END = 1_767_571_200  # 2026-01-05T00:00:00Z
START = END - 35 * 86_400
A100, L40S = "NVIDIA-A100-SXM4-80GB", "NVIDIA-L40S"
GPUS_PER_NODE = {A100: 8, L40S: 4}
NODES = (
    KsmNode("a1", A100, (("nvidia_com_gpu", 8),)),
    KsmNode("a2", A100, (("nvidia_com_gpu", 8),)),
    KsmNode("l1", L40S, (("nvidia_com_gpu", 4),)),
)


@dataclass(frozen=True)
class Job:
    """One row of the job table; times are half past a minute, between two scrapes."""

    submit: int
    start: int
    end: int
    gpus: int
    gpu_type: str


@dataclass(frozen=True)
class SmallCluster:
    """The job table and its two readings."""

    jobs: tuple[Job, ...]

    def table(self) -> Jobs:
        """The jobs as the job-table source holds them."""

        def column(name: str) -> np.ndarray:
            return np.array([getattr(job, name) for job in self.jobs], dtype=np.float64)

        return Jobs(
            submit_seconds=column("submit"),
            start_seconds=column("start"),
            end_seconds=column("end"),
            gpus=column("gpus"),
            node_gpus=np.array([GPUS_PER_NODE[job.gpu_type] for job in self.jobs], dtype=float),
            gpu_type=np.array([job.gpu_type for job in self.jobs], dtype=object),
        )

    def openmetrics(self) -> str:
        """What was scraped of it once a minute."""
        nodes_of = {A100: ("a1", "a2"), L40S: ("l1",)}
        pods = [
            KsmPod(
                name=f"job-{number}",
                requests=(("nvidia_com_gpu", job.gpus),),
                submit=job.submit,
                start=job.start,
                end=job.end,
                node=nodes_of[job.gpu_type][number % len(nodes_of[job.gpu_type])],
                selected_product=job.gpu_type,
            )
            for number, job in enumerate(self.jobs)
        ]
        return openmetrics(NODES, pods, range(START, END + 1, 60))


def small_cluster() -> SmallCluster:
    """Always the same jobs: a few by hand on day 20, the others drawn."""
    day = START + 20 * 86_400
    by_hand = [
        # submitted 09:00:30, starts 09:12:30, ends 10:02:30
        Job(day + 32_430, day + 33_150, day + 36_150, 8, A100),
        # two that only overlap inside the step of 09:30
        Job(day + 34_110, day + 34_110, day + 34_350, 4, A100),
        Job(day + 34_290, day + 34_290, day + 36_090, 2, A100),
        # a whole node of four GPUs, and half of one
        Job(day + 32_430, day + 32_430, day + 39_630, 4, L40S),
        Job(day + 34_230, day + 35_430, day + 39_630, 2, L40S),
    ]
    dice = random.Random(7)
    drawn = []
    for _ in range(70):
        submit = START + 60 * dice.randrange(30 * 1_440) + 30
        if abs(submit - day) < 86_400 * 2:
            continue
        start = submit + 60 * dice.choice((0, 0, 3, 11, 40))
        gpu_type = dice.choice((A100, A100, L40S))
        gpus = dice.choice((1, 2, GPUS_PER_NODE[gpu_type]))
        drawn.append(Job(submit, start, start + 60 * dice.randrange(2, 240), gpus, gpu_type))
    return SmallCluster((*by_hand, *drawn))
