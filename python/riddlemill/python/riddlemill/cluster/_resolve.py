"""Which row is merged into which, and the ledger's records of it."""

from __future__ import annotations

import bisect
import json
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from . import sizes
from ._calls import apply, dedup_of
from ._files import lines_of, packed, read, write
from ._frames import by_lane, chunk_of, chunked, frame_of, place_of, report, stored_table, table_of
from ._pairs import FIGURES, compared_of
from ._plan import Block, Plan
from ._rows import rows_of


def resolve(plan: Plan, _: int) -> Iterator[Block]:
    """Which row is merged into which, by the chunk of the kept one; and where to cut the pairs to sort them."""
    bounds: list[str] = []

    def batches() -> Iterator[Any]:
        for number in range(len(plan.chunks)):
            for table in compared_of(plan, number):
                bounds.extend(table["into_id"].take(pa.array(range(0, len(table), sizes.SAMPLE))).to_pylist())
                columns = ["from", "from_rank", "into", "into_rank", "verdict", "score", "predicate"]
                yield from table.select(columns).to_batches()
            copies = stored_table(plan, f"copies/{number}")
            if copies is not None:
                copies = copies.append_column("verdict", pa.array(["copy"] * len(copies)))
                copies = copies.append_column("score", pa.array([1.0] * len(copies)))
                copies = copies.append_column("predicate", pa.nulls(len(copies), pa.string()))
                yield from copies.to_batches()

    with tempfile.TemporaryDirectory(prefix="riddlemill-") as folder:
        decided = pa.table(dedup_of(plan.dedup).resolve(batches(), folder, 256))
    bounds.sort(key=lambda one: one.encode())
    cuts = [bounds[len(bounds) * n // plan.lanes] for n in range(1, plan.lanes)] if bounds else []
    write(plan, "bounds", json.dumps(cuts).encode())
    yield from by_lane(decided, chunk_of(decided["into"].to_numpy()))


def with_kept(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Decisions with the kept row, by the chunk of the merged one."""
    decided = pa.concat_tables([table_of(block) for block in blocks])
    rows = rows_of(plan, number)
    kept = rows.take(pa.array(place_of(decided["into"].to_numpy())))
    texts = chunked(dedup_of(plan.dedup).untagged(kept["text"]))
    decided = decided.append_column("id", kept["id"]).append_column("text", texts)
    yield from by_lane(decided, chunk_of(decided["row"].to_numpy()))


def keep_decided(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Writes which rows of a chunk are merged into others."""
    decided = pa.concat_tables([table_of(block) for block in blocks])
    write(plan, f"decided/{number}", packed(frame_of(decided)))
    yield report(merged=len(decided))


def book(plan: Plan, number: int) -> Iterator[Block]:
    """The ledger records of a chunk's rows, and its pairs by their position in the order of ids."""
    decided = stored_table(plan, f"decided/{number}")
    into = {}
    if decided is not None:
        into = dict(zip(place_of(decided["row"].to_numpy()).tolist(), decided.to_pylist()))
    made = []
    # A record of filter has a row or none. Quotes within a text are escaped: no text holds what is looked for.
    records = lines_of(plan, f"filter/part-{number:08}.zst").splitlines()
    for place, line in enumerate(line for line in records if b',"rows":[{' in line):
        decision = into.get(place)
        more = b""
        if decision is not None:
            fields = {"into": {"id": decision["id"], "text": decision["text"]}, "score": decision["score"]}
            if decision["predicate"] is not None:
                fields["predicate"] = decision["predicate"]
            more = b"," + json.dumps(fields, ensure_ascii=False).encode()[1:-1]
        made.append(b'{"row":' + line + more + b"}\n")
    write(plan, f"dedup/part-{number:08}.zst", packed(apply(plan, ["dedup-ledger"], b"".join(made))))
    cuts = [cut.encode() for cut in json.loads(read(plan, "bounds") or b"[]")]
    for table in compared_of(plan, number):
        ids = [one.encode() for one in table["into_id"].to_pylist()]
        lanes = np.array([bisect.bisect_right(cuts, one) for one in ids], np.int64)
        yield from by_lane(table, lanes)
    # A lane without pairs has a file too, so that the folder is there.
    yield 0, b""


def sort_pairs(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The pairs of a range of ids in their order, each once."""
    pairs: dict[tuple[bytes, bytes], dict[str, Any]] = {}
    for block in filter(None, blocks):
        for one in table_of(block).to_pylist():
            pairs[one["into_id"].encode(), one["from_id"].encode()] = one
    lines = []
    for _, one in sorted(pairs.items()):
        line = {"from": one["from_rank"], "into": one["into_rank"]}
        line |= {name: one[name] for name in FIGURES if one[name] is not None}
        lines.append(json.dumps(line, ensure_ascii=False))
    write(plan, f"pairs/part-{lane:08}.zst", packed("".join(f"{line}\n" for line in lines).encode()))
    yield report(pairs=len(lines))
