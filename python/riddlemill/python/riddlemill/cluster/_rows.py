"""Rows: after import each chunk is a task, through clean, anonymise and filter; and which rows are copies."""

from __future__ import annotations

import importlib
import json
import pathlib
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ._calls import apply, dedup_of
from ._files import lines_of, packed, read, write
from ._frames import by_lane, chunk_of, chunked, frame_of, numbers_of, report, stored_table, table_of, table_of_lines
from ._plan import STAGES, Block, Plan

# Its functions are made when it is imported: no type checker knows them.
pc: Any = importlib.import_module("pyarrow.compute")


# A row as `apply rows` writes it.
ROW = pa.schema([("id", pa.string()), ("text", pa.string()), ("score", pa.float64()), ("time", pa.string())])


# What of a ledger record of filter is looked at.
LANGUAGES = pa.schema([("rows", pa.list_(pa.struct([("language", pa.string())])))])


def make_rows(plan: Plan, number: int) -> Iterator[Block]:
    """The ledger records of a chunk through import, clean, anonymise and filter, and the kept rows."""
    lines = b"".join(_settled(plan, piece, part) for piece, part in plan.chunks[number])
    with tempfile.TemporaryDirectory(prefix="riddlemill-") as folder:
        posts = apply(plan, ["rows", "--ledgers", folder], lines)
        for stage in STAGES[:-1]:
            write(plan, f"{stage}/part-{number:08}.zst", packed(pathlib.Path(folder, stage).read_bytes()))
        filtered = table_of_lines(pathlib.Path(folder, "filter").read_bytes(), LANGUAGES, others=True)
    kept = table_of_lines(posts, ROW)
    ids, texts, scores, times = (kept[name] for name in ROW.names)
    dedup = dedup_of(plan.dedup)
    ranks = chunked(dedup.ranks(ids, texts, scores.to_pylist(), times))
    # From here on a text has its language with it, as comparisons need it.
    texts = chunked(dedup.tagged(texts, filtered["rows"].combine_chunks().flatten().field("language")))
    rows = pa.table({"id": ids, "text": texts, "rank": ranks})
    write(plan, f"rows/{number}", packed(frame_of(rows)))
    yield 0, frame_of(pa.table({"rows": [len(kept)]}))
    digests = chunked(dedup.digests(texts))
    own = pa.table({"digest": digests, "row": numbers_of(number, len(kept)), "rank": ranks})
    own = own.filter(pc.is_valid(own["digest"]))
    lanes = lanes_of_copies(plan)
    places = np.array([int.from_bytes(digest[:8], "big") % lanes for digest in own["digest"].to_pylist()], np.int64)
    yield from by_lane(own, places)


def _settled(plan: Plan, piece: int, chunk: int) -> bytes:
    """The lines of a chunk of a piece; those with posts that occurred before are marked with these."""
    lines = lines_of(plan, f"unsettled/{piece}-{chunk}")
    repeats = read(plan, f"repeats/{piece}")
    if repeats is None:
        return lines
    again: dict[int, list[dict[str, Any]]] = {}
    table = table_of(repeats)
    for one in table.filter(pc.equal(table["chunk"], chunk)).to_pylist():
        again.setdefault(one["at"], []).append(
            {"row": one["row"], "same": one["same"], "apart": one["apart"]}
        )
    if not again:
        return lines
    marked = lines.splitlines(keepends=True)
    for at, rows in again.items():
        known = json.dumps(sorted(rows, key=lambda one: int(one["row"]))).encode()
        marked[at] = b'{"again":' + known + b',"record":' + marked[at].rstrip(b"\n") + b"}\n"
    return b"".join(marked)


def lanes_of_copies(plan: Plan) -> int:
    """How many lanes the digests of rows have: one for four chunks."""
    return max(1, -(-len(plan.chunks) // 4))


def find_copies(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The copies: of rows that compare equally with every other row, all but the first by rank, by chunk."""
    tables = [table_of(block) for block in blocks]
    yield from ((0, frame_of(table)) for table in tables if "rows" in table.column_names)
    found = [table for table in tables if "digest" in table.column_names]
    if not found:
        return
    rows = pa.concat_tables(found).sort_by([("digest", "ascending"), ("rank", "ascending")]).combine_chunks()
    digests = rows["digest"].to_pylist()
    again = np.array([n > 0 and digests[n - 1] == digest for n, digest in enumerate(digests)])
    first = np.maximum.accumulate(np.where(again, 0, np.arange(len(again))))
    heads = rows.take(pa.array(first[again]))
    gone = rows.filter(pa.array(again))
    copies = pa.table(
        {"from": gone["row"], "from_rank": gone["rank"], "into": heads["row"], "into_rank": heads["rank"]}
    )
    yield from by_lane(copies, chunk_of(gone["row"].to_numpy()))


def keep_copies(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Writes which rows of a chunk are copies, and reports how many rows and copies there are."""
    tables = [table_of(block) for block in blocks]
    yield from (report(rows=table["rows"][0].as_py()) for table in tables if "rows" in table.column_names)
    copies = [table for table in tables if "from" in table.column_names]
    if copies:
        table = pa.concat_tables(copies).sort_by("from")
        write(plan, f"copies/{number}", packed(frame_of(table)))
        yield report(copies=len(table))


def rows_of(plan: Plan, number: int) -> Any:
    """The rows of a chunk: `id`, `text` with its language, `rank`."""
    found = stored_table(plan, f"rows/{number}")
    if found is None:
        raise FileNotFoundError(f"{plan.work}/rows/{number}")
    return found


def heads_of(plan: Plan, number: int) -> tuple[Any, Any]:
    """The rows of a chunk that are not copies: their numbers and texts."""
    rows = rows_of(plan, number)
    numbers = numbers_of(number, len(rows)).to_numpy()
    copies = stored_table(plan, f"copies/{number}")
    if copies is not None:
        stays = ~np.isin(numbers, copies["from"].to_numpy())
        return numbers[stays], rows["text"].filter(pa.array(stays))
    return numbers, rows["text"]
