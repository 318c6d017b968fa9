"""Import, clean, anonymise, filter and dedup in tasks, for whatever runs tasks on many machines: Spark, Ray, Slurm.

A `Job` is a few phases, one after another. A phase is a number of tasks and the steps behind them: a task gives blocks
of bytes, each with the number of a lane, and a step gets all blocks of one lane, in any order, and gives blocks for the
lanes of the next step. That is all an engine does: `Local` here, and those in the folder `cluster` of the sources.

What tasks make they write into a folder that all machines see, by fsspec: ledger records in chunks, rows, pairs. A file
is whole or absent, and a task that is made again writes the same bytes: none looks at a clock or at its machine. What
comes back to the driver are counts. Every decision is the command's, or that of the same Rust in `riddlemill_text`.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import hashlib
import importlib
import io
import json
import os
import pathlib
import struct
import subprocess
import tarfile
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

import fsspec
import numpy as np
import pyarrow as pa
from riddlemill_text import PartedDedup

from ._command import call, command
from ._errors import raised

# Its functions are made when it is imported: no type checker knows them.
pc: Any = importlib.import_module("pyarrow.compute")

__all__ = ["Block", "Engine", "Job", "Local", "Phase", "Plan", "run_step", "run_task"]

# A lane, and what goes there.
Block = tuple[int, bytes]

STAGES = ["import", "clean", "anonymise", "filter", "dedup"]
# Exit code 3: done, and some lines could not be read. Import has them in its ledger.
DONE = (0, 3)
# Records of a chunk, which is one task's from import on.
CHUNK = 1 << 15
# Bytes of dumps whose posts' ids are looked through together.
SHARE = 64 << 20
# Rows whose keys are cut together: enough that a lane's block is no crumb.
CUT = 1 << 14
# Rows whose keys are about a lane's.
LANE = 1 << 15
# A row in so many is looked at to find keys that many rows share.
SAMPLE = 64
# Pairs that are compared at once.
COMPARED = 1 << 16
# Chunks whose counts are added before those of all.
ADDED = 64
# A row's number is its chunk's, and its place there.
PLACE = 32


@dataclass(frozen=True)
class Plan:
    """What a task needs to know; small, and the same for all."""

    recipe: str
    # A folder that all machines see, by fsspec: /mnt/x, s3://bucket/x, ….
    work: str
    # Of each dump: source, file (its name in the ledger), where it is.
    dumps: tuple[tuple[str, str, str], ...]
    # Of each chunk, in order: the pieces that it is made of, by their dump and their number there.
    chunks: tuple[tuple[tuple[int, int], ...], ...]
    # Settings of dedup.
    dedup: tuple[tuple[str, Any], ...]
    # Lanes of keys.
    lanes: int
    rounds: int
    split: int
    # Settings, salt and lists of the workspace, by the digest of their archive.
    shipped: str
    # Options of fsspec's file system, as JSON.
    storage: str = "{}"
    share: str = "1/1"


Task = Callable[[Plan, int], Iterator[Block]]
Step = Callable[[Plan, int, Sequence[bytes]], Iterator[Block]]


@dataclass(frozen=True)
class Phase:
    """Tasks, and what is done with the blocks that they give. What the last step gives comes back to the driver."""

    name: str
    tasks: int
    first: str
    # Names of steps, and how many lanes each of them has.
    steps: tuple[tuple[str, int], ...] = ()


class Engine(Protocol):
    """Whatever runs a phase, and hands back the blocks of its last step."""

    def run(self, plan: Plan, phase: Phase) -> Iterable[bytes]: ...


def run_task(plan: Plan, name: str, number: int) -> Iterator[Block]:
    """The blocks of a phase's task."""
    return TASKS[name](plan, number)


