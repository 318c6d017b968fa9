"""Import: a piece of a dump is a task."""

from __future__ import annotations

import hashlib
import math
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from .._command import command
from .._errors import raised
from . import sizes
from ._calls import DONE, environment
from ._files import fetched, packed, workspace_of, write
from ._frames import frame_of, report, table_of, table_of_lines
from ._pieces import piece_file
from ._plan import Block, Plan


def import_piece(plan: Plan, number: int) -> Iterator[Block]:
    """The ledger records of a piece of a dump, in chunks, and digests that show whether its posts' ids occurred before."""
    piece = plan.pieces[number]
    dump = plan.dumps[piece.dump]
    chunks = records = 0
    with (
        fetched(plan, f"{plan.work}/names/all") as names,
        fetched(plan, f"{plan.work}/census/{piece.dump}") as census,
        piece_file(plan, piece) as path,
        tempfile.TemporaryFile() as errors,
    ):
        workspace = workspace_of(plan)
        args = ["import", "--unsettled", "--source", dump.source, "--file", dump.file, "--names", names]
        args += ["--census", census, "--offset", str(piece.offset), "--lines", str(piece.lines)]
        process = subprocess.Popen(
            [command(), "apply", *args, "--recipe", plan.recipe, "--workspace", workspace, path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment(),
        )
        assert process.stdout is not None
        try:
            while lines := [line for _, line in zip(range(sizes.CHUNK), process.stdout)]:
                write(plan, f"unsettled/{number}-{chunks}", packed(b"".join(lines)))
                yield from _identities(plan, number, chunks, lines)
                chunks += 1
                records += len(lines)
            code = process.wait()
        finally:
            process.kill()
        if code not in DONE:
            errors.seek(0)
            raise raised(code, errors.read().decode(errors="replace"))
    yield 0, frame_of(pa.table({"records": [records], "piece": [number]}))


# A post's id and text as digests: 128 bits tell any two ids apart. A sketch tells whether two texts are alike.
IDENTITY = np.dtype(
    [
        ("id", "<u8"),
        ("more", "<u8"),
        ("piece", "<i4"),
        ("chunk", "<i4"),
        ("at", "<i4"),
        ("row", "<i4"),
        ("text", "<u8"),
        ("sketch", "<u8"),
        ("rest", "<u8"),
    ]
)


# What of a ledger record of import is looked at.
POSTS = pa.schema(
    [
        ("rows", pa.list_(pa.struct([("id", pa.string()), ("text", pa.string())]))),
        ("sketches", pa.list_(pa.string())),
    ]
)


def _identities(plan: Plan, piece: int, chunk: int, lines: list[bytes]) -> Iterator[Block]:
    table = table_of_lines(b"".join(lines), POSTS, others=True)
    rows, sketches = table["rows"].combine_chunks(), table["sketches"].combine_chunks().flatten().to_pylist()
    counts = rows.value_lengths().fill_null(0).to_numpy()
    posts, count = rows.flatten(), int(counts.sum())
    identities = np.empty(count, IDENTITY)
    identities["piece"], identities["chunk"] = piece, chunk
    identities["at"] = np.repeat(np.arange(len(counts)), counts)
    identities["row"] = np.arange(count) - np.repeat(np.cumsum(counts) - counts, counts)
    ids = [_digest(one) for one in posts.field("id").to_pylist()]
    identities["id"], identities["more"] = np.array(ids, "<u8").reshape(count, 2).T
    identities["text"] = [_digest(one or "")[0] for one in posts.field("text").to_pylist()]
    halves = [(int(one[:16], 16), int(one[16:], 16)) for one in sketches]
    identities["sketch"], identities["rest"] = np.array(halves, "<u8").reshape(count, 2).T
    lanes = identities["id"] % np.uint64(plan.lanes)
    for lane in np.unique(lanes):
        yield int(lane), frame_of(pa.table({"posts": pa.array([identities[lanes == lane].tobytes()], pa.binary())}))


def _digest(text: str) -> tuple[int, int]:
    first, second = struct.unpack("<QQ", hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    return first, second


def _are_alike(one: Any, other: Any) -> bool:
    """Whether one text may be an edit of the other: `Sketch::is_like` of the command, with its figures."""
    first, second = (int(it["sketch"]) << 64 | int(it["rest"]) for it in (one, other))
    if first == second:
        return True
    bits = sorted((first.bit_count(), second.bit_count()))
    share = bits[1] / 128
    chance = bits[0] * share
    beyond = (first & second).bit_count() - chance
    return bool(bits[0] and beyond >= (bits[0] - chance) / 2 and beyond >= 2.5 * math.sqrt(chance * (1 - share)))


def find_repeats(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Of posts with one id the first is kept: the repeated posts, by piece."""
    tables = [table_of(block) for block in blocks]
    for table in tables:
        if "records" in table.column_names:
            yield table["piece"][0].as_py(), frame_of(table)
    posts = [table["posts"][0].as_py() for table in tables if "posts" in table.column_names]
    rows = np.sort(np.frombuffer(b"".join(posts), IDENTITY), order=["id", "more", "piece", "chunk", "at", "row"])
    if len(rows) < 2:
        return
    repeated = (rows["id"][1:] == rows["id"][:-1]) & (rows["more"][1:] == rows["more"][:-1])
    again = np.concatenate([[False], repeated])
    # The first of its id, of each row.
    first = np.maximum.accumulate(np.where(again, 0, np.arange(len(rows))))
    same = rows["text"] == rows["text"][first]
    # Of one id, texts unlike the first: the first of each is kept apart, and later ones are merged into that.
    apart = np.zeros(len(rows), bool)
    known: set[tuple[int, int]] = set()
    for at in np.flatnonzero(again & ~same):
        if not _are_alike(rows[first[at]], rows[at]):
            text = (int(first[at]), int(rows["text"][at]))
            apart[at], same[at] = True, text in known
            known.add(text)
    for piece in np.unique(rows["piece"][again]):
        own = again & (rows["piece"] == piece)
        columns = {name: rows[name][own] for name in ("chunk", "at", "row")}
        yield int(piece), frame_of(pa.table({**columns, "same": same[own], "apart": apart[own]}))


def keep_repeats(plan: Plan, piece: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Writes which posts of a piece are repeated, and reports how many records it has."""
    tables = [table_of(block) for block in blocks]
    repeats = [table for table in tables if "same" in table.column_names]
    if repeats:
        write(plan, f"repeats/{piece}", frame_of(pa.concat_tables(repeats)))
    for table in tables:
        if "records" in table.column_names:
            yield report(piece=piece, records=table["records"][0].as_py())
