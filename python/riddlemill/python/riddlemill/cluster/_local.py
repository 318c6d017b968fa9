"""The engine of one machine."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from ._plan import Block, Phase, Plan
from ._tasks import run_step, run_task


class Local:
    """The tasks of a phase on the threads of this machine; intermediate results are in memory."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or os.cpu_count() or 1

    def run(self, plan: Plan, phase: Phase) -> Iterable[bytes]:
        with ThreadPoolExecutor(self.threads) as pool:
            made = pool.map(lambda number: list(run_task(plan, phase.first, number)), range(phase.tasks))
            blocks = [block for task in made for block in task]
            for step, _ in phase.steps:
                lanes: dict[int, list[bytes]] = {}
                for lane, block in blocks:
                    lanes.setdefault(lane, []).append(block)
                del blocks
                act = functools.partial(_step, plan, step)
                blocks = [block for made in pool.map(act, lanes.items()) for block in made]
        return [block for _, block in blocks]


def _step(plan: Plan, name: str, lane: tuple[int, list[bytes]]) -> list[Block]:
    return list(run_step(plan, name, *lane))