def run_step(plan: Plan, name: str, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The blocks that a step makes of those of a lane."""
    return STEPS[name](plan, lane, blocks)


class Local:
    """The tasks of a phase on the threads of this machine; what lies between steps is in memory."""

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


class Job:
    """The offline stages of a recipe, up to dedup, and their folders in `staged/` of the workspace."""

    def __init__(
        self,
        workspace: str | os.PathLike[str],
        recipe: str,
        work: str,
        engine: Engine,
        *,
        dumps: str | None = None,
        lanes: int | None = None,
        split: int = 100_000,
        rounds: int = 1,
        storage: dict[str, Any] | None = None,
    ) -> None:
        """`work` is a folder for what lies between tasks, which may be deleted afterwards; `dumps` the workspace's
        folder as other machines see it. `lanes` of keys are one for 32,768 rows, if left out; more than `split` rows
        that look under one key are split; `rounds` are shares in which the keys are brought together."""
        self.workspace = pathlib.Path(workspace).resolve()
        self.engine = engine
        self.base = (dumps or str(self.workspace)).rstrip("/")
        self.lanes = lanes
        self.plan = Plan(
            recipe, f"{work.rstrip('/')}/{recipe}", (), (), (), 1, rounds, split, "", json.dumps(storage or {})
        )

    def run(self, tell: Callable[[str], None] = lambda words: None) -> None:
        """Makes the stages; `tell` hears of each phase when it is done."""
        plan = self._begin()
        steps = (("find_repeats", plan.lanes), ("keep_repeats", len(plan.dumps)))
        imported = self._phase(plan, "import", len(plan.dumps), "import_dump", *steps, tell=tell)
        plan = replace(plan, chunks=_chunks({one["dump"]: one["records"] for one in imported}))
        count = len(plan.chunks)
        steps = (("find_copies", _lanes_of_copies(plan)), ("keep_copies", count))
        made = self._phase(plan, "rows", count, "make_rows", *steps, tell=tell)
        rows = sum(one.get("rows", 0) for one in made)
        gone = sum(one.get("copies", 0) for one in made)
        plan = replace(plan, lanes=self.lanes or max(1, -(-rows // LANE)))
        steps = (("add_counts", -(-count // ADDED)), ("keep_counts", 1))
        self._phase(plan, "counts", count, "count_tokens", *steps, tell=tell)
        if rows - gone > plan.split:
            self._phase(plan, "heavy", count, "sample_keys", ("find_heavy", plan.lanes), ("keep_heavy", 1), tell=tell)
        for n in range(1, plan.rounds + 1):
            share = replace(plan, share=f"{n}/{plan.rounds}")
            met = (("meet", plan.lanes), ("with_first", count), ("compare_pairs", count))
            self._phase(share, f"pairs {share.share}", count, "cut_keys", *met, tell=tell)
        self._phase(plan, "resolve", 1, "resolve", ("with_kept", count), ("keep_decided", count), tell=tell)
        self._phase(plan, "book", count, "book", ("sort_pairs", plan.lanes), tell=tell)
        self._assemble(plan)

    def _phase(
        self, plan: Plan, name: str, tasks: int, first: str, *steps: tuple[str, int], tell: Callable[[str], None]
    ) -> list[dict[str, Any]]:
        counts = [json.loads(block) for block in self.engine.run(plan, Phase(name, tasks, first, steps))]
        tell(f"{plan.recipe}/{name}")
        return counts

    def _call(self, *args: str) -> str:
        return call([*args, "--workspace", str(self.workspace)], good=DONE)[1]

    def _begin(self) -> Plan:
        recipe = ["--recipe", self.plan.recipe]
        settings = {one["key"]: one["value"] for one in json.loads(self._call("config", "--json"))["settings"]}
        dedup = {name: _setting(settings, self.plan.recipe, name) for name in DEDUP}
        dumps = [json.loads(line) for line in self._call("apply", "import", "--list", *recipe).splitlines()]
        places = [f"{self.base}/{os.path.relpath(dump['path'], self.workspace)}" for dump in dumps]
        # Draws the salt where this is the workspace's first run, and notes the names of all users, hashed: each dump is
        # looked through for those of the others too.
        names = self.workspace / ".index" / f"names-{self.plan.recipe}"
        names.parent.mkdir(parents=True, exist_ok=True)
        self._call("apply", "import", *recipe, "--write-names", str(names))
        archive = self._archive(names)
        shipped = hashlib.sha256(archive).hexdigest()
        plan = replace(
            self.plan,
            dumps=tuple((dump["source"], dump["file"], place) for dump, place in zip(dumps, places)),
            dedup=tuple(dedup.items()),
            lanes=max(1, -(-sum(dump["bytes"] for dump in dumps) // SHARE)),
            shipped=shipped,
        )
        system, folder = _system(plan)
        if system.exists(folder):
            # Of a run before, whose chunks may be others.
            system.rm(folder, recursive=True)
        _write(plan, f"shipped/{shipped}", archive)
        return plan

    def _archive(self, names: pathlib.Path) -> bytes:
        """What a task needs of the workspace. The same bytes for the same files."""
        told = json.loads(self._call("config", "--json"))["settings"]
        lists = [one["value"] for one in told if one["key"].rsplit(".", 1)[-1] in ("policy", "common_words")]
        wanted = {name for one in lists if isinstance(one, list) for name in one if name != "builtin"}
        files = {name: self.workspace / name for name in ["pipeline.toml", "raw/salt", *sorted(wanted)]}
        files["names"] = names
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as tar:
            for name in ["raw/withdrawn.jsonl", "benchmarks", "profiles"]:
                if (self.workspace / name).exists():
                    tar.add(self.workspace / name, name)
            for name, path in files.items():
                data = path.read_bytes()
                told_of = tarfile.TarInfo(name)
                told_of.size = len(data)
                tar.addfile(told_of, io.BytesIO(data))
        return made.getvalue()

    def _assemble(self, plan: Plan) -> None:
        """Writes the stages where the workspace is. They are read from the folder itself where it is on a disk."""
        system, folder = _system(plan)
        with tempfile.TemporaryDirectory(prefix="riddlemill-") as scratch:
            for stage in STAGES:
                tables = [stage, "pairs"] if stage == "dedup" else [stage]
                local = {table: pathlib.Path(folder) / table for table in tables}
                if not _is_local(system):
                    for table in tables:
                        local[table] = pathlib.Path(scratch) / table
                        local[table].mkdir()
                        if system.exists(f"{folder}/{table}"):
                            system.get(f"{folder}/{table}/", str(local[table]) + "/", recursive=True)
                pairs = ["--pairs", str(local["pairs"])] if stage == "dedup" and local["pairs"].is_dir() else []
                self._call("assemble", "--recipe", plan.recipe, *pairs, stage, str(local[stage]))


def _chunks(records: dict[int, int]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Pieces of dumps as chunks: small ones together, in their order. Without posts there is one chunk."""
    chunks: list[list[tuple[int, int]]] = [[]]
    size = 0
    for dump, count in sorted(records.items()):
        for number in range(-(-count // CHUNK)):
            own = min(CHUNK, count - number * CHUNK)
            if size + own > CHUNK:
                chunks.append([])
                size = 0
            chunks[-1].append((dump, number))
            size += own
    return tuple(tuple(chunk) for chunk in chunks)


def _lanes_of_copies(plan: Plan) -> int:
    return max(1, -(-len(plan.chunks) // 4))


DEDUP = ["metric", "threshold", "margin", "keep", "normalize", "language"]


def _setting(settings: dict[str, Any], recipe: str, name: str) -> Any:
    """What dedup goes by: the recipe's own setting, or everybody's."""
    key = "text.language" if name == "language" else f"dedup.{name}"
    return settings.get(f"recipe.{recipe}.{key}", settings.get(key))


# Files.


def _system(plan: Plan, path: str = "") -> tuple[Any, str]:
    """The file system of the folder, and a path there."""
    url = f"{plan.work}/{path}".rstrip("/")
    system, found = fsspec.core.url_to_fs(url, **json.loads(plan.storage))
    return system, found


def _is_local(system: Any) -> bool:
    protocols = (system.protocol,) if isinstance(system.protocol, str) else system.protocol
    return "file" in protocols


def _write(plan: Plan, path: str, data: bytes) -> None:
    """Writes a file whole. Two tasks that make the same write the same."""
    system, place = _system(plan, path)
    if not _is_local(system):
        # An object is there when it is whole.
        system.pipe_file(place, data)
        return
    making = f"{place}.{uuid.uuid4().hex}.making"
    system.makedirs(os.path.dirname(place), exist_ok=True)
    with system.open(making, "wb") as file:
        file.write(data)
    os.replace(making, place)


def _read(plan: Plan, path: str) -> bytes | None:
    """A file; nothing where it is absent."""
    system, place = _system(plan, path)
    try:
        found = system.cat_file(place)
    except FileNotFoundError:
        return None
    assert isinstance(found, bytes)
    return found


def _packed(data: bytes) -> bytes:
    return bytes(_codec().compress(data, asbytes=True))


@functools.cache
def _codec() -> Any:
    return pa.Codec("zstd", compression_level=1)


def _unpacked(data: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return bytes(stream.read())


def _lines(plan: Plan, path: str) -> bytes:
    packed = _read(plan, path)
    return b"" if packed is None else _unpacked(packed)


def _frame(table: Any) -> bytes:
    """A table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _table(data: bytes) -> Any:
    return pa.ipc.open_stream(data).read_all()


def _told(**counts: int) -> Block:
    return 0, json.dumps(counts).encode()


@functools.cache
def _workspace(work: str, recipe: str, storage: str, shipped: str) -> str:
    """Settings, salt and lists on this machine: unpacked once a process, and gone with it."""
    plan = Plan(recipe, work, (), (), (), 1, 1, 1, shipped, storage)
    folder = tempfile.TemporaryDirectory(prefix="riddlemill-")
    _KEPT.append(folder)
    archive = _read(plan, f"shipped/{shipped}")
    if archive is None:
        raise FileNotFoundError(f"{work}/shipped/{shipped}")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder.name, filter="data")
    return folder.name


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def _here(plan: Plan) -> str:
    return _workspace(plan.work, plan.recipe, plan.storage, plan.shipped)


@contextlib.contextmanager
def _fetched(plan: Plan, place: str) -> Iterator[str]:
    """A dump as a file of this machine."""
    system, path = fsspec.core.url_to_fs(place, **(json.loads(plan.storage) if "://" in place else {}))
    if _is_local(system):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="riddlemill-") as folder:
        local = os.path.join(folder, os.path.basename(path))
        system.get_file(path, local)
        yield local


# The command, on lines.


def _threads() -> dict[str, str]:
    """One thread for a task, unless somebody says otherwise: an engine runs as many tasks as there are cores."""
    threads = os.environ.get("RIDDLEMILL_THREADS", "1")
    return {**os.environ, "RIDDLEMILL_THREADS": threads, "RAYON_NUM_THREADS": threads}


def _applied(plan: Plan, args: Sequence[str], lines: bytes) -> bytes:
    done = subprocess.run(
        [command(), "apply", *args, "--recipe", plan.recipe, "--workspace", _here(plan)],
        input=lines,
        capture_output=True,
        env=_threads(),
    )
    if done.returncode not in DONE:
        raise raised(done.returncode, done.stderr.decode(errors="replace"))
    return done.stdout


@functools.cache
def _dedup_of(settings: tuple[tuple[str, Any], ...]) -> PartedDedup:
    os.environ.setdefault("RIDDLEMILL_THREADS", "1")
    told = dict(settings)
    one_metric = told["metric"] not in ("default", "exact") or told.get("language") == "en"
    return PartedDedup(
        metric=told["metric"],
        threshold=told["threshold"] if one_metric else None,
        margin=told.get("margin") or 0.0,
        keep=told["keep"],
        normalize=bool(told["normalize"]),
        language=told.get("language") or "zh",
    )


# Import: a dump is a task.


def import_dump(plan: Plan, dump: int) -> Iterator[Block]:
    """The ledger records of a dump, in chunks, and what tells whether its posts' ids came before."""
    source, file, place = plan.dumps[dump]
    chunks = records = 0
    with _fetched(plan, place) as path, tempfile.TemporaryFile() as talk:
        here = _here(plan)
        args = ["import", "--unsettled", "--source", source, "--file", file, "--names", f"{here}/names"]
        process = subprocess.Popen(
            [command(), "apply", *args, "--recipe", plan.recipe, "--workspace", here, path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=talk,
            env=_threads(),
        )
        assert process.stdout is not None
        try:
            while lines := [line for _, line in zip(range(CHUNK), process.stdout)]:
                _write(plan, f"unsettled/{dump}-{chunks}", _packed(b"".join(lines)))
                yield from _identities(plan, dump, chunks, lines)
                chunks += 1
                records += len(lines)
            code = process.wait()
        finally:
            process.kill()
        if code not in DONE:
            talk.seek(0)
            raise raised(code, talk.read().decode(errors="replace"))
    yield 0, _frame(pa.table({"records": [records], "dump": [dump]}))


# A post's id and text as digests: 128 bits tell any two ids apart.
IDENTITY = np.dtype(
    [("id", "<u8"), ("more", "<u8"), ("dump", "<i4"), ("chunk", "<i4"), ("at", "<i4"), ("row", "<i4"), ("text", "<u8")]
)


def _identities(plan: Plan, dump: int, chunk: int, lines: list[bytes]) -> Iterator[Block]:
    found = []
    for at, line in enumerate(lines):
        for row, post in enumerate(json.loads(line).get("rows", ())):
            text, _ = _digest(post.get("text", ""))
            found.append((*_digest(post["id"]), dump, chunk, at, row, text))
    identities = np.array(found, IDENTITY)
    lanes = identities["id"] % np.uint64(plan.lanes)
    for lane in np.unique(lanes):
        yield int(lane), _frame(pa.table({"posts": pa.array([identities[lanes == lane].tobytes()], pa.binary())}))


def _digest(text: str) -> tuple[int, int]:
    first, second = struct.unpack("<QQ", hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    return first, second


def find_repeats(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Of posts of one id the first is kept: which posts come again, by dump."""
    tables = [_table(block) for block in blocks]
    for table in tables:
        if "records" in table.column_names:
            yield table["dump"][0].as_py(), _frame(table)
    posts = [table["posts"][0].as_py() for table in tables if "posts" in table.column_names]
    rows = np.sort(np.frombuffer(b"".join(posts), IDENTITY), order=["id", "more", "dump", "chunk", "at", "row"])
    if len(rows) < 2:
        return
    known = (rows["id"][1:] == rows["id"][:-1]) & (rows["more"][1:] == rows["more"][:-1])
    again = np.concatenate([[False], known])
    # The first of its id, of each row.
    first = np.maximum.accumulate(np.where(again, 0, np.arange(len(rows))))
    same = rows["text"] == rows["text"][first]
    for dump in np.unique(rows["dump"][again]):
        of_dump = again & (rows["dump"] == dump)
        columns = {name: rows[name][of_dump] for name in ("chunk", "at", "row")}
        yield int(dump), _frame(pa.table({**columns, "same": same[of_dump]}))


def keep_repeats(plan: Plan, dump: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    tables = [_table(block) for block in blocks]
    repeats = [table for table in tables if "same" in table.column_names]
    if repeats:
        _write(plan, f"repeats/{dump}", _frame(pa.concat_tables(repeats)))
    for table in tables:
        if "records" in table.column_names:
            yield _told(dump=dump, records=table["records"][0].as_py())


# Rows: a chunk is a task from here on.


def make_rows(plan: Plan, number: int) -> Iterator[Block]:
    """The ledger records of a chunk through import, clean, anonymise and filter, and the rows that are left."""
    lines = b"".join(_settled(plan, dump, piece) for dump, piece in plan.chunks[number])
    for stage in STAGES[:-1]:
        args = ["settle"] if stage == "import" else [stage, "--books"]
        lines = _applied(plan, args, lines)
        _write(plan, f"{stage}/part-{number:08}.zst", _packed(lines))
    posts = [post for line in lines.splitlines() for post in json.loads(line).get("rows", ())]
    ids = pa.array([post["id"] for post in posts], pa.string())
    texts = pa.array([post.get("text", "") for post in posts], pa.string())
    scores = [post.get("score") for post in posts]
    times = pa.array([post.get("time") for post in posts], pa.string())
    dedup = _dedup_of(plan.dedup)
    ranks = _chunked(dedup.ranks(ids, texts, scores, times))
    rows = pa.table({"id": ids, "text": texts, "rank": ranks})
    _write(plan, f"rows/{number}", _packed(_frame(rows)))
    yield 0, _frame(pa.table({"rows": [len(posts)]}))
    digests = _chunked(dedup.digests(texts))
    own = pa.table({"digest": digests, "row": _numbers(number, len(posts)), "rank": ranks})
    own = own.filter(pc.is_valid(own["digest"]))
    lanes = _lanes_of_copies(plan)
    places = np.array([int.from_bytes(digest[:8], "big") % lanes for digest in own["digest"].to_pylist()], np.int64)
    yield from _by_lane(own, places)


def _settled(plan: Plan, dump: int, chunk: int) -> bytes:
    """The lines of a piece, those with posts that came before marked with them."""
    lines = _lines(plan, f"unsettled/{dump}-{chunk}")
    repeats = _read(plan, f"repeats/{dump}")
    if repeats is None:
        return lines
    again: dict[int, list[dict[str, Any]]] = {}
    table = _table(repeats)
    for one in table.filter(pc.equal(table["chunk"], chunk)).to_pylist():
        again.setdefault(one["at"], []).append({"row": one["row"], "same": one["same"]})
    if not again:
        return lines
    marked = lines.splitlines(keepends=True)
    for at, rows in again.items():
        known = json.dumps(sorted(rows, key=lambda one: int(one["row"]))).encode()
        marked[at] = b'{"again":' + known + b',"booked":' + marked[at].rstrip(b"\n") + b"}\n"
    return b"".join(marked)


def _chunked(column: Any) -> Any:
    """A column of the other package as one of pyarrow."""
    return pa.chunked_array(column)


def _numbers(number: int, count: int) -> Any:
    return pa.array((np.uint64(number) << np.uint64(PLACE)) + np.arange(count, dtype=np.uint64))


def _by_lane(table: Any, lanes: Any) -> Iterator[Block]:
    """The rows of a table by their lanes."""
    order = np.argsort(lanes, kind="stable")
    table, lanes = table.take(pa.array(order)), lanes[order]
    found, starts = np.unique(lanes, return_index=True)
    for lane, start, end in zip(found, starts, [*starts[1:], len(lanes)]):
        yield int(lane), _frame(table.slice(start, end - start).combine_chunks())


def find_copies(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Of rows that compare alike with every row the first by rank is kept: the others, by chunk."""
    tables = [_table(block) for block in blocks]
    yield from ((0, _frame(table)) for table in tables if "rows" in table.column_names)
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
    yield from _by_lane(copies, gone["row"].to_numpy() >> np.uint64(PLACE))


def keep_copies(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    tables = [_table(block) for block in blocks]
    yield from (_told(rows=table["rows"][0].as_py()) for table in tables if "rows" in table.column_names)
    copies = [table for table in tables if "from" in table.column_names]
    if copies:
        table = pa.concat_tables(copies).sort_by("from")
        _write(plan, f"copies/{number}", _packed(_frame(table)))
        yield _told(copies=len(table))


def _stored(plan: Plan, path: str) -> Any | None:
    packed = _read(plan, path)
    return None if packed is None else _table(_unpacked(packed))


def _rows(plan: Plan, number: int) -> Any:
    found = _stored(plan, f"rows/{number}")
    if found is None:
        raise FileNotFoundError(f"{plan.work}/rows/{number}")
    return found


def _heads(plan: Plan, number: int) -> tuple[Any, Any]:
    """The rows of a chunk that are no copies: their numbers and texts."""
    rows = _rows(plan, number)
    numbers = _numbers(number, len(rows)).to_numpy()
    copies = _stored(plan, f"copies/{number}")
    if copies is not None:
        stays = ~np.isin(numbers, copies["from"].to_numpy())
        return numbers[stays], rows["text"].filter(pa.array(stays))
    return numbers, rows["text"]


# Keys.


def count_tokens(plan: Plan, number: int) -> Iterator[Block]:
    """How many rows hold each token."""
    yield number // ADDED, _dedup_of(plan.dedup).count(_heads(plan, number)[1])


def add_counts(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    yield 0, _dedup_of(plan.dedup).add_counts(list(blocks))


def keep_counts(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    _write(plan, "counts", _packed(_dedup_of(plan.dedup).add_counts(list(blocks))))
    yield _told()


@functools.lru_cache(maxsize=1)
def _keyer(work: str, storage: str, dedup: tuple[tuple[str, Any], ...], shipped: str) -> Any:
    counts = _read(Plan("", work, (), (), (), 1, 1, 1, shipped, storage), "counts")
    if counts is None:
        raise FileNotFoundError(f"{work}/counts")
    return _dedup_of(dedup).keyer(_unpacked(counts))


def _cut(plan: Plan, numbers: Any, texts: Any, share: str, heavy: list[tuple[int, int, int]]) -> Iterator[Block]:
    keyer = _keyer(plan.work, plan.storage, plan.dedup, plan.shipped)
    for start in range(0, len(numbers), CUT):
        rows = numbers[start : start + CUT].tolist()
        yield from keyer.blocks(rows, texts.slice(start, CUT), plan.lanes, share, heavy)


def sample_keys(plan: Plan, number: int) -> Iterator[Block]:
    """The keys of a few rows."""
    numbers, texts = _heads(plan, number)
    # Fibonacci hashing: whatever a chunk's rows are in the order of, these are spread over them.
    chosen = (numbers * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - SAMPLE.bit_length() + 1) == 0
    yield from _cut(plan, numbers[chosen], texts.filter(pa.array(chosen)), "1/1", [])


def find_heavy(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Keys that more rows have than look under one together."""
    heavy = _dedup_of(plan.dedup).heavy(list(blocks), max(1, plan.split // SAMPLE))
    yield 0, json.dumps([(kind, key, -(-count * SAMPLE // plan.split)) for kind, key, count in heavy]).encode()


def keep_heavy(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    heavy = sorted(one for block in blocks for one in json.loads(block))
    _write(plan, "heavy", json.dumps(heavy).encode())
    yield _told(heavy=len(heavy))


def cut_keys(plan: Plan, number: int) -> Iterator[Block]:
    """The keys of a chunk's rows."""
    heavy = json.loads(_read(plan, "heavy") or b"[]")
    yield from _cut(plan, *_heads(plan, number), plan.share, [tuple(one) for one in heavy])


def meet(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The pairs that may be alike among the rows of a lane's keys, by the chunk of the first."""
    pairs = pa.table(_dedup_of(plan.dedup).pairs(list(blocks)))
    yield from _by_lane(pairs, pairs["a"].to_numpy() >> np.uint64(PLACE))


def with_first(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The pairs of a chunk's rows, each once, with the text of the first, by the chunk of the second."""
    tables = [_table(block) for block in blocks]
    pairs = np.unique(np.concatenate([_pairs_of(table) for table in tables]))
    chunks = pairs["b"] >> np.uint64(PLACE)
    rows = _rows(plan, number).select(["id", "text", "rank"]).combine_chunks()
    for chunk in np.unique(chunks):
        own = pairs[chunks == chunk]
        # A text is sent once, however many pairs it is in.
        firsts, at = np.unique(own["a"], return_inverse=True)
        texts = rows.take(pa.array((firsts & np.uint64(2**PLACE - 1)).astype(np.int64)))
        texts = texts.append_column("row", pa.array(firsts))
        named = pa.table({"at": pa.array(at.astype(np.uint32).reshape(-1)), "b": pa.array(own["b"])})
        frame = _frame(texts)
        yield int(chunk), struct.pack("<Q", len(frame)) + frame + _frame(named)


PAIR = np.dtype([("a", "<u8"), ("b", "<u8")])


def _pairs_of(table: Any) -> Any:
    pairs = np.empty(len(table), PAIR)
    pairs["a"], pairs["b"] = table["a"].to_numpy(), table["b"].to_numpy()
    return pairs


FIGURES = ["verdict", "score", "predicate", "veto", "levenshtein", "jaro_winkler", "sorensen_dice"]


def compare_pairs(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The pairs of which the second is a chunk's row that are the same or borderline, with their figures."""
    rows = _rows(plan, number).combine_chunks()
    dedup, found, named = _dedup_of(plan.dedup), [], 0
    for block in blocks:
        end = 8 + struct.unpack_from("<Q", block)[0]
        firsts, pairs = _table(block[8:end]), _table(block[end:])
        named += len(pairs)
        for start in range(0, len(pairs), COMPARED):
            part = pairs.slice(start, COMPARED)
            at = pa.array((part["b"].to_numpy() & np.uint64(2**PLACE - 1)).astype(np.int64))
            a, b = firsts.take(part["at"]), rows.take(at)
            compared = pa.table(dedup.compare(a["text"], b["text"]))
            alike = pc.is_valid(compared["verdict"])
            if not pc.any(alike).as_py():
                continue
            sides = {"a": a["row"], "a_id": a["id"], "a_rank": a["rank"]}
            sides |= {"b": part["b"], "b_id": b["id"], "b_rank": b["rank"]}
            whole = pa.table({**sides, **{name: compared[name] for name in FIGURES}})
            found.append(_ranked(whole.filter(alike)))
    if found:
        table = pa.concat_tables(found).sort_by([("from", "ascending"), ("into", "ascending")])
        _write(plan, f"compared/{plan.share.replace('/', '-')}/{number}", _packed(_frame(table)))
    yield _told(named=named, alike=sum(len(table) for table in found))


def _ranked(pairs: Any) -> Any:
    """Pairs by which of the two is kept."""
    first = pc.less(pairs["a_rank"], pairs["b_rank"])
    sides = {}
    for name in ["", "_id", "_rank"]:
        a, b = pairs[f"a{name}"], pairs[f"b{name}"]
        sides[f"into{name}"], sides[f"from{name}"] = pc.if_else(first, a, b), pc.if_else(first, b, a)
    return pa.table({**sides, **{name: pairs[name] for name in FIGURES}})


# What goes where.


def _compared(plan: Plan, number: int) -> Iterator[Any]:
    for n in range(1, plan.rounds + 1):
        table = _stored(plan, f"compared/{n}-{plan.rounds}/{number}")
        if table is not None:
            yield table


def resolve(plan: Plan, _: int) -> Iterator[Block]:
    """Which row goes into which, by the chunk of the one that is kept; and where to cut the pairs to sort them."""
    bounds: list[str] = []

    def batches() -> Iterator[Any]:
        for number in range(len(plan.chunks)):
            for table in _compared(plan, number):
                bounds.extend(table["into_id"].take(pa.array(range(0, len(table), SAMPLE))).to_pylist())
                columns = ["from", "from_rank", "into", "into_rank", "verdict", "score", "predicate"]
                yield from table.select(columns).to_batches()
            copies = _stored(plan, f"copies/{number}")
            if copies is not None:
                copies = copies.append_column("verdict", pa.array(["copy"] * len(copies)))
                copies = copies.append_column("score", pa.array([1.0] * len(copies)))
                copies = copies.append_column("predicate", pa.nulls(len(copies), pa.string()))
                yield from copies.to_batches()

    with tempfile.TemporaryDirectory(prefix="riddlemill-") as folder:
        decided = pa.table(_dedup_of(plan.dedup).resolve(batches(), folder, 256))
    bounds.sort(key=lambda one: one.encode())
    cuts = [bounds[len(bounds) * n // plan.lanes] for n in range(1, plan.lanes)] if bounds else []
    _write(plan, "bounds", json.dumps(cuts).encode())
    yield from _by_lane(decided, decided["into"].to_numpy() >> np.uint64(PLACE))


def with_kept(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """Decisions with the row that is kept, by the chunk of the one that goes."""
    decided = pa.concat_tables([_table(block) for block in blocks])
    rows = _rows(plan, number)
    kept = rows.take(pa.array((decided["into"].to_numpy() & np.uint64(2**PLACE - 1)).astype(np.int64)))
    decided = decided.append_column("id", kept["id"]).append_column("text", kept["text"])
    yield from _by_lane(decided, decided["row"].to_numpy() >> np.uint64(PLACE))


def keep_decided(plan: Plan, number: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    decided = pa.concat_tables([_table(block) for block in blocks])
    _write(plan, f"decided/{number}", _packed(_frame(decided)))
    yield _told(merged=len(decided))


def book(plan: Plan, number: int) -> Iterator[Block]:
    """The ledger records of a chunk's rows, and its pairs by where they stand in the order of ids."""
    decided = _stored(plan, f"decided/{number}")
    into = {} if decided is None else {one["row"] & (2**PLACE - 1): one for one in decided.to_pylist()}
    made = []
    # A record of filter has a row or none. Quotes within a text are escaped: no text holds what is looked for.
    records = _lines(plan, f"filter/part-{number:08}.zst").splitlines()
    for place, line in enumerate(line for line in records if b',"rows":[{' in line):
        goes = into.get(place)
        more = b""
        if goes is not None:
            told = {"into": {"id": goes["id"], "text": goes["text"]}, "score": goes["score"]}
            if goes["predicate"] is not None:
                told["predicate"] = goes["predicate"]
            more = b"," + json.dumps(told, ensure_ascii=False).encode()[1:-1]
        made.append(b'{"row":' + line + more + b"}\n")
    _write(plan, f"dedup/part-{number:08}.zst", _packed(_applied(plan, ["dedup-book"], b"".join(made))))
    cuts = [cut.encode() for cut in json.loads(_read(plan, "bounds") or b"[]")]
    for table in _compared(plan, number):
        ids = [one.encode() for one in table["into_id"].to_pylist()]
        lanes = np.array([bisect.bisect_right(cuts, one) for one in ids], np.int64)
        yield from _by_lane(table, lanes)
    # A lane without pairs has a file too, so that the folder is there.
    yield 0, b""


def sort_pairs(plan: Plan, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The pairs of a range of ids in their order, each once."""
    pairs: dict[tuple[bytes, bytes], dict[str, Any]] = {}
    for block in filter(None, blocks):
        for one in _table(block).to_pylist():
            pairs[one["into_id"].encode(), one["from_id"].encode()] = one
    lines = []
    for _, one in sorted(pairs.items()):
        line = {"from": one["from_rank"], "into": one["into_rank"]}
        line |= {name: one[name] for name in FIGURES if one[name] is not None}
        lines.append(json.dumps(line, ensure_ascii=False))
    _write(plan, f"pairs/part-{lane:08}.zst", _packed("".join(f"{line}\n" for line in lines).encode()))
    yield _told(pairs=len(lines))


TASKS: dict[str, Task] = {
    task.__name__: task for task in [import_dump, make_rows, count_tokens, sample_keys, cut_keys, resolve, book]
}
STEPS: dict[str, Step] = {
    step.__name__: step
    for step in [
        find_repeats,
        keep_repeats,
        find_copies,
        keep_copies,
        add_counts,
        keep_counts,
        find_heavy,
        keep_heavy,
        meet,
        with_first,
        compare_pairs,
        with_kept,
        keep_decided,
        sort_pairs,
    ]
}
