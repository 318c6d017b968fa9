"""What a job and `riddlemill run` would take, before either begins: estimated from the heads of the dumps and from measured runs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable

from . import sizes
from ._plan import Dump

# Bytes at the head of a dump that are looked at.
HEAD = 1 << 20


def posts_of(dumps: Iterable[tuple[Dump, str]]) -> int:
    """About how many posts the dumps have, each with its path on this machine."""
    return sum(round(dump.bytes / _bytes_of_a_post(dump, path)) for dump, path in dumps)


def _bytes_of_a_post(dump: Dump, path: str) -> float:
    if dump.cut == "line":
        try:
            with open(path, "rb") as file:
                head = file.read(HEAD)
        except OSError:
            return sizes.POST
        lines = head.count(b"\n")
        return (head.rfind(b"\n") + 1) / lines if lines else sizes.POST
    # Packed posts take a part of their bytes.
    return sizes.POST / 4 if dump.cut == "member" else sizes.POST


def cpu_seconds_of_run(posts: int) -> float:
    """CPU seconds of `riddlemill run` up to dedup: between and beyond what was measured, the seconds of a post grow with a power of
    their number."""
    few, little = sizes.MEASURED[0]
    if posts <= few:
        return posts * little / few
    for (low, first), (high, second) in zip(sizes.MEASURED, sizes.MEASURED[1:]):
        if posts <= high or (high, second) == sizes.MEASURED[-1]:
            power = math.log(second / first) / math.log(high / low)
            return float(first * (posts / low) ** power)
    return 0.0


def outlook(recipe: str, posts: int, cores: int | None = None) -> str:
    """A sentence on whether one machine is enough, with what it would take there."""
    cores = cores or os.cpu_count() or 1
    cpu = cpu_seconds_of_run(posts)
    most, _ = sizes.MEASURED[-1]
    own = f"`riddlemill run` takes about {_time(cpu)} of CPU time, {_time(cpu / cores)} on {cores} cores"
    if posts > most:
        return f"{recipe}: about {posts:,} posts, more than the {most:,} measured on one machine: there {own}"
    job = f"a job takes about {sizes.JOB:g} times the CPU time"
    return f"{recipe}: about {posts:,} posts: one machine is enough: {own}; {job}; going on"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0.1):.1f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
