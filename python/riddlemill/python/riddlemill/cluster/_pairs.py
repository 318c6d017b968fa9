"""Pairs: rows that share a key are compared by the task that has the text of the second."""

from __future__ import annotations

import functools
import importlib
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from . import sizes
from ._calls import dedup_of
from ._files import packed, read, unpacked, write
from ._frames import chunk_of, frame_of, place_of, report, stored_table, table_of
from ._plan import Block, Plan
from ._rows import rows_of

# Its functions are made when it is imported: no type checker knows them.
pc: Any = importlib.import_module("pyarrow.compute")


def with_first(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The pairs of a chunk's rows, each once, with the text of the first, by the chunk of the second."""
    tables = [table_of(block) for block in blocks]
    pairs = np.unique(np.concatenate([_pairs_of(table) for table in tables]))
    chunks = chunk_of(pairs["b"])
    rows = rows_of(plan, number).select(["id", "text", "rank"]).combine_chunks()
    for chunk in np.unique(chunks):
        own = pairs[chunks == chunk]
        # A text is sent once, however many pairs it is in.
        firsts, at = np.unique(own["a"], return_inverse=True)
        texts = rows.take(pa.array(place_of(firsts)))
        texts = texts.append_column("row", pa.array(firsts))
        named = pa.table({"at": pa.array(at.astype(np.uint32).reshape(-1)), "b": pa.array(own["b"])})
        frame = frame_of(texts)
        yield int(chunk), struct.pack("<Q", len(frame)) + frame + frame_of(named)


PAIR = np.dtype([("a", "<u8"), ("b", "<u8")])


def _pairs_of(table: Any) -> Any:
    pairs = np.empty(len(table), PAIR)
    pairs["a"], pairs["b"] = table["a"].to_numpy(), table["b"].to_numpy()
    return pairs


FIGURES = ["verdict", "score", "predicate", "veto", "levenshtein", "jaro_winkler", "sorensen_dice"]


@functools.lru_cache(maxsize=1)
def _common(work: str, storage: str, shipped: str) -> bytes:
    common = read(Plan("", work, (), (), (), (), 1, 1, 1, shipped, storage), "common")
    if common is None:
        raise FileNotFoundError(f"{work}/common")
    return unpacked(common)


def compare_pairs(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The pairs of which the second is a chunk's row that are the same or borderline, with their figures."""
    rows = rows_of(plan, number).combine_chunks()
    dedup, found, named = dedup_of(plan.dedup), [], 0
    common = _common(plan.work, plan.storage, plan.shipped)
    for block in blocks:
        end = 8 + struct.unpack_from("<Q", block)[0]
        firsts, pairs = table_of(block[8:end]), table_of(block[end:])
        named += len(pairs)
        for start in range(0, len(pairs), sizes.COMPARED):
            part = pairs.slice(start, sizes.COMPARED)
            at = pa.array(place_of(part["b"].to_numpy()))
            a, b = firsts.take(part["at"]), rows.take(at)
            compared = pa.table(dedup.compare(a["text"], b["text"], common))
            alike = pc.is_valid(compared["verdict"])
            if not pc.any(alike).as_py():
                continue
            sides = {"a": a["row"], "a_id": a["id"], "a_rank": a["rank"]}
            sides |= {"b": part["b"], "b_id": b["id"], "b_rank": b["rank"]}
            whole = pa.table({**sides, **{name: compared[name] for name in FIGURES}})
            found.append(_ranked(whole.filter(alike)))
    if found:
        table = pa.concat_tables(found).sort_by([("from", "ascending"), ("into", "ascending")])
        write(plan, f"compared/{plan.share.replace('/', '-')}/{number}", packed(frame_of(table)))
    yield report(named=named, alike=sum(len(table) for table in found))


def _ranked(pairs: Any) -> Any:
    """Pairs, by which of the two rows is kept."""
    first = pc.less(pairs["a_rank"], pairs["b_rank"])
    sides = {}
    for name in ["", "_id", "_rank"]:
        a, b = pairs[f"a{name}"], pairs[f"b{name}"]
        sides[f"into{name}"], sides[f"from{name}"] = pc.if_else(first, a, b), pc.if_else(first, b, a)
    return pa.table({**sides, **{name: pairs[name] for name in FIGURES}})


def compared_of(plan: Plan, number: int) -> Iterator[Any]:
    """The compared pairs of which the second is a chunk's row, a table for each round that found some."""
    for n in range(1, plan.rounds + 1):
        table = stored_table(plan, f"compared/{n}-{plan.rounds}/{number}")
        if table is not None:
            yield table
