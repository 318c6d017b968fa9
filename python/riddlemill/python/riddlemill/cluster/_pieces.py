"""Pieces of dumps, and the facts about the file in each: the census, before the first post is imported.

A large dump is cut where a line, a gzip member or a record of an archive seems to begin; what was cut wrongly is found
when the censuses of a file's pieces are merged, and that file is then read as one.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any

import pyarrow as pa

from .._errors import Gap
from ._calls import apply
from ._files import fetched, opened, packed, read, unpacked, write
from ._frames import frame_of, report, table_of
from ._plan import Block, Dump, Piece, Plan

# Bytes that are looked through at once.
BLOCK = 1 << 20


def guesses(dumps: Sequence[Dump], size: int) -> tuple[Piece, ...]:
    """A piece for each range of bytes of a dump that can be cut. Its task finds where it begins and ends."""
    found = []
    for number, dump in enumerate(dumps):
        step = size if dump.cut else max(1, dump.bytes)
        starts = range(0, max(1, dump.bytes), step)
        found += [Piece(number, start, min(step, dump.bytes - start), 0) for start in starts]
    return tuple(found)


def take_census(plan: Plan, number: int) -> Iterator[Block]:
    """Writes the census and the names of the items that begin in a piece of a dump, and returns their place."""
    guess = plan.pieces[number]
    dump = plan.dumps[guess.dump]
    start, end = _borders(plan, dump, guess)
    if start == end and start > 0:
        return
    lines = _census_of(plan, Piece(guess.dump, start, end - start, 0), f"{guess.dump}-{number}")
    fit = json.loads(lines.split(b"\n", 1)[0])["piece"][1]
    row = {"number": [number], "offset": [start], "bytes": [end - start], "lines": [fit["lines"]]}
    yield guess.dump, frame_of(pa.table(row))


def _census_of(plan: Plan, piece: Piece, name: str) -> bytes:
    dump = plan.dumps[piece.dump]
    with piece_file(plan, piece) as path, tempfile.TemporaryDirectory(prefix="riddlemill-") as folder:
        names = os.path.join(folder, "names")
        args = ["census", "--source", dump.source, "--offset", str(piece.offset), "--write-names", names, path]
        lines = apply(plan, args, b"")
        with open(names, "rb") as file:
            write(plan, f"names-of/{name}", packed(file.read()))
    write(plan, f"census-of/{name}", packed(lines))
    return lines


def merge_census(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Writes the census and the names of a dump from those of its pieces, and returns the pieces. If the cuts were
    wrong, the dump is read as one."""
    rows = pa.concat_tables([table_of(block) for block in blocks]).sort_by("offset").to_pylist()
    names = [f"{number}-{row['number']}" for row in rows]
    pieces, before = [], 0
    for row in rows:
        pieces.append(Piece(number, row["offset"], row["bytes"], before))
        before += row["lines"]
    try:
        merged = apply(plan, ["census", "--merge"], b"".join(_stored(plan, f"census-of/{name}") for name in names))
    except Gap:
        pieces, names = [Piece(number, 0, plan.dumps[number].bytes, 0)], [f"{number}-whole"]
        merged = apply(plan, ["census", "--merge"], _census_of(plan, pieces[0], names[0]))
    write(plan, f"census/{number}", merged)
    write(plan, f"names/{number}", packed(_union(_stored(plan, f"names-of/{name}") for name in names)))
    yield 0, frame_of(pa.Table.from_pylist([piece._asdict() for piece in pieces]))


def merge_names(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Writes the names of all users, and reports the pieces of dumps."""
    write(plan, "names/all", _union(_stored(plan, f"names/{number}") for number in range(len(plan.dumps))))
    for block in blocks:
        for piece in table_of(block).to_pylist():
            yield report(**piece)


def _stored(plan: Plan, path: str) -> bytes:
    data = read(plan, path)
    if data is None:
        raise FileNotFoundError(f"{plan.work}/{path}")
    return unpacked(data)


def _union(files: Iterator[bytes]) -> bytes:
    """Lists of names as one: a first line that they all have, and a sorted line a name."""
    head, names = b"", set[bytes]()
    for file in files:
        head, *lines = file.splitlines(keepends=True)
        names.update(lines)
    return head + b"".join(sorted(names))


@contextlib.contextmanager
def piece_file(plan: Plan, piece: Piece) -> Iterator[str]:
    """A piece of a dump as a file of this machine."""
    dump = plan.dumps[piece.dump]
    if (piece.offset, piece.bytes) == (0, dump.bytes):
        with fetched(plan, dump.place) as path:
            yield path
        return
    with tempfile.NamedTemporaryFile(prefix="riddlemill-") as local:
        with opened(plan, dump.place) as file:
            file.seek(piece.offset)
            left = piece.bytes
            while left and (block := file.read(min(left, BLOCK))):
                local.write(block)
                left -= len(block)
        if left:
            raise OSError(f"{dump.place} is shorter than it was")
        local.flush()
        yield local.name


def _borders(plan: Plan, dump: Dump, guess: Piece) -> tuple[int, int]:
    """Where the items that begin in these bytes of a dump begin and end: at the first item that begins after them."""
    behind = guess.offset + guess.bytes
    if guess.offset == 0 and behind >= dump.bytes:
        return 0, dump.bytes
    with opened(plan, dump.place) as file:
        start = 0 if guess.offset == 0 else _next(file, dump.cut, guess.offset, behind)
        if start is None:
            return guess.offset, guess.offset
        return start, _next(file, dump.cut, behind, dump.bytes) or dump.bytes


def _next(file: Any, cut: str | None, start: int, until: int) -> int | None:
    """Where the next line, member or record seems to begin, from `start` on and before `until`."""
    if cut == "member":
        members = _places(file, b"\x1f\x8b\x08", start, until)
        return next((at for at in members if _is_member(file, at)), None)
    mark = b"\nWARC/1." if cut == "record" else b"\n"
    return next((at + 1 for at in _places(file, mark, start - 1, until - 1)), None)


def _places(file: Any, mark: bytes, start: int, until: int) -> Iterator[int]:
    """Where these bytes are, from `start` on and before `until`."""
    data, base = b"", start
    while base < until:
        file.seek(base + len(data))
        block = file.read(BLOCK)
        if not block:
            return
        data += block
        at = data.find(mark)
        while at >= 0:
            if base + at >= until:
                return
            yield base + at
            at = data.find(mark, at + 1)
        keep = len(mark) - 1
        base += max(0, len(data) - keep)
        data = data[-keep:] if keep else b""


def _is_member(file: IO[bytes], at: int) -> bool:
    """Whether a gzip member seems to begin here: packed bytes may be any. Its first MiB decides, or all of it."""
    file.seek(at)
    unpacker, size = zlib.decompressobj(wbits=31), 0
    while size < BLOCK:
        block = file.read(1 << 16)
        if not block:
            return False
        try:
            size += len(unpacker.decompress(block, BLOCK))
        except zlib.error:
            return False
        if unpacker.eof:
            behind = unpacker.unused_data or file.read(2)
            return behind[:2] in (b"", b"\x1f", b"\x1f\x8b")
        if unpacker.unconsumed_tail:
            return True
    return True
