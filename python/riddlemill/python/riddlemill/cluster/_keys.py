"""Keys: similar rows share one, so that each pair of them is compared in some lane."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from . import sizes
from ._calls import dedup_of
from ._files import packed, read, unpacked, write
from ._frames import by_lane, chunk_of, report
from ._plan import Block, Plan
from ._rows import heads_of


def count_tokens(plan: Plan, number: int) -> Iterator[Block]:
    """How many rows contain each token."""
    yield number // sizes.ADDED, dedup_of(plan.dedup).count(heads_of(plan, number)[1])


def add_counts(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The counts of some chunks together."""
    yield 0, dedup_of(plan.dedup).add_counts(list(blocks))


def keep_counts(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Writes the counts of all chunks, and what comparisons need of them."""
    dedup = dedup_of(plan.dedup)
    counts = dedup.add_counts(list(blocks))
    write(plan, "counts", packed(counts))
    write(plan, "common", packed(dedup.common_pairs(counts)))
    yield report()


@functools.lru_cache(maxsize=1)
def _keyer(work: str, storage: str, dedup: tuple[tuple[str, Any], ...], shipped: str) -> Any:
    counts = read(Plan("", work, (), (), (), (), 1, 1, 1, shipped, storage), "counts")
    if counts is None:
        raise FileNotFoundError(f"{work}/counts")
    return dedup_of(dedup).keyer(unpacked(counts))


def _cut(plan: Plan, numbers: Any, texts: Any, share: str, heavy: list[tuple[int, int, int]]) -> Iterator[Block]:
    keyer = _keyer(plan.work, plan.storage, plan.dedup, plan.shipped)
    for start in range(0, len(numbers), sizes.CUT):
        rows = numbers[start : start + sizes.CUT].tolist()
        yield from keyer.blocks(rows, texts.slice(start, sizes.CUT), plan.lanes, share, heavy)


def sample_keys(plan: Plan, number: int) -> Iterator[Block]:
    """The keys of a few rows."""
    numbers, texts = heads_of(plan, number)
    # Fibonacci hashing: whatever a chunk's rows are in the order of, these are spread over them.
    chosen = (numbers * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - sizes.SAMPLE.bit_length() + 1) == 0
    yield from _cut(plan, numbers[chosen], texts.filter(pa.array(chosen)), "1/1", [])


def find_heavy(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Keys with more rows than one task looks up together."""
    heavy = dedup_of(plan.dedup).heavy(list(blocks), max(1, plan.split // sizes.SAMPLE))
    yield 0, json.dumps([(kind, key, -(-count * sizes.SAMPLE // plan.split)) for kind, key, count in heavy]).encode()


def keep_heavy(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Writes those keys, each with the number of shards that its rows are split into."""
    heavy = sorted(one for block in blocks for one in json.loads(block))
    write(plan, "heavy", json.dumps(heavy).encode())
    yield report(heavy=len(heavy))


def cut_keys(plan: Plan, number: int) -> Iterator[Block]:
    """The keys of a chunk's rows."""
    heavy = json.loads(read(plan, "heavy") or b"[]")
    yield from _cut(plan, *heads_of(plan, number), plan.share, [tuple(one) for one in heavy])


def meet(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The possibly similar pairs among the rows of a lane's keys, by the chunk of the first."""
    pairs = pa.table(dedup_of(plan.dedup).pairs(list(blocks)))
    yield from by_lane(pairs, chunk_of(pairs["a"].to_numpy()))
