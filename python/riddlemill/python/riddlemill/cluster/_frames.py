"""Tables as bytes, and by the lanes that their rows go to."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from ._files import read, unpacked
from ._plan import Block, Plan


def frame_of(table: Any) -> bytes:
    """A table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def table_of(data: bytes) -> Any:
    """A table from its bytes."""
    return pa.ipc.open_stream(data).read_all()


def table_of_lines(lines: bytes, schema: Any, *, others: bool = False) -> Any:
    """Lines of JSON as a table; `others`: whether they may have other columns, which are left out."""
    if not lines:
        return schema.empty_table()
    unexpected = "ignore" if others else "error"
    parsing = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unexpected)
    # In one piece: a line may be as long as it likes.
    reading = pyarrow.json.ReadOptions(use_threads=False, block_size=min(len(lines) + 1, 2**31 - 1))
    return pyarrow.json.read_json(io.BytesIO(lines), read_options=reading, parse_options=parsing)


def report(**counts: int) -> Block:
    """Counts for the driver, as a block."""
    return 0, json.dumps(counts).encode()


def chunked(column: Any) -> Any:
    """A column of the other package as one of pyarrow."""
    return pa.chunked_array(column)


# A row's number is its chunk's, and in so many lower bits its place there.
PLACE = 32


def numbers_of(number: int, count: int) -> Any:
    """The numbers of this many rows of a chunk."""
    return pa.array((np.uint64(number) << np.uint64(PLACE)) + np.arange(count, dtype=np.uint64))


def chunk_of(rows: Any) -> Any:
    """The chunks of rows, by their numbers."""
    return rows >> np.uint64(PLACE)


def place_of(rows: Any) -> Any:
    """The places of rows in their chunks, by their numbers."""
    return (rows & np.uint64(2**PLACE - 1)).astype(np.int64)


def by_lane(table: Any, lanes: Any) -> Iterator[Block]:
    """The rows of a table by their lanes."""
    order = np.argsort(lanes, kind="stable")
    table, lanes = table.take(pa.array(order)), lanes[order]
    found, starts = np.unique(lanes, return_index=True)
    for lane, start, end in zip(found, starts, [*starts[1:], len(lanes)]):
        yield int(lane), frame_of(table.slice(start, end - start).combine_chunks())


def stored_table(plan: Plan, path: str) -> Any | None:
    """A table of the shared folder; `None` if it is absent."""
    data = read(plan, path)
    return None if data is None else table_of(unpacked(data))
